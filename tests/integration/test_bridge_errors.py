"""A client on stdio and a server on HTTP without a response: the client gets an error with the reason, and the recording has it."""
import json

import pytest

from bridging import bridge, echo, initialize, http_sse_server, recorded, session_server, stdio, upstream  # noqa: F401
from http_peers import call, records_of, result

LOGIN = "the server requires a login (status 401): send credentials with --header-env"
META_AT = "http://login.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("status, headers, error_text", [
    (401, [], f"{LOGIN}; it does not name its OAuth metadata"),
    (401, [("WWW-Authenticate", f'Bearer error="invalid_token", resource_metadata="{META_AT}"')],
     f"{LOGIN}; error: 'invalid_token'; OAuth metadata: '{META_AT}'"),
    (403, [], "the server answered HTTP 403"),
    (403, [("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="files"')],
     "the server answered HTTP 403; error: 'insufficient_scope'; required scope: 'files'"),
    (307, [("Location", "http://elsewhere.example/mcp?key=1")], "the server redirects (status 307) to 'http://elsewhere.example:80'; mcpreel does not follow redirects: use that URL instead"),
    (308, [("Location", "/mcp/?key=canary")], "the server redirects (status 308) to another spelling of its own path, such as with or without a '/' at the end; mcpreel does not follow redirects: use that URL instead"),
    (303, [("Location", "https://canary:canary@elsewhere.example/canary?canary")],
     "the server redirects (status 303) to an invalid URL: the URL names a user"),
    (302, [], "the server redirects (status 302) without a Location"),
    (429, [], "the server answered HTTP 429"),
    (500, [], "the server answered HTTP 500"), (503, [], "the server answered HTTP 503"),
], ids=["401", "401-metadata", "403", "403-scope", "307", "308", "303", "302", "429", "500", "503"])
def test_a_rejecting_server_gives_the_client_an_error(upstream, bridge, mcpreel, run, status, headers, error_text):
    server = upstream(lambda conn: conn.request() and conn.respond(status, b"<html>no</html>", headers))
    one = bridge(server)
    assert one.get_response(call(1)) == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": error_text, "data": {"httpStatus": status}}}
    assert one.close() == 4
    assert f"ping: {error_text}" in one.stderr_text
    assert len(server.requests) == 1
    assert "canary" not in one.stderr_text + one.file.read_text()
    assert_reported(one, mcpreel, run, status, error_text)


def assert_reported(one, mcpreel, run, status, error_text):
    """The recording has the reason why the only exchange that needs a response has none, and the commands show it."""
    assert [line["why"] for line in records_of(recorded(one), "http", ev="end") if "why" in line] == [error_text]
    shown = run([mcpreel, "show", one.file]).out.decode()
    assert f"http {status}" in shown and error_text in shown and "pending" not in shown
    assert error_text in run([mcpreel, "show", "-m", one.file]).out.decode().replace("\n", " ")
    assert error_text[:60] in " ".join(run([mcpreel, "inspect", one.file]).out.decode().split())
    found = json.loads(run([mcpreel, "--json", "check", one.file]).out)["files"][0]["findings"]
    assert error_text in [f for f in found if f["rule"] == "http-fault"][0]["message"]


@pytest.mark.parametrize("status, body, error_text", [
    (202, None, "the server accepted the request but sent no response (status 202)"),
    (200, result(99), "the server responded to another request id, '99'"),
], ids=["accepted", "another"])
def test_an_invalid_response_gives_the_client_an_error(upstream, bridge, mcpreel, run, status, body, error_text):
    one = bridge(upstream(lambda conn: conn.request() and (conn.respond(json_=body) if body else conn.respond(status))))
    response = one.get_response(call(1))
    if body:
        assert response == body  # all messages of a server are forwarded
        response = one.receive()
    assert response == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": error_text, "data": {"httpStatus": status}}}
    assert one.close() == 0
    assert_reported(one, mcpreel, run, status, error_text)


def test_the_reason_is_recorded_before_the_client_gets_it(upstream, bridge):
    def serve(conn):
        while conn.request():
            conn.respond(503)

    one = bridge(upstream(serve))
    for n in range(1, 10):
        assert "HTTP 503" in one.get_response(call(n))["error"]["message"]
        assert one.file.read_text().count("the server answered HTTP 503") == n
    assert one.close() == 4


@pytest.mark.parametrize("endpoint, error_text", [
    ("http://127.0.0.1:{p}/messages?key=canary", "the 'endpoint' event points to another origin ('http://127.0.0.1:{p}'); rejected"),
    ("javascript:alert(1)", "the 'endpoint' event has a 'javascript:' URL, which is not HTTP"),
    ("http://user:pw@127.0.0.1:{p}/", "invalid 'endpoint' event: the URL names a user"),
], ids=["elsewhere", "scheme", "user"])
def test_an_endpoint_on_another_origin_is_rejected(upstream, bridge, mcpreel, run, endpoint, error_text):
    other = upstream(session_server(echo))
    error_text = error_text.format(p=other.port)
    server = upstream(http_sse_server(lambda conn: endpoint.format(p=other.port)))
    one = bridge(server.url.replace("/mcp", "/sse"))
    error = one.get_response(initialize())
    assert error["error"]["message"] == error_text
    assert one.close() == 0
    assert not other.seen
    assert [(line["by"], line["clean"]) for line in records_of(recorded(one), "http", ev="end", why=error_text)] == [("mcpreel", False)]
    assert error_text in run([mcpreel, "show", "-m", one.file]).out.decode()
    assert error_text[:60] in " ".join(run([mcpreel, "inspect", one.file]).out.decode().split())
    assert "canary" not in one.file.read_text()

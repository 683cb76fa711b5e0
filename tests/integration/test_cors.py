"""Pages in a browser as clients: who may see what it is answered, by the header lines that browsers go by (CORS). That a
real browser does is seen in tests/interop."""
import http.client
import json

import pytest
from http_peers import Program, Upstream, compose, lines_of, records_of
from stream_load import INITIALIZE
from test_concurrent_streams import recording_with_a_server_request

APP = "https://app.example.org"
LOCAL = "http://localhost:6274"
REQUESTED_HEADERS = "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-param-city,mcp-protocol-version,mcp-session-id"
BOTH = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "q.jsonl"
    recording_with_a_server_request(path)
    return path


@pytest.fixture(scope="module", params=["replay", "record"])
def server(request, mcpreel, recording, tmp_path_factory):
    """Both that answer themselves: a replay, and a recorder of a server on stdio."""
    file = tmp_path_factory.mktemp("r") / "front.jsonl"
    how = {"replay": ["replay", "--on-unmatched", "warn", recording],
           "record": ["record", "-o", file, "--", mcpreel, "replay", "--on-unmatched", "warn", recording]}[request.param]
    p = Program([mcpreel, how[0], "--listen", "127.0.0.1:0", "--allow-origin", APP, *how[1:]])
    yield p
    p.close()


def send_request(server, method, path=None, body=None, **headers):
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    link.request(method, path or server.path, body and json.dumps(body), {name.replace("_", "-"): v for name, v in headers.items()})
    response = link.getresponse()
    response.text = response.read()
    link.close()
    return response


def allowed_origin(response):
    return {n.lower(): v for n, v in response.getheaders() if n.lower().startswith("access-control-") or n.lower() == "vary"}


def preflight(server, origin, **more):
    return send_request(server, "OPTIONS", origin=origin, access_control_request_method="POST", access_control_request_headers=REQUESTED_HEADERS, **more)


SEEN = {"access-control-expose-headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After", "vary": "Origin"}


@pytest.mark.parametrize("origin", [APP, LOCAL])
def test_a_page_of_an_accepted_origin_can_send_and_read(server, origin):
    first = preflight(server, origin, access_control_request_private_network="true")
    assert (first.status, first.text) == (204, b"")
    assert allowed_origin(first) == {"access-control-allow-origin": origin, "access-control-allow-methods": "GET, POST, DELETE",
                          "access-control-allow-headers": REQUESTED_HEADERS, "access-control-allow-private-network": "true",
                          "access-control-max-age": "7200",
                          "vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}
    initialize_response = send_request(server, "POST", body=INITIALIZE, origin=origin, accept=BOTH, content_type="application/json")
    assert initialize_response.status == 200 and initialize_response.getheader("Mcp-Session-Id")
    assert allowed_origin(initialize_response) == {"access-control-allow-origin": origin, **SEEN}
    session = {"mcp_session_id": initialize_response.getheader("Mcp-Session-Id"), "origin": origin}
    initialized = send_request(server, "POST", body={"jsonrpc": "2.0", "method": "notifications/initialized"}, accept=BOTH,
               content_type="application/json", **session)
    after_end = [initialized, send_request(server, "DELETE", **session), send_request(server, "DELETE", **session)]
    assert [one.status for one in after_end] == [202, 200, 404]
    assert all(allowed_origin(one) == {"access-control-allow-origin": origin, **SEEN} for one in after_end)


def test_a_page_of_an_accepted_origin_can_read_a_404(server):
    nothing = send_request(server, "GET", "/.well-known/oauth-protected-resource/mcp", origin=APP)
    assert nothing.status == 404 and allowed_origin(nothing)["access-control-allow-origin"] == APP


@pytest.mark.parametrize("origin", ["https://evil.example", "http://app.example.org", "https://app.example.org.evil.example",
                                    "https://app.example.org:444", "null", "*", "https://app.example.org/", "http://0.0.0.0"])
def test_a_page_of_another_origin_gets_no_cors_headers(server, origin):
    answers = [preflight(server, origin), send_request(server, "POST", body=INITIALIZE, origin=origin, accept=BOTH, content_type="application/json")]
    assert [(one.status, allowed_origin(one)) for one in answers] == [(403, {})] * 2


def test_a_client_without_origin_gets_no_cors_headers(server):
    assert allowed_origin(send_request(server, "POST", body=INITIALIZE, accept=BOTH, content_type="application/json")) == {}
    plain = send_request(server, "OPTIONS")
    assert plain.status == 405 and allowed_origin(plain) == {}


def test_a_preflight_is_recorded_as_answered_by_mcpreel(mcpreel, recording, tmp_path):
    file = tmp_path / "front.jsonl"
    p = Program([mcpreel, "record", "-o", file, "--listen", "127.0.0.1:0", "--", mcpreel, "replay", recording])
    assert preflight(p, LOCAL).status == 204
    assert p.stop() == 0
    lines = lines_of(file)
    recorded_request, = records_of(lines, "http", ev="request")
    recorded_response, = records_of(lines, "http", ev="response")
    assert (recorded_request["method"], recorded_request["origin"], recorded_response["status"], recorded_response["by"]) == ("OPTIONS", "loopback", 204, "mcpreel")


def test_cors_headers_of_the_server_are_forwarded(mcpreel, tmp_path):
    """Through a recorder a page may see what the server lets it see, and no more."""
    def serve(conn):
        while request := conn.request():
            if request.method == "OPTIONS":
                conn.send(compose("HTTP/1.1 204 No Content", [("Access-Control-Allow-Origin", "https://own.example"),
                                                              ("Access-Control-Allow-Headers", "x-own")], sized=False))
            else:
                conn.send(compose("HTTP/1.1 200 OK", [("Content-Type", "application/json")], b'{"jsonrpc":"2.0","id":1,"result":{}}'))

    upstream = Upstream(serve)
    p = Program([mcpreel, "record", "-o", tmp_path / "r.jsonl", "--listen", "127.0.0.1:0", "--url", upstream.url, "--allow-origin", APP])
    first = preflight(p, APP)
    assert (first.status, allowed_origin(first)) == (204, {"access-control-allow-origin": "https://own.example", "access-control-allow-headers": "x-own"})
    assert allowed_origin(send_request(p, "POST", body=INITIALIZE, origin=APP, accept=BOTH, content_type="application/json")) == {}
    p.close()
    upstream.close()


def test_the_option_that_accepts_a_page_is_printed_once(mcpreel, recording, tmp_path):
    for how in (["replay", recording], ["record", "-o", tmp_path / "a.jsonl", "--upstream", f"{mcpreel} replay {recording}"],
                ["record", "-o", tmp_path / "b.jsonl", "--url", "http://127.0.0.1:9/mcp"]):
        p = Program([mcpreel, *how, "--listen", "127.0.0.1:0"])
        assert [preflight(p, APP).status for _ in range(3)] == [403] * 3
        assert p.stop() == 0
        assert p.err.count("Origin is not allowed; see --allow-origin") == 1, p.err


def test_a_page_can_read_that_the_server_is_unreachable(mcpreel, tmp_path):
    p = Program([mcpreel, "record", "-o", tmp_path / "r.jsonl", "--listen", "127.0.0.1:0", "--url", "http://127.0.0.1:9/mcp", "--allow-origin", APP])
    lost = send_request(p, "POST", body=INITIALIZE, origin=APP, accept=BOTH, content_type="application/json")
    assert lost.status == 502 and allowed_origin(lost) == {"access-control-allow-origin": APP, **SEEN}
    p.close()


@pytest.mark.parametrize("to", ["stdio", "http"])
def test_requests_of_a_page_are_replayed(mcpreel, recording, tmp_path, run, to):
    """Whom the recorder let in is a client as any other; and that browsers ask first is nothing odd."""
    file = tmp_path / "page.jsonl"
    with_page = Program([mcpreel, "record", "--listen", "127.0.0.1:0", "--allow-origin", APP, "-o", file, "--",
                         mcpreel, "replay", "--on-unmatched", "warn", recording])
    assert preflight(with_page, APP).status == 204
    assert send_request(with_page, "POST", body=INITIALIZE, origin=APP, accept=BOTH, content_type="application/json").status == 200
    send_request(with_page, "GET", "/.well-known/oauth-protected-resource", origin=APP)
    assert with_page.stop() == 0, with_page.err
    checked = run([mcpreel, "check", file])
    assert checked.code == 0, checked
    if to == "stdio":
        ran = run([mcpreel, "replay", file], stdin=json.dumps(INITIALIZE).encode() + b"\n")
        response_message = json.loads(ran.out)
    else:
        played = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", file])
        response_message = json.loads(send_request(played, "POST", body=INITIALIZE, accept=BOTH, content_type="application/json").text)
        played.close()
    assert response_message["result"]["serverInfo"]["name"] == "s"

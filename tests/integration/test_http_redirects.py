"""Servers that send the clients of 'mcpreel record --url' elsewhere: who can stay is kept, and who goes is told of."""
import json
from urllib.parse import urljoin, urlsplit

import pytest

from http_peers import JSON, call, records_of, result
from test_http_record import messages, record, recorded, upstream  # noqa: F401

CANARY = "canary-41d7e0"
REDIRECT_WARNING = "the server redirects (status {}) to '{}': clients that follow the redirect bypass mcpreel"
BESIDE = "the server redirects (status {}) to another of its paths: traffic there is not recorded"


def redirecting_server(where, status=307):
    """A server at /mcp/ that redirects all other requests there, or to a given URL; also the proxy to itself, the only way to reach
    unknown names."""
    def serve(conn):
        while request := conn.request():
            if request.method == "CONNECT":
                conn.send(b"HTTP/1.1 200 OK\r\n\r\n")
            elif urlsplit(request.target).path in ("/mcp/", "/else"):
                conn.respond(json_=result(request.json["id"]))
            else:
                conn.respond(status, headers=[("X-Before", "1"), ("Location", where.format(host=request.get("host"))), JSON])

    return serve


def follow(program, path, at="/mcp"):
    """Follows redirects to its own origin only, as a client does."""
    client = program.client()
    response = client.post(call(1), path=at)
    here = f"http://127.0.0.1:{program.port}"
    there = urlsplit(urljoin(here + at, response.get("location")))
    assert f"{there.scheme}://{there.netloc}" == here
    assert there.path == path
    return response, client.post(call(1), path=f"{there.path}?{there.query}" if there.query else there.path)


def ends(lines):
    return [line.get("why") for line in records_of(lines, "http", ev="end")]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_the_servers_own_origin_stays_with_mcpreel(upstream, record, mcpreel, run, status):  # noqa: F811
    server = upstream(redirecting_server("http://mcp.example:80/mcp/?x=1", status))
    program = record("http://mcp.example/mcp", env={"http_proxy": f"http://127.0.0.1:{server.port}", "no_proxy": "", "NO_PROXY": ""})
    first, second = follow(program, "/mcp/")
    assert first.get("location") == "/mcp/?x=1"
    assert (first.status, first.get("x-before"), second.status, second.json) == (status, "1", 200, result(1))
    lines = recorded(program)
    assert messages(lines, dir="s2c") == [result(1)]
    assert ends(lines) == [None, None] and "the server redirects" not in program.err
    assert run([mcpreel, "check", program.file]).code == 0


@pytest.mark.parametrize("where, at, expected_location", [("/mcp/", "/mcp", "/mcp/"), ("mcp/", "/mcp", "mcp/"), ("/mcp/", "/", "/mcp/"),
                                             ("http://{host}/mcp/", "/mcp", "/mcp/"), ("https://{host}/mcp/", "/", "/mcp/")])
def test_redirects_are_forwarded_with_the_host_replaced(upstream, record, where, at, expected_location):  # noqa: F811
    program = record(upstream(redirecting_server(where)).url, "--keep-host")
    first, second = follow(program, "/mcp/", at)
    assert first.get("location") == expected_location
    assert (first.status, second.json) == (307, result(1))
    lines = recorded(program)
    assert ends(lines) == [None, None] and "the server redirects" not in program.err
    assert messages(lines, dir="s2c") == [result(1)]


@pytest.mark.parametrize("where, at", [("http://127.0.0.1:PORT/mcp/", "/mcp"), ("http://127.0.0.1:PORT/mcp/", "/login"),
                                       ("https://{host}/mcp/", "/mcp")])
def test_a_client_on_https_is_redirected_to_https(upstream, record, where, at):  # noqa: F811
    """A proxy in front of us speaks that to it, and http to us: who we are is for the client to know."""
    server = upstream(lambda conn: redirecting_server(where.replace("PORT", str(server.port)))(conn))
    client = record(server.url, "--keep-host", "--allow-host", "mcp.example.org").client()
    client.send_request(call(1), path=at, headers=[("Host", "mcp.example.org"), ("X-Forwarded-Proto", "https")])
    response = client.read_response()
    assert (response.status, urljoin("https://mcp.example.org/mcp", response.get("location"))) == (307, "https://mcp.example.org/mcp/")


def test_a_relative_redirect_is_resolved_against_the_servers_path(upstream, record):  # noqa: F811
    server = upstream(lambda conn: conn.request() and conn.respond(307, headers=[("Location", "mcp/")]))
    program = record(f"http://127.0.0.1:{server.port}/a/mcp")
    assert program.client().post(call(1), path="/").get("location") == "/a/mcp/"
    recorded(program)


def assert_reported(program, mcpreel, run, reasons, advice="; if that is the MCP endpoint, give that URL with --url"):
    """On standard error once; in the recording for each, and by all who show that."""
    lines = recorded(program)
    assert ends(lines) == reasons
    reported_reason = next(why for why in reasons if why)
    assert [(e["by"], e["clean"]) for e in records_of(lines, "http", ev="end")] == [("server", True)] * len(reasons)
    assert program.err.count(f"{reported_reason}{advice}\n") == program.err.count(reported_reason) == 1
    assert CANARY not in program.err and CANARY not in program.file.read_text()
    assert reported_reason in run([mcpreel, "show", "-m", program.file]).out.decode()
    assert reported_reason[:60] in " ".join(run([mcpreel, "inspect", program.file]).out.decode().split())
    found = json.loads(run([mcpreel, "--json", "check", program.file]).out)["files"][0]["findings"]
    assert reported_reason in [f for f in found if f["rule"] == "http-fault"][0]["message"]


@pytest.mark.parametrize("where", ["/else", "http://127.0.0.1:PORT/else"])
def test_a_redirect_to_another_path_is_reported_as_not_recorded(upstream, record, mcpreel, run, where):  # noqa: F811
    server = upstream(lambda conn: redirecting_server(where.replace("PORT", str(server.port)))(conn))
    program = record(server.url)
    assert follow(program, "/else")[1].json == result(1)
    assert_reported(program, mcpreel, run, [BESIDE.format(307), None])


@pytest.mark.parametrize("where, origin", [
    ("http://127.0.0.1:1", "http://127.0.0.1:1"),
    ("https://127.0.0.1:PORT", "https://127.0.0.1:PORT"),
    ("//elsewhere.example", "http://elsewhere.example:80"),
])
def test_a_redirect_to_another_origin_is_reported_and_forwarded(upstream, record, mcpreel, run, where, origin):  # noqa: F811
    server = upstream(lambda conn: redirecting_server(where, 308)(conn))
    where, origin = (text.replace("PORT", str(server.port)) for text in (where + f"/{CANARY}?key={CANARY}", origin))
    program = record(server.url)
    client = program.client()
    for number in (1, 2):
        response = client.post(call(number))
        assert (response.status, response.get("location")) == (308, where)
    assert_reported(program, mcpreel, run, [REDIRECT_WARNING.format(308, origin)] * 2)


@pytest.mark.parametrize("where, why", [
    ("javascript:alert(1)", "the URL begins with neither 'http://' nor 'https://'"),
    (f"http://{CANARY}@127.0.0.1:1/", "the URL names a user"),
])
def test_an_invalid_location_is_forwarded(upstream, record, mcpreel, run, where, why):  # noqa: F811
    program = record(upstream(redirecting_server(where)).url)
    assert program.client().post(call(1)).get("location") == where
    why = f"the server redirects (status 307) to an invalid URL: {why}"
    assert_reported(program, mcpreel, run, [why], advice="")


@pytest.mark.parametrize("at", ["/mcp", "/login"])
def test_the_first_of_two_location_headers_is_forwarded_alone(upstream, record, at):  # noqa: F811
    """Clients take the one or the other; only one can be what the user is told."""
    server = upstream(lambda conn: conn.request() and conn.respond(307, headers=[
        ("Location", f"http://127.0.0.1:{server.port}/mcp/"), ("X-Between", "1"), ("location", "http://evil.example/"),
        ("LOCATION", f"http://127.0.0.1:{server.port}/other/")]))
    program = record(server.url)
    response = program.client().post(call(1), path=at)
    assert [(n, v) for n, v in response.headers if n.lower() in ("location", "x-between")] == [("Location", "/mcp/"), ("X-Between", "1")]
    recorded(program)


def test_a_redirect_of_another_path_is_left_to_oauth(upstream, record):  # noqa: F811
    program = record(upstream(redirecting_server("http://127.0.0.1:1/")).url)
    client = program.client()
    client.send_request(method="GET", path="/login")
    assert client.read_response().get("location") == "http://127.0.0.1:1/"
    assert ends(recorded(program)) == [None] and "the server redirects" not in program.err


def test_an_http_sse_stream_at_another_path_is_reported_once(upstream, record):  # noqa: F811
    """Servers of both transports have HTTP+SSE beside the endpoint; where it tells to post to leads around us."""
    def serve(conn):
        request = conn.request()
        conn.sse()
        if request.target != "/mcp":
            conn.event(f"http://127.0.0.1:1/messages?s={CANARY}", event="endpoint")
        conn.last()

    program = record(upstream(serve).url)
    for path in ("/mcp", "/sse", "/sse"):
        client = program.client()
        client.send_request(method="GET", path=path)
        assert client.head().status == 200
        client.until(b"0\r\n\r\n")
    recorded(program)
    reported_reason = "the SSE stream at '/sse' and the messages posted for it are not recorded: it is not the recorded endpoint; for legacy HTTP+SSE, give that path with --url"
    assert program.err.count(reported_reason) == 1 and program.err.count("the SSE stream at") == 1
    assert CANARY not in program.file.read_text()

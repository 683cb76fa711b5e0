"""Pages in a browser as clients: who may see what it is answered, by the header lines that browsers go by (CORS). That a
real browser does is seen in tests/interop."""
import http.client
import json

import pytest
from http_peers import Program, Upstream, compose, lines_of, of
from stream_load import HELLO
from test_concurrent_streams import recording_with_a_question

APP = "https://app.example.org"
LOCAL = "http://localhost:6274"
WANTED = "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-param-city,mcp-protocol-version,mcp-session-id"
BOTH = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "q.jsonl"
    recording_with_a_question(path)
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


def ask(server, method, path=None, body=None, **headers):
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    link.request(method, path or server.path, body and json.dumps(body), {name.replace("_", "-"): v for name, v in headers.items()})
    answer = link.getresponse()
    answer.text = answer.read()
    link.close()
    return answer


def may(answer):
    return {n.lower(): v for n, v in answer.getheaders() if n.lower().startswith("access-control-") or n.lower() == "vary"}


def preflight(server, origin, **more):
    return ask(server, "OPTIONS", origin=origin, access_control_request_method="POST", access_control_request_headers=WANTED, **more)


SEEN = {"access-control-expose-headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After", "vary": "Origin"}


@pytest.mark.parametrize("origin", [APP, LOCAL])
def test_a_page_of_an_accepted_origin_can_send_and_read(server, origin):
    first = preflight(server, origin, access_control_request_private_network="true")
    assert (first.status, first.text) == (204, b"")
    assert may(first) == {"access-control-allow-origin": origin, "access-control-allow-methods": "GET, POST, DELETE",
                          "access-control-allow-headers": WANTED, "access-control-allow-private-network": "true",
                          "access-control-max-age": "7200",
                          "vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}
    hello = ask(server, "POST", body=HELLO, origin=origin, accept=BOTH, content_type="application/json")
    assert hello.status == 200 and hello.getheader("Mcp-Session-Id")
    assert may(hello) == {"access-control-allow-origin": origin, **SEEN}
    session = {"mcp_session_id": hello.getheader("Mcp-Session-Id"), "origin": origin}
    told = ask(server, "POST", body={"jsonrpc": "2.0", "method": "notifications/initialized"}, accept=BOTH,
               content_type="application/json", **session)
    gone = [told, ask(server, "DELETE", **session), ask(server, "DELETE", **session)]
    assert [one.status for one in gone] == [202, 200, 404]
    assert all(may(one) == {"access-control-allow-origin": origin, **SEEN} for one in gone)


def test_a_page_of_an_accepted_origin_can_read_a_404(server):
    nothing = ask(server, "GET", "/.well-known/oauth-protected-resource/mcp", origin=APP)
    assert nothing.status == 404 and may(nothing)["access-control-allow-origin"] == APP


@pytest.mark.parametrize("origin", ["https://evil.example", "http://app.example.org", "https://app.example.org.evil.example",
                                    "https://app.example.org:444", "null", "*", "https://app.example.org/", "http://0.0.0.0"])
def test_a_page_of_another_origin_gets_no_cors_headers(server, origin):
    answers = [preflight(server, origin), ask(server, "POST", body=HELLO, origin=origin, accept=BOTH, content_type="application/json")]
    assert [(one.status, may(one)) for one in answers] == [(403, {})] * 2


def test_a_client_without_origin_gets_no_cors_headers(server):
    assert may(ask(server, "POST", body=HELLO, accept=BOTH, content_type="application/json")) == {}
    plain = ask(server, "OPTIONS")
    assert plain.status == 405 and may(plain) == {}


def test_a_preflight_is_recorded_as_answered_by_mcpreel(mcpreel, recording, tmp_path):
    file = tmp_path / "front.jsonl"
    p = Program([mcpreel, "record", "-o", file, "--listen", "127.0.0.1:0", "--", mcpreel, "replay", recording])
    assert preflight(p, LOCAL).status == 204
    assert p.stop() == 0
    lines = lines_of(file)
    asked, = of(lines, "http", ev="request")
    answered, = of(lines, "http", ev="response")
    assert (asked["method"], asked["origin"], answered["status"], answered["by"]) == ("OPTIONS", "loopback", 204, "mcpreel")


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
    assert (first.status, may(first)) == (204, {"access-control-allow-origin": "https://own.example", "access-control-allow-headers": "x-own"})
    assert may(ask(p, "POST", body=HELLO, origin=APP, accept=BOTH, content_type="application/json")) == {}
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
    lost = ask(p, "POST", body=HELLO, origin=APP, accept=BOTH, content_type="application/json")
    assert lost.status == 502 and may(lost) == {"access-control-allow-origin": APP, **SEEN}
    p.close()


@pytest.mark.parametrize("to", ["stdio", "http"])
def test_requests_of_a_page_are_replayed(mcpreel, recording, tmp_path, run, to):
    """Whom the recorder let in is a client as any other; and that browsers ask first is nothing odd."""
    file = tmp_path / "page.jsonl"
    with_page = Program([mcpreel, "record", "--listen", "127.0.0.1:0", "--allow-origin", APP, "-o", file, "--",
                         mcpreel, "replay", "--on-unmatched", "warn", recording])
    assert preflight(with_page, APP).status == 204
    assert ask(with_page, "POST", body=HELLO, origin=APP, accept=BOTH, content_type="application/json").status == 200
    ask(with_page, "GET", "/.well-known/oauth-protected-resource", origin=APP)
    assert with_page.stop() == 0, with_page.err
    checked = run([mcpreel, "check", file])
    assert checked.code == 0, checked
    if to == "stdio":
        ran = run([mcpreel, "replay", file], stdin=json.dumps(HELLO).encode() + b"\n")
        said = json.loads(ran.out)
    else:
        played = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", file])
        said = json.loads(ask(played, "POST", body=HELLO, accept=BOTH, content_type="application/json").text)
        played.close()
    assert said["result"]["serverInfo"]["name"] == "s"

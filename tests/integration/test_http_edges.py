"""'mcpreel record --url' at the limits of HTTP: responses that come early, ordinary rejections, and ways to read a header that mcpreel
adds."""
import json
import re
import signal
import subprocess
import threading

import pytest

from http_peers import BOTH, JSON, Program, call, compose, records_of, read_head, result, no_response_after
from test_http_record import initialize, messages, record, recorded, upstream  # noqa: F401

CALL = call(5, "tools/call", name="t", arguments={"text": "x" * 300})


def half_sent(program, message, at=40):
    """A client that has sent its head and the first bytes of its body, and the rest of that."""
    body = json.dumps(message).encode()
    client = program.client()
    head = compose(f"POST {program.path} HTTP/1.1",
                   [("Host", f"127.0.0.1:{program.port}"), BOTH, JSON, ("Content-Length", len(body))], sized=False)
    client.send(head + body[:at])
    return client, body[at:]


def checked(mcpreel, program):
    return subprocess.run([mcpreel, "check", program.file], capture_output=True, text=True, timeout=60)


def test_a_response_may_begin_before_the_request_is_complete(upstream, record, mcpreel):  # noqa: F811
    """A server that opens its stream at the head, as some do to be quick, and then reads what is asked."""
    def serve(conn):
        head = read_head(conn)
        conn.sse()
        conn.event("", id="p")
        message = json.loads(conn.exactly(int(head.get("content-length"))))
        conn.event(result(message["id"], {"content": [], "text": message["params"]["arguments"]["text"][:3]}), id="q")
        conn.last()

    program = record(upstream(serve).url)
    client, rest = half_sent(program, CALL)
    assert client.head().status == 200 and "id: p" in client.event()
    client.send(rest)
    assert "xxx" in client.event()
    assert client.event() == ""
    lines = recorded(program)
    assert [(line["type"], line.get("ev") or line.get("dir")) for line in lines[1:-1]] == [
        ("http", "request"), ("http", "response"), ("sse", None), ("message", "c2s"), ("message", "s2c"), ("http", "end")]
    assert records_of(lines, "http", ev="request")[0]["body"] == "late"
    assert messages(lines, dir="c2s") == [CALL]
    assert "stream" not in records_of(lines, "message", dir="c2s")[0] and "latency_ms" in records_of(lines, "message", dir="s2c")[0]
    assert (records_of(lines, "http", ev="end")[0]["by"], records_of(lines, "http", ev="end")[0]["clean"]) == ("server", True)
    assert checked(mcpreel, program).returncode == 0

    again = Program([mcpreel, "replay", "--listen", "0", program.file])
    try:
        response = again.client().post({**CALL, "id": "other"}, headers=[("MCP-Protocol-Version", "2025-06-18")])
        assert response.status == 200 and '"text": "xxx"' in response.body.decode() and '"other"' in response.body.decode()
    finally:
        again.close()


@pytest.mark.parametrize("status", [401, 413])
def test_a_request_rejected_before_its_end_is_recorded_in_part(upstream, record, status):  # noqa: F811
    def serve(conn):
        read_head(conn)
        conn.exactly(40)
        conn.respond(status, b"no", [("Content-Type", "text/plain")])
        conn.wait_end()

    program = record(upstream(serve).url)
    client, rest = half_sent(program, CALL)
    response = client.read_response()
    assert (response.status, response.body, response.get("connection")) == (status, b"no", "close")
    client.send(rest)
    client.rest()
    lines = recorded(program)
    assert records_of(lines, "http", ev="request")[0]["body"] == "late"
    assert [(r["from"], r["text"], r["why"]) for r in records_of(lines, "raw")] == [
        ("client", json.dumps(CALL)[:40], "cut off"), ("server", "no", "not JSON")]
    assert (records_of(lines, "http", ev="end")[0]["by"], records_of(lines, "http", ev="end")[0]["clean"]) == ("server", True)


@pytest.mark.parametrize("ends", [[], [("Connection", "close")]], ids=["stays", "closes"])
def test_a_request_rejected_for_its_head_is_recorded_without_body(upstream, record, mcpreel, ends):  # noqa: F811
    def serve(conn):
        read_head(conn)
        conn.respond(401, b"", ends)
        conn.wait_end()

    program = record(upstream(serve).url)
    client, rest = half_sent(program, CALL, at=0)
    assert client.read_response().status == 401
    client.send(rest)
    client.rest()
    lines = recorded(program)
    assert [line.get("ev") or line["type"] for line in lines[1:-1]] == ["request", "response", "raw", "end"]
    assert records_of(lines, "http", ev="request")[0]["body"] == "late"
    assert [(r["from"], r["text"], r["why"]) for r in records_of(lines, "raw")] == [("client", "", "cut off")]
    assert (records_of(lines, "http", ev="end")[0]["by"], records_of(lines, "http", ev="end")[0]["clean"]) == ("server", True)
    assert checked(mcpreel, program).returncode == 0


def test_a_401_and_a_405_for_get_are_not_logged_as_unusual(upstream, record, mcpreel):  # noqa: F811
    def serve(conn):
        while request := conn.request():
            if request.method == "GET":
                conn.respond(405, json_={"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Method not allowed."}})
            elif not request.get("authorization"):
                conn.respond(401, b'{"error":"invalid_token"}', [JSON, ("WWW-Authenticate", "Bearer")])
            elif "id" not in request.json:
                conn.respond(202, b"Accepted")
            else:
                conn.respond(json_=result(request.json["id"]))

    program = record(upstream(serve).url)
    client, login = program.client(), [("Authorization", "Bearer t0k3n-9f8e7d6c")]
    assert client.post(initialize()).status == 401
    assert client.post(initialize(1), headers=login).status == 200
    assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=login).status == 202
    client.send_request(method="GET", headers=login)
    assert client.read_response().status == 405
    recorded(program)
    findings = checked(mcpreel, program)
    assert (findings.returncode, findings.stdout) == (0, f"{program.file}: ok, 5 messages\n")
    shown = subprocess.run([mcpreel, "show", program.file], capture_output=True, text=True, timeout=60).stdout
    assert [re.search(word, shown) is not None for word in (r"initialize +http 401", r"initialize +ok", r"rejected by HTTP +rpc -32000",
                                                            "malformed", "unexpected response")] == [True, True, True, False, False]
    summary = subprocess.run([mcpreel, "inspect", program.file], capture_output=True, text=True, timeout=60).stdout
    assert re.search(r"Findings +none", summary) and "2 HTTP statuses of 400 or more" in summary


def test_an_open_request_at_the_end_is_reported(upstream, record):  # noqa: F811
    requested = threading.Event()
    program = record(upstream(no_response_after(requested)).url)
    client = program.client()
    client.send_request(call("mine"))
    assert requested.wait(60)
    program.process.send_signal(signal.SIGTERM)
    response = client.read_response()
    assert (response.status, response.json["id"], response.json["error"]["message"]) == (503, "mine", "mcpreel was ended")
    assert [(e["by"], e["why"]) for e in records_of(recorded(program), "http", ev="end")] == [("mcpreel", "mcpreel was ended")]


ADDED_SECRET = "canary-7c1e55aa02"
HERE = "127.0.0.1:{port}"
# Requests by which a client might see a header that mcpreel adds: the request, its status, and whether the server gets it.
ECHOING_SERVERS = [
    ("the server is to repeat it", "TRACE /mcp HTTP/1.1", [], 405, False),
    ("the same on another path", "TRACE /else HTTP/1.1", [], 405, False),
    ("in small letters", "trace /mcp HTTP/1.1", [], 405, False),
    ("as others call it", "TRACK /mcp HTTP/1.1", [], 405, False),
    ("of the next but one", "TRACE /mcp HTTP/1.1", [("Max-Forwards", "0")], 405, False),
    ("a tunnel to somebody else", "CONNECT {other} HTTP/1.1", [], 501, False),
    ("a tunnel to the server", "CONNECT {server} HTTP/1.1", [], 501, False),
    ("the address of somebody else", "GET http://{other}/mcp HTTP/1.1", [], None, False),
    ("the same, as our own", "GET http://{here}/mcp HTTP/1.1", [("Host", "{other}")], None, False),
    ("another Host", "GET /mcp HTTP/1.1", [("Host", "spy.example")], 403, False),
    ("an address for a path", "GET //{other}/mcp HTTP/1.1", [], 200, True),
    ("somebody else as the next one", "GET /mcp HTTP/1.1", [("X-Forwarded-Host", "{other}"), ("Forwarded", "host={other}")], 200, True),
    ("it is between neighbours", "GET /mcp HTTP/1.1", [("Connection", "Authorization")], 200, True),
    ("a redirect elsewhere", "GET /away HTTP/1.1", [], 307, True),
]


@pytest.mark.parametrize("start,headers,status,status_line", [row[1:] for row in ECHOING_SERVERS], ids=[row[0] for row in ECHOING_SERVERS])
def test_an_added_header_is_not_printed(upstream, record, start, headers, status, status_line):  # noqa: F811
    other = upstream()

    def serve(conn):
        while request := conn.request():
            if request.target == "/away":
                conn.respond(307, headers=[("Location", f"http://127.0.0.1:{other.port}/mcp")])
            else:
                shown = str(request.headers).encode() if request.method.upper() in ("TRACE", "TRACK", "CONNECT") else b"{}"
                conn.respond(200, shown, [("Content-Type", "message/http")])

    server = upstream(serve)
    program = record(server.url, "--header-env", "Authorization=LENT", env={"LENT": f"Bearer {ADDED_SECRET}"})
    names = {"here": HERE.format(port=program.port), "other": f"127.0.0.1:{other.port}", "server": f"127.0.0.1:{server.port}"}
    client = program.client()
    given = [(n, v.format(**names)) for n, v in headers]
    host = [] if any(n == "Host" for n, _ in given) else [("Host", names["here"])]
    client.send(compose(start.format(**names), [*host, *given, ("Connection", "close")] if len(given) == 0 else [*host, *given], sized=False))
    response = client.read_response()
    text = str(response.headers) + response.body.decode()
    assert ADDED_SECRET not in text
    assert response.status == status or (status is None and response.status in (400, 403)), text
    if status == 405:
        assert response.get("allow") == "GET, POST, DELETE" and "are not forwarded" in text
    assert [request.get("authorization") for request in server.requests] == ([f"Bearer {ADDED_SECRET}"] if status_line else [])
    assert not other.requests and not other.count
    recorded(program)
    assert ADDED_SECRET not in program.file.read_text() and ADDED_SECRET not in program.err


COOKIES = ["sid=v1; Domain=example.org; Path=/; HttpOnly", "lb=2; domain=.auth.example.org;Secure", "own=3; Path=/mcp",
           "far=4; Domain=elsewhere.example", "all=5; Domain=org"]


@pytest.mark.parametrize("path", ["/mcp", "/login"])
def test_cookies_of_the_servers_domain_are_accepted_by_the_client(upstream, record, path):  # noqa: F811
    def serve(conn):
        while request := conn.request():
            if request.method == "CONNECT":  # it plays the proxy, too, through which alone such a name can be reached
                conn.send(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                conn.respond(200, b"{}", [JSON, *(("Set-Cookie", line) for line in COOKIES)])

    server = upstream(serve)
    program = record(f"http://auth.example.org:{server.port}/mcp",
                     env={"http_proxy": f"http://127.0.0.1:{server.port}", "no_proxy": "", "NO_PROXY": ""})
    client = program.client()
    client.send_request(method="GET", path=path)
    assert client.read_response().all("set-cookie") == ["sid=v1; Path=/; HttpOnly", "lb=2;Secure", *COOKIES[2:]]
    recorded(program)


def test_a_wrong_path_gives_one_hint(upstream, record):  # noqa: F811
    def serve(conn):
        while conn.request():
            conn.respond(404, b"nothing here")

    program = record(upstream(serve).url)
    client = program.client()
    assert [client.post(call(n)).status for n in range(2)] == [404, 404]
    recorded(program)
    assert program.err.count("the server answered HTTP 404 to ping: nothing here: is this an MCP endpoint?\n") == 1


def test_a_404_for_an_ended_session_gives_no_hint(upstream, record):  # noqa: F811
    def serve(conn):
        while request := conn.request():
            conn.respond(404 if request.json["id"] else 200, json_=result(request.json["id"]))

    program = record(upstream(serve).url)
    client = program.client()
    assert [client.post(call(n)).status for n in range(2)] == [200, 404]
    recorded(program)
    assert "endpoint?" not in program.err


def test_the_end_of_an_unused_stream_is_not_logged(upstream, record, mcpreel, run):
    """Clients keep one open as long as they run, also when the recording ends first."""
    def serve(conn):
        conn.request()
        conn.sse()
        conn.wait_end()

    program = record(upstream(serve).url)
    client = program.client()
    client.send_request(method="GET")
    assert client.head().status == 200
    assert program.stop() == 0, program.err
    checked = run([mcpreel, "check", program.file])
    assert checked.code == 0, checked


@pytest.mark.parametrize("match", ["sequential", "by-request"])
def test_a_recording_with_a_redirect_is_replayed(upstream, record, mcpreel, match):  # noqa: F811
    """Mounted servers redirect requests at /mcp to /mcp/; that is no response to the message."""
    def serve(conn):
        while request := conn.request():
            if " /mcp " in request.start:
                conn.respond(307, headers=[("Location", "/mcp/")])
            else:
                conn.respond(json_=result(request.json["id"], {"received": request.json["id"]}))

    program = record(upstream(serve).url)
    client = program.client()
    for path, status in (("/mcp", 307), ("/mcp/", 200)) * 2:
        assert client.post(call(7 if status == 200 else 6), path=path).status == status
    recorded(program)
    with subprocess.Popen([mcpreel, "replay", "--match", match, program.file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as played:
        out, err = played.communicate(b"".join(json.dumps(call(n)).encode() + b"\n" for n in (1, 2)), timeout=60)
    assert [json.loads(line) for line in out.splitlines()] == [result(1, {"received": 7}), result(2, {"received": 7})], err


def test_each_failure_of_a_server_is_reported_once(upstream, record):  # noqa: F811
    """One that has told of a stream that broke off does not keep quiet about other faults; nor does it tell of a thousand streams."""
    def serve(conn):
        while request := conn.request():
            name = request.json["params"]["name"]
            if name == "cut":
                conn.sse()
                conn.event({"jsonrpc": "2.0", "method": "notifications/message"})
                return
            conn.sse()
            conn.send(b"zz\r\n")
            conn.wait_end()
            return

    program = record(upstream(serve).url)
    for number, name in enumerate(["cut", "chunk", "cut", "chunk", "cut"]):
        client = program.client()
        client.send_request(call(number, "tools/call", name=name))
        client.rest()
    assert program.stop() == 0
    abort_lines = [line for line in program.err.splitlines() if " aborted: " in line]
    assert [line.split(" aborted")[0].split()[-1] for line in abort_lines] == ["1", "2"], program.err
    assert len({line.split("aborted: ")[1] for line in abort_lines}) == 2

"""Which Host a server gets, and the message to the user when the server refuses to initialize (findings U1 and U9)."""
import json

import pytest

from http_peers import Program, Upstream, call, initialize, records_of, result, valid_lines_of


@pytest.fixture
def upstream():
    made = []

    def make(serve):
        made.append(Upstream(serve))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start(url, *options):
        started.append(Program([mcpreel, "record", "--url", url, "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl", *options]))
        return started[-1]

    yield start
    for program in started:
        program.close()


def host_checking_server(conn):
    """A server that serves only requests for its own address, as Playwright MCP does."""
    own = "127.0.0.1:%d" % conn.sock.getsockname()[1]
    while request := conn.request():
        if request.get("host") == own:
            conn.respond(json_=result(request.json["id"]))
        else:
            conn.respond(403, f"Access is only allowed at {own}".encode(), [("Content-Type", "text/plain")])


def rejecting_server(status, body=b"", media="text/plain"):
    def serve(conn):
        while conn.request():
            conn.respond(status, body, [("Content-Type", media)] if body else [])
    return serve


def test_the_server_gets_its_own_host(upstream, record):
    server = upstream(host_checking_server)
    program = record(server.url)
    assert program.client().post(initialize()).json["result"] == {}
    assert program.client().post(call(1), headers=[("Host", f"localhost:{program.port}")]).status == 200
    assert [r.all("host") for r in server.requests] == [[f"127.0.0.1:{server.port}"]] * 2
    assert program.stop() == 0
    assert "warning" not in program.err


def test_keep_host_forwards_the_clients_host(upstream, record, tmp_path):
    server = upstream(host_checking_server)
    program = record(server.url, "--keep-host")
    assert program.client().post(initialize()).status == 403
    assert program.client().post(initialize()).status == 403
    assert [r.all("host") for r in server.requests] == [[f"127.0.0.1:{program.port}"]] * 2
    assert program.stop() == 0
    warning = f"warning: the server answered HTTP 403 to initialize: Access is only allowed at 127.0.0.1:{server.port}"
    assert program.err.count(warning) == program.err.count("HTTP 403") == 1, program.err
    assert len(records_of(valid_lines_of(tmp_path / "r.jsonl"), "message")) == 2


@pytest.mark.parametrize("words", [["--", "true"], ["--listen", "0", "--", "true"], ["--url", "http://127.0.0.1:9"]])
def test_keep_host_needs_a_url_and_an_address(words, run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "--keep-host", "-o", "r.jsonl", *words], cwd=tmp_path)
    assert ran.code == 2 and b"'--keep-host' needs '--url' and '--listen'" in ran.err, ran


ERROR = json.dumps({"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no \x1b[31mred\nversion"}}).encode()
CASES = [
    (404, b"", "", "/api", "warning: the server answered HTTP 404 to initialize: is this an MCP endpoint? try {origin}/mcp"),
    (404, b"<html>gone", "text/html", "/mcp", "warning: the server answered HTTP 404 to initialize with an HTML page: "
                                             "is this an MCP endpoint?"),
    (200, b"<!doctype html>hi", "text/html", "/", "warning: the server answered HTTP 200 to initialize with an HTML page: "
                                                 "is this an MCP endpoint? try {origin}/mcp"),
    (500, b"out of\r\n \x1b[1mcheese" + b"x" * 1000, "text/plain", "/mcp",
     "warning: the server answered HTTP 500 to initialize: out of   \\x1b[1mcheesexxx"),
    (401, b'{"error":"invalid_token"}', "application/json", "/mcp", "the server answered HTTP 401 to initialize: "
                                                                   '{{"error":"invalid_token"}}'),
    (200, ERROR, "application/json", "/mcp", "the server rejected initialize with error -32602: no \\x1b[31mred version"),
    (400, ERROR, "application/json", "/mcp", "the server answered HTTP 400 to initialize with error -32602: no \\x1b[31mred version"),
]


@pytest.mark.parametrize("status, body, media, path, warning", CASES)
def test_a_rejected_initialize_is_reported_with_the_servers_text(status, body, media, path, warning, upstream, record):
    server = upstream(rejecting_server(status, body, media))
    program = record(f"http://127.0.0.1:{server.port}{path}")
    client = program.client()
    for _ in range(3):
        assert client.post(initialize()).status == status
    assert program.stop() == 0
    warning = warning.format(origin=f"http://127.0.0.1:{server.port}")
    lines = [line for line in program.err.splitlines() if "the server answered" in line or "the server rejected" in line]
    assert len(lines) == 1 and lines[0].startswith("mcpreel: " + warning) and len(lines[0]) < 400, program.err
    assert warning.endswith("xxx") or lines[0] == "mcpreel: " + warning


def test_a_rejected_first_request_of_another_kind_is_reported(upstream, record):
    server = upstream(rejecting_server(404))
    program = record(f"http://127.0.0.1:{server.port}/sub/")
    assert program.client().post(call(1, "server/discover")).status == 404
    assert program.stop() == 0
    assert f"HTTP 404 to server/discover: is this an MCP endpoint? try http://127.0.0.1:{server.port}/mcp\n" in program.err


@pytest.mark.parametrize("status, body, media, path, warning", [c for c in CASES if c[1] != ERROR])
def test_a_stdio_client_of_a_server_without_mcp_exits_with_4(status, body, media, path, warning, upstream, run, mcpreel, tmp_path):
    server = upstream(rejecting_server(status, body, media))
    ran = run([mcpreel, "record", "--url", f"http://127.0.0.1:{server.port}{path}", "-o", tmp_path / "r.jsonl"],
              stdin=json.dumps(initialize()).encode() + b"\n")
    assert ran.code == 4, ran
    assert warning.format(origin=f"http://127.0.0.1:{server.port}").removeprefix("warning: ") in ran.err.decode(), ran


def test_a_stdio_client_rejected_by_a_message_exits_with_0(upstream, run, mcpreel, tmp_path):
    server = upstream(rejecting_server(200, ERROR, "application/json"))
    ran = run([mcpreel, "record", "--url", server.url, "-o", tmp_path / "r.jsonl"], stdin=json.dumps(initialize()).encode() + b"\n")
    assert ran.code == 0 and b"the server rejected initialize with error -32602: no \\x1b[31mred version\n" in ran.err, ran

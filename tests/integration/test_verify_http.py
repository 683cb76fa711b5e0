"""verify with HTTP servers: which HTTP requests it sends."""
import json
import signal
import subprocess
import threading
import time

import pytest
from http_peers import Program, Upstream, call, initialize, result

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SERVER = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}


def respond(conn, message):
    if message.get("method") == "initialize":
        conn.respond(json_=result(message["id"], SERVER), headers=[("Mcp-Session-Id", f"session-{conn.number}")])
    elif "method" in message and "id" in message:
        conn.respond(json_=result(message["id"], {"content": []}))
    else:
        conn.respond(202 if message else 200)


def serve(conn):
    """A server with sessions. It sends a request to each client that opens a GET stream, before it responds to anything else there."""
    while request := conn.request():
        if request.method == "GET":
            conn.sse()
            conn.event(call("r", "roots/list"))
            conn.wait_end()
            return
        respond(conn, request.json if request.body else {})


@pytest.fixture
def upstream():
    server = Upstream(serve)
    yield server
    server.close()


def record(mcpreel, upstream, file, *session):
    """Records a session; "GET" opens a stream and awaits its first event, "DELETE" ends the session."""
    program, streams = Program([mcpreel, "record", "--url", upstream.url, "--listen", "0", "-o", file]), []
    client = program.client()
    id_ = [("Mcp-Session-Id", client.post(initialize()).get("mcp-session-id"))]
    for step in session:
        if step == "GET":
            streams.append(program.client())
            streams[-1].send_request(method="GET", headers=[*id_, ("Accept", "text/event-stream")])
            assert streams[-1].head().status == 200 and "roots/list" in streams[-1].event()
        elif step == "DELETE":
            client.send_request(method="DELETE", headers=id_)
            assert client.read_response().status == 200
        else:
            assert client.post(step, headers=id_).status in (200, 202)
    for stream in streams:
        stream.close()
    assert program.stop() == 0, program.err
    upstream.seen.clear()
    return file


CALL = call(1, "tools/call", name="t", arguments={})


@pytest.mark.parametrize("session, opened", [
    ((INITIALIZED, CALL), 0),
    ((INITIALIZED, CALL, "DELETE"), 0),
    ((INITIALIZED, "GET", result("r", {"roots": []}), CALL), 1),
], ids=["none", "DELETE only", "GET"])
def test_a_get_stream_is_opened_if_one_was_recorded(mcpreel, run, upstream, tmp_path, session, opened):
    file = record(mcpreel, upstream, tmp_path / "a.jsonl", *session)
    ran = run([mcpreel, "verify", "--url", upstream.url, file])
    assert ran.code == 0, str(ran)
    assert [request.method for request in upstream.requests].count("GET") == opened, upstream.requests


def test_a_recording_over_stdio_is_verified_with_a_get_stream(mcpreel, run, upstream, tmp_path):
    """A stdio client gets everything. The server responds to the call when its request on the stream has come."""
    file = record(mcpreel, upstream, tmp_path / "a.jsonl", INITIALIZED, CALL)
    assert run([mcpreel, "convert", file, "-o", tmp_path / "a.jsonrpc"]).code == 0
    streamed = threading.Event()

    def serve_in_order(conn):
        while request := conn.request():
            if request.method == "GET":
                conn.sse()
                conn.event(call("r", "roots/list"))
                time.sleep(0.3)  # two connections have no order
                streamed.set()
                conn.wait_end()
                return
            message = request.json if request.body else {}
            if message.get("method") == "tools/call":
                assert streamed.wait(20)
            respond(conn, message)

    server = Upstream(serve_in_order)
    try:
        ran = run([mcpreel, "verify", "--url", server.url, tmp_path / "a.jsonrpc"])
    finally:
        server.close()
    assert ran.code == 1 and b"the server sent roots/list, which the recording does not have" in ran.out, str(ran)


@pytest.mark.parametrize("path, requested", [
    *((path, "/mcp") for path in ("", "/", "/mcp", "/mcp/", "/mcp//")), ("/mcp?key=s", "/mcp?key=s"), ("/?key=s", "/mcp?key=s"),
    ("?key=s#f", "/mcp?key=s"), ("/abc?to=/mcp", "/abc/mcp?to=/mcp")])
def test_a_target_gets_the_path_of_mcp_recorder(path, requested, mcpreel, run, upstream, tmp_path):
    file = record(mcpreel, upstream, tmp_path / "s.jsonl", INITIALIZED, CALL)
    cassette = tmp_path / "s.json"
    assert run([mcpreel, "convert", file, "-o", cassette]).code == 0
    upstream.requests.clear()
    ran = run([mcpreel, "verify", "--cassette", cassette, "--target", f"http://127.0.0.1:{upstream.port}{path}"])
    assert b"Result: 3/3 passed, 0 failed" in ran.out + ran.err, str(ran)
    assert {request.target for request in upstream.requests} == {requested}


def test_the_secrets_of_a_target_are_in_no_report(mcpreel, run, upstream, tmp_path):
    """mcp-recorder's lines have the whole URL."""
    file, cassette = record(mcpreel, upstream, tmp_path / "s.jsonl", INITIALIZED, CALL), tmp_path / "s.json"
    assert run([mcpreel, "convert", file, "-o", cassette]).code == 0
    place = f"http://127.0.0.1:{upstream.port}"
    ran = run([mcpreel, "verify", "--cassette", cassette, "--target", f"{place}/mcp?api_key=k-93", "--report", tmp_path / "r.json"])
    assert f" against {place}/mcp?api_key=k-93\n" in (ran.out + ran.err).decode(), str(ran)
    report = (tmp_path / "r.json").read_text()
    of_url = run([mcpreel, "verify", "--json", "--url", f"{place}/mcp?api_key=k-93", file])
    assert json.loads(report)["target"] == json.loads(of_url.out)["target"] == f"{place}/[REDACTED]" and "k-93" not in report


def test_each_session_has_the_streams_that_were_recorded_with_it(mcpreel, run, upstream, tmp_path):
    """Two sessions at the same time: only the first one has a GET stream, which it opens after the initialize of the second."""
    program = Program([mcpreel, "record", "--url", upstream.url, "--listen", "0", "-o", tmp_path / "a.jsonl"])
    clients = [program.client(), program.client()]
    ids = [[("Mcp-Session-Id", client.post(initialize()).get("mcp-session-id"))] for client in clients]
    for client, id_ in zip(clients, ids):
        client.post(INITIALIZED, headers=id_)
    stream = program.client()
    stream.send_request(method="GET", headers=[*ids[0], ("Accept", "text/event-stream")])
    assert stream.head().status == 200 and "roots/list" in stream.event()
    clients[0].post(result("r", {"roots": []}), headers=ids[0])
    for client, id_ in zip(clients, ids):
        client.post(CALL, headers=id_)
    stream.close()
    assert program.stop() == 0, program.err
    upstream.seen.clear()
    ran = run([mcpreel, "verify", "--url", upstream.url, tmp_path / "a.jsonl"])
    assert ran.code == 0, str(ran)
    assert [request.method for request in upstream.requests].count("GET") == 1


def test_a_server_that_is_slow_is_waited_for_no_longer_than_the_user_says(mcpreel, run, upstream, tmp_path):
    """It responds to the first probe after four seconds, when the wait is over."""
    file = record(mcpreel, upstream, tmp_path / "a.jsonl", INITIALIZED, CALL)

    def serve_late(conn):
        if conn.request():
            time.sleep(4)
            conn.respond(405)

    server = Upstream(serve_late)
    try:
        ran = run([mcpreel, "verify", "--wait-ready", "200ms", "--url", server.url, file])
    finally:
        server.close()
    assert ran.code == 4 and b"could not be reached in time" in ran.err and ran.out == b"", str(ran)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_its_server_is_not_ready(mcpreel, run, upstream, tmp_path, status):
    file = record(mcpreel, upstream, tmp_path / "a.jsonl", INITIALIZED, CALL)
    left = [3]

    def serve_after_some_errors(conn):
        while request := conn.request():
            if left[0]:
                left[0] -= 1
                conn.respond(status)
            else:
                respond(conn, request.json if request.body else {})

    server = Upstream(serve_after_some_errors)
    try:
        ran = run([mcpreel, "verify", "--wait-ready", "20s", "--url", server.url, file])
        left[0] = 10**9
        never = run([mcpreel, "verify", "--wait-ready", "300ms", "--url", server.url, file])
    finally:
        server.close()
    assert ran.code == 0 and b"2 passed" in ran.out, str(ran)
    assert never.code == 4 and f"was not ready in time: HTTP {status}".encode() in never.err and never.out == b"", str(never)


def test_ctrl_c_ends_the_wait_for_a_server(mcpreel, upstream, tmp_path):
    """Between two probes, where it is nearly all the time."""
    file = record(mcpreel, upstream, tmp_path / "a.jsonl", INITIALIZED, CALL)
    with subprocess.Popen([mcpreel, "verify", "--wait-ready", "60s", "--url", "http://127.0.0.1:9", file], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 5 and out == "" and err.endswith("mcpreel: interrupted by signal 2\n"), out + err


@pytest.mark.parametrize("status, words", [(401, b"the server requires a login (status 401): send credentials with --header-env"),
                                           (403, b"the server answered HTTP 403: if it wants a login, send credentials with --header-env")])
def test_a_login_that_a_call_wants_is_named_once(mcpreel, run, tmp_path, status, words):
    rejected = False

    def serve_without_login(conn):
        while request := conn.request():
            message = request.json if request.body else {}
            if rejected and message.get("method") == "tools/call":
                conn.respond(status)
            elif "id" in message:
                conn.respond(json_=result(message["id"], SERVER if message["method"] == "initialize" else {"content": []}))
            else:
                conn.respond(202 if message else 405)

    server = Upstream(serve_without_login)
    file = record(mcpreel, server, tmp_path / "a.jsonl", INITIALIZED, CALL)
    rejected = True
    ran = run([mcpreel, "verify", "--url", server.url, file])
    server.close()
    assert ran.code == 1 and ran.out.count(b"--header-env") == 1 and words in ran.out, str(ran)

"""A client on stdio and a server on HTTP, 'mcpreel record --url' in between, and a replay with such a server behind it."""
import json
import os
import queue
import signal
import ssl
import subprocess
import threading
import time

import pytest

from bridging import (META, INITIALIZED, SESSION, bridge, echo, initialized, initialize_response, initialize, messages, http_sse_server, recorded,  # noqa: F401
                      session_server, stdio, upstream)
from http_peers import WAIT, Program, call, records_of, result


def test_a_session_is_forwarded_and_recorded_completely(upstream, bridge):
    server = upstream(session_server(echo))
    one = initialized(bridge(server))
    assert one.get_response(call("a", "tools/list")) == result("a", {"said": "tools/list"})
    assert one.close() == 0, one.stderr_text
    posts = [r for r in server.requests if r.method == "POST"]
    assert [r.json.get("method") for r in posts] == ["initialize", "notifications/initialized", "tools/list"]
    assert [r.get("Mcp-Session-Id") for r in posts] == [None, SESSION, SESSION]
    assert [r.get("MCP-Protocol-Version") for r in posts] == [None, "2025-11-25", "2025-11-25"]
    assert all(r.get("Accept") == "application/json, text/event-stream" and r.get("Content-Type") == "application/json" for r in posts)
    assert [r.get("Mcp-Session-Id") for r in server.requests if r.method == "DELETE"] == [SESSION]
    lines = recorded(one)
    assert messages(lines, "c2s") == [initialize(), INITIALIZED, call("a", "tools/list")]
    assert messages(lines, "s2c") == [initialize_response(0), result("a", {"said": "tools/list"})]
    assert lines[0]["transport"] == "http" and lines[-1]["exit_code"] == 0
    assert {line.get("session") for line in records_of(lines, "message")} == {None, 1}
    assert SESSION not in one.file.read_text()


def test_the_recording_is_replayed_on_stdio_and_over_http(upstream, bridge, stdio, mcpreel):
    one = initialized(bridge(upstream(session_server(echo))))
    assert one.get_response(call("a", "tools/list"))
    assert one.close() == 0
    again = initialized(stdio("replay", one.file))
    assert again.get_response(call(7, "tools/list")) == result(7, {"said": "tools/list"})
    assert again.close() == 0, again.stderr_text
    program = Program([mcpreel, "replay", "--listen", "0", one.file])
    try:
        client = program.client()
        first_response = client.post(initialize())
        inside = [("Mcp-Session-Id", first_response.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
        assert client.post(INITIALIZED, headers=inside).status == 202
        assert client.post(call(9, "tools/list"), headers=inside).json == result(9, {"said": "tools/list"})
        assert program.stop() == 0
    finally:
        program.close()


def test_a_message_is_recorded_before_it_is_forwarded(upstream, bridge):
    one = None

    def respond_and_check(conn, request):
        there = one.file.read_text()
        assert f'"id": {request.json["id"]}' in there or f'"id":{request.json["id"]}' in there
        echo(conn, request)

    one = initialized(bridge(upstream(session_server(respond_and_check))))
    for n in range(1, 20):
        response = one.get_response(call(n, "ping"))
        assert json.dumps(response) in one.file.read_text()
    assert one.close() == 0


def test_a_client_that_closes_at_once_gets_its_responses(upstream, mcpreel, run, tmp_path):
    server = upstream(session_server(echo))
    sent = [initialize(), INITIALIZED, *(call(n, "ping") for n in range(1, 30))]
    ran = run([mcpreel, "record", "--upstream-http", server.url, "-o", "r.jsonl"], cwd=tmp_path,
              stdin=b"".join(json.dumps(m).encode() + b"\n" for m in sent))
    assert ran.code == 0, ran
    assert sorted(json.loads(line)["id"] for line in ran.out.splitlines()) == list(range(30))
    posted = [r.json for r in server.requests if r.method == "POST"]
    assert sorted(map(json.dumps, posted)) == sorted(map(json.dumps, sent))
    assert posted[:2] == sent[:2]


def test_responses_come_in_any_order_and_calls_run_concurrently(upstream, bridge):
    others = threading.Event()

    def calls(conn, request):
        if request.json["id"] == 1:
            assert others.wait(WAIT)
        echo(conn, request)

    one = initialized(bridge(upstream(session_server(calls))))
    one.send(call(1, "slow"), call(2, "quick"), call(3, "quick"))
    assert {one.receive()["id"], one.receive()["id"]} == {2, 3}
    others.set()
    assert one.receive() == result(1, {"said": "slow"})
    assert one.close() == 0


def test_server_requests_get_their_responses(upstream, bridge):
    """On the stream of a call, and on the server's own."""
    answers = queue.Queue()
    roots_request = {"jsonrpc": "2.0", "id": 0, "method": "roots/list"}

    def stream(conn, request):
        conn.sse()
        conn.event({**roots_request, "id": "own"})
        conn.wait_end()
        return True

    def calls(conn, request):
        if "method" not in request.json:
            answers.put(request.json)
            conn.respond(202)
            return
        conn.sse()
        conn.event(roots_request)
        assert answers.get(timeout=WAIT) == result(0, {"roots": []})
        conn.event(result(request.json["id"]))
        conn.last()

    one = initialized(bridge(upstream(session_server(calls, stream))))
    assert one.receive() == {**roots_request, "id": "own"}
    one.send(result("own", {"roots": []}))
    assert answers.get(timeout=WAIT) == result("own", {"roots": []})
    assert one.get_response(call(1, "tools/call", name="x")) == roots_request
    one.send(result(0, {"roots": []}))
    assert one.receive() == result(1)
    assert one.close() == 0


def test_an_aborted_stream_is_resumed(upstream, bridge):
    requests = []

    def calls(conn, request):
        requests.append(request.json)
        conn.sse()
        conn.event("", id="e-1", retry=10)
        conn.last()

    def stream(conn, request):
        if request.get("Last-Event-ID") != "e-1":
            return False
        conn.sse()
        conn.event(result(1), id="e-2")
        conn.last()
        return True

    one = initialized(bridge(upstream(session_server(calls, stream))))
    assert one.get_response(call(1, "tools/call", name="x")) == result(1)
    assert one.close() == 0
    assert len(requests) == 1
    assert records_of(recorded(one), "http", ev="response", resumes={"stream": 1, "after": 1})


def test_a_stream_that_cannot_be_resumed_gives_an_error(upstream, bridge):
    def calls(conn, request):
        conn.sse()
        conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
        conn.close()

    one = initialized(bridge(upstream(session_server(calls))))
    assert one.get_response(call(1, "tools/call", name="x"))["method"] == "notifications/message"
    error = one.receive()
    assert (error["id"], error["error"]["code"]) == (1, -32000)
    assert error["error"]["message"] == "the server closed the connection before its response was complete"
    assert one.close() == 0
    broken = records_of(recorded(one), "http", ev="end", clean=False)
    assert [line["why"] for line in broken] == [error["error"]["message"]]


def test_an_unreachable_server_gives_an_error(bridge, run, mcpreel):
    one = bridge("http://127.0.0.1:1/mcp")
    for message in (initialize(), call("b")):
        error = one.get_response(message)
        assert (error["id"], error["error"]["code"]) == (message["id"], -32000)
        assert "connect" in error["error"]["message"]
    assert one.close() == 4
    lines = recorded(one)
    assert [line["why"] for line in records_of(lines, "http", ev="end")] == [error["error"]["message"]] * 2
    assert [line["by"] for line in records_of(lines, "http", ev="response")] == ["mcpreel"] * 2
    assert lines[-1]["exit_code"] == 4
    checked = run([mcpreel, "check", one.file])  # there was no process that it could blame
    assert checked.code == 1 and b"HTTP exchanges that failed; the first: cannot connect" in checked.out and b"process" not in checked.out


def test_an_ended_session_can_be_initialized_again(upstream, bridge):
    ended = []

    def calls(conn, request):
        if not ended:
            ended.append(True)
            conn.respond(404, json_={"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no such session"}})
        else:
            echo(conn, request)

    one = initialized(bridge(upstream(session_server(calls))))
    assert one.get_response(call(1)) == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no such session"}}
    assert one.get_response(initialize(2)) == initialize_response(2)
    assert one.get_response(call(3)) == result(3, {"said": "ping"})
    assert one.close() == 0
    assert "the client has to initialize again" in one.stderr_text


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_mcpreel_and_the_session(upstream, bridge, signum):
    release = threading.Event()

    def calls(conn, request):
        release.set()
        conn.wait_end()

    server = upstream(session_server(calls))
    one = initialized(bridge(server))
    one.send(call(1, "tools/call", name="long"))
    assert release.wait(WAIT)
    one.process.send_signal(signum)
    assert one.end() == 0
    assert one.receive() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "mcpreel was ended"}}
    assert one.receive() is None
    assert "DELETE" in [r.method for r in server.requests]
    # The stream of its own may not have been refused yet.
    assert {(e["by"], e["why"]) for e in records_of(recorded(one), "http", ev="end", clean=False)} == {("mcpreel", "mcpreel was ended")}


def bridge_with_pending_requests(upstream, bridge):
    """A bridge with two thousand requests that wait, and a client that does not read: the first word of the server never comes."""
    begun = threading.Event()

    def serve(conn):
        conn.request()
        begun.set()
        conn.wait_end()

    one = bridge(upstream(serve), reads=False)
    # The last line gets its response at once: then all lines before it were read.
    one.write(b"".join(json.dumps(m).encode() + b"\n" for m in [initialize(), *(call(n, "x" * 40) for n in range(1, 2000))]) + b"noise\n")
    assert begun.wait(WAIT)
    noise = json.loads(one.process.stdout.readline())
    assert noise["id"] is None
    return one


def wait_for_stderr(one, what):
    deadline = time.monotonic() + WAIT
    while what not in one.stderr_text:
        assert time.monotonic() < deadline, one.stderr_text
        time.sleep(0.005)


def test_a_late_reader_gets_an_error_for_each_request_that_a_signal_ended(upstream, bridge):
    one = bridge_with_pending_requests(upstream, bridge)
    one.process.send_signal(signal.SIGTERM)
    wait_for_stderr(one, "2000 requests: mcpreel was ended")  # more than a pipe holds
    one.start_reading()
    assert one.end() == 4
    assert [one.receive() for _ in range(2000)] == [
        {"jsonrpc": "2.0", "id": n, "error": {"code": -32000, "message": "mcpreel was ended"}} for n in range(2000)]
    assert one.receive() is None


def test_a_client_that_never_reads_does_not_prevent_the_end(upstream, bridge):
    one = bridge_with_pending_requests(upstream, bridge)
    one.process.send_signal(signal.SIGTERM)
    assert one.end() == 4
    assert recorded(one)[-1]["exit_code"] == 4


def test_a_closed_client_is_not_waited_for(upstream, mcpreel, tmp_path):
    """However much the server has to say."""
    begun, disconnected = threading.Event(), threading.Event()

    def calls(conn, request):
        conn.sse()
        try:
            while True:
                conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
                begun.set()
        except OSError:
            disconnected.set()
            raise

    words = [mcpreel, "-q", "record", "--url", upstream(session_server(calls)).url, "-o", tmp_path / "r.jsonl"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(call(1, "tools/call", name="long")).encode() + b"\n")
        process.stdin.close()
        assert begun.wait(WAIT)
        process.stdout.close()
        assert disconnected.wait(WAIT)
        assert process.wait(timeout=WAIT) == 0


def test_a_session_that_the_server_does_not_delete_is_no_error(upstream, bridge):
    one = initialized(bridge(upstream(session_server(echo, delete=405))))
    assert one.get_response(call(1)) == result(1, {"said": "ping"})
    assert one.close() == 0


def test_invalid_lines_are_recorded_and_not_sent(upstream, bridge):
    server = upstream(session_server(echo))
    one = initialized(bridge(server))
    one.write(b"hello\n\n{\"id\":{}}\n[]\n")
    assert [one.receive()["error"]["code"] for _ in range(3)] == [-32700, -32600, -32600]
    assert one.get_response(call(1)) == result(1, {"said": "ping"})
    assert one.close() == 0
    lines = recorded(one)
    assert [line["text"] for line in records_of(lines, "raw", **{"from": "client"})] == ["hello", "{\"id\":{}}", "[]"]
    assert all(b"hello" not in r.body for r in server.requests)


def test_a_batch_is_sent_as_one_and_its_responses_come_as_lines(upstream, bridge):
    def calls(conn, request):
        conn.respond(json_=[result(one["id"]) for one in reversed(request.json) if "id" in one])

    server = upstream(session_server(calls))
    one = initialized(bridge(server))
    one.write(json.dumps([call(1), call(2), {"jsonrpc": "2.0", "method": "notifications/x"}]).encode() + b"\n")
    assert [one.receive(), one.receive()] == [result(2), result(1)]
    assert one.close() == 0
    assert any(isinstance(r.json, list) for r in server.requests if r.body)


def test_json_of_several_lines_becomes_one_line(upstream, bridge):
    one = bridge(upstream(lambda conn: conn.request() and conn.respond(200, b'{\r\n "jsonrpc": "2.0",\n "id": 1, "result": {}\n}\n',
                                                                      [("Content-Type", "application/json; charset=utf-8")])))
    assert one.get_response(call(1)) == result(1)
    assert one.close() == 0


def test_megabytes_are_forwarded_in_both_directions(upstream, bridge):
    one = initialized(bridge(upstream(session_server(lambda conn, request: conn.respond(
        json_=result(request.json["id"], {"back": request.json["params"]["text"]}))))))
    texts = ["x" * (1 << 20), "é\"\\" * (1 << 17), "z" * (2 << 20)]
    writer = threading.Thread(target=lambda: one.send(*(call(n, "echo", text=text) for n, text in enumerate(texts, 1))))
    writer.start()
    answers = sorted((one.receive() for _ in texts), key=lambda m: m["id"])
    writer.join(WAIT)
    assert answers == [result(n, {"back": text}) for n, text in enumerate(texts, 1)]
    assert one.close() == 0


def test_a_stateless_server_gets_headers_from_the_message(upstream, bridge):
    tools = {"tools": [{"name": "weather", "inputSchema": {"properties": {"city": {"x-mcp-header": "City"}}}}]}

    def serve(conn):
        while request := conn.request():
            conn.respond(json_=result(request.json["id"], tools if request.json["method"] == "tools/list" else {}))

    server = upstream(serve)
    one = bridge(server)
    for n, (method, params) in enumerate([("server/discover", {}), ("tools/list", {}),
                                          ("tools/call", {"name": "weather", "arguments": {"city": "Tromsø"}})]):
        assert one.get_response(call(n, method, **params, _meta=META))["id"] == n
    assert one.close() == 0
    assert [r.method for r in server.requests] == ["POST"] * 3
    assert all(r.get("MCP-Protocol-Version") == "2026-07-28" and not r.get("Mcp-Session-Id") for r in server.requests)
    assert [r.get("Mcp-Method") for r in server.requests] == ["server/discover", "tools/list", "tools/call"]
    assert [server.requests[2].get(name) for name in ("Mcp-Name", "Mcp-Param-City")] == ["weather", "=?base64?VHJvbXPDuA==?="]


def test_a_call_before_the_tool_list_is_sent_again_with_param_headers(upstream, bridge, stdio, mcpreel):
    """A client on stdio knows no header lines: if the server misses some, the list of tools is asked for in its place."""
    tools = {"tools": [{"name": "weather", "inputSchema": {"properties": {"city": {"type": "string", "x-mcp-header": "City"}}}}]}

    def serve(conn):
        while request := conn.request():
            requests = request.json
            if requests["method"] == "tools/list":
                conn.respond(json_=result(requests["id"], tools))
            elif request.get("Mcp-Param-City") != requests["params"]["arguments"]["city"]:
                conn.respond(400, json_={"jsonrpc": "2.0", "id": requests["id"], "error": {"code": -32020, "message": "Mcp-Param-City"}})
            else:
                conn.respond(json_=result(requests["id"], {"said": requests["params"]["arguments"]["city"]}))

    server = upstream(serve)
    one = bridge(server)
    weather_call = lambda n, city: call(n, "tools/call", name="weather", arguments={"city": city}, _meta=META)
    assert one.get_response(weather_call(1, "Oslo")) == result(1, {"said": "Oslo"})
    assert one.get_response(weather_call(2, "Bergen")) == result(2, {"said": "Bergen"})
    assert one.close() == 0
    assert [r.get("Mcp-Method") for r in server.requests] == ["tools/call", "tools/list", "tools/call", "tools/call"]
    assert server.requests[1].json["params"]["_meta"] == META
    lines = recorded(one)  # all that passed, as with a client on HTTP that does so
    assert [m.get("method") for m in messages(lines, "c2s")] == ["tools/call", "tools/list", "tools/call", "tools/call"]
    assert [m.get("error", {}).get("code") for m in messages(lines, "s2c")] == [-32020, None, None, None]
    again = stdio("replay", one.file)  # a server that knows no param headers rejects no request for them
    assert again.get_response(weather_call("a", "Oslo")) == result("a", {"said": "Oslo"})
    assert again.get_response(weather_call("b", "Bergen")) == result("b", {"said": "Bergen"})
    assert again.close() == 0, again.stderr_text
    program = Program([mcpreel, "replay", "--listen", "0", one.file])
    try:
        heading = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "weather")]
        assert program.client().post(weather_call(7, "Oslo"), headers=heading).json["error"]["code"] == -32020
        assert program.client().post(weather_call(7, "Oslo"), headers=[*heading, ("Mcp-Param-City", "Oslo")]).json == result(7, {"said": "Oslo"})
        assert program.stop() == 0
    finally:
        program.close()


def test_messages_of_concurrent_requests_reach_the_client(upstream, bridge):
    """In the stateless protocol, logs name no request: each comes on the stream of its request, and all go to the one client."""
    both = threading.Barrier(2, timeout=WAIT)

    def log(n, data):
        return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"{n}: {data}"}}

    def serve(conn):
        request = conn.request()
        n = request.json["id"]
        conn.sse()
        for step in range(20):
            both.wait()  # neither is ever alone
            conn.event(log(n, step))
        both.wait()
        conn.event(result(n))
        conn.last()

    one = bridge(upstream(serve))
    one.send(*(call(n, "tools/call", name="x", _meta=META) for n in (1, 2)))
    received = [one.receive() for _ in range(42)]
    assert one.close() == 0
    for n in (1, 2):
        own = [m for m in received if m.get("id") == n or str(m.get("params", {}).get("data", "")).startswith(f"{n}: ")]
        assert own == [*(log(n, step) for step in range(20)), result(n)]
    lines = recorded(one)
    assert sorted(map(json.dumps, messages(lines, "s2c"))) == sorted(map(json.dumps, received))
    for n, exchange in enumerate((1, 2), 1):
        assert {json.dumps(line["msg"]) for line in records_of(lines, "message", dir="s2c", exchange=exchange)} == {
            json.dumps(m) for m in (*(log(n, step) for step in range(20)), result(n))}


def test_a_stateless_cancellation_aborts_the_request(upstream, bridge):
    begun, closed = threading.Event(), threading.Event()

    def serve(conn):
        request = conn.request()
        if request.json["id"] == 1:
            conn.sse()
            begun.set()
            conn.wait_end()
            closed.set()
        else:
            echo(conn, request)

    server = upstream(serve)
    one = bridge(server)
    one.send(call(1, "tools/call", name="long", _meta=META))
    assert begun.wait(WAIT)
    one.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert closed.wait(WAIT)
    assert one.get_response(call(2, "tools/list", _meta=META)) == result(2, {"said": "tools/list"})
    assert one.close() == 0
    assert not any(b"cancelled" in r.body for r in server.requests)
    assert records_of(recorded(one), "http", ev="end", by="client", clean=False)


@pytest.mark.parametrize("endpoint", ["/messages?sessionId={s}", "messages?sessionId={s}", "http://127.0.0.1:{p}/messages?sessionId={s}"])
def test_an_http_sse_server_is_used(upstream, bridge, stdio, endpoint):
    server = upstream(http_sse_server(lambda conn: endpoint.format(s=SESSION, p=conn.sock.getsockname()[1])))
    one = bridge(server.url.replace("/mcp", "/sse"))
    initialized(one)
    assert one.get_response(call(1, "tools/list")) == result(1, {"said": "tools/list"})
    assert one.close() == 0, one.stderr_text
    assert "HTTP+SSE" in one.stderr_text
    assert SESSION not in one.file.read_text()
    lines = recorded(one)
    assert messages(lines, "s2c") == [initialize_response(0), result(1, {"said": "tools/list"})]
    assert {line["session"] for line in records_of(lines, "message") if line["exchange"] > 1} == {1}
    again = initialized(stdio("replay", one.file))
    assert again.get_response(call(7, "tools/list")) == result(7, {"said": "tools/list"})
    assert again.close() == 0, again.stderr_text


def test_headers_are_sent_and_not_recorded(upstream, bridge):
    server = upstream(session_server(echo))
    one = initialized(bridge(server, "--header", "X-Api-Key: canary-key-123456", "--header-env", "Authorization=TOKEN",
                         env={"TOKEN": "Bearer canary-token-123456"}))
    assert one.get_response(call(1))
    assert one.close() == 0
    assert all(r.get("Authorization") == "Bearer canary-token-123456" and r.get("X-Api-Key") == "canary-key-123456"
               for r in server.requests)
    assert "canary" not in one.file.read_text() and "canary" not in one.stderr_text


def test_a_session_id_that_the_server_repeats_is_not_recorded(upstream, bridge):
    one = initialized(bridge(upstream(session_server(lambda conn, request: conn.respond(json_=result(request.json["id"], {"session": SESSION}))))))
    assert one.get_response(call(1)) == result(1, {"session": SESSION})
    assert one.close() == 0
    assert SESSION not in one.file.read_text() and "[REDACTED:session-1]" in one.file.read_text()


def test_a_secret_in_the_url_is_not_recorded(upstream, bridge):
    server = upstream(session_server(echo))
    one = initialized(bridge(f"http://user:canary-pw-123456@127.0.0.1:{server.port}/canary-path-8f3a9c1d2e7b6a5f4c/mcp?key=canary-query-123456"))
    assert one.get_response(call(1))
    assert one.close() == 0
    assert server.requests[0].target == "/canary-path-8f3a9c1d2e7b6a5f4c/mcp?key=canary-query-123456"
    assert server.requests[0].get("Authorization").startswith("Basic ")
    assert "canary" not in one.file.read_text() and "canary" not in one.stderr_text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=test",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return folder


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    return context


def test_tls_accepts_a_trusted_certificate(upstream, bridge, tls, certificate):
    one = initialized(bridge(upstream(session_server(echo), tls=tls), "--cacert", certificate / "cert.pem"))
    for n in range(1, 5):
        assert one.get_response(call(n, "ping")) == result(n, {"said": "ping"})
    assert one.close() == 0


def test_tls_rejects_other_certificates(upstream, bridge, tls):
    one = bridge(upstream(session_server(echo), tls=tls))
    assert "certificate" in one.get_response(initialize())["error"]["message"]
    assert one.close() == 4


def test_a_client_that_does_not_read_pauses_the_server(upstream, bridge):
    """And gets everything once it does."""
    count, size, sent = 600, 100 << 10, []

    def calls(conn, request):
        conn.sse()
        for n in range(count):
            conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"n": n, "data": "x" * size}})
            sent.append(n)
        conn.event(result(1))
        conn.last()

    one = bridge(upstream(session_server(calls)), reads=False)
    one.send(call(1, "tools/call", name="flood"))
    before = -1
    while before != len(sent):  # until it says no more
        before = len(sent)
        time.sleep(0.5)
    assert len(sent) < count / 2  # thirty megabytes are more than anybody keeps for a client
    one.start_reading()
    received = [one.receive() for _ in range(count + 1)]
    assert [m["params"]["n"] for m in received[:-1]] == list(range(count))
    assert received[-1] == result(1)
    assert one.close() == 0


# --- Behind a replay


@pytest.fixture
def small_recording(upstream, bridge, tmp_path):
    """A recording with one answer in it."""
    one = initialized(bridge(upstream(session_server(echo))))
    assert one.get_response(call(1, "tools/list"))
    assert one.close() == 0
    os.rename(one.file, tmp_path / "little.jsonl")
    return tmp_path / "little.jsonl"


def test_an_unrecorded_request_is_sent_to_an_http_server(upstream, stdio, small_recording):
    server = upstream(session_server(echo))
    one = initialized(stdio("replay", "--on-unmatched", "passthrough", "--url", server.url, small_recording))
    assert one.get_response(call("a", "tools/list")) == result("a", {"said": "tools/list"})
    assert not server.seen
    assert one.get_response(call("b", "prompts/list")) == result("b", {"said": "prompts/list"})
    assert one.get_response(call("c", "resources/list")) == result("c", {"said": "resources/list"})
    assert one.close() == 0, one.stderr_text
    requests = [r.json.get("method") for r in server.requests if r.body]
    assert requests == ["initialize", "notifications/initialized", "prompts/list", "resources/list"]
    assert "DELETE" in [r.method for r in server.requests]


def test_http_clients_use_an_http_server_for_passthrough(upstream, mcpreel, small_recording):
    server = upstream(session_server(echo))
    program = Program([mcpreel, "replay", "--listen", "0", "--on-unmatched", "passthrough", "--upstream-http", server.url, small_recording])
    try:
        client = program.client()
        first_response = client.post(initialize())
        inside = [("Mcp-Session-Id", first_response.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
        assert client.post(INITIALIZED, headers=inside).status == 202
        assert client.post(call(9, "tools/list"), headers=inside).json == result(9, {"said": "tools/list"})
        response = client.post(call(10, "prompts/list"), headers=inside)
        assert b'"said": "prompts/list"' in response.body or b'"said":"prompts/list"' in response.body
        assert program.stop() == 0, program.err
    finally:
        program.close()


def test_an_unreachable_passthrough_server_gives_an_error(stdio, small_recording):
    one = initialized(stdio("replay", "--on-unmatched", "passthrough", "--url", "http://127.0.0.1:1/mcp", small_recording))
    assert one.get_response(call("b", "prompts/list"))["error"]["message"].startswith(
        "not recorded, and the passthrough server does not respond: cannot connect to 'http://127.0.0.1:1'")
    assert one.get_response(call("a", "tools/list")) == result("a", {"said": "tools/list"})
    assert one.close() == 4
    assert "connect" in one.stderr_text

"""'mcpreel replay --listen': recordings served over HTTP, with the server gone."""
import json
import os
import signal
import socket
import subprocess

import pytest

from http_peers import Program, Upstream, call, read_body, result

VERSION = "2025-11-25"
INITIALIZE_PARAMS = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
INITIALIZE_RESULT = {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def text_content(text):
    return {"content": [{"type": "text", "text": text}]}


@pytest.fixture
def recording(tmp_path):
    """Made on stdio: one session with two calls."""
    messages = [("c2s", call(0, "initialize", **INITIALIZE_PARAMS)), ("s2c", result(0, INITIALIZE_RESULT)), ("c2s", INITIALIZED),
                ("c2s", call(1, "tools/call", name="t", arguments={"n": 1})), ("s2c", result(1, text_content("one"))),
                ("c2s", call(2, "tools/call", name="t", arguments={"n": 2})), ("s2c", result(2, text_content("two")))]
    lines = [{"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "x", "thoughtjack_version": "0.3.0"}]
    lines += [{"type": "message", "seq": n + 1, "ts": "2026-11-15T21:00:00.000Z", "dir": d, "msg": m} for n, (d, m) in enumerate(messages)]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def replay(mcpreel):
    started = []

    def start(*words, listen="127.0.0.1:0", **more):
        started.append(Program([mcpreel, "replay", *(["--listen", listen] if listen else []), *words], **more))
        return started[-1]

    yield start
    for program in started:
        program.close()


def session(client, request_id=0):
    """Greets; the headers for what follows."""
    response = client.post(call(request_id, "initialize", **INITIALIZE_PARAMS))
    assert response.status == 200, response.body
    headers = [("MCP-Protocol-Version", VERSION)]
    if response.get("mcp-session-id"):
        headers.append(("Mcp-Session-Id", response.get("mcp-session-id")))
    assert client.post(INITIALIZED, headers=headers).status == 202
    return headers


def message_of(response):
    """The one message of an answer, in a stream or not."""
    if response.get("content-type").startswith("text/event-stream"):
        data = [line[6:] for line in response.body.decode().splitlines() if line.startswith("data: {")]
        assert len(data) == 1
        return json.loads(data[0])
    return response.json


def listen(program, headers):
    """Opens a GET stream and returns all messages on it, once it has ended completely."""
    client = program.client()
    client.send_request(method="GET", headers=headers)
    head = client.head()
    assert head.status == 200
    return lambda: read_body(client, head)


def call_tool(client, n, request_id, headers):
    return message_of(client.post(call(request_id, "tools/call", name="t", arguments={"n": n}), headers=headers))


def test_a_stdio_recording_is_served_over_http(recording, replay):
    program = replay(recording)
    assert program.path == "/mcp"
    client = program.client()
    headers = session(client)
    assert call_tool(client, 1, "mine", headers) == result("mine", text_content("one"))
    assert call_tool(client, 2, 77, headers) == result(77, text_content("two"))
    assert program.stop() == 0, program.err


def test_ignored_values_and_modes_of_tools_hold_over_http(recording, replay, tmp_path):
    report = tmp_path / "report.json"
    program = replay("--ignore-paths", "$.params.arguments.q", "--match", "t=fuzzy", "--report", report, recording)
    clients = [program.client() for _ in range(2)]
    for client in clients:
        headers = session(client)
        response = client.post(call(1, "tools/call", name="t", arguments={"n": 2, "q": "any"}), headers=headers)
        assert message_of(response) == result(1, text_content("two"))
        response = client.post(call(2, "tools/call", name="t", arguments={"n": 1, "q": 1, "more": True}), headers=headers)
        assert message_of(response) == result(2, text_content("one"))
    assert program.stop() == 0, program.err
    report_lines = json.loads(report.read_text())
    assert report_lines["match_rules"] == [{"rule": "ignore_paths", "value": "$.params.arguments.q", "requests": 4},
                                   {"rule": "match", "value": "t=fuzzy", "requests": 2}]
    assert report_lines["rule_matches"][1]["rules"] == [{"rule": "ignore_paths", "value": "$.params.arguments.q"},
                                                {"rule": "match", "value": "t=fuzzy"}]


def test_clients_with_equal_ids_have_their_own_sessions(recording, replay):
    program = replay(recording)
    clients = [program.client() for _ in range(5)]
    headers = [session(client) for client in clients]
    assert len({dict(h)["Mcp-Session-Id"] for h in headers}) == 5
    for n, text in ((1, "one"), (2, "two")):
        for client, own in zip(clients, headers):
            assert call_tool(client, n, 1, own) == result(1, text_content(text))
    assert program.stop() == 0, program.err


def test_a_deleted_session_is_unknown(recording, replay):
    program = replay(recording)
    client = program.client()
    headers = session(client)
    received = listen(program, headers)
    client.send_request(method="DELETE", headers=headers)
    assert client.read_response().status == 200
    assert received() == b""
    assert client.post(call(1, "ping"), headers=headers).status == 404
    assert session(client, 9)
    assert program.stop() == 0


def test_an_unrecorded_request_gets_its_error_and_ends_with_1(recording, replay):
    program = replay(recording)
    client = program.client()
    headers = session(client)
    received = listen(program, session(program.client()))
    response = message_of(client.post(call(5, "tools/call", name="other", arguments={}), headers=headers))
    assert (response["id"], response["error"]["code"]) == (5, -32000)
    assert received() == b""  # of another session, which ends nevertheless
    assert program.stop(None) == 1
    assert "mcpreel: stopped at the first unmatched request; use --fail-at-end or --on-unmatched warn to continue\n" in program.err
    assert "tools/call" in program.err


def test_a_half_closed_client_gets_its_response(recording, replay):
    """Though it takes a while: it is not known yet when its side is closed."""
    text = recording.read_text().splitlines()
    text[5] = text[5].replace("21:00:00.000Z", "21:00:00.300Z")
    recording.write_text("\n".join(text) + "\n")
    program = replay(recording, "--timing", "realistic")
    headers = session(program.client())
    client = program.client()
    client.send_request(call(9, "tools/call", name="t", arguments={"n": 1}), headers=headers)
    client.sock.shutdown(socket.SHUT_WR)
    assert client.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"  # whether it is still there
    assert message_of(client.read_response()) == result(9, text_content("one"))
    assert client.rest() == b""
    assert program.stop() == 0, program.err


def test_with_warn_the_replay_continues(recording, replay):
    program = replay("--on-unmatched", "warn", recording)
    client = program.client()
    headers = session(client)
    assert "error" in message_of(client.post(call(5, "tools/call", name="other", arguments={}), headers=headers))
    assert call_tool(client, 1, 6, headers) == result(6, text_content("one"))
    assert program.stop() == 0, program.err


def test_requests_from_other_machines_are_rejected(recording, replay):
    program = replay(recording)
    assert program.client().post(call(0, "initialize", **INITIALIZE_PARAMS), headers=[("Host", "evil.example")]).status == 403
    assert program.client().post(call(0, "initialize", **INITIALIZE_PARAMS), headers=[("Origin", "https://evil.example")]).status == 403
    assert program.client().post(call(0, "initialize", **INITIALIZE_PARAMS), headers=[("Content-Type", "text/plain")]).status == 415
    assert session(program.client())


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_open_streams_end_with_the_program(recording, replay, signum):
    program = replay(recording)
    received = listen(program, session(program.client()))
    assert program.stop(signum) == 0, program.err
    assert received() == b""


def test_the_report_goes_to_standard_output_with_http_clients(recording, replay, tmp_path):
    program = replay("--json", "--report", tmp_path / "report.json", recording)
    assert json.loads(program.first) == {"event": "listening", "url": program.url}
    client = program.client()
    call_tool(client, 1, 1, session(client))
    assert program.stop() == 0
    assert json.loads(program.out) == json.loads((tmp_path / "report.json").read_text())
    assert json.loads(program.out)["exit_code"] == 0


def test_the_ready_descriptor_gets_the_address(recording, replay):
    ready, ready_fd = os.pipe()
    program = replay("--ready-fd", str(ready_fd), recording, pass_fds=[ready_fd])
    os.close(ready_fd)
    with os.fdopen(ready) as text:
        assert text.read() == f"http://127.0.0.1:{program.port}/mcp\n"


@pytest.mark.parametrize("fd", ["77", "5"])  # the second is one that it would open itself
def test_a_closed_ready_descriptor_is_rejected_at_the_start(recording, mcpreel, run, fd):
    ran = run([mcpreel, "replay", "--listen", "0", "--ready-fd", fd, recording])
    assert (ran.code, ran.out) == (2, b"") and f"'--ready-fd': descriptor {fd} is not open".encode() in ran.err


@pytest.mark.parametrize("words", [["--http", ":0"], ["--listen", "localhost:0"], ["--http", "0"]])
def test_other_spellings_of_the_address_are_accepted(recording, replay, words):
    program = replay(*words, recording, listen=None)
    assert session(program.client())


def test_a_cassette_is_served_on_the_port_of_mcp_recorder(recording, mcpreel, run, tmp_path):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / "c.json"]).code == 0
    try:
        occupied = socket.create_server(("127.0.0.1", 5555))
    except OSError:  # another process has the port: also fine
        occupied = None
    ran = run([mcpreel, "replay", "--cassette", tmp_path / "c.json"])
    if occupied:
        occupied.close()
    assert ran.code == 5
    assert ran.err.decode().splitlines()[0] == "mcpreel: cannot listen on 'localhost:5555': address already in use"


def test_a_cassette_is_served_by_its_rules_on_another_port(recording, replay, mcpreel, run, tmp_path):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / "c.json"]).code == 0
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = replay("--cassette", tmp_path / "c.json", "--port", str(port), listen=None)
    assert program.port == port
    client = program.client()
    headers = session(client)
    assert call_tool(client, 2, 1, headers) == result(1, text_content("two"))
    error = call_tool(client, 3, 2, headers)["error"]
    assert (error["code"], error["message"]) == (-32600, "No matching interaction for tools/call [t]")
    assert program.stop() == 0


@pytest.mark.parametrize("words, said_", [
    (["--stdio", "--listen", "0"], "'--stdio' and '--listen' cannot be combined"),
    (["--listen", "0.0.0.0:0"], "'0.0.0.0:0' can be reached from other machines"),
    (["--http", "[::]:0"], "'[::]:0' can be reached from other machines"),
    (["--allow-remote"], "'--allow-remote' needs '--listen'"),
    (["--listen", "70000"], None), (["--listen", "a b:1"], None), (["--port", "0"], None),
])
def test_unusable_addresses_are_rejected(recording, mcpreel, run, words, said_):
    ran = run([mcpreel, "replay", *words, recording])
    assert ran.code == 2 and ran.out == b"", ran
    if said_:
        assert ran.err.decode().splitlines()[0] == f"mcpreel: {said_}"


def test_a_port_in_use_is_reported(recording, mcpreel, run):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        ran = run([mcpreel, "replay", "--port", str(occupied.getsockname()[1]), recording])
    assert ran.code == 5 and ran.out == b""
    assert "mcpreel: cannot listen on 'localhost:" in ran.err.decode() and "address already in use" in ran.err.decode()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_replay_with_0(recording, replay, signum):
    program = replay(recording)
    client = program.client()
    session(client)
    assert program.stop(signum) == 0, program.err


def test_a_signal_right_after_the_address_was_printed_exits_with_0(recording, mcpreel):
    """The reader of the address may close at once."""
    for _ in range(8):
        with subprocess.Popen([mcpreel, "replay", "--listen", "0", recording], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as program:
            assert program.stdout.readline().startswith(b"http://")
            program.send_signal(signal.SIGINT)
            _, err = program.communicate(timeout=60)
            assert program.returncode == 0, err


def test_an_http_recording_is_served_with_the_same_heads(mcpreel, replay, tmp_path):
    """JSON where there was JSON, a stream where there was one; the server is gone by then."""
    def serve(conn):
        while request := conn.request():
            if request.method != "POST":
                conn.respond(405, headers=[("Allow", "POST")])
            elif request.json["method"] == "initialize":
                conn.respond(json_=result(request.json["id"], INITIALIZE_RESULT), headers=[("Mcp-Session-Id", "recorded-session-canary")])
            elif "id" not in request.json:
                conn.respond(202)
            elif request.json["params"]["arguments"]["n"] == 1:
                conn.respond(json_=result(request.json["id"], text_content("one")))
            else:
                conn.sse()
                conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "soon"}})
                conn.event(result(request.json["id"], text_content("two")))
                conn.last()

    upstream = Upstream(serve)
    program = Program([mcpreel, "record", "--url", upstream.url, "--listen", "127.0.0.1:0", "-o", tmp_path / "h.jsonl"])

    def run_session(at):
        client = at.client()
        headers = session(client)
        answers = [client.post(call(n, "tools/call", name="t", arguments={"n": n}), headers=headers) for n in (1, 2)]
        client.send_request(method="GET", headers=headers)
        return headers, answers, client.read_response().status if at is program else None

    try:
        _, direct, status = run_session(program)
        assert status == 405
        assert program.stop() == 0, program.err
    finally:
        program.close()
        upstream.close()
    again = replay(tmp_path / "h.jsonl")
    headers, replayed, _ = run_session(again)
    assert dict(headers)["Mcp-Session-Id"] != "recorded-session-canary"
    for before, after in zip(direct, replayed):
        assert before.get("content-type").split(";")[0] == after.get("content-type").split(";")[0]
    assert [line for line in replayed[1].body.decode().splitlines() if '"soon"' in line]
    assert replayed[0].json == direct[0].json
    assert again.stop() == 0, again.err

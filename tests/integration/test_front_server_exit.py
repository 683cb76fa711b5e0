"""Clients on HTTP, servers on stdio that exit: the responses of the clients, and the recording.

The server is a script that ends as the called tool says; with WAY=at-once it ends before it has received a message.
"""
import json
import signal
import sys

import pytest

from front_clients import open_session, initialize, stateless_request, recorded, tool, wait_for_exit, wait_text
from http_peers import Program, call, records_of, read_chunk

SERVER = """
import json, os, signal, sys, time

def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def end(way):
    if way == "exit":
        os._exit(7)
    if way == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "close":
        os.close(1)
        time.sleep(600)
    if way == "close-and-exit":
        os.close(1)
        os._exit(7)
    if way == "close-and-hold":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.close(1)
        time.sleep(600)
    if way == "mid-line":
        os.write(1, b'{"jsonrpc":"2.0","id":')
        os._exit(9)
    if way == "stderr":
        for _ in range(64):
            os.write(2, b"x" * (1 << 16) + b"\\n")
        os._exit(5)
    if way == "deaf":
        time.sleep(600)
    if way == "long":
        sys.stdout.write("x" * (65 << 20) + "\\n")
        sys.stdout.flush()
        time.sleep(600)

if os.environ.get("WAY") == "at-once":
    os._exit(3)
for line in sys.stdin:
    got = json.loads(line)
    method, params = got.get("method"), got.get("params", {})
    if method == "initialize":
        say(id=got["id"], result={"protocolVersion": params.get("protocolVersion", "2025-11-25"), "capabilities": {},
                                  "serverInfo": {"name": "s", "version": "1"}})
    elif method == "server/discover":
        say(id=got["id"], result={"supportedVersions": ["2026-07-28"], "capabilities": {}})
    elif method == "tools/call" and params["name"] == "hang":
        pass
    elif method == "tools/call" and params["name"] == "pid":
        say(id=got["id"], result={"pid": os.getpid()})
    elif method == "tools/call" and params["name"] == "progress":
        say(method="notifications/progress", params={"progressToken": params["_meta"]["progressToken"], "progress": 1})
    elif method == "tools/call":
        end(params["name"])
    elif method == "notifications/list":
        say(method="notifications/tools/list_changed")
    elif "id" in got:
        say(id=got["id"], result={})
"""

# How it ends; what its clients are told; what stands in its line: exit code, signal, why; what it has said before.
EXIT_KINDS = {
    "exit": ("ended with exit code 7", 7, None, None),
    "signal": ("was ended by signal 9", None, 9, None),
    "close": ("closed stdout but did not exit; mcpreel ended it", None, 15, "closed stdout but did not exit; mcpreel ended it"),
    "close-and-exit": ("ended with exit code 7", 7, None, None),
    "close-and-hold": ("closed stdout but did not exit; mcpreel ended it", None, 9, "closed stdout but did not exit; mcpreel ended it"),
    "mid-line": ("ended with exit code 9", 9, None, None),
    "stderr": ("ended with exit code 5", 5, None, None),
    "deaf": ("does not read its stdin; mcpreel ended it", None, 15, "does not read its stdin; mcpreel ended it"),
    "long": ("sent a line that is too long; mcpreel ended it", None, 15,
             "sent a line that is too long; mcpreel ended it"),
}


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start(*options, env=None, command=None):
        script = tmp_path / "server.py"
        script.write_text(SERVER)
        started.append(Program([mcpreel, "record", "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl", *options, "--",
                                *(command or [sys.executable, "-u", script])], env=env))
        started[-1].file = tmp_path / "r.jsonl"
        return started[-1]

    yield start
    for program in started:
        program.close()


def exceed_queue_limit(program, headers):
    """More than is kept for a server that reads nothing, until it is ended for that."""
    client = program.client()
    large_message = json.dumps({"jsonrpc": "2.0", "method": "notifications/much", "params": {"text": "x" * (60 << 20)}}).encode()
    for _ in range(5):
        client.send_request(body=large_message, headers=headers)
        if client.read_response().status != 202:
            return
    wait_text(program, '"ev":"exit"')


def assert_error_response(response, request_id, expected_text):
    assert (response.status, response.json["id"], response.json["error"]["code"]) == (502, request_id, -32000)
    assert expected_text in response.json["error"]["message"]


def make_server_exit(program, exit_kind, headers, others):
    """Has the server end; everything that is open is told so. `others` wait for something else meanwhile."""
    client = program.client()
    message = tool(2, exit_kind)
    if headers and headers[0][1] == "2026-07-28":
        message, headers = stateless_request(2, "tools/call", name=exit_kind, arguments={})
    client.send_request(message, headers=headers)
    expected_text = EXIT_KINDS[exit_kind][0]
    if exit_kind == "deaf":
        wait_text(program, '"name":"deaf"')
        exceed_queue_limit(program, headers)
    assert_error_response(client.read_response(), 2, expected_text)
    for request_id, other in others:
        assert_error_response(other.read_response(), request_id, expected_text)


def assert_exit_recorded(lines, exit_kind, conn, session, refusals):
    """The recording has how the server ended, and why its clients were refused."""
    expected_text, code, signum, why = EXIT_KINDS[exit_kind]
    exits = [p for p in records_of(lines, "proc", ev="exit") if p["conn"] == conn]
    assert [(p.get("exit_code"), p.get("signal"), p.get("session")) for p in exits] == [(code, signum, session)]
    assert exits[0].get("why", "").endswith(why or "") and ("why" in exits[0]) == bool(why)
    refused = {r["exchange"] for r in records_of(lines, "http", ev="response", status=502)}
    ends = [e for e in records_of(lines, "http", ev="end") if e["exchange"] in refused]
    assert len(ends) == refusals
    assert all(e["by"] == "mcpreel" and e["clean"] and expected_text in e["why"] for e in ends)
    raw = [r["text"] for r in records_of(lines, "raw") if r["from"] == "server" and "by" not in r]
    assert raw == (['{"jsonrpc":"2.0","id":'] if exit_kind == "mid-line" else [])
    if exit_kind == "stderr":
        assert sum(len(e["text"]) for e in records_of(lines, "stderr") if e["conn"] == conn) == 64 * (65536 + 1)
    assert not [m for m in records_of(lines, "message", dir="s2c") if "error" in m["msg"]]


@pytest.mark.parametrize("exit_kind", EXIT_KINDS)
def test_the_exit_of_a_sessions_server_ends_the_session(record, exit_kind):
    program = record("--max-message", "1MiB")  # of what overfills it nothing need be kept
    client, session = open_session(program)
    waits = program.client()
    waits.send_request(tool(1, "hang"), headers=session)
    wait_text(program, '"name":"hang"')
    make_server_exit(program, exit_kind, session, [(1, waits)])
    response = client.post(call(3, "ping"), headers=session)
    assert (response.status, response.json["id"]) == (404, 3)
    client, session = open_session(program)
    assert client.post(call(4, "ping"), headers=session).status == 200
    assert_exit_recorded(recorded(program), exit_kind, 1, 1, 2)
    assert program.err.count(EXIT_KINDS[exit_kind][0]) == 1


@pytest.mark.parametrize("protocol_version, exit_kind", [
    *(("2025-11-25", exit_kind) for exit_kind in EXIT_KINDS if exit_kind not in ("deaf", "long")), ("2026-07-28", "exit"), ("2026-07-28", "close")])
def test_the_exit_of_the_shared_server_fails_its_requests(record, protocol_version, exit_kind):
    program = record()
    new = protocol_version == "2026-07-28"
    waits = program.client()
    message, headers = stateless_request(1, "tools/call", name="hang", arguments={}) if new else (tool(1, "hang"), [])
    waits.send_request(message, headers=headers)
    wait_text(program, '"name":"hang"')
    make_server_exit(program, exit_kind, headers[:1], [(1, waits)])
    client = program.client()
    message, headers = stateless_request(3, "ping") if new else (call(3, "ping"), [])
    assert client.post(message, headers=headers).json["result"] == {}
    client, session = open_session(program)
    assert client.post(call(4, "ping"), headers=session).status == 200
    lines = recorded(program)
    assert_exit_recorded(lines, exit_kind, 1, None, 2)
    assert [p["conn"] for p in records_of(lines, "proc", ev="start")] == [1, 2, 3]
    assert program.err.count(EXIT_KINDS[exit_kind][0]) == 1


def test_a_server_that_exits_at_once_gives_an_error(record):
    program = record(env={"WAY": "at-once"})
    for _ in range(2):
        for message in (initialize(5), call(5, "ping")):
            assert_error_response(program.client().post(message), 5, "ended with exit code 3")
    message, headers = stateless_request(5, "ping")
    assert_error_response(program.client().post(message, headers=headers), 5, "ended with exit code 3")
    lines = recorded(program)
    exits = records_of(lines, "proc", ev="exit")
    assert {(p["exit_code"], p.get("why"), p.get("session")) for p in exits} == {(3, None, None)}
    assert len(records_of(lines, "proc", ev="start")) == len(exits) >= 5
    assert all("exit code 3" in e["why"] for e in records_of(lines, "http", ev="end")) and len(records_of(lines, "http", ev="end")) == 5


def test_a_command_that_is_deleted_gives_an_error(record, tmp_path):
    """Between one session and the next; and it comes back."""
    there, away = tmp_path / "server", tmp_path / "away"
    there.write_text(f"#!{sys.executable}\n{SERVER}")
    there.chmod(0o755)
    program = record(command=[there])
    client, session = open_session(program)
    there.rename(away)
    expected_text = "No such file or directory".lower()
    for message in (initialize(5), call(5, "ping")):
        response = program.client().post(message)
        assert_error_response(response, 5, "server")
        assert expected_text in response.json["error"]["message"].lower()
    assert client.post(call(1, "ping"), headers=session).status == 200
    away.rename(there)
    client, session = open_session(program)
    assert client.post(call(1, "ping"), headers=session).status == 200
    there.chmod(0o600)
    assert "permission denied" in program.client().post(initialize(5)).json["error"]["message"].lower()
    lines = recorded(program)
    failed = records_of(lines, "proc", ev="failed")
    assert [p["conn"] for p in failed] == [2, 3, 5] and [p["conn"] for p in records_of(lines, "proc", ev="start")] == [1, 4]
    assert [expected_text in p["why"].lower() for p in failed] == [True, True, False]
    ends = [e for e in records_of(lines, "http", ev="end") if e["by"] == "mcpreel"]
    assert [p["why"] in e["why"] for p, e in zip(failed, ends, strict=True)] == [True] * 3
    assert program.err.lower().count(expected_text) == 2 and program.err.lower().count("permission denied") == 1


def test_a_stream_ends_with_an_error_event(record):
    program = record()
    client, session = open_session(program)
    listener, asks = program.client(), program.client()
    listener.send_request(method="GET", headers=session)
    assert listener.head().status == 200
    asks.send_request(call(1, "tools/call", name="progress", _meta={"progressToken": "t"}), headers=session)
    assert asks.head().status == 200
    assert "data:" in asks.event() and "notifications/progress" in asks.event()
    client.send_request(tool(2, "exit"), headers=session)
    assert client.read_response().status == 502
    error = json.loads(asks.event().split("data: ")[1])
    assert (error["id"], error["error"]["code"]) == (1, -32000) and "exit code 7" in error["error"]["message"]
    assert read_chunk(asks) == b""
    while read_chunk(listener):
        pass
    lines = recorded(program)
    ends = {e["exchange"]: e for e in records_of(lines, "http", ev="end")}
    streams = [r["exchange"] for r in records_of(lines, "http", ev="response", media="sse")]
    assert len(streams) == 2
    for exchange in streams:
        assert (ends[exchange]["by"], ends[exchange]["clean"]) == ("mcpreel", False) and "exit code 7" in ends[exchange]["why"]


def test_an_http_sse_stream_ends_with_its_server(record):
    program = record()
    stream = program.client()
    stream.send_request(method="GET", path="/sse")
    assert stream.head().status == 200
    endpoint = stream.event().split("data: ")[1].strip()

    def post(message):
        client = program.client()
        client.send_request(message, path=endpoint)
        return client.read_response()

    assert post(initialize(version="2024-11-05")).status == 202
    assert "serverInfo" in stream.event()
    assert post(tool(2, "close")).status == 202
    error = json.loads(stream.event().split("data: ")[1])
    assert error["id"] == 2 and EXIT_KINDS["close"][0] in error["error"]["message"]
    assert read_chunk(stream) == b""
    assert post(call(3, "ping")).status == 404
    lines = recorded(program)
    assert [(p["signal"], p["session"]) for p in records_of(lines, "proc", ev="exit")] == [(15, 1)]
    end = records_of(lines, "http", ev="end", by="mcpreel")[0]
    assert not end["clean"] and EXIT_KINDS["close"][0] in end["why"]


def test_undelivered_messages_are_recorded(record):
    program = record()
    client, session = open_session(program)
    without_streams = [*session, ("Accept", "application/json")]
    assert client.post({"jsonrpc": "2.0", "method": "notifications/list"}, headers=session).status == 202
    assert client.post(call(1, "ping"), headers=without_streams).status == 200
    assert client.post(tool(2, "exit"), headers=without_streams).status == 502
    raw = records_of(recorded(program), "raw")
    assert [(json.loads(r["text"])["method"], r["why"], r["session"]) for r in raw] == [
        ("notifications/tools/list_changed", "not delivered to a client", 1)]


def test_a_server_that_outlives_its_session_is_ended(record):
    program = record()
    client, session = open_session(program)
    pid = client.post(tool(1, "pid"), headers=session).json["result"]["pid"]
    waiting_client = program.client()
    waiting_client.send_request(tool(2, "deaf"), headers=session)
    wait_text(program, '"name":"deaf"')
    client.send_request(method="DELETE", headers=session)
    assert client.read_response().status == 200
    wait_for_exit(pid)
    exits = records_of(recorded(program), "proc", ev="exit")
    assert [p["signal"] for p in exits] == [15]
    assert exits[0]["why"].endswith("did not exit after its stdin was closed; mcpreel ended it")


ENDS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "SIGKILL": signal.SIGKILL}


@pytest.mark.parametrize("how", ENDS)
def test_no_server_outlives_mcpreel(record, how):
    """Not those of sessions, be their clients there or gone, nor one that is shared, nor one that is stubborn."""
    program = record()
    clients = [open_session(program) for _ in range(3)]
    pids = [client.post(tool(1, "pid"), headers=session).json["result"]["pid"] for client, session in clients]
    pids.append(program.client().post(tool(1, "pid")).json["result"]["pid"])
    waits, session = clients[1]
    waits.send_request(tool(2, "close-and-hold"), headers=session)
    clients[2][0].close()
    wait_text(program, '"name":"close-and-hold"')
    assert len(set(pids)) == 4
    if how == "SIGKILL":
        program.process.kill()
    else:
        assert program.stop(ENDS[how]) == 0
        assert len(records_of(recorded(program), "proc", ev="exit")) == 4
    for pid in pids:
        wait_for_exit(pid)


def test_an_interrupted_recording_marks_open_requests(record):
    program = record()
    client, session = open_session(program)
    listener = program.client()
    listener.send_request(method="GET", headers=session)
    assert listener.head().status == 200
    half = program.client()  # which never sends all of its request
    half.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
    client.send_request(tool(1, "hang"), headers=session)
    wait_text(program, '"name":"hang"')
    program.process.send_signal(signal.SIGINT)
    response = client.read_response()
    assert (response.status, response.json["error"]["message"]) == (503, "mcpreel was ended")
    ends = [e for e in records_of(recorded(program), "http", ev="end") if e["by"] != "server"]
    assert sorted((e["by"], e["why"]) for e in ends) == [("mcpreel", "mcpreel was ended")] * 3

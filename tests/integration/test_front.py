"""Clients on HTTP, a server on stdio: what 'mcpreel record --listen … -- CMD' does, and what it writes down.

The server is a script that does as it is told: a request's method, or the name of the tool it calls, says what.
"""
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from front_clients import open_session, events, initialize, stateless_request, recorded, tool, wait_for_exit, wait_text
from http_peers import WAIT, Program, call, lines_of, records_of, read_chunk

SERVER = """
import json, os, sys

def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\\n")
    sys.stdout.flush()

print("started as", os.environ.get("ROLE", "nobody"), file=sys.stderr, flush=True)
waiting = None
for line in sys.stdin:
    got = json.loads(line)
    method, params = got.get("method"), got.get("params", {})
    what = params.get("name") if method == "tools/call" else method
    if "method" not in got:
        say(id=waiting, result={"received": got})
    elif what == "initialize":
        say(id=got["id"], result={"protocolVersion": params.get("protocolVersion", "2025-11-25"), "capabilities": {},
                                  "serverInfo": {"name": "s", "version": "1"}})
    elif what == "server/discover" and os.environ.get("PROTOCOL") == "stateless":
        say(id=got["id"], result={"supportedVersions": ["2026-07-28"], "capabilities": {}})
    elif what == "progress":
        say(method="notifications/progress", params={"progressToken": params["_meta"]["progressToken"], "progress": 1})
        say(id=got["id"], result={"content": []})
    elif what == "ask":
        waiting = got["id"]
        say(id="q", method="roots/list")
    elif what == "env":
        say(id=got["id"], result={"env": os.environ.get(params["arguments"]["name"])})
    elif what == "look":
        say(id=got["id"], result={"there": params["arguments"]["mark"] in open(params["arguments"]["file"]).read()})
    elif what == "noise":
        print("not for anybody", flush=True)
        say(id=got["id"], result={})
    elif what == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)
    elif what == "hang":
        pass
    elif what == "pid":
        say(id=got["id"], result={"pid": os.getpid()})
    elif what == "flood":
        sys.stdout.write("x" * (65 << 20) + "\\n")
        sys.stdout.flush()
    elif what == "notifications/cancelled":
        print("cancelled", params, file=sys.stderr, flush=True)
    elif what == "notifications/list":
        say(method="notifications/tools/list_changed")
    elif "id" in got:
        say(id=got["id"], result={"said": method, "line": line})
"""


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    return [sys.executable, "-u", file]


@pytest.fixture
def record(mcpreel, tmp_path, server):
    started = []

    def start(*options, file=tmp_path / "r.jsonl", command=server, env=None):
        started.append(Program([mcpreel, "record", "--listen", "127.0.0.1:0", "-o", file, *options, "--", *command], env=env))
        started[-1].file = file
        return started[-1]

    yield start
    for program in started:
        program.close()


def test_a_session_is_recorded_completely(record):
    program = record(env={"ROLE": "everybody"})
    client, session = open_session(program)
    client.send_request(call(1, "tools/call", name="progress", _meta={"progressToken": "t"}), headers=session)
    assert [e.get("method", e.get("id")) for e in events(client)] == ["notifications/progress", 1]
    client.send_request(method="DELETE", headers=session)
    assert client.read_response().status == 200
    assert client.post(call(2, "ping"), headers=session).status == 404
    lines = recorded(program)

    assert lines[0]["transport"] == "stdio" and lines[0]["command"][0] == sys.executable
    assert [(a["method"], a["state"], a.get("session")) for a in records_of(lines, "http", ev="request")] == [
        ("POST", "none", None), ("POST", "live", 1), ("POST", "live", 1), ("DELETE", "live", 1), ("POST", "ended", 1)]
    assert [(a["status"], a["by"], a["media"], a.get("mints_session", False)) for a in records_of(lines, "http", ev="response")] == [
        (200, "server", "json", True), (202, "server", "none", False), (200, "server", "sse", False), (200, "server", "none", False),
        (404, "mcpreel", "json", False)]
    assert [(e["by"], e["clean"]) for e in records_of(lines, "http", ev="end")] == [("server", True)] * 4 + [("mcpreel", True)]
    assert [m["msg"].get("method", "-") for m in records_of(lines, "message")] == [
        "initialize", "-", "notifications/initialized", "tools/call", "notifications/progress", "-", "ping"]
    assert [(p["ev"], p["conn"], p.get("session"), p.get("exit_code")) for p in records_of(lines, "proc")] == [
        ("start", 1, None, None), ("exit", 1, 1, 0)]
    assert [(e["text"], e["conn"]) for e in records_of(lines, "stderr")] == [("started as everybody\n", 1)]
    assert lines[-1]["protocol_version"] == "2025-11-25" and lines[-1]["server_info"]["name"] == "s"


def test_a_message_is_recorded_before_it_is_forwarded(record):
    program = record()
    client, session = open_session(program)
    response = client.post(tool(4, "look", file=os.fspath(program.file), mark="a-mark-of-its-own"), headers=session)
    assert response.json["result"] == {"there": True}
    response = client.post(call(5, "whatever"), headers=session)
    kept = [m["msg"] for m in records_of(lines_of(program.file), "message")]
    assert response.json in kept and call(5, "whatever") in kept


def test_bytes_are_forwarded_unchanged_except_line_breaks(record):
    program = record()
    client, session = open_session(program)
    odd = b'{ "id" : 1.0,\n"jsonrpc":"2.0",\r\n "method":"e\\u0063ho","params":{"a":1,"a":2,"n":1e400,"s":"\\ud800"}}'
    client.send_request(body=odd, headers=session)
    line = client.read_response().json["result"]["line"]
    assert line.encode() == odd.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"


def test_each_session_has_its_own_server(record):
    program = record("--max-servers", "40")
    clients = [open_session(program) for _ in range(12)]
    for client, session in clients:
        client.send_request(tool(1, "pid"), headers=session)
    pids = [client.read_response().json["result"]["pid"] for client, _ in clients]
    assert len(set(pids)) == 12
    lines = recorded(program)
    assert len(records_of(lines, "proc", ev="start")) == 12
    for pid in pids:
        wait_for_exit(pid)


def test_clients_without_session_share_a_server_with_separate_ids(record):
    program = record()
    seen, lock = [], threading.Lock()

    def ask(n):
        client = program.client()
        response = client.post(tool(1, "pid")).json
        echo = client.post(call("same", "echo", who=n)).json
        with lock:
            seen.append((response["result"]["pid"], response["id"], echo["id"], json.loads(echo["result"]["line"])["params"]["who"] == n))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 50 and len({one[0] for one in seen}) == 1
    assert all(one[1:] == (1, "same", True) for one in seen)
    assert len(records_of(recorded(program), "proc", ev="start")) == 1


@pytest.mark.parametrize("body", (
    '{"jsonrpc":"2.0","id":1,"method":"ping","id":99}',
    '{"jsonrpc":"2.0","id":99,"method":"ping","ID":1}',
    '{"jsonrpc":"2.0","id":99,"method":"ping","i\\u0064":1}',
))
def test_an_ambiguous_id_is_rejected(record, body):
    response = record().client().post(None, body=body.encode())
    assert (response.status, response.json["error"]["code"]) == (400, -32600)


def test_stateless_clients_are_served(record):
    program = record(env={"PROTOCOL": "stateless"})
    client = program.client()
    message, headers = stateless_request("d", "server/discover")
    response = client.post(message, headers=headers)
    assert (response.status, response.json["id"], response.get("mcp-session-id")) == (200, "d", None)
    message, headers = stateless_request(1, "tools/call", name="progress", arguments={})
    message["params"]["_meta"]["progressToken"] = "mine"
    client.send_request(message, headers=headers)
    progress, result = events(client)
    assert progress["params"]["progressToken"] == "mine" and result["id"] == 1
    message, headers = stateless_request(2, "tools/list")
    assert client.post(message, headers=[("Mcp-Method", "tools/call"), *headers[:1]]).status == 400

    # A client that disconnects has cancelled.
    other = program.client()
    message, headers = stateless_request(7, "tools/call", name="hang", arguments={})
    other.send_request(message, headers=headers)
    wait_text(program, '"name":"hang"')
    other.close()
    wait_text(program, "cancelled")
    lines = recorded(program)
    assert [e["by"] for e in records_of(lines, "http", ev="end")][-1] == "client"


def test_a_client_of_both_protocols_falls_back_to_the_stateful_one(record):
    program = record()
    message, headers = stateless_request("d", "server/discover")
    client = program.client()
    response = client.post(message, headers=headers)
    assert (response.status, response.json["error"]["code"]) == (400, -32000)
    open_session(program)


def test_a_server_request_reaches_the_client_and_its_response_the_server(record):
    program = record()
    client, session = open_session(program)
    client.send_request(tool(1, "ask"), headers=session)
    head = client.head()
    assert head.get("content-type") == "text/event-stream"
    text = client.event() + client.event()
    assert "roots/list" in text
    other = program.client()
    assert other.post({"jsonrpc": "2.0", "id": "q", "result": {"roots": []}}, headers=session).status == 202
    assert '"received"' in client.event()
    assert read_chunk(client) == b""


def test_unsolicited_messages_wait_for_a_stream_and_are_redelivered(record):
    program = record()
    client, session = open_session(program)
    no_stream = [*session, ("Accept", "application/json")]  # or it would be told there
    assert client.post({"jsonrpc": "2.0", "method": "notifications/list"}, headers=session).status == 202
    assert client.post(call(1, "ping"), headers=no_stream).status == 200
    listener = program.client()
    listener.send_request(method="GET", headers=session)
    assert listener.head().status == 200
    primed, event = listener.event(), listener.event()
    assert "data: \n" in primed or primed.endswith("data:\n\n")
    assert "list_changed" in event
    last = event.split("id: ")[1].split("\n")[0]
    listener.close()
    client.post({"jsonrpc": "2.0", "method": "notifications/list"}, headers=session)
    client.post(call(2, "ping"), headers=no_stream)
    again = program.client()
    again.send_request(method="GET", headers=[*session, ("Last-Event-ID", last)])
    assert again.head().status == 200
    assert "list_changed" in again.event()
    lines = recorded(program)
    resumed = [r for r in records_of(lines, "http", ev="response") if "resumes" in r]
    assert len(resumed) == 1 and resumed[0]["resumes"]["after"] == 2


def post_to_endpoint(program, endpoint, message):
    client = program.client()
    client.send_request(message, path=endpoint)
    response = client.read_response()
    client.close()
    return response.status


def http_sse_session(program):
    """A client of HTTP+SSE, and where it is to post."""
    stream = program.client()
    stream.send_request(method="GET", path="/sse")
    assert stream.head().status == 200
    endpoint = stream.event().split("data: ")[1].strip()
    assert endpoint.startswith("/message?sessionId=")
    assert post_to_endpoint(program, endpoint, initialize(version="2024-11-05")) == 202
    assert "serverInfo" in stream.event()
    return stream, endpoint


def test_http_sse_clients_are_served(record, mcpreel):
    program = record()
    stream, endpoint = http_sse_session(program)
    assert post_to_endpoint(program, endpoint, tool(1, "pid")) == 202
    pid = json.loads(stream.event().split("data: ")[1])["result"]["pid"]
    assert post_to_endpoint(program, endpoint, call(2, "tools/call", name="progress", _meta={"progressToken": 2})) == 202
    events_received = [stream.event(), stream.event()]
    assert "notifications/progress" in events_received[0] and '"id":2' in events_received[1].replace(" ", "")
    stream.close()
    wait_for_exit(pid)
    assert post_to_endpoint(program, endpoint, tool(3, "pid")) == 404
    lines = recorded(program)
    assert {m["session"] for m in records_of(lines, "message")} == {1}
    assert endpoint.split("=")[1] not in program.file.read_text()
    assert [(p["ev"], p.get("session")) for p in records_of(lines, "proc")] == [("start", None), ("exit", 1)]

    again = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", program.file])
    try:
        stream, endpoint = http_sse_session(again)
        assert post_to_endpoint(again, endpoint, call(2, "tools/call", name="progress", _meta={"progressToken": 2})) == 202
        assert [json.loads(e.split("data: ")[1]) for e in (stream.event(), stream.event())] == [
            json.loads(e.split("data: ")[1]) for e in events_received]
    finally:
        again.close()


def test_a_server_crash_ends_its_session(record):
    program = record()
    client, session = open_session(program)
    waits = program.client()
    waits.send_request(tool(1, "hang"), headers=session)
    wait_text(program, '"name":"hang"')
    client.send_request(tool(2, "die"), headers=session)
    for requested, request_id in ((client, 2), (waits, 1)):
        response = requested.read_response()
        assert (response.status, response.json["id"], response.json["error"]["code"]) == (502, request_id, -32000)
        assert "exit code 7" in response.json["error"]["message"]
    assert client.post(call(3, "ping"), headers=session).status == 404
    open_session(program)
    lines = recorded(program)
    assert [(p.get("exit_code"), p.get("session")) for p in records_of(lines, "proc", ev="exit")][0] == (7, 1)
    assert [(e["text"], e.get("session")) for e in records_of(lines, "stderr")][1] == ("last words\n", 1)
    assert [r["by"] for r in records_of(lines, "http", ev="response", status=502)] == ["mcpreel", "mcpreel"]
    assert not [m for m in records_of(lines, "message", dir="s2c") if "error" in m["msg"] and m["msg"]["id"] in (1, 2)]
    assert "exit code 7" in program.err


def test_output_that_is_not_a_message_is_recorded_and_not_forwarded(record):
    program = record()
    client, session = open_session(program)
    assert client.post(tool(1, "noise"), headers=session).status == 200
    raw = records_of(recorded(program), "raw")
    assert [(r["from"], r["text"], r["session"], r["conn"]) for r in raw] == [("server", "not for anybody", 1, 1)]


def test_messages_between_mcpreel_and_a_server_are_recorded(record, mcpreel):
    """Its own initialize, its responses in the place of clients, its cancellations, and the server's part of it."""
    program = record("--strict")
    client = program.client()
    assert client.post(tool(1, "ask")).status == 200
    abandoned = program.client()
    abandoned.send_request(tool(2, "hang"))
    wait_text(program, '"name":"hang"')
    abandoned.close()
    wait_text(program, "cancelled")
    lines = recorded(program)
    raw_messages = [(r["from"], json.loads(r["text"]), r["conn"]) for r in records_of(lines, "raw", by="mcpreel")]
    assert [(f, m.get("method", m.get("error", m.get("result", {})).get("message", "result"))) for f, m, _ in raw_messages] == [
        ("client", "initialize"), ("server", "result"), ("client", "notifications/initialized"), ("server", "roots/list"),
        ("client", "clients without a session do not accept server requests"), ("client", "notifications/cancelled")]
    assert {conn for _, _, conn in raw_messages} == {1} and records_of(lines, "raw") == records_of(lines, "raw", by="mcpreel")
    assert lines[-1]["total_messages"] == len(records_of(lines, "message")) == 3

    # Readers pass over them.
    report = json.loads(subprocess.run([mcpreel, "check", "--json", program.file], capture_output=True, timeout=WAIT).stdout)
    assert not [name for name in json.dumps(report).split('"') if name.endswith("-noise")], report
    shown = subprocess.run([mcpreel, "show", "--json", program.file], capture_output=True, timeout=WAIT, check=True).stdout
    assert b'"noise"' not in shown and b"mcpreel-greeting" not in shown
    again = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", program.file])
    try:
        assert again.client().post(tool(1, "ask")).json["result"]["received"]["error"]["code"] == -32601
        assert again.stop() == 0, again.err
    finally:
        again.close()


def test_a_too_long_line_ends_the_server(record):
    program = record()
    client, session = open_session(program)
    response = client.post(tool(1, "flood"), headers=session)
    assert response.status == 502 and "too long" in response.json["error"]["message"]


def test_the_number_of_servers_is_limited(record):
    program = record("--max-servers", "2")
    (one, first), (two, second) = open_session(program), open_session(program)
    listeners = [program.client(), program.client()]
    for listener, session in zip(listeners, (first, second)):
        listener.send_request(method="GET", headers=session)
        assert listener.head().status == 200
    late = program.client()
    response = late.post(initialize())
    assert (response.status, response.json["id"], response.get("retry-after")) == (503, 0, "5")
    assert "--max-servers" in response.json["error"]["message"]
    listeners[0].close()
    deadline = time.monotonic() + WAIT
    while (response := late.post(initialize())).status == 503 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert response.status == 200
    assert one.post(call(1, "ping"), headers=first).status == 404
    assert two.post(call(1, "ping"), headers=second).status == 200


def test_a_missing_server_command_is_reported_at_once(mcpreel, tmp_path):
    ran = subprocess.run([mcpreel, "record", "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl", "--", "no-such-server"],
                         capture_output=True, text=True, timeout=WAIT)
    assert (ran.returncode, ran.stdout) == (127, "") and ran.stderr.count("no-such-server") == 1
    assert not (tmp_path / "r.jsonl").exists()


def test_pages_of_other_origins_and_other_media_types_are_rejected(record):
    program = record()
    assert program.client().post(initialize(), headers=[("Host", "evil.example")]).status == 403
    assert program.client().post(initialize(), headers=[("Origin", "http://evil.example")]).status == 403
    client = program.client()
    client.send_request(body=json.dumps(initialize()).encode(), headers=[("Content-Type", "text/plain")])
    assert client.read_response().status == 415
    lines = recorded(program)
    assert [(r["status"], r["by"]) for r in records_of(lines, "http", ev="response")] == [(403, "mcpreel"), (403, "mcpreel"), (415, "mcpreel")]
    assert len(records_of(lines, "proc", ev="start")) == 1


def test_the_server_gets_the_environment_and_its_secrets_are_redacted(record):
    secret = "canary-9f31c7aa20"
    program = record("--target-env", f"API_TOKEN={secret}", "--target-env", "ROLE=first", "--target-env", "ROLE=last=one")
    client, session = open_session(program)
    assert client.post(tool(1, "env", name="API_TOKEN"), headers=session).json["result"]["env"] == secret
    assert client.post(tool(2, "env", name="ROLE"), headers=session).json["result"]["env"] == "last=one"
    recorded(program)
    text = program.file.read_text()
    assert secret not in text and secret not in program.err and "[REDACTED:API_TOKEN]" in text
    assert "started as last=one" in text


def test_session_ids_and_credentials_are_not_recorded(record):
    program = record()
    client, session = open_session(program)
    names = [session[0][1], "Bearer-canary-5d0c71e3f2"]
    client.post(call(1, "echo", said=names), headers=[*session, ("Authorization", f"Bearer {names[1]}")])
    recorded(program)
    text = program.file.read_text()
    assert names[0] not in text and names[1] not in text
    assert names[0] not in program.err and names[1] not in program.err


def test_a_server_of_a_stdio_client_gets_the_environment(mcpreel, tmp_path, server):
    file = tmp_path / "r.jsonl"
    ran = subprocess.run([mcpreel, "record", "-o", file, "--target-env", "ROLE=mine", "--", *server], capture_output=True, timeout=WAIT,
                         input=json.dumps(tool(1, "env", name="ROLE")).encode() + b"\n")
    assert json.loads(ran.stdout)["result"]["env"] == "mine"


@pytest.mark.parametrize("words,expected_error", [
    (["--target-env", "NOTHING"], "'--target-env' needs a name and a value"),
    (["--target-env", "=canary-value"], "'--target-env' needs a name and a value"),
    (["--upstream", "a"], "two servers to record"),
    (["--target-stdio", "a"], "two servers to record"),
    (["--url", "http://127.0.0.1:1/"], "two servers to record"),
    (["--max-servers", "0"], "--max-servers"),
])
def test_contradicting_options_are_rejected(mcpreel, tmp_path, words, expected_error):
    ran = subprocess.run([mcpreel, "record", "--listen", "0", "-o", tmp_path / "r.jsonl", *words, "--", "server"], capture_output=True,
                         text=True, timeout=WAIT)
    assert (ran.returncode, ran.stdout) == (2, "") and expected_error in ran.stderr and "canary" not in ran.stderr


def test_the_recording_is_replayed_over_http_and_on_stdio(record, mcpreel, tmp_path):
    program = record()
    client, session = open_session(program)
    client.send_request(call(1, "tools/call", name="progress", _meta={"progressToken": "t"}), headers=session)
    events_received = events(client)
    recorded(program)
    again = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", program.file])
    try:
        client, session = open_session(again)
        client.send_request(call(1, "tools/call", name="progress", _meta={"progressToken": "t"}), headers=session)
        assert events(client) == events_received
    finally:
        again.close()
    messages = [initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call(1, "tools/call", name="progress", _meta={"progressToken": "t"})]
    ran = subprocess.run([mcpreel, "replay", program.file], input="".join(json.dumps(m) + "\n" for m in messages), capture_output=True,
                         text=True, timeout=WAIT)
    assert [json.loads(line) for line in ran.stdout.splitlines()][1:] == events_received


@pytest.mark.parametrize("spelling,deleted,expected_body", [("--target-stdio", 200, 502), ("--upstream", 400, 202)])
def test_with_mcp_recorder_options_its_statuses_are_sent(mcpreel, tmp_path, server, spelling, deleted, expected_body):
    """A DELETE without a session, and a notification when the server has ended."""
    program = Program([mcpreel, "record", spelling, " ".join(map(str, server)), "--listen", "0", "--output", tmp_path / "r.jsonl"])
    try:
        client = program.client()
        client.send_request(method="DELETE")
        assert client.read_response().status == deleted
        assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        assert client.post(tool(1, "die")).status == 502
        assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == expected_body
        assert program.stop() == 0, program.err
    finally:
        program.close()


@pytest.mark.parametrize("words,expected_error", [
    (["--target", "http://127.0.0.1:1/", "--target-stdio", "a"], "'--target' and '--target-stdio' are mutually exclusive"),
    (["--port", "5555"], "Provide either '--target URL' or '--target-stdio COMMAND'"),
])
def test_with_mcp_recorder_options_its_messages_are_sent(mcpreel, tmp_path, words, expected_error):
    ran = subprocess.run([mcpreel, "record", "--output", tmp_path / "r.json", *words], capture_output=True, text=True, timeout=WAIT)
    assert (ran.returncode, ran.stdout) == (2, "") and expected_error in ran.stderr


def test_the_command_line_of_mcp_recorder_works(mcpreel, tmp_path, server):
    """Word for word, with the port that it gives as an example in use or not: so with one of our own."""
    command = " ".join(os.fspath(word) for word in server)
    program = None
    for port in range(20000 + os.getpid() % 10000, 40000, 97):
        try:
            program = Program([mcpreel, "record", "--target-stdio", command, "--target-env", "ROLE=it", "--port", str(port),
                               "--output", "golden.json"], cwd=tmp_path)
            break
        except AssertionError:
            continue
    try:
        client, session = open_session(program)
        assert client.post(call(1, "tools/list"), headers=session).status == 200
        assert program.stop() == 0, program.err
    finally:
        program.close()
    cassette = json.loads((tmp_path / "golden.json").read_text())
    assert cassette["metadata"]["transport_type"] == "stdio"
    assert cassette["metadata"]["server_url"].startswith("stdio://")
    assert [(i["type"], (i["request"] or {}).get("method")) for i in cassette["interactions"]] == [
        ("jsonrpc_request", "initialize"), ("notification", "notifications/initialized"), ("jsonrpc_request", "tools/list")]

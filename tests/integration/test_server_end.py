"""Servers that go on talking when no client reads them: they end within a fixed time, and what they write meanwhile is bounded."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from front_clients import open_session, is_alive, recorded, tool, wait_for_exit
from http_peers import WAIT, Program, call, initialize, records_of
from test_replay import SESSION, write_recording

# SERVER_PACE: seconds between its messages. SERVER_TEXT: bytes in each.
SERVER = """
import json, os, sys, threading, time

def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def tick():
    while True:
        say(method="notifications/message", params={"level": "info", "data": "x" * int(os.environ["SERVER_TEXT"])})
        time.sleep(float(os.environ["SERVER_PACE"]))

def read():
    for line in sys.stdin:
        got = json.loads(line)
        if got.get("method") == "initialize":
            say(id=got["id"], result={"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}})
        elif got.get("method") == "tools/call":
            say(id=got["id"], result={"pid": os.getpid()})
            threading.Thread(target=tick, daemon=True).start()
        elif "id" in got:
            say(id=got["id"], result={"pid": os.getpid()})

read()
time.sleep(600)
"""
PACES = {"now and then": {"SERVER_PACE": "0.3", "SERVER_TEXT": "1"}, "without pause": {"SERVER_PACE": "0", "SERVER_TEXT": "60000"}}
UNREAD_MAX = 4 << 20  # bytes that are read from a server after its end was requested


@pytest.fixture(params=PACES)
def writing_server(request, tmp_path):
    """The command of a server, and its environment."""
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, "-u", tmp_path / "server.py"], PACES[request.param]


@pytest.fixture
def record(mcpreel, tmp_path, writing_server):
    started = []

    def start(*options):
        command, env = writing_server
        started.append(Program([mcpreel, "record", "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl", *options, "--", *command],
                               env=env))
        started[-1].file = tmp_path / "r.jsonl"
        return started[-1]

    yield start
    for program in started:
        program.close()


def client_of_writing_server(program):
    """A client whose server starts to send: the connection, its headers, and the server's pid."""
    client, session = open_session(program)
    return client, session, client.post(tool(1, "talk"), headers=session).json["result"]["pid"]


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_the_listener_while_its_server_writes(record, signum):
    program = record()
    _, _, pid = client_of_writing_server(program)
    assert program.stop(signum) == 0
    assert not is_alive(pid)
    exits = records_of(recorded(program), "proc", ev="exit")
    assert exits[0]["why"].endswith("did not exit after its stdin was closed; mcpreel ended it")


def test_the_server_of_an_ended_session_ends_while_it_writes(record):
    program = record()
    client, session, pid = client_of_writing_server(program)
    client.send_request(method="DELETE", headers=session)
    assert client.read_response().status == 200
    before = program.file.stat().st_size
    wait_for_exit(pid)
    assert program.file.stat().st_size - before < 4 * UNREAD_MAX
    assert len(records_of(recorded(program), "proc", ev="exit")) == 1


def test_max_servers_counts_processes_that_are_still_ending(record):
    program = record("--max-servers", "2")
    pids = []
    for _ in range(4):
        client, session, pid = client_of_writing_server(program)
        pids.append(pid)
        assert sum(map(is_alive, pids)) <= 2
        client.send_request(method="DELETE", headers=session)
        assert client.read_response().status == 200
    assert len(set(pids)) == 4


# Sends a request for each error it gets.
LOOPING_SERVER = """
import json, sys

errors = 0
for line in sys.stdin:
    got = json.loads(line)
    if got.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": got["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {},
                          "serverInfo": {"name": "s", "version": "1"}}}), flush=True)
    elif "method" in got and "id" in got:
        print(json.dumps({"jsonrpc": "2.0", "id": got["id"], "result": {"errors": errors}}), flush=True)
    if "error" in got or got.get("method") == "tools/call":
        errors += "error" in got
        print(json.dumps({"jsonrpc": "2.0", "id": errors, "method": "roots/list"}), flush=True)
"""


def test_our_error_responses_cause_no_loop(mcpreel, tmp_path):
    (tmp_path / "server.py").write_text(LOOPING_SERVER)
    program = Program([mcpreel, "record", "--listen", "0", "-o", tmp_path / "r.jsonl", "--", sys.executable, tmp_path / "server.py"])
    try:
        client = program.client()
        assert client.post(tool(1, "loop")).json["result"] == {"errors": 0}
        time.sleep(2)
        assert 0 < client.post(call(2)).json["result"]["errors"] <= 200
    finally:
        program.close()


def test_a_writing_server_ends_when_its_stdio_client_is_gone(mcpreel, tmp_path, writing_server):
    command, env = writing_server
    process = subprocess.Popen([mcpreel, "record", "-o", tmp_path / "r.jsonl", "--", *command], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env})
    try:
        process.stdin.write(json.dumps(tool(1, "talk")).encode() + b"\n")
        process.stdin.flush()
        pid = json.loads(process.stdout.readline())["result"]["pid"]
        process.stdin.close()
        process.stdout.close()
        process.wait(WAIT)
        assert not is_alive(pid)
    finally:
        process.kill()


def test_a_writing_passthrough_server_ends_with_the_client(mcpreel, run, tmp_path, writing_server):
    command, env = writing_server
    recording = write_recording(tmp_path / "session.jsonl", SESSION)
    lines = [initialize(7),
             {"jsonrpc": "2.0", "method": "notifications/initialized"}, tool(8, "talk")]
    ran = run([mcpreel, "replay", "--on-unmatched", "passthrough", recording, "--", *command],
              stdin=b"".join(json.dumps(line).encode() + b"\n" for line in lines), env=env)
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0, ran
    assert not is_alive(next(a["result"]["pid"] for a in answers if a.get("id") == 8))

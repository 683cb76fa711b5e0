"""A signal to a replay with pending requests: clients on stdio and over HTTP, with a command and a URL for passthrough.

The tests do not measure how long it takes, only that it is well below the minute that a server has after its
client has closed.
"""
import signal
import socket
import subprocess
import sys
import threading

import pytest
from bridging import INITIALIZED, initialize, session_server, stdio, upstream  # noqa: F401
from http_peers import WAIT, Program
from test_replay import SESSION, call, request, result, write_recording

EXIT_LIMIT_S = 15
NEW = request("new", "prompts/list")

# Responds only to initialize; it reports other requests by connecting to a port.
SILENT_SERVER = r"""
import json, socket, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {},
                          "serverInfo": {"name": "silent", "version": "1"}}}), flush=True)
    elif "id" in m:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
"""


@pytest.fixture(params=["command", "url"])
def silent_server(request, tmp_path, upstream):  # noqa: F811
    """How to name a server that owes an answer and says nothing, and a wait until it does."""
    if request.param == "command":
        (tmp_path / "silent.py").write_text(SILENT_SERVER)
        with socket.create_server(("127.0.0.1", 0)) as readiness_socket:
            readiness_socket.settimeout(WAIT)
            yield ["--", sys.executable, tmp_path / "silent.py", str(readiness_socket.getsockname()[1])], lambda: readiness_socket.accept()[0].close()
        return
    request_received = threading.Event()

    def keep_pending(conn, _):
        request_received.set()
        conn.wait_end()

    def wait():
        assert request_received.wait(WAIT)

    yield ["--url", upstream(session_server(keep_pending)).url], wait


@pytest.fixture
def replay(mcpreel, tmp_path):
    """A replay over HTTP, and a client with a session: one function sends without waiting, one waits."""
    started = []

    def start(*words):
        program = Program([mcpreel, "replay", "--listen", "0", *words])
        started.append(program)
        client = program.client()
        initialize_response = client.post(initialize())
        inside = [("Mcp-Session-Id", initialize_response.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
        assert client.post(INITIALIZED, headers=inside).status == 202
        return program, client, inside

    yield start
    for program in started:
        program.close()


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "session.jsonl", SESSION)


def ended(process, signum):
    process.send_signal(signum)
    return process.wait(timeout=EXIT_LIMIT_S)


SIGNALS = pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])


@SIGNALS
def test_a_stdio_client_gets_errors_for_pending_passthrough_requests(stdio, recording, silent_server, signum):  # noqa: F811
    words, wait = silent_server
    one = stdio("replay", "--on-unmatched", "passthrough", recording, *words)
    assert one.get_response(initialize())["id"] == 0
    one.send(NEW)
    wait()
    assert ended(one.process, signum) == 4
    response = one.receive()
    assert (response["id"], response["error"]["code"]) == ("new", -32000) and one.receive() is None


@SIGNALS
def test_http_clients_get_errors_for_pending_passthrough_requests(replay, recording, silent_server, signum):
    words, wait = silent_server
    program, client, inside = replay("--on-unmatched", "passthrough", recording, *words)
    client.send_request(NEW, headers=inside)
    wait()
    assert ended(program.process, signum) == 4
    response = client.read_response().json
    assert (response["id"], response["error"]["code"]) == ("new", -32000)
    error_output = program.process.stderr.read().decode()
    assert "passthrough server: it had not responded when the replay ended\n" in error_output


def test_a_signal_after_the_end_of_a_stdio_client_is_handled(stdio, recording, silent_server):  # noqa: F811
    """As clients do if their server does not exit by itself."""
    words, wait = silent_server
    one = stdio("replay", "--on-unmatched", "passthrough", recording, *words)
    one.send(initialize(), NEW)
    wait()
    one.process.stdin.close()
    assert ended(one.process, signal.SIGTERM) == 4
    assert [one.receive()["id"], one.receive()["id"], one.receive()] == [0, "new", None]


# --- answers that are recorded, and late

@pytest.fixture
def slow(tmp_path):
    """A recording whose calls took two minutes."""
    path = write_recording(tmp_path / "slow.jsonl", SESSION)
    lines = path.read_text().replace('"us":6000,', '"us":120006000,').splitlines(keepends=True)
    path.write_text("".join(lines[:7]))
    return path


def test_recorded_responses_are_sent_to_a_stdio_client_after_a_signal(stdio, slow):  # noqa: F811
    one = stdio("replay", "--timing", "realistic", slow)
    one.send(initialize(), request(1, "tools/list"), call(2, n=1), request("p", "ping"))
    assert {one.receive()["id"] for _ in range(3)} == {0, 1, "p"}
    assert ended(one.process, signal.SIGTERM) == 0
    assert one.receive() == result(2, "one") and one.receive() is None


def test_recorded_responses_are_sent_to_http_clients_after_a_signal(replay, slow):
    program, client, inside = replay("--timing", "realistic", slow)
    assert client.post(request(1, "tools/list"), headers=inside).status == 200
    client.send_request(call(2, n=1), headers=inside)
    other = program.client()
    other.send_request(request("p", "ping"), headers=inside)
    assert other.read_response().json["id"] == "p"
    assert ended(program.process, signal.SIGTERM) == 0
    assert client.read_response().json == result(2, "one")


# --- listeners that a script has started in its background

LISTENERS = {
    "record -- CMD": ["record", "--listen", "0", "-o", "new.jsonl", "--", "cat"],
    "record --url": ["record", "--listen", "0", "-o", "new.jsonl", "--url", "http://127.0.0.1:9/mcp"],
    "replay": ["replay", "--listen", "0", "session.jsonl"],
}


@pytest.mark.parametrize("words", LISTENERS)
def test_a_listener_in_the_background_of_a_script_ends_on_sigint(mcpreel, recording, tmp_path, words):
    """A shell without job control has what it starts with '&' ignore SIGINT."""
    program = Program(["sh", "-c", 'trap "" INT; exec "$0" "$@"', mcpreel, *LISTENERS[words]], cwd=tmp_path)
    try:
        assert program.stop(signal.SIGINT) == 0, program.err
    finally:
        program.close()


@pytest.mark.parametrize("words", LISTENERS)
def test_a_listener_can_end_with_its_standard_input(mcpreel, recording, tmp_path, words):
    """The system closes the pipe when the process that has its other side ends, however it does."""
    command, *rest = LISTENERS[words]
    program = Program([mcpreel, command, "--end-with-stdin", *rest], cwd=tmp_path, stdin=subprocess.PIPE)
    try:
        program.process.stdin.write(b"dropped\n")
        program.process.stdin.flush()
        assert program.client().post(request("p", "ping"), headers=[]).status >= 200  # it goes on
        assert program.process.poll() is None
        assert program.stop(None) == 0, program.err  # communicate() closes standard input
    finally:
        program.close()

"""Two hundred clients at once that all say the same, recorded and replayed: each sees its own answers only.

When it is recorded, all of them have asked before anybody is answered, in every round, and the last is answered first.
"""
import collections
import select
import socket
import threading

import pytest

import stream_load
from http_peers import Program
from test_replay import write_recording

CLIENTS, ROUNDS = 200, 3
INITIALIZE_RESPONSE = {"jsonrpc": "2.0", "id": stream_load.INITIALIZE["id"],
           "result": {"protocolVersion": stream_load.VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}


class Server(threading.Thread):
    """Responds when all clients have sent their request. The response has the session, or the subject, and the
    turn."""

    def __init__(self, sessions, stream):
        super().__init__(daemon=True)
        self.sessions, self.stream = sessions, stream
        self.rounds = collections.Counter()
        self.made = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self.start()

    def run(self):
        connections, requests = stream_load.ServerConnections(), []
        connections.conns[self.listener.fileno()] = None
        connections.poll.register(self.listener.fileno(), select.EPOLLIN)
        while True:
            for conn in connections.receive():
                if not conn:
                    connections.add(stream_load.ClientConnection(self.listener.accept()[0]))
                elif conn.is_complete():
                    requests.append(conn)
            if len(requests) == CLIENTS:
                for conn in reversed(requests):
                    self.respond(conn)
                requests = []

    def respond(self, conn):
        message, headers = conn.messages()[0], conn.headers()
        conn.have = b""
        if message["method"] == "initialize":
            self.made += 1
            extra = f"Mcp-Session-Id: made-up-session-{self.made:03}\r\n" if self.sessions else ""
            self.send_response(conn, INITIALIZE_RESPONSE, extra)
        elif message["method"] == "tools/call":
            who = headers["mcp-session-id"][-3:] if self.sessions else str(message["params"]["arguments"]["who"])
            self.send_response(conn, tool_result(who, self.rounds[who]))
            self.rounds[who] += 1
        else:
            conn.sock.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    def send_response(self, conn, message, extra=""):
        body = stream_load.text(message)
        if self.stream:
            conn.sock.sendall(stream_load.STREAM.replace(b"\r\n\r\n", b"\r\n" + extra.encode() + b"\r\n") + stream_load.event(message) + stream_load.LAST)
        else:
            conn.sock.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def tool_result(who, round_number):
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": f"{who} {round_number}"}]}}


def run_clients(program, sessions):
    """Returns what each client got by its session or its own number, and the text of every turn."""
    connections = stream_load.ClientConnections(program.port, program.path, CLIENTS)
    connections.request_all(stream_load.INITIALIZE)
    session_ids = [conn.headers().get("mcp-session-id") for conn in connections.clients]
    assert len(set(session_ids)) == (CLIENTS if sessions else 1)
    headers = [f"MCP-Protocol-Version: {stream_load.VERSION}\r\n" + (f"Mcp-Session-Id: {m}\r\n" if m else "") for m in session_ids]
    connections.request_all(stream_load.INITIALIZED, lambda n: headers[n])
    received = [[] for _ in connections.clients]
    for _ in range(ROUNDS):
        for n, conn in enumerate(connections.clients):
            connections.post(conn, stream_load.call("anybody" if sessions else n), headers[n])
        connections.until(connections.clients, stream_load.ClientConnection.is_complete)
        for n, conn in enumerate(connections.clients):
            response, = conn.messages()
            assert response["id"] == 1
            received[n].append(response["result"]["content"][0]["text"])
    for conn in connections.clients:
        conn.sock.close()
    return session_ids, received


@pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])
@pytest.mark.parametrize("sessions", [True, False], ids=["sessions", "no-sessions"])
def test_each_client_gets_its_own_responses_only(mcpreel, tmp_path, sessions, stream):
    server, path = Server(sessions, stream), tmp_path / "r.jsonl"
    recorder = Program([mcpreel, "-q", "record", "-o", path, "--listen", "0", "--url", server.url])
    session_ids, received = run_clients(recorder, sessions)
    assert recorder.stop() == 0, recorder.err
    for n in range(CLIENTS):
        assert received[n] == [f"{session_ids[n][-3:] if sessions else n} {round_number}" for round_number in range(ROUNDS)]

    player = Program([mcpreel, "-q", "replay", *([] if sessions else ["--match", "by-request"]), "--listen", "0", path])
    _, again = run_clients(player, sessions)
    assert player.stop() == 0, player.err
    if sessions:  # which of the recorded ones a client gets is not its choice, but it is one, and its own
        assert sorted(again) == sorted(received)
    else:
        assert again == received


def test_each_client_gets_the_only_session_from_its_start(mcpreel, tmp_path):
    """It was made on stdio, so that everybody gets the same one, whatever the others do."""
    messages = [("c2s", stream_load.INITIALIZE), ("s2c", INITIALIZE_RESPONSE), ("c2s", stream_load.INITIALIZED)]
    for round_number in range(ROUNDS):
        messages += [("c2s", stream_load.call("anybody")), ("s2c", tool_result("stdio", round_number))]
    player = Program([mcpreel, "-q", "replay", "--listen", "0", write_recording(tmp_path / "r.jsonl", messages)])
    _, received = run_clients(player, sessions=True)
    assert player.stop() == 0, player.err
    assert received == [[f"stdio {round_number}" for round_number in range(ROUNDS)]] * CLIENTS

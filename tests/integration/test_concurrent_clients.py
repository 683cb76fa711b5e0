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

CLIENTS, TURNS = 200, 3
WELCOME = {"jsonrpc": "2.0", "id": stream_load.HELLO["id"],
           "result": {"protocolVersion": stream_load.VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}


class Server(threading.Thread):
    """Responds when all clients have sent their request. The response has the session, or the subject, and the
    turn."""

    def __init__(self, sessions, stream):
        super().__init__(daemon=True)
        self.sessions, self.stream = sessions, stream
        self.turns = collections.Counter()
        self.made = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self.start()

    def run(self):
        crowd, asked = stream_load.Guests(), []
        crowd.wires[self.listener.fileno()] = None
        crowd.poll.register(self.listener.fileno(), select.EPOLLIN)
        while True:
            for wire in crowd.hear():
                if not wire:
                    crowd.add(stream_load.Wire(self.listener.accept()[0]))
                elif wire.whole():
                    asked.append(wire)
            if len(asked) == CLIENTS:
                for wire in reversed(asked):
                    self.answer(wire)
                asked = []

    def answer(self, wire):
        message, headers = wire.messages()[0], wire.headers()
        wire.have = b""
        if message["method"] == "initialize":
            self.made += 1
            extra = f"Mcp-Session-Id: made-up-session-{self.made:03}\r\n" if self.sessions else ""
            self.say(wire, WELCOME, extra)
        elif message["method"] == "tools/call":
            who = headers["mcp-session-id"][-3:] if self.sessions else str(message["params"]["arguments"]["who"])
            self.say(wire, told(who, self.turns[who]))
            self.turns[who] += 1
        else:
            wire.sock.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    def say(self, wire, message, extra=""):
        body = stream_load.text(message)
        if self.stream:
            wire.sock.sendall(stream_load.STREAM.replace(b"\r\n\r\n", b"\r\n" + extra.encode() + b"\r\n") + stream_load.event(message) + stream_load.LAST)
        else:
            wire.sock.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def told(who, turn):
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": f"{who} {turn}"}]}}


def talk(program, sessions):
    """Returns what each client got by its session or its own number, and the text of every turn."""
    crowd = stream_load.Clients(program.port, program.path, CLIENTS)
    crowd.ask_all(stream_load.HELLO)
    mine = [wire.headers().get("mcp-session-id") for wire in crowd.clients]
    assert len(set(mine)) == (CLIENTS if sessions else 1)
    headers = [f"MCP-Protocol-Version: {stream_load.VERSION}\r\n" + (f"Mcp-Session-Id: {m}\r\n" if m else "") for m in mine]
    crowd.ask_all(stream_load.READY, lambda n: headers[n])
    heard = [[] for _ in crowd.clients]
    for _ in range(TURNS):
        for n, wire in enumerate(crowd.clients):
            crowd.post(wire, stream_load.call("anybody" if sessions else n), headers[n])
        crowd.until(crowd.clients, stream_load.Wire.whole)
        for n, wire in enumerate(crowd.clients):
            answer, = wire.messages()
            assert answer["id"] == 1
            heard[n].append(answer["result"]["content"][0]["text"])
    for wire in crowd.clients:
        wire.sock.close()
    return mine, heard


@pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])
@pytest.mark.parametrize("sessions", [True, False], ids=["sessions", "no-sessions"])
def test_each_client_gets_its_own_responses_only(mcpreel, tmp_path, sessions, stream):
    server, path = Server(sessions, stream), tmp_path / "r.jsonl"
    recorder = Program([mcpreel, "-q", "record", "-o", path, "--listen", "0", "--url", server.url])
    mine, heard = talk(recorder, sessions)
    assert recorder.stop() == 0, recorder.err
    for n in range(CLIENTS):
        assert heard[n] == [f"{mine[n][-3:] if sessions else n} {turn}" for turn in range(TURNS)]

    player = Program([mcpreel, "-q", "replay", *([] if sessions else ["--match", "by-request"]), "--listen", "0", path])
    _, again = talk(player, sessions)
    assert player.stop() == 0, player.err
    if sessions:  # which of the recorded ones a client gets is not its choice, but it is one, and its own
        assert sorted(again) == sorted(heard)
    else:
        assert again == heard


def test_each_client_gets_the_only_session_from_its_start(mcpreel, tmp_path):
    """It was made on stdio, so that everybody gets the same one, whatever the others do."""
    talked = [("c2s", stream_load.HELLO), ("s2c", WELCOME), ("c2s", stream_load.READY)]
    for turn in range(TURNS):
        talked += [("c2s", stream_load.call("anybody")), ("s2c", told("stdio", turn))]
    player = Program([mcpreel, "-q", "replay", "--listen", "0", write_recording(tmp_path / "r.jsonl", talked)])
    _, heard = talk(player, sessions=True)
    assert player.stop() == 0, player.err
    assert heard == [[f"stdio {turn}" for turn in range(TURNS)]] * CLIENTS

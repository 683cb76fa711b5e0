"""replay as a server on HTTP: the process, its sockets and its end. What it answers is told in tests/playbook/http."""
import contextlib
import http.client
import json
import signal
import subprocess
import threading
import urllib.parse

import pytest
from test_replay import HELLO, TALK, call, request, write_recording

pytestmark = pytest.mark.timeout(120)
BOTH = "application/json, text/event-stream"


class Client:
    """One client with a session of its own; each request is a connection, so that none waits for another."""

    def __init__(self, address):
        self.at = urllib.parse.urlsplit(address)
        self.session = {}

    def open(self, method, message=None, **headers):
        body = json.dumps(message) if message is not None else None
        link = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=60)
        kind = {"Content-Type": "application/json"} if body else {}
        link.request(method, self.at.path, body, {"Accept": BOTH, **kind, **self.session, **headers})
        return link.getresponse()

    def ask(self, message):
        answer = self.open("POST", message)
        text = answer.read().decode()
        if answer.getheader("Content-Type") == "text/event-stream":
            text = [line for line in text.splitlines() if line.startswith("data: ")][-1].removeprefix("data: ")
        return answer.status, json.loads(text) if text else None

    def hello(self):
        answer = self.open("POST", HELLO)
        assert answer.status == 200, answer.read()
        self.session = {"Mcp-Session-Id": answer.getheader("Mcp-Session-Id")}
        return json.loads(answer.read())


@contextlib.contextmanager
def replay(mcpreel, file, *options):
    command = [mcpreel, "replay", file, "--listen", ":0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        process.address = process.stdout.readline().decode().strip()
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "session.jsonl", TALK)


def test_a_session_from_its_greeting_to_its_end(mcpreel, recording):
    with replay(mcpreel, recording) as server:
        client = Client(server.address)
        assert client.hello()["result"]["serverInfo"]["name"] == "small"
        assert client.open("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        assert client.ask(call("x", n=1)) == (200, {**TALK[5][1], "id": "x"})
        stream = client.open("GET")
        assert stream.status == 200
        assert client.open("DELETE").status == 200
        assert stream.read() == b""
        assert client.ask(call("x", n=1))[0] == 404
        server.terminate()
        assert server.wait(60) == 0


def test_a_miss_is_answered_and_ends_it(mcpreel, recording):
    with replay(mcpreel, recording) as server:
        one, other = Client(server.address), Client(server.address)
        one.hello()
        other.hello()
        stream = other.open("GET")
        status, answer = one.ask(request(9, "prompts/list"))
        assert status == 200 and answer["error"]["code"] == -32000 and answer["id"] == 9
        assert stream.read() == b""
        assert server.wait(60) == 1
        assert b"no recorded answer for prompts/list" in server.stderr.read()


def test_who_listens_is_told_the_end(mcpreel, recording):
    with replay(mcpreel, recording) as server:
        client = Client(server.address)
        client.hello()
        stream = client.open("GET")
        server.send_signal(signal.SIGTERM)
        assert stream.read() == b""  # a whole body: an aborted one would raise IncompleteRead
        assert server.wait(60) == 0


def test_the_server_behind_the_recording_answers_what_it_lacks(mcpreel, recording):
    behind = ["--on-unmatched", "passthrough", "--", mcpreel, "demo", "server"]
    with replay(mcpreel, recording, *behind) as server:
        clients = [Client(server.address) for _ in range(3)]
        for client in clients:
            client.hello()
        assert clients[0].ask(request(1, "tools/list"))[1] == TALK[3][1]
        for client in clients:
            status, answer = client.ask(request(7, "prompts/list"))
            assert status == 200 and answer["id"] == 7 and answer["result"]["prompts"]
        server.terminate()
        assert server.wait(60) == 0


def test_two_hundred_clients_with_the_same_ids(mcpreel, recording):
    """Each gets the answers of the recording from its start, whatever the others do."""
    heard = []

    def play(address):
        client = Client(address)
        client.hello()
        heard.append([client.ask(message)[1] for way, message in TALK[2:] if way == "c2s"])

    with replay(mcpreel, recording) as server:
        threads = [threading.Thread(target=play, args=[server.address]) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.terminate()
        assert server.wait(60) == 0
    assert heard == [[message for way, message in TALK[2:] if way == "s2c"]] * 200

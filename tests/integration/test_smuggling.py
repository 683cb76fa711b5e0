"""Requests that can be read in two ways, sent to the program as it runs: refused, and nothing of them goes on."""
import contextlib
import json
import queue
import socket
import threading
import time

import pytest

from http_peers import WAIT, Bytes, ConnectionEnded, Program, read_body, read_head
from smuggling import CHUNKED, CHUNKS_REFUSED, END, HEADS, POST, SECOND, TAKEN

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'


class CapturingServer:
    """A server that keeps every byte of every connection, and answers what it is able to read."""

    def __init__(self):
        self.received = []  # of each connection
        self.seen = queue.Queue()  # (head, body) of each request
        self.ended = queue.Queue()  # what was not a whole request when its connection ended
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                threading.Thread(target=self.capture, args=[sock], daemon=True).start()

    def capture(self, sock):
        conn, captured = Bytes(sock), bytearray()
        self.received.append(captured)
        more = conn.more

        def listen():
            before = len(conn.have)
            more()
            captured.extend(conn.have[before:])

        conn.more = listen
        try:
            while True:
                head = read_head(conn)
                self.seen.put((head.start.encode(), read_body(conn, head)))
                conn.send(ANSWER)
        except (ConnectionEnded, OSError, ValueError):
            self.ended.put(bytes(conn.have))
        sock.close()

    def wait_for_head(self, number):
        deadline = time.monotonic() + WAIT
        while len(self.received) <= number or not self.received[number].endswith(b"\r\n\r\n"):
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def bytes(self):
        return b"".join(map(bytes, self.received))


@pytest.fixture(scope="module")
def capturing_server():
    e = CapturingServer()
    yield e
    with contextlib.suppress(OSError):
        e.listener.shutdown(socket.SHUT_RDWR)  # also for the thread that waits there
    e.listener.close()


@pytest.fixture(scope="module")
def recorder(capturing_server, mcpreel, tmp_path_factory):
    p = Program([mcpreel, "record", "-o", tmp_path_factory.mktemp("r") / "r.jsonl", "--listen", "127.0.0.1:0", "--url", capturing_server.url])
    yield p
    p.close()


@pytest.fixture(scope="module")
def replayer(mcpreel, tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    path.write_text(json.dumps({"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "x",
                                "thoughtjack_version": "0.3.0"}) + "\n")
    p = Program([mcpreel, "replay", "--on-unmatched", "warn", "--listen", "127.0.0.1:0", path])
    yield p
    p.close()


def assert_rejected(client, status):
    """One HTTP response with the reason, and then the end."""
    response = client.read_response()
    assert (response.status, response.get("connection")) == (status, "close")
    assert response.json["error"]["message"]
    assert client.rest() == b"", "something else was answered, too"
    client.close()


def assert_serves(client):
    client.send(POST + b"Content-Length: 2\r\n\r\n{}")
    return client.read_response().status


def named(table):
    return {"argvalues": [row[1:] if len(row) > 2 else row[1] for row in table], "ids": [row[0].replace(" ", "-") for row in table]}


def test_the_tables_give_enough_requests():
    assert len(HEADS) + len(CHUNKS_REFUSED) >= 100
    names = [row[0] for row in HEADS + CHUNKS_REFUSED + TAKEN]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("status, head", **named(HEADS))
def test_ambiguous_heads_are_rejected(recorder, replayer, capturing_server, status, head):
    before = len(capturing_server.received), capturing_server.bytes()
    for program in (recorder, replayer):
        client = program.client()
        client.send(head + SECOND)
        assert_rejected(client, status)
    assert (len(capturing_server.received), capturing_server.bytes()) == before, "nobody has even connected"


@pytest.mark.parametrize("chunks", **named(CHUNKS_REFUSED))
def test_ambiguous_chunks_are_rejected(recorder, replayer, capturing_server, chunks):
    for program in (recorder, replayer):
        before = capturing_server.bytes()
        client = program.client()
        client.send(POST + CHUNKED + END + chunks + SECOND)
        assert_rejected(client, 400)
        assert capturing_server.bytes() == before
    assert capturing_server.seen.empty()


@pytest.mark.parametrize("chunks", **named(CHUNKS_REFUSED))
def test_ambiguous_chunks_are_rejected_after_the_head_was_forwarded(recorder, capturing_server, chunks):
    """It never gets a whole request, and nothing that comes after what was refused."""
    while not capturing_server.ended.empty():
        capturing_server.ended.get()
    client, before = recorder.client(), len(capturing_server.received)
    client.send(POST + CHUNKED + END)
    capturing_server.wait_for_head(before)
    client.send(chunks + SECOND)
    assert_rejected(client, 400)
    capturing_server.ended.get(timeout=WAIT)
    assert len(capturing_server.received) == before + 1
    head, _, rest = bytes(capturing_server.received[before]).partition(b"\r\n\r\n")
    assert head.startswith(b"POST /mcp HTTP/1.1\r\n") and b"smuggled" not in head + rest
    assert not rest.endswith(b"0\r\n\r\n") and capturing_server.seen.empty()


@pytest.mark.parametrize("data, line, body", **named(TAKEN))
def test_unusual_but_unambiguous_requests_are_accepted(recorder, capturing_server, data, line, body):
    client = recorder.client()
    client.send(data)
    assert client.read_response().status == 200
    client.send(SECOND)
    assert client.read_response().status == 200
    client.close()
    assert [capturing_server.seen.get(timeout=WAIT) for _ in range(2)] == [(line, body), (b"GET /smuggled HTTP/1.1", b"")]
    assert capturing_server.seen.empty()


def test_a_bad_request_after_a_good_one_does_not_affect_the_good_one(recorder, capturing_server):
    client = recorder.client()
    client.send(POST + b"Content-Length: 2\r\n\r\n{}" + HEADS[0][2] + SECOND)
    assert client.read_response().status == 200
    assert_rejected(client, 400)
    assert capturing_server.seen.get(timeout=WAIT) == (b"POST /mcp HTTP/1.1", b"{}")
    assert capturing_server.seen.empty()


def test_the_program_still_serves_afterwards(recorder, replayer, capturing_server):
    assert assert_serves(recorder.client()) == 200
    assert capturing_server.seen.get(timeout=WAIT)[1] == b"{}"
    assert assert_serves(replayer.client()) == 400
    assert recorder.stop() == 0
    assert replayer.stop() == 0

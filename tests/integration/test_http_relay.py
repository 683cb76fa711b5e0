"""HTTP clients and servers with 'mcpreel record' in between, down to the bytes on both sockets."""
import contextlib
import gzip
import json
import os
import queue
import signal
import socket
import ssl
import subprocess
import threading
import urllib.parse

import pytest

PATIENCE = 20  # seconds, for what happens at once
SILENT_SECONDS = 5  # all sides are silent for so long: an event that is only noticed with the next message, or after some time, is too late
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
DONE = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def post(body=CALL, head=HEAD):
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def http_response(body=DONE, extra=b"", status=b"200 OK"):
    return (b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n" + extra +
            b"Content-Length: %d\r\n\r\n" % len(body) + body)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


OPEN = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class ByteSocket:
    """A socket that is read until some bytes have come, with a time limit."""

    def __init__(self, sock):
        sock.settimeout(PATIENCE)
        self.sock = sock

    def send(self, data):
        self.sock.sendall(data)

    def receive(self, want):
        """Exactly these bytes."""
        got = b""
        while len(got) < len(want):
            data = self.sock.recv(len(want) - len(got))
            assert data, f"the end after {got!r}"
            got += data
        assert got == want

    def receive_until(self, mark):
        got = b""
        while not got.endswith(mark):
            data = self.sock.recv(1)
            assert data, f"the end after {got!r}"
            got += data
        return got

    def receive_response(self):
        """Head and body of one with a length."""
        head = self.receive_until(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        body = b""
        while len(body) < length:
            body += self.sock.recv(length - len(body))
        return head, body

    def receive_end(self):
        """Reads the end, or a reset. Returns the bytes before it."""
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while data := self.sock.recv(4096):
                got += data
        return got

    def close(self):
        self.sock.close()


class Server:
    """Every connection is handed to the test."""

    def __init__(self, context=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.context = context
        self.lines = queue.Queue()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                if self.context:
                    try:
                        sock.settimeout(PATIENCE)
                        sock = self.context.wrap_socket(sock, server_side=True)
                    except (ssl.SSLError, ConnectionError):
                        continue
                self.lines.put(ByteSocket(sock))

    def line(self):
        return self.lines.get(timeout=PATIENCE)

    def assert_no_connection(self):
        """No other client has connected."""
        with pytest.raises(queue.Empty):
            self.lines.get(timeout=0.2)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # also for the thread that waits there
        self.listener.close()


class Recorder:
    def __init__(self, mcpreel, file, url, *args, env=None):
        self.file = file
        ready, ready_fd = os.pipe()
        self.process = subprocess.Popen(
            [mcpreel, "record", "-o", file, "--listen", "127.0.0.1:0", "--url", url, "--ready-fd", str(ready_fd), *args],
            pass_fds=[ready_fd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})})
        os.close(ready_fd)
        with os.fdopen(ready) as ready_file:
            self.url = ready_file.readline().strip()
        assert self.url, self.process.communicate(timeout=PATIENCE)
        self.err = b""

    def connect(self):
        at = urllib.parse.urlsplit(self.url)
        return ByteSocket(socket.create_connection((at.hostname, at.port), PATIENCE))

    def stop(self, how=signal.SIGTERM):
        if self.process.returncode is None:
            self.process.send_signal(how)
            _, self.err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def records(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def records_of(self, **like):
        return [r for r in self.records() if all(r.get(k) == v for k, v in like.items())]


def open_stream(recorder, server, http_request):
    """A stream with one event: the client's end and the server's."""
    client = recorder.connect()
    client.send(http_request)
    line = server.line()
    line.receive(http_request)
    line.send(STREAM + chunk(b"data: 1\n\n"))
    client.receive(STREAM + chunk(b"data: 1\n\n"))
    return client, line


@pytest.fixture
def server():
    s = Server()
    yield s
    s.close()


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start(port, *args, scheme="http", host="127.0.0.1", path="/mcp", keep_host=True, **more):
        """With the client's Host, so that heads can be compared as they are; see test_http_refused for the server's own."""
        args = [*args, *(["--keep-host"] if keep_host else [])]
        r = Recorder(mcpreel, tmp_path / "session.jsonl", f"{scheme}://{host}:{port}{path}", *args, **more)
        started.append(r)
        return r

    yield start
    for r in started:
        r.stop(signal.SIGKILL)


def test_heads_and_bodies_are_forwarded_unchanged(server, record):
    r = record(server.port)
    client = r.connect()
    http_request = (b"POST /mcp HTTP/1.1\r\nhOSt: localhost\r\ncontent-TYPE: application/json\r\nX-Two: a\r\nx-two: \r\nX-Two: b\r\n"
             b"Mcp-Param-Region: =?base64?SGVsbG8=?=\r\nAuthorization: Bearer s3cr3t-t0ken-value\r\nContent-Length: 68\r\n\r\n")
    assert len(CALL) == 68
    client.send(http_request + CALL)
    line = server.line()
    line.receive(http_request + CALL)
    response_bytes = (b"HTTP/1.1 200 Quite Fine\r\nContent-Type: application/json\r\nset-cookie: a\r\nSet-Cookie: b\r\n"
            b"Mcp-Session-Id: 1234-secret-session\r\nContent-Length: 36\r\n\r\n" + DONE)
    line.send(response_bytes)
    client.receive(response_bytes)
    client.send(post())  # on the same connections
    line.receive(post())
    line.send(http_response())
    client.receive(http_response())
    assert r.stop() == 0
    assert [m["msg"] for m in r.records_of(type="message")] == [json.loads(CALL), json.loads(DONE)] * 2
    text = r.file.read_bytes()
    for secret in (b"s3cr3t", b"secret-session"):
        assert secret not in text


def test_an_event_is_recorded_before_it_is_forwarded(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    line.send(STREAM)
    client.receive(STREAM)  # at once, without any event
    progress = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'
    event = b"event: message\ndata: " + progress + b"\n\n"
    line.send(chunk(event[:30]))
    client.receive(chunk(event[:30]))  # also what is no event yet
    line.send(chunk(event[30:]))
    client.receive(chunk(event[30:]))
    assert r.stop(signal.SIGKILL) == -signal.SIGKILL
    assert json.loads(progress) in [m["msg"] for m in r.records_of(type="message")]


def test_a_request_on_a_dropped_connection_is_not_repeated(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    line.send(http_response())
    client.receive(http_response())
    client.send(post())
    line.receive(post())
    line.close()
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert json.loads(body)["error"]["message"] == "the server closed the connection without a response"
    server.assert_no_connection()
    client.send(post())  # and the client's connection is still good
    line = server.line()
    line.receive(post())
    line.send(http_response())
    client.receive(http_response())
    assert r.stop() == 0
    assert [x["by"] for x in r.records_of(type="http", ev="response")] == ["server", "mcpreel", "server"]


@pytest.mark.parametrize("with_reset", [False, True])
def test_a_disconnected_client_ends_its_stream_at_the_server(server, record, with_reset):
    r = record(server.port)
    client = r.connect()
    client.send(OPEN)
    line = server.line()
    line.receive_until(b"\r\n\r\n")
    line.send(STREAM)
    client.receive(STREAM)
    if with_reset:
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert line.receive_end() == b""
    assert r.stop() == 0
    assert [(x["by"], x["clean"]) for x in r.records_of(type="http", ev="end")] == [("client", False)]


@pytest.mark.parametrize("with_reset", [False, True])
@pytest.mark.parametrize("closing_party", ["client", "server"])
@pytest.mark.parametrize("http_request", [OPEN, post()], ids=["GET", "POST"])
def test_a_disconnect_during_a_silent_stream_reaches_the_other_side(server, record, http_request, closing_party, with_reset):
    r = record(server.port)
    streams = [open_stream(r, server, http_request) for _ in range(4)]
    client, line = streams.pop(1)
    closing_side, remaining_side = (client, line) if closing_party == "client" else (line, client)
    remaining_side.sock.settimeout(SILENT_SECONDS)
    if with_reset:
        closing_side.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    closing_side.close()
    assert remaining_side.receive_end() == b"", "no last chunk, as if it were whole"
    for client, line in streams:
        line.send(chunk(b"data: 2\n\n"))
        client.receive(chunk(b"data: 2\n\n"))
        client.close()
    assert r.stop() == 0
    assert [(x["by"], x["clean"]) for x in r.records_of(type="http", ev="end")] == [(closing_party, False), *[("client", False)] * 3]


def test_a_client_that_disconnects_ends_its_request(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    client.close()
    assert line.receive_end() == b""
    assert r.stop() == 0
    assert [x["by"] for x in r.records_of(type="http", ev="end")] == ["client"]


@pytest.mark.parametrize("response_bytes, got", [
    (http_response(), http_response().replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")),
    (STREAM + chunk(b"data: 1\n\n") + b"0\r\n\r\n",
     STREAM[:-2] + b"Connection: close\r\n\r\n" + chunk(b"data: 1\n\n") + b"0\r\n\r\n")])
def test_a_half_closed_client_gets_its_response(server, record, response_bytes, got):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    client.sock.shutdown(socket.SHUT_WR)
    line = server.line()
    line.receive(post())
    client.receive(b"HTTP/1.1 100 Continue\r\n\r\n")  # whether it is still there
    line.send(response_bytes)
    assert client.receive_end() == got
    assert r.stop() == 0
    assert [(x["by"], x["clean"]) for x in r.records_of(type="http", ev="end")] == [("server", True)]


@pytest.mark.parametrize("head, body", [
    (STREAM, chunk(b"data: 1\n\n")), (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n", b"{")])
def test_an_aborted_response_is_aborted_for_the_client(server, record, head, body):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    line.send(head + body)
    line.close()
    client.receive(head + body)
    assert client.receive_end() == b"", "no last chunk, as if it were whole"
    assert r.stop() == 0
    end, = r.records_of(type="http", ev="end")
    assert (end["by"], end["clean"]) == ("server", False)
    assert end["why"] == "the server closed the connection before its response was complete"


def test_a_decompression_bomb_is_forwarded_and_reported_once(server, record):
    r = record(server.port)
    compressed_zeros = gzip.compress(bytes(96 << 20))
    client, line = r.connect(), None
    for _ in range(2):
        client.send(post())
        line = line or server.line()
        line.receive(post())
        line.send(http_response(compressed_zeros, b"Content-Encoding: gzip\r\n"))
        client.receive(http_response(compressed_zeros, b"Content-Encoding: gzip\r\n"))
    assert r.stop() == 0
    assert r.err.count(b"a compressed response was forwarded but not recorded: ") == 1
    assert len(r.records_of(type="gap")) == 2


@pytest.mark.parametrize("response_bytes, text", [
    (b"SSH-2.0-OpenSSH\r\n\r\n", "a first line that is not 'HTTP/1.1' and a status"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "two different Content-Lengths"),
    (b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "a line that ends in LF alone")])
def test_invalid_http_is_reported(server, record, response_bytes, text):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    line.send(response_bytes)
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 ")
    assert json.loads(body)["error"]["message"] == f"the server's response is not valid HTTP: {text}"
    assert line.receive_end() == b""


def test_without_a_server_clients_get_an_error(server, record):
    r = record(server.port)
    server.close()
    client = r.connect()
    client.send(post())
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 ")
    assert json.loads(body)["error"]["message"] == f"cannot connect to 'http://127.0.0.1:{server.port}': connection refused"
    assert r.stop() == 0
    assert [m["msg"] for m in r.records_of(type="message")][:1] == [json.loads(CALL)]


LENGTH, CHUNKS = b"Content-Length: 68\r\n", b"Transfer-Encoding: chunked\r\n"
EXPECT = b"Expect: 100-continue\r\n"


def assert_no_bytes(client):
    """Longer than it takes to find that no client is left."""
    client.sock.settimeout(0.2)
    with pytest.raises(TimeoutError):
        client.sock.recv(1)
    client.sock.settimeout(PATIENCE)


def kinds(r):
    return [line.get("ev") or line["type"] for line in r.records()[1:-1]]


@pytest.mark.parametrize("expect", [b"", EXPECT], ids=["", "expect"])
@pytest.mark.parametrize("framing, body", [(LENGTH, CALL), (CHUNKS, chunk(CALL[:30]) + chunk(CALL[30:]) + chunk(b""))],
                         ids=["length", "chunks"])
def test_without_a_server_requests_are_read_completely(server, record, framing, body, expect):
    """Most clients send head and body in two writes; the message is recorded nevertheless, and the error belongs to it."""
    r = record(server.port)
    server.close()
    client = r.connect()
    for _ in range(2):  # on the same connection: where the next request begins is known
        client.send(HEAD + expect + framing + b"\r\n")
        if expect:
            client.receive(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert_no_bytes(client)
        client.send(body[:20])
        assert_no_bytes(client)
        client.send(body[20:])
        head, response = client.receive_response()
        assert head.startswith(b"HTTP/1.1 502 ") and b"Connection: close" not in head
        assert json.loads(response)["id"] == 1
    assert r.stop() == 0
    assert kinds(r) == ["request", "message", "response", "end"] * 2
    assert [m["msg"] for m in r.records_of(type="message")] == [json.loads(CALL)] * 2
    assert [q["body"] for q in r.records_of(ev="request")] == ["message"] * 2
    assert [(a["status"], a["by"]) for a in r.records_of(ev="response")] == [(502, "mcpreel")] * 2


@pytest.mark.parametrize("sent", [b"", CALL[:30]], ids=["nothing", "some"])
@pytest.mark.parametrize("framing", [LENGTH, CHUNKS], ids=["length", "chunks"])
def test_without_a_server_an_incomplete_request_gets_its_error_at_once(server, record, mcpreel, framing, sent):
    r = record(server.port)
    server.close()
    client = r.connect()
    client.send(HEAD + framing + b"\r\n" + (chunk(sent) if sent and framing == CHUNKS else sent))
    assert_no_bytes(client)
    client.sock.shutdown(socket.SHUT_WR)
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 ") and json.loads(body)["id"] is None
    assert client.receive_end() == b""
    assert r.stop() == 0
    assert kinds(r) == ["request", "response", "raw", "end"]
    assert [q["body"] for q in r.records_of(ev="request")] == ["late"]
    assert [(w["from"], w["text"], w["why"]) for w in r.records_of(type="raw")] == [("client", sent.decode(), "cut off")]
    assert [(end["by"], end["clean"]) for end in r.records_of(ev="end")] == [("error", True)]
    again = subprocess.run([mcpreel, "convert", "--to", "recording", r.file, "-o", "-"], capture_output=True, timeout=PATIENCE, check=True).stdout
    assert [json.loads(line) for line in again.splitlines()] == r.records()


def test_a_server_lost_during_a_request_gives_an_error_after_the_request(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(HEAD + LENGTH + b"\r\n" + CALL[:30])
    line = server.line()
    line.receive(HEAD + LENGTH + b"\r\n" + CALL[:30])
    line.close()
    assert_no_bytes(client)
    client.send(CALL[30:])
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 ") and json.loads(body)["id"] == 1
    server.assert_no_connection()
    assert r.stop() == 0
    assert [m["msg"] for m in r.records_of(type="message")] == [json.loads(CALL)]


@pytest.mark.parametrize("framing", [LENGTH, CHUNKS, LENGTH + EXPECT], ids=["length", "chunks", "expect"])
def test_a_rejected_request_is_not_read_but_recorded_as_having_a_body(server, record, framing):
    r = record(server.port)
    client = r.connect()
    client.send(HEAD.replace(b"localhost", b"evil.example") + framing + b"\r\n")
    head, _ = client.receive_response()
    assert head.startswith(b"HTTP/1.1 403 ")
    server.assert_no_connection()
    assert r.stop() == 0
    assert kinds(r) == ["request", "response", "raw", "end"]
    assert [q["body"] for q in r.records_of(ev="request")] == ["late"]
    assert [(w["text"], w["why"]) for w in r.records_of(type="raw")] == [("", "cut off")]


def test_a_compressed_body_is_forwarded_compressed(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    packed = http_response(gzip.compress(DONE), b"Content-Encoding: gzip\r\n")
    line.send(packed)
    client.receive(packed)
    assert r.stop() == 0
    assert [m["msg"] for m in r.records_of(type="message")] == [json.loads(CALL), json.loads(DONE)]


def test_a_redirect_is_forwarded(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    there = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n"
    line.send(there)
    client.receive(there)
    server.assert_no_connection()


def test_mcpreel_answers_expect_continue(server, record):
    r = record(server.port)
    client = r.connect()
    client.send(HEAD + b"Expect: 100-continue\r\nContent-Length: 68\r\n\r\n")
    client.receive(b"HTTP/1.1 100 Continue\r\n\r\n")
    client.send(CALL)
    line = server.line()
    line.receive(post())
    line.send(b"HTTP/1.1 100 Continue\r\n\r\n" + http_response())
    client.receive(http_response())


@pytest.mark.parametrize("requested_path, sent", [
    ("/", "/mcp?key=1"), ("/mcp?a=b", "/mcp?key=1&a=b"), ("/.well-known/x?y", "/.well-known/x?y"), ("//evil/", "//evil/"),
    ("/mcp/", "/mcp/?key=1"), ("//mcp?a=b", "//mcp?key=1&a=b"), ("/%6dcp", "/%6dcp?key=1")])
def test_paths_of_clients_are_mapped_to_the_server(server, record, requested_path, sent):
    r = record(server.port, path="/mcp?key=1")
    client = r.connect()
    client.send(f"GET {requested_path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    server.line().receive(f"GET {sent} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


@pytest.mark.parametrize("path", ["/mcp/", "//mcp", "/%6dcp"])
def test_another_spelling_of_the_endpoint_is_recorded_and_checked(server, record, path):
    r = record(server.port)
    client = r.connect()
    head = HEAD.replace(b"/mcp", path.encode())
    client.send(post(head=head.replace(b"application/json\r\nAccept", b"text/plain\r\nAccept")))
    assert client.receive_response()[0].startswith(b"HTTP/1.1 415 ")
    client = r.connect()
    client.send(post(head=head))
    line = server.line()
    line.receive(post(head=head))
    line.send(http_response())
    client.receive(http_response())
    assert r.stop() == 0
    assert [m["msg"]["id"] for m in r.records_of(type="message")] == [1, 1]


@pytest.mark.parametrize("bad", [
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"GET /mcp HTTP/1.1\nHost: localhost\n\n",
    b"GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"])
def test_a_rejected_request_does_not_reach_the_server(server, record, bad):
    r = record(server.port)
    client = r.connect()
    client.send(bad)
    head, _ = client.receive_response()
    assert head.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 ", b"HTTP/1.1 415 ", b"HTTP/1.1 501 "))
    server.assert_no_connection()


def test_headers_of_the_user_replace_those_of_the_client(server, record):
    r = record(server.port, "--header", "X-Key: mine", "--header-env", "Authorization=TOKEN", env={"TOKEN": "Bearer abc-secret"})
    client = r.connect()
    client.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nx-key: theirs\r\nAuthorization: theirs\r\nA: b\r\n\r\n")
    server.line().receive(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\r\nX-Key: mine\r\nAuthorization: Bearer abc-secret\r\n\r\n")
    assert r.stop() == 0
    assert b"abc-secret" not in r.file.read_bytes() + r.err


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=test",
                    "-addext", "subjectAltName=DNS:server.example,IP:127.0.0.1"], check=True, capture_output=True)
    return folder


@pytest.fixture
def secure(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    s = Server(context)
    yield s
    s.close()


def test_tls_accepts_a_trusted_certificate(secure, record, certificate):
    r = record(secure.port, "--cacert", certificate / "cert.pem", scheme="https")
    client = r.connect()
    for line in [None, None]:
        client.send(post())
        line = line or secure.line()
        line.receive(post())
        line.send(STREAM)
        client.receive(STREAM)
        for n in range(3):
            event = chunk(b'data: {"jsonrpc":"2.0","method":"n%d"}\n\n' % n)
            line.send(event)
            client.receive(event)
        line.send(chunk(b"data: " + DONE + b"\n\n") + b"0\r\n\r\n")
        client.receive(chunk(b"data: " + DONE + b"\n\n") + b"0\r\n\r\n")
        line.close()
    assert r.stop() == 0
    assert len(r.records_of(type="message")) == 10


@pytest.mark.parametrize("file, expected_error", [
    ("nowhere.pem", "cannot read 'nowhere.pem': No such file or directory"),
    (".", "cannot read '.': it is a directory, not a file"),
    ("/dev/null", "cannot read '/dev/null': it is a device, not a file"),
    ("empty.pem", "'--cacert': there is no certificate in 'empty.pem'")])
def test_unusable_certificate_files_are_reported_at_the_start(mcpreel, run, tmp_path, file, expected_error):
    (tmp_path / "empty.pem").write_bytes(b"")
    ran = run([mcpreel, "record", "--url", "https://127.0.0.1:9/mcp", "--listen", "127.0.0.1:0", "-o", "r.jsonl", "--cacert", file],
              cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.decode().splitlines()[0] == f"mcpreel: {expected_error}"
    assert not (tmp_path / "r.jsonl").exists()


def test_tls_rejects_other_certificates(secure, record):
    r = record(secure.port, scheme="https")
    client = r.connect()
    client.send(post())
    head, body = client.receive_response()
    assert head.startswith(b"HTTP/1.1 502 ")
    assert "certificate" in json.loads(body)["error"]["message"]
    secure.assert_no_connection()


def test_a_proxy_of_the_environment_is_used(server, record):
    """The server's name has no address here: only the proxy could know it."""
    proxy = {"http_proxy": f"http://127.0.0.1:{server.port}", "no_proxy": "", "NO_PROXY": ""}
    r = record(8080, host="server.example", keep_host=False, env=proxy)
    client = r.connect()
    client.send(post())
    line = server.line()
    assert line.receive_until(b"\r\n\r\n").startswith(b"CONNECT server.example:8080 HTTP/1.1\r\n")
    line.send(b"HTTP/1.1 200 OK\r\n\r\n")
    there = post(head=HEAD.replace(b"Host: localhost\r\n", b"")).replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nHost: server.example:8080\r\n")
    line.receive(there)
    line.send(http_response())
    client.receive(http_response())
    assert r.stop() == 0


def test_loopback_servers_need_no_proxy(server, record):
    r = record(server.port, env={"http_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9"})
    client = r.connect()
    client.send(post())
    line = server.line()
    line.receive(post())
    line.send(http_response())
    client.receive(http_response())


def test_clients_with_equal_ids_get_their_own_responses(server, record):
    """Two hundred at once, answered in the opposite order."""
    r = record(server.port)
    clients = [r.connect() for _ in range(200)]
    for n, client in enumerate(clients):
        client.send(post(head=HEAD + b"X-Who: %d\r\n" % n))
    lines = []
    for _ in clients:
        line = server.line()
        head = line.receive_until(b"\r\n\r\n")
        line.receive(CALL)
        client_header = next(h for h in head.split(b"\r\n") if h.startswith(b"X-Who"))
        lines.append((line, int(client_header.split(b":")[1])))
    for line, client_header in reversed(lines):
        line.send(http_response(b'{"jsonrpc":"2.0","id":1,"result":{"who":%d}}' % client_header))
    for n, client in enumerate(clients):
        _, body = client.receive_response()
        assert json.loads(body)["result"]["who"] == n
    assert r.stop() == 0
    assert len(r.records_of(type="message")) == 400


def test_a_large_body_is_forwarded_in_each_direction(server, record):
    big = json.dumps({"jsonrpc": "2.0", "id": 1, "result": "x" * (20 << 20)}).encode()
    r = record(server.port)
    client = r.connect()
    sender = threading.Thread(target=client.send, args=(post(big),))
    sender.start()
    line = server.line()
    line.receive(post(big))
    sender.join()
    sender = threading.Thread(target=line.send, args=(http_response(big),))
    sender.start()
    client.receive(http_response(big))
    sender.join()
    assert r.stop() == 0
    assert len(r.records_of(type="message")) == 2

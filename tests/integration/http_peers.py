"""Clients and servers on HTTP that are scripted byte by byte, on plain sockets of 127.0.0.1.

`Upstream` is a server: each connection runs `serve(conn)` in a thread of its own. `Client` is one connection
of a client. `Program` is mcpreel listening, recording or replaying. Every wait is limited to WAIT seconds,
and no test measures how long something took.
"""
import json
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import threading

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/formats/recording.schema.json").read_text())
WAIT = 30
JSON = ("Content-Type", "application/json")
BOTH = ("Accept", "application/json, text/event-stream")


class ConnectionEnded(Exception):
    """The other end closed the connection."""


class Bytes:
    """A socket with functions that read the expected text."""

    def __init__(self, sock):
        self.sock = sock
        self.sock.settimeout(WAIT)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.have = b""

    def more(self):
        try:
            got = self.sock.recv(65536)
        except ConnectionError:
            got = b""
        if not got:
            raise ConnectionEnded(self.have)
        self.have += got

    def until(self, mark):
        while mark not in self.have:
            self.more()
        part, _, self.have = self.have.partition(mark)
        return part + mark

    def exactly(self, count):
        while len(self.have) < count:
            self.more()
        part, self.have = self.have[:count], self.have[count:]
        return part

    def rest(self):
        """All bytes until the end, which may be a reset."""
        try:
            while True:
                self.more()
        except ConnectionEnded:
            part, self.have = self.have, b""
            return part

    def send(self, data):
        self.sock.sendall(data)

    def close(self):
        self.sock.close()

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class Message:
    """A head and its body."""

    def __init__(self, start, headers):
        self.start, self.headers, self.body = start, headers, b""

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def get(self, name):
        values = self.all(name)
        return values[0] if values else None

    @property
    def status(self):
        return int(self.start.split()[1])

    @property
    def method(self):
        return self.start.split()[0]

    @property
    def target(self):
        return self.start.split()[1]

    @property
    def json(self):
        return json.loads(self.body)


def read_head(stream):
    lines = stream.until(b"\r\n\r\n").decode("latin-1").split("\r\n")[:-2]
    return Message(lines[0], [tuple(line.split(": ", 1)) if ": " in line else (line.rstrip(":"), "") for line in lines[1:]])


def read_chunk(stream):
    """The next chunk; empty: the last one."""
    data = stream.exactly(int(stream.until(b"\r\n"), 16))
    assert stream.exactly(2) == b"\r\n"
    return data


def read_body(stream, message, bodiless=False):
    if bodiless:
        return b""
    if message.get("transfer-encoding"):
        body = b""
        while data := read_chunk(stream):
            body += data
        return body
    if message.get("content-length"):
        return stream.exactly(int(message.get("content-length")))
    return b""


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


def compose(start, headers, body=b"", sized=True):
    lines = [start, *(f"{n}: {v}" for n, v in headers)]
    if sized:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def result(request_id, value=None):
    return {"jsonrpc": "2.0", "id": request_id, "result": value if value is not None else {}}


def call(request_id, method="ping", **params):
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return {**message, "params": params} if params else message


class Connection(Bytes):
    """A client's connection, at the server."""

    def __init__(self, sock, number, seen):
        super().__init__(sock)
        self.number, self.seen = number, seen

    def request(self):
        """The next request; None when the client has closed."""
        try:
            message = read_head(self)
            message.body = read_body(self, message)
        except ConnectionEnded:
            return None
        self.seen.append((self.number, message))
        return message

    def respond(self, status=200, body=b"", headers=(), json_=None):
        if json_ is not None:
            body, headers = json.dumps(json_).encode(), [*headers, JSON]
        self.send(compose(f"HTTP/1.1 {status} Whatever", headers, body))

    def sse(self, *headers):
        self.send(compose("HTTP/1.1 200 OK", [("Content-Type", "text/event-stream"), *headers, ("Transfer-Encoding", "chunked")],
                          sized=False))

    def event(self, data=None, **fields):
        lines = [f"{name}: {value}" for name, value in fields.items()]
        if data is not None:
            lines.append("data: " + (data if isinstance(data, str) else json.dumps(data)))
        self.send(chunk("\n".join([*lines, "", ""]).encode()))

    def last(self):
        self.send(LAST_CHUNK)

    def wait_end(self):
        """Waits for the client's end; returns the bytes before it."""
        return self.rest()


def serve_json(conn):
    """Every request gets its own method and id back."""
    while request := conn.request():
        conn.respond(json_=result(request.json.get("id"), {"said": request.json.get("method")}) if request.body else {})


class Upstream:
    """A server of the test; `seen` has (connection, request) in order of arrival."""

    def __init__(self, serve=serve_json, tls=None, port=0):
        self.serve, self.tls = serve, tls
        self.seen, self.errors = [], []
        self.count = 0
        self.done = queue.Queue()  # the number of each connection that ended
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/mcp"

    @property
    def requests(self):
        return [message for _, message in self.seen]

    def listen(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self.handle, args=(sock, self.count), daemon=True).start()

    def handle(self, sock, number):
        try:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            conn = Connection(sock, number, self.seen)
            try:
                self.serve(conn)
            finally:
                conn.close()
        except OSError:
            pass  # the client disconnected during an exchange, which is allowed
        except Exception as why:  # shown by the test that uses the server
            self.errors.append(why)
        self.done.put(number)

    def wait_done(self):
        return self.done.get(timeout=WAIT)

    def close(self):
        # A thread left in accept() would have the descriptor's number, and with that the clients of the next
        # server.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(WAIT)
        self.listener.close()
        if self.errors:
            raise self.errors[0]


class Client(Bytes):
    """One connection of a client's to a program that listens."""

    def __init__(self, program):
        super().__init__(socket.create_connection(("127.0.0.1", program.port), timeout=WAIT))
        self.program = program

    def send_request(self, message=None, method="POST", path=None, headers=(), body=None):
        """Sends a request. Without `body` it is the message as JSON."""
        if body is None:
            body = b"" if message is None else json.dumps(message).encode()
        given = {n.lower() for n, _ in headers}
        usual = [("Host", f"127.0.0.1:{self.program.port}"), BOTH] + ([JSON] if body else [])
        self.send(compose(f"{method} {path or self.program.path} HTTP/1.1",
                          [h for h in usual if h[0].lower() not in given] + list(headers), body))

    def head(self):
        return read_head(self)

    def read_response(self):
        message = self.head()
        message.body = read_body(self, message, message.status in (204, 304))
        return message

    def post(self, message, **more):
        self.send_request(message, **more)
        return self.read_response()

    def event(self):
        """The text of the next event of a stream that comes in chunks, one each."""
        return read_chunk(self).decode()


def no_response_after(requested):
    """A server that reads a request, reports that, and sends no response."""
    def serve(conn):
        conn.request()
        requested.set()
        conn.wait_end()
    return serve


class Program:
    """mcpreel, listening on a port that the system chose."""

    def __init__(self, words, env=None, cwd=None, pass_fds=(), stdin=subprocess.DEVNULL):
        self.process = subprocess.Popen([os.fspath(w) for w in words], stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, cwd=cwd, pass_fds=pass_fds)
        self.out = self.err = ""
        self.first = self.process.stdout.readline().decode()
        if not self.first:
            out, err = self.process.communicate(timeout=WAIT)
            raise AssertionError(f"it ended with {self.process.returncode}: {err.decode()}")
        where = json.loads(self.first)["url"] if self.first.startswith("{") else self.first.strip()
        self.url = where
        self.port = int(where.split("/")[2].rpartition(":")[2])
        self.path = "/" + where.split("/", 3)[3]

    def client(self):
        return Client(self)

    def stop(self, signum=signal.SIGINT):
        """Returns the exit code; `out` and `err` have the output then."""
        if self.process.returncode is None:
            if signum:
                self.process.send_signal(signum)
            try:
                self.out, self.err = (s.decode() for s in self.process.communicate(timeout=WAIT))
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.out, self.err = (s.decode() for s in self.process.communicate())
                pytest.fail(f"it did not end: {self.err}")
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        if not self.process.stdout.closed:
            self.process.communicate()


def lines_of(path):
    text = pathlib.Path(path).read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def valid_lines_of(path):
    """The lines of a recording that was ended, each of which is as the schema has it."""
    lines = lines_of(path)
    validator = jsonschema.Draft7Validator(SCHEMA)
    for line in lines:
        for error in validator.iter_errors(line):
            pytest.fail(f"{error.message} in {line}")
    assert lines[0]["type"] == "header" and lines[-1]["type"] == "footer"
    return lines


def initialize(request_id=0, version="2025-11-25"):
    return call(request_id, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "c", "version": "1"})


def records_of(lines, kind, **members):
    """The lines of a type, and, of `http`, an event."""
    return [line for line in lines if line["type"] == kind and all(line.get(k) == v for k, v in members.items())]

"""mcpreel as the server that a client has started, and servers on HTTP that it connects to; also fixtures."""
import json
import os
import queue
import subprocess
import threading

import pytest

from http_peers import WAIT, Upstream, initialize, records_of, result, valid_lines_of
SESSION = "session-canary-3f9a1c7e55"
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Stdio:
    """mcpreel as the server that a client has started."""

    def __init__(self, words, env=None, cwd=None, reads=True):
        self.process = subprocess.Popen([os.fspath(w) for w in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, cwd=cwd)
        self.lines = queue.Queue()
        self.err = []
        self.threads = []
        self.start(lambda: self.err.extend(self.process.stderr))
        if reads:
            self.start_reading()

    def start(self, function):
        self.threads.append(threading.Thread(target=function, daemon=True))
        self.threads[-1].start()

    def start_reading(self):
        self.start(self.read)

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send(self, *messages):
        self.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end."""
        return self.lines.get(timeout=WAIT)

    def get_response(self, message):
        self.send(message)
        return self.receive()

    def close(self):
        """The client closes; the exit code."""
        self.process.stdin.close()
        return self.end()

    def end(self):
        try:
            code = self.process.wait(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
            pytest.fail(f"it did not end: {self.err}")
        for thread in self.threads:
            thread.join(timeout=WAIT)
        return code

    @property
    def stderr_text(self):
        return b"".join(self.err).decode()


@pytest.fixture
def upstream():
    made = []

    def make(serve, **more):
        made.append(Upstream(serve, **more))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def stdio(mcpreel):
    started = []

    def start(*words, **more):
        started.append(Stdio([mcpreel, *words], **more))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


@pytest.fixture
def bridge(stdio, tmp_path):
    def start(server, *options, **more):
        url = server if isinstance(server, str) else server.url
        one = stdio("record", "--url", url, "-o", tmp_path / "r.jsonl", *options, **more)
        one.file = tmp_path / "r.jsonl"
        return one

    return start


def recorded(one):
    return valid_lines_of(one.file)


def messages(lines, direction):
    return [line["msg"] for line in records_of(lines, "message", dir=direction)]


def initialize_response(request_id, version="2025-11-25"):
    return result(request_id, {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}})


def respond_to_initialize(conn, request):
    conn.respond(json_=initialize_response(request.json["id"]), headers=[("Mcp-Session-Id", SESSION)])


def session_server(calls, stream=None, delete=200):
    """A server of 2025-11-25 with one session; `calls` answers all other requests, `stream` a GET."""
    def serve(conn):
        while request := conn.request():
            if request.method == "DELETE":
                conn.respond(delete)
            elif request.method == "GET" and (stream is None or not stream(conn, request)):
                conn.respond(405, headers=[("Allow", "POST, DELETE")])
            elif request.method == "GET":
                pass
            elif isinstance(request.json, dict) and request.json.get("method") == "initialize":
                respond_to_initialize(conn, request)
            elif isinstance(request.json, dict) and "id" not in request.json:
                conn.respond(202)
            else:
                calls(conn, request)

    return serve


def echo(conn, request):
    conn.respond(json_=result(request.json["id"], {"said": request.json["method"]}))


def initialized(one):
    assert one.get_response(initialize()) == initialize_response(0)
    one.send(INITIALIZED)
    return one


def http_sse_server(endpoint):
    """A server of 2024-11-05; `endpoint` is the endpoint that it sends, as a part of its own address."""
    streams = queue.Queue()

    def serve(conn):
        while request := conn.request():
            if request.method == "GET" and request.target == "/sse":
                conn.sse()
                conn.event(endpoint(conn), event="endpoint")
                streams.put(conn)
                conn.wait_end()
                return
            if request.target != "/messages?sessionId=" + SESSION:
                conn.respond(404, b"Cannot POST /sse")
                continue
            conn.respond(202, b"Accepted")
            if "id" in request.json:
                stream = streams.get(timeout=WAIT)
                response = initialize_response if request.json["method"] == "initialize" else lambda n: result(n, {"said": request.json["method"]})
                stream.event(response(request.json["id"]), event="message")
                streams.put(stream)

    return serve

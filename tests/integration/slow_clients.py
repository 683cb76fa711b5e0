"""Clients that are slow on purpose: with their heads, with their bodies, with reading the responses."""
import contextlib
import socket

import stream_load
from http_peers import Program, Upstream
from test_concurrent_streams import recording_with_a_server_request

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"


def serve(conn):
    """Streams with more events than any client reads; JSON for clients that accept no stream."""
    conn.sock.settimeout(None)  # the test must not time out first
    while request := conn.request():
        if request.method == "GET":
            conn.sse()
            with contextlib.suppress(OSError):  # the client has timed out
                while True:
                    conn.event("x" * 65536)
            return
        conn.respond(json_=stream_load.result(1))


def slow_head(program):
    client = program.client()
    client.send(HEAD[:40])
    return client


def slow_body(program):
    client = program.client()
    client.send(HEAD + b"Content-Length: 100000\r\n\r\n" + b"{")
    return client


def slow_reader(program):
    """Requests more than its buffers can hold, and reads nothing."""
    client = program.client()
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    return client


SLOW = [slow_head, slow_body, slow_reader]


@contextlib.contextmanager
def program(*words):
    p = Program(words)
    try:
        yield p
    finally:
        p.close()


@contextlib.contextmanager
def recorder(mcpreel, path):
    upstream = Upstream(serve)
    with program(mcpreel, "-q", "record", "-o", path, "--listen", "127.0.0.1:0", "--url", upstream.url) as p:
        yield p
    upstream.close()


@contextlib.contextmanager
def replayer(mcpreel, path):
    recording_with_a_server_request(path)
    with program(mcpreel, "-q", "replay", "--listen", "127.0.0.1:0", path) as p:
        yield p

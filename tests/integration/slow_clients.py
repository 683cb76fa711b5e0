"""Clients that are slow on purpose: with their heads, with their bodies, with taking what they asked for."""
import contextlib
import socket

import stream_load
from http_peers import Program, Upstream
from test_concurrent_streams import recording_with_a_server_request

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"


def serve(conn):
    """Streams that say more than anybody takes to who asks for one; JSON for the others."""
    conn.sock.settimeout(None)  # it is not for us to lose patience
    while request := conn.request():
        if request.method == "GET":
            conn.sse()
            with contextlib.suppress(OSError):  # the client is given up
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
    """Asks for more than it has room for, and takes nothing."""
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

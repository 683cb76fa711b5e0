"""Thousands of clients at once, and the server they want: two programs that tests start.

    stream_load.py serve STREAMS EVENTS                        prints its port; each round needs all streams open
    stream_load.py call PORT PATH STREAMS EVENTS ROUNDS RUDE   clients of that server, or of who is in between
    stream_load.py greet PORT PATH STREAMS EVENTS              clients of a replayed session with a question in it

All clients use the same JSON-RPC ids. A round of `call` is one request for each of them, answered by a stream
of events; the server says the first event on each stream, waits until all streams are there, and says the others
one by one in turn. So many rude ones come between the rounds: they break their connection in the middle of their stream. `open_sessions` opens a session for each client and calls; every stream then waits for the answer to a
question, which is given once all of them are open. At the end of a round what came on each stream must be its own
events in their order, every one of them, and the result.

Each is a process of its own, since each has as many descriptors as there are streams. Both come from several
addresses of this machine, since one has ports for 28,000 connections only.
"""
import json
import resource
import select
import socket
import struct
import sys

HEAD = ("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json, text/event-stream\r\n"
        "Content-Type: application/json\r\n{extra}Content-Length: {length}\r\n\r\n")
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
NO_PORT_YET = 24  # IP_BIND_ADDRESS_NO_PORT: the port is chosen for the pair of addresses
VERSION = "2025-11-25"
ABORTING = -1  # clients that disconnect before the end
WAIT = 300  # seconds in which something must happen


def text(message):
    return json.dumps(message, separators=(",", ":")).encode()


def call(who):
    """All have the same id; only the argument distinguishes them."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"who": who}}}


def log_message(who, n):
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"{who} {n}"}}


def result(who):
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": str(who)}]}}


ROOTS_REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": VERSION, "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ROOTS = {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}


def event(message):
    data = b"data: " + text(message) + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


class ClientConnection:
    """A connection, and all that has come on it since it was last emptied."""

    def __init__(self, sock):
        self.sock, self.have = sock, b""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def headers(self):
        head = self.have.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        return {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:])}

    def body(self):
        """The body of what came, or None if it is not complete."""
        head, separator, rest = self.have.partition(b"\r\n\r\n")
        if not separator:
            return None
        headers = self.headers()
        if "transfer-encoding" not in headers:
            length = int(headers.get("content-length", 0))
            return rest if len(rest) >= length else None
        if not rest.endswith(LAST):
            return None
        body = b""
        while rest != LAST:
            size, _, rest = rest.partition(b"\r\n")
            body, rest = body + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        return body

    def is_complete(self):
        return self.body() is not None

    def messages(self):
        """Those of a complete response."""
        body = self.body()
        if self.headers().get("content-type", "").startswith("text/event-stream"):
            return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")]
        return [json.loads(body)] if body else []


class ConnectionSet:
    """Connections that are waited for together."""

    def __init__(self):
        self.poll, self.conns = select.epoll(), {}

    def add(self, conn):
        self.conns[conn.sock.fileno()] = conn
        self.poll.register(conn.sock.fileno(), select.EPOLLIN)

    def receive(self):
        """Those with new bytes."""
        ready = self.poll.poll(WAIT, 1024)
        if not ready:
            sys.exit(f"nothing came for {WAIT} s, on any of {len(self.conns)} connections")
        for fd, _ in ready:
            conn = self.conns[fd]
            if conn:
                try:
                    more = conn.sock.recv(1 << 16)
                except ConnectionError:
                    more = b""
                if not more:
                    self.closed(conn)
                    continue
                conn.have += more
            yield conn

    def closed(self, conn):
        sys.exit(f"a connection was closed after {conn.have[-300:]!r}")

    def until(self, conns, there):
        """Waits until it is there on all of them."""
        missing = {id(w) for w in conns if not there(w)}
        while missing:
            for conn in self.receive():
                if id(conn) in missing and there(conn):
                    missing.remove(id(conn))


class ServerConnections(ConnectionSet):
    def closed(self, conn):
        """A client that has its complete response may close."""
        if conn.have:
            super().closed(conn)
        del self.conns[conn.sock.fileno()]
        conn.sock.close()


def serve(count, events):
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(listener.getsockname()[1], flush=True)
    connections, open_ = ServerConnections(), {}
    connections.conns[listener.fileno()] = None
    connections.poll.register(listener.fileno(), select.EPOLLIN)
    while True:
        for conn in connections.receive():
            if not conn:
                connections.add(ClientConnection(listener.accept()[0]))
            elif conn.is_complete():
                who, conn.have = json.loads(conn.body())["params"]["arguments"]["who"], b""
                conn.sock.sendall(STREAM + event(log_message(who, 0)))
                if who != ABORTING:
                    open_[who] = conn
        if len(open_) == count:
            for n in range(1, events):
                for who, conn in open_.items():
                    conn.sock.sendall(event(log_message(who, n)))
            for who, conn in open_.items():
                conn.sock.sendall(event(result(who)) + LAST)
            open_.clear()


class ClientConnections(ConnectionSet):
    def __init__(self, port, path, count):
        super().__init__()
        self.port, self.path = port, path
        self.clients = [self.connect(n) for n in range(count)]

    def connect(self, n):
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_IP, NO_PORT_YET, 1)
        sock.bind((f"127.0.0.{1 + n % 8}", 0))
        sock.connect(("127.0.0.1", self.port))
        conn = ClientConnection(sock)
        self.add(conn)
        return conn

    def post(self, conn, message, extra=""):
        body = text(message)
        conn.have = b""
        conn.sock.sendall(HEAD.format(path=self.path, port=self.port, extra=extra, length=len(body)).encode() + body)

    def request_all(self, message, extra=lambda n: ""):
        for n, conn in enumerate(self.clients):
            self.post(conn, message, extra(n))
        self.until(self.clients, ClientConnection.is_complete)


def check(conn, who, want):
    got = conn.messages()
    if got != want:
        sys.exit(f"stream {who}: {got!r} instead of {want!r}")


def abort_streams(connections, count):
    aborting = [connections.connect(n) for n in range(count)]
    for conn in aborting:
        connections.post(conn, call(ABORTING))
    connections.until(aborting, lambda conn: text(log_message(ABORTING, 0)) in conn.have)
    for conn in aborting:
        connections.poll.unregister(conn.sock.fileno())
        del connections.conns[conn.sock.fileno()]
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.sock.close()


def calls(port, path, count, events, rounds, aborted_streams):
    connections = ClientConnections(port, path, count)
    for _ in range(rounds):
        abort_streams(connections, aborted_streams)
        for who, conn in enumerate(connections.clients):
            connections.post(conn, call(who))
        connections.until(connections.clients, ClientConnection.is_complete)
        for who, conn in enumerate(connections.clients):
            check(conn, who, [*(log_message(who, n) for n in range(events)), result(who)])
        print(json.dumps({"streams": count, "events": count * (events + 1)}), flush=True)
        if rounds > 1 and not sys.stdin.readline():
            return


def open_sessions(port, path, count, events):
    connections = ClientConnections(port, path, count)
    connections.request_all(INITIALIZE)
    sessions = []
    for conn in connections.clients:
        assert conn.messages()[0]["result"]["protocolVersion"] == VERSION, conn.have
        session = conn.headers()["mcp-session-id"]
        sessions.append(f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {VERSION}\r\n")
    if len(set(sessions)) != count:
        sys.exit("two clients have the same session")
    connections.request_all(INITIALIZED, lambda n: sessions[n])
    for n, conn in enumerate(connections.clients):
        connections.post(conn, call("x"), sessions[n])
    connections.until(connections.clients, lambda conn: b"roots/list" in conn.have)
    if ended := sum(conn.is_complete() for conn in connections.clients):
        sys.exit(f"{ended} streams did not wait for the answer")
    print(json.dumps({"open": count}), flush=True)
    sys.stdin.readline()
    responder = connections.connect(0)  # answers are given beside the streams
    for n, conn in enumerate(connections.clients):
        roots_request = next(json.loads(line[6:]) for line in conn.have.decode().splitlines() if "roots/list" in line)
        connections.post(responder, {**ROOTS, "id": roots_request["id"]}, sessions[n])
        connections.until([responder], ClientConnection.is_complete)
        if not responder.have.startswith(b"HTTP/1.1 202"):
            sys.exit(f"an answer was not taken: {responder.have!r}")
    connections.until(connections.clients, ClientConnection.is_complete)
    for who, conn in enumerate(connections.clients):
        got = conn.messages()
        if got[0]["method"] != "roots/list" or got[1:] != [*(log_message("x", n) for n in range(events)), result("x")]:
            sys.exit(f"stream {who}: {got!r}")
    print(json.dumps({"streams": count, "events": count * (events + 2)}), flush=True)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    words = sys.argv[2:]
    if sys.argv[1] == "serve":
        serve(*map(int, words))
    else:
        {"call": calls, "initialize": open_sessions}[sys.argv[1]](int(words[0]), words[1], *map(int, words[2:]))


if __name__ == "__main__":
    main()

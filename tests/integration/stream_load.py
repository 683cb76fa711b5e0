"""Thousands of clients at once, and the server they want: two programs that tests start.

    stream_load.py serve STREAMS EVENTS                        prints its port; each round needs all streams open
    stream_load.py call PORT PATH STREAMS EVENTS ROUNDS RUDE   clients of that server, or of who is in between
    stream_load.py greet PORT PATH STREAMS EVENTS              clients of a replayed session with a question in it

All clients use the same JSON-RPC ids. A round of `call` is one request for each of them, answered by a stream
of events; the server says the first event on each stream, waits until all streams are there, and says the others
one by one in turn. So many rude ones come between the rounds: they break their connection in the middle of their stream. `greet` opens a session for each client and calls; every stream then waits for the answer to a
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
RUDE = -1  # who will not wait for the end
WAIT = 300  # seconds in which something must happen


def text(message):
    return json.dumps(message, separators=(",", ":")).encode()


def call(who):
    """The same id for all; only the argument tells them apart."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"who": who}}}


def said(who, n):
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"{who} {n}"}}


def result(who):
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": str(who)}]}}


QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": VERSION, "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}}}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ROOTS = {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}


def event(message):
    data = b"data: " + text(message) + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


class Wire:
    """A connection, and all that has come on it since it was last emptied."""

    def __init__(self, sock):
        self.sock, self.have = sock, b""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def headers(self):
        head = self.have.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        return {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:])}

    def body(self):
        """The body of what came, or None if it is not whole."""
        head, whole, rest = self.have.partition(b"\r\n\r\n")
        if not whole:
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

    def whole(self):
        return self.body() is not None

    def messages(self):
        """Those of a whole answer."""
        body = self.body()
        if self.headers().get("content-type", "").startswith("text/event-stream"):
            return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")]
        return [json.loads(body)] if body else []


class Crowd:
    """Connections that are waited for together."""

    def __init__(self):
        self.poll, self.wires = select.epoll(), {}

    def add(self, wire):
        self.wires[wire.sock.fileno()] = wire
        self.poll.register(wire.sock.fileno(), select.EPOLLIN)

    def hear(self):
        """Those to whom something has come."""
        ready = self.poll.poll(WAIT, 1024)
        if not ready:
            sys.exit(f"nothing came for {WAIT} s, on any of {len(self.wires)} connections")
        for fd, _ in ready:
            wire = self.wires[fd]
            if wire:
                try:
                    more = wire.sock.recv(1 << 16)
                except ConnectionError:
                    more = b""
                if not more:
                    self.closed(wire)
                    continue
                wire.have += more
            yield wire

    def closed(self, wire):
        sys.exit(f"a connection was closed after {wire.have[-300:]!r}")

    def until(self, wires, there):
        """Waits until it is there on all of them."""
        missing = {id(w) for w in wires if not there(w)}
        while missing:
            for wire in self.hear():
                if id(wire) in missing and there(wire):
                    missing.remove(id(wire))


class Guests(Crowd):
    def closed(self, wire):
        """A client that has its complete response may close."""
        if wire.have:
            super().closed(wire)
        del self.wires[wire.sock.fileno()]
        wire.sock.close()


def serve(count, events):
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(listener.getsockname()[1], flush=True)
    crowd, open_ = Guests(), {}
    crowd.wires[listener.fileno()] = None
    crowd.poll.register(listener.fileno(), select.EPOLLIN)
    while True:
        for wire in crowd.hear():
            if not wire:
                crowd.add(Wire(listener.accept()[0]))
            elif wire.whole():
                who, wire.have = json.loads(wire.body())["params"]["arguments"]["who"], b""
                wire.sock.sendall(STREAM + event(said(who, 0)))
                if who != RUDE:
                    open_[who] = wire
        if len(open_) == count:
            for n in range(1, events):
                for who, wire in open_.items():
                    wire.sock.sendall(event(said(who, n)))
            for who, wire in open_.items():
                wire.sock.sendall(event(result(who)) + LAST)
            open_.clear()


class Clients(Crowd):
    def __init__(self, port, path, count):
        super().__init__()
        self.port, self.path = port, path
        self.clients = [self.connect(n) for n in range(count)]

    def connect(self, n):
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_IP, NO_PORT_YET, 1)
        sock.bind((f"127.0.0.{1 + n % 8}", 0))
        sock.connect(("127.0.0.1", self.port))
        wire = Wire(sock)
        self.add(wire)
        return wire

    def post(self, wire, message, extra=""):
        body = text(message)
        wire.have = b""
        wire.sock.sendall(HEAD.format(path=self.path, port=self.port, extra=extra, length=len(body)).encode() + body)

    def ask_all(self, message, extra=lambda n: ""):
        for n, wire in enumerate(self.clients):
            self.post(wire, message, extra(n))
        self.until(self.clients, Wire.whole)


def check(wire, who, want):
    got = wire.messages()
    if got != want:
        sys.exit(f"stream {who}: {got!r} instead of {want!r}")


def be_rude(crowd, count):
    guests = [crowd.connect(n) for n in range(count)]
    for wire in guests:
        crowd.post(wire, call(RUDE))
    crowd.until(guests, lambda wire: text(said(RUDE, 0)) in wire.have)
    for wire in guests:
        crowd.poll.unregister(wire.sock.fileno())
        del crowd.wires[wire.sock.fileno()]
        wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.sock.close()


def calls(port, path, count, events, rounds, rude):
    crowd = Clients(port, path, count)
    for _ in range(rounds):
        be_rude(crowd, rude)
        for who, wire in enumerate(crowd.clients):
            crowd.post(wire, call(who))
        crowd.until(crowd.clients, Wire.whole)
        for who, wire in enumerate(crowd.clients):
            check(wire, who, [*(said(who, n) for n in range(events)), result(who)])
        print(json.dumps({"streams": count, "events": count * (events + 1)}), flush=True)
        if rounds > 1 and not sys.stdin.readline():
            return


def greet(port, path, count, events):
    crowd = Clients(port, path, count)
    crowd.ask_all(HELLO)
    sessions = []
    for wire in crowd.clients:
        assert wire.messages()[0]["result"]["protocolVersion"] == VERSION, wire.have
        session = wire.headers()["mcp-session-id"]
        sessions.append(f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {VERSION}\r\n")
    if len(set(sessions)) != count:
        sys.exit("two clients have the same session")
    crowd.ask_all(READY, lambda n: sessions[n])
    for n, wire in enumerate(crowd.clients):
        crowd.post(wire, call("x"), sessions[n])
    crowd.until(crowd.clients, lambda wire: b"roots/list" in wire.have)
    if ended := sum(wire.whole() for wire in crowd.clients):
        sys.exit(f"{ended} streams did not wait for the answer")
    print(json.dumps({"open": count}), flush=True)
    sys.stdin.readline()
    speaker = crowd.connect(0)  # answers are given beside the streams
    for n, wire in enumerate(crowd.clients):
        question = next(json.loads(line[6:]) for line in wire.have.decode().splitlines() if "roots/list" in line)
        crowd.post(speaker, {**ROOTS, "id": question["id"]}, sessions[n])
        crowd.until([speaker], Wire.whole)
        if not speaker.have.startswith(b"HTTP/1.1 202"):
            sys.exit(f"an answer was not taken: {speaker.have!r}")
    crowd.until(crowd.clients, Wire.whole)
    for who, wire in enumerate(crowd.clients):
        got = wire.messages()
        if got[0]["method"] != "roots/list" or got[1:] != [*(said("x", n) for n in range(events)), result("x")]:
            sys.exit(f"stream {who}: {got!r}")
    print(json.dumps({"streams": count, "events": count * (events + 2)}), flush=True)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    words = sys.argv[2:]
    if sys.argv[1] == "serve":
        serve(*map(int, words))
    else:
        {"call": calls, "greet": greet}[sys.argv[1]](int(words[0]), words[1], *map(int, words[2:]))


if __name__ == "__main__":
    main()

"""HTTP+SSE, the transport of 2024-11-05, between a raw server and raw clients: recorded, and replayed with the server gone."""
import json
import threading
from urllib.parse import urljoin, urlsplit

import pytest

from http_peers import ConnectionEnded, Program, Upstream, call, chunk, records_of, result, valid_lines_of
CANARY = "canary-5f1c9e"
TEXT = ("Content-Type", "text/plain")


class HttpSseServer:
    """A server of that kind, at /a/sse. `endpoint_of` makes an endpoint of the name of a session; what is posted there is answered on
    the stream. A call of the tool 'end' ends that."""

    def __init__(self, endpoint_of):
        self.endpoint_of, self.sessions, self.lock = endpoint_of, {}, threading.Lock()
        self.upstream = Upstream(self.serve)
        self.origin = f"http://127.0.0.1:{self.upstream.port}"
        self.url = f"{self.origin}/a/sse"

    def serve(self, conn):
        while request := conn.request():
            path, _, query = request.target.partition("?")
            session = self.sessions.get(query.rpartition("=")[2])
            if request.method == "GET" and path == "/a/sse":
                return self.stream(conn)
            if path == "/a/sse" and not query:
                conn.respond(405, b"no posts here", [("Allow", "GET"), TEXT])
            elif not session:
                conn.respond(404, b"no such session", [TEXT])
            else:
                conn.respond(202, b"Accepted", [TEXT])
                self.send_message(query.rpartition("=")[2], *session, request.json)

    def stream(self, conn):
        ended = threading.Event()
        with self.lock:
            name = f"{CANARY}-{len(self.sessions) + 1}"
            self.sessions[name] = (conn, ended)
        conn.sse()
        conn.send(chunk(b": welcome\r\n\r\nevent: endpoint\r\nid: 7\r\ndata: " + self.endpoint_of(self, name).encode() + b"\r\n\r\n"))
        ended.wait()
        del self.sessions[name]
        conn.last()

    @staticmethod
    def send_message(name, stream, ended, message):
        params = message.get("params", {})
        if message.get("method") == "initialize":
            stream.event(result(message["id"], {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                                                "serverInfo": {"name": "s", "version": "1"}}), event="message")
        elif params.get("name") == "end":
            ended.set()
        elif params.get("name") == "who am I":
            stream.event(result(message["id"], {"content": [], "about": f"session {name}!"}), event="message")
        elif "id" in message:
            stream.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": params["name"]}},
                         event="message")
            stream.event(result(message["id"], {"content": [], "about": params["name"]}), event="message")

    def close(self):
        for _, ended in self.sessions.values():
            ended.set()
        self.upstream.close()


class HttpSseClient:
    """A client: one connection for its stream, one for what it posts."""

    def __init__(self, program, path="/a/sse"):
        self.program, self.events, self.posts, self.text = program, program.client(), program.client(), b""
        self.url = f"http://127.0.0.1:{program.port}{path}"
        self.events.send_request(method="GET", path=path, headers=[("Accept", "text/event-stream")])
        head = self.events.head()
        assert head.status == 200 and head.get("content-type").startswith("text/event-stream")
        self.endpoint = self.event("endpoint")
        self.post_url = urlsplit(urljoin(self.url, self.endpoint))
        assert self.post_url.netloc == f"127.0.0.1:{program.port}"

    def block(self):
        """The next block of the stream, with its line ends."""
        while not (ends := [end for end in (b"\r\n\r\n", b"\n\n") if end in self.text]):
            size = int(self.events.until(b"\r\n"), 16)
            piece = self.events.exactly(size + 2)[:-2]
            if not size:
                raise ConnectionEnded(self.text)
            self.text += piece
        block, _, self.text = self.text.partition(ends[0])
        return block.decode() + ends[0].decode()

    def event(self, kind):
        """The data of the next event, of that kind; comments are passed over."""
        while (block := self.block()).startswith(":"):
            pass
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line)
        assert fields["event"] == kind, block
        return fields["data"]

    def post(self, message, **more):
        self.posts.send_request(message, path=f"{self.post_url.path}?{self.post_url.query}", headers=[("Accept", "*/*")], **more)
        return self.posts.read_response()

    def request(self, message):
        """All that comes up to the answer."""
        response = self.post(message)
        assert (response.status, response.body) == (202, b"Accepted")
        received = []
        while not received or received[-1].get("id") != message["id"]:
            received.append(json.loads(self.event("message")))
        return received

    def initialize(self):
        return self.request(call(0, "initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={"name": "c", "version": "1"}))

    def tool(self, name, request_id=1):
        return self.request(call(request_id, "tools/call", name=name, arguments={}))

    def disconnect(self):
        self.events.close()
        self.posts.close()


@pytest.fixture
def http_sse_server():
    made = []

    def make(endpoint_of=lambda server, name: f"/message?sessionId={name}"):
        made.append(HttpSseServer(endpoint_of))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def start(mcpreel):
    started = []

    def launch(verb, *words):
        started.append(Program([mcpreel, verb, *words, "--listen", "127.0.0.1:0"]))
        return started[-1]

    yield launch
    for program in started:
        program.close()


@pytest.fixture
def record(start, tmp_path):
    def launch(server, *options):
        program = start("record", "--url", server.url, "-o", tmp_path / "r.jsonl", *options)
        program.file = tmp_path / "r.jsonl"
        return program

    return launch


def recorded(program):
    assert program.stop() == 0, program.err
    lines = valid_lines_of(program.file)
    assert CANARY not in program.file.read_text() and CANARY not in program.err
    return lines


def steps(sse_client):
    return [sse_client.initialize(), sse_client.tool("a"), sse_client.tool("b", "two")]


ENDPOINTS = {
    "a path": (lambda server, name: f"/message?sessionId={name}", "/message?sessionId={}"),
    "a part of one": (lambda server, name: f"post/./here?s={name}", "post/./here?s={}"),
    "a query": (lambda server, name: f"?s={name}", "?s={}"),
    "an address": (lambda server, name: f"{server.origin}/deep/er?x=1&s={name}", "/deep/er?x=1&s={}"),
    "a host": (lambda server, name: f"//127.0.0.1:{server.upstream.port}/m?s={name}", "/m?s={}"),
}


@pytest.mark.parametrize("how", ENDPOINTS)
def test_a_session_is_recorded_and_replayed(http_sse_server, record, start, how):
    endpoint_of, expected_text = ENDPOINTS[how]
    program = record(http_sse_server(endpoint_of))
    sse_client = HttpSseClient(program)
    assert sse_client.endpoint == expected_text.format(f"{CANARY}-1")
    received = steps(sse_client)
    assert [one[-1]["id"] for one in received] == [0, 1, "two"] and len(received[1]) == 2
    sse_client.disconnect()
    lines = recorded(program)

    assert {m.get("session") for m in records_of(lines, "message")} == {1}
    posts = records_of(lines, "http", ev="request", method="POST")
    assert [(p["state"], p["session"], p["body"]) for p in posts] == [("live", 1, "message")] * 3
    assert [r["text"] for r in records_of(lines, "raw")] == ["Accepted"] * 3
    (endpoint,) = records_of(lines, "sse", event="endpoint")
    assert endpoint["data"].endswith("=[REDACTED]") and endpoint["id"] == "7"
    assert records_of(lines, "http", ev="end", exchange=1)[0]["by"] == "client"
    answers = [m for m in records_of(lines, "message") if "result" in m["msg"]]
    assert len(answers) == 3 and all("latency_ms" in m and m["stream"] == 1 for m in answers)

    replay = start("replay", program.file, "--match", "by-request")
    assert replay.path == "/sse"  # unrecorded data can be anything, but are not logged
    assert steps(HttpSseClient(replay)) == received
    assert steps(HttpSseClient(replay, replay.path)) == received


def test_all_bytes_except_the_endpoint_are_forwarded_unchanged(http_sse_server, record):
    server = http_sse_server(ENDPOINTS["an address"][0])
    program = record(server)
    client = program.client()
    client.send_request(method="GET", path="/a/sse", headers=[("Accept-Encoding", "gzip")])
    assert client.head().status == 200
    received_bytes = b""
    while b"data" not in received_bytes or not received_bytes.endswith(b"\r\n\r\n"):
        received_bytes += client.exactly(int(client.until(b"\r\n"), 16) + 2)[:-2]
    assert received_bytes == f": welcome\r\n\r\nevent: endpoint\r\nid: 7\r\ndata: /deep/er?x=1&s={CANARY}-1\r\n\r\n".encode()
    assert server.upstream.requests[0].all("accept-encoding") == ["identity"]
    client.close()
    recorded(program)


def test_the_path_of_a_client_at_the_root_is_the_servers(http_sse_server, record):
    """There a part of a path would count from another place."""
    program = record(http_sse_server(ENDPOINTS["a part of one"][0]))
    sse_client = HttpSseClient(program, "/")
    assert sse_client.endpoint == f"/a/post/here?s={CANARY}-1"
    assert sse_client.tool("a")[-1]["result"]["about"] == "a"
    sse_client.disconnect()
    recorded(program)


@pytest.mark.parametrize("where, expected_text", [
    ("http://127.0.0.1:1/m", "another origin ('http://127.0.0.1:1'); rejected"),
    ("//example.com/m", "another origin ('http://example.com:80'); rejected"),
    ("https://127.0.0.1:PORT/m", "another origin ('https://127.0.0.1:PORT'); rejected"),
    ("http://[::1]:7/m", "another origin ('http://[::1]:7'); rejected"),
    ("/\\example.com/m", "invalid 'endpoint' event: "),
    ("", "the server sent an empty 'endpoint' event"),
    ("ftp:m", "has a 'ftp:' URL, which is not HTTP"),
])
def test_an_endpoint_on_another_origin_is_rejected(http_sse_server, record, where, expected_text):
    server = http_sse_server(lambda server, name: where.replace("PORT", str(server.upstream.port)) + (where and f"?s={name}"))
    expected_text = expected_text.replace("PORT", str(server.upstream.port))
    program = record(server)
    client = program.client()
    client.send_request(method="GET", path="/a/sse")
    assert client.head().status == 200
    rest = client.rest()
    assert b"endpoint" not in rest and not rest.endswith(b"0\r\n\r\n")
    lines = recorded(program)
    (end,) = records_of(lines, "http", ev="end")
    assert (end["by"], end["clean"]) == ("mcpreel", False) and expected_text in end["why"]
    assert len(records_of(lines, "sse", event="endpoint")) == 1
    assert f"{end['why']}; aborted the stream" in program.err


BEFORE = {
    "a ping": b"event: ping\ndata: 1\n\n",
    "an id": b"id: 1\ndata:\n\n",
    "a message": b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\r\n\r\n',
    "another one": b"event: endpoint\ndata: /message?ok\n\n",
}


@pytest.fixture
def stream_of(record):
    """The program before a server that sends these pieces, each when the client has the one before; returns the result."""
    made = []

    def launch(*pieces, **request_options):
        goes_on = threading.Semaphore(0)

        def serve(conn):
            conn.request()
            conn.sse()
            for piece in pieces:
                conn.send(chunk(piece.replace(b"PORT", str(upstream.port).encode())))
                goes_on.acquire()
            conn.last()

        upstream = Upstream(serve)
        made.append((upstream, goes_on))
        program = record(upstream)
        client = program.client()
        client.send_request(method="GET", **request_options)
        assert client.head().status == 200
        return program, client, goes_on.release

    yield launch
    for upstream, goes_on in made:
        goes_on.release()
        upstream.close()


def piece_of(client):
    return client.exactly(int(client.until(b"\r\n"), 16) + 2)[:-2]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("before", BEFORE)
def test_a_later_endpoint_on_another_origin_is_rejected(stream_of, before, together):
    before, foreign_endpoint = BEFORE[before], f"event: endpoint\ndata: http://evil.example/{CANARY}\n\n".encode()
    program, client, go_on = stream_of(before + foreign_endpoint) if together else stream_of(before, foreign_endpoint)
    assert piece_of(client) == before
    go_on()
    assert client.rest() == b""
    lines = recorded(program)
    (end,) = records_of(lines, "http", ev="end")
    assert (end["by"], end["clean"]) == ("mcpreel", False) and "another origin ('http://evil.example:80'); rejected" in end["why"]
    assert program.err.count(f"{end['why']}; aborted the stream") == 1


@pytest.mark.parametrize("before", BEFORE)
def test_a_later_endpoint_of_the_server_is_rewritten(stream_of, before):
    own = b"event: endpoint\ndata: http://127.0.0.1:PORT/message?s=1\n\n"
    program, client, go_on = stream_of(BEFORE[before], own)
    assert piece_of(client) == BEFORE[before]
    go_on()
    assert piece_of(client) == b"event: endpoint\ndata: /message?s=1\n\n"
    go_on()
    client.until(b"0\r\n\r\n")
    client.close()
    recorded(program)


def test_posts_to_a_later_endpoint_belong_to_the_same_session(http_sse_server, record, start):
    """Both addresses lead to it."""
    def endpoint_of(server, name):
        return f"/message?sessionId={name}\r\n\r\nevent: endpoint\r\ndata: {server.origin}/later?s={name}"

    program = record(http_sse_server(endpoint_of))
    sse_client = HttpSseClient(program)
    later = sse_client.event("endpoint")
    assert later == f"/later?s={CANARY}-1"
    received = [sse_client.initialize()]
    sse_client.post_url = urlsplit(urljoin(sse_client.url, later))
    received += [sse_client.tool("a"), sse_client.tool("b", "two")]
    sse_client.disconnect()
    lines = recorded(program)
    posts = records_of(lines, "http", ev="request", method="POST")
    assert [(p["path"], p["state"], p["session"], p["body"]) for p in posts] == [("/message", "live", 1, "message")] + [
        ("/later", "live", 1, "message")] * 2
    assert {m.get("session") for m in records_of(lines, "message")} == {1}
    answers = [m for m in records_of(lines, "message") if "result" in m["msg"]]
    assert len(answers) == 3 and all("latency_ms" in m for m in answers)

    replay = start("replay", program.file, "--match", "by-request")
    assert steps(HttpSseClient(replay)) == received


def test_a_resumed_stream_has_a_rewritten_endpoint(stream_of):
    """As EventSource does, if events have ids: it is a new session then, at a new address."""
    program, client, go_on = stream_of(b"event: endpoint\ndata: http://evil.example/\n\n", headers=[("Last-Event-ID", "7")])
    go_on()
    assert b"evil" not in client.rest()
    recorded(program)
    assert "another origin ('http://evil.example:80')" in program.err


@pytest.mark.parametrize("status, name, expected_text", [
    (200, "Content-Encoding", "the server compressed an SSE stream; an 'endpoint' event"),
    (200, "X-None", "the server sent an SSE stream with a Content-Length; an 'endpoint' event"),
    (500, "Content-Encoding", None),
])
def test_a_compressed_stream_is_forwarded_and_reported_once(record, status, name, expected_text):
    text = b"event: endpoint\ndata: http://evil.example/\n\n"
    upstream = Upstream(lambda conn: conn.request() and conn.respond(status, text, [("Content-Type", "text/event-stream"), (name, "odd")]))
    program = record(upstream)
    for _ in range(2):
        client = program.client()
        client.send_request(method="GET")
        assert client.read_response().body == text
    recorded(program)
    upstream.close()
    assert program.err.count("cannot be rewritten") == program.err.count(expected_text or "never") == bool(expected_text)


def test_two_clients_have_two_sessions(http_sse_server, record, start):
    program = record(http_sse_server())
    one, other = HttpSseClient(program), HttpSseClient(program)
    assert one.endpoint != other.endpoint
    received = [steps(other), steps(one)]
    assert other.tool("c", 9)[-1]["result"]["about"] == "c"
    one.disconnect()
    other.disconnect()
    lines = recorded(program)
    assert {m["session"] for m in records_of(lines, "message")} == {1, 2}

    replay = start("replay", program.file, "--match", "by-request")
    one, other = HttpSseClient(replay), HttpSseClient(replay)
    assert one.endpoint != other.endpoint
    assert [steps(one), steps(other)] == received
    assert one.post(call(3, "ping")).status == 202 and json.loads(one.event("message"))["id"] == 3
    one.disconnect()
    assert other.tool("b", 4)[-1]["id"] == 4


def test_an_unknown_session_is_rejected(http_sse_server, record, start):
    server = http_sse_server()
    program = record(server)
    sse_client = HttpSseClient(program)
    sse_client.initialize()
    wrong = program.client()
    http_response = wrong.post(call(1, "tools/list"), path="/message?sessionId=nobody")
    assert (http_response.status, http_response.body) == (404, b"no such session")
    sse_client.disconnect()
    lines = recorded(program)
    assert [p["state"] for p in records_of(lines, "http", ev="request", method="POST")] == ["live", "unknown"]

    replay = start("replay", program.file)
    sse_client, wrong = HttpSseClient(replay), replay.client()
    sse_client.initialize()
    assert wrong.post(call(1, "tools/list"), path="/message?sessionId=nobody").body == b"no such session"
    assert wrong.post(call(1, "ping"), path="/message?sessionId=nobody").status == 404
    sse_client.events.close()
    after = sse_client.post(call(2, "ping"))
    while after.status == 202:  # its end is on its way
        after = sse_client.post(call(2, "ping"))
    assert after.status == 404


@pytest.mark.parametrize("options", [[], ["--no-redact-server-url"]])
def test_a_session_id_that_the_server_repeats_is_not_recorded(http_sse_server, record, options):
    program = record(http_sse_server(), *options)
    sse_client = HttpSseClient(program)
    sse_client.initialize()
    assert sse_client.tool("who am I")[-1]["result"]["about"] == f"session {CANARY}-1!"
    sse_client.disconnect()
    (recorded_result,) = [m["msg"]["result"] for m in records_of(recorded(program), "message") if "about" in m["msg"].get("result", {})]
    assert recorded_result["about"].startswith("session [REDACTED") and recorded_result["about"].endswith("!")


def test_a_stream_that_the_server_ends_ends_the_session(http_sse_server, record):
    program = record(http_sse_server())
    sse_client = HttpSseClient(program)
    sse_client.initialize()
    assert sse_client.post(call(1, "tools/call", name="end")).status == 202
    with pytest.raises(ConnectionEnded):
        sse_client.event("message")
    assert sse_client.post(call(2, "ping")).status == 404
    lines = recorded(program)
    (end,) = records_of(lines, "http", ev="end", exchange=1)
    assert (end["by"], end["clean"]) == ("server", True) and "why" not in end
    assert [p["state"] for p in records_of(lines, "http", ev="request", method="POST")] == ["live", "live", "ended"]


def test_a_client_that_tries_streamable_http_first_falls_back(http_sse_server, record, start):
    program = record(http_sse_server())
    http_response = program.client().post(call(0, "initialize", protocolVersion="2025-11-25"), path="/a/sse")
    assert (http_response.status, http_response.get("allow"), http_response.body) == (405, "GET", b"no posts here")
    sse_client = HttpSseClient(program)
    received = steps(sse_client)
    sse_client.disconnect()
    recorded(program)

    replay = start("replay", program.file, "--match", "by-request")
    http_response = replay.client().post(call(5, "initialize", protocolVersion="2025-06-18"), path="/a/sse")
    assert (http_response.status, http_response.get("allow"), http_response.body) == (405, "GET", b"no posts here")
    assert steps(HttpSseClient(replay)) == received
    # At other paths it serves Streamable HTTP, too.
    http_response = replay.client().post(call(5, "initialize", protocolVersion="2024-11-05", capabilities={}), path="/mcp")
    assert http_response.status == 200 and http_response.get("mcp-session-id") and http_response.json["result"]["serverInfo"]["name"] == "s"


def test_a_client_of_streamable_http_only_gets_a_hint(http_sse_server, record):
    """The response has only a status; standard error has its meaning."""
    program = record(http_sse_server())
    for n in range(2):
        assert program.client().post(call(n, "initialize", protocolVersion="2025-11-25"), path="/a/sse").status == 405
    recorded(program)
    assert program.err.count("speaks legacy HTTP+SSE") == 1 and "-- mcpreel record --url URL" in program.err


def test_a_stdio_recording_is_served_over_http_sse(mcpreel, run, start, tmp_path):
    assert run([mcpreel, "demo", "-o", tmp_path / "demo.jsonl"]).code == 0
    sse_client = HttpSseClient(start("replay", tmp_path / "demo.jsonl"), "/sse")
    assert sse_client.initialize()[-1]["result"]["serverInfo"]
    assert sse_client.request(call("x", "tools/list"))[-1]["result"]["tools"]


def test_a_recording_of_several_transports_is_served_to_each(mcpreel, start, tmp_path):
    """Sessions of Streamable HTTP have an id, those of HTTP+SSE have none: neither is a finding about the other."""
    initialize_request = call(0, "initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={"name": "c", "version": "1"})
    program = start("record", "-o", tmp_path / "r.jsonl", "--upstream", f"'{mcpreel}' demo server")
    first = program.client().post(initialize_request, path="/mcp")
    assert first.get("mcp-session-id")
    program.client().send_request(method="GET", path="/mcp", headers=[("Accept", "text/event-stream")])  # which is refused
    sse_client = HttpSseClient(program, "/sse")
    received = [sse_client.initialize(), sse_client.request(call(1, "tools/list"))]
    sse_client.disconnect()
    assert program.stop() == 0, program.err

    replay = start("replay", tmp_path / "r.jsonl")
    assert replay.client().post(initialize_request, path="/mcp").json == first.json
    sse_client = HttpSseClient(replay, "/sse")
    assert [sse_client.initialize(), sse_client.request(call(1, "tools/list"))] == received

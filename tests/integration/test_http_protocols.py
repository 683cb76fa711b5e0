"""A recording over HTTP of clients of both protocol generations, replayed to either: each gets the responses of its own generation."""
import itertools
import json

import pytest

from http_peers import Program, call, result

STAMP = "2026-11-15T21:00:00.000Z"
NEWER = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": NEWER, "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


class RecordingBuilder:
    """A recording made by hand, exchange by exchange."""

    def __init__(self):
        self.seq, self.exchange = itertools.count(1), itertools.count(1)
        self.lines = [{"type": "header", "version": "1.0", "recorded_at": STAMP, "upstream": "http://127.0.0.1/mcp",
                       "thoughtjack_version": "0.3.0", "transport": "http"}]

    def message(self, direction, message, where):
        self.lines.append({"type": "message", "seq": next(self.seq), "ts": STAMP, "dir": direction, "msg": message, **where})

    def post(self, request, response, headers=(), session=None, new_session=None):
        where = {"exchange": next(self.exchange), **({"session": session} if session else {})}
        self.lines.append({"type": "http", "ev": "request", **where, "state": "live" if session else "none", "method": "POST",
                           "path": "/mcp", "host": "self", "origin": "none", "body": "message",
                           "headers": [["Accept", "application/json, text/event-stream"], ["Content-Type", "application/json"],
                                       *headers]})
        self.message("c2s", request, where)
        where |= {"session": new_session} if new_session else {}
        self.lines.append({"type": "http", "ev": "response", **where, "status": 200, "by": "server", "media": "json",
                           **({"mints_session": True} if new_session else {}), "headers": [["Content-Type", "application/json"]]})
        self.message("s2c", response, where)
        self.lines.append({"type": "http", "ev": "end", **where, "by": "server", "clean": True})

    def add_initialize(self, session, version):
        self.post(call(0, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "c", "version": "1"}),
                  result(0, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}),
                  new_session=session)

    def add_stateful_call(self, session, version, request_id, text, **params):
        self.post(call(request_id, "tools/call", **params), result(request_id, {"content": text}),
                  [["MCP-Protocol-Version", version]], session)

    def add_stateless_call(self, request_id, text, **params):
        self.post(call(request_id, "tools/call", **params, _meta=META),
                  result(request_id, {"resultType": "complete", "content": text}), stateless_headers(params["name"]))

    def save(self, path):
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path


def stateless_headers(name, method="tools/call"):
    return [("MCP-Protocol-Version", NEWER), ("Mcp-Method", method), *([("Mcp-Name", name)] if name else [])]


@pytest.fixture
def recording(tmp_path):
    """Three clients in turn: 2025-03-26, 2026-07-28 and 2025-11-25, all with the same ids and arguments."""
    builder = RecordingBuilder()
    builder.add_stateless_call(1, "newer one", name="t", arguments={"n": 1})
    builder.add_initialize(1, "2025-03-26")
    builder.add_initialize(2, "2025-11-25")
    builder.add_stateless_call(2, "newer two", name="t", arguments={"n": 2})
    for session, version in ((1, "2025-03-26"), (2, "2025-11-25")):
        builder.add_stateful_call(session, version, 1, f"{version} one", name="t", arguments={"n": 1})
        builder.add_stateless_call(session + 2, "newer only", name=f"newer-{session}", arguments={})
        builder.add_stateful_call(session, version, 2, f"{version} two", name="t", arguments={"n": 2})
    builder.add_stateful_call(2, "2025-11-25", 3, "older only", name="older", arguments={})
    return builder.save(tmp_path / "both-protocols.jsonl")


@pytest.fixture
def replay(mcpreel, recording):
    started = []

    def start(*words):
        started.append(Program([mcpreel, "replay", recording, "--listen", "127.0.0.1:0", *words]))
        return started[-1]

    yield start
    for program in started:
        program.close()


def stateful_client(program, version):
    """A client with its session: a function that makes a call."""
    client = program.client()
    response = client.post(call(0, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "c", "version": "1"}))
    assert response.json["result"]["protocolVersion"] == version
    headers = [("Mcp-Session-Id", response.get("mcp-session-id")), ("MCP-Protocol-Version", version)]
    return lambda **params: client.post(call("x", "tools/call", **params), headers=headers).json["result"]


def stateless_client(program):
    client = program.client()
    return lambda **params: client.post(call("x", "tools/call", **params, _meta=META),
                                        headers=stateless_headers(params["name"])).json["result"]


@pytest.mark.parametrize("how", ["sequential", "by-request", "fuzzy", "strict"])
@pytest.mark.parametrize("first", ["2025-11-25", "2025-03-26", NEWER])
def test_each_client_gets_the_responses_of_its_protocol(replay, how, first):
    program = replay("--match", how)
    for version in sorted(["2025-11-25", "2025-03-26", NEWER], key=lambda one: one != first) * 2:
        send_call = stateless_client(program) if version == NEWER else stateful_client(program, version)
        for n, word in ((1, "one"), (2, "two")):
            got = send_call(name="t", arguments={"n": n})
            if version == NEWER:
                assert got == {"resultType": "complete", "content": f"newer {word}"}
            else:
                assert got == {"content": f"{version} {word}"}
    assert program.stop() == 0, program.err


def test_a_call_of_the_other_protocol_is_converted(replay):
    program = replay("-v")
    assert stateful_client(program, "2025-11-25")(name="newer-1", arguments={})["content"] == "newer only"
    assert stateless_client(program)(name="older", arguments={}) == {"content": "older only", "resultType": "complete"}
    assert program.stop() == 0
    assert program.err.count("of another protocol") == 2, program.err


@pytest.mark.parametrize("how", ["sequential", "by-request", "fuzzy"])
def test_a_used_call_is_not_replaced_by_one_of_the_other_protocol(replay, how):
    program = replay("--match", how, "--on-unmatched", "warn")
    client = program.client()
    response = client.post(call(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"}))
    headers = [("Mcp-Session-Id", response.get("mcp-session-id"))]
    texts = []
    for _ in range(10):
        response = client.post(call(1, "tools/call", name="t", arguments={"n": 1}), headers=headers).json
        if "error" in response:
            break
        texts.append(response["result"]["content"])
    assert response["error"]["data"]["reason"] == "exhausted"
    assert texts and not [text for text in texts if "newer" in text]


def test_text_of_the_client_is_not_logged(replay):
    program = replay("-vv")
    for request in ("GET /canary-1?key=canary-2 HTTP/1.1\r\nHost: canary-3@a.example\r\n\r\n",
                    "GET /canary-1 HTTP/1.1\r\nHost: a.example\r\n\r\n",
                    "POST /canary-1?key=canary-2 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Accept: application/json, text/event-stream\r\nContent-Length: 2\r\n\r\n[]",
                    "GET /.well-known/canary-1 HTTP/1.1\r\nHost: localhost\r\nCookie: canary-2\r\n\r\n",
                    "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://canary-4@b.example/canary-1?canary-2\r\n\r\n",
                    "PUT /canary-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer canary-2\r\nContent-Length: 0\r\n\r\n"):
        client = program.client()
        client.send(request.encode())
        assert client.read_response().status >= 400
    assert program.stop() == 0
    assert "rejected an HTTP request for host 'a.example'" in program.err
    assert "canary" not in program.err, program.err

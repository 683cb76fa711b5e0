"""The spellings of mcp-recorder do what mcp-recorder does (findings M3 to M6)."""
import json
import re

import pytest

from http_peers import BOTH, Program, Upstream, call, initialize, lines_of, records_of, result


def interaction(request, response=None, sse=False, status=200):
    kind = "jsonrpc_request" if "id" in request else "notification"
    return {"type": kind, "request": request, "response": response, "response_is_sse": sse, "response_status": status, "latency_ms": 1,
            "http_method": None, "http_path": None}


INITIALIZE_RESULT = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
CASSETTE = {
    "version": "1.0",
    "metadata": {"recorded_at": "2026-02-17T20:25:23.855390+00:00", "server_url": "http://127.0.0.1:8000", "transport_type": "http",
                 "protocol_version": "2025-11-25", "server_info": INITIALIZE_RESULT["serverInfo"]},
    "interactions": [
        interaction(initialize(), result(0, INITIALIZE_RESULT), sse=True),
        interaction({"jsonrpc": "2.0", "method": "notifications/initialized"}, status=202),
        interaction(call(1, "tools/list"), result(1, {"tools": []}), sse=True),
        interaction(call(2, "tools/call", name="a", arguments={"n": 1}), result(2, {"content": []})),
        {"type": "lifecycle", "request": None, "response": None, "response_is_sse": False, "response_status": 405, "latency_ms": 1,
         "http_method": "DELETE", "http_path": "/mcp"},
    ],
}


@pytest.fixture
def program(mcpreel, tmp_path):
    started = []

    def start(*words):
        started.append(Program([mcpreel, *words], cwd=tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def cassette(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(CASSETTE))
    return "c.json"


@pytest.fixture
def upstream():
    made = []

    def make(*serve):
        made.append(Upstream(*serve))
        return made[-1]

    yield make
    for server in made:
        server.close()


# --- M4

def test_a_cassette_is_served_without_a_session(program, cassette):
    replay = program("replay", "--cassette", cassette, "--listen", "0")
    client = replay.client()
    assert client.post(call(5, "tools/call", name="a", arguments={"n": 1})).json == result(5, {"content": []})
    for headers in [], [("Mcp-Session-Id", "unknown")]:
        client.send_request(method="DELETE", headers=headers)
        assert client.read_response().status == 200
    listed = client.post(call(6, "tools/list"), headers=[("Mcp-Session-Id", "unknown")])
    assert (listed.status, listed.get("content-type")) == (200, "text/event-stream")
    assert replay.stop() == 0


def test_a_response_recorded_as_sse_is_sent_as_sse(program, cassette):
    replay = program("replay", "--cassette", cassette, "--listen", "0")
    client = replay.client()
    for request, value, media in ((initialize(7), INITIALIZE_RESULT, "text/event-stream"), (call(8, "tools/list"), {"tools": []}, "text/event-stream"),
                                  (call(9, "tools/call", name="a", arguments={"n": 1}), {"content": []}, "application/json")):
        response = client.post(request)
        assert (response.status, response.get("content-type")) == (200, media)
        text = response.body.decode()
        assert json.loads(text.partition("data: ")[2] if media == "text/event-stream" else text) == result(request["id"], value)
    assert client.post(call(9, "tools/call", name="a", arguments={"n": 2}), headers=[BOTH]).json["error"]["code"] == -32600
    assert replay.stop() == 0


# --- M5 and M6

@pytest.mark.parametrize("path, expected_path", [
    ("", {"/": "/mcp", "/mcp": "/mcp", "/v1/mcp?a=b": "/v1/mcp?a=b"}),
    ("/api", {"/": "/api", "/mcp": "/api/mcp", "/api": "/api", "/mcp/": "/api/mcp/", "/x/mcp?a=b": "/api/x/mcp?a=b"}),
    ("/api/", {"/": "/api/", "/mcp": "/api/mcp"}),
    ("/v1/mcp", {"/": "/v1/mcp", "/mcp": "/v1/mcp", "/v1/mcp": "/v1/mcp"}),
])
def test_the_clients_path_is_appended_to_the_target(path, expected_path, program, upstream, tmp_path):
    server = upstream()
    given = f"http://127.0.0.1:{server.port}{path}"
    record = program("record", "--target", given, "--listen", "0", "--output", "made/on the way/golden.json")
    client = record.client()
    for i, at in enumerate(expected_path):
        assert client.post(call(i), path=at).json == result(i, {"said": "ping"})
    client.send_request(method="GET", path="/.well-known/oauth-protected-resource")
    client.read_response()
    assert record.stop() == 0, record.err
    assert [r.target for r in server.requests] == [*expected_path.values(), "/.well-known/oauth-protected-resource"]
    golden = json.loads((tmp_path / "made/on the way/golden.json").read_text())
    assert [i["request"]["id"] for i in golden["interactions"] if i["request"]] == list(range(len(expected_path)))
    assert golden["metadata"]["server_url"] == f"http://127.0.0.1:{server.port}" + ("/[REDACTED]" if path else "")


@pytest.mark.parametrize("path", ["", "/api"])
def test_the_target_is_recorded_as_given(path, program, upstream, tmp_path):
    server = upstream()
    given = f"http://127.0.0.1:{server.port}{path}"
    record = program("record", "--target", given, "--no-redact-server-url", "--listen", "0")
    record.client().post(call(1))
    assert record.stop() == 0
    assert json.loads((tmp_path / "recording.json").read_text())["metadata"]["server_url"] == given


def test_with_native_options_other_paths_are_those_of_the_server(program, upstream, tmp_path):
    server = upstream()
    record = program("record", "--url", f"http://127.0.0.1:{server.port}/api", "--listen", "0", "-o", "r.jsonl")
    record.client().post(call(1), path="/mcp")
    assert record.stop() == 0
    assert [r.target for r in server.requests] == ["/mcp"] and not records_of(lines_of(tmp_path / "r.jsonl"), "message")


def test_missing_folders_are_created_for_a_command(program, mcpreel, tmp_path):
    record = program("record", "--target-stdio", f"'{mcpreel}' demo server", "--listen", "0", "--output", "a/b/golden.json")
    assert record.client().post(initialize()).status == 200
    assert record.stop() == 0
    assert len(json.loads((tmp_path / "a/b/golden.json").read_text())["interactions"]) == 1


def test_replay_accepts_the_passthrough_server_as_target(program, cassette, upstream):
    server = upstream()
    replay = program("replay", "--cassette", cassette, "--on-unmatched", "passthrough", "--target", f"http://127.0.0.1:{server.port}",
                     "--listen", "0")
    client = replay.client()
    client.post(initialize())
    assert client.post(call(3, "tools/call", name="b", arguments={})).json == result(3, {"said": "tools/call"})
    assert {r.target for r in server.requests} == {"/mcp"}
    assert replay.stop() == 0


# --- M3

SECRETS = {"Authorization": "Bearer canary-a", "Cookie": "canary-b", "X-Api-Key": "canary-c", "Mcp-Session-Id": "canary-d",
           "X-Signature": "canary-f", "DPoP": "canary-g", "X-Session": "canary-h"}


def test_verbose_logs_headers_and_bodies(program, upstream):
    def serve(conn):
        while request := conn.request():
            conn.respond(json_=result(request.json["id"], {"text": "x" * 5000}), headers=[("Set-Cookie", "canary-e"), ("X-Said", "this")])

    server = upstream(serve)
    record = program("record", "--target", server.url, "--listen", "0", "--verbose")
    record.client().post(call(1, "tools/list"), headers=[*SECRETS.items(), ("X-Asked", "that")])
    assert record.stop() == 0
    error_lines = record.err.splitlines()
    for line in ("> POST /mcp", "> X-Asked: that", "< HTTP 200", "< X-Said: this", '> {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'):
        assert "mcpreel: " + line in error_lines, record.err
    for name in (*SECRETS, "Set-Cookie"):
        assert re.search(f"^mcpreel: [<>] {name}: \\[masked, [0-9]+ bytes\\]$", record.err, re.M), record.err
    assert "canary" not in record.err
    assert sum(map(len, re.findall("x{500,}", record.err))) == 5000  # in pieces


def test_verbose_logs_the_clients_of_a_command_too(program, mcpreel):
    record = program("record", "--target-stdio", f"'{mcpreel}' demo server", "--listen", "0", "--verbose")
    record.client().post(initialize(), headers=[(name, value) for name, value in SECRETS.items() if name != "Mcp-Session-Id"])
    assert record.stop() == 0
    assert "mcpreel: > POST /mcp\n" in record.err and "mcpreel: < HTTP 200\n" in record.err and "canary" not in record.err
    assert 'mcpreel: > {"jsonrpc": "2.0", "id": 0, "method": "initialize"' in record.err and '"serverInfo"' in record.err


@pytest.mark.parametrize("words", [["--target"], ["--url", "-v"]])
def test_without_verbose_headers_and_bodies_are_not_logged(words, program, upstream):
    record = program("record", words[0], upstream().url, *words[1:], "--listen", "0", "-o", "r.jsonl")
    record.client().post(call(1))
    assert record.stop() == 0
    assert "> POST" not in record.err and "jsonrpc" not in record.err


def test_verbose_logs_every_matched_request(program, cassette):
    for verbose in (["--verbose"], []):
        replay = program("replay", "--cassette", cassette, *verbose, "--listen", "0")
        client = replay.client()
        client.post(call(5, "tools/call", name="a", arguments={"n": 1}))
        client.post(call(6, "tools/list"))
        assert replay.stop() == 0
        assert replay.err.count("tools/call a: matched #6\n") == replay.err.count("tools/list: matched #4\n") == len(verbose), replay.err

"""The recording of 'mcpreel record --url' for clients and servers on HTTP, and its messages for errors.

The bytes on the sockets are the affair of test_http_relay.
"""
import base64
import gzip
import json
import os
import random
import re
import signal
import socket
import stat
import subprocess
import threading

import pytest

from http_peers import ConnectionEnded, Program, Upstream, call, initialize, lines_of, records_of, result, no_response_after, valid_lines_of
SESSION = "session-canary-3f9a1c7e55"


@pytest.fixture
def upstream():
    made = []

    def make(serve=None, **more):
        made.append(Upstream(serve, **more) if serve else Upstream(**more))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start(url, *options, file=tmp_path / "r.jsonl", listen="127.0.0.1:0", **more):
        words = [mcpreel, "record", "--url", url, *(["--listen", listen] if listen else []), *(["-o", file] if file else []), *options]
        started.append(Program(words, **more))
        started[-1].file = file
        return started[-1]

    yield start
    for program in started:
        program.close()


def recorded(program, code=0):
    assert program.stop() == code, program.err
    return valid_lines_of(program.file)


def messages(lines, **members):
    return [line["msg"] for line in records_of(lines, "message", **members)]


def initialize_response(request_id, version="2025-11-25"):
    return result(request_id, {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}})


def serve_sessions(conn):
    """A server of 2025-11-25 with one session, of which every request gets a stream of three events."""
    while request := conn.request():
        if request.method == "DELETE":
            conn.respond(204)
        elif request.method == "GET":
            conn.sse()
            conn.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, id="get-1")
            conn.last()
        elif request.json.get("method") == "initialize":
            conn.respond(json_=initialize_response(request.json["id"]), headers=[("Mcp-Session-Id", SESSION)])
        elif request.get("mcp-session-id") != SESSION:
            conn.respond(404, json_={"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no such session"}})
        elif "id" not in request.json:
            conn.respond(202)
        else:
            conn.sse()
            name = f"{request.json['id']}-"
            conn.event("", id=name + "1", retry=500)
            conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}, event="message",
                       id=name + "2")
            conn.event(result(request.json["id"], {"content": []}), event="message", id=name + "3")
            conn.last()


IN_SESSION = [("Mcp-Session-Id", SESSION), ("MCP-Protocol-Version", "2025-11-25")]


def test_a_session_is_recorded_completely(upstream, record):
    program = record(upstream(serve_sessions).url)
    client = program.client()
    client.post(initialize())
    client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=IN_SESSION)
    client.post(call(7, "tools/call", name="t", arguments={}), headers=IN_SESSION)
    other = program.client()
    other.send_request(method="GET", headers=IN_SESSION)
    assert "list_changed" in other.read_response().body.decode()
    other.send_request(method="DELETE", headers=IN_SESSION)
    assert other.read_response().status == 204
    assert client.post(call(8, "ping"), headers=[("Mcp-Session-Id", "of-somebody-else")]).status == 404
    lines = recorded(program)

    request_records = records_of(lines, "http", ev="request")
    assert [(a["exchange"], a["conn"], a.get("session"), a["method"], a["state"], a["body"]) for a in request_records] == [
        (1, 1, None, "POST", "none", "message"), (2, 1, 1, "POST", "live", "message"), (3, 1, 1, "POST", "live", "message"),
        (4, 2, 1, "GET", "live", "empty"), (5, 2, 1, "DELETE", "live", "empty"), (6, 1, None, "POST", "unknown", "message")]
    response_records = records_of(lines, "http", ev="response")
    assert [(a["status"], a["by"], a["media"], a.get("stream"), a.get("mints_session", False)) for a in response_records] == [
        (200, "server", "json", None, True), (202, "server", "none", None, False), (200, "server", "sse", 1, False),
        (200, "server", "sse", 2, False), (204, "server", "none", None, False), (404, "server", "json", None, False)]
    ended = records_of(lines, "http", ev="end")
    assert [(e["exchange"], e["by"], e["clean"]) for e in ended] == [(n, "server", True) for n in range(1, 7)]

    assert records_of(lines, "sse") == [{"type": "sse", "n": 1, "id": "7-1", "retry": 500, "data": "", "us": records_of(lines, "sse")[0]["us"],
                                 "exchange": 3, "stream": 1}]
    assert [(m["event"], m["stream"], m["exchange"]) for m in records_of(lines, "message") if "event" in m] == [
        ({"n": 2, "id": "7-2", "event": "message"}, 1, 3), ({"n": 3, "id": "7-3", "event": "message"}, 1, 3),
        ({"n": 1, "id": "get-1"}, 2, 4)]
    assert [m["seq"] for m in records_of(lines, "message")] == list(range(1, len(records_of(lines, "message")) + 1))
    assert lines[0]["transport"] == "http" and "command" not in lines[0]
    assert lines[-1]["exit_code"] == 0 and lines[-1]["protocol_version"] == "2025-11-25"
    assert [line["us"] for line in lines] == sorted(line["us"] for line in lines)


def test_a_deleted_session_is_recorded_as_ended(upstream, record):
    program = record(upstream(serve_sessions).url)
    client = program.client()
    client.post(initialize())
    client.send_request(method="DELETE", headers=IN_SESSION)
    client.read_response()
    client.post(call(1), headers=IN_SESSION)
    states = [a["state"] for a in records_of(recorded(program), "http", ev="request")]
    assert states == ["none", "live", "ended"]


def test_a_resumed_stream_is_recorded_as_such(upstream, record):
    def serve(conn):
        while request := conn.request():
            conn.sse()
            if request.method == "POST":
                conn.event("", id="a-1", retry=1)
                conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}, id="a-2")
                return conn.reset()  # before the answer
            conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}, id="a-2")
            conn.event(result(5), id="a-3")
            conn.last()

    program = record(upstream(serve).url)
    client = program.client()
    client.send_request(call(5, "tools/call", name="t"))
    assert client.head().status == 200
    with pytest.raises(ConnectionEnded):
        while True:
            client.event()
    again = program.client()
    again.send_request(method="GET", headers=[("Last-Event-ID", "a-1")])
    assert again.read_response().status == 200
    lines = recorded(program)
    assert [a.get("resumes") for a in records_of(lines, "http", ev="response")] == [None, {"stream": 1, "after": 1}]
    assert [(e["by"], e["clean"]) for e in records_of(lines, "http", ev="end")] == [("server", False), ("server", True)]
    assert [(m["msg"].get("id"), m["stream"], m.get("redelivers")) for m in records_of(lines, "message", dir="s2c")] == [
        (None, 1, None), (None, 2, 2), (5, 2, None)]


def test_event_ids_that_are_unique_per_stream_are_no_redelivery(upstream, record):
    def serve(conn):
        while request := conn.request():
            conn.sse()
            conn.event(result(request.json["id"]), id="1")
            conn.last()

    program = record(upstream(serve).url)
    client = program.client()
    for n in range(3):
        client.post(call(n))
    lines = recorded(program)
    assert [m["msg"]["id"] for m in records_of(lines, "message", dir="s2c")] == [0, 1, 2]
    assert not [m for m in records_of(lines, "message") if "redelivers" in m]


def test_each_element_of_a_batch_is_a_line(upstream, record):
    def serve(conn):
        while request := conn.request():
            conn.respond(json_=[result(m["id"]) for m in request.json])

    program = record(upstream(serve).url)
    assert program.client().post([call(1), call(2)]).status == 200
    lines = recorded(program)
    assert [(m["dir"], m["msg"]["id"], m["batch"]["index"], m["batch"]["count"]) for m in records_of(lines, "message")] == [
        ("c2s", 1, 0, 2), ("c2s", 2, 1, 2), ("s2c", 1, 0, 2), ("s2c", 2, 1, 2)]
    assert records_of(lines, "http", ev="request")[0]["body"] == "batch"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_compressed_body_is_decompressed_in_the_recording_only(upstream, record, tmp_path, coding, stream):
    def pack(data):
        if coding == "gzip":
            return gzip.compress(data)
        return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout

    body = json.dumps(result(1, {"packed": "yes"})).encode()
    packed = pack(b"data: " + body + b"\n\n" if stream else body)

    def serve(conn):
        conn.request()
        kind = "text/event-stream" if stream else "application/json"
        conn.respond(200, packed, [("Content-Type", kind), ("Content-Encoding", coding)])

    server = upstream(serve)
    program = record(server.url)
    response = program.client().post(call(1), headers=[("Accept-Encoding", "br, deflate;q=0.9, gzip, zstd;q=0.5, *;q=0.1")])
    assert response.body == packed and response.get("content-encoding") == coding
    assert server.requests[0].get("accept-encoding") == "gzip, zstd;q=0.5"
    lines = recorded(program)
    assert messages(lines, dir="s2c") == [json.loads(body)]
    assert not records_of(lines, "gap")


def test_a_body_that_cannot_be_decompressed_is_a_gap(upstream, record):
    def serve(conn):
        conn.request()
        conn.respond(200, b"\x0b\x02\x80{}\x03", [("Content-Type", "application/json"), ("Content-Encoding", "br")])

    program = record(upstream(serve).url)
    assert program.client().post(call(1)).body == b"\x0b\x02\x80{}\x03"
    gaps = records_of(recorded(program), "gap")
    assert [(g["from"], g["bytes"]) for g in gaps] == [("server", 6)]


def test_a_body_that_is_not_a_message_is_recorded_raw(upstream, record):
    def serve(conn):
        conn.request()
        conn.respond(400, b"Invalid message: \xff", [("Content-Type", "text/plain")])
        conn.request()
        conn.respond(500, b"<html>sorry</html>", [("Content-Type", "text/html")])

    program = record(upstream(serve).url)
    client = program.client()
    assert client.post(None, body=b"{not json").status == 400
    assert client.post(call(1)).status == 500
    lines = recorded(program)
    assert [(r["from"], r.get("text") or base64.b64decode(r["base64"]), r["exchange"]) for r in records_of(lines, "raw")] == [
        ("client", "{not json", 1), ("server", b"Invalid message: \xff", 1), ("server", "<html>sorry</html>", 2)]
    assert records_of(lines, "http", ev="request")[0]["body"] == "raw"


def test_a_rejected_client_is_recorded(upstream, record):
    server = upstream()
    program = record(server.url)
    client = program.client()
    assert client.post(call(1), headers=[("Origin", "https://evil.example")]).status == 403
    assert program.client().post(call(1), headers=[("Host", "evil.example")]).status == 403
    assert program.client().post(call(1), headers=[("Content-Type", "text/plain")]).status == 415
    assert not server.seen
    lines = recorded(program)
    assert [(a["status"], a["by"]) for a in records_of(lines, "http", ev="response")] == [
        (403, "mcpreel"), (403, "mcpreel"), (415, "mcpreel")]
    assert [(e["by"], e["why"]) for e in records_of(lines, "http", ev="end")] == [
        ("mcpreel", "Origin is not allowed; see --allow-origin"),
        ("mcpreel", "Host is not allowed; see --allow-host"), ("mcpreel", "Content-Type must be application/json")]
    assert [a["host"] for a in records_of(lines, "http", ev="request")] == ["self", "other", "self"]
    assert [a["origin"] for a in records_of(lines, "http", ev="request")] == ["other", "none", "none"]


def test_a_client_that_disconnects_during_a_stream_is_recorded(upstream, record):
    disconnected = threading.Event()

    def serve(conn):
        conn.request()
        conn.sse()
        conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        conn.wait_end()
        disconnected.set()

    program = record(upstream(serve).url)
    client = program.client()
    client.send_request(call(1))
    client.head()
    client.event()
    client.close()
    assert disconnected.wait(30)
    lines = recorded(program)
    assert [(e["by"], e["clean"]) for e in records_of(lines, "http", ev="end")] == [("client", False)]
    assert messages(lines, dir="s2c") == [{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}]


def test_open_exchanges_are_ended_at_the_end(upstream, record):
    requested = threading.Event()
    program = record(upstream(no_response_after(requested)).url)
    client = program.client()
    client.send_request(call(1))
    assert requested.wait(30)
    lines = recorded(program)
    assert messages(lines) == [call(1)]
    assert [(e["by"], e["clean"]) for e in records_of(lines, "http", ev="end")] == [("mcpreel", False)]


def test_bodies_of_other_paths_are_not_recorded(upstream, record):
    def serve(conn):
        while conn.request():
            conn.respond(200, b'{"access_token":"token-canary-77aa"}', [("Content-Type", "application/json")])

    server = upstream(serve)
    program = record(server.url)
    response = program.client().post({"client_secret": "secret-canary-12"}, path="/token?code=code-canary-55")
    assert b"token-canary" in response.body
    assert (server.requests[0].target, server.requests[0].json) == ("/token?code=code-canary-55", {"client_secret": "secret-canary-12"})
    lines = recorded(program)
    assert [a["path"] for a in records_of(lines, "http", ev="request")] == ["/token"]
    assert "canary" not in program.file.read_text() + program.err
    assert program.err.count("requests to '/token' are forwarded, but only their headers are recorded") == 1


# --- Secrets


CANARIES = {
    "Authorization": "Bearer eyJ.canary-bearer-1.x", "Cookie": "sid=canary-cookie-2; other=canary-cookie-3",
    "X-Api-Key": "canary-api-key-4", "X-Whatever": "canary-unknown-5", "Proxy-Authorization": "Basic canary-proxy-6",
    "Mcp-Session-Id": "canary-session-7",
}


def test_header_values_are_neither_recorded_nor_logged(upstream, record):
    def serve(conn):
        while conn.request():
            conn.respond(json_=result(1), headers=[("Set-Cookie", "canary-set-cookie-8"), ("Mcp-Session-Id", "canary-session-9"),
                                                  ("X-Trace", "canary-trace-10"), ("Location", "/canary-location-11")])

    server = upstream(serve)
    program = record(server.url, "-vv")
    client = program.client()
    assert client.post(call(1), headers=CANARIES.items()).status == 200
    client.post(call(1), headers=[*CANARIES.items(), ("Origin", "http://canary-origin-12.example")])
    assert server.requests[0].get("authorization") == CANARIES["Authorization"]
    lines = recorded(program)
    assert "canary" not in program.file.read_text() + program.err + program.out
    names = [n for n, _ in records_of(lines, "http", ev="request")[0]["headers"]]
    assert set(CANARIES) <= set(names), "their names are kept"
    assert records_of(lines, "http", ev="request")[0]["auth"] is True


def test_headers_of_the_command_line_are_sent_and_redacted(upstream, record):
    def serve(conn):
        while request := conn.request():
            conn.respond(json_=result(1, {"echo": [request.get("authorization"), "=" + request.get("x-key")]}))

    server = upstream(serve)
    program = record(server.url, "-vv", "--header", "X-Key: canary-given-8fe2", "--header-env", "Authorization=MY_AUTH",
                     env={"MY_AUTH": "Bearer canary-from-env-11"})
    response = program.client().post(call(1), headers=[("Authorization", "Bearer of the client's")])
    assert response.json["result"]["echo"] == ["Bearer canary-from-env-11", "=canary-given-8fe2"]
    assert server.requests[0].all("authorization") == ["Bearer canary-from-env-11"]
    lines = recorded(program)
    assert "canary" not in program.file.read_text() + program.err + program.out
    assert messages(lines, dir="s2c")[0]["result"]["echo"][1] == "=[REDACTED:X-Key]"


def test_the_password_of_a_url_is_sent_and_never_printed(upstream, record):
    def serve(conn):
        request = conn.request()
        name, _, password = base64.b64decode(request.get("authorization").split()[1]).decode().partition(":")
        conn.respond(json_=result(1, {"echo": password}))

    server = upstream(serve)
    program = record(server.url.replace("//", "//somebody:canary%2Dpass-42@"), "-vv")
    assert program.client().post(call(1)).json["result"]["echo"] == "canary-pass-42"
    lines = recorded(program)
    assert "canary" not in program.file.read_text() + program.err + program.out + program.first
    assert lines[0]["upstream"] == f"http://127.0.0.1:{server.port}/mcp"


@pytest.mark.parametrize("path", ["/zqkdhfpwoeirutyal/mcp", "/123456789012/mcp", "/mcp?key=zqkdhfpw", "/a1b2c3d4/sse?k=1234567", "/key"])
@pytest.mark.parametrize("defaults", [True, False])
def test_the_path_of_the_server_is_not_recorded(upstream, record, run, mcpreel, path, defaults):
    def serve(conn):
        while request := conn.request():
            metadata = f'Bearer resource_metadata="http://h/.well-known/oauth-protected-resource{path.split("?")[0]}"'
            conn.respond(json_=result(1), headers=[("WWW-Authenticate", metadata)])

    server = upstream(serve)
    program = record(f"http://127.0.0.1:{server.port}{path}", "-vv", *([] if defaults else ["--no-redact-defaults"]))
    for requested_path in (path, "/", "/.well-known/oauth-protected-resource" + path):
        assert program.client().post(call(1), path=requested_path).status == 200
    lines = recorded(program)
    assert len(records_of(lines, "http", ev="request")) == 3 and len(messages(lines)) == 4
    output = program.file.read_text() + program.err + program.out + program.first
    assert not [part for part in [*re.split("[/?=]", path), path] if len(part) > 3 and part in output]
    assert run([mcpreel, "check", "--secrets", program.file]).code == 0


def test_an_ordinary_path_is_recorded(upstream, record):
    program = record(upstream().url, "-vv")
    assert program.client().post(call(1), path="/mcp").status == 200
    assert records_of(recorded(program), "http", ev="request")[0]["path"] == "/mcp"


def test_the_session_id_of_an_endpoint_event_is_not_recorded(upstream, record):
    def serve(conn):
        conn.request()
        conn.sse()
        conn.event(f"/messages?sessionId={SESSION}", event="endpoint")
        conn.last()

    program = record(upstream(serve).url)
    client = program.client()
    client.send_request(method="GET", headers=[("Accept", "text/event-stream")])
    assert SESSION in client.read_response().body.decode()
    assert records_of(recorded(program), "sse")[0]["data"] == "/messages?sessionId=[REDACTED]"
    assert SESSION not in program.file.read_text()


def test_a_too_short_password_is_not_printed(upstream, record):
    server = upstream()
    program = record(server.url.replace("//", "//u1:q7%21@"), "-vv", "--no-redact-server-url")
    assert program.client().post(call(1)).status == 200
    assert recorded(program)[0]["upstream"] == server.url
    assert "q7" not in program.file.read_text() + program.err + program.first


def test_a_path_that_looks_like_a_key_is_not_printed(upstream, record):
    server = upstream()
    program = record(f"http://127.0.0.1:{server.port}/fc-0123456789abcdefcanary/mcp", "-vv")
    assert program.path == "/"
    client = program.client()
    client.post(call(1))
    client.post(call(2), path="/fc-0123456789abcdefcanary/mcp")
    assert [r.target for r in server.requests] == ["/fc-0123456789abcdefcanary/mcp"] * 2
    lines = recorded(program)
    assert len(messages(lines)) == 4
    assert "canary" not in program.file.read_text() + program.err + program.out + program.first


@pytest.mark.parametrize("options, expected_error", [
    (["--header-env", "Authorization=NOT_SET_canary"], "'--header-env': the variable for 'Authorization' is not set or empty"),
    (["--header-env", "Authorization"], "'--header-env' needs a header and a variable"),
    (["--header", "no colon canary"], "'--header' needs a valid header name and value"),
    (["--header", "X: canary\nY: 1"], "'--header' needs a valid header name and value"),
    (["--header", "Content-Length: 5"], "header 'Content-Length' cannot be set"),
])
def test_invalid_headers_are_rejected_without_printing_them(mcpreel, run, tmp_path, options, expected_error):
    ran = run([mcpreel, "record", "--url", "http://127.0.0.1:9/mcp", "--listen", "127.0.0.1:0", "-o", "r.jsonl", *options], cwd=tmp_path)
    assert ran.code == 2, ran
    assert ran.err.decode().splitlines()[0] == f"mcpreel: {expected_error}"
    assert b"canary" not in ran.err
    assert not list(tmp_path.iterdir())


# --- The command line


@pytest.mark.parametrize("words, expected_error", [
    (["--url", "http://127.0.0.1:9", "--listen", "0", "--", "true"], "two servers to record: a URL and a command"),
    (["--url", "http://127.0.0.1:9", "--target", "http://127.0.0.1:9"], "'--url' cannot be combined with '--target'"),
    (["--url", "http://127.0.0.1:9", "--listen", "0.0.0.0:0"], "'0.0.0.0:0' can be reached from other machines"),
    (["--url", "http://127.0.0.1:9", "--http", "*:0"], "'*:0' can be reached from other machines"),
    (["--target", "http://127.0.0.1:9", "--listen", "[::]:0"], "'[::]:0' can be reached from other machines"),
    (["--upstream-http", "http://127.0.0.1:9", "--http", "0x0:0"], "'0x0:0' can be reached from other machines"),
    (["--url", "http://127.0.0.1:9", "--listen", "0", "--port", "8"], "'--listen' cannot be combined with '--port'"),
    (["--header", "A: b", "--", "true"], "'--header' needs '--url'"),
    (["--ready-fd", "3", "--", "true"], "'--ready-fd' needs '--listen'"),
])
def test_contradicting_options_are_rejected(mcpreel, run, tmp_path, words, expected_error):
    ran = run([mcpreel, "record", "-o", "r.jsonl", *words], cwd=tmp_path)
    assert (ran.code, ran.err.decode().splitlines()[0]) == (2, f"mcpreel: {expected_error}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["ftp://h/", "http//h", "localhost:8000", "http://", "http://h:99999/", "http://a b/",
                                 "http://user:canary-pw@h:x/", ""])
def test_an_invalid_url_is_reported_without_its_password(mcpreel, run, tmp_path, url):
    ran = run([mcpreel, "record", "--url", url, "--listen", "0", "-o", "r.jsonl"], cwd=tmp_path)
    assert ran.code == 2 and b"canary" not in ran.err and len(ran.err.splitlines()) <= 2, ran
    assert not list(tmp_path.iterdir())


def test_a_port_in_use_is_reported_and_leaves_no_file(mcpreel, run, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        ran = run([mcpreel, "record", "--url", "http://127.0.0.1:9/mcp", "--port", str(port), "-o", "r.jsonl"], cwd=tmp_path)
    assert ran.code == 5 and ran.out == b""
    assert ran.err.decode().splitlines()[0] == f"mcpreel: cannot listen on 'localhost:{port}': address already in use"
    assert not list(tmp_path.iterdir())


def test_a_url_without_path_gets_the_path_mcp(upstream, record):
    server = upstream()
    for spelling in (f"http://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}?a=1"):
        program = record(spelling, "--force")
        assert program.path == "/mcp"
        program.client().post(call(1))
        assert len(messages(recorded(program))) == 2
    program = record(f"http://127.0.0.1:{server.port}/", "--force")
    assert program.path == "/"
    program.client().post(call(1))
    assert [r.target for r in server.requests] == ["/mcp", "/mcp?a=1", "/"]


def test_the_options_of_mcp_recorder_write_a_cassette_that_is_replaced(upstream, mcpreel, tmp_path):
    server = upstream()
    (tmp_path / "recording.json").write_text("an older one")
    started = []
    try:
        for words in (["--listen", "127.0.0.1:0"], ["--http", "127.0.0.1:0", "--output", "mine.json"]):
            program = Program([mcpreel, "record", "--target", f"http://127.0.0.1:{server.port}", *words], cwd=tmp_path)
            started.append(program)
            assert program.path == "/mcp"
            program.client().post(call(1, "tools/list"))
            assert (tmp_path / "recording.json").read_text().startswith("an older" if len(started) == 1 else "{")
            assert program.stop() == 0, program.err
    finally:
        for program in started:
            program.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.json", "recording.json"]
    for name in ("mine.json", "recording.json"):
        document = json.loads((tmp_path / name).read_text())
        assert [i["request"]["method"] for i in document["interactions"]] == ["tools/list"]


def test_the_default_port_of_mcp_recorder_is_5555(mcpreel, run, tmp_path):
    try:
        occupied = socket.create_server(("127.0.0.1", 5555))
    except OSError:  # another process has the port: also fine
        occupied = None
    ran = run([mcpreel, "record", "--target", "http://127.0.0.1:9"], cwd=tmp_path)
    if occupied:
        occupied.close()
    assert ran.code == 5
    assert ran.err.decode().splitlines()[0] == "mcpreel: cannot listen on 'localhost:5555': address already in use"


def test_the_options_of_thoughtjack_work_from_the_environment(upstream, mcpreel, tmp_path):
    server = upstream()
    program = Program([mcpreel, "record", "-o", tmp_path / "r.jsonl"],
                      env={"THOUGHTJACK_UPSTREAM_HTTP": server.url, "MCPREEL_LISTEN": "127.0.0.1:0"})
    try:
        assert program.client().post(call(1)).status == 200
        assert program.stop() == 0
    finally:
        program.close()


def test_the_address_is_announced_in_every_way(upstream, record):
    ready, ready_fd = os.pipe()
    program = record(upstream().url, "--json", "--ready-fd", str(ready_fd), pass_fds=[ready_fd])
    os.close(ready_fd)
    assert json.loads(program.first) == {"event": "listening", "url": f"http://127.0.0.1:{program.port}/mcp"}
    with os.fdopen(ready) as ready_file:
        assert ready_file.read() == f"http://127.0.0.1:{program.port}/mcp\n"
    assert program.stop() == 0


def test_a_closed_descriptor_is_reported_and_leaves_no_file(mcpreel, run, tmp_path):
    ran = run([mcpreel, "record", "--url", "http://127.0.0.1:9/mcp", "--listen", "0", "-o", "r.jsonl", "--ready-fd", "77"], cwd=tmp_path)
    assert ran.code == 2 and ran.out == b"" and b"'--ready-fd': descriptor 77 is not open" in ran.err
    assert not list(tmp_path.iterdir())


def test_in_a_folder_the_file_is_named_after_the_host(upstream, record, tmp_path):
    server = upstream()
    folder = tmp_path / "traces"
    folder.mkdir()
    program = record(server.url.replace("//", "//u:canary-pw@"), file=folder)
    assert program.stop() == 0
    [path] = folder.iterdir()
    assert f"-127.0.0.1-{server.port}-" in path.name and path.suffix == ".jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- What goes wrong


def test_an_unreachable_server_gives_a_response_and_a_log_line(upstream, record):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = record(f"http://127.0.0.1:{port}/mcp")
    client = program.client()
    answers = [client.post(call(n)) for n in (1, "two")]
    assert [a.status for a in answers] == [502, 502]
    assert answers[0].json["error"]["message"] and answers[0].json["jsonrpc"] == "2.0"
    assert [a.json["id"] for a in answers] == [1, "two"]
    lines = recorded(program)
    assert messages(lines) == [call(1), call("two")]
    assert [(a["status"], a["by"]) for a in records_of(lines, "http", ev="response")] == [(502, "mcpreel")] * 2
    assert [e["by"] for e in records_of(lines, "http", ev="end")] == ["error", "error"]
    assert "responded to an HTTP request with 502" in program.err


@pytest.mark.parametrize("garbage", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", b"HTTP/1.1 OK\r\n\r\n",
                                     b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"])
def test_a_server_without_http_gives_a_502(upstream, record, garbage):
    def serve(conn):
        conn.request()
        conn.send(garbage)
        conn.wait_end()

    program = record(upstream(serve).url)
    assert program.client().post(call(1)).status == 502
    lines = recorded(program)
    assert messages(lines) == [call(1)]
    assert [e["by"] for e in records_of(lines, "http", ev="end")] == ["error"]


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00\x01", b"GET /mcp\r\n\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: 1\r\n"
                                     b"Transfer-Encoding: chunked\r\nHost: x\r\n\r\n", b"NONSENSE\n\n"])
def test_a_client_without_http_does_not_affect_others(upstream, record, garbage):
    server = upstream()
    program = record(server.url)
    aborting_client = program.client()
    aborting_client.send(garbage + b"\r\n\r\n")
    assert aborting_client.rest().startswith(b"HTTP/1.1 400 ")
    assert program.client().post(call(1)).status == 200
    assert len(server.seen) == 1
    assert len(messages(recorded(program))) == 2


def test_one_signal_ends_mcpreel_and_a_second_one_at_once(upstream, record):
    hold = threading.Event()

    def serve(conn):
        conn.request()
        conn.sse()
        hold.wait(30)

    for signals in ([signal.SIGTERM], [signal.SIGINT, signal.SIGINT], [signal.SIGHUP]):
        program = record(upstream(serve).url, "--force")
        client = program.client()
        client.send_request(call(1))
        client.head()
        for signum in signals[:-1]:
            program.process.send_signal(signum)
        assert program.stop(signals[-1]) == 0, program.err
        *_, end, footer = lines_of(program.file)
        assert footer["type"] == "footer"
        assert (end["ev"], end["by"], end["clean"], end["why"]) == ("end", "mcpreel", False, "mcpreel was ended")
    hold.set()


def test_a_killed_recorder_has_every_event_that_the_client_received(upstream, record):
    """At a random moment of a stream that goes as fast as it can. The promise holds while the disk is well: where a
    write took long, which a busy machine is reason enough for, the round is played again."""
    def serve(conn):
        conn.request()
        conn.sse()
        n = 0
        while True:
            conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": n}})
            n += 1

    chance = random.Random(4)
    well = 0
    for _ in range(40):
        program = record(upstream(serve).url, "--force", "-v")
        client = program.client()
        client.send_request(call(1))
        client.head()
        for _ in range(chance.randrange(1, 300)):
            client.event()
        program.process.kill()
        seen = []
        try:
            while True:
                seen.append(client.event())
        except (ConnectionEnded, ValueError):
            pass
        if "a write to '" in program.process.communicate(timeout=30)[1].decode():
            continue
        last = json.loads(seen[-1].partition("data: ")[2])["params"]["data"] if seen else -1
        text = program.file.read_bytes()
        kept = [json.loads(line)["msg"]["params"]["data"] for line in text[:text.rfind(b"\n")].splitlines() if b'"s2c"' in line]
        assert kept[:last + 1] == list(range(last + 1))
        well += 1
        if well == 8:
            return
    pytest.fail("the disk was never well for long")


def test_a_full_disk_does_not_disturb_the_session(upstream, mcpreel, tmp_path):
    """The limit of a file's size is a disk that is full for us alone."""
    server = upstream()
    program = Program(["bash", "-c", 'ulimit -f 8; exec "$@"', "-", mcpreel, "record", "--url", server.url, "--listen", "127.0.0.1:0",
                       "-o", tmp_path / "r.jsonl"])
    try:
        client = program.client()
        for n in range(60):
            response = client.post(call(n, "x" * 50))
            assert response.json == result(n, {"said": "x" * 50})
        assert program.stop() == 0
    finally:
        program.close()
    assert "buffering the recording in memory: cannot write" in program.err
    assert "recorded only " in program.err
    assert len([line for line in (tmp_path / "r.jsonl").read_bytes().splitlines(True) if line.endswith(b"\n")]) > 5


@pytest.mark.parametrize("stream", [False, True])
def test_a_too_long_body_is_forwarded_and_recorded_as_a_gap(upstream, record, stream):
    long = result(1, {"text": "x" * 5000})

    def serve(conn):
        while request := conn.request():
            if request.json["id"] == 2:
                conn.respond(json_=result(2))
            elif stream:
                conn.sse()
                conn.event(long)
                conn.last()
            else:
                conn.respond(json_=long)

    program = record(upstream(serve).url, "--max-message", "4kB", "--strict")
    client = program.client()
    assert json.dumps(long) in client.post(call(1)).body.decode()
    assert client.post(call(2, "x" * 5000)).json == result(2)
    lines = recorded(program, 125)
    assert [(g["from"], g["messages"]) for g in records_of(lines, "gap")] == [("server", 1), ("client", 1)]
    assert messages(lines) == [call(1), result(2)]
    assert "2 were longer than --max-message" in program.err


def test_parts_of_a_recording_can_be_combined(upstream, record, mcpreel, run, tmp_path):
    program = record(upstream(serve_sessions).url, "--rotate", "4kB", file=tmp_path / "r.jsonl")
    client = program.client()
    client.post(initialize())
    for n in range(1, 9):
        client.post(call(n, "tools/call", name="t", arguments={}), headers=IN_SESSION)
    assert program.stop() == 0
    parts = sorted(tmp_path.glob("r.*.jsonl"), key=lambda p: int(p.name.split(".")[1]))
    assert len(parts) > 2
    ran = run([mcpreel, "convert", tmp_path / "r.jsonl", *parts, "-o", tmp_path / "whole.jsonl"])
    assert ran.code == 0 and b"lost" not in ran.err
    lines = lines_of(tmp_path / "whole.jsonl")
    for kind in ("request", "response", "end"):
        numbers = [line["exchange"] for line in records_of(lines, "http", ev=kind)]
        assert numbers == sorted(set(numbers)) and len(numbers) == 9
    assert [m["seq"] for m in records_of(lines, "message")] == list(range(1, 27))


# --- The other commands


@pytest.fixture
def session(upstream, record):
    program = record(upstream(serve_sessions).url)
    client = program.client()
    client.post(initialize())
    client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=IN_SESSION)
    client.post(call(7, "tools/call", name="t", arguments={"a": 1}), headers=IN_SESSION)
    client.send_request(method="DELETE", headers=IN_SESSION)
    client.read_response()
    recorded(program)
    return program.file


def test_check_has_no_findings(mcpreel, run, session):
    ran = run([mcpreel, "check", "--ignore", "unlisted-tool", session])
    assert (ran.code, ran.out.decode()) == (0, f"{session}: ok, 6 messages\n"), ran


def test_inspect_and_show_describe_the_session(mcpreel, run, session):
    report = json.loads(run([mcpreel, "--json", "inspect", session]).out)
    assert report["header"]["transport"] == "http" and report["totals"]["sessions"] == 1
    assert report["totals"]["outcomes"]["ok"] == 2
    shown = run([mcpreel, "show", session]).out.decode()
    assert "tools/call t" in shown and "orphan" not in shown


@pytest.mark.parametrize("name", ["c.json", "c.trace.jsonl", "c.jsonrpc"])
def test_the_calls_are_converted_to_other_formats_and_back(mcpreel, run, session, tmp_path, name):
    there, back = tmp_path / name, tmp_path / "back.jsonl"
    ran = run([mcpreel, "convert", session, "-o", there])
    assert ran.code == 0 and b"records with HTTP data" in ran.err
    assert run([mcpreel, "convert", there, "-o", back]).code == 0
    calls = [m["msg"] for m in records_of(lines_of(back), "message") if m["msg"].get("method") == "tools/call"]
    assert [c["params"] for c in calls] == [{"name": "t", "arguments": {"a": 1}}]
    answers = [m["msg"]["result"] for m in records_of(lines_of(back), "message") if m["msg"].get("result", {}).get("content") is not None]
    assert answers == [{"content": []}]

"""Secrets that are found while 'mcpreel record --url' runs, in every way in which a message may repeat them.

Ids of sessions, values of headers that are not kept, keys in the client's own address: each repeated by the
other side in many encodings and in every place a recording is made of. No file and no output has any of them. The searcher shares nothing with the program.
"""
import json
import os
import subprocess
import threading

import pytest

from canaries import ENCODINGS, finds, json_text
from http_peers import WAIT, Program, Upstream, call, lines_of, records_of, result

# Each starts with a word of its own, so that one can see which leaked, and has what is escaped anywhere.
SECRETS = {
    "session": 'sEss10n/Zq7+kV"9\\w&8~Lm',
    "token": 'aUth0r/Zq7+kV"9\\w&8~Lm',
    "cookie": "c00k1e/Zq7+kV9=w&8~Lm",
    "key": 'aPik3y/Zq7 kV+9"w\\8 Lm&x',
    "unknown": "unkn0wn/Zq7+kV9w&8~Lm",
    "set cookie": "sEtc00k1e.Zq7kV9w8Lm",
    "query": "quEry7-Zq7kV9w8Lm",
    "path": "pAth7Zq7kV9w8Lm",
}
MARKS = {
    "session": "session-1", "token": "Authorization", "cookie": "Cookie", "key": "X-Api-Key", "unknown": "X-Custom",
    "set cookie": "Set-Cookie", "query": "token", "path": "path",
}
HEADERS = [
    ("Mcp-Session-Id", SECRETS["session"]), ("Authorization", "Bearer " + SECRETS["token"]),
    ("Cookie", f"theme=dark; sid={SECRETS['cookie']}"), ("X-Api-Key", SECRETS["key"]), ("X-Custom", SECRETS["unknown"]),
]
SPELLINGS = ["raw", "json-ascii", "json-all-u", "json-twice", "percent", "percent-all", "form", "base64", "base64-1", "base64-2",
             "base64url", "base64-twice", "base64-of-json", "hex", "hex-upper", "html-numbers", "utf-16-base64", "python"]


def spellings_of(secret, is_json):
    """The secret in every spelling; `is_json`: as JSON has it."""
    for name in SPELLINGS:
        encode, is_spelt = ENCODINGS[name]
        text = encode(SECRETS[secret])
        yield json_text(text) if is_json and not is_spelt else text


def page(conn, text, status=500, **more):
    conn.respond(status, body=f"<p>no {text} here</p>".encode(), headers=[("Content-Type", "text/html")], **more)


def stream(conn, *lines):
    conn.sse()
    conn.send(b"%x\r\n%s\r\n" % (len("\n".join(lines)) + 2, "\n".join([*lines, "", ""]).encode()))
    conn.last()


ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"a":["x %s y"]}}'
ERROR = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no %s","data":{"%s":1}}}'

# name: the template of the server's message, and whether the text is escaped as in JSON.
CARRIERS = {
    "message": (lambda c, t: c.respond(body=(ANSWER % t).encode(), headers=[("Content-Type", "application/json")]), True),
    "error": (lambda c, t: c.respond(400, body=(ERROR % (t, t)).encode(), headers=[("Content-Type", "application/json")]), True),
    "page": (page, False),
    "redirect": (lambda c, t: c.respond(307, headers=[("Location", "/there?" + t.replace(" ", "+"))]), False),
    "reason": (lambda c, t: c.send(f"HTTP/1.1 500 no {t}\r\nContent-Length: 0\r\n\r\n".encode()), False),
    "challenge": (lambda c, t: c.respond(401, headers=[("WWW-Authenticate", f'Bearer error="{t}"')]), False),
    "event": (lambda c, t: stream(c, "event: message", "data: " + ANSWER % t), True),
    "event id": (lambda c, t: stream(c, f"id: {t}_1", "data: " + ANSWER % "x"), False),
    "event name": (lambda c, t: stream(c, f"event: {t}", "data: " + ANSWER % "x"), False),
    "priming": (lambda c, t: stream(c, f"id: {t}", "data:"), False),
    "comment": (lambda c, t: stream(c, f": {t}", "data: " + ANSWER % "x"), False),
    "endpoint": (lambda c, t: stream(c, "event: endpoint", f"data: /messages/{t}"), False),
    "no JSON": (lambda c, t: stream(c, f"data: hello {t}"), False),
}
NOT_RECORDED = ("redirect", "reason", "endpoint")  # of these nothing is recorded in the first place, or parts are left out whole


class Recorder:
    """A server that opens a session and then sends given messages, with mcpreel before it."""

    def __init__(self, mcpreel, directory, *options, file="r.jsonl"):
        self.directory, self.file = directory, directory / file
        self.responders = []
        self.server = Upstream(self.serve)
        self.program = Program([mcpreel, "record", "-vv", "--url", self.server.url, "--listen", "127.0.0.1:0", "-o", self.file, *options],
                               cwd=directory)
        self.client = self.program.client()
        self.client.post(call(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"}))
        self.send_request(lambda c, q: c.respond(json_={}), path=f"/mcp/{SECRETS['path']}")

    def serve(self, conn):
        conn.request()
        conn.respond(json_=result(0, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}),
                    headers=[("Mcp-Session-Id", SECRETS["session"]), ("Set-Cookie", f"a={SECRETS['set cookie']}; Path=/; HttpOnly")])
        while request := conn.request():
            self.responders.pop(0)(conn, request)

    def send_request(self, respond_with, message=None, body=None, path=f"/mcp?token={SECRETS['query']}", headers=(), method="POST"):
        self.responders.append(respond_with)
        if message is None and body is None:
            message = call(1, "tools/call", name="t")
        self.client.send_request(message, body=body, path=path, headers=[*HEADERS, *headers], method=method)
        return self.client.read_response()

    def close(self):
        self.program.close()
        self.server.close()

    def stop(self):
        assert self.program.stop() == 0, self.program.err
        return self.program.err + self.program.out

    def written_lines(self):
        """Everything that was written, line by line, with where it stands."""
        written = self.stop().splitlines()
        for path in self.directory.rglob("*"):
            if path.is_file():
                written += path.read_bytes().decode().splitlines()
        return written


@pytest.fixture
def recorder(mcpreel, tmp_path):
    made = []

    def make(*options, **more):
        made.append(Recorder(mcpreel, tmp_path, *options, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def assert_nothing_left(lines):
    for line in lines:
        for name, secret in SECRETS.items():
            assert not finds(line.encode(), secret, 3), f"{name} is in {line}"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_secrets_that_a_server_repeats_are_not_recorded(recorder, carrier):
    respond_with, is_json = CARRIERS[carrier]
    r = recorder()
    for secret in SECRETS:
        for text in spellings_of(secret, is_json):
            assert finds(text.encode(), SECRETS[secret], 3), text
            r.send_request(lambda conn, _, text=text: respond_with(conn, text))
    r.stop()
    recorded = lines_of(r.file)
    assert len(records_of(recorded, "http", ev="request")) == 2 + len(SECRETS) * len(SPELLINGS)
    assert not records_of(recorded, "gap")
    assert_nothing_left(r.written_lines())
    for mark in MARKS.values():
        assert carrier in NOT_RECORDED or f"[REDACTED:{mark}]" in r.file.read_text(), mark


def test_secrets_that_a_client_repeats_are_not_recorded(recorder):
    r = recorder()
    for secret in SECRETS:
        for text in spellings_of(secret, True):
            body = '{"jsonrpc":"2.0","id":"i-%s","method":"tools/call","params":{"name":"t","arguments":{"a":"%s"}}}' % (text, text)
            r.send_request(lambda conn, q: conn.respond(json_={}), body=body.encode())
        for text in spellings_of(secret, False):
            for header in ("Last-Event-ID", "Mcp-Name", "Mcp-Param-A"):
                r.send_request(lambda conn, q: conn.respond(json_={}), headers=[(header, text)])
    r.send_request(lambda conn, q: conn.respond(json_={}), body=SECRETS["token"].encode())
    r.stop()
    assert not records_of(lines_of(r.file), "gap")
    assert_nothing_left(r.written_lines())


@pytest.mark.parametrize("form", ["cassette", "recording.gz"])
def test_other_formats_and_journals_have_no_secrets(recorder, mcpreel, run, tmp_path, form):
    packed = form.endswith("gz")
    r = recorder(*([] if packed else ["--format", form]), file="r.jsonl" if packed else "r.json")
    for secret in SECRETS:
        r.send_request(lambda conn, q: conn.respond(body=(ANSWER % json_text(SECRETS[secret])).encode(), headers=[("Content-Type", "application/json")]))
    seen = [p.read_bytes().decode() for p in tmp_path.rglob("*") if p.is_file()]
    assert_nothing_left(line for text in seen for line in text.splitlines())
    r.stop()
    if packed:
        assert run([mcpreel, "convert", r.file, "-o", tmp_path / "copy.jsonl"]).code == 0
    assert_nothing_left(r.written_lines())


def test_keys_in_the_url_of_a_request_are_not_recorded(recorder):
    r = recorder()
    targets = ["/mcp?api_key=9d1f6c2a-1111-4222-8333-abcdefabcdef", "/mcp?exaApiKey=9d1f6c2a-1111-4222-8333-abcdefabcdef&page=2",
               "/mcp?access_token=hush", "/s/9d1f6c2a111142228333abcdefabcdef/mcp", "/callback?code=abcDEF123456ghiJKL&state=xyz1234567",
               "/my-secret-path-2026/mcp"]
    for target in targets:
        r.send_request(lambda conn, q: conn.respond(json_={}), path=target)
    output = r.stop() + r.file.read_text()
    for secret in ("9d1f6c2a", "hush", "abcDEF123456", "xyz1234567", "my-secret-path-2026"):
        assert secret not in output
    request_records = [(a["path"], a.get("query")) for a in records_of(lines_of(r.file), "http", ev="request")]
    assert request_records[3] == ("/mcp", "exaApiKey=[REDACTED:api_key]&page=2")
    assert request_records[5][0] == "/s/[REDACTED:path]/mcp"


def test_the_key_in_the_server_url_is_removed_from_messages(mcpreel, tmp_path):
    """Although the client, which connects to '/', never sends it."""
    key = "9d1f6c2a111142228333"

    def serve(conn):
        while request := conn.request():
            conn.respond(json_=result(1, {"you": request.target}))

    server = Upstream(serve)
    program = Program([mcpreel, "record", "--url", server.url.replace("/mcp", f"/s/{key}/mcp"), "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl"])
    try:
        assert key in program.client().post(call(1), path="/").body.decode()
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    assert key not in (tmp_path / "r.jsonl").read_text() + program.err
    assert lines_of(tmp_path / "r.jsonl")[0]["upstream"] == f"http://127.0.0.1:{server.port}/[REDACTED]"


def test_ordinary_header_values_stay_in_messages(recorder):
    ordinary = [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) node/22.1.0"), ("Accept-Language", "en-US,en;q=0.9"),
                ("MCP-Protocol-Version", "2025-06-18"), ("X-Client", "claude-desktop/1.2.3"), ("X-Count", "12345678"),
                ("X-Since", "2026-11-16T07:15:00Z"), ("X-Flag", "1"), ("X-Stage", "production"), ("X-Api-Key", "changeme"),
                ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("X-Host", "api2.example.com:8443")]
    r = recorder()
    text = json.dumps([v for _, v in ordinary] + ["application/json", "keep-alive", "tools/call", "password"])
    body = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}]}}' % json.dumps(text)
    r.send_request(lambda conn, q: conn.respond(body=body.encode(), headers=[("Content-Type", "application/json")]), headers=ordinary)
    r.stop()
    assert body in r.file.read_text()


def test_event_ids_with_a_session_id_stay_different(recorder, mcpreel, run, tmp_path):
    """As server-everything makes them. Only the session's own id is replaced, by its number."""
    ids = ["11111111-aaaa-4bbb-8ccc-0123456789ab", "22222222-aaaa-4bbb-8ccc-0123456789ab"]

    def serve(conn):
        while request := conn.request():
            if request.method == "POST" and request.json["method"] == "initialize":
                conn.respond(json_=result(0, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                             "serverInfo": {"name": "s", "version": "1"}}),
                            headers=[("Mcp-Session-Id", ids[request.json["params"]["n"]])])
                continue
            session = request.get("mcp-session-id")
            conn.sse()
            if request.method == "POST":
                conn.event("", id=f"{session}_1", retry=1)
                conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"in {session}"}},
                           id=f"{session}_2")
                return conn.reset()
            conn.event(result(5, {"content": [{"type": "text", "text": session}]}), id=f"{session}_3")
            conn.last()

    server = Upstream(serve)
    program = Program([mcpreel, "record", "--url", server.url, "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl"])
    try:
        for n, session in enumerate(ids):
            client = program.client()
            client.post(call(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"}, n=n))
            client.send_request(call(5, "tools/call", name="t", arguments={}), headers=[("Mcp-Session-Id", session)])
            client.rest()
            again = program.client()
            again.send_request(method="GET", headers=[("Mcp-Session-Id", session), ("Last-Event-ID", f"{session}_2")])
            assert session in again.read_response().body.decode()
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    lines = lines_of(tmp_path / "r.jsonl")
    assert not [i for i in ids if i in (tmp_path / "r.jsonl").read_text() + program.err]
    names = [e["id"] for e in [m.get("event", m) for m in records_of(lines, "message") + records_of(lines, "sse")] if isinstance(e.get("id"), str)]
    assert sorted(names) == sorted(f"[REDACTED:session-{s}]_{n}" for s in (1, 2) for n in (1, 2, 3))
    assert [r["resumes"] for r in records_of(lines, "http", ev="response") if "resumes" in r] == [{"stream": 1, "after": 2}, {"stream": 3, "after": 2}]
    request_records = [dict(map(tuple, a["headers"])).get("Last-Event-ID") for a in records_of(lines, "http", ev="request")]
    assert [a for a in request_records if a] == ["[REDACTED:session-1]_2", "[REDACTED:session-2]_2"]
    assert run([mcpreel, "check", tmp_path / "r.jsonl"]).code == 0
    assert run([mcpreel, "check", "--secrets", tmp_path / "r.jsonl"]).code == 0


@pytest.mark.parametrize("where", ["/messages?sessionId=%s", "/messages/%s", "/messages/?session_id=%s&v=2"])
@pytest.mark.parametrize("options", [[], ["--no-redact-server-url"]], ids=["", "address told"])
def test_the_session_id_of_an_endpoint_is_removed_where_it_is_repeated(mcpreel, tmp_path, where, options):
    """HTTP+SSE of 2024-11-05: two sessions at once, whose ids are not sent as a header."""
    ids = ["9d1f6c2a111142228333abcdefabcdef", "7b2e9c4f0a1d4e5f8a6b3c2d1e0f9a8b"]
    opened, waiting = iter(ids), {i: threading.Event() for i in ids}

    def serve(conn):
        while request := conn.request():
            if request.method == "GET":
                session = next(opened)
                conn.sse()
                conn.event(where % session, event="endpoint")
                assert waiting[session].wait(WAIT)
                conn.event(result(1, {"mine": session, "hex": session.encode().hex(), "other": ids[0]}), event="message")
                return conn.last()
            session = next(i for i in ids if i in request.target)
            conn.respond(202)
            waiting[session].set()

    server = Upstream(serve)
    program = Program([mcpreel, "record", "-vv", "--url", server.url.replace("/mcp", "/sse"), "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl",
                       *options])
    try:
        for session in ids:
            stream = program.client()
            stream.send_request(method="GET", path="/sse", headers=[("Accept", "text/event-stream")])
            stream.head()
            assert session in stream.event()
            assert program.client().post(call(1, "ping", session=session), path=where % session).status == 202
            assert session in stream.event()
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    text = (tmp_path / "r.jsonl").read_text()
    for session in ids:
        assert session not in text + program.err and session.encode().hex() not in text
    results = [m["msg"]["result"] for m in records_of(lines_of(tmp_path / "r.jsonl"), "message", dir="s2c")]
    assert [s["other"] for s in results] == ["[REDACTED:session-1]"] * 2
    assert results[1]["mine"] == results[1]["hex"] == "[REDACTED:session-2]"


def test_secrets_that_a_server_repeats_to_a_stdio_client_are_not_recorded(mcpreel, tmp_path):
    """There mcpreel itself carries the session."""
    session, key = "9d1f6c2a-1111-4222-8333-abcdefabcdef", "7b2e9c4f0a1d4e5f"

    def serve(conn):
        while request := conn.request():
            if request.method != "POST":
                conn.respond(405)
            elif "id" not in request.json:
                conn.respond(202)
            elif request.json["method"] == "initialize":
                conn.respond(json_=result(0, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": session, "version": "1"}}),
                            headers=[("Mcp-Session-Id", session)])
            else:
                conn.respond(json_=result(1, {"mine": session, "asked": request.target}))

    server = Upstream(serve)
    messages = [call(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"}),
            {"jsonrpc": "2.0", "method": "notifications/initialized"}, call(1, "ping")]
    words = [mcpreel, "record", "-vv", "--url", server.url.replace("/mcp", f"/{key}/mcp"), "-o", tmp_path / "r.jsonl"]
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for message in messages:
            program.stdin.write(json.dumps(message).encode() + b"\n")
            program.stdin.flush()
            if "id" in message:
                assert session in program.stdout.readline().decode()
        _, err = program.communicate(timeout=WAIT)
    finally:
        program.kill()
        server.close()
    assert program.returncode == 0, err
    text = (tmp_path / "r.jsonl").read_text()
    assert session not in text + err.decode() and key not in text + err.decode()
    assert records_of(lines_of(tmp_path / "r.jsonl"), "message", dir="s2c")[-1]["msg"]["result"]["mine"] == "[REDACTED:session-1]"


def test_hundreds_of_session_ids_are_searched(mcpreel, tmp_path):
    """Each is repeated when many others have come since."""
    count = 300
    ids = [os.urandom(16).hex() for _ in range(count)]

    def serve(conn):
        while request := conn.request():
            n = request.json["id"]
            named = [("Mcp-Session-Id", ids[n])] if request.json["method"] == "initialize" else []
            conn.respond(json_=result(n, {"mine": ids[n], "older": ids[max(0, n - count // 2)]}), headers=named)

    server = Upstream(serve)
    program = Program([mcpreel, "record", "--url", server.url, "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl"])
    try:
        client = program.client()
        for method in ("initialize", "ping"):
            for n, session in enumerate(ids):
                headers = [] if method == "initialize" else [("Mcp-Session-Id", session)]
                assert client.post(call(n, method), headers=headers).json["result"]["mine"] == session
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    text = (tmp_path / "r.jsonl").read_text()
    assert not [i for i in ids if i in text]
    last = lines_of(tmp_path / "r.jsonl")
    answers = [m["msg"]["result"] for m in records_of(last, "message", dir="s2c")]
    assert answers[-1] == {"mine": f"[REDACTED:session-{count}]", "older": f"[REDACTED:session-{count - 1 - count // 2 + 1}]"}


def test_check_finds_keys_of_urls_in_older_recordings(run, mcpreel, tmp_path):
    """Made without redaction, and by hand."""
    lines = [
        {"type": "header", "version": "1.0", "recorded_at": "2026-01-01T00:00:00Z", "upstream": "http://127.0.0.1:1/mcp",
         "thoughtjack_version": "0.3.0", "transport": "http"},
        {"type": "http", "ev": "request", "exchange": 1, "conn": 1, "state": "none", "method": "POST", "path": "/mcp",
         "query": "api_key=hush&page=2", "host": "self", "origin": "none", "headers": [], "body": "empty"},
        {"type": "http", "ev": "request", "exchange": 2, "conn": 1, "state": "none", "method": "POST", "path": "/s/9d1f6c2a1111/mcp",
         "host": "self", "origin": "none", "headers": [], "body": "empty"},
        {"type": "footer", "total_messages": 0, "duration_ms": 0, "client_messages": 0, "server_messages": 0},
    ]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = run([mcpreel, "check", "--secrets", "--json", tmp_path / "old.jsonl"])
    assert found.code == 1
    places = [(s["record"], s["member"]) for s in json.loads(found.out)["files"][0]["secrets"]]
    assert (2, "query") in places and (3, "path") in places and not [p for p in places if p[0] == 1 and p[1] != "upstream"]
    assert run([mcpreel, "redact", tmp_path / "old.jsonl", "-o", tmp_path / "new.jsonl"]).code == 0
    new = lines_of(tmp_path / "new.jsonl")
    assert new[1]["query"] == "api_key=[REDACTED:rule-1]&page=2" and new[2]["path"] == "/s/[REDACTED:rule-1]/mcp"
    assert run([mcpreel, "check", "--secrets", tmp_path / "new.jsonl"]).code == 0

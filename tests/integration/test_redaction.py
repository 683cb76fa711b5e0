"""A canary in every encoding, in every place a recording is made of, and no trace of it anywhere after.

The search (canaries) shares no code with the program: it removes every known encoding, repeatedly, and compares.
Each cell is validated first: the search finds the canary in the messages, and in a recording without redaction.
"""
import base64
import gzip
import html
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.parse

import pytest

from canaries import ENCODINGS, VALUE, b64, finds, json_text, times
from http_peers import Program, Upstream

DIGITS = "8675309421357"

DONE = b'{"jsonrpc":"2.0","method":"done"}\n'

# A server that writes given bytes: lines of "out", "err" or "err1" (byte by byte) and the bytes in base64, or "x" and a count; then it reports the end.
REPEATING_SERVER = textwrap.dedent("""
    import base64, os, sys
    for line in open(sys.argv[1]):
        where, data = line.split()
        if where == "x":
            for _ in range(int(data) >> 20):
                os.write(1, b"x" * (1 << 20))
            continue
        data = base64.b64decode(data)
        pieces = [data[i:i+1] for i in range(len(data))] if where == "err1" else [data]
        for p in pieces:
            os.write(1 if where == "out" else 2, p)
    if os.environ.get("PARROT_SAYS"):
        text = os.environ[os.environ["PARROT_SAYS"]]
        os.write(1, b'{"jsonrpc":"2.0","method":"n","params":{"x":' + __import__("json").dumps(text).encode() + b'}}\\n')
    os.write(1, b'\\n{"jsonrpc":"2.0","method":"done"}\\n')
    while sys.stdin.buffer.read1(65536):
        pass
""")


# More often than is looked through: the string goes as a whole.
DEEP = {
    "json-8": (lambda v: times(8, json_text, v), True),
    "percent-9": (lambda v: times(9, lambda t: urllib.parse.quote(t, safe=""), v), False),
    "html-12": (lambda v: times(12, html.escape, v), False),
    "mixed-9": (lambda v: times(3, lambda t: json_text(html.escape(urllib.parse.quote(t, safe=""))), v), True),
}


def test_the_search_of_the_test_finds_every_encoding():
    for name, (encode, _) in ENCODINGS.items():
        assert finds(b'{"x":"%s"}' % encode(VALUE).encode()), name
    assert not finds(b'{"x":"Zq7/kV+9 w"}')


def call(text, **more):
    """A request whose arguments hold a text that is JSON's spelling already."""
    return '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"%s"}}}' % text


def result(body):
    return '{"jsonrpc":"2.0","id":1,"result":%s}' % body


def notify(params, method="notifications/message"):
    return '{"jsonrpc":"2.0","method":"%s","params":%s}' % (method, params)


# name: the sender, and the line around the text; "%s" is the text escaped as in JSON, unless `plain`.
CARRIERS = {
    "tool arguments": ("client", call("x %s y")),
    "tool result": ("server", result('{"content":[{"type":"text","text":"x %s y"}]}')),
    "structured content": ("server", result('{"structuredContent":{"a":{"b":["%s"]}}}')),
    "name of a member": ("server", result('{"a":{"x %s":1}}')),
    "error text": ("server", '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no %s","data":{"why":"%s"}}}'),
    "resource address": ("client", '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://%s"}}'),
    "notification": ("client", notify('{"reason":"%s"}', "notifications/cancelled")),
    "log message": ("server", notify('{"level":"info","data":"%s"}')),
    "batch": ("client", "[" + call("one") + "," + call("x %s y") + "]"),
    "prompt": ("server", result('{"messages":[{"role":"user","content":{"type":"text","text":"%s"}}]}')),
    "id": ("client", '{"jsonrpc":"2.0","id":"i-%s","method":"ping"}'),
    "method": ("client", '{"jsonrpc":"2.0","id":1,"method":"m/%s"}'),
    "progress token": ("client", '{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":"%s"}}}'),
    "schema": ("server", result('{"tools":[{"name":"t","inputSchema":{"default":"%s"}}]}')),
    "client's name": ("client", '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
                                '"2025-06-18","capabilities":{},"clientInfo":{"name":"%s","version":"1"}}}'),
    "JSON that is not a message": ("server", '{"hello":"%s"}'),
    "noise of the server": ("server plain", "Listening with %s now"),
    "noise of the client": ("client plain", "what is %s then"),
    "standard error": ("stderr plain", "warning: %s\n"),
    "standard error byte by byte": ("stderr1 plain", "warning: %s\n"),
    "standard error without end": ("stderr plain", "warning: %s"),
    "line without end": ("server plain", "cut off: %s"),
    "long line": ("server", result('{"big":"' + "y" * 300000 + ' %s ' + "z" * 300000 + '"}')),
    "word of the command": ("argv plain", "--thing=%s"),
    "name and tags": ("name plain", "%s"),
}


@pytest.fixture
def repeating_server(tmp_path):
    path = tmp_path / "parrot.py"
    path.write_text(REPEATING_SERVER)
    return path


class Session:
    """One recording: the messages, and the files."""

    def __init__(self, mcpreel, repeating_server, directory):
        self.mcpreel, self.repeating_server, self.directory = mcpreel, repeating_server, directory
        self.client, self.script, self.argv, self.options, self.env = b"", [], [], [], {}

    def add(self, sender, text):
        data = text.encode()
        kind = sender.split()[0]
        if kind == "client":
            self.client += data + b"\n"
        elif kind == "server":
            self.script.append(("out", data + (b"" if text.startswith("cut off") else b"\n")))
        elif kind == "stderr":
            self.script.append(("err", data))
        elif kind == "stderr1":
            self.script.append(("err1", data))
        elif kind == "argv":
            self.argv.append(text)
        elif kind == "name":
            self.options += ["--name", text, "--tags", text.replace(",", ";")]

    def command(self, out, *options):
        script = self.directory.parent / f"{self.directory.name}.script"
        script.write_bytes(b"".join(w.encode() + b" " + (d if w == "x" else base64.b64encode(d)) + b"\n"
                                    for w, d in self.script))
        return [self.mcpreel, "-v", "record", "-o", self.directory / out, *options, *self.options, "--",
                sys.executable, "-S", self.repeating_server, script, *self.argv]

    def environment(self):
        return {**os.environ, "CANARY": VALUE, "DIGITS": DIGITS, "TMPDIR": str(self.directory), **self.env}

    def run(self, out, *options):
        """Returns mcpreel's own output. The client stays until the server has sent everything."""
        log = self.directory.parent / "stderr"
        with open(log, "wb") as err:
            p = subprocess.Popen([os.fspath(c) for c in self.command(out, *options)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=err, env=self.environment(),
                                 start_new_session=True)
        timer = threading.Timer(60, os.killpg, (p.pid, signal.SIGKILL))
        timer.start()
        try:
            p.stdin.write(self.client)
            p.stdin.flush()
            while p.stdout.readline() not in (DONE, b""):
                pass
            p.stdin.close()
            p.stdout.read()
            p.wait()
        finally:
            timer.cancel()
            p.stdout.close()
        output = log.read_bytes()
        assert p.returncode == 0, output[-2000:]
        return b"\n".join(line for line in output.split(b"\n") if line.startswith((b"mcpreel:", b"  ")))


@pytest.fixture
def session(mcpreel, repeating_server, tmp_path):
    (tmp_path / "out").mkdir()
    return Session(mcpreel, repeating_server, tmp_path / "out")


def everything(directory):
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()


def assert_clean(directory, *output, value=VALUE):
    files = list(everything(directory))
    assert files
    for name, blob in files:
        assert not finds(blob, value), name
    for text in output:
        assert not finds(text, value), text


REDACT = ("--redact-env", "CANARY", "--no-redact-defaults")


@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_canary_is_recorded_in_any_encoding(session, carrier):
    sender, line = CARRIERS[carrier]
    for name, (encode, is_json) in ENCODINGS.items():
        text = encode(VALUE)
        if sender.endswith("plain"):
            if "\0" in text:
                continue
        elif not is_json:
            text = json_text(text)
        message = line.replace("%s", text)
        assert finds(message.encode()), name
        session.add(sender, message)
    session.run("control.jsonl", "--no-redact-defaults")
    control = (session.directory / "control.jsonl").read_bytes()
    assert finds(control)
    (session.directory / "control.jsonl").unlink()
    output = session.run("a.jsonl", *REDACT)
    assert_clean(session.directory, output)
    recorded = (session.directory / "a.jsonl").read_bytes()
    assert recorded.count(b"\n") == control.count(b"\n") or carrier.startswith("standard error")
    assert b"[REDACTED:CANARY]" in recorded


def encoded_canaries(is_fit=lambda text: True, quoted=True):
    """The canary in every encoding that a carrier can hold; `quoted`: as JSON has it."""
    for encode, is_json in ENCODINGS.values():
        text = encode(VALUE)
        if is_fit(text):
            yield json_text(text) if quoted and not is_json else text


def in_url(text):
    return re.fullmatch(r"[\w%.~+/=&;()-]*", text, re.ASCII)


def in_header(text):
    return text.isprintable()  # in Latin-1, so that not all of it can stand in JSON


def answer_as(carrier, conn, text):
    body = result('{"x":"%s"}' % text)
    if carrier == "gzip":
        conn.respond(body=gzip.compress(body.encode()), headers=[("Content-Type", "application/json"), ("Content-Encoding", "gzip")])
    elif carrier == "header of an answer":
        conn.respond(json_={"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("WWW-Authenticate", f"Bearer x={text}")])
    elif carrier.startswith("event"):
        conn.sse()
        fields = {"event": {"data": body}, "event id": {"data": result("{}"), "id": text}, "event name": {"data": result("{}"), "event": text}}
        conn.event(**fields[carrier])
        conn.last()
    else:
        conn.respond(body=(body if carrier == "answer" else result("{}")).encode(), headers=[("Content-Type", "application/json")])


HTTP_CARRIERS = {
    "request": encoded_canaries(), "answer": encoded_canaries(), "gzip": encoded_canaries(), "event": encoded_canaries(), "event id": encoded_canaries(in_header, False),
    "event name": encoded_canaries(in_header, False), "path": encoded_canaries(in_url, False), "query": encoded_canaries(in_url, False),
    "header": encoded_canaries(in_header, False), "header of an answer": encoded_canaries(in_header, False),
}
HTTP_CARRIERS = {name: list(texts) for name, texts in HTTP_CARRIERS.items()}


def record_http(mcpreel, directory, carrier, *options):
    texts = HTTP_CARRIERS[carrier]
    waiting = iter(texts)

    def serve(conn):
        while conn.request():
            answer_as(carrier, conn, next(waiting))

    server = Upstream(serve)
    program = Program([mcpreel, "record", "-vv", "--url", server.url, "--listen", "127.0.0.1:0", "-o", directory / "a.jsonl", *options],
                      env={"CANARY": VALUE})
    try:
        for text in texts:
            more = {"path": {"path": "/x/" + text}, "query": {"path": "/mcp?k=" + text}, "header": {"headers": [("Mcp-Name", text)]}}
            body = call(text if carrier == "request" else "x")
            headers = [("Content-Type", "application/json")]
            request_parts = more.get(carrier, {})
            program.client().post(None, body=body.encode(), **{**request_parts, "headers": headers + request_parts.get("headers", [])})
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    return program.err + program.out + program.first


@pytest.mark.parametrize("carrier", HTTP_CARRIERS)
def test_no_canary_is_recorded_over_http(mcpreel, tmp_path, carrier):
    assert len(HTTP_CARRIERS[carrier]) > 10
    record_http(mcpreel, tmp_path, carrier, "--no-redact-defaults", "--no-redact-server-url")
    control = (tmp_path / "a.jsonl").read_bytes()
    assert finds(control)
    (tmp_path / "a.jsonl").unlink()
    output = record_http(mcpreel, tmp_path, carrier, *REDACT)
    assert_clean(tmp_path, output.encode())
    recorded = (tmp_path / "a.jsonl").read_bytes()
    assert recorded.count(b"\n") == control.count(b"\n") and b"[REDACTED:CANARY]" in recorded


@pytest.mark.parametrize("carrier", ["tool arguments", "id", "name of a member", "batch", "standard error",
                                     "noise of the server", "word of the command"])
def test_too_deeply_escaped_text_is_not_recorded(session, carrier):
    sender, line = CARRIERS[carrier]
    for encode, is_json in DEEP.values():
        text = encode(VALUE)
        session.add(sender, line.replace("%s", text if is_json or sender.endswith("plain") else json_text(text)))
    session.run("a.jsonl", *REDACT)
    for name, blob in everything(session.directory):
        assert b"Zq7" not in blob and b"REDACTED" in blob, name


def redacted_recording(session, *options):
    for sender, line in CARRIERS.values():
        for encode, is_json in (ENCODINGS["raw"], ENCODINGS["json-all-u"], ENCODINGS["base64-1"]):
            text = encode(VALUE)
            session.add(sender, line.replace("%s", text if is_json or sender.endswith("plain") else json_text(text)))
    return session.run("a.jsonl", *REDACT, *options)


def test_values_of_the_servers_environment_are_not_recorded(session):
    session.env["PARROT_SAYS"] = "CANARY"
    output = session.run("a.jsonl", *REDACT)
    assert_clean(session.directory, output)
    assert b'"x":"[REDACTED:CANARY]"' in (session.directory / "a.jsonl").read_bytes()


def test_numbers_and_numeric_names_are_redacted(session):
    for spelling in (DIGITS, DIGITS + ".0", "-" + DIGITS, DIGITS + "e0", "9" + DIGITS + "9"):
        session.add("server", result('{"n":[%s],"k%s":1}' % (spelling, DIGITS)))
    output = session.run("a.jsonl", "--redact-env", "DIGITS", "--no-redact-defaults")
    assert_clean(session.directory, output, value=DIGITS)
    lines = [json.loads(line) for line in (session.directory / "a.jsonl").read_text().splitlines()]
    assert [m["redacted"] for m in lines if "redacted" in m] == [["/result/n/0", "/result/k[REDACTED:DIGITS]"]] * 5


def test_ids_with_a_declared_value_stay_different(session, run, mcpreel):
    """Numbers that differ behind it, a string like the number, another spelling; and the answers to each."""
    ids = [f"{DIGITS}1", f"{DIGITS}2", f'"{DIGITS}1"', f'"%{ord(DIGITS[0]):x}{DIGITS[1:]}1"', "7"]
    for i in ids:
        session.add("client", '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t"}}' % i)
        session.add("server", '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' % i)
    output = session.run("a.jsonl", "--redact-env", "DIGITS", "--no-redact-defaults")
    assert_clean(session.directory, output, value=DIGITS)
    lines = [json.loads(line) for line in (session.directory / "a.jsonl").read_text().splitlines()]
    request_ids = [m["msg"]["id"] for m in lines if m["type"] == "message" and m["dir"] == "c2s"]
    response_ids = [m["msg"]["id"] for m in lines if m["type"] == "message" and "result" in m["msg"]]
    assert len(set(request_ids)) == len(ids) and request_ids[-1] == 7
    assert sorted(map(str, request_ids)) == sorted(map(str, response_ids))


@pytest.mark.parametrize("declared", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("recorded", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_lines_of_a_value_may_end_with_lf_or_crlf(session, declared, recorded):
    lines = ["Zq7-aB", "kV9/cD", "w8+Lm"]
    session.env["CANARY"] = declared.join(lines)
    text = recorded.join(lines)
    for encode in (lambda v: v, lambda v: urllib.parse.quote(v, safe=""), b64, lambda v: b64(b64(v)),
                   lambda v: v.encode().hex(), lambda v: b64(json.dumps(v))):
        assert finds(encode(text).encode(), text)
        session.add("client", call(json_text("x %s y" % encode(text))))
        session.add("stderr", "x %s y\n" % encode(text))
        session.add("stderr1", "x %s y\n" % encode(text))
    output = session.run("a.jsonl", *REDACT)
    assert_clean(session.directory, output, value=text)
    recorded = (session.directory / "a.jsonl").read_bytes()
    assert recorded.count(b"[REDACTED:CANARY]") == 18 and b"Zq7-aB" not in recorded


def test_an_oversized_line_leaves_no_canary(session):
    session.script += [("x", b"%d" % (65 << 20)), ("out", VALUE.encode() + b"\n")]
    session.add("server", result('{"after":"%s"}' % json_text(VALUE)))
    output = session.run("a.jsonl", *REDACT)
    recorded = (session.directory / "a.jsonl").read_bytes()
    assert VALUE.encode() not in recorded and len(recorded) < 4096
    assert b'"type":"gap"' in recorded and b'"after":"[REDACTED:CANARY]"' in recorded
    assert not finds(output)


@pytest.mark.parametrize("cut", range(1, len(VALUE.encode())))
def test_a_value_split_over_two_stderr_writes_is_redacted(session, cut):
    data = VALUE.encode()
    session.script += [("err", b"a " + data[:cut]), ("err", data[cut:] + b" b\n")]
    output = session.run("a.jsonl", *REDACT)
    assert_clean(session.directory, output)


def test_a_killed_recorder_leaves_no_canary(session):
    for _ in range(50):
        session.add("server", result('{"x":"%s"}' % json_text(VALUE)))
        session.add("stderr", VALUE)
    p = subprocess.Popen([os.fspath(c) for c in session.command("a.jsonl", *REDACT)], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=session.environment(),
                         start_new_session=True)
    try:
        for _ in range(25):
            p.stdout.readline()
        os.kill(p.pid, signal.SIGKILL)
        p.wait(10)
        assert_clean(session.directory)
        assert b"[REDACTED:CANARY]" in (session.directory / "a.jsonl").read_bytes()
    finally:
        p.stdin.close()
        p.stdout.close()
        p.stderr.close()


def formats(run, mcpreel):
    listed = json.loads(run([mcpreel, "formats", "--json"]).out)
    return [f["name"] for f in listed["formats"] if f["write"]]


def test_other_formats_and_repaired_files_have_no_canary(session, run, mcpreel):
    redacted_recording(session)
    names = formats(run, mcpreel)
    assert {"recording", "cassette", "trace"} <= set(names)
    for name in names:
        ran = run([mcpreel, "convert", session.directory / "a.jsonl", "--to", name, "-o",
                   session.directory / f"b.{name}"], timeout=30)
        assert ran.code == 0, ran
    ran = run([mcpreel, "check", "--fix", session.directory / "a.jsonl"])
    assert ran.code in (0, 1), ran
    assert_clean(session.directory, ran.out, ran.err)


def test_redact_gives_the_same_result_as_record(session, run, mcpreel):
    """The same as a redacted recording, but for the times."""
    sender, line = CARRIERS["tool result"]
    for encode, is_json in ENCODINGS.values():
        session.add(sender, line.replace("%s", encode(VALUE) if is_json else json_text(encode(VALUE))))
    session.run("plain.jsonl", "--no-redact-defaults")
    session.run("direct.jsonl", *REDACT)
    env = {"CANARY": VALUE}
    ran = run([mcpreel, "redact", *REDACT, session.directory / "plain.jsonl", "-o",
               session.directory / "after.jsonl"], env=env)
    assert ran.code == 0 and not finds(ran.out) and not finds(ran.err), ran

    def messages(name):
        lines = map(json.loads, (session.directory / name).read_text().splitlines())
        return [(m["msg"], m.get("redacted")) for m in lines if m["type"] == "message"]

    assert messages("after.jsonl") == messages("direct.jsonl")
    check = [mcpreel, "check", "--secrets", *REDACT]
    ran = run([*check, session.directory / "plain.jsonl"], env=env)
    assert ran.code == 1 and not finds(ran.out) and not finds(ran.err), ran
    ran = run([*check, session.directory / "after.jsonl"], env=env)
    assert ran.code == 0, ran


def test_messages_of_mcpreel_have_no_secret(run, mcpreel, tmp_path):
    env = {"CANARY": VALUE}
    for words in ([f"./no-such-{VALUE}"], [str(tmp_path), VALUE]):
        ran = run([mcpreel, "-v", "record", *REDACT, "-o", tmp_path / "a.jsonl", "--", *words], env=env)
        assert ran.code in (126, 127), ran
        assert not finds(ran.err) and (b"REDACTED" in ran.err or words[0] == str(tmp_path)), ran


@pytest.mark.parametrize("declared", ["utf-8", "latin-1"])
def test_an_invalid_utf8_value_is_removed_completely(mcpreel, tmp_path, declared):
    value = "s\u00e9cr\u00e9t-pass-99xyz"
    word, file = value.encode("latin-1"), tmp_path / "a.jsonl"
    env = {**os.environb, b"CANARY": value.encode(declared)}
    for options in ([], REDACT):
        file.unlink(missing_ok=True)
        subprocess.run([os.fsencode(mcpreel), b"record", *map(os.fsencode, options), b"--name", word, b"--tags", word, b"-o",
                        os.fsencode(file), b"--", b"true", word], env=env, stdin=subprocess.DEVNULL, check=True, timeout=60)
        assert (b"t-pass-99xyz" in file.read_bytes()) == (not options)


@pytest.mark.parametrize("words", [
    ["record", "--redact-env", "CANARY", "--rotate", VALUE, "--", "true"],
    ["record", "--rotate", VALUE, "--redact-env=CANARY", "--", "true"],
    ["record", f"--{VALUE}", "--redact-env", "OTHER,CANARY", "--", "true"],
    ["record", "--redact-env", "CANARY", "--format", VALUE, "--", "true"],
    ["record", "--redact-env", "CANARY", VALUE, "--", "true"],
    ["redact", "--redact-env", "CANARY", VALUE, VALUE],
    [VALUE, "--redact-env", "CANARY"],
    ["--json", "record", "--redact-env", "CANARY", "--rotate", VALUE, "--", "true"],
    ["record", "--redact-env", "CANARY", "--rotate", VALUE * 40, "--", "true"],
], ids=lambda words: " ".join(words).replace(VALUE, "V").replace("V" * 40, "long"))
def test_errors_do_not_contain_the_value(run, mcpreel, words):
    ran = run([mcpreel, *words], env={"CANARY": VALUE, "OTHER": "something-else"})
    assert ran.code == 2, ran
    assert ran.err and not finds(ran.err) and not finds(ran.out) and b"Zq7/kV" not in ran.err, ran


@pytest.mark.parametrize("words", [
    ["--token", "%s"], ["--token=%s"], ["--key", "%s"], ["--pass", "%s"], ["--auth", "%s"],
    ["--password", "%s"], ["--header", "Authorization: %s"], ["--header=X-Api-Key: %s"], ["API_KEY=%s"],
    ["https://h.example/mcp?api_key=%s"], ["https://h.example/mcp?x=1&token=%s&y"], ["https://u:%s@h.example/"],
    ['{"env":{"GITHUB_TOKEN":"%s"}}'], [": --token %s"], ["--user", "me:%s"],
], ids=" ".join)
@pytest.mark.parametrize("secret", ["hu7er-Tw0-s3cret", "-hu7er-Tw0-s3cret"], ids=["plain", "dash"])
def test_secrets_in_the_server_command_are_redacted(session, words, secret):
    """The value is not declared; text of the server that repeats it is redacted, too."""
    session.argv = [w.replace("%s", secret) for w in words]
    session.add("server", result('{"content":[{"type":"text","text":"started with %s"}]}' % secret))
    session.run("a.jsonl")
    recorded = (session.directory / "a.jsonl").read_text()
    assert secret not in recorded and "[REDACTED:rule-1]" in recorded


@pytest.mark.parametrize("words", [
    ["npx", "-p", "typescript"], ["cargo", "run", "-p", "reader-2"], ["uvx", "-p", "python3.12"], ["x", "--auth", "none"],
    ["x", "--auth=oauth2"], ["x", "--key", "id"], ["x", "-p", "hunter2-a1b2c3d4"],
], ids=" ".join)
def test_ordinary_words_of_the_server_command_stay(session, words):
    session.argv = words
    session.add("server", result('{"content":[{"type":"text","text":"started with %s"}]}' % words[-1]))
    session.run("a.jsonl")
    header, *lines = map(json.loads, (session.directory / "a.jsonl").read_text().splitlines())
    assert header["command"][-len(words):] == words
    assert words[-1] in json.dumps([line["msg"] for line in lines if line["type"] == "message"])


def test_a_stdio_cassette_has_no_canary_after_redact(session, run, mcpreel):
    session.argv = [f"a/b={VALUE}/c"]
    session.add("client", call("x"))
    session.add("server", result('{"x":1}'))
    old, new = session.directory / "a.json", session.directory / "new.json"
    session.run("a.json", "--no-redact-defaults")
    gate = [mcpreel, "check", "--secrets", *REDACT]
    assert run([*gate, old], env={"CANARY": VALUE}).code == 1
    assert run([mcpreel, "redact", *REDACT, old, "-o", new], env={"CANARY": VALUE}).code == 0
    assert run([*gate, new], env={"CANARY": VALUE}).code == 0
    assert not finds(new.read_bytes())


@pytest.mark.parametrize("options", [
    ["--redact-env", "NOT_SET_ANYWHERE"], ["--redact-env", "EMPTY"], ["--redact-env", "SHORT"],
    ["--redact-env", "WORD"], ["--redact-env", "a-b"], ["--redact-env", "CANARY,NOT_SET_ANYWHERE"],
    ["--redact-patterns", "("], ["--redact-patterns", "(?=x)y"], ["--redact-patterns", "(?<!x)y"],
    ["--redact-patterns", "(x)\\1"], ["--redact-patterns", "x*"], ["--redact-patterns", "[z-a]"],
    ["--redact-patterns", "ok", "--redact-patterns", "x{2001}"], ["--redact-patterns", "(?>a)"],
    ["--redact-patterns", r"\b"], ["--redact-patterns", "^$"], ["--redact-patterns", r"\bx?\b"],
], ids=" ".join)
def test_an_invalid_configuration_is_rejected_at_the_start(run, mcpreel, tmp_path, options):
    env = {"CANARY": VALUE, "EMPTY": "", "SHORT": "q9Z!w", "WORD": "initialize"}
    started, out = tmp_path / "started", tmp_path / "a.jsonl"
    ran = run([mcpreel, "record", *options, "-o", out, "--", "touch", started], env=env)
    assert ran.code == 2 and ran.out == b"", ran
    assert not started.exists() and not out.exists()
    assert ran.err.startswith(b"mcpreel: ") and len(ran.err.splitlines()) <= 2, ran
    assert b"q9Z!w" not in ran.err and not finds(ran.err)


UNTOUCHED = [
    '{"jsonrpc":"2.0","id":"AKIAIOSFODNN7EXAMPLE","method":"AKIAIOSFODNN7EXAMPLE"}',
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":"AKIAIOSFODNN7EXAMPLE"}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"AKIAIOSFODNN7EXAMPLE","progress":1}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"properties":{"token":{"default":'
    '"AKIAIOSFODNN7EXAMPLE"}}},"outputSchema":{"password":{"const":"sk-ant-api03-abcdefghijklmnopqrstuv"}}}]}}',
    '{ "jsonrpc" : "2.0", "id":1.0, "result":{"b":"\\u0041\\/","a":1e2,"a":"\\ud83d","passwords":"x","token":""} }',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"AKIAIOSFODNN7EXAMPLE","requestState":"token=AKIAIOSFODNN7EXAMPLE"}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"AKIAIOSFODNN7EXAMPLE","requestState":"AKIAIOSFODNN7EXAMPLE"}}',
]


def test_ids_methods_tokens_and_schemas_are_unchanged(session):
    for line in UNTOUCHED:
        session.add("client", line)
    session.run("a.jsonl", "--redact-patterns", "AKIA[A-Z]+")
    recorded = (session.directory / "a.jsonl").read_text()
    assert "REDACTED" not in recorded
    for line in UNTOUCHED:
        assert f'"msg":{line}' in recorded


@pytest.mark.parametrize("line", [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"inputSchema":{"a":"%s"}}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"requestId":"%s","progressToken":"%s"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"protocolVersion":"%s","requestedSchema":{"a":"%s"}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":{"a":"%s"}}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"tools":[{"name":"t","inputSchema":{"a":"%s"}}]}}',
])
def test_protected_names_protect_nothing_elsewhere(session, line):
    session.add("client", line.replace("%s", "AKIAIOSFODNN7EXAMPLE"))
    session.run("a.jsonl")
    recorded = (session.directory / "a.jsonl").read_text()
    assert "AKIAIOSFODNN7" not in recorded and recorded.count("[REDACTED:rule-1]") == line.count("%s")


def test_placeholders_are_numbered_in_order_of_appearance(session):
    session.add("client", call("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN"))
    session.add("client", call("AKIAIOSFODNN7EXAMPLE and cust-17 and AKIAIOSFODNN7EXAMPLF"))
    session.run("a.jsonl", "--redact-patterns", "cust-[0-9]+")
    lines = (session.directory / "a.jsonl").read_text()
    assert '"a":"[REDACTED:rule-1]"' in lines
    assert '"a":"[REDACTED:rule-2] and [REDACTED:rule-3] and [REDACTED:rule-2]"' in lines


def ask(number, text):
    return ('{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":%d,"k":"%s"}}}'
            % (number, number, json_text(text))).encode() + b"\n"


@pytest.mark.parametrize("match", ["sequential", "by-request", "strict", "fuzzy"])
@pytest.mark.parametrize("live", [VALUE, "another secret altogether", ""])
def test_a_redacted_recording_is_replayed(session, run, mcpreel, match, live):
    """The live client has the secret, another one or none; the recording has not. By request the others of
    its params still tell which of several is meant, in any order."""
    order = [7, 8, 9] if match == "sequential" else [8, 9, 7]
    for number in (7, 8, 9):
        session.client += ask(number, VALUE)
        session.script.append(("out", b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"n":%d}}\n' % (number, number)))
    session.run("a.jsonl", *REDACT)
    assert not finds((session.directory / "a.jsonl").read_bytes())
    ran = run([mcpreel, "replay", "--match", match, session.directory / "a.jsonl"],
              stdin=b"".join(ask(number, live) for number in order))
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [(a["id"], a["result"]["n"]) for a in answers if "result" in a] == [(n, n) for n in order], ran


def test_every_command_redacts_in_the_same_way(session):
    """A document through its journal, a recording in parts, another format of lines."""
    for sender, line in CARRIERS.values():
        text = VALUE if sender.endswith("plain") else json_text(VALUE)
        session.add(sender, line.replace("%s", text))
    for name, options in {"a.json": ["--format", "cassette"], "b.jsonl": ["--rotate", "1000"],
                          "c.trace.jsonl": [], "d.jsonl": ["--plain"]}.items():
        output = session.run(name, *REDACT, *options)
        assert_clean(session.directory, output)
        assert b"[REDACTED" in (session.directory / name).read_bytes()
    assert b"REDACTED:" not in (session.directory / "a.json").read_bytes()
    assert len(list(session.directory.glob("b*.jsonl"))) > 3


def test_the_name_of_a_recording_has_no_secret(session):
    session.env["CANARY"] = "hunter2hunter2"
    for words in (["--name", "x hunter2hunter2 y"], []):
        command = [session.mcpreel, "record", *REDACT, *words, "-o", f"{session.directory}/", "--",
                   *(["cat"] if words else ["env", "hunter2hunter2=1", "cat"])]
        p = subprocess.run([os.fspath(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True,
                           env=session.environment(), timeout=60)
        assert p.returncode == 0 and b"hunter2hunter2" not in p.stderr, p
    names = [path.name for path in session.directory.iterdir()]
    assert len(names) == 2 and not any("hunter2" in name for name in names), names

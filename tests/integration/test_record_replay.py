"""record and replay from end to end: the built program around small servers, as processes."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(180)  # what waits for ever must not do so in silence
SCHEMA = json.loads((ROOT / "docs/formats/recording.schema.json").read_text())

# Sends a notification before every response, writes to stderr, and sends one server request.
SERVER = r"""
import json, sys
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line)
    if "method" not in m or "id" not in m:
        continue
    if m["method"] == "initialize":
        say(id=m["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                "serverInfo": {"name": "small", "version": "1"}})
    elif m["method"] == "tools/call":
        token = m["params"].get("_meta", {}).get("progressToken")
        if token is not None:
            say(method="notifications/progress", params={"progressToken": token, "progress": 1})
        say(method="notifications/message", params={"level": "info", "data": "working"})
        print("working", file=sys.stderr, flush=True)
        args = m["params"].get("arguments", {})
        say(id=m["id"], result={"content": [{"type": "text", "text": json.dumps(args)}],
                                "isError": "fail" in args})
    else:
        say(id=m["id"], error={"code": -32601, "message": "Method not found"})
sys.exit(7)
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, tmp_path / "server.py"]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(path):
    return [line for line in lines_of(path) if line["type"] == "message"]


def request(i, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}) + "\n"


SESSION = "".join([
    request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c"}),
    json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n",
    request(1, "tools/call", name="t", arguments={"a": 1}, _meta={"progressToken": 1}),
    request(2, "tools/call", name="t", arguments={"fail": True}),
    request("3", "own/method"),
])


@pytest.fixture
def recording(run, mcpreel, server, tmp_path):
    path = tmp_path / "session.jsonl"
    ran = run([mcpreel, "record", "-o", path, "--name", "a name", "--tags", "x,y", "--", *server],
              stdin=SESSION.encode())
    assert ran.code == 7, ran
    return path


# --- the bytes

def blob(seed, size, newline=0.01):
    """Random bytes with newlines now and then."""
    r = random.Random(seed)
    data = bytearray(r.randbytes(size))
    for i in range(size):
        if r.random() < newline:
            data[i] = 10
    return bytes(data)


LONG = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"x" * 5_000_000 + b'"}}\n'
STREAMS = {
    "nothing": b"",
    "random": blob(1, 1_000_000),
    "random, without newlines": blob(2, 300_000, 0).replace(b"\n", b" "),
    "lines of one byte": b"a\n" * 20_000,
    "blank lines": b"\n\n \n\t\n\r\n" * 1000,
    "not UTF-8": b'{"id":1,"method":"\xff\xfe"}\n\xc3\n\xed\xa0\x80\n',
    "NUL": b"\0\0\n\0" * 5000,
    "CRLF": b'{"jsonrpc":"2.0","id":1,"method":"a"}\r\n' * 100,
    "no final newline": b'{"jsonrpc":"2.0","id":1,"method":"a"}\n{"jsonrpc":"2.0","id":2,"meth',
    "lines of 5 MB": LONG * 3,
    "messages": b"".join(b'{"jsonrpc":"2.0", "id" : %d.0,"method":"\\u0061","id":1}\n' % i for i in range(3000)),
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"a"}, 7,{"jsonrpc":"2.0","method":"b"}]\n' * 50,
    "a lone surrogate": b'{"jsonrpc":"2.0","id":"\\ud800","method":"a"}\n',
}


def recorded_bytes(path, direction):
    """Returns the lines of one direction in the recording: messages byte for byte, batches in one piece; for invalid lines
    that were too many to be kept, their number and size."""
    decoder = json.JSONDecoder()
    batch = []
    for line in path.read_text().splitlines():
        r = json.loads(line)
        if r["type"] == "raw" and {"client": "c2s", "server": "s2c"}[r["from"]] != direction:
            continue
        if r["type"] == "raw" and "count" in r:
            yield r["count"], r["bytes"]
        elif r["type"] == "raw":
            yield base64.b64decode(r["base64"]) if "base64" in r else r["text"].encode()
        elif r["type"] == "message" and r["dir"] == direction:
            at = line.index('"msg":') + len('"msg":')
            raw = line[at:decoder.raw_decode(line, at)[1]].encode()
            if "batch" in r:
                batch.append(raw)
            else:
                yield raw


@pytest.mark.parametrize("up, down", [(name, name) for name in STREAMS] + [
    ("random", "lines of 5 MB"), ("lines of 5 MB", "random"), ("nothing", "messages")])
def test_every_byte_is_forwarded_in_both_directions_and_recorded(up, down, run, mcpreel, tmp_path):
    (tmp_path / "down").write_bytes(STREAMS[down])
    ran = run([mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--", "sh", "-c", "cat down & cat > up; wait"],
              stdin=STREAMS[up], cwd=tmp_path)
    assert ran.code == 0 and ran.err == b"", ran
    digest = {"up": STREAMS[up], "down": STREAMS[down]}
    assert hashlib.sha256((tmp_path / "up").read_bytes()).digest() == hashlib.sha256(digest["up"]).digest()
    assert hashlib.sha256(ran.out).digest() == hashlib.sha256(digest["down"]).digest()
    for name, direction in ((up, "c2s"), (down, "s2c")):
        if name == "a batch":
            continue
        expected = [line for line in STREAMS[name].split(b"\n") if line.strip(b" \t\r")]
        for kept, got in enumerate(recorded_bytes(tmp_path / "r.jsonl", direction)):
            if isinstance(got, tuple):
                assert kept >= 32 and got == (got[0], sum(map(len, expected[:got[0]]))), name
                del expected[:got[0]]
            else:
                assert expected and got.strip(b" \t\r") == expected.pop(0).strip(b" \t\r"), name
        assert not expected, name


def test_a_message_over_the_limit_is_forwarded_and_is_a_gap(run, mcpreel, tmp_path):
    long = b"x" * ((64 << 20) + 1) + b"\n"
    ran = run([mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--", "cat"], stdin=long + b"after\n")
    assert hashlib.sha256(ran.out).digest() == hashlib.sha256(long + b"after\n").digest()
    gaps = [line for line in lines_of(tmp_path / "r.jsonl") if line["type"] == "gap"]
    assert [(g["from"], g["messages"], g["bytes"]) for g in gaps] == [
        ("client", 1, len(long) - 1), ("server", 1, len(long) - 1)]
    assert (tmp_path / "r.jsonl").stat().st_size < 10_000


def test_standard_streams_may_be_files(mcpreel, tmp_path):
    (tmp_path / "in").write_bytes(STREAMS["random"])
    with open(tmp_path / "in", "rb") as stdin, open(tmp_path / "out", "wb") as stdout:
        code = subprocess.run([mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--", "cat"],
                              stdin=stdin, stdout=stdout, timeout=60).returncode
    assert code == 0
    assert (tmp_path / "out").read_bytes() == STREAMS["random"]


def test_without_standard_input_no_server_is_started(mcpreel, tmp_path):
    ran = subprocess.run(["sh", "-c", '"$0" record -o r.jsonl -- touch started <&-', mcpreel], cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert (ran.returncode, ran.stdout) == (5, b"")
    assert ran.stderr == b"mcpreel: cannot use standard input: bad file descriptor\n"
    assert list(tmp_path.iterdir()) == []


# --- how it ends

@pytest.mark.parametrize("code", [0, 1, 3, 42, 125, 255])
def test_the_exit_code_is_that_of_the_server(code, run, mcpreel, tmp_path):
    ran = run([mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--", "sh", "-c", f"exit {code}"])
    assert (ran.code, ran.out, ran.err) == (code, b"", b"")
    assert lines_of(tmp_path / "r.jsonl")[-1]["exit_code"] == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "PIPE"])
def test_the_exit_code_for_a_signal_is_128_and_its_number(name, run, mcpreel, tmp_path):
    number = getattr(signal, f"SIG{name}")
    ran = run([mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--", "sh", "-c", f"ulimit -c 0; kill -{name} $$"])
    assert (ran.code, ran.out, ran.err) == (128 + number, b"", b"")
    assert lines_of(tmp_path / "r.jsonl")[-2]["signal"] == number


@pytest.mark.parametrize("command, code", [("./nowhere", 127), ("nowhere-at-all", 127), ("./plain", 126), (".", 126)])
def test_a_server_that_cannot_be_started_is_an_error(command, code, run, mcpreel, tmp_path):
    (tmp_path / "plain").write_text("not executable")
    ran = run([mcpreel, "record", "-o", "r.jsonl", "--", command], cwd=tmp_path)
    assert (ran.code, ran.out) == (code, b"")
    assert ran.err.startswith(f"mcpreel: cannot start server '{command}': ".encode())
    assert ran.err.count(b"\n") == (1 if "/" in command or command == "." else 2)  # where to look for it, too
    assert not (tmp_path / "r.jsonl").exists()


def test_a_script_without_its_interpreter_is_reported_as_such(run, mcpreel, tmp_path):
    (tmp_path / "script").write_text("#!/no/such/interpreter\n")
    (tmp_path / "script").chmod(0o755)
    ran = run([mcpreel, "record", "-o", "r.jsonl", "--", "./script"], cwd=tmp_path)
    assert ran.code == 127
    assert ran.err == b"mcpreel: cannot start server './script': the file exists, but its interpreter was not found\n"


@pytest.mark.parametrize("limit", range(10, 20))
def test_without_descriptors_no_file_is_left(limit, mcpreel, tmp_path):
    p = subprocess.run(["prlimit", f"--nofile={limit}", mcpreel, "record", "-o", tmp_path / "r.jsonl", "--", "true"],
                       input=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert p.returncode in (4, 5) and p.stdout == b"", p
    assert p.stderr.startswith(b"mcpreel: cannot ") and b"oo many open files" in p.stderr and p.stderr.count(b"\n") == 1
    assert not (tmp_path / "r.jsonl").exists()


# --- the file

@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_the_recording(umask, run, mcpreel, tmp_path):
    ran = run(["sh", "-c", f'umask {umask:o}; exec "$0" -q record -o r.jsonl -- true', mcpreel], cwd=tmp_path)
    assert ran.code == 0, ran
    assert (tmp_path / "r.jsonl").stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize("what", ["file", "link", "dangling", "fifo"])
@pytest.mark.parametrize("force", [False, True])
def test_an_existing_file_is_rejected(what, force, run, mcpreel, tmp_path):
    path, target = tmp_path / "r.jsonl", tmp_path / "target"
    {"file": lambda: path.write_text("precious"), "fifo": lambda: os.mkfifo(path),
     "link": lambda: (target.write_text("precious"), path.symlink_to(target)),
     "dangling": lambda: path.symlink_to(target)}[what]()
    ran = run([mcpreel, "-q", "record", "-o", path, *(["--force"] if force else []), "--", "touch", tmp_path / "started"])
    if what == "file" and force:  # replaced only by a session (test_record_empty)
        assert ran.code == 0 and (tmp_path / "started").exists() and path.read_text() == "precious"
        return
    assert ran.code == 2 and ran.err.startswith(b"mcpreel: cannot write "), ran
    assert not (tmp_path / "started").exists()
    for protected_file in (path, target):
        assert not protected_file.is_file() or protected_file.read_text() == "precious"
    assert what != "dangling" or not target.exists()


def test_a_missing_directory_is_an_error(run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "-o", tmp_path / "no/r.jsonl", "--", "touch", tmp_path / "started"])
    assert ran.code == 5 and b"there is no folder" in ran.err, ran
    assert not (tmp_path / "started").exists()


def test_every_line_obeys_the_schema(recording):
    validator = jsonschema.Draft7Validator(SCHEMA)
    for line in lines_of(recording):
        validator.validate(line)


DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"


def test_the_rules_of_thoughtjack_hold(recording):
    """TJ-SPEC-010 F-002: three types of line, each with these members."""
    lines = lines_of(recording)
    assert lines[0]["type"] == "header" and lines[-1]["type"] == "footer"
    header = lines[0]
    assert header["version"] == "1.0" and header["name"] == "a name" and header["tags"] == ["x", "y"]
    assert re.fullmatch(DATE, header["recorded_at"]) and header["thoughtjack_version"] == "0.3.0"
    assert isinstance(header["upstream"], str)
    entries = [line for line in lines if line["type"] == "message"]
    assert [e["seq"] for e in entries] == list(range(1, len(entries) + 1))
    for e in entries:
        assert re.fullmatch(DATE, e["ts"]) and e["dir"] in ("c2s", "s2c") and isinstance(e["msg"], dict)
        assert isinstance(e.get("latency_ms", 0), int) and e.get("latency_ms", 0) >= 0
        assert ("latency_ms" in e) == ("result" in e["msg"] or "error" in e["msg"])
    footer = lines[-1]
    assert footer["total_messages"] == len(entries) == footer["client_messages"] + footer["server_messages"]
    assert footer["client_messages"] == sum(e["dir"] == "c2s" for e in entries)
    assert isinstance(footer["duration_ms"], int) and footer["duration_ms"] >= 0
    for line in lines:
        if line["type"] not in ("header", "message", "footer"):
            assert not {"seq", "dir", "msg", "latency_ms"} & line.keys()


def test_forwarded_and_recorded_messages_are_equal(recording):
    entries = messages(recording)
    sent = [json.loads(line) for line in SESSION.splitlines()]
    assert [e["msg"] for e in entries if e["dir"] == "c2s"] == sent
    answers = {json.dumps(e["msg"]["id"]): e["msg"] for e in entries if "latency_ms" in e}
    assert set(answers) == {"0", "1", "2", '"3"'} and answers["2"]["result"]["isError"] is True
    footer = lines_of(recording)[-1]
    assert footer["protocol_version"] == "2025-06-18" and footer["errors"] == 2 and footer["exit_code"] == 7
    assert footer["server_info"] == {"name": "small", "version": "1"} and footer["client_info"] == {"name": "c"}
    stderr_lines = [line["text"] for line in lines_of(recording) if line["type"] == "stderr"]
    assert "".join(stderr_lines) == "working\n" * 2
    times = [line["us"] for line in lines_of(recording)]
    assert times == sorted(times)


def jq(path, *words):
    return subprocess.run(["jq", *words, path], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def test_the_recipes_of_thoughtjack_work(recording, run, mcpreel, tmp_path):
    """TJ-SPEC-010 1.4, word by word."""
    entries = messages(recording)
    assert len(re.findall('"dir": "c2s"', jq(recording, 'select(.dir == "c2s")'))) == sum(e["dir"] == "c2s" for e in entries)
    assert jq(recording, 'select(.msg.method == "tools/call")').count('"tools/call"') == 2
    assert sum(line != "null" for line in jq(recording, "-c", ".msg").splitlines()) == len(entries)
    assert jq(recording, "-r", ".msg.method // empty").count("tools/call\n") == 2
    jq(recording, "empty")
    redacted = tmp_path / "redacted.jsonl"
    redacted.write_text(jq(recording, '.msg.params.arguments.password = "[REDACTED]"'))
    ask = request(9, "tools/call", name="t", arguments={"fail": True, "password": "[REDACTED]"})
    ran = run([mcpreel, "-q", "replay", "--match", "by-request", redacted], stdin=ask.encode())
    assert ran.code == 0 and ran.out.count(b"\n") == 1, ran
    assert json.loads(ran.out)["result"]["isError"] is True
    merged = tmp_path / "merged.jsonl"
    (tmp_path / "two.jsonl").write_text(recording.read_text() * 2)
    merged.write_text(jq(tmp_path / "two.jsonl", "-c", "."))
    ran = run([mcpreel, "replay", "-r", merged], stdin=(request(1, "tools/call", name="t", arguments={"a": 1}) * 3).encode())
    assert ran.code == 0 and ran.err.count(b"warning: ") == 2, ran
    assert b"another header line" in ran.err and b"t: matched #4, but params differ at $.params" in ran.err, ran


# --- signals, crashes, trouble

def start(mcpreel, path, *server, **more):
    return subprocess.Popen([mcpreel, "-q", "record", "-o", path, "--", *server], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@contextlib.contextmanager
def ended(process):
    """Whatever happens in the test, the process does not outlive it."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def test_stderr_is_forwarded_at_once(mcpreel, tmp_path):
    with ended(start(mcpreel, tmp_path / "r.jsonl", "sh", "-c", "printf 'no newline' >&2; read x")) as p:
        assert p.stderr.read(10) == b"no newline"  # the server still waits
        p.stdin.write(b"\n")
        p.stdin.close()
        assert p.wait(60) == 0


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_a_signal_reaches_the_server_and_the_recording_is_complete(name, mcpreel, tmp_path):
    script = f"trap 'echo got {name}; exit 9' {name}; echo up; while :; do sleep 0.02; done"
    with ended(start(mcpreel, tmp_path / "r.jsonl", "sh", "-c", script)) as p:
        assert p.stdout.readline() == b"up\n"
        p.send_signal(getattr(signal, f"SIG{name}"))
        assert p.stdout.read() == f"got {name}\n".encode()
        assert p.wait(60) == 9
    lines = lines_of(tmp_path / "r.jsonl")
    assert [line["text"] for line in lines if line["type"] == "raw"] == ["up", f"got {name}"]
    assert (lines[-1]["type"], lines[-1]["exit_code"]) == ("footer", 9)


# --- replay

def replayed(run, mcpreel, path, lines, *options):
    return run([mcpreel, "-q", "replay", *options, path], stdin="".join(lines).encode())


def run_client(command, lines):
    """A client that waits for each response before its next request; returns everything it got, and the exit code."""
    got = []
    with ended(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)) as p:
        for line in lines:
            m = json.loads(line)
            p.stdin.write(line.encode())
            p.stdin.flush()
            while "id" in m and (not got or json.loads(got[-1]).get("id", got) != m["id"]):
                got.append(p.stdout.readline())
                assert got[-1], p.stderr.read()
        p.stdin.close()
        got += p.stdout.readlines()
        assert p.stderr.read() == b""
        return got, p.wait(60)


def test_replay_sends_the_recorded_responses_with_other_ids(recording, mcpreel):
    lines = [json.loads(line) for line in SESSION.splitlines()]
    new = {"0": "zero", "1": 1.5, "2": 0, '"3"': "\u00e9"}
    for m in lines:
        if "id" in m:
            m["id"] = new[json.dumps(m["id"])]
    got, code = run_client([mcpreel, "-q", "replay", "--match", "by-request", recording],
                         [json.dumps(m) + "\n" for m in lines])
    assert code == 0
    expected = [e["msg"] for e in messages(recording) if e["dir"] == "s2c"]
    for m in expected:
        if "id" in m:
            m["id"] = new[json.dumps(m["id"])]
    assert [json.loads(line) for line in got] == expected


def test_replay_does_not_need_the_server(recording, server, run, mcpreel):
    os.unlink(server[-1])
    ran = replayed(run, mcpreel, recording, SESSION)
    assert ran.code == 0 and len(ran.out.splitlines()) == sum(e["dir"] == "s2c" for e in messages(recording))


@pytest.mark.parametrize("options, code, answers", [([], 1, 1), (["--on-unmatched", "error"], 1, 1),
                                                     (["--on-unmatched", "warn"], 0, 2)])
def test_an_unrecorded_request_is_a_miss(options, code, answers, recording, run, mcpreel):
    ran = replayed(run, mcpreel, recording, [request(1, "prompts/list"), request(2, "ping")], *options)
    assert ran.code == code and len(ran.out.splitlines()) == answers, ran
    assert ran.err.startswith(b"mcpreel: no recorded response for prompts/list; record it with mcpreel record")
    first = json.loads(ran.out.splitlines()[0])
    assert (first["id"], first["error"]["code"]) == (1, -32000)


def test_a_recorded_replay_equals_the_recording(recording, mcpreel, tmp_path):
    _, code = run_client([mcpreel, "-q", "record", "-o", tmp_path / "again.jsonl", "--",
                        mcpreel, "-q", "replay", recording], SESSION.splitlines(keepends=True))
    assert code == 0
    for direction in ("c2s", "s2c"):
        assert list(recorded_bytes(tmp_path / "again.jsonl", direction)) == list(recorded_bytes(recording, direction))


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_a_signal_ends_a_replay_with_0(name, recording, mcpreel):
    with ended(subprocess.Popen([mcpreel, "-q", "replay", recording], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)) as p:
        p.stdin.write(request(1, "ping").encode())
        p.stdin.flush()
        assert p.stdout.readline()
        p.send_signal(getattr(signal, f"SIG{name}"))
        assert p.wait(60) == 0
        assert p.stderr.read() == b""


def test_a_signal_ends_a_replay_whose_output_is_not_read(mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    big = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * 1_000_000}})
    path.write_text("".join(
        json.dumps({"type": "message", "seq": i, "ts": "2026-11-15T21:00:00Z", "dir": d, "msg": json.loads(m)}) + "\n"
        for i, (d, m) in enumerate([("c2s", request(1, "tools/list")), ("s2c", big)], 1)))
    with ended(subprocess.Popen([mcpreel, "-q", "replay", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)) as p:
        p.stdin.write(request(1, "tools/list").encode())
        p.stdin.flush()
        p.stdout.read(1)  # it is answering, and now stuck
        for _ in range(100):  # the first one ends the session, the next one ends the wait
            p.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert p.wait(0.1) == 0
                return
        pytest.fail("it did not end")


NOISY = r"""
import json, sys
m = json.loads(sys.stdin.readline())
sys.stdout.write("x\n" * 5000 + json.dumps([1] * 5000) + "\n" + json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {}}) + "\n")
"""


def test_invalid_lines_are_counted_and_not_recorded_one_by_one(run, mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    ran = run([mcpreel, "record", "-o", path, "--", sys.executable, "-c", NOISY], stdin=ping)
    assert ran.code == 0, ran
    lines = lines_of(path)
    validator = jsonschema.Draft7Validator(SCHEMA)
    assert not [error.message for line in lines for error in validator.iter_errors(line)]
    raw = [line for line in lines if line["type"] == "raw"]
    counted = [line for line in raw if "count" in line]
    assert sum(line.get("count", 1) for line in raw) == 10000
    assert (len(raw), len(counted)) == (32 + 3, 3)
    assert sum(line["bytes"] for line in counted) == 10000 - 32
    at = [line["type"] for line in lines]
    assert at.index("message", at.index("raw")) > max(i for i, kind in enumerate(at) if kind == "raw")
    assert path.stat().st_size < 10000

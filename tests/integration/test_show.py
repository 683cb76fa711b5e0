"""show on files that no test would keep in the tree, and against its documentation."""
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import pytest

from measure import measured
from test_inspect import (HEADER, LIMIT_KB, MB, OPTIMISED, response, call, documented, generate,
                          long_names, many_lists, many_tools, never_answered, one_id)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(*words):
    return measured(OPTIMISED, "show", *words)[:2]


def first_call_without_response(n):
    """Everything waits for the row of the first."""
    return call(1, "patient") if n == 0 else call(2 * n, f"t{n}") + response(2 * n + 1, 2 * n)


@pytest.mark.parametrize("lines, megabytes, limit", [
    (many_tools, 100, LIMIT_KB), (never_answered, 30, 2 * LIMIT_KB),
    (long_names, 30, 2 * LIMIT_KB), (many_lists, 20, LIMIT_KB), (one_id, 20, 2 * LIMIT_KB),
    (first_call_without_response, 40, 2 * LIMIT_KB),
], ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("words", [(), ("-m",), ("is:error",), ("--last", "5")], ids=" ".join)
def test_memory_is_bounded_whatever_the_file_holds(lines, megabytes, limit, words, tmp_path):
    path = generate(tmp_path / "large.jsonl", megabytes * MB, lines)
    rss, seconds = measure(path, *words)
    assert rss <= limit
    assert seconds < 2 + megabytes / 5  # a hang, not a slow machine


def test_a_row_that_waits_too_long_is_skipped(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + "".join(first_call_without_response(n) for n in range(20000)))
    rows = [json.loads(line)["number"] for line in run([mcpreel, "show", "--json", path]).out.splitlines()]
    assert sorted(rows) == list(range(1, 20001))
    assert rows[0] == 2 and rows[-1] == 1


def test_a_closed_pipe_ends_show_without_an_error(mcpreel, tmp_path):
    path = generate(tmp_path / "a.jsonl", 5 * MB, many_tools)
    for disposition in ("trap - PIPE", "trap '' PIPE"):
        p = subprocess.run(["bash", "-c", f"{disposition}; '{mcpreel}' show '{path}' | head -n 1; "
                            "echo ${PIPESTATUS[0]}"], capture_output=True, text=True, timeout=60)
        assert p.stderr == ""
        assert p.stdout.splitlines()[1] in ("0", "141")


def test_the_json_output_has_the_documented_members(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + many_tools(0))
    operation = json.loads(run([mcpreel, "show", "--json", path]).out)
    message = json.loads(run([mcpreel, "show", "--json", "-m", path]).out.splitlines()[0])
    assert documented("Operations that show lists") == list(operation)
    assert documented("Messages that show lists") == list(message)


def words_of_help(mcpreel, run):
    text = run([mcpreel, "help", "filters"]).out.decode()
    return re.findall(r"^  (\S+) +.+$", text.split("The keys:")[1], re.M)


def test_the_documented_keys_and_words_are_those_of_the_program(mcpreel, run):
    page = (ROOT / "docs" / "filters.md").read_text().split("## The keys")[1]
    assert re.findall(r"^\| `([^`]+)`", page, re.M) == words_of_help(mcpreel, run)


def test_every_documented_example_is_a_valid_filter(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + many_tools(0))
    page = (ROOT / "docs" / "filters.md").read_text().split("## The keys")[1]
    examples = re.findall(r"^\| `[^`]+`.*\| `([^`]+)` \|$", page, re.M)
    assert len(examples) > 20
    for example in examples:
        assert run([mcpreel, "show", path, "--filter", example]).code == 0


def line(**members):
    return json.dumps(members) + "\n"


def rich_recording():
    """Everything that a filter can select, at least once."""
    lines = [line(type="header", version="1.0", recorded_at="2026-11-15T21:00:00Z", upstream="u",
                  thoughtjack_version="0.3.0", name="nightly", us=0)]
    seq = 0

    def message_line(us, direction, msg, **more):
        nonlocal seq
        seq += 1
        lines.append(line(type="message", seq=seq, ts="2026-11-15T21:00:00Z", dir=direction, msg=msg, us=us, **more))

    def request_line(us, number, method, params=None, **more):
        message_line(us, "c2s", {"id": number, "method": method, **({"params": params} if params else {})}, **more)

    def response_line(us, number, result, **more):
        message_line(us, "s2c", {"id": number, "result": result}, **more)

    request_line(1_000, 0, "initialize")                                                                      # 1
    response_line(13_000, 0, {"serverInfo": {"name": "fs"}})
    message_line(13_500, "c2s", {"method": "notifications/initialized"})                                      # 2
    request_line(20_000, 1, "tools/call", {"name": "write_file", "arguments": {"path": "/tmp/a", "n": 1.5},   # 3
                                  "_meta": {"progressToken": "p", "traceparent": "00-1"}})
    message_line(120_000, "s2c", {"method": "notifications/progress", "params": {"progressToken": "p", "progress": 3}})
    message_line(200_000, "s2c", {"id": "q1", "method": "elicitation/create", "params": {"message": "Overwrite?"}})  # 4
    message_line(5_300_000, "c2s", {"id": "q1", "result": {"action": "accept"}})
    response_line(6_400_000, 1, {"structuredContent": {"n": 1}, "content": [
        {"type": "image", "data": "AAAA", "mimeType": "image/png"}, {"type": "audio", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///r", "text": "r"}},
        {"type": "resource_link", "uri": "file:///l"}, {"type": "text", "text": "t", "annotations": {"priority": 1}}]})
    request_line(7_000_000, 2, "tools/call", {"name": "read_file", "arguments": {"path": "[REDACTED]"}},       # 5
        redacted=["/params/arguments/path"])
    response_line(7_012_000, 2, {"isError": True})
    request_line(7_020_000, 3, "prompts/get", {"name": "review"})                                             # 6
    message_line(7_021_000, "s2c", {"id": 3, "error": {"code": -32602, "message": "no"}})
    lines.append(line(type="raw", **{"from": "server"}, text="Listening on 80", us=7_100_000))       # 7
    request_line(7_200_000, 4, "resources/read", {"uri": "file:///a"})                                        # 8
    message_line(7_201_000, "c2s", {"method": "notifications/cancelled", "params": {"requestId": 4}})
    request_line(7_210_000, 5, "resources/read", {"uri": "file:///b"})                                        # 9
    message_line(7_211_000, "c2s", {"method": "notifications/cancelled", "params": {"requestId": 5}})
    response_line(7_212_000, 5, {})
    response_line(7_300_000, 99, {})                                                                         # 10
    response_line(7_301_000, 0, {})                                                                          # 11
    request_line(8_000_000, 6, "tools/call", {"name": "ask"})                                                 # 12
    response_line(8_001_000, 6, {"resultType": "input_required", "requestState": "s"})
    request_line(8_002_000, 7, "tools/call", {"name": "ask", "requestState": "s"})                            # 13
    response_line(8_003_000, 7, {"resultType": "task", "taskId": "t-1", "status": "working"})
    request_line(8_004_000, 8, "tasks/get", {"taskId": "t-1"})                                                # 14
    response_line(8_005_000, 8, {"taskId": "t-1", "status": "completed", "result": {}})
    request_line(9_000_000, 9, "tools/list")                                                                  # 15
    response_line(9_001_000, 9, {"tools": [{"name": "ask", "description": "x"}]})
    request_line(9_002_000, 10, "tools/list")                                                                 # 16
    response_line(9_003_000, 10, {"tools": [{"name": "ask", "description": "y"}]})
    request_line(9_100_000, 11, "ping", exchange=5, session=2)                                                # 17
    lines.append(line(type="http", ev="response", exchange=5, status=503, us=9_101_000))
    lines.append(line(type="http", ev="end", exchange=5, by="server", clean=True, us=9_102_000))
    lines.append(line(type="stderr", text="ready\n", us=9_103_000))
    request_line(99_000_000, 12, "ping")                                                                      # 18
    request_line(99_000_100, 13, "ping", conn=7)                                                              # 19
    lines.append(line(type="proc", ev="exit", exit_code=1, us=99_000_200, conn=7))
    return "".join(lines)


# Which operations a filter finds: for every key, every word and every spelling of the grammar.
FOUND = {
    "method:tools/call": [3, 4, 5, 12, 13, 14],
    "method:tools/*": [3, 4, 5, 12, 13, 14, 15, 16],
    "method=ping": [17, 18, 19],
    "method!=ping": [1, 2, 3, 4, 5, 6, 8, 9, 12, 13, 14, 15, 16],
    "method~^TOOLS/L": [15, 16],
    "method:/^tools.l/": [15, 16],
    "method:/^TOOLS.l/i": [15, 16],
    "tool:write_*": [3, 4],
    "tool:write_file,read_file": [3, 4, 5],
    "tool:Write_file": [],
    'tool:"write_*"': [],
    "prompt:review": [6],
    "uri:file:///a": [8],
    "uri:file:///*": [8, 9],
    "task:t-*": [12, 13, 14],
    "id:q1": [4],
    "id:12": [18],
    "server:fs": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    "trace:nightly": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    "session:2": [17],
    "dir:s2c": [4, 7, 10, 11],
    "dir:c2s prompt:*": [6],
    "dir:out": [4, 7, 10, 11],
    "dir:in uri:*": [8, 9],
    "kind:req dir:s2c": [4],
    "kind:res": [10, 11],
    "kind:notif": [2],
    "kind:op uri:*": [8, 9],
    "kind:malformed": [7],
    "kind:request prompt:*": [6],
    "kind:response": [10, 11],
    "kind:notification": [2],
    "is:error": [5, 6, 7, 17, 19],
    "is:ok tool:*": [3, 4, 12, 13, 14],
    "is:rpc-error": [6],
    "is:tool-error": [5],
    "is:http-error": [17],
    "is:malformed": [7],
    "is:pending": [18],
    "is:running": [18],
    "is:server-exited": [19],
    "is:cancelled": [8, 9],
    "is:late": [9],
    "is:slow": [3, 4],
    "is:orphan": [10],
    "is:duplicate": [11],
    "is:retry": [13],
    "is:mrtr": [12, 13, 14],
    "is:task": [12, 13, 14],
    "is:progress": [3, 4],
    "is:redacted": [5],
    "is:drift": [16],
    "is:marked": [],
    "is:binary": [3, 4],
    "is:inferred": [4],
    "is!=ok kind:req": [5, 6, 8, 9, 17, 18, 19],
    "code:-32602": [6],
    "code:-32601,-32602": [6],
    "code:-32700..-32600": [6],
    "code<0": [6],
    "code:>0": [],
    "status:>=400": [17],
    "status-code:503": [17],
    "status:500..599": [17],
    "status!=503": [],
    "dur:>5s": [3, 4],
    "dur:1m..": [],
    "dur<1ms kind:req": [19],
    "server-dur:>1s": [3, 4],
    "server-dur:1s..2s": [3, 4],
    "wait:>=5100000us": [3, 4],
    "wait:>1m": [],
    "gap:>1m": [18],
    "gap:>1h": [],
    "size:>300": [3, 4],
    "size:<20B": [7],
    "size:>1KB": [],
    "larger-than:300": [3, 4],
    "req-size:>100": [3, 4, 5],
    "res-size:>=0.3KB": [3, 4],
    "t:1m..": [18, 19],
    "t:..13ms": [1],
    "t:>=21:01": [18, 19],
    "t:<2026-11-15T21:00:00.013Z": [1],
    "arg.path": [3, 4, 5],
    "arg.path:/tmp/*": [3, 4],
    "arg.path~^/TMP/": [3, 4],
    "arg.path!=/tmp/a": [5],
    "arg.n:1.5": [3, 4],
    "arg.n>1": [3, 4],
    "arg.n:1..2": [3, 4],
    "result.content[1].type:audio": [3, 4],
    "result.content[*].type:image,video": [3, 4],
    "result.structuredContent.n=1": [3, 4],
    "meta.progressToken:p": [3, 4],
    "meta.traceparent": [3, 4],
    "$.params.message~overwrite": [4],
    "$..requestState:s": [12, 13, 14],
    "has:structured": [3, 4],
    "has:image": [3, 4],
    "has:audio": [3, 4],
    "has:resource": [3, 4],
    "has:link": [3, 4],
    "has:annotations": [3, 4],
    "has:traceparent": [3, 4],
    "passwd": [],
    "OVERWRITE": [4],
    '"Listening on"': [7],
    "/list.*80/": [7],
    "tool:ask is:task": [12, 13, 14],
    "tool:ask AND is:retry": [13],
    "prompt:* OR uri:file:///a": [6, 8],
    "prompt:*|uri:file:///a": [6, 8],
    "is:error -tool:* -kind:malformed": [6, 17, 19],
    "is:error !tool:* NOT kind:malformed": [6, 17, 19],
    "-(is:ok OR is:error) kind:req": [8, 9, 18],
    "(tool:read_file | prompt:*) code:-32602": [6],
}

# Which messages, by their numbers, and what else is recorded, by its type.
FOUND_MESSAGES = {
    "kind:req is:retry": [22],
    "kind:res is:error": [10, 12],
    "kind:notif": [3, 5, 14, 16],
    "kind:malformed": ["message"],
    "kind:stderr": ["stderr"],
    "kind:http": ["http", "http"],
    "kind:http dir:s2c": ["http"],
    "is:http-error": ["http"],
    "status:503": ["http"],
    "is:progress": [5],
    "is:drift": [29],
    "is:binary": [8],
    "is:redacted": [9],
    "has:audio": [8],
    "dir:s2c kind:req": [6],
    "arg.path": [4, 9],
    "size:>300": [8],
    "gap:>1m": [31],
    "dur:>1s": [7, 8],
    "t:7.2s..7.22s": [13, 14, 15, 16, 17],
    "ready": ["stderr"],
    "is:late": [17],
    "is:cancelled": [14, 16],
    "id:q1": [6, 7],
}


@pytest.fixture(name="rich", scope="module")
def rich_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rich") / "rich.jsonl"
    path.write_text(rich_recording())
    return path


@pytest.mark.parametrize("query", FOUND)
def test_a_filter_finds_operations(query, rich, mcpreel, run):
    ran = run([mcpreel, "show", "--json", rich, "--filter", query])
    assert ran.code == 0
    assert [json.loads(row)["number"] for row in ran.out.splitlines()] == FOUND[query]


@pytest.mark.parametrize("query", FOUND_MESSAGES)
def test_a_filter_finds_messages(query, rich, mcpreel, run):
    rows = map(json.loads, run([mcpreel, "show", "--json", "-m", rich, "--filter", query]).out.splitlines())
    assert [row.get("seq") or row["type"] for row in rows] == FOUND_MESSAGES[query]


def test_every_key_and_word_can_be_searched(mcpreel, run):
    queries = " ".join([*FOUND, *FOUND_MESSAGES])
    text = run([mcpreel, "help", "filters"]).out.decode().split("The keys:")[1]
    parts = re.split(r"The words of '(\w+)':", text)
    for key in re.findall(r"^  (\S+)", parts[0], re.M):
        assert re.search(rf"(?<![\w-]){re.escape(key)}[:.~=!<>\[]", queries), key
    for key, words in zip(parts[1::2], parts[2::2]):
        for word in re.findall(r"^  (\S+)", words, re.M):
            assert re.search(rf"(?<![\w-]){key}(:|!=)([\w-]+,)*{word}(?![\w-])", queries), f"{key}:{word}"


def test_the_word_of_every_outcome_finds_it(rich, mcpreel, run):
    rows = [json.loads(row) for row in run([mcpreel, "show", "--json", rich]).out.splitlines()]
    outcomes = {row["outcome"] for row in rows} - {"none"}
    assert len(outcomes) == 9
    for outcome in outcomes:
        found = run([mcpreel, "show", "--json", rich, f"is:{outcome}"]).out.splitlines()
        assert {row["number"] for row in rows if row["outcome"] == outcome} <= \
            {json.loads(row)["number"] for row in found}


def on_a_terminal(command, columns):
    """Returns the output on a terminal of that width, line by line."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", str(columns)], stdin=theirs, check=True)
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=env)
    os.close(theirs)
    shown = b""
    with open(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # EIO is its end
        while more := terminal.read(65536):
            shown += more
    assert process.wait(60) == 0, process.stderr.read()
    return re.sub("\x1b\\[[0-9;]*m", "", shown.decode()).splitlines()


@pytest.mark.parametrize("columns", [80, 100, 132, 200])
def test_rows_are_cut_on_a_terminal_and_complete_in_a_pipe(columns, mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    name = "a_tool_whose_name_is_" + "very_" * 9 + "long"
    path.write_text(HEADER + call(1, name) + response(2, 1))
    for words in ([], ["-m"]):
        lines = on_a_terminal([mcpreel, "show", *words, path], columns)
        assert all(len(line) <= columns for line in lines) and any("…" in line for line in lines)
        assert name in run([mcpreel, "show", *words, path]).out.decode()


class FollowedOutput:
    """mcpreel show -f, and the rows that it has written so far."""

    def __init__(self, mcpreel, path, *words):
        self.process = subprocess.Popen([mcpreel, "show", "-f", *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.out = b""

    def until(self, text):
        deadline = time.monotonic() + 30
        while text not in self.out.decode():
            assert time.monotonic() < deadline and self.process.poll() is None, (text, self.out, self.process.poll())
            self.out += self.process.stdout.read() or b""
            time.sleep(0.02)

    def end(self, code=0):
        """Its exit code and standard error."""
        assert self.process.wait(30) == code
        os.set_blocking(self.process.stdout.fileno(), True)
        self.out += self.process.stdout.read()
        return self.process.stderr.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def append(path, text):
    with path.open("a") as file:
        file.write(text)


FOOTER = '{"type":"footer","total_messages":0,"duration_ms":0,"client_messages":0,"server_messages":0}\n'


def test_follow_shows_operations_as_they_end_and_ends_with_the_footer(mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("")
    with FollowedOutput(mcpreel, path) as followed:
        append(path, HEADER + call(1, "slow") + call(2, "first"))
        append(path, response(3, 2))
        followed.until("tools/call first")  # though one before it goes on
        line = call(4, "second") + response(5, 4)
        append(path, line[:150])  # a torn line
        time.sleep(0.3)
        append(path, line[150:])
        followed.until("tools/call second")
        assert "slow" not in followed.out.decode()
        append(path, response(6, 1) + FOOTER)
        assert followed.end() == ""
    rows = re.findall(r"tools/call (\w+) +(\w+)", followed.out.decode())
    assert rows == [("first", "ok"), ("second", "ok"), ("slow", "ok")]


def test_follow_shows_messages_and_json(mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + call(1, "a"))
    with FollowedOutput(mcpreel, path, "--json", "-m") as followed:
        followed.until('"role":"request"')
        append(path, response(2, 1))
        followed.until('"role":"response"')
        append(path, FOOTER)
        assert followed.end() == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_follow_ends_on_a_signal_and_shows_open_operations(number, mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + call(1, "a") + response(2, 1) + call(3, "b"))
    with FollowedOutput(mcpreel, path) as followed:
        followed.until("tools/call a")
        followed.process.send_signal(number)
        assert followed.end() == ""
    assert re.search(r"tools/call b +pending", followed.out.decode())


def test_follow_ends_when_the_recorder_was_killed(mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    recorder = subprocess.Popen([mcpreel, "record", "-o", path, "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    try:
        recorder.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/x"}\n')
        recorder.stdin.flush()
        while not path.exists():
            time.sleep(0.02)
        with FollowedOutput(mcpreel, path) as followed:
            followed.until("notifications/x")
            time.sleep(0.3)  # so that it was seen to be written
            recorder.kill()
            recorder.wait()
            assert "has no footer: its recorder has ended" in followed.end()
    finally:
        recorder.kill()
        recorder.wait()


def test_follow_of_a_live_recording_ends_with_it(mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    recorder = subprocess.Popen([mcpreel, "-q", "record", "-o", path, "--", mcpreel, "demo", "server"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        recorder.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        recorder.stdin.flush()
        while not path.exists():
            time.sleep(0.02)
        with FollowedOutput(mcpreel, path) as followed:
            followed.until("ping")
            recorder.stdin.close()
            assert recorder.wait(30) == 0
            assert followed.end() == ""
    finally:
        recorder.kill()
        recorder.wait()


def test_follow_rejects_files_that_cannot_be_followed(mcpreel, run, tmp_path):
    recording, cassette = tmp_path / "a.jsonl", tmp_path / "a.json"
    recording.write_text(HEADER + call(1, "a") + response(2, 1))
    assert run([mcpreel, "convert", recording, "-o", cassette]).code == 0
    for words in (["-f", f"{recording}:1"], ["-f", "--last", "3", recording], ["-f", "-"], ["-f", cassette]):
        assert run([mcpreel, "show", *words]).code == 2
    assert run([mcpreel, "show", "-f", tmp_path / "none.jsonl"]).code == 3


def test_follow_reports_a_truncated_file(mcpreel, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + call(1, "a") + response(2, 1))
    with FollowedOutput(mcpreel, path) as followed:
        followed.until("tools/call a")
        os.truncate(path, 10)
        assert "became shorter" in followed.end(3)

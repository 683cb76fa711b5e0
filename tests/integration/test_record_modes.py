"""replay --record-mode: recordings that are made, replayed and grow, in every format, on stdio and HTTP."""
import json
import os
import subprocess
import sys

import pytest
from bridging import INITIALIZED, initialized, initialize, session_server, stdio, upstream  # noqa: F401
from http_peers import WAIT, Program, call, result
from test_replay import SESSION, write_recording

# Answers every request with its method and its name; "die" ends the process, "pass" has a secret, "big" is long.
SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    name = message.get("params", {}).get("name")
    if name == "die":
        os._exit(3)
    answer = {"said": [message["method"], name], "password": "hunter2-hunter2"} if name == "pass" else {"said": [message["method"], name]}
    if name == "big":
        answer["text"] = "x" * 200000
    if message["method"] == "initialize":
        answer = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
"""
COMMAND = [sys.executable, "-c", SERVER]
FORMATS = ["a.jsonl", "a.json", "a.trace.jsonl", "a.jsonrpc", "a.har", "a.inspector.json", "a.streamable-http.json", "a.http-sse.json",
           "a.jsonl.gz", "a.json.zst"]


def named(i, name):
    return call(i, "tools/call", name=name)


def echo_response(i, name):
    return result(i, {"said": ["tools/call", name]})


@pytest.fixture
def replay(mcpreel, run, tmp_path):
    """Sends an initialize and the calls to a replay, and returns their responses, the report and the run."""
    def play(mode, file, names, *options, server=COMMAND, code=0, start=()):
        lines = [initialize(), INITIALIZED, *(named(i, name) for i, name in enumerate(names, 1))]
        report = tmp_path / "report.json"
        ran = run([*start, mcpreel, "replay", "--force", "--report", report, "--record-mode", mode, *options, file, *(["--", *server] if server else [])],
                  stdin="".join(json.dumps(line) + "\n" for line in lines).encode())
        assert ran.code == code, str(ran)
        answers = {m["id"]: m for m in map(json.loads, ran.out.splitlines()) if m["id"] != 0}
        recording_report = json.loads(report.read_text())["recording"] if report.exists() else None
        report.unlink(missing_ok=True)
        return answers, recording_report, ran

    return play


def counts(recording_report):
    return recording_report["replayed"], recording_report["appended"], recording_report["rewritten"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_recording_is_made_grows_and_is_rewritten(replay, mcpreel, run, tmp_path, name):
    file = tmp_path / name
    answers, recording_report, _ = replay("once", file, "ab")
    assert answers == {1: echo_response(1, "a"), 2: echo_response(2, "b")}
    assert (recording_report["mode"], counts(recording_report), recording_report["written"]) == ("once", (0, 0, 2), os.fspath(file))
    made = file.read_bytes()

    answers, recording_report, _ = replay("once", file, "ba", server=["false"])
    assert answers == {1: echo_response(1, "b"), 2: echo_response(2, "a")}
    assert (counts(recording_report), recording_report["written"], file.read_bytes()) == ((2, 0, 0), None, made)

    answers, recording_report, _ = replay("append", file, "abcd")
    assert answers == {i: echo_response(i, n) for i, n in enumerate("abcd", 1)}
    assert (recording_report["mode"], counts(recording_report), recording_report["written"]) == ("append", (2, 2, 0), os.fspath(file))

    answers, recording_report, _ = replay("new_episodes", file, "abcd", server=["false"])
    assert (answers == {i: echo_response(i, n) for i, n in enumerate("abcd", 1)}) and counts(recording_report) == (4, 0, 0)
    answers, recording_report, _ = replay("none", file, "dcba", server=None)
    assert (answers == {i: echo_response(i, n) for i, n in enumerate("dcba", 1)}) and counts(recording_report) == (4, 0, 0)
    assert run([mcpreel, "check", file]).code == 0

    answers, recording_report, _ = replay("all", file, "x")
    assert (answers, recording_report["mode"], counts(recording_report)) == ({1: echo_response(1, "x")}, "rewrite", (0, 0, 1))
    replay("none", file, "a", server=None, code=1)
    assert os.listdir(tmp_path) == [name]


def test_the_report_says_that_a_request_was_forwarded(replay, mcpreel, run, tmp_path):
    file, report = tmp_path / "a.jsonl", tmp_path / "full.json"
    replay("once", file, "a")
    lines = [initialize(), INITIALIZED, named(1, "new")]
    ran = run([mcpreel, "replay", "--report", report, "--record-mode", "append", file, "--", *COMMAND], stdin="".join(json.dumps(line) + "\n" for line in lines).encode())
    assert ran.code == 0, str(ran)
    (miss,) = json.loads(report.read_text())["unmatched_requests"]
    assert miss["text"] == "no recorded response for tools/call 'new'; forwarded to the passthrough server"
    assert miss["text"].encode() in ran.err, str(ran)


def test_an_appended_recording_verifies_and_has_one_footer(replay, mcpreel, run, tmp_path):
    file = tmp_path / "a.jsonl"
    replay("once", file, "a")
    for name in "bc":
        replay("append", file, ["a", name])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["type"] for line in lines].count("header") == 1
    assert [i for i, line in enumerate(lines) if line["type"] == "footer"] == [len(lines) - 1]
    sessions = {}
    for line in lines:
        if line["type"] == "message":
            sessions.setdefault(line["conn"], []).append(line["msg"].get("method"))
    assert [list(filter(None, s)) for s in sessions.values()] == [["initialize", "notifications/initialized", "tools/call"]] * 3
    assert lines[-1]["total_messages"] == sum(map(len, sessions.values()))
    assert run([mcpreel, "verify", file, "--", *COMMAND]).code == 0


def test_secrets_of_new_calls_are_redacted(replay, tmp_path):
    for mode in ("once", "append"):
        file = tmp_path / f"{mode}.jsonl"
        if mode == "append":
            write_recording(file, SESSION)
        answers, _, _ = replay(mode, file, ["pass"])
        assert answers[1]["result"]["password"] == "hunter2-hunter2"
        assert b"hunter2" not in file.read_bytes() and b"[REDACTED" in file.read_bytes()


def test_a_pending_file_leaves_the_recording_alone(replay, tmp_path):
    file, pending = tmp_path / "a.jsonl", tmp_path / "a.new"
    replay("once", file, "a")
    before = file.read_bytes()
    _, recording_report, _ = replay("append", file, "a", "--pending", pending)
    assert recording_report["written"] is None and not pending.exists()
    _, recording_report, _ = replay("append", file, "ab", "--pending", pending)
    assert (recording_report["written"], counts(recording_report), file.read_bytes()) == (os.fspath(pending), (1, 1, 0), before)
    replay("none", pending, "ab", server=None)
    _, recording_report, _ = replay("rewrite", file, "z", "--pending", pending)  # --force is given
    assert (recording_report["written"], counts(recording_report), file.read_bytes()) == (os.fspath(pending), (0, 0, 1), before)
    os.replace(pending, file)
    replay("none", file, "z", server=None)
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize("mode", ["append", "rewrite"])
def test_a_pending_file_is_not_the_recording(replay, mcpreel, tmp_path, mode):
    file = tmp_path / "a.jsonl"
    replay("once", file, "a")
    before = file.read_bytes()
    (tmp_path / "b.jsonl").symlink_to(file)
    for name in ("./a.jsonl", "b.jsonl"):
        _, _, ran = replay(mode, file, "b", "--pending", f"{tmp_path}/{name}", code=2)
        assert b"'--pending' names the recording itself" in ran.err, str(ran)
    assert file.read_bytes() == before


@pytest.mark.parametrize("mode", ["append", "rewrite"])
def test_a_server_that_exits_changes_only_calls_with_a_response(replay, tmp_path, mode):
    file = tmp_path / "a.jsonl"
    replay("once", file, "a")
    before = file.read_bytes()
    _, recording_report, ran = replay(mode, file, ["a", "die"], code=4)
    assert file.read_bytes() == before and counts(recording_report) == ((1, 0, 0) if mode == "append" else (0, 0, 0)), str(ran)
    for remaining in tmp_path.glob("*.journal"):
        assert mode == "rewrite" and b"'a.jsonl" not in ran.err and os.fspath(remaining).encode() in ran.err
        remaining.unlink()
    if mode == "append":
        answers, recording_report, _ = replay(mode, file, ["a", "b", "die"], code=4)
        assert answers[2] == echo_response(2, "b") and "error" in answers[3] and counts(recording_report) == (1, 1, 0)
        replay("none", file, "ab", server=None)
        assert b'"die"' not in file.read_bytes()


def post_calls(program, methods):
    """The HTTP statuses of an initialize and of calls in its session."""
    client = program.client()
    first = client.post(initialize())
    inside = [("Mcp-Session-Id", first.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
    client.post(INITIALIZED, headers=inside)
    return [first.status] + [client.post(named(i, name), headers=inside).status for i, name in enumerate(methods, 1)]


@pytest.mark.parametrize("listens", [False, True], ids=["stdio", "http"])
@pytest.mark.parametrize("remote", [False, True], ids=["command", "url"])
def test_rewrite_keeps_the_old_file_if_the_server_dies(mcpreel, upstream, stdio, tmp_path, listens, remote):  # noqa: F811
    def echoed(conn, request):
        if request.json.get("params", {}).get("name") == "die":
            conn.close()
        else:
            conn.respond(json_=result(request.json["id"], {"said": [request.json["method"], request.json.get("params", {}).get("name")]}))

    file = tmp_path / "a.jsonl"
    write_recording(file, SESSION)
    before = file.read_bytes()
    words = ["--record-mode", "rewrite", file, *(["--url", upstream(session_server(echoed)).url] if remote else ["--", *COMMAND])]
    if listens:
        program = Program([mcpreel, "replay", "--listen", "0", *words])
        try:
            assert post_calls(program, ["a", "die"])[-1] == 502
            code, err = program.stop(), program.err
        finally:
            program.close()
    else:
        one = initialized(stdio("replay", *words))
        one.get_response(named(1, "a"))
        one.send(named(2, "die"))
        code, err = one.close(), one.stderr_text
    assert code == 4 and "the server failed; " in str(err), (code, err)
    assert file.read_bytes() == before


def test_a_second_writer_gets_an_error_that_names_the_first(replay, mcpreel, tmp_path):
    file = tmp_path / "a.json"
    replay("once", file, "a")
    for mode, path in (("append", file), ("rewrite", file), ("once", tmp_path / "new.jsonl")):
        with subprocess.Popen([mcpreel, "replay", "--record-mode", mode, path, "--", *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as first:
            first.stdin.write(json.dumps(initialize()).encode() + b"\n")
            first.stdin.flush()
            assert first.stdout.readline()
            _, _, ran = replay(mode, path, "b", code=2)
            assert f"process {first.pid} (mcpreel) writes to it".encode() in ran.err, str(ran)
            first.stdin.close()
            assert first.wait(WAIT) == 0


def test_a_replay_that_is_killed_leaves_the_new_calls(replay, mcpreel, run, tmp_path):
    file = tmp_path / "a.jsonl"
    replay("once", file, "a")
    before = file.read_bytes()
    with subprocess.Popen([mcpreel, "replay", "--record-mode", "append", file, "--", *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as first:
        for line in (initialize(), named(1, "b")):
            first.stdin.write(json.dumps(line).encode() + b"\n")
            first.stdin.flush()
            assert first.stdout.readline()
        first.kill()
    assert file.read_bytes() == before
    remaining = tmp_path / "a.jsonl.appended.jsonl"
    _, _, ran = replay("append", file, "b", code=2)
    assert b"merge it with 'mcpreel convert', or remove it" in ran.err
    assert run([mcpreel, "convert", "-o", tmp_path / "both.jsonl", file, remaining]).code == 0
    replay("none", tmp_path / "both.jsonl", "ab", server=None)


def test_a_rewrite_that_is_killed_leaves_a_journal(replay, mcpreel, run, tmp_path):
    file, journal = tmp_path / "a.jsonl", tmp_path / "a.jsonl.recording.journal"
    replay("once", file, "a")
    before = file.read_bytes()
    with subprocess.Popen([mcpreel, "replay", "--record-mode", "rewrite", file, "--", *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as first:
        for line in (initialize(), named(1, "b")):
            first.stdin.write(json.dumps(line).encode() + b"\n")
            first.stdin.flush()
            assert first.stdout.readline()
        first.kill()
    assert file.read_bytes() == before
    ran = run([mcpreel, "check", "--fix", journal])
    assert ran.code == 2 and b"it exists already" in ran.err and b"--force" in ran.err and file.read_bytes() == before, str(ran)
    assert run([mcpreel, "check", "--fix", "-o", tmp_path / "new.jsonl", journal]).code == 0
    assert run([mcpreel, "check", "--fix", "--force", journal]).code == 0
    for path in (tmp_path / "new.jsonl", file):
        replay("none", path, "b", server=None)


@pytest.mark.parametrize("mode", ["once", "append", "rewrite"])
def test_a_full_disk_keeps_the_old_file_and_the_journal(replay, tmp_path, mode):
    """No file of the session can be longer than 64 kB, and the second response is."""
    file = tmp_path / "a.jsonl"
    if mode != "once":
        replay("once", file, "a")
    before = file.read_bytes() if file.exists() else None
    answers, recording_report, ran = replay(mode, file, ["a", "big", "c"], code=5, start=["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"])
    assert len(answers) == 3 and len(answers[2]["result"]["text"]) == 200000
    assert (file.read_bytes() if file.exists() else None) == before
    assert recording_report["written"] is None and counts(recording_report)[1:] == (0, 0)
    remaining, = (path for path in tmp_path.iterdir() if path != file)
    assert os.fspath(remaining).encode() in ran.err and b"incomplete" in ran.err, str(ran)
    assert b'"c"' in remaining.read_bytes()


def test_new_calls_for_which_the_file_has_no_room_remain_beside_it(replay, tmp_path):
    """The signal SIGXFSZ is an error. No file can be longer than 300 kB: recording and session are shorter, both together are not."""
    file = tmp_path / "a.jsonl"
    replay("once", file, ["big"])
    before = file.read_bytes()
    _, recording_report, ran = replay("append", file, ["big", "big"], code=5, start=["sh", "-c", 'ulimit -f 600; exec "$@"', "sh"])
    assert file.read_bytes() == before and counts(recording_report) == (1, 0, 0)
    assert b"a.jsonl.appended.jsonl'" in ran.err and b"File too large" in ran.err, str(ran)
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "a.jsonl.appended.jsonl"]


def test_a_folder_that_cannot_be_written_is_an_error_before_the_session(replay, tmp_path):
    for mode in ("once", "append", "rewrite"):
        _, _, ran = replay(mode, tmp_path / "missing" / "a.jsonl", "a", code=5)
        assert ran.err.count(b"\n") <= 2 and b"missing/a.jsonl" in ran.err


@pytest.mark.parametrize("mode", ["append", "rewrite"])
def test_a_symbolic_link_is_not_replaced(replay, tmp_path, mode):
    file, link = tmp_path / "a.jsonl", tmp_path / "link.jsonl"
    replay("once", file, "a")
    link.symlink_to(file)
    _, _, ran = replay(mode, link, "b", code=2)
    assert b"it is a symbolic link" in ran.err and link.is_symlink(), str(ran)


@pytest.mark.parametrize("listens", [False, True], ids=["stdio", "http"])
@pytest.mark.parametrize("remote", [False, True], ids=["command", "url"])
def test_every_kind_of_client_and_server_is_recorded(mcpreel, upstream, stdio, tmp_path, listens, remote):  # noqa: F811
    def echoed(conn, request):
        conn.respond(json_=result(request.json["id"], {"said": [request.json["method"], request.json.get("params", {}).get("name")]}))

    server = ["--url", upstream(session_server(echoed)).url] if remote else ["--", *COMMAND]
    file = tmp_path / "a.jsonl"

    def session(mode, names):
        words = ["replay", "--record-mode", mode, *server[:2 if remote else 0], file, *([] if remote else server)]
        if not listens:
            one = initialized(stdio(*words))
            answers = [one.get_response(named(i, name)) for i, name in enumerate(names, 1)]
            assert one.close() == 0, one.stderr_text
            return answers
        program = Program([mcpreel, "replay", "--listen", "0", *words[1:]])
        try:
            client = program.client()
            initialize_response = client.post(initialize())
            inside = [("Mcp-Session-Id", initialize_response.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
            assert client.post(INITIALIZED, headers=inside).status == 202
            answers = [client.post(named(i, name), headers=inside).json for i, name in enumerate(names, 1)]
            assert program.stop() == 0, program.err
        finally:
            program.close()
        return answers

    assert session("once", "a") == [echo_response(1, "a")]
    assert session("append", "ab") == [echo_response(1, "a"), echo_response(2, "b")]
    assert session("none", "ba") == [echo_response(1, "b"), echo_response(2, "a")]
    assert session("rewrite", "c") == [echo_response(1, "c")]
    assert b'"c"' in file.read_bytes() and b'"b"' not in file.read_bytes()
    assert os.listdir(tmp_path) == ["a.jsonl"]

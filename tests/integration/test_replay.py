"""replay as a process: every format, every size, the server behind it, and files that change underfoot.

The matching itself is tested in tests/playbook; memory is measured on the optimised build, whatever the
program under test is: sanitizers keep memory of their own.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import uuid

import pytest
from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
pytestmark = pytest.mark.timeout(180)

HEADER = {"type": "header", "version": "1.0", "recorded_at": "2026-01-01T00:00:00Z", "upstream": "x",
          "thoughtjack_version": "0.3.0"}


def request(i, method, **params):
    return {"jsonrpc": "2.0", "id": i, "method": method, "params": params}


def call(i, **arguments):
    return request(i, "tools/call", name="t", arguments=arguments)


def result(i, text):
    return {"jsonrpc": "2.0", "id": i, "result": {"content": [{"type": "text", "text": text}]}}


INITIALIZE = request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})
INITIALIZE_RESPONSE = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                                 "serverInfo": {"name": "small", "version": "1"}}}
SESSION = [("c2s", INITIALIZE), ("s2c", INITIALIZE_RESPONSE),
        ("c2s", request(1, "tools/list")), ("s2c", {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
        ("c2s", call(2, n=1)), ("s2c", result(2, "one")),
        ("c2s", call(3, n=2)), ("s2c", result(3, "two"))]


def write_recording(path, recorded_messages):
    with open(path, "w") as out:
        out.write(json.dumps(HEADER) + "\n")
        for seq, (direction, message) in enumerate(recorded_messages, 1):
            out.write(json.dumps({"type": "message", "seq": seq, "ts": "2026-01-01T00:00:00Z", "us": seq * 1000,
                                  "dir": direction, "msg": message}, separators=(",", ":")) + "\n")
    return path


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "session.jsonl", SESSION)


def run_replay(run, mcpreel, path, messages, *options, code=0):
    ran = run([mcpreel, "-q", "replay", *options, path], stdin="".join(json.dumps(m) + "\n" for m in messages).encode())
    assert ran.code == code, ran
    return [json.loads(line) for line in ran.out.splitlines()]


REQUESTS = [message for direction, message in SESSION if direction == "c2s"]
RESPONSES = [message for direction, message in SESSION if direction == "s2c"]


# --- rules for matching

@pytest.mark.parametrize("mode", ["by-request", "sequential", "fuzzy", "strict"])
def test_a_request_with_another_ignored_value_matches_and_is_reported(mode, run, mcpreel, tmp_path):
    recorded_messages = [("c2s", INITIALIZE), ("s2c", INITIALIZE_RESPONSE)]
    for i in range(300):
        recorded_messages += [("c2s", call(i + 1, n=i, q=f"recorded {i}")), ("s2c", result(i + 1, str(i)))]
    path = write_recording(tmp_path / "many.jsonl", recorded_messages)
    live = [call(i, n=i, q=f"recorded {i}" if i % 3 == 0 else f"live {i}") for i in reversed(range(300))]
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"ignore_paths": ["$.params.arguments.q", "$.result..etag"]}))
    report = tmp_path / "report.json"
    got = run_replay(run, mcpreel, path, live, "--match", mode, "--rules", rules, "--report", report)
    assert got == [result(i, str(i)) for i in reversed(range(300))]
    report_contents = json.loads(report.read_text())
    assert (report_contents["ignored_params"], report_contents["differing_params"], report_contents["unused"]) == (200, 0, 0)
    assert {"rule": "ignore_paths", "value": "$.params.arguments.q", "requests": 200} in report_contents["match_rules"]
    assert len(report_contents["rule_matches"]) == 100
    assert report_contents["rule_matches"][0]["paths"] == ["$.params.arguments.q"]


def test_the_hint_of_a_miss_names_a_rule_that_matches(recording, run, mcpreel):
    miss = run_replay(run, mcpreel, recording, [call("x", n=1, extra="y")], "--on-unmatched", "warn")[0]
    hint = miss["error"]["data"]["hint"]
    path = hint.split("--ignore-paths '")[1].split("'")[0]
    assert run_replay(run, mcpreel, recording, [call("x", n=1, extra="y")], "--ignore-paths", path) == [result("x", "one")]
    assert "--match t=fuzzy or t=sequential" in hint
    assert run_replay(run, mcpreel, recording, [call("x", n=1, extra="y")], "--match", "t=fuzzy") == [result("x", "one")]


# --- formats

@pytest.mark.parametrize("name", ["a.jsonl", "a.trace.jsonl", "a.jsonrpc", "a.json", "a.jsonl.gz", "a.trace.jsonl.zst"])
@pytest.mark.parametrize("mode", ["sequential", "by-request", "fuzzy", "strict"])
def test_every_format_is_replayed(name, mode, recording, run, mcpreel, tmp_path):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / name]).code == 0
    assert run_replay(run, mcpreel, tmp_path / name, REQUESTS, "--match", mode) == RESPONSES


def test_a_recording_indented_by_jq_is_replayed(recording, run, mcpreel, tmp_path):
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    (tmp_path / "wide.jsonl").write_text("\n".join(json.dumps(line, indent=2) for line in lines) + "\n")
    assert run_replay(run, mcpreel, tmp_path / "wide.jsonl", REQUESTS) == RESPONSES


def test_a_cassette_is_replayed_as_by_mcp_recorder(run, mcpreel, tmp_path, recording):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / "c.json"]).code == 0
    ran = run([mcpreel, "-q", "replay", "--stdio", "--cassette", tmp_path / "c.json"],
              stdin="".join(json.dumps(m) + "\n" for m in [call("x", n=2), call("y", n=3)]).encode())
    got = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0 and got[0] == result("x", "two")
    assert (got[1]["error"]["code"], got[1]["error"]["message"]) == (-32600, "No matching interaction for tools/call [t]")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_the_readable_part_of_a_truncated_compressed_recording_is_replayed(name, recording, run, mcpreel, tmp_path):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / name]).code == 0
    packed = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(packed[:-4])
    ran = run([mcpreel, "replay", tmp_path / name], stdin=(json.dumps(INITIALIZE) + "\n").encode())
    assert (ran.code, json.loads(ran.out)) == (0, INITIALIZE_RESPONSE)
    assert b"the compressed data is cut off; used up to here" in ran.err
    (tmp_path / name).write_bytes(packed[:10] + packed[11:])
    ran = run([mcpreel, "replay", tmp_path / name], stdin=(json.dumps(INITIALIZE) + "\n").encode())
    assert (ran.code, ran.out) == (3, b"")


def test_a_pipe_is_rejected_and_the_suggested_command_works(recording, mcpreel, run):
    ran = subprocess.run(["bash", "-c", '"$0" replay <(cat "$1")', mcpreel, recording], stdin=subprocess.DEVNULL,
                         capture_output=True)
    assert ran.returncode == 3 and b"it is a pipe" in ran.stderr
    assert b"save it to a file first" in ran.stderr and b"'-'" not in ran.stderr


# --- clients

def test_clients_with_ids_of_every_kind_get_the_same_results(recording, run, mcpreel):
    for make in (lambda i: str(uuid.uuid4()), lambda i: i, lambda i: -i, lambda i: f"{i}", lambda i: i * 10**15 + 0.5):
        ids = {q["id"]: make(q["id"]) for q in REQUESTS}
        got = run_replay(run, mcpreel, recording, [{**q, "id": ids[q["id"]]} for q in REQUESTS], "--match", "by-request")
        assert got == [{**a, "id": ids[a["id"]]} for a in RESPONSES]


def test_two_hundred_replays_give_the_same_bytes(recording, run, mcpreel):
    client_input = "".join(json.dumps(m) + "\n" for m in REQUESTS).encode()
    outs = {run([mcpreel, "-q", "replay", recording], stdin=client_input).out for _ in range(200)}
    assert len(outs) == 1


def test_concurrent_list_requests_are_answered(run, mcpreel, tmp_path):
    methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    recorded_messages = [("c2s", request(i, m)) for i, m in enumerate(methods)]
    recorded_messages += [("s2c", {"jsonrpc": "2.0", "id": i, "result": {"of": methods[i]}}) for i in (2, 0, 3, 1)]
    path = write_recording(tmp_path / "lists.jsonl", recorded_messages)
    got = run_replay(run, mcpreel, path, [request(m, m) for m in reversed(methods)])
    assert got == [{"jsonrpc": "2.0", "id": m, "result": {"of": m}} for m in reversed(methods)]


# --- size

@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """100 MB: few large messages and many small ones."""
    path = tmp_path_factory.mktemp("large") / "large.jsonl"

    def recorded_messages():
        for i in range(100000):
            yield "c2s", call(i, n=i, path=f"/a/{i}")
            yield "s2c", result(i, "x" * (20 if i % 1000 else 600000))
    return write_recording(path, recorded_messages())


def test_ec_rec_007_a_very_large_recording_takes_little_memory(large):
    """16 MB and 32 bytes for each message, whatever their size."""
    assert large.stat().st_size > 90e6
    for mode in ("sequential", "by-request"):
        rss, _, _ = measured(OPTIMISED, "-q", "replay", "--match", mode, large)
        assert rss * 1024 <= (16 << 20) + 32 * 200000, mode


def test_any_message_of_a_large_recording_can_be_requested(large, run, mcpreel):
    chosen_calls = [99999, 0, 50000, 98000, 1]
    got = run_replay(run, mcpreel, large, [call(f"q{n}", n=n, path=f"/a/{n}") for n in chosen_calls], "--match", "by-request")
    assert [(a["id"], len(a["result"]["content"][0]["text"])) for a in got] == [
        (f"q{n}", 20 if n % 1000 else 600000) for n in chosen_calls]


def test_a_large_compressed_recording_is_decompressed_to_an_unnamed_file(large, run, mcpreel, tmp_path):
    packed, folder = tmp_path / "large.jsonl.gz", tmp_path / "tmp"
    folder.mkdir()
    with open(large, "rb") as raw, gzip.open(packed, "wb", compresslevel=1) as out:
        out.write(raw.read())
    p = subprocess.Popen([mcpreel, "-q", "replay", "--match", "by-request", packed], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)})
    p.stdin.write((json.dumps(call(7, n=77777, path="/a/77777")) + "\n").encode())
    p.stdin.flush()
    assert json.loads(p.stdout.readline()) == result(7, "x" * 20)
    assert list(folder.iterdir()) == []
    assert any("(deleted)" in os.readlink(f"/proc/{p.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{p.pid}/fd"))
    p.stdin.close()
    assert p.wait(60) == 0


# --- a file that changes while it is played

def test_a_recording_truncated_during_replay_is_reported(recording, mcpreel):
    p = subprocess.Popen([mcpreel, "-q", "replay", recording], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write((json.dumps(INITIALIZE) + "\n").encode())
    p.stdin.flush()
    assert json.loads(p.stdout.readline()) == INITIALIZE_RESPONSE
    os.truncate(recording, 200)
    out, err = p.communicate((json.dumps(call(5, n=1)) + "\n").encode(), timeout=60)
    assert json.loads(out)["error"]["code"] == -32603
    assert b"it has become shorter" in err and p.returncode == 5


def test_a_recording_replaced_during_replay_is_replayed_unchanged(recording, mcpreel, tmp_path):
    p = subprocess.Popen([mcpreel, "-q", "replay", recording], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write((json.dumps(INITIALIZE) + "\n").encode())
    p.stdin.flush()
    assert json.loads(p.stdout.readline()) == INITIALIZE_RESPONSE
    (tmp_path / "other").write_text("nothing\n")
    os.rename(tmp_path / "other", recording)
    out, _ = p.communicate((json.dumps(call(5, n=1)) + "\n").encode(), timeout=60)
    assert json.loads(out) == result(5, "one")


# --- what a miss advises

SERVER = r"""
import json, os, sys
print(os.getpid(), file=open(sys.argv[1], "a"))
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m and "method" in m:
        what = {"saw": m["method"], "params": m.get("params")}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": what}), flush=True)
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, str(tmp_path / "server.py"), str(tmp_path / "pids")]


def by_id(ran):
    return {m["id"]: m for m in map(json.loads, ran.out.splitlines()) if "id" in m}


def replay_by_id(run, mcpreel, path, messages, *options, server=()):
    client_input = "".join(json.dumps(m) + "\n" for m in messages).encode()
    return by_id(run([mcpreel, "-q", "replay", *options, *path, *(["--", *server] if server else [])], stdin=client_input))


FAILED = {"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": "no"}}
FAILED_CALL = [("c2s", call(2, n=1)), ("s2c", FAILED)]
WITH_META = [("c2s", request(2, "tools/call", name="t", arguments={"n": 1}, _meta={"k": 1})), ("s2c", result(2, "one"))]
PAGES = [("c2s", request(1, "tools/list")), ("s2c", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "nextCursor": "a"}}),
         ("c2s", request(2, "tools/list", cursor="a")), ("s2c", {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})]
TWO = [("c2s", call(2, a=1, b=1)), ("s2c", result(2, "one"))]
SEQUENTIAL = ["--match", "sequential"]
ORDER = ["--order", "total"]

# Rows: recorded requests, live requests (the last one is a miss), options; and the suggestion.
HINTS = {
    "sequential-exhausted": (SESSION, [call(1), call(2), call("x")], SEQUENTIAL, "last or cycle"),
    "by-request-exhausted": (SESSION, [call(1, n=1), call("x", n=1)], ["--match", "by-request"], "last or cycle"),
    "fuzzy-exhausted": (SESSION, [call(1, n=1), call("x", n=1)], ["--match", "fuzzy"], "last or cycle"),
    "only-errors-exhausted": (FAILED_CALL, [call(1), call("x")], SEQUENTIAL, "cycle"),
    "errors-again-exhausted": (FAILED_CALL, [call(1), call("x")], [*SEQUENTIAL, "--on-exhausted", "last"], "cycle"),
    "by-request-near": (TWO, [call("x", a=1, b=2)], ["--match", "by-request"], "t=fuzzy or t=sequential"),
    "by-request-far": (TWO, [call("x", a=2, b=2)], ["--match", "by-request"], "sequential"),
    "by-request-other-tool": (SESSION, [request("x", "tools/call", name="u")], ["--match", "by-request"], "passthrough"),
    "by-request-other-cursor": (PAGES, [request("x", "tools/list", cursor="b")], ["--match", "by-request"], "passthrough"),
    "by-request-all-used": (TWO, [call(1, a=1, b=1), call("x", a=1, b=2)], ["--match", "by-request"], "passthrough"),
    "fuzzy-far": (TWO, [call("x", a=2, b=2)], ["--match", "fuzzy"], "sequential"),
    "strict-meta": (WITH_META, [call("x", n=1)], ["--match", "strict"], "by-request"),
    "strict-near": (TWO, [call("x", a=1, b=2)], ["--match", "strict"], "t=fuzzy or t=sequential"),
    "sequential-unknown": (SESSION, [request("x", "prompts/list")], SEQUENTIAL, "passthrough"),
    "too-early": (SESSION, [call("x", n=1)], ORDER, "omit --order total"),
    "too-early-but-never-recorded": (SESSION, [request("x", "prompts/list")], ORDER, "passthrough"),
    "too-early-but-used-up": (SESSION + PAGES, [request(0, "tools/list"), call(1), call(2), call("x")], ORDER, "passthrough"),
    "total-exhausted": (TWO, [call(1), call("x")], ORDER, "last or cycle"),
    "total-exhausted-not-the-first": (SESSION, [request(0, "tools/list"), call(1), call(2), call("x")], ORDER, "last"),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_suggested_option_helps(case, run, mcpreel, tmp_path, server):
    """Every command that the explanation of a miss names is tried: what was missed is answered then."""
    recorded_messages, messages, options, expected_hint = HINTS[case]
    path = [write_recording(tmp_path / "a.jsonl", recorded_messages)]
    error = replay_by_id(run, mcpreel, path, messages, *options)["x"]["error"]
    hint = error["data"]["hint"]
    assert expected_hint in hint
    if "omit --order total" in hint:
        options = [o for o in options if o not in ORDER]
    tries = [[*options, "--match", mode] for mode in words_after(hint, "--match")]
    tries += [[*options, "--on-exhausted", how] for how in words_after(hint, "--on-exhausted")]
    if "passthrough" in hint:
        tries += [[*options, "--on-unmatched", "passthrough"]]
    assert tries
    for new in tries:
        got = replay_by_id(run, mcpreel, path, messages, *new, server=server if "passthrough" in new else ())
        assert got["x"].get("error") in (None, FAILED["error"]), (new, got)


def words_after(hint, option):
    """The values that "OPTION one or another," names."""
    return hint.split(option + " ")[1].split(",")[0].split(" or ") if option + " " in hint else []


@pytest.mark.parametrize("how, third", [("last", "two"), ("cycle", "one")])
def test_a_cassette_in_sequential_mode_repeats_responses_if_requested(how, third, run, mcpreel, tmp_path, recording):
    assert run([mcpreel, "-q", "convert", recording, "-o", tmp_path / "c.json"]).code == 0
    messages = [request(0, "any"), request(1, "any"), request(2, "any"), request("x", "any"), request("y", "any")]
    path = ["--stdio", "--cassette", tmp_path / "c.json"]
    error = replay_by_id(run, mcpreel, path, messages, "--match", "sequential")["x"]["error"]
    assert "--on-exhausted last or cycle" in error["data"]["hint"]
    got = replay_by_id(run, mcpreel, path, messages, "--match", "sequential", "--on-exhausted", how)
    assert got["y" if how == "cycle" else "x"]["result"]["content"][0]["text"] == third


# --- the passthrough server

def test_the_passthrough_server_is_started_on_demand(recording, server, run, mcpreel, tmp_path):
    before = recording.read_bytes()
    options = ["--on-unmatched", "passthrough"]
    ran = run([mcpreel, "-q", "replay", *options, recording, "--", *server],
              stdin="".join(json.dumps(m) + "\n" for m in REQUESTS).encode())
    assert ran.code == 0 and not (tmp_path / "pids").exists()
    new = [INITIALIZE, call(1, n=1), call("new", n=9), request("p", "prompts/list"), call(2, n=2)]
    ran = run([mcpreel, "-q", "replay", "--match", "by-request", *options, recording, "--", *server],
              stdin="".join(json.dumps(m) + "\n" for m in new).encode())
    got = {m["id"]: m for m in map(json.loads, ran.out.splitlines())}
    assert ran.code == 0 and set(got) == {0, 1, 2, "new", "p"}
    assert got[1] == result(1, "one") and got[2] == result(2, "two")
    assert got["new"]["result"] == {"saw": "tools/call", "params": {"name": "t", "arguments": {"n": 9}}}
    assert got["p"]["result"]["saw"] == "prompts/list"
    assert recording.read_bytes() == before
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 1 and not pathlib.Path(f"/proc/{pids[0]}").exists()


def test_the_report_counts_forwarded_requests(recording, server, run, mcpreel, tmp_path):
    ran = run([mcpreel, "-q", "replay", "--on-unmatched", "passthrough", "--report", tmp_path / "report.json",
               "--strict-unused", "--upstream", " ".join(f"'{word}'" for word in server), recording],
              stdin=(json.dumps(request(1, "prompts/list")) + "\n").encode())
    report = json.loads((tmp_path / "report.json").read_text())
    assert ran.code == report["exit_code"] == 1
    assert (report["requests"], report["matched"], report["unmatched"], report["forwarded"]) == (1, 0, 1, 1)
    assert [r["method"] for r in report["unmatched_requests"]] == ["prompts/list"]
    assert [r["seq"] for r in report["unused_requests"]] == [3, 5, 7] and report["unused"] == 3


ANSWERS_AND_ENDS = r"""
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"saw": m["method"]}}), flush=True)
    if m["method"] == "tools/call":
        sys.exit(7)
"""


def test_a_server_that_exits_after_its_responses_has_not_failed(recording, run, mcpreel, tmp_path):
    (tmp_path / "ends.py").write_text(ANSWERS_AND_ENDS)
    server = [sys.executable, str(tmp_path / "ends.py")]
    options = ["--match", "by-request", "--on-unmatched", "passthrough"]
    with subprocess.Popen([mcpreel, "replay", *options, recording, "--", *server], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        p.stdin.write((json.dumps(call("new", n=9)) + "\n").encode())
        p.stdin.flush()
        assert json.loads(p.stdout.readline()) == {"jsonrpc": "2.0", "id": "new", "result": {"saw": "tools/call"}}
        while b"ended with exit code 7" not in p.stderr.readline():
            pass
        out, _ = p.communicate((json.dumps(call(1, n=1)) + "\n").encode(), timeout=60)
    assert json.loads(out) == result(1, "one") and p.returncode == 0


# --- an end while answers are on their way

@pytest.fixture
def slow(tmp_path):
    """Two calls at once, of which one took long."""
    lines = [json.dumps(HEADER)]
    for us, direction, message in ((0, "c2s", call(1, n=1)), (1000, "c2s", call(2, n=2)), (2000, "s2c", result(2, "fast")),
                             (700000, "s2c", result(1, "slow"))):
        lines.append(json.dumps({"type": "message", "seq": len(lines), "ts": "2026-01-01T00:00:00Z", "us": us, "dir": direction,
                                 "msg": message}))
    path = tmp_path / "slow.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def start_slow(mcpreel, path, *options):
    """Its slow call is pending: the fast one, requested later, has its response."""
    p = subprocess.Popen([mcpreel, "replay", "--match", "by-request", "--timing", *options, path], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write("".join(json.dumps(m) + "\n" for m in (call("slow", n=1), call("fast", n=2))).encode())
    p.stdin.flush()
    assert json.loads(p.stdout.readline()) == result("fast", "fast")
    return p


def test_delayed_responses_are_sent_after_a_signal(slow, mcpreel):
    p = start_slow(mcpreel, slow, "realistic")
    p.terminate()
    out, err = p.communicate(timeout=60)
    assert json.loads(out) == result("slow", "slow")
    assert p.returncode == 0 and b"answered 2 requests" in err


def test_a_second_signal_does_not_wait_for_a_client_that_does_not_read(mcpreel, tmp_path):
    size = 4 << 20
    path = write_recording(tmp_path / "large.jsonl", [("c2s", call(1)), ("s2c", result(1, "x" * size))])
    p = subprocess.Popen([mcpreel, "replay", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    p.stdin.write((json.dumps(call(1)) + "\n").encode())
    assert p.stdout.read(1) == b"{"
    p.terminate()
    while p.poll() is None:  # two signals that are one to the kernel are one
        p.terminate()
        try:
            p.wait(0.2)
        except subprocess.TimeoutExpired:
            pass
    out, _ = p.communicate()
    assert len(out) < size


def test_a_miss_that_ends_the_replay_does_not_drop_other_responses(slow, mcpreel):
    p = start_slow(mcpreel, slow, "realistic")
    out, err = p.communicate((json.dumps(request("new", "prompts/list")) + "\n").encode(), timeout=60)
    got = [json.loads(line) for line in out.splitlines()]
    assert [m["id"] for m in got] == ["new", "slow"] and got[0]["error"]["code"] == -32000
    assert got[1] == result("slow", "slow") and p.returncode == 1


# --- the report

def test_a_client_of_another_protocol_is_a_reported_failure(recording, run, mcpreel, tmp_path):
    stateless_request = request(1, "tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
    ran = run([mcpreel, "-q", "replay", "--report", tmp_path / "report.json", recording],
              stdin=(json.dumps(stateless_request) + "\n").encode())
    report = json.loads((tmp_path / "report.json").read_text())
    assert ran.code == report["exit_code"] == 1 and report["unsupported_protocol_version"] == 1
    assert json.loads(ran.out)["error"]["code"] == -32022
    assert b"a client was not served" in ran.err


# --- secrets

@pytest.mark.parametrize("mode", ["sequential", "by-request", "fuzzy", "strict"])
def test_a_redacted_recording_is_replayed_to_a_client_with_the_secret(mode, server, run, mcpreel, tmp_path):
    secret = call(1, key="ghp_0123456789abcdefghijABCDEFGHIJ012345", n=1)
    file = tmp_path / "redacted.jsonl"
    client_input = "".join(json.dumps(m) + "\n" for m in [INITIALIZE, secret]).encode()
    live = run([mcpreel, "-q", "record", "-o", file, "--", *server], stdin=client_input)
    assert b"ghp_" not in file.read_bytes() and b"REDACTED" in file.read_bytes()
    got = run_replay(run, mcpreel, file, [INITIALIZE, secret], "--match", mode)
    expected = [json.loads(line) for line in live.out.splitlines()]
    assert got[0] == expected[0]
    assert got[1]["result"]["saw"] == "tools/call" and "ghp_" not in json.dumps(got[1])
    other = run_replay(run, mcpreel, file, [INITIALIZE, call(1, key="another one", n=1)], "--match", mode)
    assert other == got

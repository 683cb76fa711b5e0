"""convert and check with real recordings, many files, large files, and a bad world around them."""
import datetime
import gzip
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
LIMIT_KB = 32 * 1024
MB = 1_000_000

SERVER = """
import json, sys
print("ready", file=sys.stderr, flush=True)
print("Listening", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    batch = asked if isinstance(asked, list) else [asked]
    answers = [{"jsonrpc": "2.0", "id": m["id"], "result": {"n": 1.0, "text": "\\u00e9\\ud83d"}} for m in batch if "id" in m]
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
    print(json.dumps(answers if isinstance(asked, list) else answers[0]), flush=True)
"""


def ok(run, *command, **more):
    ran = run(command, **more)
    assert ran.code == 0, str(ran)
    return ran


@pytest.fixture
def recording(run, mcpreel, tmp_path):
    """A real one, with everything in it that a stdio session has."""
    path = tmp_path / "a.jsonl"
    requests = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(5)]
    lines = "".join(json.dumps(m) + "\n" for m in [*requests[:3], requests[3:]])
    ok(run, mcpreel, "record", "-o", path, "--name", "real", "--tags", "a,b", "--", sys.executable,
       "-c", SERVER, stdin=lines.encode())
    return path


def test_a_recording_converted_to_a_trace_and_back_is_equal(run, mcpreel, recording, tmp_path):
    names = [tmp_path / n for n in ("a.trace.jsonl", "b.jsonl", "b.trace.jsonl", "c.jsonl")]
    for source, target in zip([recording, *names], names):
        ok(run, mcpreel, "convert", source, "-o", target)
    first, back, second, again = (n.read_bytes() for n in names)
    assert first == second and back == again
    kept = [json.loads(line) for line in recording.read_text().splitlines()]
    came = [json.loads(line) for line in back.decode().splitlines()]
    for side in (kept, came):
        assert sum(m["type"] == "message" for m in side) == 14
    assert ([(m["seq"], m["dir"], m["msg"], m.get("batch")) for m in kept if m["type"] == "message"] ==
            [(m["seq"], m["dir"], m["msg"], m.get("batch")) for m in came if m["type"] == "message"])
    # Not only in meaning: every message stands there byte by byte.
    for line in recording.read_text().splitlines():
        if '"type":"message"' in line:
            text = line[line.index('"msg":') + 6:]
            assert text[:text.index("}")].encode() in back


def test_check_fix_does_not_change_a_complete_recording(run, mcpreel, recording, tmp_path):
    ok(run, mcpreel, "convert", "--lossless", recording, "-o", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == recording.read_bytes()
    run([mcpreel, "check", "--fix", recording, "-o", tmp_path / "c.jsonl"])
    assert (tmp_path / "c.jsonl").read_bytes() == recording.read_bytes()


def test_a_recording_converted_to_a_cassette_and_back_is_equal(run, mcpreel, recording, tmp_path):
    names = [tmp_path / n for n in ("a.json", "b.jsonl", "b.json", "c.json")]
    for source, target in zip([recording, *names], names[:3]):
        ok(run, mcpreel, "-q", "convert", source, "-o", target)
    assert names[0].read_bytes() == names[2].read_bytes()
    error_output = ok(run, mcpreel, "convert", "--lossless", names[0], "-o", names[3]).err.decode()
    assert "lost" not in error_output
    assert names[0].read_bytes() == names[3].read_bytes()
    names[3].unlink()
    copy = json.loads(run([mcpreel, "--json", "check", "--fix", names[0], "-o", names[3]]).out)["files"][0]["copy"]
    assert copy["lost"] == {} and names[0].read_bytes() == names[3].read_bytes()


UNPACK = {".gz": ["gzip", "-dc"], ".zst": ["zstd", "-dcq"]}


def unpacked(run, path):
    """As other programs see it; they check it whole."""
    text = ok(run, *UNPACK[path.suffix], path).out
    if path.suffix == ".gz":
        assert gzip.decompress(path.read_bytes()) == text
    return text


@pytest.mark.parametrize("pack", UNPACK)
def test_the_readable_part_of_a_truncated_compressed_file_is_kept(pack, run, mcpreel, recording, tmp_path):
    packed, fixed = tmp_path / ("b.jsonl" + pack), tmp_path / "fixed.jsonl"
    ok(run, mcpreel, "-q", "convert", recording, "-o", packed)
    packed.write_bytes(packed.read_bytes()[:-3])
    ran = run([mcpreel, "inspect", packed])
    assert ran.code == 0 and b"the compressed data is cut off; used up to here" in ran.err
    assert run([mcpreel, "-q", "check", packed]).code == 1
    report = json.loads(run([mcpreel, "-q", "--json", "check", "--fix", packed, "-o", fixed]).out)["files"][0]
    assert report["verdict"] == "damaged" and report["copy"]["dropped"]["decompress_failed"] is True
    saved = fixed.read_bytes().splitlines()
    assert saved[0] == recording.read_bytes().splitlines()[0] and b'"footer"' in saved[-1]


@pytest.mark.parametrize("name", ["b.jsonl", "b.trace.jsonl", "b.jsonrpc", "b.json"])
@pytest.mark.parametrize("pack", UNPACK)
def test_the_file_name_selects_the_compression(pack, name, run, mcpreel, recording, tmp_path):
    plain, packed, again = tmp_path / name, tmp_path / (name + pack), tmp_path / ("again." + name)
    ok(run, mcpreel, "convert", recording, "-o", plain)
    ok(run, mcpreel, "convert", recording, "-o", packed)
    assert unpacked(run, packed) == plain.read_bytes()
    ok(run, mcpreel, "convert", "--lossless", packed, "-o", again)
    assert again.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("pack", UNPACK)
def test_a_compressed_file_is_complete_or_absent(pack, run, mcpreel, recording, tmp_path):
    fixed, bare = tmp_path / ("c.jsonl" + pack), tmp_path / ("c.jsonrpc" + pack)
    run([mcpreel, "check", "--fix", recording, "-o", fixed])
    assert unpacked(run, fixed) == recording.read_bytes()
    refused = run([mcpreel, "convert", "--lossless", recording, "-o", bare])
    assert refused.code == 1 and not bare.exists()
    noise = tmp_path / "noise.jsonrpc"
    noise.write_text("".join(f'{{"jsonrpc":"2.0","method":"{random.randbytes(500).hex()}"}}\n' for _ in range(2000)))
    truncated = tmp_path / ("torn.jsonrpc" + pack)
    p = subprocess.run(["sh", "-c", 'ulimit -f 500; trap "" XFSZ; exec "$@"', "sh", mcpreel, "-q", "convert", noise,
                        "-o", truncated], capture_output=True, text=True)
    assert (p.returncode, p.stderr) == (5, f"mcpreel: cannot write '{truncated}': File too large\n")
    assert not list(tmp_path.glob("*torn*")) and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("pack", UNPACK)
def test_well_compressed_output_is_read_back(pack, run, tmp_path):
    """Readers refuse what unpacks to too much; what we write is never that, and others read it, too."""
    line = b'{"jsonrpc":"2.0","method":"' + b"x" * 100_000 + b'"}\n'
    plain, packed = tmp_path / "same.jsonrpc", tmp_path / ("same.jsonrpc" + pack)
    plain.write_bytes(line * 1500)
    ok(run, OPTIMISED, "-q", "convert", plain, "-o", packed)
    assert packed.stat().st_size < 1_000_000
    assert unpacked(run, packed) == plain.read_bytes()
    assert ok(run, OPTIMISED, "-q", "convert", packed, "--to", "jsonrpc", "-o", "-").out == plain.read_bytes()


def test_standard_output_is_never_compressed(run, mcpreel, recording):
    out = ok(run, mcpreel, "convert", recording, "--to", "recording", "-o", "-").out
    assert out == recording.read_bytes()


STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def assert_trace_rules(path):
    """The required members of mcp-replay traces, version 1, and where each line stands; its messages."""
    meta, *lines, end = [json.loads(line) for line in path.read_text().splitlines()]
    assert meta["v"] == 1 and type(meta["v"]) is int and meta["type"] == "meta"
    assert STAMP.fullmatch(meta["startedAt"]) and meta["label"] and isinstance(meta["label"], str)
    assert isinstance(meta["command"], list) and all(isinstance(word, str) for word in meta["command"])
    for line in lines:
        assert set(line) == {"t", "dir", "raw"} and STAMP.fullmatch(line["t"]) and line["dir"] in ("in", "out")
        batch = line["raw"] if isinstance(line["raw"], list) else [line["raw"]]
        assert batch and all({"method", "result", "error"} & set(message) for message in batch)
    assert end["type"] == "end" and STAMP.fullmatch(end["t"]) and type(end["exitCode"]) is int
    first, last = (datetime.datetime.fromisoformat(t[:-1]) for t in (meta["startedAt"], end["t"]))
    # Both are cut to milliseconds, and so is what is between them.
    assert abs((last - first) / datetime.timedelta(milliseconds=1) - end["durationMs"]) <= 1
    return sum(len(line["raw"]) if isinstance(line["raw"], list) else 1 for line in lines)


@pytest.mark.parametrize("way", [[], [".trace.jsonl", ".jsonl"], [".trace.jsonl.gz"], [".jsonl.zst"]], ids="-".join)
def test_a_written_trace_obeys_the_rules_of_mcp_tape(way, run, mcpreel, recording, tmp_path):
    for n, name in enumerate([*way, ".trace.jsonl"]):
        recording, source = tmp_path / f"{n}{name}", recording
        ok(run, mcpreel, "convert", source, "-o", recording)
    assert assert_trace_rules(recording) == 14


def test_a_trace_of_the_demo_obeys_the_rules_of_mcp_tape(run, mcpreel, tmp_path):
    session, both, trace = (tmp_path / n for n in ("s.jsonl", "both.jsonl", "s.trace.jsonl"))
    ok(run, mcpreel, "demo", "-o", session)
    ok(run, mcpreel, "convert", session, "-o", trace)
    assert assert_trace_rules(trace) == 25
    ok(run, mcpreel, "convert", session, session, "-o", both)
    ok(run, mcpreel, "convert", "--force", both, "-o", trace)
    assert assert_trace_rules(trace) == 50


def write_random(path, rng, name):
    """A recording whose clock mostly rises; returns (time, lane) of its lines."""
    now, lines = 60000 + rng.randrange(0, 3000), []
    header = {"type": "header", "version": "1.0", "recorded_at": stamp(now), "upstream": name,
              "thoughtjack_version": "0.3.0", "us": 0}
    start, texts = now, [json.dumps(header)]
    for n in range(rng.randrange(0, 40)):
        now += rng.choice([0, 0, 1, 5, 40, -30])
        kind = rng.random()
        if kind < 0.2:
            texts.append(json.dumps({"type": "stderr", "text": f"{name} {n}", "us": (now - start) * 1000}))
        elif kind < 0.3:
            texts.append(json.dumps({"type": "stderr", "text": f"{name} {n}"}))
        else:
            texts.append(json.dumps({
                "type": "message", "seq": n + 1, "ts": stamp(now), "dir": "c2s",
                "msg": {"id": n, "method": f"{name} {n}"}, "conn": 1}))
        timed = kind < 0.2 or kind >= 0.3
        lines.append((now if timed else (lines[-1][0] if lines else start), f"{name} {n}"))
    path.write_text("\n".join(texts) + "\n")
    return lines


def stamp(ms):
    return f"2026-11-15T21:{ms // 60000:02}:{ms // 1000 % 60:02}.{ms % 1000:03}Z"


def merged(files):
    """Computes the expected merge: always the file whose next line is the oldest, the first of equals."""
    files, out = [list(file) for file in files], []
    while any(files):
        file = min((l for l in files if l), key=lambda l: l[0][0])
        out.append(file.pop(0)[1])
    return out


@pytest.mark.parametrize("seed", range(20))
def test_files_are_merged_by_time(seed, run, mcpreel, tmp_path):
    rng = random.Random(seed)
    paths = [tmp_path / f"{n}.jsonl" for n in range(rng.randrange(2, 6))]
    files = [write_random(path, rng, f"f{n}") for n, path in enumerate(paths)]
    ok(run, mcpreel, "convert", *paths, "-o", tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [m["type"] for m in lines].count("header") == 1
    assert [m["text"] if m["type"] == "stderr" else m["msg"]["method"] for m in lines[1:]] == merged(files)
    messages = [m for m in lines if m["type"] == "message"]
    assert [m["seq"] for m in messages] == list(range(1, len(messages) + 1))
    owners = {(m["conn"], m["msg"]["method"].split()[0]) for m in messages}
    assert len(owners) == len({conn for conn, _ in owners}) == len({name for _, name in owners})
    times = [m["us"] for m in lines if "us" in m]
    assert times == sorted(times)


def generate(path, size):
    """Realistic traffic: small requests, answers of some kilobytes, a line of stderr now and then."""
    text = "x" * 1500
    with open(path, "w") as f:
        written = f.write('{"type":"header","version":"1.0","recorded_at":"2026-11-15T21:00:00.000Z",'
                          '"upstream":"u","thoughtjack_version":"0.3.0","us":0}\n')
        n = 0
        while written < size:
            n += 1
            written += f.write(
                f'{{"type":"message","seq":{2 * n - 1},"ts":"2026-11-15T21:00:00.001Z","dir":"c2s","msg":'
                f'{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"t"}}}},"us":{n},"conn":1}}\n'
                f'{{"type":"stderr","text":"line {n}\\n","us":{n},"conn":1}}\n'
                f'{{"type":"message","seq":{2 * n},"ts":"2026-11-15T21:00:00.001Z","dir":"s2c","msg":'
                f'{{"jsonrpc":"2.0","id":{n},"result":{{"text":"{text}"}}}},"latency_ms":1,"us":{n},"conn":1}}\n')
        f.write(f'{{"type":"footer","total_messages":{2 * n},"duration_ms":1,"client_messages":{n},'
                f'"server_messages":{n},"us":{n}}}\n')
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("large") / "large.jsonl", 100 * MB)


def test_a_large_file_takes_little_memory(large, tmp_path):
    """Measured on the optimised build: sanitizers keep memory of their own."""
    rss, seconds, _ = measured(OPTIMISED, "-q", "convert", large, "-o", tmp_path / "a.trace.jsonl")
    assert rss <= LIMIT_KB
    assert seconds < 10  # a hang, not a slow machine
    rss, _, _ = measured(OPTIMISED, "-q", "convert", large, large, "-o", tmp_path / "two.jsonl")
    assert rss <= LIMIT_KB
    rss, _, out = measured(OPTIMISED, "-q", "check", "--fix", "-o", tmp_path / "fixed.jsonl", large)
    assert rss <= LIMIT_KB
    assert out.startswith(f"{large}: ok, ")
    assert (tmp_path / "fixed.jsonl").read_bytes() == large.read_bytes()


def test_a_killed_conversion_leaves_no_incomplete_file(mcpreel, tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("the old one")
    line = b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 10000 + b'"}\n'
    p = subprocess.Popen([mcpreel, "convert", "--force", "-", "-o", target], stdin=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    for _ in range(500):
        p.stdin.write(line)
    p.stdin.flush()
    draft = tmp_path / f".mcpreel-{p.pid}-out.jsonl"
    deadline = time.monotonic() + 20
    while not (draft.exists() and draft.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert draft.stat().st_size > 0
    p.send_signal(signal.SIGKILL)
    p.wait()
    p.stdin.close()
    assert target.read_text() == "the old one"


def test_a_full_disk_is_reported_and_leaves_no_file(run, mcpreel, recording, tmp_path):
    p = subprocess.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", mcpreel, "-q", "convert", recording, "-o", "-",
                        "--to", "recording"], capture_output=True, text=True)
    assert (p.returncode, p.stderr) == (5, "mcpreel: cannot write 'standard output': No space left on device\n")
    p = subprocess.run(["sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "sh", mcpreel, "-q", "convert", recording,
                        "-o", tmp_path / "b.jsonl"], capture_output=True, text=True)
    assert (p.returncode, p.stderr) == (5, f"mcpreel: cannot write '{tmp_path}/b.jsonl': File too large\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_document_that_is_too_large_to_read_is_a_warning(run, mcpreel, tmp_path):
    """The limit of the reader is 96 MB; other programs may read more."""
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"text": "x" * (8 << 20)}}})
    result = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    source, small, large = tmp_path / "a.jsonrpc", tmp_path / "small.har", tmp_path / "large.har"
    source.write_text(f"{call}\n{result}\n" * 2)
    options = ["--no-redact-defaults", "--rules", "none"]
    assert b"warning" not in ok(run, mcpreel, "convert", *options, source, "-o", small).err
    source.write_text(f"{call}\n{result}\n" * 13)
    assert f"warning: '{large}' has more than 96 MB: mcpreel itself cannot read" in ok(run, mcpreel, "convert", *options, source, "-o", large).err.decode()
    assert run([mcpreel, "show", large]).code == 3
    ran = run([mcpreel, "import", *options, source, "--out-trace", tmp_path / "a.assay.jsonl"])
    printed = ran.err.decode()
    assert ran.code == 3 and "the format 'assay-trace' holds 96 MB at most" in printed and "convert a recording with fewer calls" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonrpc", "large.har", "small.har"]


def nested(depth, opening, closing):
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize("value, expected", [
    (r'"\ud83d"', "lone-surrogate"), (r'"a\uD83D"', "lone-surrogate"), (r'"\ud83d\ude00"', None),
    (r'{"\ud83d":1}', "lone-surrogate"), (r'"\\ud83d"', None), (r'"\u0000\u001f"', None),
    (nested(125, '{"a":', "}"), None), (nested(126, '{"a":', "}"), None), (nested(127, '{"a":', "}"), "too-deep"),
    (nested(252, "[", "]"), None), (nested(253, "[", "]"), "too-deep"),
    (nested(83, '[{"a":', "}]"), None), (nested(85, '[{"a":', "}]"), "too-deep"),
])
def test_check_finds_values_that_jq_rejects(value, expected, run, mcpreel, tmp_path):
    """The params of a message stand in two objects: the line's and the message's."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"type":"message","seq":1,"ts":"2026-11-15T21:00:00.000Z","dir":"c2s",'
                    f'"msg":{{"method":"x","params":{value}}}}}\n')
    found = json.loads(run([mcpreel, "-q", "--json", "check", path]).out)["files"][0]["findings"]
    assert [f["rule"] for f in found if f["rule"] in ("lone-surrogate", "too-deep")] == ([expected] if expected else [])
    version = subprocess.run(["jq", "--version"], capture_output=True, text=True).stdout.strip()
    if version == "jq-1.6":  # later ones take more
        taken = subprocess.run(["jq", "-e", "true"], stdin=path.open(), capture_output=True).returncode == 0
        assert taken == (expected is None)


@pytest.mark.parametrize("cut", range(0, 100, 7))
def test_a_repaired_copy_is_complete_wherever_the_file_was_truncated(cut, run, mcpreel, recording, tmp_path):
    text = recording.read_bytes()
    truncated, fixed, again = (tmp_path / n for n in ("torn.jsonl", "fixed.jsonl", "again.jsonl"))
    kept = max(len(text) * cut // 100, len(b'{"type":"header",'))  # less could be any file
    truncated.write_bytes(text[:kept] + b"\0" * (cut % 3))
    ran = run([mcpreel, "-q", "--json", "check", "--fix", truncated, "-o", fixed])
    assert ran.code in (0, 1), str(ran)
    left = {f["rule"] for f in json.loads(ran.out)["files"][0]["copy"]["findings"]}
    assert left <= {"server-non-message", "unanswered", "lone-surrogate", "short-batch"}
    checked = json.loads(run([mcpreel, "-q", "--json", "check", fixed]).out)["files"][0]
    assert {f["rule"] for f in checked["findings"]} == left and checked["verdict"] in ("ok", "findings")
    run([mcpreel, "-q", "check", "--fix", fixed, "-o", again])
    assert again.read_bytes() == fixed.read_bytes()


@pytest.mark.parametrize("seed", range(40))
def test_damage_at_any_position_leaves_no_incomplete_file(seed, run, mcpreel, recording, tmp_path):
    """Bytes changed, lost, doubled or put in: an answer, or one clear error and no file."""
    rng = random.Random(seed)
    source = recording
    if seed % 2:
        source = tmp_path / "a.trace.jsonl"
        ok(run, mcpreel, "-q", "convert", recording, "-o", source)
    text = bytearray(source.read_bytes())
    for _ in range(rng.randrange(1, 4)):
        at, length = rng.randrange(len(text)), rng.randrange(1, 40)
        text[at:at + rng.choice([0, 1, length])] = rng.choice(
            [b"", b"\0", b"\xff", b"\n", b'"', b"{", b"}", b"9223372036854775807", bytes(text[at:at + length])])
    bad, target = tmp_path / "bad.jsonl", tmp_path / "out.jsonl"
    bad.write_bytes(text)
    for words in (["convert", bad, recording], ["check", "--fix", bad]):
        ran = run([mcpreel, "-q", *words, "-o", target])
        assert ran.code in (0, 1, 3), str(ran)
        assert target.exists() == (ran.code != 3)
        if ran.code == 3:
            assert len(ran.err.splitlines()) <= 2, str(ran)
        else:
            assert run([mcpreel, "-q", "check", target]).code in (0, 1)
            target.unlink()
        assert not list(tmp_path.glob(".mcpreel-*"))


def documented(title):
    """The members that the page names in the first table of a command's section."""
    text = (ROOT / "docs" / "json-output.md").read_text()
    table = text.split(f"\n## `{title}`\n")[1].split("\n## ")[0].split("|---|---|---|\n")[1].split("\n\n")[0]
    return [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("command", ["check", "convert", "formats"])
def test_the_json_output_has_the_documented_members(command, run, mcpreel, recording, tmp_path):
    words = {"check": [recording], "convert": [recording, "-o", tmp_path / "b.jsonl"], "formats": []}[command]
    assert list(json.loads(run([mcpreel, "--json", command, *words]).out)) == documented(command)


def cells(text):
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("| ")]


def test_the_documentation_lists_the_formats_of_the_program(run, mcpreel):
    page = (ROOT / "docs" / "formats" / "README.md").read_text()
    formats = json.loads(run([mcpreel, "formats", "--json"]).out)["formats"]
    listed, kept = map(cells, page.split("\n## What they keep\n"))
    assert [(re.search(r"`([\w-]+)`", name)[1], bool(read), bool(write), re.findall(r"`([^`]+)`", names), about)
            for name, read, write, names, about in listed[1:]] == [
        (f["name"], f["read"], f["write"], f["extensions"], f["description"]) for f in formats]
    assert [cell.strip("`") for cell in kept[0][1:]] == [f["name"] for f in formats]
    names = [re.match(r"`([\w-]+)`", row[0])[1] for row in kept[1:]]
    assert len(names) == len(set(names)) == len(formats[0]["keeps"] + formats[0]["loses"])
    for n, f in enumerate(formats):
        assert [name for name, row in zip(names, kept[1:]) if row[n + 1]] == f["keeps"]

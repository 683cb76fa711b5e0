"""The file side of record: kills, full and slow disks, names, parts, journals. The built program as processes."""
import collections
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import subprocess
import threading
import time

import jsonschema
import pytest

from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
SCHEMA = json.loads((ROOT / "docs/formats/recording.schema.json").read_text())
pytestmark = pytest.mark.timeout(300)  # what waits for ever must not do so in silence

# Turns each request into its answer as soon as it comes.
ECHO_SERVER = ["sed", "-u", 's/"method":"ping"/"result":{}/']


def request_bytes(i):
    return b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % i


def response_bytes(i):
    return b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % i


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(path):
    return [line for line in lines_of(path) if line["type"] == "message"]


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


def start(*command, **more):
    return subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


def round_trip(process, i):
    """One question and its complete answer."""
    process.stdin.write(request_bytes(i))
    process.stdin.flush()
    assert process.stdout.readline() == response_bytes(i)


def finish(process):
    """The rest of its output, and its exit code."""
    process.stdin.close()
    out, err = process.stdout.read(), process.stderr.read()
    return process.wait(60), out, err


# --- kill -9

KILLS, AT_ONCE = int(os.environ.get("KILLS", 500)), 50


def complete_lines(text):
    *complete, _incomplete = text.split(b"\n")
    return complete


def message_burst(rng, ids):
    """Some messages at once, small ones and a few that no pipe takes in one piece."""
    sizes = [rng.randint(1000, 70_000) if rng.random() < 0.02 else rng.randint(0, 200) for _ in range(rng.randint(1, 30))]
    return b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":"%s"}\n' % (next(ids), b"x" * size) for size in sizes)


def send_until_killed(process, rng):
    """Sends without waiting for responses, and is killed at some moment. Returns the complete lines."""
    after_first_response = rng.random() < 0.8  # else while it starts
    kill_timer = threading.Timer(rng.uniform(0, 0.02), process.kill)

    def send_all():
        ids = itertools.count()
        with contextlib.suppress(BrokenPipeError):
            while True:
                os.write(process.stdin.fileno(), message_burst(rng, ids))

    sender = threading.Thread(target=send_all)
    sender.start()
    if not after_first_response:
        kill_timer.start()
    got = b""
    while more := os.read(process.stdout.fileno(), 1 << 16):
        got += more
        if after_first_response and kill_timer.ident is None:
            kill_timer.start()
    kill_timer.join()
    sender.join()
    return complete_lines(got)


def part_number(path):
    return int((re.findall(r"\.(\d+)\.", path.name) or [1])[0])


def recorded_messages(folder):
    """The messages of all parts, by the way they went."""
    kept = {"c2s": [], "s2c": []}
    for part in sorted(folder.glob("r*.jsonl"), key=part_number):
        for line in map(json.loads, complete_lines(part.read_bytes())):
            if line["type"] == "message":
                kept[line["dir"]].append(line["msg"])
    return kept


def killed_round(mcpreel, folder, seed):
    """Returns the output of the client, or None if the disk was slow: then messages are forwarded before
    they are in the file."""
    rotate = ["--rotate", "30kB"] if seed % 3 == 0 else []
    reading, writing = os.pipe()  # held by the server: its end shows that the server is gone
    # The server logs its input, and sends it back.
    with ended(start(mcpreel, "-v", "record", "-o", folder / "r.jsonl", *rotate, "--", "tee", folder / "received",
                     pass_fds=[writing])) as p:
        os.close(writing)
        got = send_until_killed(p, random.Random(seed))
        assert p.wait(60) == -signal.SIGKILL
        assert select.select([reading], [], [], 30)[0], f"{seed}: the server outlived its recorder"
        assert os.read(reading, 1) == b""
        os.close(reading)
        error_output = p.stderr.read()
    if b"a write to '" in error_output:
        return None
    received = complete_lines((folder / "received").read_bytes()) if (folder / "received").exists() else []
    kept = recorded_messages(folder)
    for direction, lines in ("s2c", got), ("c2s", received):
        assert kept[direction][:len(lines)] == [json.loads(line) for line in lines], (seed, direction, error_output)
    return got, received, len(list(folder.glob("r.*.jsonl")))


@pytest.mark.parametrize("batch", range(KILLS // AT_ONCE))
def test_after_sigkill_no_message_that_either_side_received_is_missing(batch, mcpreel, tmp_path, record_property):
    most = collections.Counter()
    slow = 0
    for seed in range(batch * AT_ONCE, (batch + 1) * AT_ONCE):
        folder = tmp_path / str(seed)
        folder.mkdir()
        if not (found := killed_round(mcpreel, folder, seed)):
            slow += 1
            continue
        got, received, parts = found
        most |= collections.Counter(got=len(got), received=len(received), parts=parts, long=max(map(len, got), default=0))
        shutil.rmtree(folder)
    if slow:
        record_property("shown", f"{slow} of {AT_ONCE} rounds do not count: the disk was slow")
    assert slow <= AT_ONCE // 2, "the disk was hardly ever well"
    assert most["got"] > 100 and most["received"] > 100 and most["parts"] > 0 and most["long"] > 10_000, most


def is_json(text):
    with contextlib.suppress(ValueError):
        json.loads(text)
        return True
    return False


def test_a_recording_truncated_at_any_byte_is_usable(run, mcpreel, tmp_path):
    path = tmp_path / "whole.jsonl"
    run([mcpreel, "-q", "record", "-o", path, "--", *ECHO_SERVER], stdin=b"".join(request_bytes(i) for i in range(3)))
    full_text = path.read_bytes()
    for cut in range(1, len(full_text)):
        (tmp_path / f"{cut:05}").write_bytes(full_text[:cut])
    cuts = sorted(tmp_path.glob("0*"))
    ran = run([mcpreel, "-q", "--json", "check", *cuts], timeout=120)
    known = len(b'{"type":"header"')
    for cut, verdict in enumerate(json.loads(ran.out)["files"], 1):
        if cut < known:  # too short to be recognized as one
            continue
        head = full_text[:cut]
        count = sum(b'"type":"message"' in line and is_json(line) for line in head.split(b"\n"))
        assert verdict["verdict"] != "unreadable", (cut, verdict)
        assert verdict["messages"] == count, (cut, verdict)
    assert len(cuts) == len(full_text) - 1


# --- a disk that is full

FULL = 8192


def limited(mcpreel, path, *options):
    """The recording may not grow beyond FULL bytes: what a full disk does, short write included."""
    return start("prlimit", f"--fsize={FULL}:unlimited", mcpreel, "record", "-o", path, *options, "--", *ECHO_SERVER)


def test_temporarily_missing_space_loses_nothing(mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    with ended(limited(mcpreel, path, "--strict")) as p:
        for i in range(200):
            round_trip(p, i)  # long after the disk is full
        assert path.stat().st_size <= FULL
        subprocess.run(["prlimit", f"--pid={p.pid}", "--fsize=unlimited:unlimited"], check=True)
        while len(path.read_bytes().splitlines()) < 402:  # header, start; then both sides are silent
            time.sleep(0.01)
        for i in range(200, 220):
            round_trip(p, i)
        code, _, err = finish(p)
    assert code == 0
    assert err.decode().splitlines() == [
        f"mcpreel: recording to {path}",
        f"mcpreel: warning: buffering the recording in memory: cannot write '{path}': File too large",
        f"mcpreel: recorded 440 messages in {path}"]
    assert [e["msg"]["id"] for e in messages(path) if e["dir"] == "s2c"] == list(range(220))
    assert [e["seq"] for e in messages(path)] == list(range(1, 441))
    assert lines_of(path)[-1]["type"] == "footer"


@pytest.mark.parametrize("strict", [False, True])
def test_permanently_missing_space_does_not_disturb_the_session(strict, mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    with ended(limited(mcpreel, path, *(["--strict"] if strict else []))) as p:
        for i in range(200):
            round_trip(p, i)
        code, out, err = finish(p)
    assert (code, out) == (125 if strict else 0, b"")
    error_output = err.decode().splitlines()
    assert error_output[1:3] == [
        f"mcpreel: warning: buffering the recording in memory: cannot write '{path}': File too large",
        f"mcpreel: the recording is incomplete: cannot write '{path}': File too large"]
    kept = len(messages(path))
    assert len(error_output) == 4 and error_output[3] == f"mcpreel: warning: recorded only {kept} of 400 messages in {path}"
    assert 20 < kept < 400 and path.read_bytes().endswith(b"\n") and path.stat().st_size <= FULL
    *_, footer = lines = lines_of(path)  # lines at the end were removed for the gap and the footer
    gaps = [line for line in lines if line["type"] == "gap"]
    assert sum(g["messages"] for g in gaps) == 400 - kept and {g["why"] for g in gaps} == {"File too large"}
    assert footer["type"] == "footer" and [e["seq"] for e in messages(path)] == list(range(1, kept + 1))


def test_totals_of_a_plain_recording_count_the_written_lines(mcpreel, tmp_path):
    """The recording has no gap. No message overtakes the one that does not fit."""
    path = tmp_path / "r.jsonl"
    big = request_bytes(1).replace(b"}", b',"params":{"x":"' + b"x" * FULL + b'"}}')
    with ended(limited(mcpreel, path, "--plain")) as p:
        round_trip(p, 0)
        p.stdin.write(big)
        p.stdin.flush()
        assert p.stdout.readline() == big.replace(b'"method":"ping"', b'"result":{}')
        round_trip(p, 2)
        code, _, err = finish(p)
    footer, kept = lines_of(path)[-1], [(m["dir"], m["msg"]["id"]) for m in messages(path)]
    assert code == 0 and kept == [("c2s", 0), ("s2c", 0)]
    assert err.endswith(f"warning: recorded only 2 of 6 messages in {path}\n".encode())
    assert (footer["total_messages"], footer["client_messages"], footer["server_messages"]) == (2, 1, 1), footer


@pytest.fixture
def small_disk(tmp_path):
    """A way to run a shell script in a namespace where ./disk is a file system of 64 kB."""
    (tmp_path / "disk").mkdir()

    def inside(script):
        return ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size=64k none disk && {script}"]

    tried = subprocess.run(inside("true"), cwd=tmp_path, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    return inside


def test_a_full_file_system_gives_a_gap(small_disk, mcpreel, tmp_path):
    """Full from the start, emptied after a while, as a user would do with rm."""
    script = ('head -c 40000 /dev/zero > disk/ballast; (read go < go; rm disk/ballast) & '
              f'"{mcpreel}" record --strict -o disk/r.jsonl -- "$@"; code=$?; cp disk/r.jsonl .; exit $code')
    os.mkfifo(tmp_path / "go")
    with ended(start(*small_disk(script), "sh", *ECHO_SERVER, cwd=tmp_path)) as p:
        for i in range(150):
            round_trip(p, i)
        (tmp_path / "go").write_text("go\n")
        time.sleep(1)  # that is how long it may take
        for i in range(150, 160):
            round_trip(p, i)
        code, _, err = finish(p)
    assert code == 0, err
    assert err.count(b"\n") == 3 and b"No space left on device" in err, err
    assert [e["seq"] for e in messages(tmp_path / "r.jsonl")] == list(range(1, 321))
    jsonschema.Draft7Validator(SCHEMA).validate(lines_of(tmp_path / "r.jsonl")[-1])


def test_a_file_system_that_stays_full_gives_a_gap(small_disk, mcpreel, run, tmp_path):
    """The recording ends with a gap and a footer all the same."""
    script = (f'head -c 40000 /dev/zero > disk/ballast; "{mcpreel}" record -o disk/r.jsonl -- "$@"; code=$?; '
              'cp disk/r.jsonl .; exit $code')
    with ended(start(*small_disk(script), "sh", *ECHO_SERVER, cwd=tmp_path)) as p:
        for i in range(400):
            round_trip(p, i)
        code, _, err = finish(p)
    assert code == 0, err
    *_, footer = lines = lines_of(tmp_path / "r.jsonl")
    gaps = [line for line in lines if line["type"] == "gap"]
    assert footer["type"] == "footer" and {g["why"] for g in gaps} == {"No space left on device"}
    assert sum(g["messages"] for g in gaps) == 800 - len(messages(tmp_path / "r.jsonl")) > 0
    assert json.loads(run([mcpreel, "--json", "check", tmp_path / "r.jsonl"]).out)["files"][0]["verdict"] != "unreadable"


def end_of(path, count):
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - count))
        return file.read()


def test_lines_over_the_memory_limit_are_a_gap_at_their_position(mcpreel, tmp_path):
    """64 MB are queued; the others are dropped, and the gap has their exact number."""
    path, size, count = tmp_path / "r.jsonl", 1 << 20, 80
    big = json.dumps({"jsonrpc": "2.0", "method": "x", "params": {"text": "y" * size}}).encode() + b"\n"
    with ended(start("prlimit", f"--fsize={FULL}:unlimited", mcpreel, "record", "-o", path, "--", "cat")) as p:
        for line in [request_bytes(0), *[big] * count]:
            p.stdin.write(line)
            p.stdin.flush()
            assert p.stdout.readline() == line
        assert path.stat().st_size <= FULL
        subprocess.run(["prlimit", f"--pid={p.pid}", "--fsize=unlimited:unlimited"], check=True)
        # Lines in memory come after the gap, and the end waits for the disk a second only: not for 64 MB on a busy machine.
        while f'"seq":{2 * count + 2},'.encode() not in end_of(path, 2 * size):
            time.sleep(0.05)
        p.stdin.write(request_bytes(1))
        code, _, err = finish(p)
    assert code == 0
    lines = lines_of(path)
    gaps = [line for line in lines if line["type"] == "gap"]
    assert sorted(g["from"] for g in gaps) == ["client", "server"]
    kept = collections.Counter(e["dir"] for e in messages(path))
    missing = {g["from"]: g["messages"] for g in gaps}
    assert kept["c2s"] + missing["client"] == kept["s2c"] + missing["server"] == count + 2
    assert all(g["bytes"] == g["messages"] * (len(big) - 1) and g["why"] == "File too large" for g in gaps)
    seqs = [e["seq"] for e in messages(path)]
    assert seqs == sorted(seqs) and [line["us"] for line in lines] == sorted(line["us"] for line in lines)
    at = min(lines.index(g) for g in gaps)
    before, after = lines[at - 1], lines[at + len(gaps)]
    assert after["seq"] - before["seq"] - 1 == sum(missing.values())
    assert b"the recording is incomplete: cannot write" in err and b"recorded only" in err


# --- a disk that is slow

# Traces the optimised program: the leak checker of the other one does not work under a tracer.
@pytest.fixture
def strace():
    tried = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"processes cannot be traced here: {tried.stderr.strip()}")
    return "strace"


def test_a_blocked_write_delays_no_message(strace, tmp_path):
    """The first slow write blocks for seconds; later messages pass meanwhile, and none is lost."""
    path = tmp_path / "r.jsonl"
    with ended(start(strace, "-f", "-o", os.devnull, "-P", path, "-e", "trace=write", "-e",
                     "inject=write:delay_enter=5000000:when=3", OPTIMISED, "-v", "record", "--strict", "-o", path, "--",
                     *ECHO_SERVER)) as p:
        for i in range(30):
            round_trip(p, i)
        assert len(messages(path)) == 0  # header and start are there; the third write still blocks
        while len(messages(path)) < 60:
            time.sleep(0.05)
        code, _, err = finish(p)
    assert code == 0
    assert err.count(b"a write to ") <= 2, err  # slow, and slower than a second
    assert [e["seq"] for e in messages(path)] == list(range(1, 61))


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_failed_sync_is_reported(call, strace, run, tmp_path):
    path = tmp_path / "r.jsonl"
    ran = run([strace, "-f", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:error=EIO", OPTIMISED, "-q",
               "record", "--strict", "-o", path, "--", *ECHO_SERVER], stdin=request_bytes(1))
    assert (ran.code, ran.out) == (125, response_bytes(1))
    what = path if call == "fdatasync" else tmp_path
    assert ran.err.decode() == (f"mcpreel: the recording may not survive a power cut: cannot sync '{what}': "
                                "Input/output error\n")
    assert len(messages(path)) == 2


# --- a file that another process touches

def delete(path):
    path.unlink()


def replace(path):
    (path.parent / "other").write_text("other")
    (path.parent / "other").rename(path)


def truncate(path):
    os.truncate(path, 10)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("touch, done", [(delete, "deleted or replaced"), (replace, "deleted or replaced"),
                                         (truncate, "truncated")])
def test_a_recording_changed_by_another_process_is_reported(touch, done, strict, mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    with ended(start(mcpreel, "record", *(["--strict"] if strict else []), "-o", path, "--", *ECHO_SERVER)) as p:
        round_trip(p, 1)
        touch(path)
        round_trip(p, 2)
        code, _, err = finish(p)
    assert code == (125 if strict else 0), err
    assert err.count(f"mcpreel: the recording is incomplete: another process has {done} '{path}'\n".encode()) == 1, err
    assert err.endswith(f"warning: recorded 4 messages in {path}, which is not complete\n".encode()), err


def test_a_deleted_recording_is_reported_during_the_session(mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    with ended(start(mcpreel, "record", "-o", path, "--flush-interval", "50ms", "--", *ECHO_SERVER)) as p:
        round_trip(p, 0)
        assert p.stderr.readline().startswith(b"mcpreel: recording to ")
        path.unlink()
        received_ids = []
        reader = threading.Thread(target=lambda: received_ids.append(p.stderr.readline()))
        reader.start()
        for i in itertools.count(1):
            round_trip(p, i)
            reader.join(0.02)
            if not reader.is_alive():
                break
        assert b"another process has deleted or replaced" in received_ids[0], received_ids
        assert finish(p)[0] == 0


def test_a_moved_recording_is_complete(mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    with ended(start(mcpreel, "record", "--strict", "-o", path, "--", *ECHO_SERVER)) as p:
        round_trip(p, 1)
        path.rename(tmp_path / "moved")
        round_trip(p, 2)
        assert finish(p)[0] == 0
    assert len(messages(tmp_path / "moved")) == 4


HEADER = (b'{"type":"header","version":"1.0","recorded_at":"2026-01-01T00:00:00Z","upstream":"x",'
          b'"thoughtjack_version":"0.3.0"}\n')


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_unfinished_file(name, mcpreel, tmp_path):
    with ended(start(mcpreel, "convert", "-", "-o", tmp_path / "out.jsonl")) as p:
        p.stdin.write(HEADER)
        p.stdin.flush()
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        p.send_signal(getattr(signal, name))
        assert p.wait(60) == -getattr(signal, name)
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_does_not_end_a_conversion(mcpreel, tmp_path):
    with ended(start("sh", "-c", f'trap "" INT; exec "{mcpreel}" -q convert - -o "{tmp_path}/out.jsonl"')) as p:
        p.stdin.write(HEADER)
        p.stdin.flush()
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        assert finish(p)[0] == 0
    assert [f.name for f in tmp_path.iterdir()] == ["out.jsonl"]


def test_an_empty_file_is_reported_as_empty(run, mcpreel, tmp_path):
    """A recorder that was killed before its header leaves one."""
    (tmp_path / "r.jsonl").touch()
    ran = run([mcpreel, "check", "r.jsonl"], cwd=tmp_path)
    assert ran.code == 3 and b"it is empty" in ran.err and b"a recorder that ended before its first line" in ran.err, ran


# --- what passes

def test_a_line_of_200_mb_is_forwarded_in_bounded_memory(tmp_path):
    size = 200 << 20
    with open(tmp_path / "long", "wb") as f:
        for _ in range(200):
            f.write(b"x" * (1 << 20))
        f.write(b"\nafter\n")
    script = f'exec "{OPTIMISED}" -q record -o "{tmp_path}/r.jsonl" -- cat < "{tmp_path}/long" > "{tmp_path}/out"'
    rss, _, _ = measured("/bin/sh", "-c", script)
    assert rss < 192 * 1024  # the part of the line that is looked at, both ways
    with open(tmp_path / "long", "rb") as a, open(tmp_path / "out", "rb") as b:
        assert hashlib.file_digest(a, "sha256").digest() == hashlib.file_digest(b, "sha256").digest()
    gaps = [line for line in lines_of(tmp_path / "r.jsonl") if line["type"] == "gap"]
    assert [(g["from"], g["messages"], g["bytes"]) for g in gaps] == [("client", 1, size), ("server", 1, size)]
    (tmp_path / "long").unlink()
    (tmp_path / "out").unlink()


@pytest.mark.parametrize("megabytes", [100, 130, 160, 190])
def test_a_message_over_the_memory_limit_is_forwarded_and_is_a_gap(megabytes, tmp_path):
    """Uses the optimised program: a sanitizer takes more address space than the limit."""
    path, big = tmp_path / "r.jsonl", b'{"jsonrpc":"2.0","method":"x","params":"' + b"y" * (63 << 20) + b'"}\n'
    (tmp_path / "in").write_bytes(request_bytes(1) + big + request_bytes(2))
    with open(tmp_path / "in", "rb") as given, open(tmp_path / "out", "wb") as out:
        ran = subprocess.run(["prlimit", f"--as={megabytes * 1000 * 1024}", OPTIMISED, "record", "-o", path, "--", "cat"],
                             stdin=given, stdout=out, stderr=subprocess.PIPE)
    assert ran.returncode == 0, ran
    assert (tmp_path / "in").read_bytes() == (tmp_path / "out").read_bytes()
    gaps = [line for line in lines_of(path) if line["type"] == "gap"]
    assert gaps and all((g["messages"], g["bytes"]) == (1, len(big) - 1) for g in gaps)
    assert len(messages(path)) == 6 - len(gaps) and lines_of(path)[-1]["type"] == "footer"


def test_no_thread_reserves_a_heap_of_its_own(tmp_path):
    """glibc takes 64 MB of address space for one; a limit of the address space then hits something else."""
    with ended(start(OPTIMISED, "-q", "record", "-o", tmp_path / "r.jsonl", "--", *ECHO_SERVER)) as p:
        round_trip(p, 1)
        status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
        assert int(re.search(r"Threads:\s+(\d+)", status)[1]) > 1
        assert int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) < 64 << 10
        assert finish(p)[0] == 0


# --- names

NAME = re.compile(r"\d{8}T\d{6}Z-sed-\d+(-\d+)?\.jsonl")


def test_many_recorders_in_one_folder_use_different_names(mcpreel, tmp_path):
    running = [start(mcpreel, "-q", "record", "-o", tmp_path, "--", *ECHO_SERVER) for _ in range(20)]
    for i, p in enumerate(running):
        with ended(p):
            round_trip(p, i)
            assert finish(p) == (0, b"", b"")
    files = list(tmp_path.iterdir())
    assert len(files) == 20 and all(NAME.fullmatch(f.name) for f in files)
    assert sorted(messages(f)[0]["msg"]["id"] for f in files) == list(range(20))
    assert all(f.stat().st_mode & 0o7777 == 0o600 for f in files)


def test_one_of_many_recorders_with_one_file_starts(mcpreel, tmp_path):
    path = tmp_path / "r.jsonl"
    running = [start(mcpreel, "-q", "record", "-o", path, "--", *ECHO_SERVER) for _ in range(10)]
    ends = []
    for p in running:
        with ended(p):
            with contextlib.suppress(BrokenPipeError):
                p.stdin.write(request_bytes(1))
                p.stdin.close()
            ends.append((p.wait(60), p.stdout.read()))
    assert sorted(ends) == [(0, response_bytes(1))] + [(2, b"")] * 9
    assert len(messages(path)) == 2


@pytest.mark.parametrize("name", ["r.jsonl", "r.json"])
def test_a_client_that_starts_mcpreel_twice_gets_two_recordings(name, mcpreel, tmp_path):
    """Both with --force and the same file, as in a client's configuration; the first is still at work."""
    path = tmp_path / name
    with ended(start(mcpreel, "-q", "record", "--force", "-o", path, "--", *ECHO_SERVER)) as first:
        round_trip(first, 1)
        with ended(start(mcpreel, "record", "--force", "-o", path, "--", *ECHO_SERVER)) as second:
            round_trip(second, 2)
            first.send_signal(signal.SIGTERM)
            assert first.wait(60) == 128 + signal.SIGTERM
            code, _, err = finish(second)
            second_file = tmp_path / name.replace(".", f"-{second.pid}.")
            assert code == 0 and err.startswith(f"mcpreel: recording to {second_file}\n".encode()), err
    assert sorted(tmp_path.iterdir()) == sorted([path, second_file])
    for i, file in (1, path), (2, second_file):
        assert b'"id": %d' % i in file.read_bytes().replace(b'"id":%d' % i, b'"id": %d' % i)
        assert subprocess.run([mcpreel, "-q", "--json", "check", file], stdout=subprocess.PIPE).stdout.count(
            b'"messages":2') == 1
    with ended(start(mcpreel, "-q", "record", "--force", "-o", path, "--", *ECHO_SERVER)) as again:
        round_trip(again, 3)
        assert finish(again)[0] == 0
    assert sorted(tmp_path.iterdir()) == sorted([path, second_file])


def test_concurrent_recorders_that_replace_one_file_lose_nothing(mcpreel, tmp_path):
    for i in range(10):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "r.jsonl").write_text("old")
        running = [start(mcpreel, "-q", "record", "--force", "-o", folder / "r.jsonl", "--", *ECHO_SERVER) for _ in range(4)]
        with contextlib.ExitStack() as all_of_them:
            for n, p in enumerate(running):
                round_trip(all_of_them.enter_context(ended(p)), n)
            assert [finish(p) for p in running] == [(0, b"", b"")] * 4
        files = list(folder.iterdir())
        assert len(files) == 4 and folder / "r.jsonl" in files, files
        assert sorted(messages(f)[0]["msg"]["id"] for f in files) == [0, 1, 2, 3]


def test_without_a_name_the_recording_goes_to_the_state_folder(run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "--name", "my fs", "--", *ECHO_SERVER], stdin=request_bytes(1), cwd="/",
              env={"XDG_STATE_HOME": str(tmp_path / "state"), "MCPREEL_DIR": ""})
    assert ran.code == 0, ran
    [path] = (tmp_path / "state/mcpreel/traces").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-my-fs-\d+\.jsonl", path.name) and f"recording to {path}".encode() in ran.err
    assert lines_of(path)[0]["name"] == "my fs"
    assert path.parent.stat().st_mode & 0o7777 == 0o700


@pytest.mark.parametrize("folder", ["missing/", "file/", "file/x"])
def test_a_folder_that_does_not_exist_is_an_error(folder, run, mcpreel, tmp_path):
    (tmp_path / "file").write_text("precious")
    ran = run([mcpreel, "record", "-o", tmp_path / folder if folder == "file/x" else f"{tmp_path}/{folder}", "--",
               "touch", tmp_path / "started"])
    assert ran.code == 5 and ran.err.startswith(b"mcpreel: cannot write "), ran
    assert (b"there is no folder" in ran.err) == (folder == "missing/")
    assert not (tmp_path / "started").exists() and (tmp_path / "file").read_text() == "precious"


# --- parts

def test_parts_are_complete_and_combine_to_one_recording(run, mcpreel, tmp_path):
    questions = b"".join(request_bytes(i) for i in range(40))
    ran = run([mcpreel, "record", "-o", tmp_path / "r.jsonl", "--rotate", "2kB", "--tags", "t", "--", *ECHO_SERVER],
              stdin=questions)
    assert ran.code == 0, ran
    parts = sorted(tmp_path.iterdir(), key=part_number)
    assert len(parts) > 4 and [p.name for p in parts] == ["r.jsonl", *(f"r.{n}.jsonl" for n in range(2, len(parts) + 1))]
    assert f"recorded 80 messages in {parts[0]} and {len(parts) - 1} further parts".encode() in ran.err
    for n, part in enumerate(parts, 1):
        lines = lines_of(part)
        assert (lines[0]["type"], lines[0]["part"], lines[0]["tags"], lines[-1]["type"]) == ("header", n, ["t"], "footer")
        assert lines[-1]["total_messages"] == len(messages(part))
        assert n == len(parts) or 2000 <= part.stat().st_size < 2500
        for line in lines:
            jsonschema.Draft7Validator(SCHEMA).validate(line)
        verdict = json.loads(run([mcpreel, "-q", "--json", "check", part]).out)["files"][0]
        assert verdict["verdict"] != "damaged", verdict
    recorded = [line for part in parts for line in part.read_text().splitlines()
                if json.loads(line)["type"] not in ("header", "footer")]
    for inputs in (parts, parts[::-1]):
        ran = run([mcpreel, "-q", "convert", *inputs, "-o", tmp_path / "joined", "--to", "recording", "--force"])
        assert ran.code == 0, ran
        joined = (tmp_path / "joined").read_text().splitlines()
        assert joined[1:-1] == recorded
        head, foot = json.loads(joined[0]), json.loads(joined[-1])
        assert "part" not in head and (foot["total_messages"], foot["exit_code"], foot["errors"]) == (80, 0, 0)
    assert json.loads(run([mcpreel, "--json", "check", tmp_path / "joined"]).out)["files"][0]["verdict"] == "ok"


def test_parts_of_two_sessions_stay_separate(run, mcpreel, tmp_path):
    for name in "ab":
        ran = run([mcpreel, "-q", "record", "-o", tmp_path / f"{name}.jsonl", "--rotate", "1kB", "--", *ECHO_SERVER],
                  stdin=b"".join(request_bytes(i) for i in range(10)))
        assert ran.code == 0, ran
    ran = run([mcpreel, "-q", "convert", *sorted(tmp_path.iterdir()), "-o", tmp_path / "joined.jsonl"])
    assert ran.code == 0, ran
    conns = collections.Counter(e["conn"] for e in messages(tmp_path / "joined.jsonl"))
    assert sorted(conns.values()) == [20, 20]
    assert run([mcpreel, "check", tmp_path / "joined.jsonl"]).code == 0


def test_an_existing_part_is_rejected_before_the_server_starts(run, mcpreel, tmp_path):
    (tmp_path / "r.2.jsonl").write_text("precious")
    ran = run([mcpreel, "record", "-o", "r.jsonl", "--rotate", "1kB", "--", "touch", "started"], cwd=tmp_path)
    assert ran.code == 2 and b"'r.2.jsonl': it exists already" in ran.err, ran
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.2.jsonl"]


def test_force_replaces_only_the_given_file(run, mcpreel, tmp_path):
    for name in ("r.jsonl", "r.2.jsonl", "r.4.jsonl"):
        (tmp_path / name).write_text("precious")
    ran = run([mcpreel, "-q", "record", "--force", "-o", "r.jsonl", "--rotate", "1kB", "--", *ECHO_SERVER], cwd=tmp_path,
              stdin=b"".join(request_bytes(i) for i in range(20)))
    assert ran.code == 0, ran
    assert (tmp_path / "r.2.jsonl").read_text() == (tmp_path / "r.4.jsonl").read_text() == "precious"
    assert [lines_of(tmp_path / f"r.{n}.jsonl")[0]["part"] for n in (3, 5)] == [3, 5]
    assert lines_of(tmp_path / "r.jsonl")[0]["type"] == "header"


def test_parts_that_cannot_be_created_are_reported_once(run, mcpreel, tmp_path):
    """The folder takes no more files once the first stands there."""
    server = f"chmod 500 {tmp_path}; exec sed -u " + "'s/\"method\":\"ping\"/\"result\":{}/'"
    if os.geteuid() == 0:
        server = f"for i in $(seq 2 2000); do : > {tmp_path}/r.$i.jsonl; done; " + server.split("; ", 1)[1]
    with ended(start(mcpreel, "record", "-o", tmp_path / "r.jsonl", "--rotate", "1kB", "--", "sh", "-c", server)) as p:
        for i in range(40):
            round_trip(p, i)
        code, _, err = finish(p)
    tmp_path.chmod(0o700)
    assert code == 0 and err.count(b"\n") == 3 and err.count(b"warning: ") == 1, err
    assert b"warning: the recording continues in the same part: cannot write '" in err, err
    assert len(messages(tmp_path / "r.jsonl")) == 80


# --- other formats

@pytest.mark.parametrize("name, options, found", [
    ("r.trace.jsonl", [], "trace"), ("r.jsonrpc", [], "jsonrpc"), ("r.json", [], "cassette"),
    ("r", ["--format", "cassette"], "cassette"), ("r.json", ["--format", "recording"], "recording")])
def test_any_format_can_be_recorded(name, options, found, run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "-o", name, *options, "--", *ECHO_SERVER], stdin=request_bytes(1) + request_bytes(2), cwd=tmp_path)
    assert (ran.code, ran.out) == (0, response_bytes(1) + response_bytes(2)), ran
    assert [p.name for p in tmp_path.iterdir()] == [name]
    report = json.loads(run([mcpreel, "-q", "--json", "check", tmp_path / name]).out)["files"][0]
    assert (report["format"], report["messages"]) == (found, 4)
    assert (tmp_path / name).stat().st_mode & 0o7777 == 0o600


def test_check_fix_completes_the_recording_of_a_killed_recorder(run, mcpreel, tmp_path):
    journal, target = tmp_path / "r.json.cassette.journal", tmp_path / "r.json"
    with ended(start(mcpreel, "-q", "record", "-o", target, "--", *ECHO_SERVER)) as p:
        for i in range(5):
            round_trip(p, i)
        assert not target.exists() and journal.exists()
        p.kill()
        p.wait(60)
    assert not target.exists()
    ran = run([mcpreel, "check", "--fix", journal])
    assert ran.code == 0 and f"finished: {target}".encode() in ran.out and not journal.exists(), ran
    calls = [i for i in json.loads(target.read_text())["interactions"] if i["type"] == "jsonrpc_request"]
    assert len(calls) == 5
    report = json.loads(run([mcpreel, "-q", "--json", "check", target]).out)["files"][0]
    assert (report["format"], report["messages"]) == ("cassette", 10)


def test_a_journal_of_a_killed_recorder_does_not_block_the_next(run, mcpreel, tmp_path):
    journal, target = tmp_path / "r.json.cassette.journal", tmp_path / "r.json"
    for i in range(2):
        with ended(start(mcpreel, "-q", "record", "-o", target, "--", *ECHO_SERVER)) as p:
            round_trip(p, i)
            p.kill()
            p.wait(60)
    ran = run([mcpreel, "record", "-o", target, "--", *ECHO_SERVER], stdin=request_bytes(2))
    moved_journal = tmp_path / "r.3.json.cassette.journal"
    assert ran.code == 0 and ran.err.count(b"mcpreel: ") == 2 and f"check --fix {moved_journal}'".encode() in ran.err, ran
    assert not journal.exists() and target.exists()
    for n in (2, 3):
        remaining_journal = tmp_path / f"r.{n}.json.cassette.journal"
        assert [m["msg"]["id"] for m in messages(remaining_journal)] == [n - 2] * 2
        assert run([mcpreel, "check", "--fix", remaining_journal]).code == 0 and (tmp_path / f"r.{n}.json").exists()


@pytest.mark.parametrize("strict", [False, True])
def test_features_that_a_document_loses_are_reported(strict, run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", *(["--strict"] if strict else []), "-o", "r.json", "--", "sh", "-c",
               "echo oops >&2; exec sed -u " + "'s/\"method\":\"ping\"/\"result\":{}/'"], stdin=request_bytes(1), cwd=tmp_path)
    assert ran.code == (125 if strict else 0) and (tmp_path / "r.json").exists()
    assert ran.err.count(b"lost in 'cassette': ") == 1 and b"standard error" in ran.err, ran
    assert (tmp_path / "r.json.cassette.journal").exists() == strict


def test_too_long_messages_are_counted_at_the_end(run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "--max-message", "60", "-o", "r.jsonl", "--", "cat"], cwd=tmp_path,
              stdin=request_bytes(1) + b'{"jsonrpc":"2.0","method":"' + b"x" * 100 + b'"}\n')
    assert ran.err.endswith(b"warning: recorded only 2 of 4 messages in r.jsonl; 2 were longer than --max-message\n"), ran


def test_a_response_to_a_too_long_request_is_not_in_a_cassette(run, mcpreel, tmp_path):
    """mcp-recorder would take a call without a request for a call."""
    long = request_bytes(2).replace(b"}", b',"params":{"x":"' + b"x" * 100 + b'"}}')
    ran = run([mcpreel, "record", "--max-message", "60", "-o", "r.json", "--", "sed", "-u",
               r's/"method":"ping".*/"result":{}}/'], stdin=request_bytes(1) + long + request_bytes(3), cwd=tmp_path)
    assert (ran.code, ran.out) == (0, response_bytes(1) + response_bytes(2) + response_bytes(3)), ran
    calls = json.loads((tmp_path / "r.json").read_text())["interactions"]
    assert [(c["request"]["id"], c["response"]["id"]) for c in calls] == [(1, 1), (3, 3)]
    assert ran.err.count(b"1 was longer than --max-message") == 1
    assert ran.err.count(b"1 unpaired request or response") == 1


def test_a_document_created_meanwhile_is_not_overwritten(mcpreel, tmp_path):
    target = tmp_path / "r.json"
    with ended(start(mcpreel, "-q", "record", "-o", target, "--", *ECHO_SERVER)) as p:
        round_trip(p, 1)
        target.write_text("precious")
        code, _, err = finish(p)
    assert code == 125 and err.startswith(f"mcpreel: cannot write '{target}': it exists already\n".encode()), err
    assert target.read_text() == "precious" and len(messages(tmp_path / "r.json.cassette.journal")) == 2

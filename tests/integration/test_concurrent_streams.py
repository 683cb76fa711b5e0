"""A sample of the thousands of streams at once that 'make endurance' opens: none lost, each in its own order."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import stream_load
from http_peers import Program

SCRIPT = pathlib.Path(stream_load.__file__)
OPTIMISED = SCRIPT.parents[2] / "build/mcpreel"  # the memory of a sanitized one says nothing
EVENTS = 10
DEADLINE = 600  # for a whole test; none of them is about speed


class Part:
    """One of the swarm's programs; each line that it says is a value."""

    def __init__(self, *words):
        self.process = subprocess.Popen([sys.executable, SCRIPT, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline()
        assert line, self.process.communicate(timeout=DEADLINE)[1]
        return json.loads(line)

    def resume(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def running(*words):
    part = Part(*words)
    try:
        yield part
    finally:
        part.end()


@contextlib.contextmanager
def program(*words):
    """As a shell starts it: with few descriptors, which may be more."""
    p = Program(["sh", "-c", 'ulimit -Sn 256 && exec "$0" "$@"', *words])
    try:
        yield p
    finally:
        p.close()


def memory(pid, name="VmRSS"):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name + ":"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def lines(path):
    """Not all at once: there may be half a million."""
    with open(path) as f:
        yield from map(json.loads, f)


def check_recording(path, count, rounds, aborted_streams=0):
    """Every message of every stream is there once, in its order, with the exchange it belongs to."""
    received, requests, ends, broken = {}, {}, 0, 0
    for line in lines(path):
        if line["type"] == "message" and line["dir"] == "c2s":
            requests[line["exchange"]] = line["msg"]["params"]["arguments"]["who"]
        elif line["type"] == "message":
            received.setdefault(line["exchange"], []).append(line["msg"])
        elif line["type"] == "http" and line["ev"] == "end":
            assert (line["clean"], line["by"]) in ((True, "server"), (False, "client"))
            ends += 1
            broken += not line["clean"]
    assert ends == len(requests) == len(received) == (count + aborted_streams) * rounds
    assert broken == aborted_streams * rounds
    for exchange, who in requests.items():
        if who != stream_load.ABORTING:
            assert received[exchange] == [*(stream_load.log_message(who, n) for n in range(EVENTS)), stream_load.result(who)]


def record_streams(mcpreel, path, count, rounds, aborted_streams=0):
    """Returns memory in kB and descriptors, once for each round."""
    took = []
    with running("serve", count, EVENTS) as server:
        with program(mcpreel, "-q", "record", "-o", path, "--listen", "0", "--url", f"http://127.0.0.1:{server.line()}/mcp") as p:
            with running("call", p.port, p.path, count, EVENTS, rounds, aborted_streams) as clients:
                for _ in range(rounds):
                    assert clients.line() == {"streams": count, "events": count * (EVENTS + 1)}
                    took.append((memory(p.process.pid), descriptors(p.process.pid)))
                    clients.resume()
            assert p.stop() == 0, p.err
    return took


def check_steady(took, warm):
    """After so many rounds nothing grows any more. Freed memory may stay with the allocator: a little is allowed."""
    kilobytes, fds = zip(*took[warm:])
    assert max(kilobytes) - kilobytes[0] <= 1024, kilobytes
    assert max(fds) - fds[0] <= 8, fds  # of the rude ones some may not be gone yet


def recording_with_a_server_request(path):
    """One session, one call: a question, what was said after its answer, and the result."""
    initialize_result = {"protocolVersion": stream_load.VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    messages = [("c2s", stream_load.INITIALIZE), ("s2c", {"jsonrpc": "2.0", "id": 1, "result": initialize_result}), ("c2s", stream_load.INITIALIZED),
                ("c2s", stream_load.call("x")), ("s2c", stream_load.ROOTS_REQUEST), ("c2s", stream_load.ROOTS),
                *(("s2c", stream_load.log_message("x", n)) for n in range(EVENTS)), ("s2c", stream_load.result("x"))]
    head = {"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "x",
            "thoughtjack_version": "0.3.0"}
    rest = [{"type": "message", "seq": n + 1, "ts": "2026-11-15T21:00:00.000Z", "dir": d, "msg": m} for n, (d, m) in enumerate(messages)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *rest]))


def replay_streams(mcpreel, path, count):
    """Returns memory in kB and descriptors with all streams open."""
    recording_with_a_server_request(path)
    with program(mcpreel, "-q", "replay", "--listen", "0", path) as p:
        with running("initialize", p.port, p.path, count, EVENTS) as clients:
            assert clients.line() == {"open": count}
            took = memory(p.process.pid), descriptors(p.process.pid)
            clients.resume()
            assert clients.line() == {"streams": count, "events": count * (EVENTS + 2)}
        assert p.stop() == 0, p.err
    return took


def shown(record_property, what, count, kilobytes):
    record_property("shown", f"{what}: {count} streams at once, RSS {kilobytes / 1024:.1f} MB")


def test_a_thousand_streams_are_recorded_at_once(tmp_path, record_property):
    took = record_streams(OPTIMISED, tmp_path / "r.jsonl", 1000, 1)
    check_recording(tmp_path / "r.jsonl", 1000, 1)
    shown(record_property, "record", 1000, took[0][0])


def test_many_streams_in_sequence_leak_nothing(tmp_path, record_property):
    rounds, count, aborted_streams = 30, 60, 6
    took = record_streams(OPTIMISED, tmp_path / "r.jsonl", count, rounds, aborted_streams)
    check_recording(tmp_path / "r.jsonl", count, rounds, aborted_streams)
    check_steady(took, rounds // 3)
    record_property("shown", f"record: {count * rounds} streams one after the other, RSS from {took[rounds // 3][0]} to {took[-1][0]} kB")


def test_two_thousand_streams_are_replayed_at_once(tmp_path, record_property):
    kilobytes, fds = replay_streams(OPTIMISED, tmp_path / "r.jsonl", 2000)
    assert fds > 2000
    shown(record_property, "replay", 2000, kilobytes)

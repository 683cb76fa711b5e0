"""Many sessions of HTTP clients, each with a server on stdio, in sequence: no memory, descriptor or process is left."""
import contextlib
import pathlib

from front_clients import open_session, start_time, initialize, wait_for_exit
from http_peers import Program, call, lines_of, records_of
from test_concurrent_streams import OPTIMISED, check_steady, descriptors, memory

SERVERS = 4


def descendants(pid):
    """All descendants, and their resources. A process that ends meanwhile has none."""
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text().split():
                found += [int(child), *descendants(child)]
    return found


def delete(program):
    client, session = open_session(program)
    assert client.post(call(1, "ping"), headers=session).status == 200
    client.send_request(method="DELETE", headers=session)
    assert client.read_response().status == 200


def disconnect(program):
    """Its server goes when another session needs the place."""
    client, session = open_session(program)
    client.send_request(call(1, "tools/list"), headers=session)
    client.close()


def listen_and_disconnect(program):
    client, session = open_session(program)
    listener = program.client()
    listener.send_request(method="GET", headers=session)
    assert listener.head().status == 200
    listener.reset()
    client.reset()


def call_without_session(program):
    assert program.client().post(call(1, "ping")).status == 200


def use_http_sse(program):
    stream = program.client()
    stream.send_request(method="GET", path="/sse")
    assert stream.head().status == 200
    endpoint = stream.event().split("data: ")[1].strip()
    client = program.client()
    client.send_request(initialize(version="2024-11-05"), path=endpoint)
    assert client.read_response().status == 202
    assert "serverInfo" in stream.event()
    stream.close()


KINDS = (delete, disconnect, listen_and_disconnect, call_without_session, use_http_sse)


def run_rounds(mcpreel, path, rounds):
    """Returns memory in kB and descriptors, once for each round."""
    took, seen = [], set()
    program = Program([mcpreel, "-q", "record", "-o", path, "--listen", "0", "--max-servers", str(SERVERS), "--",
                       mcpreel, "demo", "server"])
    try:
        for _ in range(rounds):
            for kind in KINDS:
                kind(program)
            now = descendants(program.process.pid)
            assert len(now) <= 2 * SERVERS  # each has a watchdog; those that are ending count
            seen.update((pid, started_at) for pid in now if (started_at := start_time(pid)))
            took.append((memory(program.process.pid), descriptors(program.process.pid)))
        assert program.stop() == 0, program.err
    finally:
        program.close()
    for pid, started_at in seen:
        wait_for_exit(pid, started_at)
    return took


def check_recording(path, rounds):
    """Every server has its two lines, and every client has received a response of one."""
    lines = lines_of(path)
    started = [p["conn"] for p in records_of(lines, "proc", ev="start")]
    assert started == list(range(1, len(started) + 1)) and len(started) >= 4 * rounds
    assert sorted(p["conn"] for p in records_of(lines, "proc", ev="exit")) == started
    assert not records_of(lines, "proc", ev="failed")
    assert len(records_of(lines, "http", ev="request")) == len(records_of(lines, "http", ev="end"))


def test_many_sessions_in_sequence_leak_nothing(tmp_path, record_property):
    rounds = 12
    took = run_rounds(OPTIMISED, tmp_path / "r.jsonl", rounds)
    check_recording(tmp_path / "r.jsonl", rounds)
    check_steady([(kilobytes, 0) for kilobytes, _ in took], rounds // 3)
    assert max(fds for _, fds in took) <= took[0][1] + 6 * 2 * SERVERS
    record_property("shown", f"front: {4 * rounds} sessions, RSS from {took[rounds // 3][0]} to {took[-1][0]} kB")

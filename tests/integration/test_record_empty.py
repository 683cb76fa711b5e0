"""A recorder that recorded nothing leaves the file it was given as it was, and makes no new one (finding M1)."""
import json
import signal
import socket

import pytest

from http_peers import Program, Upstream, call, initialize, lines_of, records_of
from test_record_disk import ECHO_SERVER, round_trip, ended, finish, start

OLD = b'{"version": "1.0", "metadata": {}, "interactions": []}\n\n# not touched\n'
STDIO_SERVER = "sh -c 'echo ready >&2; exec cat >/dev/null'"
TARGET = ["--target", "http://127.0.0.1:9"]
URL = ["--url", "http://127.0.0.1:9", "--listen", "0"]

# The words of `record`, and the file that they name.
CASES = [
    ([*TARGET, "--listen", "0"], "keep.json"),
    ([*TARGET, "--listen", "0"], "keep.jsonl"),
    (["--target-stdio", STDIO_SERVER, "--listen", "0"], "keep.json"),
    (["--target-stdio", STDIO_SERVER, "--listen", "0"], "keep.jsonl"),
    ([*URL, "--force"], "keep.json"),
    ([*URL, "--force"], "keep.jsonl"),
    (["--force", "--listen", "0", "--upstream", STDIO_SERVER], "keep.json"),
    (["--force", "--listen", "0", "--upstream", STDIO_SERVER], "keep.jsonl"),
]


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start_recorder(words, name):
        started.append(Program([mcpreel, "record", *words, "-o", name], cwd=tmp_path))
        return started[-1]

    yield start_recorder
    for program in started:
        program.close()


@pytest.mark.parametrize("old_contents", [True, False])
@pytest.mark.parametrize("words, name", CASES)
def test_without_a_client_the_file_stays_unchanged(words, name, old_contents, record, tmp_path):
    if old_contents:
        (tmp_path / name).write_bytes(OLD)
    program = record(words, name)
    assert program.stop() == 0, program.err
    if old_contents:
        assert (tmp_path / name).read_bytes() == OLD
        assert f"nothing was recorded; '{name}' was not changed" in program.err
    else:
        assert f"nothing was recorded; '{name}' was not created" in program.err
    assert [p.name for p in tmp_path.iterdir()] == [name] * old_contents


@pytest.mark.parametrize("words, name", [case for case in CASES if case[0][0] in ("--target", "--url")])
def test_an_unreachable_server_does_not_replace_the_old_recording(words, name, record, tmp_path):
    (tmp_path / name).write_bytes(OLD)
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    program = record([w.replace(":9", f":{port}") for w in words], name)
    assert program.client().post(initialize()).status == 502
    assert program.stop() == 0, program.err
    assert (tmp_path / name).read_bytes() == OLD and len(list(tmp_path.iterdir())) == 1
    assert f"nothing was recorded; '{name}' was not changed" in program.err


@pytest.mark.parametrize("words, name", CASES)
def test_a_recorder_killed_without_client_does_not_replace_the_old_recording(words, name, record, tmp_path):
    (tmp_path / name).write_bytes(OLD)
    program = record(words, name)
    program.stop(signal.SIGKILL)
    assert (tmp_path / name).read_bytes() == OLD


def test_a_killed_recorder_leaves_the_old_cassette_and_a_journal(record, tmp_path):
    server = Upstream()
    (tmp_path / "keep.json").write_bytes(OLD)
    program = record(["--target", server.url, "--listen", "0"], "keep.json")
    assert program.client().post(call(1)).status == 200
    program.stop(signal.SIGKILL)
    server.close()
    assert (tmp_path / "keep.json").read_bytes() == OLD
    assert len(records_of(lines_of(tmp_path / "keep.json.cassette.journal"), "message")) == 2


@pytest.mark.parametrize("name", ["keep.json", "keep.jsonl"])
def test_a_session_replaces_the_old_recording(name, record, tmp_path):
    server = Upstream()
    (tmp_path / name).write_bytes(OLD)
    program = record(["--target", server.url, "--listen", "0"], name)
    assert program.client().post(call(1)).status == 200
    if name == "keep.jsonl":  # there at once, for those who follow it
        assert len(records_of(lines_of(tmp_path / name), "message")) == 2
    assert program.stop() == 0, program.err
    server.close()
    assert [p.name for p in tmp_path.iterdir()] == [name]
    if name == "keep.json":
        assert len(json.loads((tmp_path / name).read_bytes())["interactions"]) == 1
    else:
        assert len(records_of(lines_of(tmp_path / name), "message")) == 2


@pytest.mark.parametrize("name", ["keep.json", "keep.jsonl"])
def test_a_stdio_session_without_message_does_not_replace_the_old_recording(name, run, mcpreel, tmp_path):
    (tmp_path / name).write_bytes(OLD)
    ran = run([mcpreel, "record", "--force", "-o", name, "--", "sh", "-c", "echo hello >&2; exit 3"], cwd=tmp_path)
    assert ran.code == 3 and f"nothing was recorded; '{name}' was not changed".encode() in ran.err, ran
    assert (tmp_path / name).read_bytes() == OLD and len(list(tmp_path.iterdir())) == 1


def test_an_old_recording_in_use_is_locked(mcpreel, tmp_path):
    """The second recorder must not replace what the first one is about to replace."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(OLD)
    with ended(start(mcpreel, "record", "--force", "-o", path, "--", *ECHO_SERVER)) as first:
        assert first.stderr.readline() == f"mcpreel: recording to {path}\n".encode()
        with ended(start(mcpreel, "-q", "record", "--force", "-o", path, "--", *ECHO_SERVER)) as second:
            round_trip(second, 2)
            assert path.read_bytes() == OLD
            round_trip(first, 1)
            assert finish(second)[0] == finish(first)[0] == 0
    second_file = tmp_path / f"r-{second.pid}.jsonl"
    assert sorted(tmp_path.iterdir()) == sorted([path, second_file])
    assert [records_of(lines_of(p), "message")[0]["msg"]["id"] for p in (path, second_file)] == [1, 2]

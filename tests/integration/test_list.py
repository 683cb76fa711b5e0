"""list: the recordings that were made without -o, and those of any folder."""
import json
import os
import subprocess

import pytest

from test_inspect import HEADER, response, call, documented

PING = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Lisbon"}}}\n'


def listed(run, mcpreel, *words, **env):
    return json.loads(run([mcpreel, "list", "--json", *words], env=env).out)["recordings"]


@pytest.mark.parametrize("variable, below", [("MCPREEL_DIR", ""), ("XDG_STATE_HOME", "mcpreel/traces"),
                                             ("HOME", ".local/state/mcpreel/traces")])
def test_recordings_without_a_given_name_are_listed(variable, below, mcpreel, run, tmp_path):
    env = {"MCPREEL_DIR": "", "XDG_STATE_HOME": "", "HOME": "", variable: os.fspath(tmp_path)}
    assert listed(run, mcpreel, **env) == []
    assert run([mcpreel, "record", "--", mcpreel, "demo", "server"], stdin=PING, env=env).code == 0
    [one] = listed(run, mcpreel, **env)
    assert one["path"].startswith(os.fspath(tmp_path / below) + os.sep)
    assert (one["state"], one["tool_calls"], one["tool_calls_estimated"]) == ("complete", 1, False)
    assert one["path"] in run([mcpreel, "list"], env=env).out.decode()


def test_an_unfinished_recording_is_marked(mcpreel, run, tmp_path):
    recorder = subprocess.Popen([mcpreel, "record", "-o", tmp_path / "a.jsonl", "--", "cat"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        recorder.stdin.write(PING)
        recorder.stdin.flush()
        recorder.stdout.readline()
        assert [one["state"] for one in listed(run, mcpreel, tmp_path)] == ["recording"]
        assert b"(being recorded)" in run([mcpreel, "list", tmp_path]).out
    finally:
        recorder.stdin.close()
        recorder.wait()


def test_other_formats_and_compressed_files_are_listed(mcpreel, run, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text(HEADER + call(1, "a") + response(2, 1))
    for name in ("b.json", "c.trace.jsonl", "d.jsonl.gz"):
        assert run([mcpreel, "convert", source, "-o", tmp_path / name]).code == 0
    rows = {os.path.basename(one["path"]): one for one in listed(run, mcpreel, tmp_path)}
    assert set(rows) == {"a.jsonl", "b.json", "c.trace.jsonl", "d.jsonl.gz"}
    assert {one["tool_calls"] for one in rows.values()} == {1}


def test_an_unreadable_file_is_listed_with_the_others(mcpreel, run, tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(HEADER)
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "a.jsonl").symlink_to("b.jsonl")
    (tmp_path / "c.jsonl").write_bytes(b"\0" * 100)
    states = {os.path.basename(one["path"]): one["state"] for one in listed(run, mcpreel, tmp_path)}
    assert states == {"a.jsonl": "unfinished", "b.jsonl": "unfinished", "c.jsonl": "unreadable"}


def test_large_files_are_not_read_completely(mcpreel, run, tmp_path):
    """Sparse files of 200 GB together: a program that reads them does not end within the minute that a run may take."""
    for n in range(50):
        with (tmp_path / f"{n}.jsonl").open("w") as file:
            file.write(HEADER + call(1, "a") * 500)
            file.truncate(4 << 30)
    rows = listed(run, mcpreel, tmp_path)
    assert len(rows) == 50 and all(one["tool_calls_estimated"] for one in rows)


def test_the_json_output_has_the_documented_members(mcpreel, run, tmp_path):
    (tmp_path / "a.jsonl").write_text(HEADER)
    assert documented("Recordings that list shows") == list(listed(run, mcpreel, tmp_path)[0])

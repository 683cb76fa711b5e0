"""Standard streams that are closed, full or gone."""
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel")).resolve()


def run(redirection, *args):
    return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", PROGRAM, *args],
                          capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("args", [["version"], ["help"], ["completion", "bash"]])
@pytest.mark.parametrize("redirection, why", [
    (">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
def test_unwritable_output_is_an_error(args, redirection, why):
    p = run(redirection, *args)
    assert p.returncode == 5
    assert p.stderr == f"mcpreel: cannot write 'standard output': {why}\n"


def test_a_replay_with_unwritable_output_is_an_error(tmp_path):
    recording, report = tmp_path / "session.jsonl", tmp_path / "report.json"
    recording.write_text('{"type":"message","seq":1,"ts":"2025-01-01T00:00:00Z","dir":"c2s",'
                         '"msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}\n')
    ping = """<<'END' >/dev/full
{"jsonrpc":"2.0","id":1,"method":"ping"}
END
"""
    p = run(ping, "replay", "--report", report, recording)
    assert p.returncode == 5
    assert p.stderr.count("from the recording") == 1
    assert p.stderr.endswith("mcpreel: cannot write 'standard output': no space left on device\n")
    assert '"exit_code":5' in report.read_text()


def test_a_file_never_gets_the_descriptor_of_a_closed_stream(tmp_path):
    """The recording would be the first file opened, and the server's words would end in it."""
    target = tmp_path / "session.jsonl"
    p = run(">&-", "record", "-o", target, "--", "echo", "not for the file")
    assert (p.returncode, p.stdout) == (5, "")
    assert "standard output" in p.stderr
    assert not target.exists(), "there was no session to record"


def test_mcpreel_works_without_standard_input_and_error():
    p = run("<&- 2>&-", "version")
    assert (p.returncode, p.stderr) == (0, "")
    assert p.stdout.startswith("mcpreel ")


def test_a_closed_reader_ends_mcpreel_silently():
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run([PROGRAM, "help"], stdout=write, stderr=subprocess.PIPE, timeout=30)
    os.close(write)
    assert (p.returncode, p.stderr) == (-signal.SIGPIPE, b"")

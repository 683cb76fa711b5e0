"""Options that mean nothing beside the others: on the command line they are refused, in the environment they are for other commands."""
import os

import pytest

URL = ["--url", "http://127.0.0.1:9/mcp"]
SERVER = ["--", "touch", "started"]

RECORD = [
    (["--max-servers", "3", *SERVER], "'--max-servers' needs '--listen' and a command"),
    (["--max-servers", "3", "--upstream", "touch started"], "'--max-servers' needs '--listen' and a command"),
    (["--max-servers", "3", *URL], "'--max-servers' needs '--listen' and a command"),
    (["--max-servers", "3", "--listen", "0", *URL], "'--max-servers' needs '--listen' and a command"),
    (["--target-env", "A=b", *URL], "'--target-env' needs a command"),
    (["--target-env", "A=b", "--target", URL[1]], "'--target-env' needs a command"),
    (["--force", *SERVER], "'--force' needs the name of a file, in '-o FILE'"),
    (["--force", "-o", ".", *SERVER], "'--force' needs the name of a file, in '-o FILE'"),
    (["--plain", "-o", "r.json", *SERVER], "'--plain' needs the format 'recording'"),
    (["--plain", "--format", "jsonrpc", "-o", "r", *SERVER], "'--plain' needs the format 'recording'"),
    (["--cacert", "ca.pem", *URL], "'--cacert' needs a URL that begins with https"),
    (["--cacert", "ca.pem", *SERVER], "'--cacert' needs '--url'"),
    (["--header", "A: b", *SERVER], "'--header' needs '--url'"),
    (["--header-env", "A=PATH", *SERVER], "'--header-env' needs '--url'"),
    (["--allow-remote", *SERVER], "'--allow-remote' needs '--listen'"),
    (["--allow-host", "a", *SERVER], "'--allow-host' needs '--listen'"),
    (["--allow-origin", "http://a", *URL], "'--allow-origin' needs '--listen'"),
    (["--ready-fd", "3", *URL], "'--ready-fd' needs '--listen'"),
    (["--end-with-stdin", *URL], "'--end-with-stdin' needs '--listen'"),
    (["--allow-remote", "--port", "9", *SERVER],
     "'--allow-remote' needs an address of '--listen' that other machines can reach"),
    (["--rotate", "1MB", "-o", "r.json", *SERVER], "'--rotate' cannot be combined with format 'cassette': it is one document"),
]

REPLAY = [
    (["--force"], "'--force' needs '--report' or '--pending'"),
    (["--order", "total", "--match", "fuzzy"], "--order total needs --match sequential"),
    (["--allow-host", "a"], "'--allow-host' needs '--listen'"),
    (["--allow-remote", "--listen", "127.0.0.1:0"], "'--allow-remote' needs an address of '--listen' that other machines can reach"),
    (["--header", "A: b"], "'--header' needs '--url'"),
    (["--on-unmatched", "passthrough", "--cacert", "ca.pem", *URL], "'--cacert' needs a URL that begins with https"),
    (URL, "a server was given, but passthrough is off"),
    (["--upstream", "touch started"], "a server was given, but passthrough is off"),
]


@pytest.fixture
def work_dir(tmp_path):
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "session.jsonl").write_text('{"type":"header","version":"1.0","recorded_at":"2026-11-15T21:00:00.000Z","upstream":"s",'
                                            '"thoughtjack_version":"0.3.0"}\n')
    return tmp_path


@pytest.mark.parametrize("words, expected_error", RECORD)
def test_record_rejects_options_without_effect(mcpreel, run, work_dir, words, expected_error):
    before = sorted(work_dir.iterdir())
    ran = run([mcpreel, "record", *words], cwd=work_dir, env={"XDG_STATE_HOME": os.fspath(work_dir / "state"), "MCPREEL_DIR": ""})
    assert (ran.code, ran.out) == (2, b""), ran
    assert ran.err.decode().splitlines()[0] == f"mcpreel: {expected_error}"
    assert sorted(p for p in work_dir.iterdir() if p.is_file()) == before  # nothing was started or made


@pytest.mark.parametrize("words, expected_error", REPLAY)
def test_replay_rejects_options_without_effect(mcpreel, run, work_dir, words, expected_error):
    ran = run([mcpreel, "replay", *words, "session.jsonl"], cwd=work_dir)
    assert (ran.code, ran.out) == (2, b""), ran
    assert ran.err.decode().splitlines()[0] == f"mcpreel: {expected_error}"
    assert not (work_dir / "started").exists()


def test_variables_of_other_commands_are_ignored(mcpreel, run, work_dir):
    env = {"MCPREEL_MAX_SERVERS": "3", "MCPREEL_FORCE": "1", "MCPREEL_PLAIN": "1", "MCPREEL_CACERT": "none.pem",
           "MCPREEL_HEADER": "A: b", "MCPREEL_ALLOW_ORIGIN": "https://app.example", "MCPREEL_ALLOW_HOST": "a.example", "MCPREEL_READY_FD": "99"}
    assert run([mcpreel, "record", "-o", "r.json", *SERVER], cwd=work_dir, env=env).code == 0
    assert (work_dir / "started").exists()
    assert run([mcpreel, "replay", "session.jsonl"], cwd=work_dir, env=env).code == 0

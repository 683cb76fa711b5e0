"""The report of a recording: --report and --json say which file was written, and what is missing in it."""
import json

import pytest

from http_peers import Program, call, initialize
from test_json_output import checked

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


@pytest.fixture
def record(run, mcpreel, tmp_path):
    """Records the demo server with a client that sends one ping. Returns the exit code, the report and standard error."""
    def start(*words, server=("demo", "server")):
        ran = run([mcpreel, "record", *words, "--report", "report.json", "--", mcpreel, *server], stdin=PING, cwd=tmp_path)
        report = tmp_path / "report.json"
        return ran.code, json.loads(report.read_text()) if report.exists() else None, ran.err.decode()
    return start


def test_a_complete_recording(record, tmp_path):
    code, report, _ = record("-o", "a.jsonl")
    assert checked(report, "report") == "record"
    assert (code, report["file"], report["messages"], report["complete"], report["rest"]) == (0, "a.jsonl", 2, True, None)
    assert (tmp_path / "a.jsonl").read_text().count('"type":"message"') == 2


def test_messages_that_are_too_long_make_it_incomplete(record):
    code, report, _ = record("-o", "a.jsonl", "--max-message", "38", "--strict")
    assert (code, report["exit_code"]) == (125, 125)
    assert (report["messages"], report["messages_too_long"], report["complete"]) == (2, 1, False)


def test_a_format_that_lacks_something_names_it(record, tmp_path):
    code, report, _ = record("-o", "a.trace.jsonl", server=("nothing",))
    assert (code, report["format"]) == (2, "trace")
    assert report["lost"]["stderr"] >= 1 and not report["complete"]


def test_a_document_that_lacks_something_has_a_rest(record, tmp_path):
    code, report, _ = record("-o", "a.json", "--max-message", "38", "--strict")
    assert code == 125 and not report["complete"]
    assert (tmp_path / report["rest"]).exists()


def test_a_session_that_does_not_begin_has_no_report(record, tmp_path):
    (tmp_path / "a.jsonl").write_text("old")
    code, report, err = record("-o", "a.jsonl")
    assert (code, report) == (2, None) and "it exists already" in err


def test_a_server_that_fails_is_in_the_report(record):
    code, report, _ = record("-o", "a.jsonl", server=("show", "missing"))
    assert code == report["exit_code"] == 3 and report["file"] == "a.jsonl"


@pytest.mark.parametrize("words, reason", [
    (["--report", "junit=r.xml"], "as JSON only"),
    (["--report", "-"], "which belongs to the client"),
    (["--report", "a.jsonl"], "reads or writes that file"),
    (["--report", "old"], "it exists already"),
    (["--report", "no/r"], "there is no folder 'no'"),
])
def test_a_report_that_cannot_be_written_is_an_error_before_the_session(words, reason, run, mcpreel, tmp_path):
    (tmp_path / "old").write_text("old")
    ran = run([mcpreel, "record", "-o", "a.jsonl", *words, "--", "touch", "started"], cwd=tmp_path)
    assert ran.code in (2, 5) and reason in ran.err.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_force_replaces_an_old_report(record, tmp_path):
    (tmp_path / "report.json").write_text("old")
    assert record("-o", "a.jsonl", "--force")[1]["messages"] == 2


def test_with_listen_the_report_follows_the_address_on_standard_output(mcpreel, tmp_path):
    program = Program([mcpreel, "--json", "record", "--listen", "0", "-o", "a.jsonl", "--", mcpreel, "demo", "server"], cwd=tmp_path)
    assert program.client().post(initialize()).status == 200
    assert program.client().post(call(3, "ping")).status in (200, 400)
    assert program.stop() == 0
    report = json.loads(program.out.splitlines()[-1])
    assert checked(report, "report") == "record" and report["file"] == "a.jsonl" and report["messages"] >= 2

"""check with conditions on the recorded calls: each option is met, not met, and given a bad value."""
import datetime
import json
import re

import pytest

from test_json_output import checked

NOW = datetime.datetime.now(datetime.timezone.utc)


class Recording:
    """Writes a complete recording; every response comes 2 ms after its request unless a test says otherwise."""

    def __init__(self, recorded_at=NOW):
        self.lines, self.us, self.ids, self.messages = [], 0, 0, [0, 0]
        self.date = recorded_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.line(type="header", version="1.0", recorded_at=self.date, upstream="x", thoughtjack_version="0.3.0", us=0)

    def line(self, **members):
        self.lines.append(json.dumps(members, separators=(",", ":"), ensure_ascii=False))

    def message(self, direction, message):
        self.messages[direction == "s2c"] += 1
        self.line(type="message", seq=sum(self.messages), ts=self.date, dir=direction, us=self.us, msg={"jsonrpc": "2.0", **message})

    def request(self, method, params=None, us=2000, **response):
        self.ids += 1
        self.message("c2s", {"id": self.ids, "method": method, "params": params or {}})
        self.us += us
        self.message("s2c", {"id": self.ids, **response})
        return self

    def list(self, *tools):
        return self.request("tools/list", result={"tools": list(tools)})

    def call(self, tool, us=2000, arguments=None, **result):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}}, us, result={"content": [], **result})

    def fail(self, tool):
        return self.request("tools/call", {"name": tool}, error={"code": -32602, "message": "no"})

    def write(self, path):
        client, server = self.messages
        errors = sum('"error"' in line or '"isError":true' in line for line in self.lines)
        self.line(type="footer", total_messages=client + server, duration_ms=self.us // 1000, client_messages=client,
                  server_messages=server, errors=errors, us=self.us)
        path.write_text("\n".join(self.lines) + "\n")
        return path


@pytest.fixture
def recording(tmp_path):
    """Two calls of search, one of them slow and with a long result, and two failed calls."""
    session = Recording().list({"name": "search", "inputSchema": {"type": "object"}}, {"name": "delete", "inputSchema": {"type": "object"}})
    session.call("search").call("search", us=3_000_000, note="x" * 1000).call("delete", isError=True).fail("delete")
    return session.write(tmp_path / "session.jsonl")


@pytest.fixture
def check(run, mcpreel, tmp_path):
    """Runs check in text and as JSON. Returns the findings; both outputs must have the same, and the exit code is theirs."""

    def check_file(path, *options):
        text = run([mcpreel, "check", *options, path], cwd=tmp_path)
        ran = run([mcpreel, "--json", "check", *options, path], cwd=tmp_path)
        document = json.loads(ran.out)
        checked(document, ran.command)
        findings = document["files"][0]["findings"]
        assert text.code == ran.code == bool(findings), (text, ran)
        lines = [line[2:] for line in text.out.decode().splitlines()[1:]]
        if unjudged := document["files"][0].get("not_judged"):
            assert lines.pop().endswith(f"not judged completely by their schema ({unjudged['reason']})")
        assert lines == [one["message"] for one in findings]
        return findings

    return check_file


def rules(findings):
    return [(one["rule"], one.get("subject"), one["count"]) for one in findings]


def test_a_recording_that_meets_all_conditions_passes(check, recording):
    assert not check(recording)
    assert not check(recording, "--expect-tool", "search,del*", "--expect-tool", "*", "--forbid-tool", "sear,erase*", "--max-errors", "2",
                     "--max-server-time", "3s", "--max-result-size", "2KB", "--max-surface-bytes", "98", "--max-age", "1d")


@pytest.mark.parametrize("options, wanted", [
    (["--expect-tool", "search,serch"], [("expect-tool", "serch", 1)]),
    (["--expect-tool", "x*", "--expect-tool", "y"], [("expect-tool", "x*", 1), ("expect-tool", "y", 1)]),
    (["--forbid-tool", "delete"], [("forbid-tool", "delete", 2)]),
    (["--forbid-tool", "*"], [("forbid-tool", "search", 2), ("forbid-tool", "delete", 2)]),
    (["--max-errors", "1"], [("max-errors", None, 2)]),
    (["--max-errors", "0"], [("max-errors", None, 2)]),
    (["--max-server-time", "2s"], [("max-server-time", "search", 1)]),
    (["--max-server-time", "1ms"], [("max-server-time", None, 1), ("max-server-time", "search", 2), ("max-server-time", "delete", 2)]),
    (["--max-result-size", "1000"], [("max-result-size", "search", 1)]),
    (["--max-surface-bytes", "97"], [("max-surface-bytes", None, 1)]),
    (["--max-errors", "1", "--max-server-time", "2s"], [("max-errors", None, 2), ("max-server-time", "search", 1)]),
])
def test_a_condition_that_is_not_met_is_a_finding(check, recording, options, wanted):
    assert rules(check(recording, *options)) == wanted


def test_a_finding_has_the_line_of_the_call(check, recording):
    (found,) = check(recording, "--max-server-time", "2s")
    request = json.loads(recording.read_text().splitlines()[found["line"] - 1])
    assert request["seq"] == found["seq"] == 5 and request["msg"]["params"]["name"] == "search"
    assert found["message"] == "tools/call search: 1 call took the server longer than 2.0 s: 3.0 s (seq 5)"
    (found,) = check(recording, "--max-errors", "0")
    assert json.loads(recording.read_text().splitlines()[found["line"] - 1])["msg"]["params"]["name"] == "delete"


def test_the_age_is_that_of_the_header(check, tmp_path):
    old = Recording(NOW - datetime.timedelta(days=40)).list().write(tmp_path / "old.jsonl")
    assert not check(old, "--max-age", "41d")
    (found,) = check(old, "--max-age", "30d")
    assert found["rule"] == "max-age" and re.fullmatch(r"recorded at \S+Z, 40 days ago; allowed: 30 days", found["message"]), found
    assert not check(Recording(NOW + datetime.timedelta(days=1)).list().write(tmp_path / "future.jsonl"), "--max-age", "1h")


def test_conditions_that_cannot_be_judged_are_not_met(check, tmp_path):
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert not check(plain)
    assert rules(check(plain, "--max-server-time", "1s", "--max-surface-bytes", "1MB", "--max-age", "1h")) == [
        ("max-server-time", None, 1), ("max-surface-bytes", None, 1), ("max-age", None, 1)]


def test_the_numbers_are_those_of_stats(check, recording, run, mcpreel):
    ran = run([mcpreel, "--json", "stats", recording])
    (server,) = json.loads(ran.out)["servers"]
    assert len(check(recording, "--max-errors", str(server["errors"] - 1))) == 1
    assert not check(recording, "--max-errors", str(server["errors"]))
    assert not check(recording, "--max-surface-bytes", str(server["definition_bytes"]))
    (found,) = check(recording, "--max-surface-bytes", str(server["definition_bytes"] - 1))
    assert f"about {server['definition_estimated_tokens']} tokens" in found["message"] and found["line"] == 3
    row = next(one for one in server["operations"] if one["subject"] == "search")
    for option, number, unit in (("--max-server-time", row["server_max_us"], "us"), ("--max-result-size", row["result_max_bytes"], "B")):
        assert not check(recording, option, f"{number}{unit}")
        assert len(check(recording, option, f"{number - 1}{unit}")) == 1


def test_reports_have_the_findings(run, mcpreel, recording, tmp_path):
    ran = run([mcpreel, "check", "--forbid-tool", "delete", "--report", "sarif=a.sarif", "--report", "junit=a.xml", "--report", "github=a.txt",
               "--report", "markdown=a.md", "--report", "a.json", recording.name], cwd=tmp_path)
    assert ran.code == 1, ran
    message = "tool 'delete' was called 2 times (seq 7)"
    (result,) = json.loads((tmp_path / "a.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"], result["message"]["text"]) == ("forbid-tool", "error", message)
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("session.jsonl", 8)
    assert 'failures="1"' in (tmp_path / "a.xml").read_text() and "forbid-tool" in (tmp_path / "a.xml").read_text()
    assert (tmp_path / "a.txt").read_text() == f"::error file=session.jsonl,line=8,title=forbid-tool::{message}\n"
    assert "forbid-tool" in (tmp_path / "a.md").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["files"][0]["findings"][0]["line"] == 8


def test_every_file_is_judged_alone(run, mcpreel, recording, tmp_path):
    other = Recording().list().write(tmp_path / "other.jsonl")
    ran = run([mcpreel, "check", "--expect-tool", "search", "--max-errors", "0", recording.name, other.name], cwd=tmp_path)
    assert ran.code == 1 and ran.out.decode().splitlines() == [
        "session.jsonl: findings, 10 messages", "  2 errors (1 rpc-error, 1 tool-error), allowed: 0; the first: tools/call delete (seq 7)",
        "other.jsonl: findings, 2 messages", "  tool 'search' was not called, and is in no tools/list"]


@pytest.mark.parametrize("options, message", [
    (["--max-errors", "-1"], "option '--max-errors': '-1' is not a number such as 0 or 5"),
    (["--max-errors", "many"], "option '--max-errors': 'many' is not a number such as 0 or 5"),
    (["--max-server-time", "5"], "option '--max-server-time': '5' is not a time such as 500ms, 1s or 5min"),
    (["--max-result-size", "-1B"], "option '--max-result-size': '-1B' is not a size such as 4096, 64MB or 1GiB"),
    (["--max-surface-bytes", "1 token"], "option '--max-surface-bytes': '1 token' is not a size such as 4096, 64MB or 1GiB"),
    (["--max-age", "soon"], "option '--max-age': 'soon' is not a time such as 500ms, 1s or 5min"),
    (["--assert", ""], "option '--assert': '': an assertion starts with 'count('"),
    (["--assert", "p95(dur) < 2s"], "option '--assert': 'p95(dur) < 2s': an assertion starts with 'count('"),
    (["--assert", "count(is:error == 0"], "option '--assert': 'count(is:error == 0': ')' is missing"),
    (["--assert", "count(is:eror) == 0"], "option '--assert': bad filter at byte 4: 'is' has no value 'eror'"),
    (["--assert", "count(is:error)"], "option '--assert': 'count(is:error)': expected ==, !=, <, <=, > or >= after ')'"),
    (["--assert", "count(is:error) == -1"], "option '--assert': 'count(is:error) == -1': expected a whole number at the end"),
    (["--fix", "--assert", "count() > 0"], "'--assert' cannot be combined with '--fix'"),
    (["--expect-tool", ""], "option '--expect-tool': the name of a tool cannot be empty"),
    (["--forbid-tool", "a,,b"], "option '--forbid-tool': the name of a tool cannot be empty"),
    (["--forbid-tool", "x" * 1025], "option '--forbid-tool': the name of a tool has at most 1024 bytes"),
    (["--fix", "--max-errors", "1"], "'--max-errors' cannot be combined with '--fix'"),
    (["--secrets", "--expect-tool", "a"], "'--expect-tool' cannot be combined with '--secrets'"),
])
def test_bad_values_are_one_clear_error(run, mcpreel, recording, options, message):
    ran = run([mcpreel, "check", *options, recording])
    lines = ran.err.decode().splitlines()
    assert ran.code == 2 and not ran.out and lines[0] == f"mcpreel: {message}" and all(line.startswith("  ") for line in lines[1:]), ran


def test_variables_set_conditions(run, mcpreel, recording):
    assert run([mcpreel, "check", recording], env={"MCPREEL_MAX_ERRORS": "0"}).code == 1
    assert run([mcpreel, "check", "--max-errors", "5", recording], env={"MCPREEL_MAX_ERRORS": "0"}).code == 0


SEARCH = {"name": "search", "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}, "q": {"type": "string"}}, "required": ["q"]},
          "outputSchema": {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}}


def test_arguments_are_judged_by_the_advertised_schema(check, tmp_path):
    session = Recording().list(SEARCH)
    session.call("search", arguments={"q": "a"}, structuredContent={"total": 1})
    assert not check(session.write(tmp_path / "good.jsonl"))
    session = Recording().list(SEARCH)
    for arguments in ({"q": "a", "limit": 1}, {"q": "a", "limit": "1"}, {}, {"q": "[REDACTED:KEY]"}, {"q": "a", "limit": "[REDACTED:KEY]"}):
        session.call("search", arguments=arguments, structuredContent={"total": 1})
    path = session.write(tmp_path / "bad.jsonl")
    (found,) = check(path)
    assert rules([found]) == [("input-schema", "search", 2)] and found["path"] == "$.params.arguments.limit"
    assert found["message"] == ("tool 'search': 2 calls with arguments that the inputSchema rejects; the first: "
                                "$.params.arguments.limit must be an integer (seq 5)")
    assert json.loads(path.read_text().splitlines()[found["line"] - 1])["msg"]["params"]["arguments"]["limit"] == "1"
    assert not check(path, "--ignore", "input-schema")


def test_results_are_judged_by_the_advertised_schema(check, tmp_path):
    session = Recording().list(SEARCH)
    for result in ({"structuredContent": {"total": 1}}, {"isError": True}, {"structuredContent": {}}, {}):
        session.call("search", arguments={"q": "a"}, **result)
    path = session.write(tmp_path / "bad.jsonl")
    (found,) = check(path)
    assert rules([found]) == [("output-schema", "search", 2)] and found["path"] == "$.result.structuredContent.total"
    assert json.loads(path.read_text().splitlines()[found["line"] - 1])["msg"]["result"]["structuredContent"] == {}
    assert not check(path, "--ignore", "output-schema")


def test_the_latest_definition_of_the_session_counts(check, tmp_path):
    loose = {"name": "search", "inputSchema": {"type": "object"}}
    session = Recording().call("search").list(loose).call("search").list(SEARCH).call("search", structuredContent={"total": 1})
    assert rules(check(session.write(tmp_path / "a.jsonl"))) == [("tool-changed", None, 1), ("input-schema", "search", 1)]


@pytest.mark.parametrize("text, kinds", [("a\u200bb", "1 invisible"), ("\u202ea\u202c", "2 bidirectional"), ("\U000e0041\u200b", "1 invisible, 1 tag")])
def test_hidden_characters_in_definitions_are_found(check, tmp_path, text, kinds):
    tool = {"name": "search", "description": text, "inputSchema": {"type": "object"}}
    session = Recording().list(tool).list(tool).request("prompts/list", result={"prompts": [{"name": "p", "description": "plain"}]})
    path = session.write(tmp_path / "a.jsonl")
    (found,) = check(path)
    assert (found["rule"], found["subject"], found["line"]) == ("hidden-characters", "search", 3) and f"({kinds})" in found["message"], found
    assert not check(path, "--ignore", "hidden-characters")


def test_hidden_characters_in_instructions_and_prompts_are_found(check, tmp_path):
    session = Recording().request("initialize", result={"protocolVersion": "2025-11-25", "capabilities": {}, "instructions": "a\u2060"})
    session.request("prompts/list", result={"prompts": [{"name": "p", "description": "\u2060"}]})
    assert rules(check(session.write(tmp_path / "a.jsonl"))) == [("hidden-characters", "instructions", 1), ("hidden-characters", "p", 1)]


def test_a_repaired_copy_is_judged_too(run, mcpreel, tmp_path):
    path = Recording().list(SEARCH).call("search", structuredContent={"total": 1}).write(tmp_path / "a.jsonl")
    path.write_text(path.read_text() + "{\"type\"")
    ran = run([mcpreel, "-q", "check", "--fix", path])
    assert ran.code == 1 and ran.out.decode().endswith("remaining findings: input-schema\n"), ran


@pytest.mark.parametrize("operator, wanted", [("==", [False, True, False]), ("=", [False, True, False]), ("!=", [True, False, True]),
                                              ("<", [False, False, True]), ("<=", [False, True, True]), (">", [True, False, False]),
                                              (">=", [True, True, False])])
def test_an_assertion_compares_the_count(check, recording, operator, wanted):
    assert [not check(recording, "--assert", f" count( tool:search ) {operator} {number} ") for number in (1, 2, 3)] == wanted


def test_a_false_assertion_is_a_finding_at_the_first_operation(check, recording):
    found = check(recording, "--assert", "count(is:error) < 2", "--assert", "count(tool:delete) == 2", "--assert", "count(tool:none) > 0")
    assert [(one["rule"], one["subject"], one.get("seq"), one.get("line")) for one in found] == [
        ("assert", "count(is:error) < 2", 7, 8), ("assert", "count(tool:none) > 0", None, None)]
    assert [one["message"] for one in found] == ["count(is:error) < 2 is false: the count is 2 (first: seq 7)",
                                                 "count(tool:none) > 0 is false: the count is 0"]


@pytest.mark.parametrize("query", ["", "tool:search", "is:error", "is:tool-error OR is:rpc-error", "!is:ok", "(tool:search OR tool:delete) -is:ok", "server-dur:>1s",
                                   "res-size:>1KB", "arg.q", "result.isError", "xxx", "kind:req t:>5ms", "gap:>1s", "is:drift", '"a)b"'])
def test_the_count_is_the_number_of_operations_that_show_lists(check, run, mcpreel, tmp_path, query):
    session = Recording().list({"name": "search"}).call("search").call("search", us=2_000_000, note="x" * 1000).call("delete", isError=True)
    path = session.list({"name": "search", "description": "new"}).fail("search").call("search", note="a)b").write(tmp_path / "a.jsonl")
    listed = run([mcpreel, "--json", "show", path, *([query] if query else [])]).out.splitlines()
    assert not check(path, "--ignore", "tool-changed,unlisted-tool", "--assert", f"count({query}) == {len(listed)}"), (query, listed)

"""The output of --json against docs/json-output.schema.json: every command, over the recordings of the test corpus.

The schema allows unknown members, because programs have to. Here it is closed: a member that the schema lacks fails.
"""
import copy
import functools
import json
import pathlib
import re
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "json-output.schema.json").read_text())
HEADER = ('{"type":"header","version":"1.0","recorded_at":"2026-11-15T21:00:00Z","upstream":"u",'
          '"thoughtjack_version":"0.3.0","us":0}\n')
LOCK = {"mcpreelLock": 1, "prompts": [{"name": "postcard"}],
        "tools": [{"name": "weather", "title": "Weather", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]}


def closed(schema):
    """The schema with every object closed to members that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed_schema = {name: closed(value) for name, value in schema.items()}
    if "object" in schema.get("type", ()) and "properties" in schema:
        closed_schema["unevaluatedProperties"] = False
    return closed_schema


@functools.cache
def validator(definition):
    closed_document = closed({name: value for name, value in SCHEMA.items() if name not in ("type", "oneOf")})
    return jsonschema.Draft202012Validator({**closed_document, "$ref": f"#/$defs/{definition}"})


def kind_of(line):
    """The name of the definition that a line of output must match."""
    if "error" in line and "command" not in line:
        return "error"
    if "event" in line and "type" not in line:
        return "listening"
    if "type" in line:
        return {"operation": "show_operation", "message": "show_message"}.get(line["type"], "show_event")
    if line.get("command") == "check" and "searched_for" in line:
        return "check_secrets"
    if line.get("command") == "lock" and "findings" in line:
        return "lock_check"
    return line.get("command", "version")


def checked(line, where):
    kind = kind_of(line)
    errors = [f"{error.json_path}: {error.message}" for error in validator(kind).iter_errors(line)]
    assert not errors, (where, kind, errors, line)
    matching = [one["$ref"] for one in SCHEMA["oneOf"] if jsonschema.Draft202012Validator({**one, "$defs": SCHEMA["$defs"]}).is_valid(line)]
    assert matching == [f"#/$defs/{kind}"], (where, matching)
    return kind


def files_of(case):
    """The files of a golden case."""
    files, name = {}, None
    for line in case.read_text().splitlines():
        if line.startswith("file "):
            name = line[5:]
            files[name] = ""
        elif name and re.match(r"\|-? ?", line):
            files[name] += line[2:] + "\n" if line.startswith("| ") else line[3:] if line.startswith("|- ") else "\n"
        else:
            name = None
    return files


def corpus():
    for path in sorted((ROOT / "tests" / "formats").glob("*/*")):
        if path.suffix in (".sample", ".jsonl"):
            yield f"{path.parent.name}-{path.name}", path.read_bytes()
    for case in sorted((ROOT / "tests" / "golden").glob("*.case")):
        for name, text in files_of(case).items():
            yield f"{case.stem}-{name.replace('/', '-')}", text.encode()


CORPUS = dict(corpus())


def message(seq, direction, **msg):
    return json.dumps({"type": "message", "seq": seq, "ts": "2026-11-15T21:00:00Z", "dir": direction, "us": seq,
                       "msg": {"jsonrpc": "2.0", **msg}}) + "\n"


def recording_over_limits():
    """More sessions, tools, methods, notifications and codes than have objects of their own."""
    lines = [HEADER]
    for n in range(1100):
        at = 4 * n
        lines += [message(at + 1, "c2s", id=f"i{n}", method="initialize"),
                  message(at + 2, "c2s", id=n, method="tools/call", params={"name": f"t{n}"}),
                  message(at + 3, "s2c", id=n, error={"code": n, "message": "no"}),
                  message(at + 4, "s2c", method=f"own/{n}")]
    return "".join(lines).encode()


def test_the_schema_is_a_valid_json_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(closed(SCHEMA))
    names = {name for name in SCHEMA["$defs"]}
    referred = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert referred <= names and names - referred == {"miss_data"}


class JsonRunner:
    """Runs commands with --json, and checks every line that they write."""

    def __init__(self, run, mcpreel):
        self.run, self.mcpreel, self.kinds, self.lines = run, mcpreel, {}, []

    def check(self, line, where):
        kind = checked(line, where)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.lines.append(line)

    def __call__(self, *words, stdin=b"", cwd=None):
        ran = self.run([self.mcpreel, "-q", "--json", *words], stdin=stdin, cwd=cwd)
        for text in ran.out.splitlines() if words[0] != "replay" else ():
            self.check(json.loads(text), ran.command)
        for text in ran.err.splitlines():
            if text.startswith(b"{"):
                self.check(json.loads(text), ran.command)
        return ran


@pytest.fixture
def json_runner(run, mcpreel):
    return JsonRunner(run, mcpreel)


def requests_of(json_runner, path, tmp_path):
    """The messages of the recorded clients, with unrecorded requests added."""
    copy_ = tmp_path / "as-recording.jsonl"
    json_runner.run([json_runner.mcpreel, "-q", "convert", "--force", "--to", "recording", path, "-o", copy_])
    lines = [json.loads(line) for line in copy_.read_bytes().splitlines()] if copy_.exists() else []
    sent = [line["msg"] for line in lines if line.get("dir") == "c2s"]
    other = [{**m, "params": {**m["params"], "arguments": {"other": True}}, "id": "other"} for m in sent
             if m.get("method") == "tools/call" and isinstance(m.get("params"), dict) and "id" in m]
    return [*sent, *other[:3], {"jsonrpc": "2.0", "id": "new", "method": "own/new"}]


def replay(json_runner, path, tmp_path, *options):
    """Replays a recording to a client that sends what was recorded and more; checks the report and the errors."""
    report = tmp_path / "report.json"
    report.unlink(missing_ok=True)
    stdin = "".join(json.dumps(m) + "\n" for m in requests_of(json_runner, path, tmp_path)).encode("utf-8", "surrogatepass")
    ran = json_runner("replay", "--on-unmatched", "warn", "--report", report, *options, path, stdin=stdin)
    if report.exists():
        json_runner.check(json.loads(report.read_text()), ran.command)
    for line in ran.out.splitlines():
        for response in [json.loads(line)] if line.startswith(b"{") else json.loads(line):
            data = response.get("error", {}).get("data")
            if isinstance(data, dict) and "reason" in data:
                validator("miss_data").validate(data)
                json_runner.kinds["miss_data"] = json_runner.kinds.get("miss_data", 0) + 1


def run_all_commands(json_runner, path, tmp_path):
    json_runner("inspect", path)
    json_runner("stats", path)
    json_runner("check", path)
    json_runner("check", "--fix", "-o", tmp_path / "fixed", path)
    json_runner("check", "--secrets", "--redact-members", "text,q", "--redact-patterns", "a.", path)
    json_runner("redact", "--redact-members", "text,q", path, "-o", tmp_path / "redacted.jsonl")
    json_runner("show", path)
    json_runner("show", "-m", path)
    for number in (1, 2, 3):
        json_runner("show", f"{path}:{number}")
    for name, to in (("r.jsonl", "recording"), ("t", "trace"), ("j", "jsonrpc"), ("c.json", "cassette")):
        json_runner("convert", "--to", to, path, "-o", tmp_path / name)
    json_runner("convert", "--lossless", "--to", "jsonrpc", path, "-o", tmp_path / "lossless")
    json_runner("diff", path, tmp_path / "redacted.jsonl")
    replay(json_runner, path, tmp_path)
    replay(json_runner, path, tmp_path, "--order", "total")
    json_runner("lock", tmp_path / "a.lock.json", path)
    (tmp_path / "weather.lock.json").write_text(json.dumps(LOCK))
    json_runner("lock", "--check", "--fail-on", "never", "--calls", path, tmp_path / "weather.lock.json", path)
    report = tmp_path / "verify.json"
    report.unlink(missing_ok=True)
    json_runner("verify", "--timeout", "5", "--report", f"json={report}", path, "--", json_runner.mcpreel, "demo", "server")
    if report.exists():
        json_runner.check(json.loads(report.read_text()), path)


@pytest.mark.parametrize("name", CORPUS)
def test_every_command_over_the_corpus_obeys_the_schema(name, json_runner, tmp_path):
    (tmp_path / "corpus").mkdir()
    path = tmp_path / "corpus" / "file"
    path.write_bytes(CORPUS[name])
    run_all_commands(json_runner, path, tmp_path)
    json_runner("list", path.parent)
    json_runner("stats", path.parent)
    assert {"check", "check_secrets"} <= set(json_runner.kinds), json_runner.kinds


def test_output_over_the_limits_obeys_the_schema(json_runner, tmp_path):
    path = tmp_path / "crowded.jsonl"
    path.write_bytes(recording_over_limits())
    seen = json.loads(json_runner("inspect", path).out)
    lists = [seen["sessions"], seen["operations"], seen["notifications"], seen["tools"], seen["errors"]["rpc"]]
    assert [one[-1]["aggregate"] for one in lists] == [True] * 5
    replay(json_runner, path, tmp_path)

def line(type_, **members):
    return json.dumps({"type": type_, **members}) + "\n"


INITIALIZE = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}}}
STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def tool(name, id_=1, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": name, **params}}


def recording_with_server_request(seq):
    """A session with a server request during a call."""
    return HEADER + "".join([
        message(seq, "c2s", **INITIALIZE), message(seq + 1, "s2c", id="i", result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                                                                   "serverInfo": {"name": "s", "version": "1"}}),
        message(seq + 2, "c2s", method="notifications/initialized"),
        message(seq + 3, "c2s", id=1, method="tools/call", params={"name": "a"}),
        message(seq + 4, "s2c", id="q", method="elicitation/create", params={"message": "?", "requestedSchema": {"type": "object", "properties": {}}}),
        message(seq + 5, "c2s", id="q", result={"action": "accept", "content": {}}), message(seq + 6, "s2c", id=1, result={"content": []})])


def calls(count, **arguments):
    return HEADER + "".join(message(2 * n + 1, "c2s", id=n, method="tools/call", params={"name": f"t{n % 2}", "arguments": {"n": n, **arguments}})
                            + message(2 * n + 2, "s2c", id=n, result={"content": []}) for n in range(count))


# A recording, the options of a replay, the requests of its client, and the value that only this has.
MISSES = {
    "out-of-order": (calls(2), ["--match", "sequential", "--order", "total"], [tool("t1", arguments={"n": 1})]),
    "other-protocol-version": (recording_with_server_request(1).replace('"us"', '"conn": 1, "us"') + (
        message(8, "c2s", **tool("b", 2, _meta=STATELESS)) + message(9, "s2c", id=2, result={"resultType": "complete", "content": []})
    ).replace('"us"', '"conn": 2, "us"'), [], [tool("a", _meta=STATELESS)]),
    "live_bytes": (calls(1), [], [tool("t0", arguments={"n": "x" * 100_000})]),
    "compared": (calls(40_010, k=1), [], [tool("t0", arguments={"n": -1, "k": 2})]),
    "unanswered": (recording_with_server_request(1), [], [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, tool("a")]),
    "differs": (recording_with_server_request(1), [], [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, tool("a"),
                                *({"jsonrpc": "2.0", "id": n, "result": {"action": "decline"}} for n in ("q", 1, "mcpreel-1"))]),
}


@pytest.mark.parametrize("value", MISSES)
def test_misses_that_the_corpus_lacks_obey_the_schema(value, json_runner, tmp_path):
    text, options, requests = MISSES[value]
    path, report = tmp_path / "a.jsonl", tmp_path / "report.json"
    path.write_text(text)
    ran = json_runner("replay", "--on-unmatched", "warn", "--report", report, *options, path, stdin="".join(json.dumps(m) + "\n" for m in requests).encode())
    json_runner.check(json.loads(report.read_text()), value)
    for response in map(json.loads, ran.out.splitlines()):
        if "reason" in response.get("error", {}).get("data", {}):
            validator("miss_data").validate(response["error"]["data"])
    assert f'"{value}"' in ran.out.decode() + report.read_text(), ran


FLAGS = {
    "more-pages": message(1, "c2s", id=1, method="tools/list") + message(2, "s2c", id=1, result={"tools": [], "nextCursor": "2"}),
    "truncated": message(1, "c2s", id=1, method="m" * 5000),
    "non-message": line("http", ev="request", exchange=1, conn=1, method="POST", path="/mcp", state="none", body="message", us=1)
    + message(1, "c2s", id=1, method="tools/list").replace('"dir"', '"exchange": 1, "conn": 1, "dir"')
    + line("http", ev="response", exchange=1, conn=1, status=200, media="json", by="server", us=2)
    + line("raw", **{"from": "server"}, text="<html>", exchange=1, conn=1, us=3)
    + line("http", ev="end", exchange=1, conn=1, by="server", clean=True, us=4),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_that_the_corpus_lacks_obey_the_schema(flag, json_runner, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + FLAGS[flag])
    assert flag in json.loads(json_runner("show", path).out.splitlines()[0])["flags"]


def verified(json_runner, recording):
    """Verifies the recording of the demo, with one changed response, against the demo server."""
    changed = recording.with_suffix(".changed.jsonl")
    changed.write_text(recording.read_text().replace("postcard", "letter"))
    ran = json_runner("verify", changed, "--", json_runner.mcpreel, "demo", "server")
    calls = json.loads(ran.out)["calls"]
    assert ran.code == 1 and {"passed", "failed"} <= {call["verdict"] for call in calls}
    assert any(call["findings"] for call in calls)


def test_commands_without_a_recording_obey_the_schema(json_runner, tmp_path):
    json_runner("version")
    json_runner("formats")
    json_runner("demo", "-o", tmp_path / "demo.jsonl")
    json_runner("record", "-o", tmp_path / "nothing.jsonl", "--", "true")
    json_runner("list", tmp_path)
    run_all_commands(json_runner, tmp_path / "demo.jsonl", tmp_path)
    verified(json_runner, tmp_path / "demo.jsonl")
    for words in (["inspect", tmp_path / "missing"], ["inspect"], ["shwo"], ["convert", tmp_path / "demo.jsonl", "-o", tmp_path / "no" / "x"],
                  ["replay", tmp_path / "missing"], ["record"], ["list", tmp_path / "missing"], ["record", "-o", tmp_path / "s.jsonl", "--", tmp_path / "none"]):
        before = json_runner.kinds.get("error", 0)
        json_runner(*words)
        assert json_runner.kinds.get("error", 0) == before + 1, words
    assert set(json_runner.kinds) == {*(one["$ref"].split("/")[-1] for one in SCHEMA["oneOf"]), "miss_data"} - {"listening"}, json_runner.kinds


@pytest.mark.parametrize("command", ["replay", "record"])
def test_the_event_of_a_listener_obeys_the_schema(command, json_runner, mcpreel, tmp_path):
    json_runner("demo", "-o", tmp_path / "demo.jsonl")
    words = {"replay": [tmp_path / "demo.jsonl"], "record": ["-o", tmp_path / "r.jsonl", "--", mcpreel, "demo", "server"]}[command]
    with subprocess.Popen([mcpreel, "-q", "--json", command, "--listen", "127.0.0.1:0", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        json_runner.check(json.loads(process.stdout.readline()), command)
        process.terminate()
        rest, err = process.communicate(timeout=30)
    for text in [*rest.splitlines(), *err.splitlines()]:
        if text.startswith(b"{"):
            json_runner.check(json.loads(text), command)
    assert json_runner.kinds["listening"] == 1 and json_runner.kinds[command] == 1, json_runner.kinds


def faults(line):
    """The line with one fault: a member that is missing, has another type or name; another version."""
    required = SCHEMA["$defs"][kind_of(line)]["required"]
    for name in required:
        yield f"no {name}", {key: value for key, value in line.items() if key != name}
        if name != "id":  # an invalid message may have anything there
            yield f"{name} is of another type", {**line, name: {"odd": 1} if not isinstance(line[name], dict) else []}
    yield "an unknown member", {**line, "zzz": 1}
    if "v" in line:
        yield "another version", {**line, "v": 1}


def renamed(value, old, new):
    """A copy with a member renamed at any depth."""
    if isinstance(value, dict):
        return {new if name == old else name: renamed(one, old, new) for name, one in value.items()}
    return [renamed(one, old, new) for one in value] if isinstance(value, list) else value


def test_a_line_with_an_error_is_detected(json_runner, tmp_path):
    json_runner("version")
    json_runner("formats")
    json_runner("demo", "-o", tmp_path / "demo.jsonl")
    json_runner("record", "-o", tmp_path / "nothing.jsonl", "--", "true")
    json_runner("list", tmp_path)
    run_all_commands(json_runner, tmp_path / "demo.jsonl", tmp_path)
    verified(json_runner, tmp_path / "demo.jsonl")
    json_runner("shwo")
    one_of_each = {kind_of(line): line for line in json_runner.lines}
    assert len(one_of_each) == len(SCHEMA["oneOf"]) - 1
    for kind, line in one_of_each.items():
        for fault, bad in faults(line):
            assert not validator(kind).is_valid(bad), (kind, fault)
    old = [("inspect", "findings", "odd"), ("inspect", "children", "parts"), ("inspect", "notes", "remarks"), ("inspect", "listed", "advertised"),
           ("check", "findings", "odd"), ("demo", "received", "heard"), ("replay", "server_requests", "questions"),
           ("replay", "reason", "why"), ("show_operation", "role", "what"), ("formats", "description", "about"), ("check_secrets", "rule", "what")]
    for kind, new, name in old:
        bad = renamed(copy.deepcopy(one_of_each[kind]), new, name)
        assert bad != one_of_each[kind] and not validator(kind).is_valid(bad), (kind, new)


def words_in(source, function):
    """The words in the table of a function of ops/operation.c."""
    return re.findall(r'"([a-z-]+)"', source.split(f"*{function}(")[1].split("};")[0])


def test_the_enumerations_are_those_of_the_program(run, mcpreel):
    source = (ROOT / "src" / "ops" / "operation.c").read_text()
    defs = SCHEMA["$defs"]
    members = defs["show_operation"]["properties"]
    assert words_in(source, "operation_kind_name") == members["kind"]["enum"]
    assert words_in(source, "operation_link_name") == members["link"]["enum"]
    assert words_in(source, "operation_role_name") == defs["role"]["enum"]
    assert words_in(source, "operation_outcome_name") == defs["outcome"]["enum"]
    assert words_in(source, "operation_response_name") == members["response"]["enum"]
    flags = words_in(source, "operation_flag_name")
    flags.remove("code")  # not written
    assert flags == members["flags"]["items"]["enum"]
    findings = re.findall(r"\[STATS_\w+\] =\s*\{ \"([a-z-]+)\"", (ROOT / "src" / "report" / "findings.c").read_text())
    assert findings == defs["findings"]["items"]["properties"]["rule"]["enum"]
    source = "".join((ROOT / "src" / "check" / name).read_text() for name in ("assertion.c", "definition-check.c", "gate.c"))
    rules = re.findall(r'(?:\[(?:GATE|DEFINITION)_\w+\] = |\.rule = )(?:STR_INIT\(|STR\()?"([a-z-]+)"', source)
    assert set(rules) == set(defs["check_findings"]["items"]["properties"]["rule"]["anyOf"][1]["enum"])
    for one in json.loads(run([mcpreel, "formats", "--json"]).out)["formats"]:
        assert sorted(one["keeps"] + one["loses"]) == sorted(defs["feature"]["enum"])


def test_the_page_and_the_schema_have_the_same_members():
    """Every member and value of the schema is on the page, before the table of previous names."""
    page = set(re.findall(r"`([^`\s]+)`", (ROOT / "docs" / "json-output.md").read_text().split("\n## Changes from version 1\n")[0]))
    page |= {name.split(".")[-1] for name in page} | set(re.findall(r'"(\w+)"', " ".join(page)))
    features = set(SCHEMA["$defs"]["feature"]["enum"])  # in docs/formats/README.md
    named = set()

    def collect(schema):
        if isinstance(schema, dict):
            named.update(schema.get("properties", {}) if isinstance(schema.get("properties"), dict) else ())
            named.update(one for one in schema.get("enum", ()) if isinstance(one, str))
        for one in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            collect(one)

    collect(SCHEMA["$defs"])
    assert sorted(named - features - page) == []

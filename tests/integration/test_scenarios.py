"""mcpreel run: scenarios against small servers on stdio and HTTP; files, reports, redaction and server requests."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
from bridging import session_server, upstream  # noqa: F401
from http_peers import result

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/json-output.schema.json").read_text())
SERVER = r'''
import json, os, sys
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    name = message.get("params", {}).get("name")
    result = {"content": [{"type": "text", "text": os.environ.get("MODE", "plain")}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        page = int(message["params"].get("cursor", "0"))
        result = {"tools": [{"name": f"tool{page}"}], **({"nextCursor": str(page + 1)} if page < 2 else {})}
    elif name == "where":
        result = {"here": os.getcwd(), "token": os.environ.get("TOKEN")}
    elif name == "ask":
        send({"id": "s1", "method": "sampling/createMessage", "params": {}})
        result = {"answer": json.loads(sys.stdin.readline())["result"]}
    elif name == "hang":
        continue
    send({"id": message["id"], "result": result})
'''


@pytest.fixture
def scenarios(mcpreel, run, tmp_path):
    """Writes a scenarios file for the server and runs it."""
    (tmp_path / "server.py").write_text(SERVER)

    def make(actions, *options, env=None, start=(), **top):
        target = {"command": sys.executable, "args": [os.fspath(tmp_path / "server.py")]}
        document = {"target": target, "scenarios": {"one": {"actions": actions}}, **top}
        document["target"] = {**target, **top["target"]} if isinstance(top.get("target"), dict) else document["target"]
        (tmp_path / "s.yml").write_text(json.dumps(document))
        return run([*start, mcpreel, "run", *options, tmp_path / "s.yml"], timeout=60, env={**os.environ, **(env or {})})

    make.cassette = tmp_path / "cassettes/one.json"
    return make


def responses(path):
    return [one["response"]["result"] for one in json.loads(path.read_text())["interactions"] if one["response"]]


def test_all_pages_are_recorded_and_expected_as_one(scenarios):
    ran = scenarios([{"list_tools": {"pages": "all", "expect": {"$.result.tools": [{"name": f"tool{n}"} for n in range(3)]}}}])
    assert ran.code == 0, str(ran)
    assert [[tool["name"] for tool in result["tools"]] for result in responses(scenarios.cassette)[1:]] == [["tool0"], ["tool1"], ["tool2"]]


def test_the_server_gets_folder_and_environment_and_its_responses_are_redacted(scenarios, tmp_path):
    ran = scenarios([{"call_tool": {"name": "where", "arguments": {"t": "${TOKEN}"}}}], env={"TOKEN": "tok-5b1fe0a7c9d2"},
                    target={"cwd": "/", "env": {"TOKEN": "${TOKEN}"}}, redact={"env": ["TOKEN"]})
    assert ran.code == 0, str(ran)
    assert responses(scenarios.cassette)[1] == {"here": "/", "token": "[REDACTED]"}
    request = json.loads(scenarios.cassette.read_text())["interactions"][2]["request"]
    assert request["params"]["arguments"] == {"t": "tok-5b1fe0a7c9d2"}


@pytest.mark.parametrize("kind", ["cassette", "recording"])
def test_secrets_in_requests_are_a_warning_of_their_scenario(scenarios, kind):
    """As with mcp-recorder, requests are recorded as they are sent."""
    call = {"call_tool": {"name": "x", "arguments": {"a": "${TOKEN}", "b": "key-123"}}}
    three = {"two": {"actions": [call, call]}, "one": {"actions": [call]}, "none": {"actions": ["ping"]}}
    ran = scenarios([], env={"TOKEN": SECRET}, scenarios=three, redact={"env": ["TOKEN"], "patterns": ["key-[0-9]+"]}, format=kind)
    assert ran.code == 0, str(ran)
    assert [line for line in ran.err.decode().splitlines() if "warning" in line] == [
        f"mcpreel: warning: scenario '{name}': {count} secrets: requests are recorded unchanged, as with mcp-recorder ('mcpreel redact' redacts them)"
        for name, count in (("two", "2 messages of the client contain"), ("one", "1 message of the client contains"))]
    assert SECRET not in ran.err.decode() and "key-123" not in ran.err.decode()
    assert SECRET in next(scenarios.cassette.parent.glob("one.*")).read_text()


def test_server_requests_get_answers(scenarios):
    ran = scenarios([{"call_tool": {"name": "ask", "expect": {"$.result.answer.model": "m"}}}], answers={"sampling": {"model": "m"}})
    assert ran.code == 0, str(ran)


@pytest.mark.parametrize("kind", ["cassette", "recording"])
def test_verify_gives_the_answers_of_the_file(scenarios, kind):
    """A cassette has no server requests."""
    actions = [{"call_tool": {"name": "ask"}}, {"call_tool": {"name": "ask"}}]
    options = {"answers": {"sampling": [{"model": "m"}, {"model": "n"}]}, "format": kind}
    assert scenarios(actions, **options).code == 0
    ran = scenarios(actions, "--verify", **options)
    assert ran.code == 0, str(ran)
    ran = scenarios(actions, "--verify", **{**options, "answers": {"roots": []}})
    assert ran.code == (1 if kind == "cassette" else 0), str(ran)


def test_a_format_that_is_only_written_can_be_recorded(scenarios):
    ran = scenarios([{"call_tool": {"name": "x"}}], format="csv")
    assert ran.code == 0 and b"one -> one.csv (3 interactions)" in ran.err, str(ran)
    assert "tools/call,x," in scenarios.cassette.with_suffix(".csv").read_text()


def test_a_time_limit_fails_the_scenario_and_leaves_the_old_file(scenarios):
    assert scenarios(["ping"]).code == 0
    before = scenarios.cassette.read_bytes()
    ran = scenarios([{"call_tool": {"name": "hang"}}], "--timeout", "300ms")
    assert ran.code == 1, str(ran)
    assert b"no response: the time limit is over" in ran.err
    assert scenarios.cassette.read_bytes() == before
    assert os.listdir(scenarios.cassette.parent) == ["one.json"]


def test_a_recording_that_cannot_be_written_fails_its_scenario_only(scenarios, tmp_path):
    (tmp_path / "cassettes/two.json").mkdir(parents=True)
    three = {name: {"actions": ["ping"]} for name in ("one", "two", "three")}
    ran = scenarios([], "--report", tmp_path / "r.json", *reports(tmp_path)[2:], scenarios=three)
    assert ran.code == 5, str(ran)
    assert b"  two -> FAILED: cannot write '" in ran.err and b"Done: 2 scenario(s), 6 total interactions. 1 failed: two\n" in ran.err, str(ran)
    assert sorted(path.name for path in (tmp_path / "cassettes").iterdir()) == ["one.json", "three.json", "two.json"]
    report = json.loads((tmp_path / "r.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["exit_code"] == 5 and [(f["rule"], f["severity"]) for f in report["findings"]] == [("not-written", "error")]
    assert [call["scenario"] for call in report["calls"]] == ["one"] * 2 + ["three"] * 2
    assert json.loads(scenarios([], "--json", scenarios=three).out)["findings"] == report["findings"]
    assert all("cannot write" in (tmp_path / "report").with_suffix(end).read_text() for end in (".xml", ".md", ".txt"))


def test_a_file_over_the_size_limit_fails_its_scenario_only(scenarios):
    """The signal SIGXFSZ, which ends a process, is an error."""
    two = {"one": {"actions": [{"call_tool": {"name": "x", "arguments": {"long": "x" * 200000}}}]}, "two": {"actions": ["ping"]}}
    ran = scenarios([], scenarios=two, start=["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"])
    assert ran.code == 5 and b"one.json': File too large\n" in ran.err, str(ran)
    assert os.listdir(scenarios.cassette.parent) == ["two.json"]


def test_variables_cannot_make_a_file_too_large(scenarios, tmp_path):
    ran = scenarios(["ping"] * 3 + [{"call_tool": {"name": "x", "arguments": {"all": ["${LONG}" * 30] * 3}}}], env={"LONG": "x" * 100000})
    assert ran.code == 3, str(ran)
    assert ran.err.startswith(f"mcpreel: {tmp_path}/s.yml:1:".encode()) and b"too much text: 4 MiB are allowed, with variables replaced" in ran.err


def test_a_change_of_the_server_fails_verify(scenarios):
    call = [{"call_tool": {"name": "x"}}]
    assert scenarios(call).code == 0
    assert scenarios(call, "--verify").code == 0
    ran = scenarios(call, "--verify", env={"MODE": "other"})
    assert ran.code == 1, str(ran)
    assert b"one: tools/call x" in ran.out


def test_a_change_of_the_file_is_found_by_verify(scenarios):
    assert scenarios([{"call_tool": {"name": "x", "arguments": {"a": 1}}}]).code == 0
    ran = scenarios([{"call_tool": {"name": "x", "arguments": {"a": 2}}}], "--verify")
    assert ran.code == 0 and b"tools/call x has other params in the recording" in ran.out, str(ran)
    ran = scenarios([{"call_tool": {"name": "x", "arguments": {"a": 1}}}, "ping"], "--verify")
    assert ran.code == 1 and b"ping is not in the recording" in ran.out and b"mcpreel run --scenario one" in ran.out, str(ran)


def test_an_action_that_was_removed_and_another_expectation_are_found_by_verify(scenarios):
    call = {"call_tool": {"name": "x", "expect": {"$.result.content[0].text": "plain"}}}
    assert scenarios([call, "ping"]).code == 0
    ran = scenarios([call, "ping"], "--verify")
    assert ran.code == 0 and b"scenario 'one'" not in ran.out, str(ran)
    ran = scenarios(["ping"], "--verify")
    assert ran.code == 0 and b"scenario 'one': tools/call x is in the recording, and no action sends it" in ran.out, str(ran)
    call["call_tool"]["expect"]["$.result.content[0].text"] = "other"
    ran = scenarios([call, "ping"], "--verify")
    assert ran.code == 1 and b"tools/call x in the recording: $.result.content[0].text is not as expected" in ran.out, str(ran)


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_json_and_reports_name_the_scenario(scenarios, options, tmp_path):
    assert scenarios(["ping"]).code == 0
    ran = scenarios(["ping"], "--json", "--report", f"junit={tmp_path / 'r.xml'}", *options)
    assert ran.code == 0, str(ran)
    report = json.loads(ran.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert [(call["scenario"], call["method"]) for call in report["calls"]] == [("one", "initialize"), ("one", "ping")]
    assert report["command"] == "run"
    assert report["server"] == {"name": "s", "version": "1"} and report["protocol_version"] == "2025-11-25"
    assert 'name="one: ping' in (tmp_path / "r.xml").read_text()


@contextlib.contextmanager
def replayed(mcpreel, path):
    """An HTTP server: the recording of a server on stdio."""
    with subprocess.Popen([mcpreel, "-q", "replay", "--listen", "0", "--on-exhausted", "cycle", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["s.yml", "cassettes/one.json", "cassettes/../cassettes/one.json"])
def test_a_report_is_not_written_over_a_file_of_the_run(scenarios, tmp_path, name):
    assert scenarios(["list_tools"]).code == 0
    files = {path: path.read_bytes() for path in (tmp_path / "s.yml", scenarios.cassette)}
    ran = scenarios(["list_tools"], "--force", "--report", tmp_path / name)
    assert ran.code == 2 and b"the command reads or writes that file" in ran.err, str(ran)
    assert files == {path: path.read_bytes() for path in files}


def test_a_server_at_a_url_is_recorded_without_get_and_delete(scenarios, mcpreel, tmp_path):
    assert scenarios([{"call_tool": {"name": "x"}}]).code == 0
    kept = scenarios.cassette.rename(tmp_path / "kept.json")
    with replayed(mcpreel, kept) as url:
        ran = scenarios([{"call_tool": {"name": "x"}}], target=url.removesuffix("/mcp"))
    assert ran.code == 0, str(ran)
    recorded = json.loads(scenarios.cassette.read_text())
    assert [one["type"] for one in recorded["interactions"]] == ["jsonrpc_request", "notification", "jsonrpc_request"]
    assert recorded["metadata"]["transport_type"] == "http"
    assert recorded["metadata"]["server_url"] == url.removesuffix("/mcp")


def test_every_request_has_the_headers_of_its_scenario(scenarios, upstream):  # noqa: F811
    """Those of a scenario take the place of those of the file; --header adds to both."""
    server = upstream(session_server(lambda conn, request: conn.respond(json_=result(request.json["id"], {}))))
    two = {"one": {"actions": ["ping"]}, "two": {"actions": ["ping"], "headers": {"X-Other": "o"}}}
    ran = scenarios([], "--header", "X-All: a", env={"KEY": "k-93"}, target=server.url.removesuffix("/mcp"), headers={"X-Key": "${KEY}"}, scenarios=two)
    assert ran.code == 0, str(ran)
    seen = [tuple(request.get(name) for name in ("X-Key", "X-Other", "X-All")) for request in server.requests]
    assert set(seen[:3]) == {("k-93", None, "a")} and set(seen[-1:]) == {(None, "o", "a")}, seen
    assert len(set(seen)) == 2, seen


@pytest.mark.parametrize("path, requested", [("", "/mcp"), ("/mcp/", "/mcp"), ("/mcp?key=s", "/mcp?key=s"), ("/abc?key=s#f", "/abc/mcp?key=s")])
def test_a_target_gets_the_path_of_mcp_recorder(scenarios, upstream, path, requested):  # noqa: F811
    server = upstream(session_server(lambda conn, request: conn.respond(json_=result(request.json["id"], {}))))
    for options in [], ["--verify"]:
        ran = scenarios(["ping"], *options, target=f"http://127.0.0.1:{server.port}{path}")
        assert ran.code == 0, str(ran)
    assert {request.target for request in server.requests} == {requested}


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_the_secrets_of_a_url_are_in_no_report(scenarios, upstream, tmp_path, options):  # noqa: F811
    server = upstream(session_server(lambda conn, request: conn.respond(json_=result(request.json["id"], {}))))
    place, two = f"http://127.0.0.1:{server.port}", {name: {"actions": ["ping"]} for name in ("one", "two")}
    target = f"{place}/5b1fe0a7c9d2/mcp?api_key=k-93"
    assert scenarios([], target=target, scenarios=two).code == 0
    ran = scenarios([], "--json", *options, *reports(tmp_path), target=target, scenarios=two)
    assert ran.code == 0 and json.loads(ran.out)["target"] == f"{place}/[REDACTED]", str(ran)
    failed = scenarios([], "--json", "--force", *options, *reports(tmp_path), target=target.replace(str(server.port), "9"), scenarios=two)
    assert failed.code == 4, str(failed)
    assert not any(secret in told for told in (ran.out.decode(), written(failed, tmp_path)) for secret in ("5b1fe0a7c9d2", "k-93"))
    ran = scenarios([], "--json", target=target, redact={"server_url": False})
    assert json.loads(ran.out)["target"] == target, str(ran)


def test_a_server_that_is_not_there_is_exit_code_4(scenarios):
    ran = scenarios(["ping"], target="http://127.0.0.1:9")
    assert ran.code == 4, str(ran)
    assert b"cannot reach the server at 'http://127.0.0.1:9/mcp'" in ran.err


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_scenarios_behind_an_interrupted_one_are_reported_as_not_run(mcpreel, scenarios, tmp_path, options):
    two = {name: {"actions": [{"call_tool": {"name": "x"}}]} for name in ("one", "two")}
    assert scenarios([], scenarios=two).code == 0
    hangs = {"command": "sh", "args": ["-c", f"read line; touch '{tmp_path}/begun'; exec sleep 100"]}
    (tmp_path / "s.yml").write_text(json.dumps({"target": hangs, "scenarios": two}))
    with subprocess.Popen([mcpreel, "run", *options, "--report", tmp_path / "r.json", tmp_path / "s.yml"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (tmp_path / "begun").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    report = json.loads((tmp_path / "r.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert [(call["method"], call["verdict"], call["reason"]) for call in report["calls"] if call["scenario"] == "two"] == [
        (method, "skipped", "interrupted by signal 2") for method in ("initialize", "tools/call")]
    assert (b"two: tools/call x" in out) if options else (b"  two -> not run: interrupted by signal 2\n" in err and b" 1 failed: one; 1 not run\n" in err)


SECRET = "tok-5b1fe0a7c9d2"
HIDDEN = {"redact": {"env": ["TOKEN"]}, "target": {"env": {"TOKEN": "${TOKEN}"}}}


def written(ran, folder):
    """Everything that a run has shown, and its reports."""
    return ran.out.decode() + ran.err.decode() + "".join(path.read_text() for path in folder.glob("report.*"))


def reports(folder):
    return [word for kind, name in (("json", "json"), ("junit", "xml"), ("markdown", "md"), ("github", "txt"))
            for word in ("--report", f"{kind}={folder / 'report'}.{name}")]


@pytest.mark.parametrize("options", [[], ["-v"], ["--json"]])
def test_secrets_are_in_no_report_of_a_failed_scenario(scenarios, tmp_path, options):
    actions = [{"call_tool": {"name": "where", "arguments": {"of": "${TOKEN}"}, "expect": {"$.result.token": "other", "$.result.here": "${TOKEN}"}}}]
    ran = scenarios(actions, "--force", *options, *reports(tmp_path), env={"TOKEN": SECRET}, **HIDDEN)
    assert ran.code == 1, str(ran)
    told = written(ran, tmp_path)
    assert "$.result.token" in told and "[REDACTED" in told
    assert SECRET not in told


@pytest.mark.parametrize("name", ["reject", "exit"])
def test_secrets_are_in_no_reason_of_a_failed_scenario(scenarios, tmp_path, name):
    target = {"command": "sh", "args": ["-c", {"reject": 'read x; echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"error\\":{\\"code\\":-1,\\"message\\":\\"bad key $TOKEN\\"}}"; read x',
                                               "exit": 'echo "bad key $TOKEN" >&2; exit 3'}[name]], "env": {"TOKEN": "${TOKEN}"}}
    ran = scenarios(["ping"], *reports(tmp_path), env={"TOKEN": SECRET}, target=target, redact=HIDDEN["redact"])
    assert ran.code == {"reject": 1, "exit": 4}[name], str(ran)
    told = written(ran, tmp_path)
    assert "bad key [REDACTED" in told
    assert SECRET not in told


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_secrets_in_the_command_of_the_server_are_not_shown(scenarios, tmp_path, options):
    command = {"args": [os.fspath(tmp_path / "server.py"), "${TOKEN}"], "env": {"TOKEN": "${TOKEN}"}}
    assert scenarios(["ping"], env={"TOKEN": SECRET}, target=command, redact=HIDDEN["redact"]).code == 0
    ran = scenarios(["ping"], *options, *reports(tmp_path), env={"TOKEN": SECRET}, target=command, redact=HIDDEN["redact"])
    assert ran.code == 0, str(ran)
    assert SECRET not in written(ran, tmp_path)


@pytest.mark.parametrize("kind", ["cassette", "recording"])
@pytest.mark.parametrize("options", [[], ["-v"], ["--json"]])
def test_secrets_are_in_no_output_of_verify(scenarios, tmp_path, options, kind):
    actions = [{"call_tool": {"name": "x", "arguments": {"of": "${TOKEN}"}}}]
    assert scenarios(actions, env={"TOKEN": SECRET}, format=kind, redact=HIDDEN["redact"]).code == 0
    ran = scenarios(actions, "--verify", "--force", *options, *reports(tmp_path), env={"TOKEN": SECRET}, format=kind, redact=HIDDEN["redact"],
                    target={"env": {"MODE": "plain ${TOKEN}"}})
    assert ran.code == 1, str(ran)
    told = written(ran, tmp_path)
    assert "$.result.content[0].text" in told and "[REDACTED" in told
    assert SECRET not in told

"""verify with the demo server: exit codes, updates of every format, reports that real parsers read, bad servers."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import pytest

OPTIMISED = pathlib.Path(__file__).resolve().parents[2] / "build" / "mcpreel"


@pytest.fixture(scope="module")
def session(mcpreel, run, tmp_path_factory):
    """A recording of the demo server."""
    file = tmp_path_factory.mktemp("demo") / "session.jsonl"
    assert run([mcpreel, "demo", "-o", file]).code == 0
    return file


@pytest.fixture
def demo(mcpreel):
    return [mcpreel, "demo", "server"]


def planted(session, folder):
    """The recording with two other responses: of the weather, and of a division."""
    text = session.read_text()
    file = folder / "planted.jsonl"
    changed = text.replace('"celsius":20', '"celsius":99').replace("cannot divide 1 by zero", "cannot divide")
    assert changed != text
    file.write_text(changed)
    return file


def test_a_recording_of_the_same_server_passes(mcpreel, run, session, demo):
    ran = run([mcpreel, "verify", session, "--", *demo])
    assert ran.code == 0, str(ran)
    assert b"9 passed" in ran.out and b"failed" not in ran.out


def test_differences_are_shown_by_path_and_end_with_1(mcpreel, run, session, demo, tmp_path):
    ran = run([mcpreel, "verify", planted(session, tmp_path), "--", *demo])
    assert ran.code == 1
    for text in (b"$.result.structuredContent.celsius", b"- 99", b"+ 20", b"7 passed", b"2 failed"):
        assert text in ran.out, str(ran)


def test_ignored_values_do_not_count(mcpreel, run, session, demo, tmp_path):
    ran = run([mcpreel, "verify", "--ignore-paths", "$.result..celsius", "--ignore-paths", "$.result.content[*].text.celsius",
               "--ignore-paths", "$.result.content[0].text", planted(session, tmp_path), "--", *demo])
    assert ran.code == 0, str(ran)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.json"])
def test_accepted_responses_are_written_and_pass_then(mcpreel, run, session, demo, tmp_path, name):
    file = tmp_path / name
    if name == "a.jsonl":
        file.write_bytes(planted(session, tmp_path).read_bytes())
    else:
        assert run([mcpreel, "convert", planted(session, tmp_path), "-o", file]).code == 0
    only = ["--skip", "tool:haiku"]  # a cassette has no server requests
    before = file.read_bytes()
    one = run([mcpreel, "verify", *only, "--update=5", file, "--", *demo])
    assert one.code == 1 and b"(1 updated)" in one.out, str(one)
    rest = run([mcpreel, "verify", *only, "--update", file, "--", *demo])
    assert rest.code == 0 and b"1 failed (1 updated)" in rest.out, str(rest)
    assert file.read_bytes() != before
    after = run([mcpreel, "verify", *only, file, "--", *demo])
    assert after.code == 0 and b"failed" not in after.out, str(after)


def test_reports_are_accepted_by_real_parsers(mcpreel, run, session, demo, tmp_path):
    where = {name: tmp_path / f"report.{name}" for name in ("json", "junit", "github", "markdown")}
    options = [word for name, file in where.items() for word in ("--report", f"{name}={file}")]
    assert run([mcpreel, "verify", *options, planted(session, tmp_path), "--", *demo]).code == 1
    suite = xml.parse(where["junit"]).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("9", "2")
    assert len(suite.findall("testcase/failure")) == 2
    report = json.loads(where["json"].read_text())
    assert report["v"] == 2 and report["summary"]["failed"] == 2 and report["exit_code"] == 1
    assert where["github"].read_text().count("::error ") == 2
    assert "2 failed, 7 passed" in where["markdown"].read_text().splitlines()[0]


def test_a_report_that_cannot_be_written_is_found_before_anything_is_sent(mcpreel, run, session, tmp_path):
    ran = run([mcpreel, "verify", "--report", tmp_path / "no" / "report.json", session, "--", "touch", tmp_path / "started"])
    assert ran.code == 5, str(ran)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("command, expected_text", [
    (["./no-such-program"], "no-such-program"),
    (["sh", "-c", "echo broken >&2; exit 3"], "ended with exit code 3 before it responded: broken"),
    (["sh", "-c", "echo hello"], "text that is no MCP message: 'hello'"),
    (["sh", "-c", "echo hello; exec sleep 20"], "text that is no MCP message: 'hello'"),
    (["true"], "it wrote nothing; is it an MCP server on stdio?"),
    (["cat"], "'cat' does not speak MCP: the server sent the request back"),
], ids=["not there", "exits", "prints and exits", "prints", "prints nothing", "echoes"])
def test_a_server_without_mcp_gives_one_error(mcpreel, run, session, tmp_path, command, expected_text):
    file = tmp_path / "copy.jsonl"
    file.write_bytes(session.read_bytes())
    for options in (["--timeout", "500ms"], ["--timeout", "500ms", "--update"]):
        ran = run([mcpreel, "verify", *options, file, "--", *command])
        assert ran.code == 4 and ran.out == b"" and expected_text.encode() in ran.err and ran.err.count(b"mcpreel:") == 1, str(ran)
    assert file.read_bytes() == session.read_bytes()


HTML = '''
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200); self.send_header("Content-Type", "text/html"); self.send_header("Content-Length", "15"); self.end_headers()
        self.wfile.write(b"<html>hi</html>")
    do_GET = do_DELETE = lambda self: self.send_error(405)
    def log_message(self, *_): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
'''


def test_a_web_page_is_no_response(mcpreel, run, session, tmp_path):
    file = tmp_path / "copy.jsonl"
    file.write_bytes(session.read_bytes())
    with subprocess.Popen([sys.executable, "-c", HTML], stdout=subprocess.PIPE, text=True) as process:
        try:
            url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
            ran = [run([mcpreel, "verify", *options, "--url", url, file]) for options in ([], ["--update"])]
        finally:
            process.kill()
    for one in ran:
        assert one.code == 4 and one.out == b"" and b"does not speak MCP: the server's response is neither a JSON-RPC message" in one.err, str(one)
    assert file.read_bytes() == session.read_bytes()


def test_an_unreachable_server_is_waited_for_and_gives_an_error(mcpreel, run, session):
    ran = run([mcpreel, "verify", "--wait-ready", "300ms", "--url", "http://127.0.0.1:9", session])
    assert ran.code == 4 and b"could not be reached in time" in ran.err and ran.out == b""


@pytest.mark.parametrize("status, hint", [(401, "--header-env NAME=VARIABLE"), (403, "--header-env NAME=VARIABLE"),
                                          (404, "the URL is that of an MCP endpoint"), (503, "the server failed: its log may say why")])
def test_a_rejection_by_http_status_has_a_hint(mcpreel, run, session, tmp_path, status, hint):
    server = tmp_path / "server.py"
    server.write_text("import http.server, sys\n"
                      "class H(http.server.BaseHTTPRequestHandler):\n"
                      "    def do_POST(self):\n"
                      "        self.send_response(int(sys.argv[1])); self.send_header('Content-Length', '0'); self.end_headers()\n"
                      "    do_GET = do_DELETE = do_POST\n"
                      "    def log_message(self, *_): pass\n"
                      "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)\n"
                      "print(s.server_port, flush=True)\n"
                      "s.serve_forever()\n")
    with subprocess.Popen([sys.executable, server, str(status)], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip()
            ran = run([mcpreel, "verify", "--url", f"http://127.0.0.1:{port}", session])
        finally:
            process.kill()
    assert ran.code == 4 and f"HTTP {status}" in ran.err.decode() and hint in ran.err.decode() and b"[REDACTED]" not in ran.err, str(ran)


REDIRECT = '''
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(307); self.send_header("Location", "http://127.0.0.1:9/token"); self.send_header("Content-Length", "0"); self.end_headers()
    do_GET = do_DELETE = do_POST
    def log_message(self, *_): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
'''


def test_a_redirect_is_named(mcpreel, run, session):
    with subprocess.Popen([sys.executable, "-c", REDIRECT], stdout=subprocess.PIPE, text=True) as process:
        try:
            ran = run([mcpreel, "verify", "--url", f"http://127.0.0.1:{process.stdout.readline().strip()}", session])
        finally:
            process.kill()
    assert ran.code == 4 and ran.out == b"", str(ran)
    assert b"the server redirects (status 307) to 'http://127.0.0.1:9'; mcpreel does not follow redirects" in ran.err, str(ran)


def test_a_server_that_hangs_did_not_respond(mcpreel, run, session, tmp_path):
    ran = run([mcpreel, "verify", "--timeout", "200ms", "--report", tmp_path / "r.json", session, "--", "sleep", "20"])
    assert ran.code == 4 and b"'sleep' did not respond" in ran.err and ran.out == b"", str(ran)
    assert not (tmp_path / "r.json").exists()


def test_a_server_that_hangs_until_its_stdin_is_closed_did_not_respond(mcpreel, run, session):
    ran = run([mcpreel, "verify", "--timeout", "200ms", session, "--", "sh", "-c", "echo no database >&2; cat > /dev/null"])
    assert ran.code == 4 and b"'sh' did not respond: no database\n" in ran.err and b"exit code" not in ran.err, str(ran)


ID_GENERATING_SERVER = '''
import json, os, random, sys
SHORT = os.environ.get("SHORT")
handles, cursors, tasks, states = {}, set(), set(), set()
def mint(of=10**9): return f"{random.randrange(of):0{len(str(of)) - 1}}"
def text(words, **more): return {"content": [{"type": "text", "text": words}], **more}
def call(name, args):
    if name == "open":
        handle = f"h-{mint(1000)}" if SHORT else f"doc-{mint()}"
        handles[handle] = random.randrange(10**4)
        return text(f"opened {handle} for you", structuredContent={"n": handles[handle]}) if not SHORT else \
            text(json.dumps({"handle": handle}), structuredContent={"n": handles[handle]})
    if name == "issue":
        number = random.randrange(10**3, 10**4)
        handles[number] = 0
        return text(f"created issue {number}")
    if name == "start":
        tasks.add(f"task-{mint()}")
        return {"task": {"taskId": list(tasks)[-1], "status": "working", "ttl": 1000, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}}
    if name == "close":
        return text("closed") if args["issue"] in handles else None
    if args.get("handle") in handles:
        return text(f"read {args['handle']}: {'right' if args.get('n') == handles[args['handle']] else 'wrong'} n")
def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "minting", "version": "1"}}
    if method == "tools/list":
        if "cursor" in params: return {"tools": []} if params["cursor"] in cursors else None
        cursors.add(mint(1000))
        return {"tools": [], "nextCursor": list(cursors)[-1]}
    if method == "resources/list":
        states.add(f"session://{mint()}/notes")
        return {"resources": [{"name": "notes", "uri": list(states)[-1]}]}
    if method == "resources/read": return {"contents": [{"uri": params["uri"], "text": "notes"}]} if params["uri"] in states else None
    if method == "tasks/get":
        return {"taskId": params["taskId"], "status": "completed", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 1000} if params["taskId"] in tasks else None
    return call(params["name"], params.get("arguments", {}))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    result = answer(message["method"], message.get("params", {}))
    got = {"result": result} if result is not None else {"error": {"code": -32602, "message": "there is no such thing"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **got}), flush=True)
'''


class IdGeneratingSession:
    """A session with a server that makes up new ids, cursors, handles, URIs and tasks in each run."""

    def __init__(self, mcpreel, run, folder, short):
        (folder / "minting.py").write_text(ID_GENERATING_SERVER)
        self.command, self.file = [sys.executable, folder / "minting.py"], folder / "session.jsonl"
        self.mcpreel, self.run_, self.env = mcpreel, run, {"SHORT": "1"} if short else {}
        with subprocess.Popen([mcpreel, "record", "-o", self.file, "--", *self.command], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, env={**os.environ, **self.env}) as self.process:
            self.send_request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"})
            self.send_request("tools/list", cursor=self.send_request("tools/list")["nextCursor"])
            self.send_request("resources/read", uri=self.send_request("resources/list")["resources"][0]["uri"])
            self.send_request("tasks/get", taskId=self.call("start")["task"]["taskId"])
            opened = self.call("open")
            words = opened["content"][0]["text"]
            handle = json.loads(words)["handle"] if short else words.split()[1]
            assert "right" in self.call("read", handle=handle, n=opened["structuredContent"]["n"])["content"][0]["text"]
            self.call("close", issue=int(self.call("issue")["content"][0]["text"].split()[-1]))
            self.process.stdin.close()

    def send_request(self, method, **params):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, name, **arguments):
        return self.send_request("tools/call", name=name, arguments=arguments)

    def verify(self, *paths):
        rules = [word for path in paths for word in ("--rebind", path)]
        ran = self.run_([self.mcpreel, "--json", "verify", *rules, self.file, "--", *self.command], env=self.env)
        return ran, {call["subject"] or call["method"]: call for call in json.loads(ran.out)["calls"]}


PATHS = ["$.result.structuredContent.n", "$.result.content[0].text"]


def test_generated_values_are_used_in_later_requests(mcpreel, run, tmp_path):
    ran, _ = IdGeneratingSession(mcpreel, run, tmp_path, short=False).verify(*PATHS)
    assert ran.code == 0, str(ran)


def test_the_server_that_makes_them_up_rejects_the_recorded_ones(mcpreel, run, tmp_path):
    """So that the verification passes because of the values that are carried forward, and for no other reason."""
    id_session = IdGeneratingSession(mcpreel, run, tmp_path, short=False)
    sent = [line["msg"] for line in map(json.loads, id_session.file.read_text().splitlines()) if line.get("dir") == "c2s"]
    ran = run(id_session.command, stdin="".join(json.dumps(message) + "\n" for message in sent).encode())
    rejected = [request["method"] for request, response in zip(sent, map(json.loads, ran.out.splitlines()), strict=True)
                if "error" in response]
    assert rejected == ["tools/list", "resources/read", "tasks/get", "tools/call", "tools/call"]


@pytest.mark.parametrize("short, paths", [
    (False, {"read": "$.result.structuredContent.n", "close": "$.result.content[0].text"}),
    (True, {"read": "$.result.content[0].text.handle", "close": "$.result.content[0].text"}),
], ids=["long", "short"])
def test_a_rule_is_proposed_for_values_that_are_too_short(mcpreel, run, tmp_path, short, paths):
    """Each proposal is taken literally, until none is left."""
    id_session = IdGeneratingSession(mcpreel, run, tmp_path, short)
    ran, calls = id_session.verify()
    assert ran.code == 1
    proposed = {}
    for name in ("read", "close"):
        hints = [finding["hint"] for finding in calls[name]["findings"] if finding["hint"]]
        proposed[name] = shlex.split(hints[0].split(": ", 1)[1])[:2]
    assert proposed == {name: ["--rebind", path] for name, path in paths.items()}
    ran, calls = id_session.verify(*paths.values(), *PATHS[:1])
    assert ran.code == 0, str(ran)
    assert not [finding["hint"] for call in calls.values() for finding in call["findings"] if finding["hint"]]


# A call with more values than are kept; behind it, a handle that the server makes up and a later request has.
CROWDED_SERVER = '''
import json, os, sys
handle = os.environ["HANDLE"]
for line in sys.stdin:
    message = json.loads(line)
    name = message.get("params", {}).get("name")
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif name == "open" and handle == "none":
        result = {"content": [{"type": "text", "text": "cannot open it"}], "isError": True}
    elif name == "open":
        result = {"content": [{"type": "text", "text": f"opened {handle} for you"}]}
    else:
        right = name == "crowd" or message["params"]["arguments"]["handle"] == handle
        result = {"content": [{"type": "text", "text": "right" if right else "wrong"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


@pytest.mark.parametrize("live, verdicts, values", [
    ("doc-bbb99", ["passed", "passed", "volatile", "passed"], 100_001),
    ("none", ["passed", "passed", "failed", "blocked"], 100_001),
    ("doc-bbb99", ["passed", "passed", "volatile", "passed"], 90_000),
], ids=["more values", "more values and a failure", "fewer values"])
def test_the_oldest_of_too_many_values_are_dropped_and_it_is_reported(mcpreel, run, tmp_path, live, verdicts, values):
    (tmp_path / "crowded.py").write_text(CROWDED_SERVER)
    command, file = [sys.executable, tmp_path / "crowded.py"], tmp_path / "crowded.jsonl"
    messages = [{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}]
    messages += [{"method": "tools/call", "params": {"name": name, "arguments": arguments}} for name, arguments in [
        ("crowd", {"values": list(range(10**6, 10**6 + values))}), ("open", {}), ("read", {"handle": "doc-aaa81"})]]
    with subprocess.Popen([mcpreel, "record", "-o", file, "--", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "HANDLE": "doc-aaa81"}) as process:
        for n, message in enumerate(messages):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, **message}) + "\n")
            process.stdin.flush()
            assert "wrong" not in process.stdout.readline()
        process.stdin.close()
    ran = run([mcpreel, "--json", "verify", file, "--", *command], env={"HANDLE": live})
    report = json.loads(ran.out)
    assert [call["verdict"] for call in report["calls"]] == verdicts, report["calls"][2:]
    limits = [finding for finding in report["findings"] if finding["rule"] == "rebind-limit"]
    assert len(limits) == (values > 100_000) and all("at most 100000 are kept" in one["message"] for one in limits), report["findings"]


def test_the_output_is_complete_if_a_server_that_ends_blocks_very_many_calls(run, tmp_path):
    """The optimised program composes more than 64 MB in one step."""
    long_name, calls, file = "tool-" + "x" * 4000, 18_000, tmp_path / "many.jsonl"
    messages = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                {"id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}}]
    with file.open("w") as to:
        for message in messages:
            to.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        for n in range(1, calls + 1):
            to.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": long_name, "arguments": {"n": n}}}) + "\n")
            to.write(json.dumps({"jsonrpc": "2.0", "id": n, "result": {"content": []}}) + "\n")
    (tmp_path / "ends.py").write_text("import json, sys\nmessage = json.loads(sys.stdin.readline())\n"
                                      f"print(json.dumps({{**{messages[1]}, 'jsonrpc': '2.0', 'id': message['id']}}), flush=True)\n")
    ran = run([OPTIMISED, "--json", "verify", file, "--", sys.executable, tmp_path / "ends.py"])
    assert len(ran.out) > 64 << 20
    assert len(json.loads(ran.out)["calls"]) == calls + 1


STATELESS_SERVER = '''
import json, random, sys
tasks, states = {}, set()
def answer(method, params):
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "tasks/get":
        tasks[params["taskId"]] = max(tasks[params["taskId"]] - 1, 0)
        return {"taskId": params["taskId"], **({"status": "working"} if tasks[params["taskId"]] else
                                               {"status": "completed", "result": {"content": [{"type": "text", "text": "done"}]}})}
    if params["name"] == "job":
        task = f"task-{random.randrange(10**9)}"
        tasks[task] = random.randrange(1, 4)
        return {"resultType": "task", "taskId": task, "status": "working"}
    if "requestState" not in params:
        states.add(f"state-{random.randrange(10**9)}")
        return {"resultType": "input_required", "requestState": list(states)[-1],
                "inputRequests": {"name": {"method": "elicitation/create", "params": {"message": "your name?"}}}}
    assert params["requestState"] in states
    return {"content": [{"type": "text", "text": "hello " + params["inputResponses"]["name"]["content"]["name"]}]}
for line in sys.stdin:
    message = json.loads(line)
    result = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "stateless", "version": "7"}},
              **answer(message["method"], message["params"])}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


def test_input_rounds_and_tasks_of_the_stateless_protocol_pass(mcpreel, run, tmp_path):
    """The states and tasks are random, and so is the number of polls that a task takes."""
    (tmp_path / "server.py").write_text(STATELESS_SERVER)
    command, file = [sys.executable, tmp_path / "server.py"], tmp_path / "session.jsonl"
    with subprocess.Popen([mcpreel, "record", "-o", file, "--", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def send_request(method, **params):
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["result"]

        send_request("server/discover")
        state = send_request("tools/call", name="ask")["requestState"]
        reply = {"name": {"action": "accept", "content": {"name": "Ann"}}}
        assert "hello Ann" in str(send_request("tools/call", name="ask", requestState=state, inputResponses=reply))
        task = send_request("tools/call", name="job")["taskId"]
        while send_request("tasks/get", taskId=task)["status"] == "working":
            pass
        process.stdin.close()
    for _ in range(3):
        ran = run([mcpreel, "verify", file, "--", *command])
        assert ran.code == 0 and b"(stateless 7, protocol 2026-07-28)" in ran.out, str(ran)


def test_a_cassette_is_reported_in_the_lines_of_mcp_recorder(mcpreel, run, session, demo, tmp_path):
    cassette = tmp_path / "golden.json"
    assert run([mcpreel, "convert", planted(session, tmp_path), "-o", cassette]).code == 0
    command = " ".join(f"'{word}'" for word in demo)
    ran = run([mcpreel, "verify", "--cassette", cassette, "--target-stdio", command, "--skip", "tool:haiku"])
    lines = ran.err.decode().splitlines()
    assert ran.code == 1 and ran.out == b""
    assert lines[0] == f"Verifying {cassette} against stdio: {' '.join(map(str, demo))}"
    assert lines[1] == "Interactions: 10" and lines[3:5] == ["  1. initialize [PASS]", "  2. notifications/initialized [PASS]"]
    assert "  4. tools/call [weather] [FAIL]" in lines and "      $.result.structuredContent.celsius: 99 != 20" in lines
    assert lines[-1] == "Result: 7/10 passed, 3 failed"  # the skipped one counts as failed


# A server that repeats a secret in every place that verify reports.
SECRET_REPEATING_SERVER = '''
import json, os, sys
secret = os.environ["CANARY_KEY"]
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def text(words): return {"content": [{"type": "text", "text": words}]}
print("stderr", secret, file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message: continue
    name = message.get("params", {}).get("name"); key = message.get("params", {}).get("arguments", {}).get("key")
    if message["method"] == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": secret}}})
        print("noise", secret, flush=True)
    elif name == "login": send({"id": message["id"], "result": text("welcome" if key == secret else "who?")})
    elif name == "moved": send({"id": message["id"], "result": {"structuredContent": {secret: secret, "password": "planted-password"}, **text("now here: " + secret)}})
    elif name == "error": send({"id": message["id"], "error": {"code": -32000, "message": "bad " + secret}})
    elif name == "ask":
        send({"id": "q", "method": "elicitation/create", "params": {"message": secret}})
        send({"id": message["id"], "result": text("asked")})
    elif name == "exit": print("bye", secret, file=sys.stderr, flush=True); sys.exit(3)
'''


@pytest.fixture
def secret_repeating_server(tmp_path):
    """A recording with redacted values, and a server that repeats the values in every response."""
    (tmp_path / "talkative.py").write_text(SECRET_REPEATING_SERVER)
    lines, file = [], tmp_path / "talk.jsonl"

    def add_message(side, **message):
        lines.append({"type": "message", "seq": len(lines) + 1, "ts": "2026-01-01T00:00:00.000Z", "dir": side, "msg": {"jsonrpc": "2.0", **message}})

    def call(n, name, **rest):
        add_message("c2s", id=n, method="tools/call", params={"name": name, "arguments": {"key": "[REDACTED:CANARY_KEY]"}})
        add_message("s2c", id=n, **(rest or {"result": {"content": [{"type": "text", "text": "fine"}]}}))

    add_message("c2s", id=0, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
    add_message("s2c", id=0, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
    call(1, "login", result={"content": [{"type": "text", "text": "welcome"}]})
    for n, name in enumerate(["moved", "error", "ask", "exit"], 2):
        call(n, name)
    head = {"type": "header", "version": "1.0", "recorded_at": "2026-01-01T00:00:00.000Z", "upstream": "u", "thoughtjack_version": "0.3.0"}
    file.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]))
    return file, [sys.executable, tmp_path / "talkative.py"]


CANARY = "canary-9f8e7d6c5b4a"


@pytest.mark.parametrize("options", [[], ["-v"], ["-vv"], ["--json"], ["--color", "always"]], ids=lambda words: " ".join(words) or "plain")
def test_a_value_that_was_refilled_is_in_no_output(mcpreel, run, secret_repeating_server, tmp_path, options):
    file, server = secret_repeating_server
    where = {name: tmp_path / f"report.{name}" for name in ("json", "junit", "github", "markdown")}
    reports = [word for name, report in where.items() for word in ("--report", f"{name}={report}")]
    ran = run([mcpreel, *options, "verify", *reports, file, "--", *server], env={"CANARY_KEY": CANARY})
    assert ran.code == 1, str(ran)
    written = {"out": ran.out, "err": ran.err, **{name: report.read_bytes() for name, report in where.items()}}
    for name, text in written.items():
        assert CANARY.encode() not in text and b"planted-password" not in text, f"{name}: {text.decode()}"
    assert b"[REDACTED:CANARY_KEY]" in written["json"] and b"[REDACTED:CANARY_KEY]" in written["junit"]
    report = json.loads(written["json"])
    assert [call["verdict"] for call in report["calls"]] == ["volatile", "passed", "failed", "failed", "failed", "failed"], report["calls"]
    assert report["server"] == {"name": "s", "version": "[REDACTED:CANARY_KEY]"}
    assert {finding["rule"] for finding in report["findings"]} == {"protocol-violation", "server-request-unknown", "server-exited"}


def test_a_value_that_was_refilled_is_in_no_line_of_mcp_recorder(mcpreel, run, secret_repeating_server):
    file, server = secret_repeating_server
    ran = run([mcpreel, "-vv", "verify", "--cassette", file, "--target-stdio", " ".join(f"'{word}'" for word in server)], env={"CANARY_KEY": CANARY})
    assert ran.code == 1 and b"  2. tools/call [login] [PASS]" in ran.err, str(ran)
    assert CANARY.encode() not in ran.out + ran.err, str(ran)


def test_a_value_that_moved_is_not_accepted_in_plain(mcpreel, run, secret_repeating_server):
    file, server = secret_repeating_server
    ran = run([mcpreel, "verify", "--update=3", file, "--", *server], env={"CANARY_KEY": CANARY})
    assert b"(1 updated)" in ran.out, str(ran)
    text = file.read_text()
    assert CANARY not in text and "now here: [REDACTED:CANARY_KEY]" in text and "planted-password" not in text


def test_a_text_that_becomes_a_placeholder_alone_is_reported(mcpreel, run, session, demo, tmp_path):
    file = tmp_path / "copy.jsonl"
    file.write_text(session.read_text().replace("cannot divide 1 by zero", "old [REDACTED:KEY]"))
    ran = run([mcpreel, "verify", "--update", file, "--", *demo])
    assert ran.code == 0 and b"(1 updated)" in ran.out, str(ran)
    assert b"warning: 1 text was accepted as a placeholder alone, which any text matches" in ran.err, str(ran)
    assert '"[REDACTED:KEY]"' in file.read_text()
    file.write_text(session.read_text().replace("cannot divide 1 by zero", "another text"))
    assert b"placeholder" not in run([mcpreel, "verify", "--update", file, "--", *demo]).err


def test_a_value_that_is_too_short_to_be_redacted_is_not_sent(mcpreel, run, secret_repeating_server):
    file, server = secret_repeating_server
    ran = run([mcpreel, "--json", "verify", file, "--", *server], env={"CANARY_KEY": "abc"})
    calls = json.loads(ran.out)["calls"]
    assert {call["verdict"] for call in calls[1:]} == {"skipped"} and "too short" in calls[1]["reason"], str(ran)


def test_a_server_that_echoes_a_value_before_it_exits_is_not_quoted_with_it(mcpreel, run, secret_repeating_server, tmp_path):
    file, _ = secret_repeating_server
    ran = run([mcpreel, "-v", "verify", file, "--", "sh", "-c", "echo broken by $CANARY_KEY >&2; exit 3"], env={"CANARY_KEY": CANARY})
    assert ran.code == 4 and b"broken by [REDACTED:CANARY_KEY]" in ran.err and CANARY.encode() not in ran.err, str(ran)


def test_options_of_redaction_apply_to_the_output(mcpreel, run, session, demo, tmp_path):
    file = planted(session, tmp_path)
    plain = run([mcpreel, "verify", file, "--", *demo])
    clean = run([mcpreel, "verify", "--redact-patterns", "cannot divide[a-z0-9 ]*", "--redact-members", "city", file, "--", *demo])
    assert b"cannot divide" in plain.out and b"cannot divide" not in clean.out and b"[REDACTED]" in clean.out, str(clean)


def test_lines_of_the_file_are_in_the_reports(mcpreel, run, session, demo, tmp_path):
    file = planted(session, tmp_path)
    report, notes = tmp_path / "report.json", tmp_path / "notes"
    assert run([mcpreel, "verify", "--report", report, "--report", f"github={notes}", file, "--", *demo]).code == 1
    lines = file.read_text().splitlines()
    calls = json.loads(report.read_text())["calls"]
    for call in calls:
        message = json.loads(lines[call["line"] - 1])
        assert (message["seq"], message["msg"]["method"]) == (call["seq"], call["method"])
        assert all((finding["line"], finding["seq"]) == (call["line"], call["seq"]) for finding in call["findings"])
    failed = [call["line"] for call in calls if call["verdict"] == "failed"]
    assert len(failed) == 2 and all(f"::error file={file},line={line}," in notes.read_text() for line in failed)


def test_lines_of_a_cassette_are_in_the_reports(mcpreel, run, session, demo, tmp_path):
    file = tmp_path / "golden.json"
    assert run([mcpreel, "convert", planted(session, tmp_path), "-o", file]).code == 0
    ran = run([mcpreel, "--json", "verify", "--skip", "tool:haiku", file, "--", *demo])
    lines = file.read_text().splitlines()
    for call in json.loads(ran.out)["calls"]:
        assert '"request": {' in lines[call["line"] - 1], call
        assert f'"method": "{call["method"]}"' in "".join(lines[call["line"]:call["line"] + 5]), call


def test_one_report_has_all_recordings(mcpreel, run, session, demo, tmp_path):
    where = {name: tmp_path / f"report.{name}" for name in ("json", "junit", "github", "markdown")}
    options = [word for name, file in where.items() for word in ("--report", f"{name}={file}")]
    other = planted(session, tmp_path)
    ran = run([mcpreel, "verify", *options, session, other, session, "--", *demo])
    assert ran.code == 1 and ran.out.count(b"9 passed") == 2, str(ran)
    suites = xml.parse(where["junit"]).getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("27", "2")
    assert [suite.get("name") for suite in suites] == [str(session), str(other), str(session)]
    reports = [json.loads(line) for line in where["json"].read_text().splitlines()]
    assert [(report["file"], report["exit_code"]) for report in reports] == [(str(session), 0), (str(other), 1), (str(session), 0)]
    assert where["github"].read_text().count(f"::error file={other},") == 2
    markdown = where["markdown"].read_text()
    assert markdown.startswith("## MCP: 3 recordings: 2 failed, 25 passed\n") and markdown.count("### MCP verify: ") == 3


def test_a_recording_that_cannot_be_verified_is_an_error_in_the_report_of_the_others(mcpreel, run, session, demo, tmp_path):
    report, broken = tmp_path / "report.xml", tmp_path / "broken.jsonl"
    broken.write_text("no recording")
    ran = run([mcpreel, "verify", "--report", f"junit={report}", session, broken, "--", *demo])
    assert ran.code == 3 and b"broken.jsonl:1:1" in ran.err, str(ran)
    suites = xml.parse(report).getroot()
    assert [(suite.get("tests"), suite.get("failures")) for suite in suites] == [("9", "0"), ("1", "1")]
    alone = run([mcpreel, "verify", "--report", f"junit={tmp_path / 'alone.xml'}", broken, "--", *demo])
    assert alone.code == 3 and not (tmp_path / "alone.xml").exists()


@pytest.fixture
def two_sessions(mcpreel, run, session, tmp_path):
    """A recording with two sessions of the demo server."""
    file = tmp_path / "two.jsonl"
    assert run([mcpreel, "convert", session, session, "-o", file]).code == 0
    return file


# The second session cannot be verified: its command fails, or the server is not there any more.
@pytest.mark.parametrize("script, expected_text", [
    ("test ! -e begun && touch begun", "'--before' failed: 'test ! -e begun && touch begun' ended with exit code 1"),
    ("test -e server || cp -p MCPREEL server; test ! -e begun || rm server; touch begun", "cannot start server './server': no such file or directory"),
], ids=["before", "start"])
def test_a_session_that_could_not_be_verified_is_in_every_report(mcpreel, run, two_sessions, tmp_path, script, expected_text):
    where = {name: tmp_path / f"report.{name}" for name in ("json", "junit", "github", "markdown", "sarif")}
    options = [word for name, file in where.items() for word in ("--report", f"{name}={file}")]
    script = script.replace("MCPREEL", shlex.quote(str(mcpreel)))
    command = ["./server", "demo", "server"] if "server" in script else [mcpreel, "demo", "server"]
    ran = run([mcpreel, "verify", "--before", script, *options, two_sessions, "--", *command], cwd=tmp_path)
    assert ran.code == 4 and expected_text in ran.err.decode(), str(ran)
    assert "9 passed · 9 blocked · 1 error" in ran.out.decode(), str(ran)
    suite = xml.parse(where["junit"]).getroot().find("testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["19", "1", "0", "9"]
    report = json.loads(where["json"].read_text())
    assert [call["session"] for call in report["calls"] if call["verdict"] == "blocked"] == [2] * 9
    assert [finding["rule"] for finding in report["findings"]] == ["not-verified"] and expected_text in report["findings"][0]["message"]
    assert report["exit_code"] == 4 and report["summary"]["errors"] == 1
    assert where["github"].read_text().count("::error ") == 1 and expected_text in where["markdown"].read_text()
    assert [one["ruleId"] for one in json.loads(where["sarif"].read_text())["runs"][0]["results"]] == ["not-verified"]


# A command that dies of SIGTERM, and one that ends well after it; in the second session, so that there is a report.
@pytest.mark.parametrize("trap", ["", "trap 'exit 0' TERM; "], ids=["dies", "ends well"])
def test_ctrl_c_during_the_command_before_a_session_ends_the_run(mcpreel, two_sessions, tmp_path, trap):
    script = f"{trap}test -e begun && touch waiting && while :; do sleep 0.05; done; touch begun"
    with subprocess.Popen([mcpreel, "verify", "--before", script, "--report", f"junit={tmp_path / 'r.xml'}", two_sessions, "--",
                           mcpreel, "demo", "server"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "waiting").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 5 and err.endswith("mcpreel: interrupted by signal 2\n") and "failed" not in err, out + err
    assert "9 passed · 9 blocked · 1 error" in out and "blocked: interrupted" in out and "✗ interrupted by signal 2" in out, out
    suite = xml.parse(tmp_path / "r.xml").getroot().find("testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["19", "1", "9"]


def test_json_has_one_object_for_each_recording_also_for_an_unusable_one(mcpreel, run, session, demo, tmp_path):
    files = [tmp_path / "missing.jsonl", session]
    ran = run([mcpreel, "--json", "verify", *files, "--", *demo])
    reports = [json.loads(line) for line in ran.out.splitlines()]
    assert [report["file"] for report in reports] == [str(path) for path in files]
    assert (ran.code, reports[0]["exit_code"], reports[1]["exit_code"]) == (3, 3, 0)
    assert reports[0]["findings"][0]["rule"] == "not-verified"
    assert run([mcpreel, "--json", "verify", files[0], "--", *demo]).out == b""


def test_one_unusable_recording_does_not_stop_the_others(mcpreel, run, session, demo, tmp_path):
    report, broken = tmp_path / "report.json", tmp_path / "broken.jsonl"
    broken.write_text("no recording")
    ran = run([mcpreel, "verify", "--report", report, broken, session, tmp_path / "missing.jsonl", planted(session, tmp_path), "--", *demo])
    assert ran.code == 3, str(ran)
    assert b"broken.jsonl:1:1" in ran.err and b"missing.jsonl" in ran.err and ran.err.count(b"mcpreel:") == 2, str(ran)
    assert b"9 passed" in ran.out and b"2 failed" in ran.out, str(ran)
    assert [json.loads(line)["exit_code"] for line in report.read_text().splitlines()] == [3, 0, 3, 1]


ASKING = '''
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif m.get("method") == "tools/call":
        if "ask" in sys.argv:
            print(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}), flush=True)
            sys.stdin.readline()
        if "hang" in sys.argv:
            continue
        r = {"content": [{"type": "text", "text": "done"}]}
    elif m.get("method") == "tools/list":
        names = ["a", "b"] if "turn" not in sys.argv else ["b", "a"]
        r = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
'''


@pytest.fixture
def asking(mcpreel, run, tmp_path):
    """Verifies a server with another behaviour than the recorded one."""
    server, file = tmp_path / "server.py", tmp_path / "asking.jsonl"
    server.write_text(ASKING)
    messages = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
                {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "a", "arguments": {}}}]
    text = "".join(json.dumps(m) + "\n" for m in messages)
    assert run([mcpreel, "record", "-o", file, "--", sys.executable, server], stdin=text.encode()).code == 0
    return lambda options, *faults: run([mcpreel, "verify", *options, "--", sys.executable, server, *faults]), file


def test_an_unknown_server_request_has_a_line_with_cassette(asking):
    verify, file = asking
    ran = verify(["--cassette", file], "ask")
    assert ran.code == 1 and b"the server sent roots/list, which the recording does not have; it was rejected [FAIL]" in ran.err, str(ran)


def test_no_response_in_time_is_a_finding(asking, tmp_path):
    verify, file = asking
    ran = verify(["--timeout", "300ms", "--json", file], "hang")
    finding = json.loads(ran.out)["calls"][2]["findings"][0]
    assert ran.code == 1 and finding["rule"] == "no-response" and finding["message"] == "no response within 0.300 s", str(ran)
    text = verify(["--timeout", "300ms", file], "hang")
    assert text.out.count(b"no response") == 1, str(text)
    markdown = tmp_path / "r.md"
    verify(["--timeout", "300ms", "--report", f"markdown={markdown}", file], "hang")
    assert markdown.read_text().count("no response within 0.300 s") == 1, markdown.read_text()


def test_another_order_is_a_note_in_the_text(asking):
    verify, file = asking
    ran = verify([file], "turn")
    assert ran.code == 0 and b"another order" in ran.out, str(ran)


def test_a_dry_run_has_the_numbers_of_the_report(mcpreel, run, session):
    ran = run([mcpreel, "verify", "--dry-run", "--only", "tool:divide", session])
    assert ran.out.decode().splitlines() == ["  1  #1 initialize", "  5  #14 tools/call divide"], str(ran)


# An HTTP server with a tool that is marked as read-only and one that is not, on an address that is not loopback. It runs in its own
# network, and runs the command there that is given to it; its last line of output has the tools that were called.
ELSEWHERE = '''
import fcntl, http.server, json, socket, struct, subprocess, sys, threading
ADDRESS, called = "192.0.2.1", []
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    up = fcntl.ioctl(s, 0x8913, struct.pack("16sH14x", b"lo", 0))
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", struct.unpack("16xH14x", up)[0] | 1))
    fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS)))
def respond(message):
    if message["method"] == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if message["method"] == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name == "look"}} for name in ("look", "delete")]}
    called.append(message["params"]["name"])
    return {"content": [{"type": "text", "text": "done"}]}
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": respond(message)}).encode() if "id" in message else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def do_GET(self): self.send_response(405); self.send_header("Content-Length", "0"); self.end_headers()
    do_DELETE = do_GET
    def log_message(self, *_): pass
s = http.server.ThreadingHTTPServer(("0.0.0.0", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
code = subprocess.run([word.replace("URL", f"http://{sys.argv[1]}:{s.server_port}") for word in sys.argv[2:]]).returncode
print("called", *called, flush=True)
sys.exit(code)
'''


@pytest.fixture
def verify_remote(mcpreel, run, tmp_path):
    """Runs verify in a network of its own, with a server at an address there."""
    tried = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"a network of its own is not possible here: {tried.stderr.strip()}")
    script, file, lines = tmp_path / "elsewhere.py", tmp_path / "calls.jsonl", []
    script.write_text(ELSEWHERE)
    done = {"content": [{"type": "text", "text": "done"}]}
    for n, (method, params, result) in enumerate([
            ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
             {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}),
            ("tools/call", {"name": "look"}, done), ("tools/call", {"name": "delete"}, done), ("tools/call", {"name": "unknown"}, done)]):
        lines += [("c2s", {"id": n, "method": method, "params": params}), ("s2c", {"id": n, "result": result})]
    head = {"type": "header", "version": "1.0", "recorded_at": "2026-01-01T00:00:00.000Z", "upstream": "u", "thoughtjack_version": "0.3.0"}
    file.write_text("".join(json.dumps(line) + "\n" for line in [head, *(
        {"type": "message", "seq": n, "ts": "2026-01-01T00:00:00.000Z", "dir": side, "msg": {"jsonrpc": "2.0", **message}}
        for n, (side, message) in enumerate(lines, 1))]))

    def verify(*options, address="192.0.2.1"):
        return run(["unshare", "-rn", sys.executable, script, address, mcpreel, *options])
    return file, verify


def test_only_read_only_tools_of_another_machine_are_called(verify_remote):
    file, verify = verify_remote
    ran = verify("verify", "--url", "URL", file)
    lines = ran.out.decode().splitlines()
    assert ran.code == 0 and lines[-1] == "called look", str(ran)
    summary = lines[lines.index("", 3) + 1]
    assert summary.startswith("2 passed · 2 skipped (2 of tools that the server does not mark as read-only: --include-destructive calls them)"), str(ran)
    assert lines[1].startswith("the server is not on this machine")


@pytest.mark.parametrize("options, address, called", [
    (["verify", "--include-destructive", "--url", "URL"], "192.0.2.1", "look delete unknown"),
    (["verify", "--url", "URL"], "127.0.0.1", "look delete unknown"),
    (["verify", "--url", "URL"], "127.9.8.7", "look delete unknown"),
    (["verify", "--target", "URL", "--cassette"], "192.0.2.1", "look delete unknown"),
], ids=["asked for", "loopback", "another loopback address", "as mcp-recorder"])
def test_every_tool_is_called(verify_remote, options, address, called):
    file, verify = verify_remote
    ran = verify(*options, file, address=address)
    assert ran.code == 0 and ran.out.decode().splitlines()[-1] == f"called {called}", str(ran)


def test_the_count_of_tools_that_are_not_read_only_is_in_json(verify_remote):
    file, verify = verify_remote
    ran = verify("--json", "verify", "--url", "URL", file)
    assert json.loads(ran.out.splitlines()[0])["summary"]["skipped_not_read_only"] == 2, str(ran)


def test_get_and_delete_have_lines_as_in_mcp_recorder(mcpreel, run, session, demo, tmp_path):
    cassette = tmp_path / "golden.json"
    assert run([mcpreel, "convert", session, "-o", cassette]).code == 0
    document = json.loads(cassette.read_text())
    plain = [{"type": "lifecycle", "http_method": method, "http_path": "/mcp", "request": None, "response": None, "response_status": 200,
              "response_is_sse": False, "latency_ms": 1} for method in ("GET", "DELETE")]
    document["interactions"][2:2] = plain[:1]
    document["interactions"].append(plain[1])
    cassette.write_text(json.dumps(document))
    ran = run([mcpreel, "verify", "--cassette", cassette, "--target-stdio", " ".join(f"'{word}'" for word in demo), "--skip", "tool:haiku"])
    lines = ran.err.decode().splitlines()
    assert lines[1] == "Interactions: 12" and "  3. GET /mcp [PASS]" in lines and lines[-3] == "  12. DELETE /mcp [PASS]", str(ran)
    assert lines[-1] == "Result: 11/12 passed, 1 failed"
    native = run([mcpreel, "--json", "verify", "--skip", "tool:haiku", cassette, "--", *demo])
    assert not [call for call in json.loads(native.out)["calls"] if call["method"].startswith(("GET", "DELETE"))]


# A server whose faults cannot be accepted: it sends a sampling request, omits progress, violates a schema, or rejects the handshake.
FAULTY = '''
import json, os, sys
FAULTY = os.environ.get("FAULTY")
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message: continue
    id, params, result = message["id"], message.get("params", {}), {"content": [{"type": "text", "text": "fine"}]}
    if message["method"] == "initialize":
        if FAULTY == "init":
            send(id=id, error={"code": -32000, "message": "not today"})
            continue
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]}
    else:
        if FAULTY == "sample":
            send(id="q", method="sampling/createMessage", params={})
            result["content"][0]["text"] = str(json.loads(sys.stdin.readline())["error"])
        if FAULTY == "schema": result["structuredContent"] = {"n": "x"}
        if FAULTY == "text": result["content"][0]["text"] = "better"
        if FAULTY != "progress": send(method="notifications/progress", params={"progressToken": params["_meta"]["progressToken"], "progress": 1})
    send(id=id, result=result)
'''


@pytest.fixture
def faulty(mcpreel, tmp_path):
    """A recording of the server without faults, and its command."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    command, file = [sys.executable, tmp_path / "faulty.py"], tmp_path / "faulty.jsonl"
    with subprocess.Popen([mcpreel, "record", "-o", file, "--", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for n, (method, params) in enumerate([
                ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
                ("tools/list", {}), ("tools/call", {"name": "t", "arguments": {}, "_meta": {"progressToken": "p"}})]):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            while "id" not in json.loads(process.stdout.readline()):
                pass
        process.stdin.close()
    return file, command


@pytest.mark.parametrize("fault, expected_text", [
    ("sample", "mcpreel rejected a server request during the call"),
    ("progress", "a notification is missing"),
    ("schema", "it violates the outputSchema of the tool"),
    ("init", "initialize failed"),
])
def test_a_response_that_cannot_be_accepted_is_not_accepted(mcpreel, run, faulty, fault, expected_text):
    file, command = faulty
    before = file.read_bytes()
    plain = run([mcpreel, "verify", file, "--", *command], env={"FAULTY": fault})
    assert plain.code == 1 and b"--update" not in plain.out, str(plain)
    ran = run([mcpreel, "verify", "--update", file, "--", *command], env={"FAULTY": fault})
    assert ran.code == 1 and b"updated)" not in ran.out, str(ran)
    assert f"--update did not accept the live response: {expected_text}".encode() in ran.out, str(ran)
    assert file.read_bytes() == before


def test_the_proposed_option_accepts_the_response(mcpreel, run, faulty):
    file, command = faulty
    plain = run([mcpreel, "verify", file, "--", *command], env={"FAULTY": "text"})
    assert plain.out.endswith(b"\naccept: add --update=3 to the command\n"), str(plain)
    assert run([mcpreel, "verify", "--update=3", file, "--", *command], env={"FAULTY": "text"}).code == 0
    assert run([mcpreel, "verify", file, "--", *command], env={"FAULTY": "text"}).code == 0


# A server whose tool has an outputSchema, with or without structured content in its results.
STRUCTURED = '''
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}]}
    else:
        result = {"content": [{"type": "text", "text": "{}"}], **({"structuredContent": {}} if "structured" in sys.argv else {})}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


@pytest.mark.parametrize("recorded, live, code, findings", [
    (["structured"], ["structured"], 0, []),
    (["structured"], [], 1, ["error"]),
    ([], [], 0, ["warning"]),
], ids=["both have it", "only the recorded one", "none"])
def test_a_tool_with_an_output_schema_returns_structured_content(mcpreel, run, tmp_path, recorded, live, code, findings):
    (tmp_path / "structured.py").write_text(STRUCTURED)
    command, file = [sys.executable, tmp_path / "structured.py"], tmp_path / "structured.jsonl"
    with subprocess.Popen([mcpreel, "record", "-o", file, "--", *command, *recorded], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for n, (method, params) in enumerate([
                ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
                ("tools/list", {}), ("tools/call", {"name": "t", "arguments": {}})]):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            process.stdout.readline()
        process.stdin.close()
    before = file.read_bytes()
    ran = run([mcpreel, "--json", "verify", "--update", file, "--", *command, *live])
    call = json.loads(ran.out)["calls"][2]
    assert (ran.code, call["failure"]) == (code, "protocol" if code else None), call
    assert [one["severity"] for one in call["findings"] if one["rule"] == "structured-content-missing"] == findings, call
    assert file.read_bytes() == before


@pytest.mark.parametrize("number", ["1", "99"], ids=["passed", "not there"])
def test_an_update_of_a_call_that_did_not_fail_is_an_error(mcpreel, run, session, demo, tmp_path, number):
    file = tmp_path / "copy.jsonl"
    file.write_bytes(session.read_bytes())
    ran = run([mcpreel, "verify", f"--update={number}", file, "--", *demo])
    assert ran.code == 1 and f"--update={number}: there is no failed call with this number".encode() in ran.out, str(ran)
    assert file.read_bytes() == session.read_bytes()


def test_a_handshake_alone_verifies_nothing(mcpreel, run, session, demo):
    ran = run([mcpreel, "verify", "--only", "no-such-tool", session, "--", *demo])
    assert ran.code == 1 and b"no request was verified" in ran.out and b"--dry-run" in ran.out, str(ran)

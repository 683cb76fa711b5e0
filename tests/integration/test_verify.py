"""verify with the demo server: exit codes, updates of every format, reports that real parsers read, bad servers."""
import json
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest


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


def test_reports_are_what_their_readers_expect(mcpreel, run, session, demo, tmp_path):
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
    assert ran.code in (2, 5), str(ran)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("command, says", [
    (["./no-such-program"], "no-such-program"),
    (["sh", "-c", "echo broken >&2; exit 3"], "ended with exit code 3 before it responded: broken"),
    (["cat"], ""),
], ids=["not there", "exits", "echoes"])
def test_a_server_that_cannot_be_spoken_to_ends_with_one_error(mcpreel, run, session, command, says):
    ran = run([mcpreel, "verify", "--timeout", "500ms", session, "--", *command])
    assert ran.code in (1, 4), str(ran)
    assert says.encode() in ran.err
    if says:
        assert ran.code == 4 and ran.out == b""


def test_an_unreachable_server_is_waited_for_and_then_an_error(mcpreel, run, session):
    ran = run([mcpreel, "verify", "--wait-ready", "300ms", "--url", "http://127.0.0.1:9", session])
    assert ran.code == 4 and b"could not be reached in time" in ran.err and ran.out == b""


def test_a_login_is_named_as_the_cause(mcpreel, run, session, tmp_path):
    server = tmp_path / "server.py"
    server.write_text("import http.server, sys\n"
                      "class H(http.server.BaseHTTPRequestHandler):\n"
                      "    def do_POST(self):\n"
                      "        self.send_response(401); self.send_header('Content-Length', '0'); self.end_headers()\n"
                      "    do_GET = do_DELETE = do_POST\n"
                      "    def log_message(self, *_): pass\n"
                      "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)\n"
                      "print(s.server_port, flush=True)\n"
                      "s.serve_forever()\n")
    with subprocess.Popen([sys.executable, server], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip()
            ran = run([mcpreel, "verify", "--url", f"http://127.0.0.1:{port}", session])
        finally:
            process.kill()
    assert ran.code == 4 and b"--header-env" in ran.err, str(ran)


MINTING = '''
import json, random, sys
handles = {}
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    name = message.get("params", {}).get("name"); args = message.get("params", {}).get("arguments", {})
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "minting", "version": "1"}}
    elif name == "open":
        handle = f"doc-{random.randrange(10**9):09}"; handles[handle] = random.randrange(10**4)
        result = {"content": [{"type": "text", "text": f"opened {handle} for you"}], "structuredContent": {"n": handles[handle]}}
    elif args.get("handle") in handles:
        result = {"content": [{"type": "text", "text": f"read {args['handle']}: {'right' if args.get('n') == handles[args['handle']] else 'wrong'} n"}]}
    else:
        send({"id": message["id"], "error": {"code": -32602, "message": "no such handle"}}); continue
    send({"id": message["id"], "result": result})
'''


def test_values_that_the_server_makes_up_are_carried_forward(mcpreel, run, tmp_path):
    """A handle in the text of a result, and a number that needs --rebind."""
    server = tmp_path / "minting.py"
    server.write_text(MINTING)
    command, file = [sys.executable, server], tmp_path / "m.jsonl"
    with subprocess.Popen([mcpreel, "record", "-o", file, "--", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        def ask(n, method, params):
            p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n")
            p.stdin.flush()
            return json.loads(p.stdout.readline())["result"]
        ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
        opened = ask(1, "tools/call", {"name": "open", "arguments": {}})
        handle = opened["content"][0]["text"].split()[1]
        ask(2, "tools/call", {"name": "read", "arguments": {"handle": handle, "n": opened["structuredContent"]["n"]}})
        p.stdin.close()
    ran = run([mcpreel, "verify", "--rebind", "$.result.structuredContent.n", file, "--", *command])
    assert ran.code == 0, str(ran)
    without = run([mcpreel, "verify", file, "--", *command])
    assert without.code == 1 and b"wrong n" in without.out, str(without)


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

"""The diff command on real files: formats, git, the pager on a terminal, large input. Live servers and secrets, of lock, too; the
reports of diff, lock and check."""
import html
import json
import os
import pathlib
import pty
import shlex
import subprocess
import sys

import pytest
from http_peers import Upstream, result

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel")).resolve()
SECONDS = 60


def call(number, name, arguments, result):
    yield {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    yield {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": result}]}}


def write(path, calls):
    path.write_text("".join(json.dumps(message) + "\n" for n, c in enumerate(calls) for message in call(n, *c)))
    return path


def mcpreel(*arguments, cwd, code=0, **more):
    done = subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=SECONDS, **more)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "a.jsonl", [("x", {}, "one"), ("y", {"n": 1}, "two"), ("z", {}, "three")])
    write(tmp_path / "b.jsonl", [("x", {}, "one"), ("z", {}, "four"), ("y", {"n": 1}, "two")])
    return tmp_path


def test_a_recording_does_not_differ_from_its_conversion(files):
    subprocess.run([PROGRAM, "record", "-o", "r.jsonl", "--", PROGRAM, "demo", "server"], cwd=files, check=True, text=True,
                   input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + "\n", stdout=subprocess.DEVNULL)
    mcpreel("convert", "r.jsonl", "-o", "r.json", cwd=files)
    assert mcpreel("diff", "--exit-code", "r.jsonl", "r.json", cwd=files).endswith("\n1 same\n")


def test_the_committed_version_is_compared(files):
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@localhost"]
    for command in ("init -q", "add a.jsonl", "commit -qm one"):
        subprocess.run([*git, *command.split()], cwd=files, check=True)
    (files / "a.jsonl").write_bytes((files / "b.jsonl").read_bytes())
    text = mcpreel("diff", "--exit-code", "--git", "HEAD", "a.jsonl", cwd=files, code=1)
    assert text.startswith("HEAD:a.jsonl → a.jsonl\n") and "three" in text
    (files / "folder").mkdir()
    assert mcpreel("diff", "--git", "HEAD", "../a.jsonl", cwd=files / "folder").startswith("HEAD:../a.jsonl → ../a.jsonl\n")
    mcpreel("diff", "--git", "HEAD~1", "a.jsonl", cwd=files, code=2)
    mcpreel("diff", "--git", "HEAD", "b.jsonl", cwd=files, code=3)
    mcpreel("diff", "--git", "HEAD", "a.jsonl", cwd=files, code=5, env={"PATH": os.fspath(files)})


def on_terminal(folder, *arguments, **env):
    """All that is written to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=theirs, env={"PATH": os.environ["PATH"], "TERM": "dumb", **env}):
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # the terminal is closed
            pass
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def test_a_pager_shows_the_text_on_a_terminal_only(files):
    pager = "sed s/^/:/"
    assert on_terminal(files, "diff", "a.jsonl", "b.jsonl", MCPREEL_PAGER=pager).startswith(":a.jsonl → b.jsonl\n:\n")
    assert on_terminal(files, "diff", "a.jsonl", "b.jsonl", PAGER=pager).startswith(":a.jsonl")
    assert on_terminal(files, "diff", "--no-pager", "a.jsonl", "b.jsonl", PAGER=pager).startswith("a.jsonl → b.jsonl\n")
    assert on_terminal(files, "diff", "a.jsonl", "b.jsonl", PAGER="head -n 1") == "a.jsonl → b.jsonl\n"
    assert mcpreel("diff", "a.jsonl", "b.jsonl", cwd=files, env={"PAGER": pager}).startswith("a.jsonl → b.jsonl\n")


def test_reports_are_written(files):
    mcpreel("diff", "--report", "r.json", "--report", "markdown=r.md", "--report", "github=r.txt", "a.jsonl", "b.jsonl", cwd=files)
    report = json.loads((files / "r.json").read_text())
    assert report["command"] == "diff"
    assert report["totals"] == {"same": 2, "changed": 1, "added": 0, "removed": 0, "breaking": 0, "moved": 1, "slower": 0, "faster": 0, "exact": True}
    assert json.loads(mcpreel("--json", "diff", "a.jsonl", "b.jsonl", cwd=files)) == report
    assert "`tools/call x #1`" in (files / "r.md").read_text()  # a call that is the same
    assert "three" in (files / "r.md").read_text() and "::error" in (files / "r.txt").read_text()


def test_sarif_has_the_paths_from_the_root_of_the_repository(files):
    folder = files / "servers" / "x"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=files, check=True)
    (files / "b.jsonl").rename(folder / "b.jsonl")
    mcpreel("diff", "--report", "sarif=r.sarif", "../../a.jsonl", "b.jsonl", cwd=folder)
    mcpreel("diff", "--report", "sarif=mirror.sarif", "b.jsonl", "../../a.jsonl", cwd=folder)
    for report, path in (("r.sarif", "a.jsonl"), ("mirror.sarif", "servers/x/b.jsonl")):
        results = json.loads((folder / report).read_text())["runs"][0]["results"]
        places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
        assert places and all(place == {"uri": path, "uriBaseId": "%SRCROOT%"} for place in places), places


def test_the_mirror_exchanges_added_and_removed(tmp_path):
    """Sessions in which the same calls repeat, so that there are many ways to align them."""
    for seed in range(20):
        names = [[(f"t{(i * i * (seed + 3) + side * i) % 4}", {"n": (i + side) % 3}, str(i % 2)) for i in range(30 + 5 * side)]
                 for side in range(2)]
        write(tmp_path / "a", names[0])
        write(tmp_path / "b", names[1])
        there, back = (json.loads(mcpreel("--json", "diff", *pair, cwd=tmp_path)) for pair in (("a", "b"), ("b", "a")))
        assert there["totals"]["added"] == back["totals"]["removed"] and there["totals"]["removed"] == back["totals"]["added"]
        pairs = {(c["before"]["seq"], c["after"]["seq"]) for c in there["calls"] if c["before"] and c["after"]}
        assert pairs == {(c["after"]["seq"], c["before"]["seq"]) for c in back["calls"] if c["before"] and c["after"]}


def test_a_long_stretch_without_unique_calls_is_reported(tmp_path):
    write(tmp_path / "a", [("t", {"n": i % 7}, "") for i in range(6000)])
    write(tmp_path / "b", [("t", {"n": i % 5}, "") for i in range(6000)])
    totals = json.loads(mcpreel("--json", "diff", "a", "b", cwd=tmp_path))["totals"]
    assert totals["exact"] is False and totals["same"] > 1000
    assert "aligned approximately" in mcpreel("diff", "a", "b", cwd=tmp_path)


def session(*tools):
    """The messages of a session that lists tools and calls the first."""
    yield {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}
    yield {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                                 "serverInfo": {"name": "s", "version": "1"}}}
    yield {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    yield {"jsonrpc": "2.0", "id": 2, "result": {"tools": list(tools)}}
    yield from call(3, tools[0]["name"], {}, "done")


def tool(name, *required):
    return {"name": name, "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": list(required)}}


def write_messages(path, messages):
    path.write_text("".join(json.dumps(message) + "\n" for message in messages))
    return path


def test_a_breaking_change_names_the_recorded_calls(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", session(tool("find", "q")))
    text = mcpreel("diff", "a", "b", cwd=tmp_path)
    assert "contract: 1 breaking\n" in text and "1 of 1 recorded calls" in text and text.endswith("\n2 same\n")
    mcpreel("diff", "--exit-code", "a", "b", cwd=tmp_path, code=1)
    mcpreel("diff", "--fail-on", "breaking-used", "a", "b", cwd=tmp_path, code=1)
    mcpreel("diff", "--fail-on", "breaking", "b", "a", cwd=tmp_path)
    report = json.loads(mcpreel("--json", "diff", "a", "b", cwd=tmp_path))
    assert [f["severity"] for f in report["contract"]["findings"]] == ["breaking"] and report["calls"] == []


def test_a_call_that_fails_now_is_breaking(tmp_path):
    """Reports have it as a finding with a rule of its own; the other direction breaks nothing."""
    for name, failed in (("a", False), ("b", True)):
        write_messages(tmp_path / name, [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}},
                                         {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": failed}}])
    assert "\n1 changed, 1 of them breaking\n" in mcpreel("diff", "a", "b", cwd=tmp_path)
    mcpreel("diff", "--fail-on", "breaking-used", "--report", "sarif=r.sarif", "a", "b", cwd=tmp_path, code=1)
    assert ("call-failed", "a", 1) in sarif(tmp_path / "r.sarif")
    report = json.loads(mcpreel("--json", "diff", "--fail-on", "security", "a", "b", cwd=tmp_path, code=1))
    assert report["totals"]["breaking"] == 1 and [c["breaking"] for c in report["calls"]] == [True]
    mcpreel("diff", "--fail-on", "breaking", "--ignore-paths", "$.result.isError", "a", "b", cwd=tmp_path)
    mcpreel("diff", "--fail-on", "cosmetic", "b", "a", cwd=tmp_path)


def test_calls_are_compared_without_a_contract(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write(tmp_path / "b", [("find", {}, "other")])
    text = mcpreel("diff", "a", "b", cwd=tmp_path)
    assert "no contract on side B: b has no lists\n" in text and "~ tools/call find" in text
    write_messages(tmp_path / "c", [*session(tool("find")), *session(tool("drop"))])
    text = mcpreel("diff", "c", "a", cwd=tmp_path)
    assert "no contract on side A: " in text and "- tools/call drop" in text


LISTS_NOTHING = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}, "tools": []}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
"""

REJECTS_THE_LIST = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        answer = {"result": result} if m["method"] == "initialize" else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
"""


def test_the_command_that_accepts_changes_can_be_copied(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    (tmp_path / "my server.py").write_text(LISTS_NOTHING)
    mcpreel("lock", "my lock.json", "a", cwd=tmp_path)
    check = ["lock", "--check", "--protocol-version", "2025-06-18", "--report", "markdown=m", "my lock.json", "--", sys.executable, "my server.py"]
    mcpreel(*check, cwd=tmp_path, code=1)
    accept = html.unescape((tmp_path / "m").read_text().split("accept: ")[1]).strip("`\n").replace("<code>", "").replace("</code>", "")
    assert accept.startswith("mcpreel lock --protocol-version 2025-06-18 'my lock.json' -- ")
    mcpreel(*shlex.split(accept)[1:], cwd=tmp_path)
    mcpreel("lock", "--check", "my lock.json", "--", sys.executable, "my server.py", cwd=tmp_path)


def test_a_report_of_diff_has_the_command_that_accepts_changes_of_a_lock_file(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", session(tool("look")))
    (tmp_path / "my server.py").write_text(LISTS_NOTHING)
    mcpreel("lock", "my lock.json", "a", cwd=tmp_path)
    mcpreel("lock", "other.json", "b", cwd=tmp_path)
    for side, command in ((["b"], "mcpreel lock 'my lock.json' b"), (["other.json"], "cp other.json 'my lock.json'"),
                          (["--", sys.executable, "my server.py"], f"mcpreel lock 'my lock.json' -- {sys.executable} 'my server.py'")):
        mcpreel("diff", "--force", "--report", "markdown=m", "my lock.json", *side, cwd=tmp_path)
        assert f"accept: `{command}`\n" in (tmp_path / "m").read_text()
    # A recording is not accepted by a command; nothing is to be accepted where nothing changed.
    for sides in (["a", "b"], ["a", "--", sys.executable, "my server.py"], ["my lock.json", "a"]):
        mcpreel("diff", "--force", "--report", "markdown=m", *sides, cwd=tmp_path)
        assert "accept" not in (tmp_path / "m").read_text()


def test_a_list_that_fails_now_passes_no_gate(tmp_path):
    """Neither of a live server, nor in a recording; without a gate it is a call that fails."""
    write_messages(tmp_path / "a", session(tool("find")))
    failed = list(session(tool("find")))
    failed[3] = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no"}}
    write_messages(tmp_path / "b", failed)
    (tmp_path / "server.py").write_text(REJECTS_THE_LIST)
    mcpreel("lock", "lock.json", "a", cwd=tmp_path)
    for command in (["lock", "--check", "lock.json"], ["diff", "--fail-on", "breaking", "a"]):
        mcpreel(*command, "--", sys.executable, "server.py", cwd=tmp_path, code=4)
        mcpreel(*command, "b", cwd=tmp_path, code=3)
    text = mcpreel("diff", "--exit-code", "a", "b", cwd=tmp_path, code=1)
    assert "tools: not compared" in text and "~ tools/list" in text and text.endswith("1 changed, 1 of them breaking · 1 same\n")
    assert "not compared" in mcpreel("lock", "--check", "--fail-on", "never", "lock.json", "b", cwd=tmp_path)


def test_a_recording_of_a_client_that_reads_only_tools_can_be_compared(tmp_path):
    mcpreel("lock", "lock.json", "--", PROGRAM, "demo", "server", cwd=tmp_path)
    lock = json.loads((tmp_path / "lock.json").read_text())
    assert lock["resources"] and lock["tools"]
    messages = list(session(*lock["tools"]))
    messages[1]["result"].update(capabilities=lock["capabilities"], serverInfo=lock["serverInfo"])
    write_messages(tmp_path / "a", messages)
    assert "resources: not compared" in mcpreel("lock", "--check", "lock.json", "a", cwd=tmp_path)


def test_two_surfaces_in_a_file_pass_no_gate(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "c", [*session(tool("find")), *session(tool("drop"))])
    for pair in (("a", "c"), ("c", "a")):
        mcpreel("diff", "--fail-on", "cosmetic", *pair, cwd=tmp_path, code=3)
        mcpreel("diff", *pair, cwd=tmp_path)


def test_a_live_server_is_compared_and_no_tool_is_called(tmp_path):
    mcpreel("demo", "-o", "demo.jsonl", cwd=tmp_path)
    assert "contract: no changes\n" in mcpreel("diff", "--exit-code", "demo.jsonl", "--", PROGRAM, "demo", "server", cwd=tmp_path)
    write_messages(tmp_path / "a", session(tool("find")))
    text = mcpreel("diff", "--fail-on", "breaking", "a", "--", PROGRAM, "demo", "server", cwd=tmp_path, code=1)
    assert "tool.removed" in text and "tools/call" not in text
    mcpreel("diff", "a", "--", "no-such-server-here", cwd=tmp_path, code=4)
    mcpreel("diff", "--only", "tool:x", "a", "--", PROGRAM, "demo", "server", cwd=tmp_path, code=2)


def test_a_lock_file_is_one_of_the_sides(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    mcpreel("lock", "lock.json", "a", cwd=tmp_path)
    assert "contract: no changes\n" in mcpreel("diff", "--exit-code", "lock.json", "a", cwd=tmp_path)
    mcpreel("diff", "--fail-on", "breaking-used", "lock.json", "a", cwd=tmp_path, code=2)


def sarif(path):
    """Rule, file and line of each result."""
    (run,) = json.loads(path.read_text())["runs"]
    places = [(r["ruleId"], r["locations"][0]["physicalLocation"]) for r in run["results"]]
    return [(rule, place["artifactLocation"]["uri"], place["region"]["startLine"]) for rule, place in places]


def test_many_changed_calls_do_not_hide_the_contract(tmp_path):
    """Reports have room for a part of them only: Markdown 60,000 bytes, GitHub ten."""
    for name, required in (("a", ()), ("b", ("q",))):
        calls = [message for n in range(1000) for message in call(n + 9, "find", {"q": str(n)}, name)]
        write_messages(tmp_path / name, [*session(tool("find", *required)), *calls])
    mcpreel("diff", "--report", "markdown=m", "--report", "github=g", "--report", "sarif=s", "a", "b", cwd=tmp_path)
    text = (tmp_path / "m").read_text()
    assert text.startswith("### MCP diff: 1 breaking; calls: 1000 failed, 2 passed\n")
    assert text.split("|---|---|---|---|\n")[1].startswith("| ✗ | `tool.input.required.added` ")
    assert (tmp_path / "g").read_text().startswith("::error file=a,line=4,title=tool.input.required.added::")
    assert sarif(tmp_path / "s")[0] == ("tool.input.required.added", "a", 4)


def test_sarif_has_the_lines_of_the_file(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", [*session(tool("find", "q"), tool("more")), *call(4, "more", {}, "x")])
    mcpreel("diff", "--report", "sarif=r", "--report", "github=g", "a", "b", cwd=tmp_path)
    assert sarif(tmp_path / "r") == [("tool.input.required.added", "a", 4), ("call-added", "a", 1)]
    assert "::error file=a,line=4," in (tmp_path / "g").read_text()
    mcpreel("diff", "--report", "sarif=r", "--force", "b", "a", cwd=tmp_path)
    assert sarif(tmp_path / "r") == [("tool.removed", "b", 4), ("call-removed", "b", 7)]


def test_sarif_of_a_committed_file_has_its_present_lines(tmp_path):
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@localhost"]
    write_messages(tmp_path / "a", session(tool("find"), tool("gone")))
    for command in ("init -q", "add a", "commit -qm one"):
        subprocess.run([*git, *command.split()], cwd=tmp_path, check=True)
    messages = list(session(tool("find", "q")))
    messages[-1]["result"]["content"][0]["text"] = "other"
    write_messages(tmp_path / "a", [{"jsonrpc": "2.0", "method": "notifications/x"}, *messages])
    mcpreel("diff", "--git", "HEAD", "--report", "sarif=r", "a", cwd=tmp_path)
    assert sorted(sarif(tmp_path / "r")) == [("content-changed", "a", 6), ("tool.input.required.added", "a", 5),
                                             ("tool.removed", "a", 1)]


SECRET = "s3cr3t-value-of-the-test-0123456789"


def serve_session(tools, requests):
    """A server on HTTP that lists these tools; the description of the first repeats the credentials of the client."""
    def serve(conn):
        while request := conn.request():
            message = request.json if request.body else {}
            requests.append(message.get("method"))
            credentials = request.get("Authorization") or "none"
            results = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                      "serverInfo": {"name": "s", "version": "1"}, "instructions": f"send {credentials}"},
                       "tools/list": {"tools": [{**tools[0], "description": f"you are {credentials}"}, *tools[1:]]}}
            if message.get("method") in results:
                conn.respond(json_=result(message["id"], results[message["method"]]))
            else:
                conn.respond(status=202 if message else 405)
    return serve


@pytest.fixture
def http_server():
    servers, requests = [], []

    def start(*tools):
        servers.append(Upstream(serve_session(tools, requests)))
        return servers[0].url, requests

    yield start
    for server in servers:
        server.close()


def test_a_server_at_a_url_is_compared_and_no_tool_is_called(tmp_path, http_server):
    url, requests = http_server(tool("find", "q"), tool("more", "q"))
    write_messages(tmp_path / "a", session(tool("find"), tool("gone")))
    text = mcpreel("diff", "--fail-on", "breaking-used", "--url", url, "a", cwd=tmp_path, code=1)
    assert "rejects 1 of 1 recorded calls (#5)" in text and "tool 'gone' was removed" in text and "tool 'more' was added" in text
    assert "tools/list" in requests and "tools/call" not in requests
    report = json.loads(mcpreel("--json", "diff", "--url", url, "a", cwd=tmp_path))
    assert report["after"] == url and report["calls"] == [] and report["totals"] is None


def test_a_server_at_a_url_that_cannot_be_reached(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    closed = Upstream()
    closed.close()
    done = subprocess.run([PROGRAM, "diff", "--url", closed.url, "a"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 4 and "cannot connect" in done.stderr and not done.stdout


REPORTS = ["--report", "json=r.json", "--report", "junit=r.xml", "--report", "markdown=r.md", "--report", "sarif=r.sarif",
           "--report", "github=r.txt"]


@pytest.mark.parametrize("command", ["diff", "diff --json", "lock --check", "lock --check --json"])
def test_credentials_that_a_server_repeats_are_not_shown(tmp_path, http_server, command):
    url, _ = http_server(tool("find", "q"))
    write_messages(tmp_path / "a", session(tool("find")))
    mcpreel("lock", "a.lock", "a", cwd=tmp_path)
    side = "a" if "diff" in command else "a.lock"
    done = subprocess.run([PROGRAM, *command.split(), "--url", url, "--header", f"Authorization: Bearer {SECRET}", *REPORTS, side],
                          cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == ("lock" in command), done.stderr
    texts = {"stdout": done.stdout, "stderr": done.stderr, **{f.name: f.read_text() for f in tmp_path.glob("r.*")}}
    assert len(texts) == 7 and "you are" in done.stdout and "[REDACTED" in done.stdout
    assert [name for name, text in texts.items() if SECRET in text] == []


def test_a_lock_file_has_no_credentials(tmp_path, http_server):
    url, _ = http_server(tool("find", "q"))
    words = ["--url", url, "--header", f"Authorization: Bearer {SECRET}"]
    mcpreel("lock", *words, "lock.json", cwd=tmp_path)
    text = (tmp_path / "lock.json").read_text()
    assert SECRET not in text and "you are" in text and "[REDACTED" in text
    assert "no changes" in mcpreel("lock", "--check", "--fail-on", "cosmetic", *words, "lock.json", cwd=tmp_path)


def test_secrets_in_the_command_of_a_server_are_not_shown(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    mcpreel("lock", "a.lock", "a", cwd=tmp_path)
    server = ["--", "sh", "-c", 'exec "$0" demo server', PROGRAM, f"--token={SECRET}"]
    for command in (["diff", "a"], ["--json", "diff", "a"], ["lock", "--check", "--fail-on", "never", "a.lock"],
                    ["lock", "--check", "--fail-on", "never", "--report", "markdown=-", "a.lock"]):
        text = mcpreel(*command, *server, cwd=tmp_path)
        assert SECRET not in text and "demo server" in text
    done = subprocess.run([PROGRAM, "diff", "a", "--", "sh", "-c", f"echo {SECRET} >&2; exit 3", f"--token={SECRET}"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 4 and SECRET not in done.stderr + done.stdout


@pytest.mark.parametrize("command", ["diff a b", "diff b a", "diff --git HEAD a", "lock --check b.lock a", "lock --check --calls a b.lock b"])
def test_a_report_never_replaces_an_input(tmp_path, command):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", session(tool("find", "q")))
    mcpreel("lock", "b.lock", "b", cwd=tmp_path)
    for words in ("init -q", "add .", "-c user.name=me -c user.email=me@localhost commit -qm one"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    before = (tmp_path / "a").read_bytes()
    done = subprocess.run([PROGRAM, *command.split(), "--force", "--report", "junit=a"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=SECONDS)
    assert (tmp_path / "a").read_bytes() == before
    assert done.returncode == 2 and done.stderr == "mcpreel: the report cannot be written to 'a': the command reads or writes that file\n"


def test_the_contract_of_the_mirror_has_the_same_places(tmp_path):
    """Exchanged sides give the same places with exchanged values; a change that breaks in one direction is safe in the other."""
    write_messages(tmp_path / "a", session(tool("find"), {**tool("gone", "q"), "title": "T"}))
    write_messages(tmp_path / "b", session({**tool("find", "q"), "description": "New."}, tool("more")))
    there, back = (json.loads(mcpreel("--json", "diff", *pair, cwd=tmp_path))["contract"]["findings"] for pair in ("ab", "ba"))

    def places(findings, before, after):
        return sorted((f["kind"], f["name"], f["path"], json.dumps(f.get(before)), json.dumps(f.get(after))) for f in findings)

    assert places(there, "before", "after") == places(back, "after", "before") and len(there) == 4
    severities = {(f["name"], f["path"]): f["severity"] for f in back}
    assert [(f["rule"], f["severity"], severities[f["name"], f["path"]]) for f in there] == [
        ("tool.input.required.added", "breaking", "safe"), ("tool.removed", "breaking", "safe"),
        ("tool.description.changed", "routing", "routing"), ("tool.added", "safe", "breaking")]


def test_check_writes_reports(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", [*session(tool("find")), {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}])
    (tmp_path / "c").write_text("no recording\n")
    done = subprocess.run([PROGRAM, "check", *REPORTS, "a", "b", "c"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 3, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    again = subprocess.run([PROGRAM, "--json", "check", "a", "b", "c"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert json.loads(again.stdout) == report and [f["verdict"] for f in report["files"]] == ["ok", "findings", "unreadable"]
    rules = [("unanswered", "b"), ("unreadable", "c")]
    assert [(rule, file) for rule, file, _ in sarif(tmp_path / "r.sarif")] == rules
    assert [line.split("title=")[1].split("::")[0] for line in (tmp_path / "r.txt").read_text().splitlines()] == [r for r, _ in rules]
    assert (tmp_path / "r.md").read_text().startswith("## MCP: 3 recordings: 2 errors\n")
    assert (tmp_path / "r.xml").read_text().count("<failure") == 2


def test_check_secrets_writes_reports_without_the_secrets(tmp_path):
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cE3gI5"
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "find", "arguments": {"token": secret}}}
    write_messages(tmp_path / "a", session(tool("find")))
    write_messages(tmp_path / "b", [*session(tool("find")), call])
    (tmp_path / "c").write_text("no recording\n")
    done = subprocess.run([PROGRAM, "check", "--secrets", *REPORTS, "a", "b", "c"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 3 and "b: 1 secret\n" in done.stdout, done.stderr
    again = subprocess.run([PROGRAM, "--json", "check", "--secrets", "a", "b", "c"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert json.loads(again.stdout) == json.loads((tmp_path / "r.json").read_text())
    line = len((tmp_path / "b").read_text().splitlines())
    assert sarif(tmp_path / "r.sarif") == [("secret", "b", line), ("unreadable", "c", 1)]
    assert f"file=b,line={line}," in (tmp_path / "r.txt").read_text()
    assert (tmp_path / "r.md").read_text().startswith("## MCP: 3 recordings: 2 errors\n")
    assert (tmp_path / "r.xml").read_text().count("<failure") == 2
    for report in tmp_path.glob("r.*"):
        assert secret not in report.read_text() and ("GITHUB" in report.read_text().upper())


def test_check_rejects_reports_that_it_cannot_write(tmp_path):
    write_messages(tmp_path / "a", session(tool("find")))
    before = (tmp_path / "a").read_bytes()
    for words, code in ((["--report", "junit=a", "--force"], 2), (["--report", "junit=no/a"], 5), (["--secrets", "--report", "junit=a", "--force"], 2)):
        done = subprocess.run([PROGRAM, "check", *words, "a"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == code and done.stderr.startswith("mcpreel: ") and not done.stdout
    assert (tmp_path / "a").read_bytes() == before and len(list(tmp_path.iterdir())) == 1

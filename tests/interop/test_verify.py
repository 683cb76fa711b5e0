"""verify with real servers: a clean recording verifies clean, and a planted change is found, and nothing else.

A change is planted in the recording, not in the server: the recorded message is altered so that the live one differs
from it in one place. Clean recordings of the other peers are verified in test_peer_matrix.py, test_http_peers_through.py and
test_verify_sse.py, those of every pair of peers in tests/endurance.
"""
import json
import os
import shutil

import pytest

from peers import stdio_server_named
from verdicts import assert_clean, unpassed

MAIN = [("ts", "everything"), ("py", "python"), ("ts", "filesystem"), ("ts", "memory")]
OTHERS = [("ts-2", "ts-2"), ("py", "fastmcp"), ("go", "go"), ("rmcp", "rmcp")]
TIMES = 3


@pytest.fixture
def verify(peer_runner, mcpreel, run):
    """Verifies a file against a fresh server on stdio: exit code, verdicts by number, findings."""
    def make(server, file, *options):
        folder = peer_runner.empty_folder(server)
        ran = run([mcpreel, "--json", "verify", *options, file, "--", *peer_runner.server(server)], timeout=120,
                  env=stdio_server_named(server).env(folder))
        return ran, json.loads(ran.out) if ran.out else None

    return make


def lines_of(file):
    return [json.loads(line) for line in file.read_text().split("\n") if line]


@pytest.mark.parametrize("client,server", MAIN)
def test_a_clean_recording_verifies_clean(recorded, verify, client, server):
    for _ in range(TIMES):
        assert_clean(verify(server, recorded(client, server).file)[0])


def responses(lines):
    """(request, response line) of every answered request of the client."""
    asked = {}
    for line in lines:
        message = line.get("msg", {})
        if line.get("dir") == "c2s" and "method" in message and "id" in message:
            asked[json.dumps(message["id"])] = message
        if line.get("dir") == "s2c" and "method" not in message and json.dumps(message.get("id")) in asked:
            yield asked.pop(json.dumps(message["id"])), line


def change_text(lines):
    """The text of a tool's result."""
    for request, line in responses(lines):
        content = line["msg"].get("result", {}).get("content") or [{}]
        if request["method"] == "tools/call" and content[0].get("type") == "text" and content[0]["text"][:1] not in "{[":
            content[0]["text"] = f"planted {content[0]['text']}"
            return request, "content", "$.result.content[0].text"
    return None


def change_structured(lines):
    for request, line in responses(lines):
        found = line["msg"].get("result", {}).get("structuredContent")
        if request["method"] == "tools/call" and found:
            found["planted"] = 1
            return request, "content", "$.result.structuredContent.planted"
    return None


def tools_of(lines):
    for request, line in responses(lines):
        if request["method"] == "tools/list" and line["msg"].get("result", {}).get("tools"):
            return request, line["msg"]["result"]["tools"]
    return None, []


def change_schema(lines):
    request, tools = tools_of(lines)
    tool = tools[0]
    tool["inputSchema"].setdefault("properties", {})["planted"] = {"type": "string"}
    return request, "content", f"$.result.tools.{tool['name']}.inputSchema.properties"


def change_description(lines):
    request, tools = tools_of(lines)
    tools[0]["description"] = "planted"
    return request, "content", f"$.result.tools.{tools[0]['name']}.description"


def change_missing_tool(lines):
    request, tools = tools_of(lines)
    tools.append({"name": "planted", "inputSchema": {"type": "object"}})
    return request, "content", "$.result.tools.planted"


def change_error_code(lines):
    for request, line in responses(lines):
        if "error" in line["msg"]:
            line["msg"]["error"]["code"] = -32099
            return request, "error", "$.error.code"
    return None


def change_to_error(lines):
    for request, line in responses(lines):
        if request["method"] == "tools/call" and "result" in line["msg"]:
            del line["msg"]["result"]
            line["msg"]["error"] = {"code": -32603, "message": "planted"}
            return request, "error", "$.result"
    return None


def change_missing_notification(lines):
    for at, line in enumerate(lines):
        if line.get("dir") == "c2s" and line.get("msg", {}).get("method") == "tools/call":
            planted = {**line, "dir": "s2c", "seq": line["seq"],
                       "msg": {"jsonrpc": "2.0", "method": "notifications/planted", "params": {}}}
            lines.insert(at + 1, planted)
            return line["msg"], "content", None
    return None


# Every change with the main servers; with the others those that each of their sessions has.
CHANGES = [change_text, change_structured, change_schema, change_description, change_missing_tool, change_error_code, change_to_error,
           change_missing_notification]


LACKS = {("filesystem", change_error_code), ("memory", change_error_code)}  # no response of theirs is a JSON-RPC error
PLANTED = [
    *((client, server, change) for client, server in MAIN for change in CHANGES if (server, change) not in LACKS),
    *(pytest.param(client, server, change, marks=pytest.mark.interop) for client, server in OTHERS
      for change in (change_text, change_description, change_missing_notification)),
]


@pytest.mark.parametrize("client,server,change", PLANTED, ids=lambda value: getattr(value, "__name__", value))
def test_a_planted_change_is_found_and_nothing_else(recorded, verify, tmp_path, client, server, change):
    file, planted = plant(change, recorded(client, server).file, tmp_path)
    assert_found(verify(server, file)[0], *planted)


def plant(change, recording, folder):
    """A recording with a change, and what has to be found: the request, the kind of failure, and the path."""
    lines = lines_of(recording)
    planted = change(lines)
    assert planted, "the session of this server has no such message: name it in LACKS"
    for seq, line in enumerate((line for line in lines if line.get("type") == "message"), 1):
        line["seq"] = seq
    file = folder / "planted.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file, planted


def assert_found(ran, request, failure, path):
    """That, and nothing else."""
    assert ran.code == 1, str(ran)
    report = json.loads(ran.out)
    failed = unpassed(report)
    assert [(call["method"], call["failure"]) for call in failed] == [(request["method"], failure)], str(ran)
    paths = [finding["path"] for finding in failed[0]["findings"] if finding["severity"] == "error"]
    assert paths and all(path is None or (found or "").startswith(path) for found in paths), paths


FAULTY = """
import subprocess, sys
how, command = sys.argv[1], sys.argv[2:]
server, requests = subprocess.Popen(command, stdin=subprocess.PIPE), 0
for line in sys.stdin.buffer:
    is_request = b'"id":' in line and b'"method":' in line
    requests += is_request
    if is_request and requests == 3:
        if how == "hangs": continue
        server.kill(); server.wait(); sys.exit(7)
    server.stdin.write(line); server.stdin.flush()
server.stdin.close(); sys.exit(server.wait())
"""


@pytest.fixture
def verify_faulty(peer_runner, mcpreel, run, tmp_path):
    """Verifies against a server that crashes at its third request, or does not answer it."""
    def make(how, server, file, *options):
        (tmp_path / "faulty.py").write_text(FAULTY)
        ran = run([mcpreel, "--json", "verify", *options, file, "--", shutil.which("python3"), tmp_path / "faulty.py", how,
                   *map(os.fspath, peer_runner.server(server))], timeout=120, env=stdio_server_named(server).env(peer_runner.empty_folder(server)))
        assert ran.code == 1, str(ran)
        return json.loads(ran.out)

    return make


@pytest.mark.parametrize("client,server", MAIN)
def test_a_server_that_crashes_fails_the_open_call_and_blocks_the_rest(recorded, verify_faulty, client, server):
    report = verify_faulty("crashes", server, recorded(client, server).file)
    assert [call["verdict"] for call in report["calls"]][:2] == ["passed", "passed"]
    failed = [call for call in report["calls"] if call["verdict"] == "failed"]
    assert failed and all(call["failure"] == "no-response" for call in failed)
    assert {call["verdict"] for call in report["calls"][len(failed) + 2:]} == {"blocked"}
    assert any(finding["rule"] == "server-exited" for finding in report["findings"])


# Those whose third request is not one that others need or wait for.
@pytest.mark.parametrize("client,server", [("ts", "filesystem"), ("ts", "memory")])
def test_a_request_without_response_fails_by_the_time_limit(recorded, verify_faulty, client, server):
    report = verify_faulty("hangs", server, recorded(client, server).file, "--timeout", "4s")
    assert [(call["number"], call["failure"], call["reason"]) for call in unpassed(report)] == [(3, "no-response", "no response within 4.000 s")]


@pytest.mark.parametrize("client,server", [("ts", "ts"), ("py", "python")])
def test_a_recording_over_http_verifies_clean(recorded_http, peer_runner, mcpreel, run, client, server):
    file = recorded_http(client, server).file
    with peer_runner.serve_http(server) as url:
        for _ in range(TIMES):
            assert_clean(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120))


@pytest.mark.parametrize("client,server", [("ts", "ts"), *(pytest.param(*pair, marks=pytest.mark.interop) for pair in (
    ("ts-2", "ts-2"), ("py", "python"), ("rmcp", "rmcp")))])
def test_a_recording_over_stdio_verifies_over_http_and_back(recorded, recorded_http, verify, peer_runner, mcpreel, run, client, server):
    with peer_runner.serve_http(server) as url:
        ran = run([mcpreel, "verify", "--url", url, recorded(client, server).file], timeout=120)
        assert ran.code == 0, str(ran)
    ran, report = verify(server, recorded_http(client, server).file)
    assert ran.code == 0, str(ran)


@pytest.mark.parametrize("change", [change_text, change_schema, change_description, change_missing_tool, change_error_code, change_to_error])
@pytest.mark.parametrize("client,server", [("ts", "ts"), *(pytest.param(*pair, marks=pytest.mark.interop) for pair in (
    ("py", "python"), ("ts-2-auto", "ts-2"), ("py", "fastmcp"), ("rmcp", "rmcp")))])
def test_a_planted_change_is_found_over_http_and_nothing_else(recorded_http, peer_runner, mcpreel, run, tmp_path, client, server, change):
    file, planted = plant(change, recorded_http(client, server).file, tmp_path)
    with peer_runner.serve_http(server) as url:
        assert_found(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120), *planted)

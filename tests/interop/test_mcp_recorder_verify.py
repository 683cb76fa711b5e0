"""mcp-recorder's verify beside ours, on the same servers and cassettes: the same verdict on each interaction wherever it is right.

Where it is wrong, the test names the row of docs/coming-from-mcp-recorder.md that says so.
"""
import json
import os
import pathlib
import re
import shlex
import sys
from dataclasses import dataclass

import pytest

from test_mcp_recorder import SESSION, free_port, http_server, run_client, recorder, running, server  # noqa: F401

pytestmark = pytest.mark.interop

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/coming-from-mcp-recorder.md"
TRANSPORTS = pytest.mark.parametrize("transport", ["http", "stdio"])


@pytest.fixture(scope="session")
def cassettes(recorder, server, run_client, tmp_path_factory):  # noqa: F811
    """The cassettes that mcp-recorder wrote of the same session on both transports, without its GET and DELETE."""
    where = tmp_path_factory.mktemp("verified")
    with http_server(server) as target, running([*recorder, "record", target, where / "http.json"], []) as url:
        run_client("--url", url, SESSION)
    with running([*recorder, "record-stdio", where / "stdio.json", *server], []) as url:
        run_client("--url", url, SESSION)
    found = {}
    for transport in ("http", "stdio"):
        found[transport] = json.loads((where / f"{transport}.json").read_text())
        kept = [one for one in found[transport]["interactions"] if one["type"] != "lifecycle"]
        found[transport]["interactions"] = kept
        assert len(kept) > 15
    return found


@pytest.fixture(scope="session")
def targets(server):  # noqa: F811
    """The options that name the server on either transport; the HTTP server is the same for all tests."""
    with http_server(server) as url:
        yield {"http": ["--target", url], "stdio": ["--target-stdio", shlex.join(map(os.fspath, server))]}


@dataclass(frozen=True)
class Verdicts:
    code: int
    calls: list  # "1. initialize [PASS]"
    text: str

    def failed(self):
        """Places of the interactions that failed, from 0."""
        return [place for place, call in enumerate(self.calls) if call.endswith("[FAIL]")]


def verdicts_of(ran):
    text = ran.err.decode()
    return Verdicts(ran.code, re.findall(r"^  (\d+\. .* \[(?:PASS|FAIL)\])$", text, re.M), text)


@pytest.fixture
def verify_with_both(recorder, mcpreel, run, targets, tmp_path):  # noqa: F811
    """Verifies a cassette with both: its verdicts, and ours."""
    def make(target, cassette, *options):
        file = tmp_path / "cassette.json"
        file.write_text(json.dumps(cassette))
        words = ["verify", "--cassette", file, *(targets[target] if isinstance(target, str) else target), *options]
        its = run([*recorder, "cli", *words], timeout=90, env={"MCP_RECORDER_TIMEOUT": "5"})
        ours = run([mcpreel, *words], timeout=90)
        return verdicts_of(its), verdicts_of(ours)

    return make


def copy_of(cassette):
    return json.loads(json.dumps(cassette))


def interaction_index(cassette, method, name=None):
    for place, one in enumerate(cassette["interactions"]):
        request = one["request"] or {}
        if request.get("method") == method and (name is None or request["params"].get("name") == name):
            return place
    raise LookupError(method)


@TRANSPORTS
def test_a_clean_cassette_passes_with_both(cassettes, verify_with_both, transport):
    its, ours = verify_with_both(transport, cassettes[transport])
    assert its.calls == ours.calls and its.failed() == [], f"{its.text}\n{ours.text}"
    assert (its.code, ours.code) == (0, 0)
    assert len(ours.calls) == len(cassettes[transport]["interactions"])


# Changes of a response: what is altered, and how. Those of a row are planted together.

def text(response):
    response["result"]["content"][0]["text"] = "planted"


def structured(response):
    response["result"]["structuredContent"]["planted"] = 1


def removed_member(response):
    response["result"]["structuredContent"].popitem()


def json_in_text(response):
    content = response["result"]["content"][0]
    content["text"] = json.dumps({**json.loads(content["text"]), "planted": 1})


def number_type(response):
    """42 and 42.0 are of different types there."""
    response["result"]["structuredContent"]["result"] = 42.0


def description(response):
    response["result"]["tools"][0]["description"] = "planted"


def schema(response):
    response["result"]["tools"][0]["inputSchema"]["planted"] = True


def missing_tool(response):
    response["result"]["tools"].append({"name": "planted", "inputSchema": {"type": "object"}})


def added_tool(response):
    del response["result"]["tools"][0]


def order(response):
    response["result"]["tools"].reverse()


def tool_error(response):
    response["result"]["isError"] = True


def error_code(response):
    response["error"]["code"] = -32099


def error_message(response):
    response["error"]["message"] = "planted"


def result_for_error(response):
    del response["error"]
    response["result"] = {"content": []}


def error_for_result(response):
    del response["result"]
    response["error"] = {"code": -32603, "message": "planted"}


def role(response):
    response["result"]["messages"][0]["role"] = "planted"


def contents(response):
    response["result"]["contents"][0]["text"] = "planted"


def version(response):
    response["result"]["serverInfo"]["version"] = "planted"


def ignored_members(response):
    """`id` and `_meta` do not count, at any depth."""
    response["result"]["_meta"] = {"planted": 1}
    response["result"]["structuredContent"]["id"] = 1


ECHO, WEATHER, ADD, REFUSE = (("tools/call", name) for name in ("echo", "weather", "add", "refuse"))
PLANTED = [
    {("tools/list",): description, ECHO: text, WEATHER: structured, ADD: tool_error, REFUSE: error_code},
    {("tools/list",): schema, WEATHER: removed_member, ADD: error_for_result, REFUSE: error_message, ("prompts/get",): role},
    {("tools/list",): missing_tool, WEATHER: json_in_text, REFUSE: result_for_error, ("resources/read",): contents},
    {("tools/list",): added_tool, ADD: number_type, ("initialize",): version},
    {("tools/list",): order, WEATHER: ignored_members},
]


@TRANSPORTS
@pytest.mark.parametrize("changes", PLANTED, ids=lambda changes: "-".join(change.__name__ for change in changes.values()))
def test_planted_changes_get_the_same_verdicts(cassettes, verify_with_both, transport, changes):
    cassette = copy_of(cassettes[transport])
    planted = set()
    for which, change in changes.items():
        place = interaction_index(cassette, *which)
        change(cassette["interactions"][place]["response"])
        if change is not ignored_members:
            planted.add(place)
    its, ours = verify_with_both(transport, cassette)
    assert its.calls == ours.calls, f"{its.text}\n{ours.text}"
    assert set(its.failed()) == planted, its.text
    assert (its.code, ours.code) == (1, 1)


@TRANSPORTS
def test_ignored_fields_and_paths_have_the_same_effect(cassettes, verify_with_both, transport):
    cassette = copy_of(cassettes[transport])
    place = interaction_index(cassette, *WEATHER)
    structured(cassette["interactions"][place]["response"])
    version(cassette["interactions"][0]["response"])
    description(cassette["interactions"][interaction_index(cassette, "tools/list")]["response"])
    its, ours = verify_with_both(transport, cassette, "--ignore-fields", "planted", "--ignore-paths", "$.result.serverInfo.version")
    assert its.calls == ours.calls and its.failed() == [interaction_index(cassette, "tools/list")], f"{its.text}\n{ours.text}"


# Deviations: the interaction fails with mcp-recorder and passes with us, for the reason of a row of the page.

def row(text_of_it):
    """The row is there."""
    assert text_of_it in PAGE.read_text(), f"{PAGE.name} does not say: {text_of_it}"


def assert_only_it_fails(its, ours, *places):
    assert its.failed() == list(places), f"{its.text}\n{ours.text}"
    assert ours.failed() == [], ours.text
    assert ours.code == 0


def test_placeholders_match(cassettes, verify_with_both):
    row("| a placeholder `[REDACTED]` in the cassette matches any text |")
    cassette = copy_of(cassettes["stdio"])
    place = interaction_index(cassette, *ECHO)
    cassette["interactions"][place]["response"]["result"]["content"][0]["text"] = "[REDACTED]"
    cassette["interactions"][place]["response"]["result"]["structuredContent"]["result"] = "Grüße\t[REDACTED]"
    assert_only_it_fails(*verify_with_both("stdio", cassette), place)


@pytest.mark.parametrize("option", [["--ignore-fields", "planted"], ["--ignore-paths", "$.result.content[0].text.planted"]],
                         ids=["fields", "paths"])
def test_ignore_rules_reach_inside_json_in_strings(cassettes, verify_with_both, option):
    row("| ignore rules reach inside JSON in strings, and apply to elements of arrays |")
    cassette = copy_of(cassettes["stdio"])
    place = interaction_index(cassette, *WEATHER)
    json_in_text(cassette["interactions"][place]["response"])
    assert_only_it_fails(*verify_with_both("stdio", cassette, *option), place)


def test_ignore_rules_apply_to_elements(cassettes, verify_with_both):
    cassette = copy_of(cassettes["stdio"])
    place = interaction_index(cassette, *ECHO)
    text(cassette["interactions"][place]["response"])
    assert_only_it_fails(*verify_with_both("stdio", cassette, "--ignore-paths", "$.result.content[0]"), place)


def called(cassette, name, arguments, response, **meta):
    """Adds a call at the end; its place."""
    one = copy_of(cassette["interactions"][interaction_index(cassette, "tools/call")])
    one["request"] = {"jsonrpc": "2.0", "id": 4000 + len(cassette["interactions"]), "method": "tools/call",
                      "params": {"name": name, "arguments": arguments, **meta}}
    one["response"] = {"jsonrpc": "2.0", "id": one["request"]["id"], "result": response}
    cassette["interactions"].append(one)
    return len(cassette["interactions"]) - 1


def test_a_response_after_notifications_is_found(cassettes, verify_with_both):
    row("| a response after progress or log notifications is found |")
    cassette = copy_of(cassettes["http"])
    place = called(cassette, "count", {"to": 2}, {"content": [{"type": "text", "text": "counted to 2"}], "isError": False,
                                                  "structuredContent": {"result": "counted to 2"}}, _meta={"progressToken": 77})
    its, ours = verify_with_both("http", cassette)
    assert_only_it_fails(its, ours, place)


def test_server_requests_are_answered(cassettes, verify_with_both):
    """It leaves the server without an answer until a time limit; with us the server gets -32601, and says so."""
    row("| server requests get the recorded response, or −32601 |")
    cassette = copy_of(cassettes["stdio"])
    cassette["interactions"][0]["request"]["params"]["capabilities"] = {"sampling": {}}
    place = called(cassette, "sample", {"question": "why?"}, {"content": []})
    its, ours = verify_with_both("stdio", cassette, "--ignore-fields", "content")
    assert its.failed() == [place] and "did not respond" in its.text, its.text
    assert ours.failed() == [place] and '"code": -32601' in ours.text, ours.text


MINTING = '''
import json, random, sys
handles = set()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    name, args = (message.get("params", {}).get(key, {}) for key in ("name", "arguments"))
    got = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "m", "version": "1"}}}
    if name == "open":
        handles.add(f"doc-{random.randrange(10**9):09}")
        got = {"result": {"content": [], "structuredContent": {"handle": list(handles)[-1]}}}
    elif name == "read":
        got = {"result": {"content": []}} if args["handle"] in handles else {"error": {"code": -32602, "message": "no such handle"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **got}), flush=True)
'''


def test_values_of_the_live_server_are_carried_forward(cassettes, verify_with_both, tmp_path):
    row("| values that the live server generates (task ids, cursors) are carried into later requests |")
    (tmp_path / "minting.py").write_text(MINTING)
    cassette = copy_of(cassettes["stdio"])
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "m", "version": "1"}}
    cassette["interactions"][0]["response"]["result"] = result
    del cassette["interactions"][2:]
    start = copy_of(cassettes["stdio"])
    cassette["interactions"].append(start["interactions"][interaction_index(start, "tools/call")])
    called(cassette, "open", {}, {"content": [], "structuredContent": {"handle": "doc-000000001"}})
    del cassette["interactions"][2]
    extra = copy_of(cassette["interactions"][2])
    extra["request"]["id"], extra["request"]["params"] = 5000, {"name": "read", "arguments": {"handle": "doc-000000001"}}
    extra["response"] = {"jsonrpc": "2.0", "id": 5000, "result": {"content": []}}
    cassette["interactions"].append(extra)
    target = ["--target-stdio", shlex.join([sys.executable, os.fspath(tmp_path / "minting.py")])]
    assert_only_it_fails(*verify_with_both(target, cassette, "--ignore-fields", "handle"), 3)


def test_an_unusable_target_or_cassette_has_its_own_exit_code(cassettes, verify_with_both, recorder, mcpreel, run, tmp_path):  # noqa: F811
    row("| an unreachable server is one error with exit code 4, a missing or unusable cassette exit code 3 |")
    its, ours = verify_with_both(["--target", f"http://127.0.0.1:{free_port()}"], cassettes["http"])
    assert (its.code, ours.code) == (1, 4) and ours.calls == []
    (tmp_path / "bad.json").write_text("{")
    for file, code in (("none.json", 1), ("bad.json", 1)):
        words = ["verify", "--cassette", tmp_path / file, "--target", "http://127.0.0.1:9"]
        assert run([*recorder, "cli", *words], timeout=60).code == code
        assert run([mcpreel, *words]).code == 3

"""The demo server before the official SDKs: a correct server, recorded or not.

A user who tries mcpreel with 'mcpreel demo server' must get a server that every client understands.
"""
import json
import pathlib
import shutil

import pytest

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
SESSION = PEERS / "sessions" / "demo.json"
CLIENTS = ["ts", "py"]
SDK = "node_modules/@modelcontextprotocol/sdk"


@pytest.fixture
def run_client(npm_peers, python_peers, run):
    """Returns the results of a client with the server that a command starts."""

    def run_session(client, command, ids="numbers", era="legacy"):
        words = {
            "ts": [shutil.which("node"), PEERS / "ts-client.mjs", "--sdk", npm_peers / SDK, "--ids", ids],
            "py": [python_peers / "bin/python", PEERS / "py-client.py", "--ids", ids, "--era", era],
        }[client]
        ran = run([*words, SESSION, "--", *command])
        assert ran.code == 0, str(ran)
        document = json.loads(ran.out)
        assert document["trouble"] == [], str(ran)
        return document

    return run_session


def step(document, method, name=None):
    """The first step of that method and name."""
    for one in document["steps"]:
        params = one["step"].get("params", {})
        if one["step"].get("ask") == method and name in (None, params.get("name"), params.get("uri")):
            return one
    raise AssertionError(f"no step {method} {name}")


@pytest.mark.parametrize("client", CLIENTS)
def test_an_official_sdk_works_with_the_demo_server(run_client, mcpreel, client):
    seen = run_client(client, [mcpreel, "demo", "server"])
    assert seen["server"]["protocol"] == "2025-11-25"
    assert seen["server"]["info"]["name"] == "mcpreel-demo"
    assert [t["name"] for t in step(seen, "tools/list")["result"]["tools"]] == ["weather", "count", "divide", "haiku"]
    # Both SDKs check this against the tool's output schema.
    assert step(seen, "tools/call", "weather")["result"]["structuredContent"]["city"] == "Tromsø"
    count = step(seen, "tools/call", "count")
    assert [p["message"] for p in count["progress"]] == ["one", "two", "three", "four", "five"]
    assert [h["method"] for h in count["heard"]] == ["notifications/message"]
    assert step(seen, "tools/call", "teleport")["error"]["code"] == -32602
    haiku = step(seen, "tools/call", "haiku")
    assert [h["method"] for h in haiku["heard"]] == ["sampling/createMessage"]
    assert haiku["result"]["content"][0]["text"] == "an old silent pond"
    assert step(seen, "resources/read", "demo://nothing")["error"]["code"] == -32002
    divisions = [s["result"].get("isError", False) for s in seen["steps"]
                 if s["step"].get("params", {}).get("name") == "divide"]
    assert divisions == [False, True]


def test_both_sdks_get_the_same_results(run_client, mcpreel):
    assert run_client("ts", [mcpreel, "demo", "server"]) == run_client("py", [mcpreel, "demo", "server"])


@pytest.mark.parametrize("client", CLIENTS)
def test_recorded_and_replayed_sessions_are_equal(run_client, mcpreel, tmp_path, client):
    file = tmp_path / "session.jsonl"
    direct = run_client(client, [mcpreel, "demo", "server"])
    assert run_client(client, [mcpreel, "record", "-o", file, "--", mcpreel, "demo", "server"]) == direct
    assert run_client(client, [mcpreel, "replay", file], ids="strings") == direct


def test_a_client_of_both_protocols_falls_back_to_the_stateful_one(run_client, mcpreel):
    assert run_client("py", [mcpreel, "demo", "server"], era="auto")["server"]["protocol"] == "2025-11-25"

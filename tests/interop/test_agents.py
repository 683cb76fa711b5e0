"""The MCP clients of agent frameworks, without a model: direct, recorded, and replayed with the server gone."""
import json
import os

import pytest

from conformance import listening, recording, replaying
from peers import SCRIPTS

pytestmark = pytest.mark.interop

FRAMEWORKS = ["pydantic-ai", "openai-agents", "mcp-use"]


@pytest.fixture
def run_framework(peer_home, run, tmp_path):
    """The results that a framework gets from a server that a command starts, or that is at a URL."""
    def run_client(framework, *words, **env):
        command = [peer_home("agents") / "bin/python", SCRIPTS / "agents-client.py", framework, *words]
        ran = run(command, timeout=120, cwd=tmp_path, env={"HOME": os.fspath(tmp_path), **env})
        assert ran.code == 0, str(ran)
        return json.loads(ran.out)

    return run_client


def assert_server_results(seen):
    """The answers are those of the server, and so worth comparing."""
    results = json.dumps(seen["called"], ensure_ascii=False)
    assert '42' in results and "Grüße" in results and "because" in results and "no_such_tool" in results
    assert "waited 200 ms" in json.dumps(seen["together"][0]) and "buy tape" in json.dumps(seen["read"])
    assert "Greet Ada" in json.dumps(seen["prompt"])
    assert [tool["name"] for tool in seen["tools"]] == ["add", "echo", "weather", "slow", "fail", "count"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gets_the_same_results_on_stdio(peer_runner, mcpreel, run_framework, tmp_path, framework):
    file, server = tmp_path / "session.jsonl", peer_runner.server("ts")
    direct = run_framework(framework, "--", *server)
    assert_server_results(direct)
    assert run_framework(framework, "--", mcpreel, "record", "-o", file, "--", *server) == direct
    empty_folder = peer_runner.new_folder()
    assert run_framework(framework, "--", mcpreel, "replay", file, PATH=os.fspath(empty_folder)) == direct


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gets_the_same_results_over_http(peer_runner, mcpreel, run_framework, tmp_path, framework):
    file = tmp_path / "session.jsonl"
    with peer_runner.serve_http("ts") as url:
        direct = run_framework(framework, "--url", url)
        with listening(recording(mcpreel, url, file), tmp_path / "record.err") as address:
            recorded = run_framework(framework, "--url", f"{address}/mcp")
    assert_server_results(direct)
    assert recorded == direct
    with listening(replaying(mcpreel, file), tmp_path / "replay.err") as address:
        assert run_framework(framework, "--url", f"{address}/mcp") == direct

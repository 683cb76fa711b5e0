"""The MCP clients of agent frameworks, without a model: direct, recorded, and replayed with the server gone."""
import json
import os

import pytest

from conformance import listening, recording, replaying
from peers import SCRIPTS

pytestmark = pytest.mark.interop

FRAMEWORKS = ["pydantic-ai", "openai-agents", "mcp-use"]


@pytest.fixture
def ask(peer_home, run, tmp_path):
    """The results that a framework gets from a server that a command starts, or that is at a URL."""
    def go(framework, *words, **env):
        command = [peer_home("agents") / "bin/python", SCRIPTS / "agents-client.py", framework, *words]
        ran = run(command, timeout=120, cwd=tmp_path, env={"HOME": os.fspath(tmp_path), **env})
        assert ran.code == 0, str(ran)
        return json.loads(ran.out)

    return go


def judge_answers(seen):
    """The answers are those of the server, and so worth comparing."""
    said = json.dumps(seen["called"], ensure_ascii=False)
    assert '42' in said and "Grüße" in said and "because" in said and "no_such_tool" in said
    assert "waited 200 ms" in json.dumps(seen["together"][0]) and "buy tape" in json.dumps(seen["read"])
    assert "Greet Ada" in json.dumps(seen["prompt"])
    assert [tool["name"] for tool in seen["tools"]] == ["add", "echo", "weather", "slow", "fail", "count"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gets_the_same_results_on_stdio(stage, mcpreel, ask, tmp_path, framework):
    file, server = tmp_path / "session.jsonl", stage.server("ts")
    direct = ask(framework, "--", *server)
    judge_answers(direct)
    assert ask(framework, "--", mcpreel, "record", "-o", file, "--", *server) == direct
    nowhere = stage.fresh()
    assert ask(framework, "--", mcpreel, "replay", file, PATH=os.fspath(nowhere)) == direct


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gets_the_same_results_over_http(stage, mcpreel, ask, tmp_path, framework):
    file = tmp_path / "session.jsonl"
    with stage.serve("ts") as url:
        direct = ask(framework, "--url", url)
        with listening(recording(mcpreel, url, file), tmp_path / "record.err") as address:
            recorded = ask(framework, "--url", f"{address}/mcp")
    judge_answers(direct)
    assert recorded == direct
    with listening(replaying(mcpreel, file), tmp_path / "replay.err") as address:
        assert ask(framework, "--url", f"{address}/mcp") == direct

"""The same test file with mcp-recorder's pytest plugin and with ours: the same outcome of each test."""
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

pytestmark = pytest.mark.interop

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Both plugins run these. A name ending in _fails fails (or errors) with both.
SOURCE = '''
import asyncio, json, urllib.request
import pytest
from mcp_recorder import McpClient, RecordSession

def ask(url, *calls):
    async def go():
        client = McpClient(url.removesuffix("/mcp"))
        try:
            await client.initialize()
            return [await getattr(client, method)(*arguments) for method, *arguments in calls]
        finally:
            await client.close()
    return asyncio.run(go())

CITY = "call_tool", "weather", {"city": "Lisbon"}
OTHER = "call_tool", "weather", {"city": "Oslo"}
cassette = pytest.mark.mcp_cassette

@cassette("made.json")
def test_call(mcp_replay_url):
    assert "Lisbon" in str(ask(mcp_replay_url, CITY))

@cassette("made.json")
def test_url_is_on_this_machine(mcp_replay_url):
    assert mcp_replay_url.startswith("http://127.0.0.1:") and mcp_replay_url.endswith("/mcp")

@cassette("made.json")
def test_list(mcp_replay_url):
    tools = ask(mcp_replay_url, ("list_tools",))[0]["result"]["tools"]
    assert "weather" in [tool["name"] for tool in tools]

@cassette("made.json")
def test_other_order(mcp_replay_url):
    assert "Lisbon" in str(ask(mcp_replay_url, CITY, ("list_tools",))[0])

@cassette("made.json")
def test_tool_error(mcp_replay_url):
    assert ask(mcp_replay_url, ("call_tool", "divide", {"a": 1, "b": 0}))[0]["result"]["isError"]

@cassette("made.json")
def test_miss_is_an_error(mcp_replay_url):
    assert "error" in ask(mcp_replay_url, OTHER)[0]

@cassette("made.json")
def test_miss_does_not_end_the_server(mcp_replay_url):
    answers = ask(mcp_replay_url, OTHER, CITY)
    assert "error" in answers[0] and "Lisbon" in str(answers[1])

@cassette("made.json")
def test_used_up(mcp_replay_url):
    assert "error" in ask(mcp_replay_url, CITY, CITY)[1]

@cassette("made.json", match="sequential")
def test_sequential(mcp_replay_url):
    assert "Lisbon" in str(ask(mcp_replay_url, ("list_tools",), OTHER)[1])

@cassette("made.json", match="strict")
def test_strict(mcp_replay_url):
    assert "Lisbon" in str(ask(mcp_replay_url, CITY))

@cassette("made.json", match="strict")
def test_strict_miss(mcp_replay_url):
    assert "error" in ask(mcp_replay_url, OTHER)[0]

@cassette("made.json")
def test_resource_miss(mcp_replay_url):
    assert "error" in ask(mcp_replay_url, ("read_resource", "demo://none"))[0]

@cassette("made.json")
def test_resource(mcp_replay_url):
    assert "contents" in ask(mcp_replay_url, ("read_resource", "demo://manual"))[0]["result"]

@cassette("made.json")
def test_wrong_expectation_fails(mcp_replay_url):
    assert "Rome" in str(ask(mcp_replay_url, CITY))

@cassette("none.json")
def test_missing_cassette_fails(mcp_replay_url):
    pass

@cassette()
def test_no_path_fails(mcp_replay_url):
    pass

def test_no_mark_fails(mcp_replay_url):
    pass

@cassette("made.json")
def test_verify(mcp_verify_result):
    assert mcp_verify_result.failed == 0, mcp_verify_result.results

@cassette("made.json")
def test_verify_counts(mcp_verify_result):
    assert mcp_verify_result.total == mcp_verify_result.passed == len(mcp_verify_result.results)

@cassette("other.json")
def test_verify_change_fails(mcp_verify_result):
    assert mcp_verify_result.failed == 0, mcp_verify_result.results

@cassette("other.json")
def test_verify_one_failed(mcp_verify_result):
    assert [r.method for r in mcp_verify_result.results if not r.passed] == ["tools/call [divide]"]

@cassette("other.json", ignore_fields=["text"])
def test_verify_ignored_field(mcp_verify_result):
    assert mcp_verify_result.failed == 0, mcp_verify_result.results

@cassette("other.json", ignore_paths=["$.result.content[0].text"])
def test_verify_ignored_path(mcp_verify_result):
    assert mcp_verify_result.failed == 0, mcp_verify_result.results

@cassette("none.json")
def test_verify_without_cassette_fails(mcp_verify_result):
    pass
'''

SCENARIO = """
schema_version: "1.0"
target: { command: "PROGRAM", args: [demo, server] }
scenarios:
  made:
    actions:
      - list_tools
      - call_tool: { name: weather, arguments: { city: Lisbon } }
      - call_tool: { name: divide, arguments: { a: 1, b: 0 } }
      - read_resource: { uri: "demo://manual" }
"""


@pytest.fixture(scope="module")
def folder(mcpreel, tmp_path_factory):
    """The test file, and the cassettes that it uses."""
    home = tmp_path_factory.mktemp("plugins")
    (home / "test_it.py").write_text(SOURCE)
    (home / "scenarios.yml").write_text(SCENARIO.replace("PROGRAM", str(mcpreel)))
    subprocess.run([mcpreel, "-q", "record-scenarios", home / "scenarios.yml", "--output-dir", home], check=True)
    other = (home / "made.json").read_text().replace("cannot divide 1 by zero", "another text")
    assert other != (home / "made.json").read_text()
    (home / "other.json").write_text(other)
    return home


def outcomes(folder, python, mcpreel, path, *arguments):
    """The outcome of each test, in one word."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env.update(PYTHONPATH=os.pathsep.join(map(str, path)), MCPREEL=str(mcpreel), PYTHONDONTWRITEBYTECODE="1")
    p = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments],
                       cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=300)
    assert report.exists(), p.stdout
    return {case.get("name"): "failed" if case.find("failure") is not None or case.find("error") is not None
            else "skipped" if case.find("skipped") is not None else "passed" for case in xml.parse(report).iter("testcase")}


@pytest.mark.parametrize("options", [(), ("--mcp-record-mode=auto",)], ids=["replay", "auto"])
def test_both_plugins_agree(folder, mcpreel, recorder_peer, peer_home, record_property, options):
    python = peer_home("python") / "bin/python"
    target = ["--mcp-target-stdio", f"{mcpreel} demo server", *options]
    (site,) = recorder_peer.glob("lib/python3*/site-packages")
    theirs = outcomes(folder, python, mcpreel, [site], *target)
    ours = outcomes(folder, python, mcpreel, [ROOT / "python/src", ROOT / "python-mcp-recorder/src"],
                    "-p", "mcpreel.pytest_plugin", *target)
    record_property("shown", "\n".join(f"{name:45} {theirs[name]:8} {ours.get(name)}" for name in theirs))
    assert len(theirs) >= 20
    assert ours == theirs
    if not options:
        assert ours == {name: "failed" if name.endswith("_fails") else "passed" for name in re.findall(r"def (test_\w+)", SOURCE)}


# The first test of mcp-recorder's README, with the call and the text of the demo server.
README = '''
import pytest
from fastmcp import Client

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
@pytest.mark.mcp_cassette("made.json")
async def test_tool_call(mcp_replay_url):
    async with Client(mcp_replay_url) as client:
        result = await client.call_tool("weather", {"city": "Lisbon"})
        assert "Lisbon" in result.content[0].text
'''


def test_the_first_test_of_mcp_recorders_readme_passes(folder, mcpreel, peer_home, tmp_path):
    """mcp-recorder itself has no match for the initialize of this FastMCP in a cassette of another client."""
    (tmp_path / "test_readme.py").write_text(README)
    shutil.copy(folder / "made.json", tmp_path)
    (site,) = peer_home("python").glob("lib/python3*/site-packages")
    assert outcomes(tmp_path, peer_home("fastmcp") / "bin/python", mcpreel, [ROOT / "python/src", site],
                    "-p", "mcpreel.pytest_plugin") == {"test_tool_call": "passed"}

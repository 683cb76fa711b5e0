"""Two published versions of a server each, recorded and compared: every finding is known, and judged in
docs/decisions/037-contract-changes.md. Both versions get the same requests in the same folder."""
import json
import os
from collections import Counter

import pytest

from peers import SCRIPTS

pytestmark = pytest.mark.interop

LISTS = [{action: {"pages": "all"}} for action in ("list_tools", "list_prompts", "list_resources", "list_resource_templates")]


def npm_server(group, name, *more):
    return group, lambda home, folder: ["node", home / f"node_modules/@modelcontextprotocol/{name}/dist/index.js", *(more or [folder])]


def fastmcp_server(group):
    return group, lambda home, folder: [home / "bin/python", SCRIPTS / "fastmcp-server.py"]


def call(name, **arguments):
    return {"call_tool": {"name": name, "arguments": arguments}}


# The group of tools/peers and the command of both versions, and the calls.
SERVERS = {
    "filesystem": (npm_server("npm-older", "server-filesystem"), npm_server("npm", "server-filesystem"), [
        call("list_directory", path="{folder}"), call("read_multiple_files", paths=[]), call("read_text_file", path="{folder}/a.txt")]),
    "everything": (npm_server("npm-older", "server-everything", "stdio"), npm_server("npm", "server-everything", "stdio"), [
        call("echo", message="hello"), call("add", a=2, b=40)]),
    "fastmcp": (fastmcp_server("fastmcp-older"), fastmcp_server("fastmcp"), [
        call("add", a=2, b=40), call("echo", text="hello", loud=True), call("weather", city="Tromsø"),
        call("fail", why="because")]),
}


@pytest.fixture
def recordings(peer_home, mcpreel, run, tmp_path):
    def record(name):
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "a.txt").write_text("hello\n")
        *versions, calls = SERVERS[name]
        actions = json.loads(json.dumps([*LISTS, *calls]).replace("{folder}", os.fspath(folder)))
        for n, (group, words) in enumerate(versions):
            command, *args = map(os.fspath, words(peer_home(group), folder))
            scenarios = {"target": {"command": command, "args": args}, "format": "recording", "scenarios": {str(n): {"actions": actions}}}
            (tmp_path / "scenarios.yml").write_text(json.dumps(scenarios))
            ran = run([mcpreel, "run", "--output-dir", tmp_path, tmp_path / "scenarios.yml"], timeout=120)
            assert ran.code == 0, str(ran)
        return [next(tmp_path.glob(f"{n}.*")) for n in range(2)]

    return record


# Findings from the earlier version to the later one: severity and rule, and their number.
EXPECTED = {
    "filesystem": {
        ("breaking", "tool.input.bound.tightened"): 1, ("security", "tool.annotation.loosened"): 12,
        ("routing", "tool.description.changed"): 3, ("routing", "tool.input.description.changed"): 1, ("routing", "tool.title.changed"): 12,
        ("safe", "server.capability.added"): 1, ("safe", "tool.added"): 2, ("safe", "tool.input.additional.opened"): 12,
        ("safe", "tool.input.property.added"): 1, ("safe", "tool.output-schema.added"): 12},
    "everything": {
        ("breaking", "prompt.removed"): 3, ("breaking", "template.removed"): 1, ("breaking", "tool.removed"): 9,
        ("security", "tool.annotation.loosened"): 1, ("risky", "resource.removed"): 100,
        ("routing", "server.instructions.changed"): 1, ("routing", "tool.description.changed"): 1, ("routing", "tool.title.changed"): 1,
        ("safe", "prompt.added"): 4, ("safe", "resource.added"): 7, ("safe", "server.capability.added"): 4, ("safe", "template.added"): 2,
        ("safe", "tool.added"): 12, ("safe", "tool.input.additional.opened"): 1, ("cosmetic", "server.info.changed"): 3},
    "fastmcp": {
        ("breaking", "tool.input.additional.closed"): 6, ("routing", "tool.title.changed"): 6, ("safe", "server.capability.added"): 1,
        ("cosmetic", "prompt.member.changed"): 1, ("cosmetic", "resource.member.changed"): 1, ("cosmetic", "template.member.changed"): 1,
        ("cosmetic", "tool.meta.changed"): 6, ("cosmetic", "tool.output.description.changed"): 5},
}

# Calls that the later version rejects by its definitions, and calls that had a result and fail with it.
REJECTED = {"filesystem": {"read_multiple_files"}, "everything": {"add"}, "fastmcp": {"echo"}}
FAILED = {"filesystem": {"read_multiple_files"}, "everything": {"add"}, "fastmcp": set()}


def places(report):
    return sorted((f["kind"], f["name"] or "", f["path"]) for f in report["contract"]["findings"])


@pytest.mark.parametrize("name", SERVERS)
def test_the_findings_of_two_published_versions_are_the_known_ones(recordings, mcpreel, run, name):
    def diff(*arguments):
        ran = run([mcpreel, "--json", "diff", *arguments], timeout=120)
        return ran.code, json.loads(ran.out)

    before, after = recordings(name)
    code, report = diff("--fail-on", "breaking-used", before, after)
    findings = report["contract"]["findings"]
    assert Counter((f["severity"], f["rule"]) for f in findings) == EXPECTED[name]
    assert {f["name"] for f in findings if (f["usage"] or {}).get("affected")} == REJECTED[name]
    assert {c["subject"] for c in report["calls"] if c["breaking"]} == FAILED[name] and code == 1
    assert report["contract"]["not_compared"] == []
    mirrored = diff(after, before)[1]
    assert places(mirrored) == places(report) and mirrored["totals"]["added"] == report["totals"]["removed"]
    assert diff("--exit-code", after, after)[0] == 0

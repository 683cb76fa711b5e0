"""mcp-recorder and mcpreel run the same scenarios: the cassettes are equal, and each verifies those of the other."""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest

pytestmark = pytest.mark.interop

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
TIMEOUT_S = 30
SCENARIOS = {
    "tools": {"description": "Tools", "actions": [
        "list_tools",
        {"call_tool": {"name": "echo", "arguments": {"text": "Grüße 🎞", "n": 1.5, "m": [None, True]}}},
        {"call_tool": {"name": "fail", "arguments": {"why": "${WHY:-because}"}}},
        {"call_tool": {"name": "no such tool"}},
    ]},
    "others": {"actions": [
        "list_prompts", {"get_prompt": {"name": "greet", "arguments": {"name": "Ada"}}}, {"get_prompt": {"name": "none"}},
        "list_resources", {"read_resource": {"uri": "memo://today"}}, {"read_resource": {"uri": "memo://none"}},
    ]},
    "empty": {"actions": []},
}


@contextlib.contextmanager
def http_target(server):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([*map(os.fspath, server), "--http", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(TIMEOUT_S * 10):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="session", params=["stdio", "http"])
def cassettes_of_both(request, python_peers, recorder_peer, mcpreel, run, tmp_path_factory):
    """The cassettes of both, and how each is to verify a cassette against the same server."""
    folder = tmp_path_factory.mktemp(request.param)
    server = [python_peers / "bin/python", PEERS / "py-server.py"]
    recorder = [recorder_peer / "bin/python", PEERS / "mcp-recorder.py", "cli"]
    with contextlib.ExitStack() as stack:
        if request.param == "http":
            target = stack.enter_context(http_target(server))
            target_option = ["--target", target]
        else:
            target = {"command": os.fspath(server[0]), "args": [os.fspath(server[1])]}
            target_option = ["--target-stdio", " ".join(map(os.fspath, server))]
        (folder / "scenarios.yml").write_text(json.dumps({"target": target, "redact": {"patterns": ["Ad[a]"]}, "scenarios": SCENARIOS}, ensure_ascii=False))
        # A redacted response differs from that of the server: verify needs one without.
        (folder / "unredacted.yml").write_text(json.dumps({"target": target, "scenarios": {"unredacted": SCENARIOS["others"]}}))
        lines = []
        for name, program in (("its", recorder), ("ours", [mcpreel])):
            ran = run([*program, "record-scenarios", folder / "scenarios.yml", "--output-dir", folder / name], timeout=60)
            assert ran.code == 0, str(ran)
            lines.append(re.findall(r"^(?:Target: |Scenarios: |  \S+ -> |Done: ).*", ran.err.decode(), re.M))
            ran = run([*program, "record-scenarios", folder / "unredacted.yml", "--output-dir", folder / name], timeout=60)
            assert ran.code == 0, str(ran)
        yield request.param, folder, lines, [[*program, "verify", *target_option] for program in (recorder, [mcpreel])]


def comparable(path, transport):
    cassette = json.loads(path.read_text())
    del cassette["metadata"]["recorded_at"]
    if transport == "stdio":
        # mcp-recorder takes the command for a URL, and removes what follows the first slash.
        del cassette["metadata"]["server_url"]
    for interaction in cassette["interactions"]:
        interaction["latency_ms"] = 0
        if (interaction["request"] or {}).get("method") == "initialize":
            del interaction["request"]["params"]["clientInfo"]
    return cassette


def test_the_cassettes_are_equal(cassettes_of_both):
    transport, folder, _, _ = cassettes_of_both
    for name in SCENARIOS:
        ours, its = (comparable(folder / by / f"{name}.json", transport) for by in ("ours", "its"))
        assert len(its["interactions"]) == len(SCENARIOS[name]["actions"]) + 2
        assert ours == its
    assert "[REDACTED]" in (folder / "ours/others.json").read_text()


def test_the_lines_are_equal(cassettes_of_both):
    _, _, (its, ours), _ = cassettes_of_both
    assert ours == its
    assert ours[-1] == "Done: 3 scenario(s), 16 total interactions."


@pytest.mark.parametrize("name, count", [("tools", 6), ("unredacted", 8)])
def test_each_verifies_the_cassettes_of_the_other(cassettes_of_both, run, name, count):
    """Tools, and prompts and resources."""
    _, folder, _, (its, ours) = cassettes_of_both
    for program, by in ((its, "ours"), (ours, "its")):
        ran = run([*program, "--cassette", folder / by / f"{name}.json"], timeout=60)
        assert ran.code == 0 and f"Result: {count}/{count} passed, 0 failed" in (ran.out + ran.err).decode(), str(ran)


def test_run_verify_accepts_the_cassettes_of_both(cassettes_of_both, mcpreel, run):
    _, folder, _, _ = cassettes_of_both
    for by in ("ours", "its"):
        ran = run([mcpreel, "run", "--verify", "--output-dir", folder / by, folder / "scenarios.yml"], timeout=60)
        assert ran.code == 0, str(ran)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_without_initialize_is_recorded_and_verified(transport, peer_home, mcpreel, run, tmp_path):
    """It speaks 2026-07-28 only, and requires input twice."""
    words = ["node", os.fspath(PEERS / "ts-server.mjs"), os.fspath(peer_home("conformance") / "node_modules/@modelcontextprotocol/server")]
    with contextlib.ExitStack() as stack:
        if transport == "http":
            server = stack.enter_context(subprocess.Popen([*words, "--http", "--stateless"], stdout=subprocess.PIPE, text=True))
            stack.callback(server.kill)
            target = server.stdout.readline().strip()
        else:
            target = {"command": words[0], "args": [*words[1:], "--stateless"]}
        (tmp_path / "s.yml").write_text(json.dumps({
            "target": target, "answers": {"elicitation": {"action": "accept", "content": {"name": "Ada"}}, "roots": [{"uri": "file:///r"}]},
            "scenarios": {"one": {"actions": [
                {"list_tools": {"pages": "all", "expect": {"$.result.tools[*].name": "ask"}}},
                {"call_tool": {"name": "add", "arguments": {"a": 1, "b": 2}, "expect": {"$.result.content[0].text": "3"}}},
                {"call_tool": {"name": "ask", "expect": {"$.result.content[0].text": "Ada works in file:///r"}}},
                {"read_resource": {"uri": "memo://today"}},
            ]}}}))
        for options in ([], ["--verify"]):
            ran = run([mcpreel, "run", *options, tmp_path / "s.yml"], timeout=60)
            assert ran.code == 0, str(ran)
    interactions = json.loads((tmp_path / "cassettes/one.json").read_text())["interactions"]
    assert [one["request"]["method"] for one in interactions] == ["initialize", "server/discover", "tools/list", *["tools/call"] * 4, "resources/read"]


@contextlib.contextmanager
def everything_target(transport, npm):
    words = ["node", os.fspath(npm / "node_modules/@modelcontextprotocol/server-everything/dist/index.js")]
    if transport == "stdio":
        yield {"command": words[0], "args": [*words[1:], "stdio"]}
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([*words, "streamableHttp"], env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.mark.parametrize("kind", ["cassette", "recording"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_requests_of_the_reference_server_are_answered(transport, kind, peer_home, recorder_peer, mcpreel, run, tmp_path):
    """server-everything requests sampling, elicitation and roots, and has every kind of action."""
    actions = [
        {"list_tools": {"pages": "all", "expect": {"$.result.tools[*].name": "echo"}, "save": {"tool": "$.result.tools[0].name"}}},
        {"list_resources": {"pages": "all", "save": {"uri": "$.result.resources[0].uri"}}},
        "list_resource_templates", "list_prompts", "ping",
        {"read_resource": {"uri": "{{uri}}", "expect": {"$.result.contents[0].uri": "{{uri}}"}}},
        {"get_prompt": {"name": "simple-prompt"}},
        {"complete": {"ref": {"type": "ref/prompt", "name": "completable-prompt"}, "argument": {"name": "department", "value": "S"},
                      "expect": {"$.result.completion.values[0]": "Sales"}}},
        {"raw": {"method": "logging/setLevel", "params": {"level": "debug"}}},
        {"call_tool": {"name": "{{tool}}", "arguments": {"message": "see {{uri}}"}, "expect": {"is_error": False}}},
    ]
    asking = [
        {"call_tool": {"name": "trigger-sampling-request", "arguments": {"prompt": "x"}, "expect": {"is_error": False}}},
        {"call_tool": {"name": "trigger-elicitation-request", "expect": {"is_error": False}}},
        {"call_tool": {"name": "get-roots-list", "expect": {"is_error": False}}},
    ]
    answers = {"sampling": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "42"}},
               "elicitation": {"action": "accept", "content": {"name": "Ada"}}, "roots": [{"uri": "file:///r", "name": "r"}]}
    with everything_target(transport, peer_home("npm")) as target:
        (tmp_path / "s.yml").write_text(json.dumps({"target": target, "format": kind, "scenarios": {
            "plain": {"actions": actions}, "asking": {"actions": asking, "answers": answers}}}))
        for options in (["--wait-ready", "30s"] if transport == "http" else [], ["--verify"]):
            ran = run([mcpreel, "run", *options, tmp_path / "s.yml"], timeout=90)
            assert ran.code == 0, str(ran)
        if kind == "cassette":
            interactions = json.loads((tmp_path / "cassettes/asking.json").read_text())["interactions"]
            assert len(interactions) == len(asking) + 2 and all(one["request"] for one in interactions)
            option = ["--target", target] if transport == "http" else ["--target-stdio", " ".join([target["command"], *target["args"]])]
            its = run([recorder_peer / "bin/python", PEERS / "mcp-recorder.py", "cli", "verify", *option, "--cassette", tmp_path / "cassettes/plain.json"], timeout=90)
            assert its.code == 0, str(its)

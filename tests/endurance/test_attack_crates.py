"""Gives attack configurations of mcpreel to the official crates: `oatf`, and `thoughtjack` of the version that reads TJ-SPEC-001 and of one that reads OATF."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from test_attack import Session, random_session, tool  # noqa: E402

SESSIONS = 500
SERVED = 50
INVALID_OATF = 'oatf: "0.1"\nattack:\n  execution:\n    mode: mcp_server\n    state: {tools: [{name: "{{a"}]}\n'


@pytest.fixture(scope="module")
def convert(mcpreel, tmp_path_factory):
    """Converts the session of a seed; returns the session and the file."""
    folder = tmp_path_factory.mktemp("attack")

    def convert(seed, style, to):
        session, target = random_session(seed), folder / f"{seed}-{style}-{to}.yaml"
        source = session.save(folder / "session.jsonl")
        subprocess.run([mcpreel, "-q", "convert", source, "-o", target, "--force", "--to", to, "--style", style], check=True)
        return session, target
    return convert


def generated(convert, to):
    return [convert(seed, style, to)[1] for seed in range(SESSIONS) for style in ("simple", "phased")]


@pytest.fixture
def thoughtjack(peer_home):
    """Runs a version of ThoughtJack to its end."""
    def thoughtjack(version, *words, stdin=""):
        return subprocess.run([peer_home("thoughtjack") / "bin" / "thoughtjack-peer", version, "-q", *words], input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    return thoughtjack


def served(ran):
    """The results of the tool calls, by their ids."""
    assert ran.returncode == 0, ran.stderr[-4000:]
    return {m["id"]: m.get("result") for m in map(json.loads, ran.stdout.split("\n")[:-1])}


def requests(session):
    """Lines of a client that makes the recorded calls of a session again."""
    def line(**members):
        return json.dumps({"jsonrpc": "2.0", **members}) + "\n"
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return line(id="start", method="initialize", params=start) + line(method="notifications/initialized") + "".join(
        line(id=n, method="tools/call", params={"name": name, "arguments": arguments})
        for n, ((name, _), arguments) in enumerate(zip(session.answers, session.arguments)))


def test_oatf_accepts_generated_documents(convert, peer_home):
    ran = subprocess.run([peer_home("oatf") / "bin" / "oatf-peer", *generated(convert, "oatf")], stdout=subprocess.PIPE, text=True)
    assert ran.returncode == 0, ran.stdout[:4000]


def test_oatf_rejects_an_invalid_document(peer_home, tmp_path):
    (tmp_path / "a.yaml").write_text(INVALID_OATF)
    ran = subprocess.run([peer_home("oatf") / "bin" / "oatf-peer", tmp_path / "a.yaml"], stdout=subprocess.PIPE, text=True)
    assert ran.returncode == 1 and "V-016" in ran.stdout


def test_thoughtjack_accepts_generated_configurations(convert, thoughtjack):
    paths = generated(convert, "thoughtjack")
    report = json.loads(thoughtjack("0.4.1", "server", "validate", "--format", "json", *paths).stdout)
    assert [file for file in report["files"] if not file["valid"]] == []
    assert report["summary"]["valid"] == len(paths) == 2 * SESSIONS


def test_thoughtjack_accepts_generated_oatf_documents(convert, thoughtjack):
    for path in generated(convert, "oatf"):
        ran = thoughtjack("0.6.0", "validate", path)
        assert ran.returncode == 0, (path, ran.stderr[-4000:])


def test_thoughtjack_rejects_an_invalid_configuration(thoughtjack, tmp_path):
    for name, content in ("valid", "{type: text, text: a}"), ("invalid", ""):
        (tmp_path / name).write_text("server: {name: a}\ntools: [{tool: {name: a, description: d, inputSchema: {type: object}}, response: {content: [%s]}}]\n" % content)
    report = json.loads(thoughtjack("0.4.1", "server", "validate", "--format", "json", tmp_path / "valid", tmp_path / "invalid").stdout)
    assert [file["valid"] for file in report["files"]] == [True, False]


def test_thoughtjack_rejects_an_invalid_oatf_document(thoughtjack, tmp_path):
    (tmp_path / "a.yaml").write_text(INVALID_OATF)
    ran = thoughtjack("0.6.0", "validate", tmp_path / "a.yaml")
    assert ran.returncode != 0 and "V-016" in ran.stderr


def test_thoughtjack_serves_each_recorded_answer(convert, thoughtjack):
    """Not 0.6.0 with OATF: it reads the text "on" as true, and ends when the last phase begins."""
    for seed in range(SERVED):
        session, path = convert(seed, "simple", "thoughtjack")
        results = served(thoughtjack("0.4.1", "server", "run", "--config", path, stdin=requests(session)))
        assert [results[n]["content"] for n in range(len(session.answers))] == [content for _, content in session.answers], seed


def test_thoughtjack_differs_from_its_specification_as_documented(mcpreel, thoughtjack, tmp_path):
    """docs/formats/thoughtjack.md: it rejects prompts, and gives the first response of a resource."""
    prompt, resource = Session([tool("a")]), Session([tool("a")])
    prompt.ask("prompts/get", {"name": "p"}, {"messages": [{"role": "assistant", "content": {"type": "text", "text": "x"}}]})
    for text in "one", "two":
        resource.ask("resources/read", {"uri": "file:///a"}, {"contents": [{"uri": "file:///a", "text": text}]})
    for name, session in ("prompt", prompt), ("resource", resource):
        source = session.save(tmp_path / "session.jsonl")
        subprocess.run([mcpreel, "-q", "convert", source, "-o", tmp_path / f"{name}.yaml"], check=True)
    (tmp_path / "without.yaml").write_text((tmp_path / "prompt.yaml").read_text().split("\nprompts:")[0] + "\n")
    report = json.loads(thoughtjack("0.4.1", "server", "validate", "--format", "json", *(tmp_path / f"{name}.yaml" for name in ("prompt", "without", "resource"))).stdout)
    assert [file["valid"] for file in report["files"]] == [False, True, True]
    asked = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "resources/read", "params": {"uri": "file:///a"}}) + "\n" for n in range(2))
    results = served(thoughtjack("0.4.1", "server", "run", "--config", tmp_path / "resource.yaml", stdin=asked))
    assert [results[n]["contents"][0]["text"] for n in range(2)] == ["one", "one"]

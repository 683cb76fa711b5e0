"""Run the examples of the program's own help: those of every command, of the overviews and of the topics.

Each example runs with bash in a fresh directory that holds the files it names. It must end with 0, and it may create no file whose name is
not in it. 'node', 'npx' and 'python' there start the demo server.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from test_docs import PATIENCE_S, reader

PROGRAM = pathlib.Path(os.environ.get("MCPREEL", pathlib.Path(__file__).resolve().parents[2] / "build/mcpreel")).resolve()


def helped(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def section(text, heading):
    return re.search(rf"^{heading}:\n((?:  .*\n)+)", text, re.M)


def names(heading):
    return re.findall(r"^  (\S+) ", section(helped("help"), heading)[1], re.M)


def examples_of(text):
    found = section(text, "Examples")
    return re.findall(r"^  (\S.*)$", found[1], re.M) if found else []


def all_examples():
    for text in [helped(), helped("help"), *(helped("help", name) for name in names("Commands"))]:
        yield from examples_of(text)


EXAMPLES = sorted(set(all_examples()))
REQUESTS = [
    {"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"method": "tools/list"},
    {"method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Lisbon"}}},
    {"method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Porto"}}},
]
CLIENT = "".join(json.dumps({"jsonrpc": "2.0", **({} if "notif" in message["method"] else {"id": n}), **message}) + "\n"
                 for n, message in enumerate(REQUESTS, 1))
RECORDINGS = ["session.jsonl", "a.jsonl", "b.jsonl", "crashed.jsonl", "old.json", "recordings/one.jsonl", "recordings/two.jsonl"]

SCENARIOS = """target: {command: node}
scenarios:
  tools: {actions: [list_tools]}
  weather: {actions: [{call_tool: {name: weather, arguments: {city: Lisbon}}}]}
"""


@pytest.fixture(scope="session")
def recording(tmp_path_factory):
    """A session of the demo server in which nothing is wrong, as recording and as cassette, and the lock of its server."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([PROGRAM, "record", "-o", folder / "r.jsonl", "--", PROGRAM, "demo", "server"], input=CLIENT, text=True, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([PROGRAM, "convert", folder / "r.jsonl", "-o", folder / "r.json"], check=True)
    subprocess.run([PROGRAM, "lock", folder / "r.lock.json", folder / "r.jsonl"], check=True)
    return folder / "r"


def make_example_files(folder, example, recording):
    """The files and programs that an example may name, but not those that it is to make."""
    tools = folder / "tools"
    for name in ("tools", "recordings", "traces", ".zfunc", ".config/fish/completions"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("node", "npx", "python"):
        (tools / name).write_text("#!/bin/sh\nexec mcpreel demo server\n")
        (tools / name).chmod(0o755)
    words = shlex.split(example)
    made = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "-o"]
    for name in set(RECORDINGS) - set(made):
        (folder / name).write_bytes(recording.with_suffix(pathlib.Path(name).suffix).read_bytes())
    if "--check" in words:
        (folder / "mcp.lock.json").write_bytes(recording.with_suffix(".lock.json").read_bytes())
    (folder / "scenarios.yml").write_text(SCENARIOS)
    if "run --verify" in example:
        subprocess.run([PROGRAM, "-q", "run", "scenarios.yml"], cwd=folder, check=True,
                       env={**os.environ, "PATH": f"{tools}:{PROGRAM.parent}:{os.environ['PATH']}"})
    (folder / "crashed.jsonl").write_bytes((folder / "crashed.jsonl").read_bytes()[:-100])
    if "--git" in words:
        git = ["git", "-c", "user.name=me", "-c", "user.email=me@localhost"]
        for command in ("init -q", "add session.jsonl", "commit -qm session"):
            subprocess.run([*git, *command.split()], cwd=folder, check=True)


def files_in(folder):
    return {os.fspath(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def bash(example, it):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", example], cwd=it.folder, env=it.env, input=CLIENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    assert done.returncode == 0, f"{example}\n{done.stdout}"


def test_every_command_with_operands_or_options_has_examples():
    assert [name for name in names("Commands") if not examples_of(helped("help", name))] == ["version"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_works_and_makes_only_what_it_names(example, tmp_path, mcpreel, peer_home, recording):
    with reader(tmp_path, mcpreel, example, peer_home) as it:
        make_example_files(tmp_path, example, recording)
        it.env |= {"HOME": os.fspath(tmp_path), "API_KEY": "key-5b1fe0a7c9d2", "PATH": f"{tmp_path / 'tools'}:{it.env['PATH']}"}
        it.env.pop("XDG_STATE_HOME", None)
        it.env.pop("MCPREEL_DIR", None)
        before = files_in(tmp_path)
        if "--listen" in example:
            it.type("sh server", example)
            it.type(None, None)
        else:
            bash(example, it)
        # Folders of recordings without a name and of the hosts, and the defaults of 'demo' and 'run'.
        own = (".local/state/mcpreel/", "traces/", "world/", "mcpreel-demo.jsonl", "cassettes/")
        assert [name for name in files_in(tmp_path) - before if name not in example and not name.startswith(own)] == []


def filters():
    """The left column of the table that the topic begins with; it may hold several."""
    for line in section(":\n" + helped("help", "filters").partition("\n\n")[2], "")[1].splitlines():
        yield from re.split(r" {2,}", line[2:27].strip())


@pytest.mark.parametrize("text", list(filters()))
def test_every_filter_of_the_topic_is_valid(text, recording, run, mcpreel):
    done = run([mcpreel, "show", recording.with_suffix(".jsonl"), "--filter", text])
    assert done.code == 0, done

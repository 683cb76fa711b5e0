"""The Python and shell examples: installed from the built wheel into an empty environment, with the commands of their READMEs.

The other packages come from groups of tools/peers: with PYTHONPATH, pip finds them installed. Planted faults, among them
those that the READMEs propose, must make the commands fail.
"""
import functools
import pathlib
import re
import shutil
import sys

import pytest

pytestmark = pytest.mark.interop

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
COMMANDS = {  # language of a block: what a shell gets of it
    "sh": lambda text: [text],
    "yaml steps": lambda text: re.findall(r"^- run: (.*)$", text, re.M),
    "yaml script": lambda text: re.findall(r"^    - (.*)$", text, re.M),
}
PEERS = {"python-fastmcp": ("fastmcp", "python"), "shell-ci": ()}


class Example:
    """A copy of an example, for a user who has only these variables."""

    def __init__(self, folder, variables, run):
        self.folder, self.variables, self.run_program = folder, variables, run

    def run(self, command):
        words = [f"{name}={value}" for name, value in self.variables.items()]
        return self.run_program(["env", "-i", *words, "bash", "-euo", "pipefail", "-c", command], cwd=self.folder)

    def copy(self, folder):
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(".venv"))
        return Example(folder, self.variables, self.run_program)

    def readme(self):
        """The commands, in order."""
        blocks = BLOCK.findall((self.folder / "README.md").read_text())
        return [command for language, text in blocks for command in COMMANDS[language](text)]

    def replace(self, name, *changes):
        path = self.folder / name
        text = path.read_text()
        for old, new in changes:
            assert text.count(old) == 1, f"{name} does not have '{old}' once"
            text = text.replace(old, new)
        path.write_text(text)


def is_install(command):
    return "pip install" in command


@pytest.fixture(scope="module")
def repository(build_wheels, tmp_path_factory):
    """A folder with the examples and the wheel, as 'make dist' leaves it."""
    home = tmp_path_factory.mktemp("repository")
    (home / "build/dist").mkdir(parents=True)
    build_wheels(home / "build/dist", "python")
    made = shutil.ignore_patterns(".venv", "reports", "mcp-traces", "__pycache__", ".pytest_cache")
    for name in PEERS:
        shutil.copytree(ROOT / "examples" / name, home / "examples" / name, ignore=made)
    return home


@pytest.fixture(scope="module")
def installed_example(repository, peer_home, run):
    """An example, by its name, after the installation of its README."""
    @functools.cache
    def install(name):
        folder = repository / "examples" / name
        python = pathlib.Path(sys.executable).parent  # for 'python3 -m venv'
        packages = [site for group in PEERS[name] for site in peer_home(group).glob("lib/python3*/site-packages")]
        example = Example(folder, {
            "PATH": f"{folder}/.venv/bin:{python}:/usr/bin:/bin", "HOME": folder, "CI": "1", "PIP_NO_INDEX": "1",
            "PYTHONPATH": ":".join(map(str, packages)), "PYTHONDONTWRITEBYTECODE": "1"}, run)
        (command,) = filter(is_install, example.readme())
        ran = example.run(command)
        assert ran.code == 0, ran
        assert b"Successfully installed mcpreel-" in ran.out, ran
        return example

    return install


@pytest.fixture
def fastmcp_example(installed_example, tmp_path):
    return installed_example("python-fastmcp").copy(tmp_path / "copy")


@pytest.fixture
def shell_example(installed_example, tmp_path):
    return installed_example("shell-ci").copy(tmp_path / "copy")


def reports_with_failures(example):
    reports = {path.stem: path.read_text() for path in (example.folder / "reports").glob("*.xml")}
    assert set(reports) == {"lock", "scenarios", "verify", "replay", "recording"}
    return {name for name, text in reports.items() if "<failure" in text}


def run_readme(example):
    """Output of the commands after the installation; each must succeed."""
    output = []
    for command in example.readme():
        if not is_install(command):
            ran = example.run(command)
            assert ran.code == 0, ran
            output.append(ran.out.decode())
    return output


def recordings(folder):
    return sorted(path.name for path in (folder / "recordings").rglob("*.jsonl"))


def test_the_commands_of_the_fastmcp_example_work(fastmcp_example):
    everything, verified, recorded = run_readme(fastmcp_example)
    assert re.search(r"^=+ 19 passed in ", everything, re.M), everything
    assert "calls: 13 replayed" in verified
    assert "calls: 16 recorded" in recorded
    assert recordings(fastmcp_example.folder) == recordings(ROOT / "examples/python-fastmcp")


def test_the_commands_of_the_shell_example_work(shell_example):
    run_readme(shell_example)
    assert not reports_with_failures(shell_example)
    assert recordings(shell_example.folder) == recordings(ROOT / "examples/shell-ci")
    assert (shell_example.folder / "mcp.lock.json").read_bytes() == (ROOT / "examples/shell-ci/mcp.lock.json").read_bytes()


STOCK = ("    ITEMS[cancelled.item].stock += cancelled.count\n", "")
COUNT = ('"count": count}', '"count": count + 1}')


@pytest.mark.parametrize("file, change, tests, output", [
    ("server.py", STOCK, "test_server.py -k out_of_stock",
     ["1 failed, 6 passed", "tools/call cancel", "- 3  recorded", "+ 2  live"]),
    ("agent.py", COUNT, "test_agent.py", ["2 failed, 1 passed", "$.params.arguments.count: recorded 1, got 2"]),
], ids=["server", "client"])
def test_a_fault_fails_the_tests_of_the_fastmcp_example(fastmcp_example, file, change, tests, output):
    fastmcp_example.replace(file, change)
    ran = fastmcp_example.run(f"python -m pytest {tests}")
    assert ran.code == 1, ran
    assert [text for text in output if text not in ran.out.decode()] == [], ran


def test_a_missing_recording_fails_the_fastmcp_example_in_ci(fastmcp_example):
    missing = fastmcp_example.folder / "recordings/test_agent/test_a_name_of_two_items_is_not_ordered.jsonl"
    missing.unlink()
    ran = fastmcp_example.run("python -m pytest test_agent.py")
    assert ran.code == 1, ran
    assert f"there is no recording {missing} (mode none)" in ran.out.decode(), ran
    assert not missing.exists()


TEXT = ('" …" if', '"" if')
ARGUMENT = (('"words": {"type"', '"count": {"type"'), ('["text", "words"]', '["text", "count"]'),
            ("def shorten(text, words):\n", "def shorten(text, count):\n    words = count\n"))


@pytest.mark.parametrize("file, changes, failures", [
    ("server.py", [TEXT], {"scenarios", "verify"}),
    ("server.py", ARGUMENT, {"lock", "scenarios", "verify"}),
    ("client.py", [("words=5", "words=6")], {"replay"}),
    ("recordings/client.jsonl", [('"name": "count_words"', '"name": "unknown"')], {"verify", "replay", "recording"}),
    ("scenarios.yml", [("      - list_tools\n", "      - list_prompts\n")], {"scenarios"}),
], ids=["text", "argument", "client", "recording", "scenarios"])
def test_a_fault_fails_the_checks_of_the_shell_example(shell_example, file, changes, failures):
    shell_example.replace(file, *changes)
    ran = shell_example.run("./ci.sh")
    assert ran.code == 1, ran
    assert reports_with_failures(shell_example) == failures, ran
    assert set(re.findall(r"^ci.sh: (\w+) failed with exit code 1$", ran.err.decode(), re.M)) == failures, ran

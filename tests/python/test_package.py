"""The Python package: its functions, its wheel, and that ruff and mypy accept it."""
import ast
import asyncio
import importlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/src"
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel"))
sys.path.insert(0, str(PACKAGE))
import mcpreel  # noqa: E402


@pytest.fixture(scope="session")
def tools():
    """The Python that has ruff, mypy and hatchling."""
    p = subprocess.run([ROOT / "tools/peers", "python-tools"], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(p.stdout.strip()) / "bin/python"


@pytest.fixture(autouse=True)
def program(monkeypatch):
    monkeypatch.setenv("MCPREEL", str(PROGRAM))


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def test_ruff_accepts_the_package(tools):
    for command in (["check"], ["format", "--check"]):
        p = run(tools, "-m", "ruff", *command, "--no-cache", ROOT / "python", ROOT / "python-mcp-recorder")
        assert p.returncode == 0, p.stdout


def test_mypy_accepts_the_package(tools, tmp_path):
    p = run(tools, "-m", "mypy", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir", tmp_path, PACKAGE)
    assert p.returncode == 0, p.stdout


def test_mypy_accepts_the_package_with_the_names_of_mcp_recorder(tools, tmp_path):
    p = run(tools, "-m", "mypy", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir", tmp_path,
            ROOT / "python-mcp-recorder/src", env={**os.environ, "MYPYPATH": str(PACKAGE)})
    assert p.returncode == 0, p.stdout


def test_record_session_records_a_cassette(tmp_path):
    async def go():
        async with mcpreel.RecordSession(command=[PROGRAM, "demo", "server"], output=tmp_path / "a.json") as client:
            await client.list_tools()
            answer = await client.call_tool("weather", {"city": "Lisbon"})
            return answer["result"]["structuredContent"]["city"]

    assert asyncio.run(go()) == "Lisbon"
    cassette = json.loads((tmp_path / "a.json").read_text())
    assert [i["request"]["method"] for i in cassette["interactions"] if i["type"] != "lifecycle"] == [
        "initialize", "notifications/initialized", "tools/list", "tools/call"]


def test_record_session_of_a_url_redacts_as_asked(tmp_path):
    async def go(url):
        async with mcpreel.RecordSession(target=url, output=tmp_path / "b.json", redact_patterns=["Lis[a-z]+"]) as client:
            return await client.call_tool("weather", {"city": "Lisbon"})

    async def all_of_it():
        async with mcpreel.RecordSession(command=[PROGRAM, "demo", "server"], output=tmp_path / "a.json") as client:
            return await go(client._url.geturl())

    assert "Lisbon" in str(asyncio.run(all_of_it()))
    responses = [i.get("response") for i in json.loads((tmp_path / "b.json").read_text())["interactions"]]
    assert "Lisbon" not in str(responses)
    assert "[REDACTED]" in str(responses)


def test_a_server_that_does_not_start_is_an_error_with_its_reason(tmp_path):
    async def go():
        async with mcpreel.RecordSession(command=["/no/such/server"], output=tmp_path / "a.json") as client:
            return await client.list_tools()

    with pytest.raises(mcpreel.McpreelError):
        asyncio.run(go())
    assert not (tmp_path / "a.json").exists()


def test_a_server_that_does_not_answer_leaves_an_old_file(tmp_path):
    async def go():
        async with mcpreel.RecordSession(command="false", output=tmp_path / "a.json") as client:
            return await client.list_tools()

    (tmp_path / "a.json").write_text("old")
    with pytest.raises(mcpreel.McpreelError, match="did not answer initialize"):
        asyncio.run(go())
    assert (tmp_path / "a.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_replay_of_a_missing_file_is_an_error_with_its_reason(tmp_path):
    with pytest.raises(mcpreel.McpreelError, match="no-such.jsonl"), mcpreel.ReplayServer(tmp_path / "no-such.jsonl"):
        pass


def test_the_report_of_a_replay_names_what_was_not_recorded(recording):
    async def ask(url):
        async with mcpreel.McpClient(url) as client:
            await client.initialize()
            return await client.call_tool("weather", {"city": "Oslo"})

    with mcpreel.ReplayServer(recording, options=["--fail-at-end"]) as server:
        assert "error" in asyncio.run(ask(server.url))
    assert server.exit_code == 1
    assert [m["subject"] for m in server.report["unmatched_requests"]] == ["weather"]


def test_verify_returns_the_verdicts(recording):
    same = mcpreel.verify(recording, command=[PROGRAM, "demo", "server"])
    assert same.failed == 0
    assert same.passed == same.total > 5
    changed = mcpreel.verify(recording, command=[PROGRAM, "demo", "server", "--changed"])
    assert [r.method for r in changed.results if not r.passed] == ["tools/call [divide]"]


def test_a_missing_program_is_named_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("MCPREEL", str(tmp_path / "none"))
    with pytest.raises(mcpreel.MissingProgramError, match="is no program"):
        mcpreel.find_program()


def test_a_wheel_installs_the_program_and_the_plugin(build_wheels, tmp_path):
    (wheel,) = build_wheels(tmp_path, "python")
    assert wheel.name.endswith(f"-py3-none-linux_{platform.machine()}.whl")
    assert any(name.endswith(".data/scripts/mcpreel") for name in zipfile.ZipFile(wheel).namelist())
    assert b"MIT License" in zipfile.ZipFile(wheel).read("mcpreel/LICENSES.txt")
    venv.create(tmp_path / "venv", with_pip=True)
    p = run(tmp_path / "venv/bin/pip", "install", "--no-index", "--no-deps", wheel)
    assert p.returncode == 0, p.stdout
    p = run(tmp_path / "venv/bin/python", "-c", "import mcpreel; print(mcpreel.find_program())", env={"PATH": "/usr/bin:/bin"})
    assert p.stdout.strip() == str(tmp_path / "venv/bin/mcpreel")
    assert run(tmp_path / "venv/bin/mcpreel", "version").stdout.startswith("mcpreel ")


@pytest.fixture(scope="session")
def switched(build_wheels, tmp_path_factory):
    """A virtual environment with the wheels mcpreel and mcpreel-mcp-recorder."""
    home = tmp_path_factory.mktemp("switched")
    wheels = build_wheels(home, "python", "python-mcp-recorder")
    venv.create(home / "venv", with_pip=True)
    p = run(home / "venv/bin/pip", "install", "--no-index", "--no-deps", *wheels)
    assert p.returncode == 0, p.stdout
    return home / "venv"


def test_the_names_of_mcp_recorder_are_those_of_mcpreel(switched, recording):
    p = run(switched / "bin/python", "-c", "import mcp_recorder, mcpreel; print(mcp_recorder.RecordSession is mcpreel.RecordSession)")
    assert p.stdout.strip() == "True"
    p = run(switched / "bin/python", "-c", "import mcp_recorder; print(mcp_recorder.__version__, hasattr(mcp_recorder, 'other'))")
    assert p.stdout.strip() == f"{VERSION} False"
    p = run(switched / "bin/mcp-recorder", "inspect", recording, env={"PATH": "/usr/bin:/bin"})
    assert p.returncode == 0, p.stdout
    assert "mcpreel-demo" in p.stdout


def test_beside_mcp_recorder_itself_the_other_wheel_says_so_and_does_nothing(switched, recording):
    (site,) = switched.glob("lib/python3*/site-packages")
    (site / "mcp_recorder").mkdir()
    (site / "mcp_recorder/__init__.py").write_text("RecordSession = 'the real one'\n")
    (site / "mcp_recorder/cli.py").write_text("def main():\n    print('the real command')\n")
    info = site / "mcp_recorder-0.5.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp-recorder\nVersion: 0.5.0\n")
    try:
        p = run(switched / "bin/python", "-c", "import mcp_recorder; print(mcp_recorder.RecordSession)")
        assert p.stdout.strip() == "the real one"
        p = run(switched / "bin/mcp-recorder", "inspect", recording, env={"PATH": "/usr/bin:/bin"})
        assert p.returncode == 0
        assert "mcp-recorder 0.5.0 is installed and runs" in p.stdout
        assert "the real command" in p.stdout
    finally:
        shutil.rmtree(site / "mcp_recorder")
        shutil.rmtree(info)


def test_a_wheel_without_the_program_is_refused_with_what_to_do(tools, tmp_path):
    p = run(tools, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT / "python",
            env={"PATH": "/usr/bin:/bin"})
    assert p.returncode != 0
    assert "make dist" in p.stdout
    assert not list(tmp_path.glob("*.whl"))


def test_the_examples_of_the_docs_are_python_and_import_what_exists():
    page = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    imported = set()
    for block in blocks:
        tree = compile(block, "docs/python.md", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), block
                imported.update(alias.name for alias in node.names)
    assert imported >= {"RecordSession", "ReplayServer", "verify", "mcp_suite"}

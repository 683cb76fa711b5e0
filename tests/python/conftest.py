import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/src"
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel"))


class Tests:
    """A folder with a test file, which a pytest of its own runs with the plugin."""

    def __init__(self, folder, source):
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items()
                            if name != "CI" and not name.startswith("PYTEST_")}
        self.environment.update(MCPREEL=str(PROGRAM), PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1")
        (folder / "test_it.py").write_text(HEAD + source)

    def run(self, *arguments, **environment):
        p = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "mcpreel.pytest_plugin", "-p", "no:cacheprovider",
                            *arguments], cwd=self.folder, env={**self.environment, **environment},
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found = {word: int(count) for count, word in
                 re.findall(r"(\d+) (passed|failed|skipped|error)", p.stdout.splitlines()[-1] if p.stdout else "")}
        return p.returncode, found, p.stdout

    def files(self, pattern):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(pattern) if path.is_file())


# The tests of these folders use the demo server, and a client for each transport.
HEAD = '''
import asyncio, json, os, subprocess
import pytest
from mcpreel import McpClient, RecordSession
from mcpreel.suite import mcp_suite

SERVER = [os.environ["MCPREEL"], "demo", "server"]

def weather(url, city):
    async def go():
        async with McpClient(url) as client:
            await client.initialize()
            return await client.call_tool("weather", {"city": city})
    return asyncio.run(go())

def weather_on_stdio(command, city):
    lines = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
              "clientInfo": {"name": "test", "version": "1"}}},
             {"method": "notifications/initialized"},
             {"id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {"city": city}}}]
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + chr(10) for line in lines)
    p = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in p.stdout.splitlines()][-1]

'''


@pytest.fixture
def tests(tmp_path):
    return lambda source: Tests(tmp_path, source)


@pytest.fixture
def recording(tmp_path):
    """A recording of the demo session in the folder of the tests."""
    path = tmp_path / "demo.jsonl"
    subprocess.run([PROGRAM, "-q", "demo", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path

"""Real clients log in at a real authorization server that is on the MCP server's own origin, and gives tokens for that
server alone: without mcpreel, and through 'mcpreel record'."""
import json
import subprocess
import sys
import urllib.parse

import pytest

from conformance import SCRIPTS, listening, recording
from processes import TIMEOUT_S, line_of, started


@pytest.fixture
def server(conformance_runner, tmp_path):
    """The URL of a server that wants a login."""
    errors = tmp_path / "server.err"
    with errors.open("wb") as err, started([conformance_runner.node, SCRIPTS / "login-server.mjs", conformance_runner.home], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=err) as process:
        yield line_of(process.stdout.fileno(), process)
        process.stdin.close()
        assert process.wait(TIMEOUT_S) == 0
    assert errors.read_bytes() == b""


TYPESCRIPT, PYTHON = "TypeScript", "Python"


@pytest.fixture
def run_login(conformance_runner, run):
    """Runs a client that fails unless its login succeeds."""
    def make(client, url, revision="2025-11-25"):
        if client == PYTHON:
            return run([sys.executable, SCRIPTS / "py-login.py", url])
        return run([conformance_runner.node, SCRIPTS / "conformance-auth.mjs", conformance_runner.home, url],
                   env={"MCP_CONFORMANCE_SCENARIO": "a login", "MCP_CONFORMANCE_PROTOCOL_VERSION": revision})

    return make


@pytest.mark.interop
@pytest.mark.parametrize("client", [TYPESCRIPT, PYTHON])
def test_a_client_logs_in(server, run_login, client):
    ran = run_login(client, server)
    assert ran.code == 0, str(ran)


@pytest.mark.parametrize("client,revision,path", [
    (TYPESCRIPT, "2025-11-25", "/"), (PYTHON, "2025-11-25", "/mcp"),
    *(pytest.param(*which, marks=pytest.mark.interop) for which in [
        (TYPESCRIPT, "2025-11-25", "/mcp"), (PYTHON, "2025-11-25", "/"), (TYPESCRIPT, "2026-07-28", "/mcp"), (TYPESCRIPT, "2026-07-28", "/")])])
def test_a_client_logs_in_through_the_recorder(server, run_login, mcpreel, tmp_path, client, revision, path):
    file, errors = tmp_path / "r.jsonl", tmp_path / "err"
    with listening([*recording(mcpreel, server, file), "-vv"], errors) as address:
        ran = run_login(client, urllib.parse.urljoin(address, path), revision)
    assert ran.code == 0, str(ran)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["status"] for line in lines if line.get("ev") == "response"].count(401) >= 1
    assert any(line.get("msg", {}).get("result", {}).get("content") == [{"type": "text", "text": "let in"}] for line in lines)
    for text in (file.read_text(), errors.read_text()):
        assert "token-" not in text and "code-" not in text and "client_secret" not in text

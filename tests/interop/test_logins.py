"""A real client logs in at a real authorization server that is on the MCP server's own origin, and gives tokens for that
server alone: without mcpreel, and through 'mcpreel record'."""
import json
import subprocess
import urllib.parse

import pytest

from conformance import SCRIPTS, listening, recording
from processes import PATIENCE_S, line_of, started


@pytest.fixture
def server(judge, tmp_path):
    """The URL of a server that wants a login."""
    errors = tmp_path / "server.err"
    with errors.open("wb") as err, started([judge.node, SCRIPTS / "login-server.mjs", judge.home], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=err) as process:
        yield line_of(process.stdout.fileno(), process)
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
    assert errors.read_bytes() == b""


@pytest.fixture
def visit(judge, run):
    def make(url, revision):
        return run([judge.node, SCRIPTS / "conformance-auth.mjs", judge.home, url],
                   env={"MCP_CONFORMANCE_SCENARIO": "a login", "MCP_CONFORMANCE_PROTOCOL_VERSION": revision})

    return make


def test_a_client_logs_in(server, visit):
    ran = visit(server, "2025-11-25")
    assert ran.code == 0, str(ran)


@pytest.mark.parametrize("path", ["/mcp", "/"])
@pytest.mark.parametrize("revision", ["2025-11-25", pytest.param("2026-07-28", marks=pytest.mark.interop)])
def test_a_client_logs_in_through_the_recorder(server, visit, mcpreel, tmp_path, path, revision):
    file, errors = tmp_path / "r.jsonl", tmp_path / "err"
    with listening([*recording(mcpreel, server, file), "-vv"], errors) as address:
        ran = visit(urllib.parse.urljoin(address, path), revision)
    assert ran.code == 0, str(ran)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["status"] for line in lines if line.get("ev") == "response"].count(401) >= 1
    assert any(line.get("msg", {}).get("result", {}).get("content") == [{"type": "text", "text": "let in"}] for line in lines)
    for text in (file.read_text(), errors.read_text()):
        assert "token-" not in text and "code-" not in text and "client_secret" not in text

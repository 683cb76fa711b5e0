"""lock with real servers: the lock of a server is stable, a check of the same server finds nothing, and a planted change is found
by its rule, on stdio and over HTTP.

A change is planted in the lock file, not in the server.
"""
import json

import pytest

from peers import stdio_server_named

MAIN = ["everything", "python"]
OTHERS = ["filesystem", "memory", "fastmcp", "go", "rmcp", "ts", "ts-1.9", "ts-1.24", "ts-2"]
STDIO = [*MAIN, *(pytest.param(name, marks=pytest.mark.interop) for name in OTHERS)]


@pytest.fixture
def lock(peer_runner, mcpreel, run):
    def make(server, *words):
        folder = peer_runner.folder(server)
        folder.mkdir(exist_ok=True)
        stdio_server_named(server).prepare(folder)
        return run([mcpreel, "lock", *words, "--", *peer_runner.server(server)], timeout=120, env=stdio_server_named(server).env(folder))

    return make


@pytest.mark.parametrize("server", STDIO)
def test_a_lock_is_stable_and_a_change_is_found(lock, tmp_path, server):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert lock(server, first).code == 0
    assert lock(server, second).code == 0
    assert first.read_bytes() == second.read_bytes()
    clean = lock(server, "--json", "--check", first)
    assert clean.code == 0, str(clean)
    assert json.loads(clean.out)["findings"] == []
    surface = json.loads(first.read_text())
    assert len(surface["tools"]) > 1
    gone = surface["tools"][0]["name"]
    planted = {**surface["tools"][0], "name": "planted", "description": "A tool that the server does not have."}
    changed = {**surface["tools"][1], "description": "Another description."}
    first.write_text(json.dumps({**surface, "tools": [planted, changed, *surface["tools"][2:]]}))
    ran = lock(server, "--json", "--check", first)
    assert ran.code == 1, str(ran)
    found = {(finding["rule"], finding["name"]) for finding in json.loads(ran.out)["findings"]}
    assert {("tool.removed", "planted"), ("tool.added", gone), ("tool.description.changed", changed["name"])} <= found
    assert len({rule for rule, _ in found} - {"text.url.added"}) == 3, found


@pytest.mark.parametrize("server", ["ts", "python"])
def test_a_server_at_a_url_is_compared_with_its_lock_and_its_recording(recorded_http, peer_runner, mcpreel, run, tmp_path, server):
    """A recording may lack lists that the lock has; what both have is the same."""
    client = {"ts": "ts", "python": "py"}[server]
    recording, lock = recorded_http(client, server).file, tmp_path / "lock.json"
    with peer_runner.serve_http(server) as url:
        assert run([mcpreel, "lock", "--url", url, lock], timeout=120).code == 0
        for file in (lock, recording):
            ran = run([mcpreel, "--json", "diff", "--exit-code", "--url", url, file], timeout=120)
            assert ran.code == 0, str(ran)
            report = json.loads(ran.out)
            assert report["contract"]["findings"] == [] and report["calls"] == [] and report["after"] == url

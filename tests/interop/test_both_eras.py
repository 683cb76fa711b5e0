"""Clients of both eras, and of several revisions, visit one 'record --listen'. Each hears of the replay what was said to
its own kind, whoever comes first and however often."""
from urllib.parse import urlsplit

import pytest

from conformance import listening, recording, replaying
from peers import apart, assert_same

pytestmark = pytest.mark.interop

# (server, who was recorded in this order, who comes to the replay in this order)
VISITS = [
    ("ts-2", ["ts", "ts-2-auto"], ["ts", "ts-2-auto", "ts", "ts-2-auto"]),
    ("ts-2", ["ts-2-auto", "ts"], ["ts", "ts-2-auto"]),
    ("ts-2", ["ts-1.13", "ts", "py-auto"], ["ts", "ts", "py-auto", "ts-1.13"]),
    ("python", ["py-auto", "py", "py-auto"], ["py", "py-auto", "py"]),
]


@pytest.fixture
def taped_visits(stage, mcpreel):
    """One recording of several clients, one after the other. The server is gone."""
    def make(clients, server):
        where = stage.fresh()
        with stage.serve(server) as url, listening(recording(mcpreel, url, where / "all.jsonl"), where / "err") as address:
            for client in clients:
                stage.visit(client, server, address + urlsplit(url).path)
        return where / "all.jsonl"

    return make


@pytest.mark.parametrize("how", ["sequential", "by-request", "fuzzy"])
@pytest.mark.parametrize("server,told,heard", VISITS)
def test_each_hears_what_was_said_to_its_own_kind(stage, mcpreel, visited, taped_visits, server, told, heard, how):
    file, errors = taped_visits(told, server), stage.fresh() / "err"
    with listening([*replaying(mcpreel, file, "--match", how), "-v"], errors) as address:
        for client in heard:
            assert_same(apart(visited(client, server), server), apart(stage.visit(client, server, f"{address}/mcp"), server))
    assert "of another session" not in errors.read_text()

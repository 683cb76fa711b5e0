"""Clients of both protocols, and of several versions, use one 'record --listen'. In the replay each gets the responses to
clients of its own protocol, in any order and any number of times."""
import functools
from urllib.parse import urlsplit

import pytest

from conformance import listening, recording, replaying
from peers import apart, assert_same, document_of

pytestmark = pytest.mark.interop

# (server, who was recorded in this order, who comes to the replay in this order, how it is matched)
VISITS = [
    ("ts-2", ("ts", "ts-2-auto"), ("ts", "ts-2-auto", "ts", "ts-2-auto"), "sequential"),
    ("ts-2", ("ts", "ts-2-auto"), ("ts-2-auto", "ts"), "by-request"),
    ("ts-2", ("ts", "ts-2-auto"), ("ts-2-auto", "ts"), "fuzzy"),
    ("ts-2", ("ts-1.13", "ts", "py-auto"), ("ts", "ts", "py-auto", "ts-1.13"), "sequential"),
    ("python", ("py-auto", "py", "py-auto"), ("py", "py-auto", "py"), "sequential"),
    ("python", ("py-auto", "py", "py-auto"), ("py-auto", "py"), "by-request"),
]


@pytest.fixture(scope="module")
def taped_visits(stage, mcpreel):
    """One recording of several clients, one after the other. The server is gone."""
    @functools.cache
    def make(clients, server):
        where = stage.fresh()
        with stage.serve(server) as url, listening(recording(mcpreel, url, where / "all.jsonl"), where / "err") as address:
            for client in clients:
                stage.visit(client, server, address + urlsplit(url).path)
        return where / "all.jsonl"

    return make


@pytest.mark.parametrize("server,told,heard,how", VISITS)
def test_each_client_gets_the_responses_of_its_protocol(stage, mcpreel, visited, taped_visits, server, told, heard, how):
    file, errors = taped_visits(told, server), stage.fresh() / "err"
    with listening([*replaying(mcpreel, file, "--match", how), "-v"], errors) as address:
        for client in heard:
            assert_same(apart(visited(client, server), server), apart(stage.visit(client, server, f"{address}/mcp"), server))
    assert ", of another " not in errors.read_text()


OF_AN_ERA = ("_meta", "resultType", "ttlMs", "cacheScope")


def beyond_eras(value):
    """The same document without what answers have in one era only."""
    if isinstance(value, dict):
        return {key: beyond_eras(one) for key, one in value.items() if key not in OF_AN_ERA}
    return [beyond_eras(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("teller,listener", [("ts", "ts-2-auto"), ("ts-2-auto", "ts"), ("py", "py-auto"), ("py-auto", "py")])
def test_a_call_of_the_other_protocol_is_converted(stage, mcpreel, visited, teller, listener):
    """The listener was recorded, too, but all it asked for was the list of tools."""
    where = stage.fresh()
    (where / "short.json").write_text('{"answers": {}, "steps": [{"ask": "tools/list"}]}')
    with stage.serve("ts-2") as url, listening(recording(mcpreel, url, where / "all.jsonl"), where / "err") as address:
        document_of(stage.run([*stage.client(listener), "--url", f"{address}/mcp", where / "short.json"]))
        stage.visit(teller, "ts-2", f"{address}/mcp")
    with listening([*replaying(mcpreel, where / "all.jsonl"), "-v"], where / "err") as address:
        heard = stage.visit(listener, "ts-2", f"{address}/mcp")
    assert_same(beyond_eras(apart(visited(listener, "ts-2"), "ts-2")), beyond_eras(apart(heard, "ts-2")))
    assert "tools/list answered with" not in (where / "err").read_text()
    assert "of another protocol" in (where / "err").read_text()

"""Clients of both protocols, and of several versions, use one 'record --listen'. In the replay each gets the responses to
clients of its own protocol, in any order and any number of times."""
import functools
from urllib.parse import urlsplit

import pytest

from conformance import listening, recording, replaying
from peers import group_unsolicited, assert_same, document_of

pytestmark = pytest.mark.interop

# (server, who was recorded in this order, who comes to the replay in this order, how it is matched)
SESSIONS = [
    ("ts-2", ("ts", "ts-2-auto"), ("ts", "ts-2-auto", "ts", "ts-2-auto"), "sequential"),
    ("ts-2", ("ts", "ts-2-auto"), ("ts-2-auto", "ts"), "by-request"),
    ("ts-2", ("ts", "ts-2-auto"), ("ts-2-auto", "ts"), "fuzzy"),
    ("ts-2", ("ts-1.13", "ts", "py-auto"), ("ts", "ts", "py-auto", "ts-1.13"), "sequential"),
    ("python", ("py-auto", "py", "py-auto"), ("py", "py-auto", "py"), "sequential"),
    ("python", ("py-auto", "py", "py-auto"), ("py-auto", "py"), "by-request"),
]


@pytest.fixture(scope="module")
def recorded_http_sessions(peer_runner, mcpreel):
    """One recording of several clients, one after the other. The server is gone."""
    @functools.cache
    def make(clients, server):
        where = peer_runner.new_folder()
        with peer_runner.serve_http(server) as url, listening(recording(mcpreel, url, where / "all.jsonl"), where / "err") as address:
            for client in clients:
                peer_runner.run_http(client, server, address + urlsplit(url).path)
        return where / "all.jsonl"

    return make


@pytest.mark.parametrize("server,recorded_clients,replayed_clients,how", SESSIONS)
def test_each_client_gets_the_responses_of_its_protocol(peer_runner, mcpreel, direct_http, recorded_http_sessions, server, recorded_clients, replayed_clients, how):
    file, errors = recorded_http_sessions(recorded_clients, server), peer_runner.new_folder() / "err"
    with listening([*replaying(mcpreel, file, "--match", how), "-v"], errors) as address:
        for client in replayed_clients:
            assert_same(group_unsolicited(direct_http(client, server), server), group_unsolicited(peer_runner.run_http(client, server, f"{address}/mcp"), server))
    assert ", of another " not in errors.read_text()


VERSION_MEMBERS = ("_meta", "resultType", "ttlMs", "cacheScope")


def without_version_members(value):
    """The same document without the members that responses have in one protocol generation only."""
    if isinstance(value, dict):
        return {key: without_version_members(one) for key, one in value.items() if key not in VERSION_MEMBERS}
    return [without_version_members(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("recorded_client,replaying_client", [("ts", "ts-2-auto"), ("ts-2-auto", "ts"), ("py", "py-auto"), ("py-auto", "py")])
def test_a_call_of_the_other_protocol_is_converted(peer_runner, mcpreel, direct_http, recorded_client, replaying_client):
    """The listener was recorded, too, but all it asked for was the list of tools."""
    where = peer_runner.new_folder()
    (where / "short.json").write_text('{"answers": {}, "steps": [{"ask": "tools/list"}]}')
    with peer_runner.serve_http("ts-2") as url, listening(recording(mcpreel, url, where / "all.jsonl"), where / "err") as address:
        document_of(peer_runner.run([*peer_runner.client(replaying_client), "--url", f"{address}/mcp", where / "short.json"]))
        peer_runner.run_http(recorded_client, "ts-2", f"{address}/mcp")
    with listening([*replaying(mcpreel, where / "all.jsonl"), "-v"], where / "err") as address:
        replayed = peer_runner.run_http(replaying_client, "ts-2", f"{address}/mcp")
    assert_same(without_version_members(group_unsolicited(direct_http(replaying_client, "ts-2"), "ts-2")), without_version_members(group_unsolicited(replayed, "ts-2")))
    assert "tools/list answered with" not in (where / "err").read_text()
    assert "of another protocol" in (where / "err").read_text()

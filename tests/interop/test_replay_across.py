"""A recording made with one client, played to every other: across SDKs, languages and revisions.

Each must see what it sees when it talks to the server itself.
"""
import pytest

from peers import CLIENTS, assert_same_live, ended_well

pytestmark = pytest.mark.interop

RECORDED = [("ts", "ts"), ("ts-1.12", "ts"), ("ts-2", "ts"), ("py", "ts"), ("go", "ts"), ("ts", "memory"), ("ts", "go"),
            ("ts-2", "ts-2"), ("py-auto", "ts-2")]

# Servers of both protocol generations speak another one with a client of both than with a stateful client.
BOTH_PROTOCOLS = ("go", "ts-2", "rmcp")
PAIRS = [(recorded_client, server, replaying_client, ids) for recorded_client, server in RECORDED for replaying_client in CLIENTS
         for ids in ("numbers", "strings")
         if (server not in BOTH_PROTOCOLS or recorded_client.endswith("-auto") == replaying_client.endswith("-auto"))
         and (ids == "numbers" or CLIENTS[replaying_client].strings)]


def without_negotiated_version(document):
    """Returns the results of a client without the negotiated version: that of a recording may be older than the
    server's."""
    return {**document, "server": {**document["server"], "protocol": None}}


@pytest.mark.parametrize("recorded_client,server,replaying_client,ids", PAIRS)
def test_every_client_replays_a_recording_of_another_client(direct, recorded, replayed, recorded_client, server, replaying_client, ids):
    replayed_session = replayed(replaying_client, server, recorded(recorded_client, server).file, "by-request", ids=ids)
    assert_same_live(server, without_negotiated_version(direct(replaying_client, server).document), without_negotiated_version(replayed_session.document))
    assert ended_well(replaying_client, replayed_session.status), replayed_session.err

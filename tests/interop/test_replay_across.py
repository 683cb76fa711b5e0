"""A recording made with one client, played to every other: across SDKs, languages and revisions.

Each must see what it sees when it talks to the server itself.
"""
import pytest

from peers import CLIENTS, assert_same_live, ended_well

pytestmark = pytest.mark.interop

RECORDED = [("ts", "ts"), ("ts-1.12", "ts"), ("ts-2", "ts"), ("py", "ts"), ("go", "ts"), ("ts", "memory"), ("ts", "go"),
            ("ts-2", "ts-2"), ("py-auto", "ts-2")]

# Servers of both eras talk to a client of both eras in another way than to one of the old one.
BOTH_ERAS = ("go", "ts-2", "rmcp")
PAIRS = [(teller, server, listener, ids) for teller, server in RECORDED for listener in CLIENTS
         for ids in ("numbers", "strings")
         if (server not in BOTH_ERAS or teller.endswith("-auto") == listener.endswith("-auto"))
         and (ids == "numbers" or CLIENTS[listener].strings)]


def beyond_negotiation(document):
    """Returns the results of a client without the negotiated version: that of a recording may be older than the
    server's."""
    return {**document, "server": {**document["server"], "protocol": None}}


@pytest.mark.parametrize("teller,server,listener,ids", PAIRS)
def test_every_client_replays_a_recording_of_another_client(direct, recorded, replayed, teller, server, listener, ids):
    heard = replayed(listener, server, recorded(teller, server).file, "by-request", ids=ids)
    assert_same_live(server, beyond_negotiation(direct(listener, server).document), beyond_negotiation(heard.document))
    assert ended_well(listener, heard.status), heard.err

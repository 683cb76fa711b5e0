"""Clients of other people over HTTP, direct: what the other tests compare with."""
import json

import pytest

pytestmark = pytest.mark.interop

PAIRS = [
    ("inspector-legacy", "ts"), ("inspector-auto", "ts"), ("inspector-auto", "ts-2"), ("inspector-modern", "ts-2"),
    ("mcporter", "ts"), ("mcporter", "mcp-lite"), ("ai-sdk", "ts"), ("ai-sdk", "ts-2"), ("ai-sdk", "mcp-lite"),
]


@pytest.mark.parametrize("client,server", PAIRS)
def test_a_third_party_client_sends_the_same_messages_twice(peer_runner, third_party_runner, direct_third_party, client, server):
    with peer_runner.serve_http(server) as url:
        again = third_party_runner.run_session(client, url)
    assert again == direct_third_party(client, server)


@pytest.mark.parametrize("client,server", PAIRS)
def test_a_third_party_client_gets_its_responses(direct_third_party, client, server):
    session = direct_third_party(client, server)
    assert "42" in json.dumps([one["out"] for one in session])
    unknown = [one["code"] for one in session if "no_such_tool" in one["words"]]
    assert all(code != 0 for code in unknown) and len(unknown) == client.startswith("inspector")

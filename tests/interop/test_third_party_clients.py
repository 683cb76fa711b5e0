"""Clients of other people over HTTP, direct: what the other tests compare with."""
import json

import pytest

pytestmark = pytest.mark.interop

PAIRS = [
    ("inspector-legacy", "ts"), ("inspector-auto", "ts"), ("inspector-auto", "ts-2"), ("inspector-modern", "ts-2"),
    ("mcporter", "ts"), ("mcporter", "mcp-lite"), ("ai-sdk", "ts"), ("ai-sdk", "ts-2"), ("ai-sdk", "mcp-lite"),
]


@pytest.mark.parametrize("guest,server", PAIRS)
def test_a_third_party_client_sends_the_same_messages_twice(stage, house, guest_visit, guest, server):
    with stage.serve(server) as url:
        again = house.visit(guest, url)
    assert again == guest_visit(guest, server)


@pytest.mark.parametrize("guest,server", PAIRS)
def test_a_third_party_client_gets_its_responses(guest_visit, guest, server):
    visit = guest_visit(guest, server)
    assert "42" in json.dumps([one["out"] for one in visit])
    unknown = [one["code"] for one in visit if "no_such_tool" in one["words"]]
    assert all(code != 0 for code in unknown) and len(unknown) == guest.startswith("inspector")

"""Real clients and real servers over Streamable HTTP, direct: what the other tests compare with."""
import pytest

from peers import LISTENERS, STRANGERS, VISITORS, apart, assert_same

MAIN = [("ts", "ts"), ("ts", "everything"), ("py", "python"), ("py-auto", "python"), ("ts", "ts-2")]
MATRIX = [*MAIN, *(pytest.param(client, server, marks=pytest.mark.interop) for client in VISITORS for server in LISTENERS
                   if (client, server) not in [*MAIN, *STRANGERS])]

PROTOCOL = {"ts-1.12": "2025-03-26", "ts-1.13": "2025-06-18", "ts-1.24": "2025-06-18"}
BOTH_ERAS = ("ts-2", "python", "fastmcp", "rmcp")


def agreed(client, server):
    if client.endswith("-auto") and server in BOTH_ERAS:
        return "2026-07-28"
    newest = min(PROTOCOL.get(one, "2025-11-25") for one in (client, server))
    return "2025-03-26" if server == "mcp-lite" and newest > "2025-06-18" else newest  # falls back to its oldest


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_direct_session_does_not_depend_on_the_ids(stage, visited, client, server):
    plain = visited(client, server)
    strings = VISITORS[client].strings and server != "mcp-lite"  # it takes the progress token 0 for none
    with stage.serve(server) as url:
        other = stage.visit(client, server, url, ids="strings" if strings else "numbers")
    assert_same(apart(plain, server), apart(other, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_session_uses_the_latest_common_version(visited, client, server):
    assert visited(client, server)["server"]["protocol"] == agreed(client, server)


def test_messages_outside_of_calls_arrive(visited):
    heard = {one["method"] for step in visited("ts", "everything")["steps"] for one in step["heard"]}
    assert {"roots/list", "sampling/createMessage", "elicitation/create", "notifications/message",
            "notifications/resources/updated"} <= heard

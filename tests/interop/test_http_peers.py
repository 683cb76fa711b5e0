"""Real clients and real servers over Streamable HTTP, direct: what the other tests compare with."""
import pytest

from peers import HTTP_SERVERS, INCOMPATIBLE_PAIRS, HTTP_CLIENTS, group_unsolicited, assert_same, mark_rare

MAIN = [("ts", "ts"), ("ts", "everything"), ("py", "python"), ("py-auto", "python"), ("ts", "ts-2")]
MATRIX = [*MAIN, *(pytest.param(client, server, marks=pytest.mark.interop) for client in HTTP_CLIENTS for server in HTTP_SERVERS
                   if (client, server) not in [*MAIN, *INCOMPATIBLE_PAIRS])]

PROTOCOL = {"ts-1.12": "2025-03-26", "ts-1.13": "2025-06-18", "ts-1.24": "2025-06-18"}
BOTH_PROTOCOLS = ("ts-2", "python", "fastmcp", "rmcp")


def negotiated_version(client, server):
    if client.endswith("-auto") and server in BOTH_PROTOCOLS:
        return "2026-07-28"
    newest = min(PROTOCOL.get(one, "2025-11-25") for one in (client, server))
    return "2025-03-26" if server == "mcp-lite" and newest > "2025-06-18" else newest  # falls back to its oldest


@pytest.mark.parametrize("client,server", mark_rare(MATRIX, always=MAIN))
def test_a_direct_session_does_not_depend_on_the_ids(peer_runner, direct_http, client, server):
    plain = direct_http(client, server)
    strings = HTTP_CLIENTS[client].strings and server != "mcp-lite"  # it takes the progress token 0 for none
    with peer_runner.serve_http(server) as url:
        other = peer_runner.run_http(client, server, url, ids="strings" if strings else "numbers")
    assert_same(group_unsolicited(plain, server), group_unsolicited(other, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_session_uses_the_latest_common_version(direct_http, client, server):
    assert direct_http(client, server)["server"]["protocol"] == negotiated_version(client, server)


def test_messages_outside_of_calls_arrive(direct_http):
    received = {one["method"] for step in direct_http("ts", "everything")["steps"] for one in step["heard"]}
    assert {"roots/list", "sampling/createMessage", "elicitation/create", "notifications/message",
            "notifications/resources/updated"} <= received

"""Real clients and real servers over Streamable HTTP: recorded, and replayed with the server gone.

The three ways must give the same document; where server-everything makes things up anew in each run, up to that.
"""
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, replaying
from peers import HTTP_CLIENTS, group_unsolicited, assert_same, mark_rare
from test_http_peers import MAIN, MATRIX
from verdicts import TIMES, assert_clean

# A recording of one protocol generation is for clients that speak it. A client of both generations is also for a recording
# of a stateful server, which responds to it as to any other.
CROSS = [
    ("ts-1.13", "ts", "ts"), ("ts", "ts", "ts-1.13"),
    *(pytest.param(*pair, marks=pytest.mark.interop) for pair in [
        ("ts-1.12", "ts", "ts"), ("ts", "ts", "ts-1.12"), ("ts-1.13", "ts-1.13", "ts"), ("ts", "ts-1.13", "ts-1.13"),
        ("ts", "ts", "py"), ("py", "ts", "ts"), ("ts", "ts", "ts-2-auto"), ("ts", "ts", "py-auto"), ("ts", "ts", "fastmcp"),
        ("ts", "ts-2", "ts-1.13"), ("ts-1.13", "ts-2", "ts"), ("ts-2-auto", "ts-2", "py-auto"),
        ("py-auto", "ts-2", "ts-2-auto"), ("fastmcp-auto", "fastmcp", "ts-2-auto"), ("ts", "fastmcp", "fastmcp"),
        ("py", "python", "fastmcp"), ("py", "python", "ts"), ("py-auto", "python", "ts-2-auto"), ("ts", "everything", "py"),
        ("py", "everything", "ts"),
    ]),
]


def without_negotiated_version(document, server):
    """A recording may be of an older revision than its server."""
    document = group_unsolicited(document, server)
    return {**document, "server": {**document["server"], "protocol": None}}


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_equals_the_direct_one(direct_http, recorded_http, client, server):
    assert_same(group_unsolicited(direct_http(client, server), server), group_unsolicited(recorded_http(client, server).document, server))


# Each client and each server once, beside the main ones of test_verify.py; tests/endurance verifies every pair.
VERIFIED = [("ts-1.12", "ts"), ("ts-1.13", "ts-1.13"), ("ts-1.24", "everything"), ("ts-2", "mcp-lite"), ("ts-2-auto", "ts-2"),
            ("py-auto", "python"), ("fastmcp", "fastmcp"), ("fastmcp-auto", "ts-2"), ("rmcp", "rmcp"), ("rmcp-auto", "fastmcp"),
            ("java", "ts")]


@pytest.mark.interop
@pytest.mark.parametrize("client,server", VERIFIED)
def test_a_recorded_session_verifies_clean(recorded_http, peer_runner, mcpreel, run, client, server):
    file = recorded_http(client, server).file
    with peer_runner.serve_http(server) as url:
        for _ in range(TIMES):
            assert_clean(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120))


@pytest.mark.parametrize("client,server", mark_rare(MATRIX, always=[*MAIN, *VERIFIED]))
def test_a_replayed_session_equals_the_recorded_one(recorded_http, replayed_http, client, server):
    recorded_session = recorded_http(client, server)
    ids = "strings" if HTTP_CLIENTS[client].strings else "numbers"
    again = replayed_http(client, server, recorded_session.file, "--match", "by-request", ids=ids)
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_a_session_is_replayed_in_its_order(recorded_http, replayed_http, client, server):
    recorded_session = recorded_http(client, server)
    again = replayed_http(client, server, recorded_session.file, "--match", "sequential")
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("recorded_client,server,replaying_client", CROSS)
def test_a_client_replays_a_recording_of_another_client(direct_http, recorded_http, replayed_http, recorded_client, server, replaying_client):
    replayed_session = replayed_http(replaying_client, server, recorded_http(recorded_client, server).file, "--match", "by-request")
    assert_same(without_negotiated_version(direct_http(replaying_client, server), server), without_negotiated_version(replayed_session, server))


@pytest.mark.parametrize("client,server", [("ts", "ts"), ("py", "python")])
def test_a_stdio_recording_is_replayed_over_http(recorded, replayed_http, client, server):
    recorded_session = recorded(client, server)
    again = replayed_http(client, server, recorded_session.file, ids="strings")
    assert_same(group_unsolicited(recorded_session.result.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client", ["ts", "py"])
def test_an_http_recording_is_replayed_on_stdio(recorded_http, replayed, client):
    recorded_session = recorded_http(client, "ts")
    again = replayed(client, "ts", recorded_session.file, "sequential", ids="strings")
    assert_same(group_unsolicited(recorded_session.document, "ts"), group_unsolicited(again.document, "ts"))


@pytest.mark.parametrize("clients", [2, pytest.param(8, marks=pytest.mark.interop)])
def test_concurrent_clients_are_independent(peer_runner, mcpreel, recorded_http, clients):
    """All with the same ids, each with a session of its own."""
    recorded_session = recorded_http("ts", "ts")
    with listening(replaying(mcpreel, recorded_session.file), peer_runner.new_folder() / "err") as address, ThreadPoolExecutor(clients) as pool:
        for again in pool.map(lambda _: peer_runner.run_http("ts", "ts", f"{address}/mcp"), range(clients)):
            assert_same(group_unsolicited(recorded_session.document, "ts"), group_unsolicited(again, "ts"))

"""Real clients and real servers over Streamable HTTP: recorded, and replayed with the server gone.

The three ways must give the same document; where server-everything makes things up anew in each run, up to that.
"""
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, replaying
from peers import VISITORS, apart, assert_same
from test_http_peers import MAIN, MATRIX
from verdicts import assert_clean

# A recording of either era is for clients that speak it. A dual-era client speaks both, a server of the old era
# talks to it as to any other.
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


def beyond_negotiation(document, server):
    """A recording may be of an older revision than its server."""
    document = apart(document, server)
    return {**document, "server": {**document["server"], "protocol": None}}


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_equals_the_direct_one(visited, taped_visit, client, server):
    assert_same(apart(visited(client, server), server), apart(taped_visit(client, server).document, server))


# Each client and each server once, beside the main ones of test_verify.py; tests/endurance verifies every pair.
VERIFIED = [("ts-1.12", "ts"), ("ts-1.13", "ts-1.13"), ("ts-1.24", "everything"), ("ts-2", "mcp-lite"), ("ts-2-auto", "ts-2"),
            ("py-auto", "python"), ("fastmcp", "fastmcp"), ("fastmcp-auto", "ts-2"), ("rmcp", "rmcp"), ("rmcp-auto", "fastmcp"),
            ("java", "ts")]


@pytest.mark.interop
@pytest.mark.parametrize("client,server", VERIFIED)
def test_a_recorded_session_verifies_clean(taped_visit, stage, mcpreel, run, client, server):
    file = taped_visit(client, server).file
    with stage.serve(server) as url:
        assert_clean(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120))


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_replayed_session_equals_the_recorded_one(taped_visit, replayed_visit, client, server):
    tape = taped_visit(client, server)
    ids = "strings" if VISITORS[client].strings else "numbers"
    again = replayed_visit(client, server, tape.file, "--match", "by-request", ids=ids)
    assert_same(apart(tape.document, server), apart(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_a_session_is_replayed_in_its_order(taped_visit, replayed_visit, client, server):
    tape = taped_visit(client, server)
    again = replayed_visit(client, server, tape.file, "--match", "sequential")
    assert_same(apart(tape.document, server), apart(again, server))


@pytest.mark.parametrize("teller,server,listener", CROSS)
def test_a_client_replays_a_recording_of_another_client(visited, taped_visit, replayed_visit, teller, server, listener):
    heard = replayed_visit(listener, server, taped_visit(teller, server).file, "--match", "by-request")
    assert_same(beyond_negotiation(visited(listener, server), server), beyond_negotiation(heard, server))


@pytest.mark.parametrize("client,server", [("ts", "ts"), ("py", "python")])
def test_a_stdio_recording_is_replayed_over_http(recorded, replayed_visit, client, server):
    tape = recorded(client, server)
    again = replayed_visit(client, server, tape.file, ids="strings")
    assert_same(apart(tape.played.document, server), apart(again, server))


@pytest.mark.parametrize("client", ["ts", "py"])
def test_an_http_recording_is_replayed_on_stdio(taped_visit, replayed, client):
    tape = taped_visit(client, "ts")
    again = replayed(client, "ts", tape.file, "sequential", ids="strings")
    assert_same(apart(tape.document, "ts"), apart(again.document, "ts"))


@pytest.mark.parametrize("clients", [2, pytest.param(8, marks=pytest.mark.interop)])
def test_concurrent_clients_are_independent(stage, mcpreel, taped_visit, clients):
    """All with the same ids, each with a session of its own."""
    tape = taped_visit("ts", "ts")
    with listening(replaying(mcpreel, tape.file), stage.fresh() / "err") as address, ThreadPoolExecutor(clients) as pool:
        for again in pool.map(lambda _: stage.visit("ts", "ts", f"{address}/mcp"), range(clients)):
            assert_same(apart(tape.document, "ts"), apart(again, "ts"))

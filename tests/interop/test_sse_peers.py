"""Real clients and real servers over HTTP+SSE, the transport of 2024-11-05: direct, recorded, and replayed with the server
gone; also from one transport to another."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, replaying
from peers import OLD_VISITORS, VISITORS, apart, assert_same

MAIN = [("ts-1.9-sse", "ts-1.9-sse"), ("ts-1.9-sse", "everything-sse"), ("py-sse", "python-sse"), ("ts-either", "ts-1.9-sse")]
MATRIX = [*MAIN, ("ts-1.12-either", "everything-sse"), ("ts-sse", "fastmcp-sse"), ("ts-either", "fastmcp-sse"),
          ("py-sse", "ts-1.9-sse"), ("py-sse", "everything-sse"), ("fastmcp-sse", "fastmcp-sse"), ("fastmcp-sse", "python-sse")]

pytestmark = pytest.mark.interop


def strings(client):
    return "strings" if {**VISITORS, **OLD_VISITORS}[client].strings else "numbers"


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_equals_the_direct_one(visited, taped_visit, client, server):
    assert_same(apart(visited(client, server), server), apart(taped_visit(client, server).document, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_replayed_session_equals_the_recorded_one(taped_visit, replayed_visit, client, server):
    tape = taped_visit(client, server)
    again = replayed_visit(client, server, tape.file, "--match", "by-request", ids=strings(client), path="/sse")
    assert_same(apart(tape.document, server), apart(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_a_session_is_replayed_in_its_order(taped_visit, replayed_visit, client, server):
    tape = taped_visit(client, server)
    again = replayed_visit(client, server, tape.file, "--match", "sequential", path="/sse")
    assert_same(apart(tape.document, server), apart(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_no_session_id_is_recorded(taped_visit, client, server):
    text = taped_visit(client, server).file.read_text()
    assert '"event":"endpoint"' in text and "[REDACTED]" in text
    assert "sessionId=[REDACTED]" in text or "session_id=[REDACTED]" in text


# Recorded over one transport, played over another.

@pytest.mark.parametrize("client,server", [("ts", "ts-1.9-sse"), ("py", "ts-1.9-sse")])
def test_a_recording_is_replayed_over_streamable_http(taped_visit, replayed_visit, client, server):
    tape = taped_visit("ts-sse", server)
    again = replayed_visit(client, server, tape.file, ids=strings(client))
    like = replayed_visit(client, server, tape.file)
    assert_same(apart(like, server), apart(again, server))
    assert_same(steps_of(apart(tape.document, server)), steps_of(apart(again, server)))


def steps_of(document):
    """Returns the responses; the negotiated version depends on the client."""
    return document["steps"]


@pytest.mark.parametrize("client", ["ts", "py"])
def test_a_recording_is_replayed_on_stdio(taped_visit, replayed, client):
    tape = taped_visit("ts-sse", "ts-1.9-sse")
    again = replayed(client, "ts-1.9", tape.file, "sequential", ids="strings")
    assert_same(steps_of(apart(tape.document, "ts-1.9-sse")), steps_of(apart(again.document, "ts-1.9-sse")))


@pytest.mark.parametrize("client", OLD_VISITORS)
def test_a_streamable_http_recording_is_replayed_over_http_sse(taped_visit, replayed_visit, client):
    tape = taped_visit("ts", "ts")
    again = replayed_visit(client, "ts", tape.file, "--match", "by-request", path="/sse", ids=strings(client))
    assert_same(steps_of(apart(tape.document, "ts")), steps_of(apart(again, "ts")))


@pytest.mark.parametrize("client", ["ts-1.9-sse", "py-sse"])
def test_a_stdio_recording_is_replayed_over_http_sse(recorded, replayed_visit, client):
    tape = recorded("ts", "ts")
    again = replayed_visit(client, "ts", tape.file, "--match", "by-request", path="/sse", ids="strings")
    assert_same(steps_of(apart(tape.played.document, "ts")), steps_of(apart(again, "ts")))


@pytest.mark.parametrize("clients", [8])
def test_concurrent_clients_are_independent(stage, mcpreel, taped_visit, clients):
    """All with the same ids, each with a stream of its own."""
    tape = taped_visit("ts-1.9-sse", "ts-1.9-sse")
    with listening(replaying(mcpreel, tape.file), stage.fresh() / "err") as address, ThreadPoolExecutor(clients) as pool:
        for again in pool.map(lambda _: stage.visit("ts-1.9-sse", "ts-1.9-sse", f"{address}/sse"), range(clients)):
            assert_same(apart(tape.document, "ts-1.9-sse"), apart(again, "ts-1.9-sse"))

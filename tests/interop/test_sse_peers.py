"""Real clients and real servers over HTTP+SSE, the transport of 2024-11-05: direct, recorded, and replayed with the server
gone; also from one transport to another."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, replaying
from peers import SSE_CLIENTS, HTTP_CLIENTS, group_unsolicited, assert_same

MAIN = [("ts-1.9-sse", "ts-1.9-sse"), ("ts-1.9-sse", "everything-sse"), ("py-sse", "python-sse"), ("ts-either", "ts-1.9-sse")]
MATRIX = [*MAIN, ("ts-1.12-either", "everything-sse"), ("ts-sse", "fastmcp-sse"), ("ts-either", "fastmcp-sse"),
          ("py-sse", "ts-1.9-sse"), ("py-sse", "everything-sse"), ("fastmcp-sse", "fastmcp-sse"), ("fastmcp-sse", "python-sse")]

pytestmark = pytest.mark.interop


def strings(client):
    return "strings" if {**HTTP_CLIENTS, **SSE_CLIENTS}[client].strings else "numbers"


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_equals_the_direct_one(direct_http, recorded_http, client, server):
    assert_same(group_unsolicited(direct_http(client, server), server), group_unsolicited(recorded_http(client, server).document, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_replayed_session_equals_the_recorded_one(recorded_http, replayed_http, client, server):
    recorded_session = recorded_http(client, server)
    again = replayed_http(client, server, recorded_session.file, "--match", "by-request", ids=strings(client), path="/sse")
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_a_session_is_replayed_in_its_order(recorded_http, replayed_http, client, server):
    recorded_session = recorded_http(client, server)
    again = replayed_http(client, server, recorded_session.file, "--match", "sequential", path="/sse")
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", MAIN)
def test_no_session_id_is_recorded(recorded_http, client, server):
    text = recorded_http(client, server).file.read_text()
    assert '"event":"endpoint"' in text and "[REDACTED]" in text
    assert "sessionId=[REDACTED]" in text or "session_id=[REDACTED]" in text


# Recorded over one transport, session_result over another.

@pytest.mark.parametrize("client,server", [("ts", "ts-1.9-sse"), ("py", "ts-1.9-sse")])
def test_a_recording_is_replayed_over_streamable_http(recorded_http, replayed_http, client, server):
    recorded_session = recorded_http("ts-sse", server)
    again = replayed_http(client, server, recorded_session.file, ids=strings(client))
    like = replayed_http(client, server, recorded_session.file)
    assert_same(group_unsolicited(like, server), group_unsolicited(again, server))
    assert_same(steps_of(group_unsolicited(recorded_session.document, server)), steps_of(group_unsolicited(again, server)))


def steps_of(document):
    """Returns the responses; the negotiated version depends on the client."""
    return document["steps"]


@pytest.mark.parametrize("client", ["ts", "py"])
def test_a_recording_is_replayed_on_stdio(recorded_http, replayed, client):
    recorded_session = recorded_http("ts-sse", "ts-1.9-sse")
    again = replayed(client, "ts-1.9", recorded_session.file, "sequential", ids="strings")
    assert_same(steps_of(group_unsolicited(recorded_session.document, "ts-1.9-sse")), steps_of(group_unsolicited(again.document, "ts-1.9-sse")))


@pytest.mark.parametrize("client", SSE_CLIENTS)
def test_a_streamable_http_recording_is_replayed_over_http_sse(recorded_http, replayed_http, client):
    recorded_session = recorded_http("ts", "ts")
    again = replayed_http(client, "ts", recorded_session.file, "--match", "by-request", path="/sse", ids=strings(client))
    assert_same(steps_of(group_unsolicited(recorded_session.document, "ts")), steps_of(group_unsolicited(again, "ts")))


@pytest.mark.parametrize("client", ["ts-1.9-sse", "py-sse"])
def test_a_stdio_recording_is_replayed_over_http_sse(recorded, replayed_http, client):
    recorded_session = recorded("ts", "ts")
    again = replayed_http(client, "ts", recorded_session.file, "--match", "by-request", path="/sse", ids="strings")
    assert_same(steps_of(group_unsolicited(recorded_session.result.document, "ts")), steps_of(group_unsolicited(again, "ts")))


@pytest.mark.parametrize("clients", [8])
def test_concurrent_clients_are_independent(peer_runner, mcpreel, recorded_http, clients):
    """All with the same ids, each with a stream of its own."""
    recorded_session = recorded_http("ts-1.9-sse", "ts-1.9-sse")
    with listening(replaying(mcpreel, recorded_session.file), peer_runner.new_folder() / "err") as address, ThreadPoolExecutor(clients) as pool:
        for again in pool.map(lambda _: peer_runner.run_http("ts-1.9-sse", "ts-1.9-sse", f"{address}/sse"), range(clients)):
            assert_same(group_unsolicited(recorded_session.document, "ts-1.9-sse"), group_unsolicited(again, "ts-1.9-sse"))

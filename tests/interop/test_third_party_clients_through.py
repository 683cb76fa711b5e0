"""Clients of other people over HTTP: recorded, and replayed with the server gone."""
import pytest

from conformance import listening, recording, replaying
from test_third_party_clients import PAIRS

pytestmark = pytest.mark.interop


@pytest.fixture(scope="session")
def recorded_third_party(peer_runner, third_party_runner, mcpreel):
    """A session through 'mcpreel record', and its recording. The server is gone."""
    made = {}

    def get(client, server):
        if (client, server) not in made:
            where = peer_runner.new_folder()
            file = where / "session.jsonl"
            with peer_runner.serve_http(server) as url, listening(recording(mcpreel, url, file), where / "err") as address:
                made[client, server] = third_party_runner.run_session(client, f"{address}/mcp"), file
        return made[client, server]

    return get


@pytest.fixture
def replayed_third_party(peer_runner, third_party_runner, mcpreel):
    def make(client, file):
        with listening(replaying(mcpreel, file, "--match", "by-request"), peer_runner.new_folder() / "err") as address:
            return third_party_runner.run_session(client, f"{address}/mcp")

    return make


@pytest.mark.parametrize("client,server", PAIRS)
def test_a_third_party_client_gets_the_same_results_through_the_recorder(direct_third_party, recorded_third_party, client, server):
    assert recorded_third_party(client, server)[0] == direct_third_party(client, server)


@pytest.mark.parametrize("client,server", PAIRS)
def test_a_third_party_client_gets_the_same_results_from_the_replay(recorded_third_party, replayed_third_party, client, server):
    session, file = recorded_third_party(client, server)
    assert replayed_third_party(client, file) == session


@pytest.mark.parametrize("recorded_client,server,replaying_client", [
    ("inspector-legacy", "ts", "mcporter"), ("inspector-legacy", "ts", "inspector-auto"),
    ("inspector-auto", "ts-2", "inspector-modern"), ("mcporter", "mcp-lite", "mcporter"),
])
def test_a_third_party_client_replays_a_recording_of_another_client(direct_third_party, recorded_third_party, replayed_third_party, recorded_client, server, replaying_client):
    assert replayed_third_party(replaying_client, recorded_third_party(recorded_client, server)[1]) == direct_third_party(replaying_client, server)

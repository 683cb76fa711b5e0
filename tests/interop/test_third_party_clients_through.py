"""Clients of other people over HTTP: recorded, and replayed with the server gone."""
import pytest

from conformance import listening, recording, replaying
from test_third_party_clients import PAIRS

pytestmark = pytest.mark.interop


@pytest.fixture(scope="session")
def taped_guest(stage, house, mcpreel):
    """A visit through 'mcpreel record', and its recording. The server is gone."""
    made = {}

    def get(guest, server):
        if (guest, server) not in made:
            where = stage.fresh()
            file = where / "visit.jsonl"
            with stage.serve(server) as url, listening(recording(mcpreel, url, file), where / "err") as address:
                made[guest, server] = house.visit(guest, f"{address}/mcp"), file
        return made[guest, server]

    return get


@pytest.fixture
def replayed_guest(stage, house, mcpreel):
    def make(guest, file):
        with listening(replaying(mcpreel, file, "--match", "by-request"), stage.fresh() / "err") as address:
            return house.visit(guest, f"{address}/mcp")

    return make


@pytest.mark.parametrize("guest,server", PAIRS)
def test_a_third_party_client_gets_the_same_results_through_the_recorder(guest_visit, taped_guest, guest, server):
    assert taped_guest(guest, server)[0] == guest_visit(guest, server)


@pytest.mark.parametrize("guest,server", PAIRS)
def test_a_third_party_client_gets_the_same_results_from_the_replay(taped_guest, replayed_guest, guest, server):
    visit, file = taped_guest(guest, server)
    assert replayed_guest(guest, file) == visit


@pytest.mark.parametrize("teller,server,listener", [
    ("inspector-legacy", "ts", "mcporter"), ("inspector-legacy", "ts", "inspector-auto"),
    ("inspector-auto", "ts-2", "inspector-modern"), ("mcporter", "mcp-lite", "mcporter"),
])
def test_a_third_party_client_replays_a_recording_of_another_client(guest_visit, taped_guest, replayed_guest, teller, server, listener):
    assert replayed_guest(listener, taped_guest(teller, server)[1]) == guest_visit(listener, server)

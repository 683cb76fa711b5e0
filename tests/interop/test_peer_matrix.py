"""Every client with every server: through the recorder as without it, and from the recording alone.

The two main clients with the main servers are held to every byte elsewhere; here it is about what
SDKs of other languages and other times do.
"""
import json

import pytest

from peers import CLIENTS, SERVERS, assert_same, assert_same_live, survivors

pytestmark = pytest.mark.interop

MATRIX = [(client, server) for client in CLIENTS for server in SERVERS]


def recordings(folder):
    """The files of one session, the longest first: a client may have started the server more than once."""
    return sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_size, reverse=True)


@pytest.fixture(scope="session")
def taped(stage, mcpreel):
    """A session through 'mcpreel record', and where its recordings are."""
    made = {}

    def get(client, server):
        if (client, server) not in made:
            where = stage.fresh()
            recorder = where / "recorder"
            words = " ".join(f"'{word}'" for word in stage.server(server))
            recorder.write_text(f"#!/bin/sh\nexec '{mcpreel}' record -o '{where}'/$$.jsonl -- {words}\n")
            recorder.chmod(0o755)
            made[client, server] = stage.play(client, server, [recorder], watched=False), where
        return made[client, server]

    return get


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_is_the_direct_one(direct, taped, client, server):
    played, _ = taped(client, server)
    assert_same_live(server, direct(client, server).document, played.document)
    assert survivors(played.mark) == []


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recording_is_whole(taped, mcpreel, run, client, server):
    played, folder = taped(client, server)
    file = recordings(folder)[0]
    checked = run([mcpreel, "check", "--json", "--ignore", ",".join((*SERVERS[server].odd, "server-exit")), file])
    assert checked.code == 0, str(checked)
    told = json.loads(run([mcpreel, "inspect", "--json", file]).out)
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    for side, direction in (("client", "c2s"), ("server", "s2c")):
        assert told["totals"][side]["messages"] == sum(line.get("dir") == direction for line in kept)
    assert told["protocol"] == played.document["server"]["protocol"]
    assert told["server"]["name"] == played.document["server"]["info"]["name"]
    asked = [one for step in played.document["steps"] for one in step["step"].get("together", [step["step"]])]
    calls = [one for one in told["operations"] if one["from"] == "client" and one["method"] == "tools/call"]
    assert sum(one["calls"] for one in calls) >= sum(one.get("ask") == "tools/call" for one in asked)


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_replayed_session_is_the_recorded_one(taped, replayed, client, server):
    played, folder = taped(client, server)
    again = replayed(client, server, recordings(folder)[0], "sequential")
    assert_same(played.document, again.document)
    assert again.status in (0, None), again.err
    assert survivors(again.mark) == []


@pytest.mark.parametrize("server", ["everything", "python"])
def test_a_dual_era_client_can_play_a_legacy_recording(taped, replayed, server):
    played, folder = taped("ts", server)
    again = replayed("py-auto", server, recordings(folder)[0], "sequential", ids="strings")
    assert_same(played.document, again.document)
    assert again.status == 0, again.err

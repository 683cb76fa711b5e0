"""Every client with every server: through the recorder as without it, and from the recording alone.

The two main clients with the main servers are held to every byte elsewhere; here it is about what
SDKs of other languages and other times do.
"""
import json

import pytest

from peers import CLIENTS, SERVERS, assert_same, assert_same_live, ended_well, stdio_server_named, remaining_processes
from verdicts import TIMES, assert_clean

pytestmark = pytest.mark.interop

MATRIX = [(client, server) for client in CLIENTS for server in SERVERS]

# Each client and each server once, beside the main ones of test_verify.py; tests/endurance verifies every pair.
VERIFIED = [("ts-1.9", "ts-1.9"), ("ts-1.12", "ts-1.12"), ("ts-1.24", "ts-1.24"), ("ts-2", "ts-2"), ("ts-2-auto", "python"),
            ("py-auto", "ts-2"), ("fastmcp", "fastmcp"), ("fastmcp-auto", "ts"), ("go", "go"), ("go-auto", "everything"),
            ("rmcp", "rmcp"), ("rmcp-auto", "filesystem"), ("java", "memory")]


def recordings(folder):
    """The files of one session: a client may start the server more than once."""
    return sorted(folder.glob("*.jsonl"))


@pytest.fixture(scope="session")
def recorded_folder(peer_runner, mcpreel):
    """A session through 'mcpreel record', and the folder of its recordings: one for each time a client started
    the server, of which some it only asked what they speak, and ended by a signal."""
    made = {}

    def get(client, server):
        if (client, server) not in made:
            folder = peer_runner.new_folder()
            command = [mcpreel, "record", "-o", folder, "--", *peer_runner.server(server)]
            made[client, server] = peer_runner.run_stdio(client, server, command, logged=False), folder
        return made[client, server]

    return get


@pytest.fixture
def joined_recording(mcpreel, run, tmp_path):
    """One recording of all that a session left behind."""
    def get(folder):
        files = recordings(folder)
        if len(files) == 1:
            return files[0]
        joined = tmp_path / "joined.jsonl"
        ran = run([mcpreel, "convert", *files, "-o", joined])
        assert ran.code == 0, str(ran)
        return joined

    return get


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recorded_session_equals_the_direct_one(direct, recorded_folder, client, server):
    session_result, _ = recorded_folder(client, server)
    assert_same_live(server, direct(client, server).document, session_result.document)
    assert remaining_processes(session_result.mark) == []


@pytest.mark.parametrize("client,server", MATRIX)
def test_every_recording_is_complete(recorded_folder, mcpreel, run, client, server):
    files = recordings(recorded_folder(client, server)[1])
    assert len(files) == 1 + CLIENTS[client].starts_twice
    ignored = ",".join((*SERVERS[server].expected_findings, "server-exit", "input-schema"))  # sessions have calls with wrong arguments
    for file in files:
        checked = run([mcpreel, "check", "--json", "--ignore", ignored, file])
        assert checked.code == 0, str(checked)
        report = json.loads(run([mcpreel, "inspect", "--json", file]).out)
        kept = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        for side, direction in (("client", "c2s"), ("server", "s2c")):
            assert report["totals"][side]["messages"] == sum(line.get("dir") == direction for line in kept)


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_recording_has_client_and_server_info(recorded_folder, mcpreel, run, joined_recording, client, server):
    session_result, folder = recorded_folder(client, server)
    report = json.loads(run([mcpreel, "inspect", "--json", joined_recording(folder)]).out)
    assert report["protocol_version"] == session_result.document["server"]["protocol"]
    assert report["server"]["name"] == session_result.document["server"]["info"]["name"]
    sent_calls = {}
    for step in session_result.document["steps"]:
        for one in step["step"].get("together", [step["step"].get("cancel", step["step"])]):
            if one.get("ask") == "tools/call":
                sent_calls[one["params"]["name"]] = sent_calls.get(one["params"]["name"], 0) + 1
    calls = {one["subject"]: one["calls"] for one in report["operations"]
             if one["from"] == "client" and one["method"] == "tools/call"}
    assert calls == sent_calls


@pytest.mark.parametrize("client,server", MATRIX)
def test_a_replayed_session_equals_the_recorded_one(recorded_folder, joined_recording, replayed, client, server):
    session_result, folder = recorded_folder(client, server)
    again = replayed(client, server, joined_recording(folder), "by-request")  # not all send a step's requests in one order
    assert_same(session_result.document, again.document)
    assert ended_well(client, again.status), again.err
    assert remaining_processes(again.mark) == []


@pytest.mark.parametrize("server", ["everything", "python"])
def test_a_client_of_both_protocols_replays_a_stateful_recording(recorded_folder, joined_recording, replayed, server):
    session_result, folder = recorded_folder("ts", server)
    again = replayed("py-auto", server, joined_recording(folder), "sequential", ids="strings")
    assert_same(session_result.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.parametrize("client,server", VERIFIED)
def test_a_recorded_session_verifies_clean(recorded_folder, joined_recording, peer_runner, mcpreel, run, client, server):
    file = joined_recording(recorded_folder(client, server)[1])
    for _ in range(TIMES):
        folder = peer_runner.empty_folder(server)
        assert_clean(run([mcpreel, "--json", "verify", file, "--", *peer_runner.server(server)], timeout=120, env=stdio_server_named(server).env(folder)))

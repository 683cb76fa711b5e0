"""Real clients and real servers over stdio: direct, recorded, and replayed with the server gone.

Each client plays the script written for a server and prints a document of all it saw. The three ways
must give the same document:

- recorded against direct: equal up to what a server makes up anew in each run (see 'without_generated_values');
- replayed against recorded: equal in every character, although the ids and progress tokens of the
  replayed run are other ones, and although it may be another client of another vendor.
"""
import json
import os

import pytest

from peers import assert_same, assert_same_live, differences

CLIENTS = ["ts", "py"]
SERVERS = ["everything", "python", "filesystem", "memory"]
RICH_SERVERS = ["everything", "python"]
MODES = ["sequential", "by-request"]


def messages(traffic):
    """The messages of one direction, each with its bytes."""
    assert traffic.endswith(b"\n")
    return [(json.loads(line), line) for line in traffic[:-1].split(b"\n")]


def request_ids(session_result):
    return {json.dumps(message["id"]) for message, _ in messages(session_result.sent) if "method" in message and "id" in message}


def lines(file):
    """The lines of a recording, each with its bytes; a whole one ends with a newline."""
    return messages(file.read_bytes())


# The peers themselves: what the other tests compare with must be worth comparing with.


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_direct_session_does_not_depend_on_the_ids(peer_runner, direct, client, server):
    plain = direct(client, server)
    other = peer_runner.run_stdio(client, server, ids="strings")
    assert_same_live(server, plain.document, other.document)
    assert not request_ids(plain) & request_ids(other)


@pytest.mark.parametrize("server", SERVERS)
def test_both_sdks_get_the_same_results(direct, server):
    assert_same_live(server, direct("ts", server).document, direct("py", server).document)


@pytest.mark.parametrize("server", RICH_SERVERS)
def test_a_session_uses_every_feature_that_is_recorded(direct, server):
    document = direct("ts", server).document
    received = {one["method"] for step in document["steps"] for one in step["heard"]}
    assert {"roots/list", "sampling/createMessage", "elicitation/create", "notifications/message",
            "notifications/tools/list_changed", "notifications/resources/list_changed",
            "notifications/resources/updated"} <= received
    steps = document["steps"]
    assert any(len(step.get("progress", [])) >= 4 for step in steps)
    assert any(step.get("error", {}).get("data") for step in steps)
    assert any(step.get("result", {}).get("isError") for step in steps)
    assert any(step.get("result", {}).get("structuredContent") for step in steps)
    assert any(len(step.get("together", [])) == 3 for step in steps)
    assert any(step.get("cancelled") for step in steps) == (server == "python")


# Through the recorder.


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_recorded_session_equals_the_direct_one(direct, recorded, client, server):
    plain, recorded_session = direct(client, server), recorded(client, server)
    assert_same_live(server, plain.document, recorded_session.result.document)
    assert recorded_session.result.status == plain.status


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_recorder_forwards_every_byte(recorded, client, server):
    recorded_session = recorded(client, server)
    assert (recorded_session.server_side / "in").read_bytes() == recorded_session.result.sent
    assert (recorded_session.server_side / "out").read_bytes() == recorded_session.result.got
    assert int((recorded_session.server_side / "status").read_text()) == recorded_session.result.status


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_recording_is_complete(recorded, client, server):
    recorded_session = recorded(client, server)
    (header, _), *body, (footer, _) = lines(recorded_session.file)
    kept = [(line, raw) for line, raw in body if line["type"] == "message"]
    assert header["type"] == "header" and footer["type"] == "footer"
    assert header["command"] == [os.fspath(recorded_session.launcher)]
    assert [line["seq"] for line, _ in kept] == list(range(1, len(kept) + 1))
    assert footer["exit_code"] == recorded_session.result.status
    assert footer["total_messages"] == len(kept)
    for direction, traffic, count in (("c2s", recorded_session.result.sent, "client_messages"),
                                   ("s2c", recorded_session.result.got, "server_messages")):
        here = [(line, raw) for line, raw in kept if line["dir"] == direction]
        expected_messages = messages(traffic)
        assert footer[count] == len(here) == len(expected_messages)
        for (line, raw), (message, text) in zip(here, expected_messages):
            assert text in raw, f"message {line['seq']} was not kept byte for byte"
            assert_same(line["msg"], message)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recording_has_the_stderr_of_the_server(recorded, client):
    recorded_session = recorded(client, "python")
    stderr_text = "".join(line["text"] for line, _ in lines(recorded_session.file) if line["type"] == "stderr")
    assert "this line is for stderr" in stderr_text
    assert "this line is for stderr" in recorded_session.result.err


# From the recording alone.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_replayed_session_equals_the_recorded_one(recorded, replayed, client, server, mode):
    recorded_session = recorded(client, server)
    again = replayed(client, server, recorded_session.file, mode, ids="strings")
    assert_same(recorded_session.result.document, again.document)
    assert again.status == 0, again.err
    assert not request_ids(recorded_session.result) & request_ids(again)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("recorder,player", [("ts", "py"), ("py", "ts")])
def test_another_sdk_replays_the_recording(recorded, replayed, recorder, player, server, mode):
    recorded_session = recorded(recorder, server)
    again = replayed(player, server, recorded_session.file, mode)
    assert_same(recorded_session.result.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.parametrize("mode", MODES)
def test_the_replay_sends_the_content_of_the_file(recorded, replayed, tmp_path, mode):
    recorded_session = recorded("ts", "everything")
    altered = tmp_path / "altered.jsonl"
    altered.write_bytes(recorded_session.file.read_bytes().replace(b"Echo: plain", b"Echo: forged"))
    again = replayed("ts", "everything", altered, mode, ids="strings")
    found = list(differences(recorded_session.result.document, again.document))
    assert len(found) == 1 and '"Echo: plain" != "Echo: forged"' in found[0], found

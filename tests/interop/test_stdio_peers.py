"""Real clients and real servers over stdio: direct, recorded, and replayed with the server gone.

Each client plays the script written for a server and prints a document of all it saw. The three ways
must give the same document:

- recorded against direct: equal up to what a server makes up anew in each run (see 'settled');
- replayed against recorded: equal in every character, although the ids and progress tokens of the
  replayed run are other ones, and although it may be another client of another vendor.
"""
import base64
import json
import os
import pathlib
import re
import shutil
import sys
from dataclasses import dataclass

import pytest

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
CLIENTS = ["ts", "py"]
SERVERS = ["everything", "python"]
MODES = ["sequential", "by-request"]


@dataclass(frozen=True)
class Played:
    """One session as a client saw it, and as a witness between it and its server saw it."""

    document: dict
    sent: bytes
    got: bytes
    status: int
    err: str


@dataclass(frozen=True)
class Recorded:
    played: Played
    file: pathlib.Path
    launcher: pathlib.Path
    server_side: pathlib.Path


class Stage:
    """Everything needed to put a client in front of a server."""

    def __init__(self, npm, python, run, tmp):
        self.npm, self.python, self.run, self.tmp = npm, python, run, tmp
        self.node = shutil.which("node")
        self.runs = 0

    def fresh(self):
        self.runs += 1
        where = self.tmp / f"run-{self.runs}"
        where.mkdir()
        return where

    def server(self, name):
        if name == "python":
            return [self.python / "bin/python", PEERS / "py-server.py"]
        everything = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
        return [self.node, self.npm / everything, "stdio"]

    def witness(self, where, command):
        return [sys.executable, PEERS / "witness.py", where, "--", *command]

    def client(self, name, ids, era):
        if name == "ts":
            return [self.node, PEERS / "ts-client.mjs", "--peers", self.npm, "--ids", ids]
        return [self.python / "bin/python", PEERS / "py-client.py", "--ids", ids, "--era", era]

    def play(self, client, script, command, *, ids="numbers", era="legacy", env=None):
        where = self.fresh() / "client-side"
        session = PEERS / "sessions" / f"{script}.json"
        ran = self.run([*self.client(client, ids, era), session, "--", *self.witness(where, command)], env=env)
        assert ran.code == 0, str(ran)
        document = json.loads(ran.out)
        assert document["trouble"] == [], str(ran)
        return Played(
            document=document,
            sent=(where / "in").read_bytes(),
            got=(where / "out").read_bytes(),
            status=int((where / "status").read_text()),
            err=ran.err.decode(),
        )


@pytest.fixture(scope="session")
def stage(npm_peers, python_peers, run, tmp_path_factory):
    return Stage(npm_peers, python_peers, run, tmp_path_factory.mktemp("stdio"))


def once(make):
    """Sessions cost seconds; every test that needs the same one shares it."""
    made = {}

    def get(*key):
        if key not in made:
            made[key] = make(*key)
        return made[key]

    return get


@pytest.fixture(scope="session")
def direct(stage):
    return once(lambda client, server, era="legacy": stage.play(client, server, stage.server(server), era=era))


@pytest.fixture(scope="session")
def recorded(stage, mcpreel):
    def make(client, server, era="legacy"):
        where = stage.fresh()
        server_side = where / "server-side"
        launcher = where / "server"
        words = " ".join(f"'{word}'" for word in stage.witness(server_side, stage.server(server)))
        launcher.write_text(f"#!/bin/sh\nexec {words}\n")
        launcher.chmod(0o755)
        file = where / "session.jsonl"
        played = stage.play(client, server, [mcpreel, "record", "-o", file, "--", launcher], era=era)
        launcher.unlink()  # from here on the recording is all there is
        return Recorded(played, file, launcher, server_side)

    return once(make)


@pytest.fixture
def replayed(stage, mcpreel):
    def make(client, server, file, mode, ids="strings", era="legacy"):
        # An empty PATH: nothing but the recording can answer.
        nowhere = stage.fresh()
        command = [mcpreel, "replay", "--match", mode, file]
        return stage.play(client, server, command, ids=ids, era=era, env={"PATH": os.fspath(nowhere)})

    return make


CLOCK = re.compile(r"created at \d{1,2}:\d\d:\d\d(\s[AP]M)?")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def settled(value, key=None):
    """The same document without what server-everything makes up in each run: the wall-clock time in its
    dynamic resources, in base64 where they are blobs, and the id of an elicitation it names itself."""
    if isinstance(value, dict):
        return {k: settled(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v) for v in value]
    if not isinstance(value, str):
        return value
    if key == "blob" and CLOCK.search(base64.b64decode(value).decode(errors="replace")):
        return settled(base64.b64decode(value).decode())
    if key == "elicitationId":
        return UUID.sub("UUID", value)
    return CLOCK.sub("created at TIME", value)


def differences(one, other, path="$"):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{path}.{key}: only in the {'second' if key in other else 'first'}"
            else:
                yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}[{i}]")
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield f"{path}: {json.dumps(one, ensure_ascii=False)[:300]} != {json.dumps(other, ensure_ascii=False)[:300]}"


def assert_same(one, other):
    found = list(differences(one, other))
    assert not found, "\n".join([f"{len(found)} differences", *found[:20]])


def messages(wire):
    """The messages of one direction, each with its bytes."""
    assert wire.endswith(b"\n")
    return [(json.loads(line), line) for line in wire[:-1].split(b"\n")]


def request_ids(played):
    return {json.dumps(message["id"]) for message, _ in messages(played.sent) if "method" in message and "id" in message}


def lines(file):
    """The lines of a recording, each with its bytes; a whole one ends with a newline."""
    return messages(file.read_bytes())


# The peers themselves: what the other tests compare with must be worth comparing with.


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_direct_session_does_not_depend_on_the_ids(stage, direct, client, server):
    plain = direct(client, server)
    other = stage.play(client, server, stage.server(server), ids="strings")
    assert_same(settled(plain.document), settled(other.document))
    assert not request_ids(plain) & request_ids(other)


@pytest.mark.parametrize("server", SERVERS)
def test_both_sdks_see_the_same_server(direct, server):
    assert_same(settled(direct("ts", server).document), settled(direct("py", server).document))


@pytest.mark.parametrize("server", SERVERS)
def test_a_session_shows_what_a_recorder_must_carry(direct, server):
    document = direct("ts", server).document
    heard = {one["method"] for step in document["steps"] for one in step["heard"]}
    assert {"roots/list", "sampling/createMessage", "elicitation/create", "notifications/message",
            "notifications/tools/list_changed", "notifications/resources/list_changed",
            "notifications/resources/updated"} <= heard
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
def test_a_recorded_session_is_the_direct_one(direct, recorded, client, server):
    plain, tape = direct(client, server), recorded(client, server)
    assert_same(settled(plain.document), settled(tape.played.document))
    assert tape.played.status == plain.status


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_recorder_passes_every_byte(recorded, client, server):
    tape = recorded(client, server)
    assert (tape.server_side / "in").read_bytes() == tape.played.sent
    assert (tape.server_side / "out").read_bytes() == tape.played.got
    assert int((tape.server_side / "status").read_text()) == tape.played.status


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_recording_is_whole(recorded, client, server):
    tape = recorded(client, server)
    (header, _), *body, (footer, _) = lines(tape.file)
    kept = [(line, raw) for line, raw in body if line["type"] == "message"]
    assert header["type"] == "header" and footer["type"] == "footer"
    assert header["command"] == [os.fspath(tape.launcher)]
    assert [line["seq"] for line, _ in kept] == list(range(1, len(kept) + 1))
    assert footer["exit_code"] == tape.played.status
    assert footer["total_messages"] == len(kept)
    for direction, wire, count in (("c2s", tape.played.sent, "client_messages"),
                                   ("s2c", tape.played.got, "server_messages")):
        here = [(line, raw) for line, raw in kept if line["dir"] == direction]
        said = messages(wire)
        assert footer[count] == len(here) == len(said)
        for (line, raw), (message, text) in zip(here, said):
            assert text in raw, f"message {line['seq']} was not kept byte for byte"
            assert_same(line["msg"], message)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recording_has_what_the_server_said_on_stderr(recorded, client):
    tape = recorded(client, "python")
    said = "".join(line["text"] for line, _ in lines(tape.file) if line["type"] == "stderr")
    assert "this line is for stderr" in said
    assert "this line is for stderr" in tape.played.err


# From the recording alone.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_replayed_session_is_the_recorded_one(recorded, replayed, client, server, mode):
    tape = recorded(client, server)
    again = replayed(client, server, tape.file, mode)
    assert_same(tape.played.document, again.document)
    assert again.status == 0, again.err
    assert not request_ids(tape.played) & request_ids(again)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("recorder,player", [("ts", "py"), ("py", "ts")])
def test_another_sdk_can_play_the_recording(recorded, replayed, recorder, player, server, mode):
    tape = recorded(recorder, server)
    again = replayed(player, server, tape.file, mode, ids="numbers")
    assert_same(tape.played.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.parametrize("mode", MODES)
def test_what_is_replayed_comes_from_the_file(recorded, replayed, tmp_path, mode):
    tape = recorded("ts", "everything")
    altered = tmp_path / "altered.jsonl"
    altered.write_bytes(tape.file.read_bytes().replace(b"Echo: plain", b"Echo: forged"))
    again = replayed("ts", "everything", altered, mode)
    found = list(differences(tape.played.document, again.document))
    assert len(found) == 1 and '"Echo: plain" != "Echo: forged"' in found[0], found


# The Python SDK's way of its own: server/discover first, then whichever era the server speaks.


@pytest.mark.interop
@pytest.mark.parametrize("server", SERVERS)
def test_a_recorded_dual_era_session_is_the_direct_one(direct, recorded, server):
    plain, tape = direct("py", server, "auto"), recorded("py", server, "auto")
    assert_same(settled(plain.document), settled(tape.played.document))
    assert tape.played.status == plain.status


@pytest.mark.interop
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
def test_a_replayed_dual_era_session_is_the_recorded_one(recorded, replayed, server, mode):
    tape = recorded("py", server, "auto")
    again = replayed("py", server, tape.file, mode, era="auto")
    assert_same(tape.played.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.interop
@pytest.mark.parametrize("server", SERVERS)
def test_a_dual_era_client_can_play_a_legacy_recording(recorded, replayed, server):
    tape = recorded("ts", server)
    again = replayed("py", server, tape.file, "sequential", era="auto")
    assert_same(tape.played.document, again.document)
    assert again.status == 0, again.err

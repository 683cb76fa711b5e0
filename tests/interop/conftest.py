"""Shared by the tests with real peers: sessions that were run once, direct and through mcpreel."""
import os
import pathlib
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from conformance import SUITES, Judge, Verdict, listening, recording, replaying
from third_party_clients import House
from peers import CLIENTS, Played, Stage


@dataclass(frozen=True)
class Recorded:
    played: Played
    file: pathlib.Path
    launcher: pathlib.Path
    server_side: pathlib.Path


def once(make):
    """Sessions cost seconds; every test that needs the same one shares it."""
    made = {}

    def get(*key):
        if key not in made:
            made[key] = make(*key)
        return made[key]

    return get


@pytest.fixture(scope="session")
def stage(peer_home, run, tmp_path_factory):
    return Stage(peer_home, run, tmp_path_factory.mktemp("stdio"))


@pytest.fixture(scope="session")
def direct(stage):
    return once(lambda client, server: stage.play(client, server, watched=not CLIENTS[client].siblings))


@pytest.fixture(scope="session")
def recorded(stage, mcpreel):
    """A session through 'mcpreel record', with a witness on either side of it."""
    def make(client, server):
        where = stage.fresh()
        server_side = where / "server-side"
        launcher = where / "server"
        words = " ".join(f"'{word}'" for word in stage.witness(server_side, stage.server(server)))
        launcher.write_text(f"#!/bin/sh\nexec {words}\n")
        launcher.chmod(0o755)
        file = where / "session.jsonl"
        played = stage.play(client, server, [mcpreel, "record", "-o", file, "--", launcher])
        launcher.unlink()  # from here on the recording is all there is
        return Recorded(played, file, launcher, server_side)

    return once(make)


@pytest.fixture
def replayed(stage, mcpreel):
    def make(client, server, file, mode, ids="numbers"):
        # An empty PATH: nothing but the recording can answer.
        nowhere = stage.fresh()
        command = [mcpreel, "replay", "--match", mode, file]
        return stage.play(client, server, command, ids=ids, env={"PATH": os.fspath(nowhere)},
                          watched=not CLIENTS[client].siblings)

    return make


@pytest.fixture(scope="session")
def visited(stage):
    """A session over HTTP."""
    def make(client, server):
        with stage.serve(server) as url:
            return stage.visit(client, server, url)

    return once(make)


@pytest.fixture(scope="session")
def house(peer_home, run, stage):
    return House(peer_home("others"), run, stage.fresh)


@pytest.fixture(scope="session")
def guest_visit(stage, house):
    """The visit of one of other people's clients."""
    def make(guest, server):
        with stage.serve(server) as url:
            return house.visit(guest, url)

    return once(make)


@dataclass(frozen=True)
class Taped:
    document: dict
    file: pathlib.Path


@pytest.fixture(scope="session")
def taped_visit(stage, mcpreel):
    """A session over HTTP through 'mcpreel record', and its recording. The server is gone."""
    def make(client, server):
        where = stage.fresh()
        file = where / "session.jsonl"
        with stage.serve(server) as url, listening(recording(mcpreel, url, file), where / "err") as address:
            return Taped(stage.visit(client, server, address + urlsplit(url).path), file)

    return once(make)


@pytest.fixture
def replayed_visit(stage, mcpreel):
    """A session over HTTP with the replay of a recording."""
    def make(client, server, file, *how, ids="numbers", path="/mcp"):
        with listening(replaying(mcpreel, file, *how), stage.fresh() / "err") as address:
            return stage.visit(client, server, address + path, ids)

    return make


@pytest.fixture(scope="session")
def judge(peer_home, run, tmp_path_factory):
    """The official conformance suite, and a server that passes it."""
    return Judge(peer_home("conformance"), run, lambda: tmp_path_factory.mktemp("conformance"))


@pytest.fixture(scope="session")
def direct_verdict(judge):
    """The result of a suite, by its name, for the server itself."""
    def make(name):
        with judge.server() as url:
            return judge.of_server(SUITES[name], url)

    return once(make)


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    file: pathlib.Path


@pytest.fixture(scope="session")
def recorded_verdict(judge, mcpreel):
    """The result of a suite through 'mcpreel record', and its recording. The server is gone."""
    def make(name):
        where = judge.fresh()
        file = where / "suite.jsonl"
        with judge.server() as url, listening(recording(mcpreel, url, file), where / "err") as address:
            return Judged(judge.of_server(SUITES[name], f"{address}/mcp"), file)

    return once(make)


@pytest.fixture(scope="session")
def replayed_verdict(judge, mcpreel):
    """The result of a suite for the replay of a recording."""
    def make(name, file, *how):
        with listening(replaying(mcpreel, file, *how), judge.fresh() / "err") as address:
            return judge.of_server(SUITES[name], f"{address}/mcp")

    return make


@pytest.fixture(scope="session")
def direct_client_verdict(judge):
    """The result of a suite for the client itself."""
    return once(lambda name: judge.of_client(SUITES[name]))

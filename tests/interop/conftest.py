"""Shared by the tests with real peers: sessions that were run once, direct and through mcpreel."""
import os
import pathlib
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from conformance import SUITES, ConformanceRunner, Verdict, listening, recording, replaying
from third_party_clients import ThirdPartyRunner
from peers import CLIENTS, SessionResult, PeerRunner


@dataclass(frozen=True)
class StdioRecording:
    result: SessionResult
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
def peer_runner(peer_home, run, tmp_path_factory):
    return PeerRunner(peer_home, run, tmp_path_factory.mktemp("stdio"))


@pytest.fixture(scope="session")
def direct(peer_runner):
    return once(lambda client, server: peer_runner.run_stdio(client, server, logged=not CLIENTS[client].starts_twice))


@pytest.fixture(scope="session")
def recorded(peer_runner, mcpreel):
    """A session through 'mcpreel record', with a traffic log on either side of it."""
    def make(client, server):
        where = peer_runner.new_folder()
        server_side = where / "server-side"
        launcher = where / "server"
        words = " ".join(f"'{word}'" for word in peer_runner.log_traffic(server_side, peer_runner.server(server)))
        launcher.write_text(f"#!/bin/sh\nexec {words}\n")
        launcher.chmod(0o755)
        file = where / "session.jsonl"
        result = peer_runner.run_stdio(client, server, [mcpreel, "record", "-o", file, "--", launcher])
        launcher.unlink()  # from here on the recording is all there is
        return StdioRecording(result, file, launcher, server_side)

    return once(make)


@pytest.fixture
def replayed(peer_runner, mcpreel):
    def make(client, server, file, mode, ids="numbers"):
        # An empty PATH: nothing but the recording can answer.
        empty_folder = peer_runner.new_folder()
        command = [mcpreel, "replay", "--match", mode, file]
        return peer_runner.run_stdio(client, server, command, ids=ids, env={"PATH": os.fspath(empty_folder)},
                          logged=not CLIENTS[client].starts_twice)

    return make


@pytest.fixture(scope="session")
def direct_http(peer_runner):
    """A session over HTTP."""
    def make(client, server):
        with peer_runner.serve_http(server) as url:
            return peer_runner.run_http(client, server, url)

    return once(make)


@pytest.fixture(scope="session")
def third_party_runner(peer_home, run, peer_runner):
    return ThirdPartyRunner(peer_home("others"), run, peer_runner.new_folder)


@pytest.fixture(scope="session")
def direct_third_party(peer_runner, third_party_runner):
    """A session of a third-party client."""
    def make(client, server):
        with peer_runner.serve_http(server) as url:
            return third_party_runner.run_session(client, url)

    return once(make)


@dataclass(frozen=True)
class HttpRecording:
    document: dict
    file: pathlib.Path


@pytest.fixture(scope="session")
def recorded_http(peer_runner, mcpreel):
    """A session over HTTP through 'mcpreel record', and its recording. The server is gone."""
    def make(client, server):
        where = peer_runner.new_folder()
        file = where / "session.jsonl"
        with peer_runner.serve_http(server) as url, listening(recording(mcpreel, url, file), where / "err") as address:
            return HttpRecording(peer_runner.run_http(client, server, address + urlsplit(url).path), file)

    return once(make)


@pytest.fixture
def replayed_http(peer_runner, mcpreel):
    """A session over HTTP with the replay of a recording."""
    def make(client, server, file, *how, ids="numbers", path="/mcp"):
        with listening(replaying(mcpreel, file, *how), peer_runner.new_folder() / "err") as address:
            return peer_runner.run_http(client, server, address + path, ids)

    return make


@pytest.fixture(scope="session")
def conformance_runner(peer_home, run, tmp_path_factory):
    """The official conformance suite, and a server that passes it."""
    return ConformanceRunner(peer_home("conformance"), run, lambda: tmp_path_factory.mktemp("conformance"))


@pytest.fixture(scope="session")
def direct_verdict(conformance_runner):
    """The result of a suite, by its name, for the server itself."""
    def make(name):
        with conformance_runner.server() as url:
            return conformance_runner.run_server_suite(SUITES[name], url)

    return once(make)


@dataclass(frozen=True)
class RecordedVerdict:
    verdict: Verdict
    file: pathlib.Path


@pytest.fixture(scope="session")
def recorded_verdict(conformance_runner, mcpreel):
    """The result of a suite through 'mcpreel record', and its recording. The server is gone."""
    def make(name):
        where = conformance_runner.new_folder()
        file = where / "suite.jsonl"
        with conformance_runner.server() as url, listening(recording(mcpreel, url, file), where / "err") as address:
            return RecordedVerdict(conformance_runner.run_server_suite(SUITES[name], f"{address}/mcp"), file)

    return once(make)


@pytest.fixture(scope="session")
def replayed_verdict(conformance_runner, mcpreel):
    """The result of a suite for the replay of a recording."""
    def make(name, file, *how):
        with listening(replaying(mcpreel, file, *how), conformance_runner.new_folder() / "err") as address:
            return conformance_runner.run_server_suite(SUITES[name], f"{address}/mcp")

    return make


@pytest.fixture(scope="session")
def direct_client_verdict(conformance_runner):
    """The result of a suite for the client itself."""
    return once(lambda name: conformance_runner.run_client_suite(SUITES[name]))

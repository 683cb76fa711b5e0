"""Real clients on stdio, real servers on HTTP, 'mcpreel record --url' in between.

The document of a session must be that of the same client at the same server over HTTP without us, and the recording
must be as good as any other: played on stdio and over HTTP, it gives that document again.
"""
import json
import os
from dataclasses import dataclass

import pytest

from conftest import once
from peers import CLIENTS, group_unsolicited, assert_same, document_of, mark_rare, omitted_step, http_server_named
from test_http_peers import MATRIX

MAIN = ("ts", "everything")


def names(pair):
    return tuple(getattr(pair, "values", pair))


def mark_interop(pairs):
    return [pair if pair == MAIN else pytest.param(*pair, marks=pytest.mark.interop) for pair in pairs]


# Not among them: ts-2-auto, which asks what the server speaks in a process, and so in a recording, of its own.
REPLAYED = [MAIN, ("ts", "ts"), ("py", "python"), ("py-auto", "python"), ("ts", "ts-2"), ("ts-2", "ts-2"), ("py-auto", "ts-2"),
          ("fastmcp", "fastmcp"), ("fastmcp-auto", "fastmcp"), ("ts-1.12", "ts"), ("py", "everything"), ("py", "mcp-lite")]
# Clients that know both transports. Not among them: the Java SDK before server-everything, which tells that its tools
# changed right after the handshake, and only to a stream of the GET. The SDK has opened that by then, others have not.
BRIDGED = mark_rare(mark_interop(names(pair) for pair in MATRIX
                                 if names(pair)[0] in CLIENTS and names(pair) != ("java", "everything")), always=REPLAYED)


# Servers that speak HTTP+SSE, as each client's own HTTP+SSE sees them.
HTTP_SSE_PAIRS = [("ts", "everything-sse"), ("py", "everything-sse"), ("ts", "ts-1.9-sse"), ("ts-1.9", "ts-1.9-sse"), ("py", "python-sse"),
       ("fastmcp", "fastmcp-sse")]


@dataclass(frozen=True)
class Bridged:
    document: dict
    file: os.PathLike
    files: tuple  # of all processes that the client has started
    err: str


@pytest.fixture(scope="session")
def run_bridge_client(peer_runner, run):
    """A session of a client with what a command starts, by the script of a server on HTTP: the document."""
    def make(client, server, command, env=None):
        where = peer_runner.new_folder()
        script = peer_runner.script(http_server_named(server), where, where, omitted_step(client, server))
        return run([*peer_runner.client(client), script, "--", *command], timeout=120, env=env or {})

    return make


@pytest.fixture(scope="session")
def bridged(peer_runner, mcpreel, run_bridge_client):
    def make(client, server):
        where = peer_runner.new_folder()
        # A client may start its command twice, to see what the server speaks.
        with peer_runner.serve_http(server) as url:
            ran = run_bridge_client(client, server, [mcpreel, "record", "--url", url, "-o", f"{where}/"])
        files = sorted(where.iterdir(), key=lambda file: file.stat().st_size)
        return Bridged(document_of(ran), files[-1], tuple(files), ran.err.decode())

    return once(make)


@pytest.fixture(scope="session")
def without_mcpreel(direct_http, direct):
    """The session over HTTP; where a client's own HTTP stands in its way (an answer of a MiB), that on stdio."""
    def make(client, server):
        exceeds_client_limit = server == "python" and CLIENTS[client].group in ("python", "fastmcp")
        return direct(client, server).document if exceeds_client_limit else direct_http(client, server)

    return make


@pytest.mark.parametrize("client,server", BRIDGED)
def test_a_bridged_session_equals_the_direct_one(without_mcpreel, bridged, client, server):
    assert_same(group_unsolicited(without_mcpreel(client, server), server), group_unsolicited(bridged(client, server).document, server))


@pytest.mark.interop
@pytest.mark.parametrize("server", ["ts-2", "ts"])
def test_a_client_that_probes_with_a_second_process_leaves_complete_recordings(mcpreel, run, bridged, server):
    """The TypeScript SDK starts its command once more, asks what the server speaks, and ends that with SIGTERM."""
    recorded_session = bridged("ts-2-auto", server)
    assert len(recorded_session.files) == 2
    report = json.loads(run([mcpreel, "--json", "check", *recorded_session.files]).out)
    assert [(file["verdict"], file["findings"]) for file in report["files"] if file["verdict"] in ("damaged", "unreadable")] == []
    probe, session = ([json.loads(line) for line in file.read_bytes().splitlines()] for file in recorded_session.files)
    assert [line["msg"].get("method") for line in probe if line.get("dir") == "c2s"] == ["server/discover"]
    for lines in (probe, session):
        assert (lines[0]["type"], lines[-1]["type"]) == ("header", "footer") and lines[-1]["exit_code"] == 0
        exchanges = [[line["exchange"] for line in lines if line["type"] == "http" and line["ev"] == ev] for ev in ("request", "end")]
        assert sorted(exchanges[0]) == sorted(exchanges[1])


@pytest.mark.interop
@pytest.mark.parametrize("server", ["ts-2", "ts"])
def test_recordings_of_both_processes_are_replayed_together(mcpreel, run, peer_runner, run_bridge_client, bridged, server):
    """The server sent its serverInfo to the second process."""
    recorded_session = bridged("ts-2-auto", server)
    merged = peer_runner.new_folder() / "merged.jsonl"
    assert run([mcpreel, "convert", *recorded_session.files, "-o", merged]).code == 0
    again = document_of(run_bridge_client("ts-2-auto", server, [mcpreel, "replay", "--match", "by-request", merged]))
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", mark_interop(REPLAYED))
def test_the_recording_is_replayed_on_stdio(mcpreel, run_bridge_client, bridged, client, server):
    recorded_session = bridged(client, server)
    again = document_of(run_bridge_client(client, server, [mcpreel, "replay", "--match", "by-request", recorded_session.file]))
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", mark_interop(pair for pair in REPLAYED if pair[1] != "python"))
def test_the_recording_is_replayed_over_http(replayed_http, bridged, client, server):
    recorded_session = bridged(client, server)
    again = replayed_http(client, server, recorded_session.file, "--match", "by-request")
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))


@pytest.mark.interop
@pytest.mark.parametrize("client,server", HTTP_SSE_PAIRS)
def test_a_bridged_http_sse_session_equals_the_direct_one(direct_http, bridged, client, server):
    recorded_session = bridged(client, server)
    assert "speaks legacy HTTP+SSE" in recorded_session.err
    assert_same(group_unsolicited(direct_http(f"{client}-sse", server), server), group_unsolicited(recorded_session.document, server))


@pytest.mark.interop
@pytest.mark.parametrize("client,server", HTTP_SSE_PAIRS)
def test_the_recording_of_http_sse_is_replayed_on_stdio(mcpreel, run_bridge_client, bridged, client, server):
    recorded_session = bridged(client, server)
    again = document_of(run_bridge_client(client, server, [mcpreel, "replay", "--match", "by-request", recorded_session.file]))
    assert_same(group_unsolicited(recorded_session.document, server), group_unsolicited(again, server))

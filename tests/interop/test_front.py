"""Clients on HTTP before servers on stdio, with 'mcpreel record --listen' in between.

A client must see what it sees of the same server on stdio, and see it again when the recording is all there is, over
HTTP and on stdio.
"""
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess

import pytest

from conformance import BAD, DOUBTFUL, LISTEN, SCRIPTS, SUITES, Verdict, listening, replaying, table
from conformance import assert_same as assert_same_verdict
from processes import PATIENCE_S, line_of, started
from peers import CLIENTS, OLD_VISITORS, SERVERS, VISITORS, assert_same, document_of, settled, survivors

MAIN = [("ts", "everything")]
OTHERS = [
    ("py", "python"), *(("ts", server) for server in ("memory", "filesystem", "python", "fastmcp", "ts-2")),
    *((client, "everything") for client in VISITORS if client != "ts"),
    *((client, "ts-2") for client in ("ts-2", "ts-2-auto", "py-auto", "fastmcp-auto", "ts-1.13")),
    ("py", "memory"), ("fastmcp", "fastmcp"), ("fastmcp-auto", "fastmcp"), ("py-auto", "python"), ("fastmcp", "python"),
]
MATRIX = [*MAIN, *(pytest.param(*pair, marks=pytest.mark.interop) for pair in OTHERS)]


def gathered(document, server):
    """An unsolicited message of a server can arrive during another step, but it does arrive."""
    if SERVERS[server].invents:
        document = settled(document)
    heard = [one for step in document["steps"] for one in step["heard"]]
    steps = [{key: value for key, value in step.items() if key != "heard"} for step in document["steps"]]
    return {**document, "steps": steps, "heard": sorted(heard, key=json.dumps)}


def visit(stage, client, server, url, ids="numbers"):
    where = stage.fresh()
    folder = stage.folder(server)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    script = stage.script(SERVERS[server], where, folder)
    return document_of(stage.run([*stage.client(client, ids), "--url", url, script], timeout=120))


@pytest.fixture(scope="session")
def bridged(stage, mcpreel):
    """A visit through the recorder: what the client saw, and the recording."""
    made = {}

    def get(client, server):
        if (client, server) not in made:
            file = stage.fresh() / "session.jsonl"
            env = [word for pair in SERVERS[server].env(stage.folder(server)).items() for word in ("--target-env", "=".join(pair))]
            command = shlex.join(map(os.fspath, stage.server(server)))
            with listening([mcpreel, "record", *LISTEN, *env, "-o", file, "--upstream", command], file.with_suffix(".err")) as at:
                seen = visit(stage, client, server, f"{at}/{'sse' if client in OLD_VISITORS else 'mcp'}")
            made[client, server] = seen, file
        return made[client, server]

    return get


def direct_play(stage, client, server):
    traits = {**CLIENTS, **VISITORS}[client]
    return stage.play(client, server, watched=not traits.siblings).document


@pytest.mark.parametrize("client,server", MATRIX)
def test_an_http_client_gets_the_results_of_a_stdio_client(stage, bridged, client, server):
    seen, _ = bridged(client, server)
    assert_same(gathered(direct_play(stage, client, server), server), gathered(seen, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_the_recording_is_replayed_over_http(stage, mcpreel, bridged, client, server):
    seen, file = bridged(client, server)
    ids = "strings" if VISITORS[client].strings else "numbers"
    with listening(replaying(mcpreel, file, "--match", "by-request"), file.with_suffix(".replay")) as at:
        again = visit(stage, client, server, f"{at}/mcp", ids)
    assert_same(gathered(seen, server), gathered(again, server))


@pytest.mark.parametrize("client,server", [(c, s) for c, s in MAIN if c in CLIENTS])
def test_the_recording_is_replayed_on_stdio(bridged, replayed, client, server):
    seen, file = bridged(client, server)
    again = replayed(client, server, file, "by-request", ids="strings")
    assert_same(gathered(seen, server), gathered(again.document, server))
    assert survivors(again.mark) == []


@pytest.mark.interop
@pytest.mark.parametrize("client,twin,server", [
    ("ts-1.9-sse", "ts-1.9", "everything"), ("ts-sse", "ts", "memory"), ("py-sse", "py", "memory"), ("fastmcp-sse", "fastmcp", "fastmcp"),
])
def test_an_http_sse_client_gets_the_results_of_a_stdio_client(stage, bridged, mcpreel, client, twin, server):
    seen, file = bridged(client, server)
    assert_same(gathered(direct_play(stage, twin, server), server), gathered(seen, server))
    with listening(replaying(mcpreel, file, "--match", "by-request"), file.with_suffix(".replay")) as at:
        again = visit(stage, client, server, f"{at}/sse")
    assert_same(gathered(seen, server), gathered(again, server))


def test_the_command_line_of_mcp_recorder_works(stage, mcpreel, run):
    """The text is equal, except for the port. The client gets the same results from the cassette."""
    file = stage.fresh() / "golden.json"
    command = shlex.join(map(os.fspath, stage.server("python")))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with started([mcpreel, "record", "--target-stdio", command, "--target-env", "ROLE=it", "--port", str(port), "--output", file],
                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        url = line_of(process.stdout.fileno(), process)
        assert url == f"http://127.0.0.1:{port}/mcp"
        seen = visit(stage, "py", "python", url)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert_same(gathered(direct_play(stage, "py", "python"), "python"), gathered(seen, "python"))
    cassette = json.loads(file.read_text())
    assert cassette["metadata"]["transport_type"] == "stdio"
    assert cassette["metadata"]["server_url"].startswith("stdio://")
    asked = [(i["request"] or {}).get("method") for i in cassette["interactions"] if i["type"] == "jsonrpc_request"]
    assert asked[0] == "initialize" and "tools/list" in asked and "tools/call" in asked


# These ask how a server on HTTP likes to answer, as a stream or not, and whether it hangs up to be polled. One on stdio
# has no say in that; mcpreel answers with JSON if it can, and does not hang up.
OF_HTTP = ("server-sse-polling", "server-sse-multiple-streams")


@pytest.mark.interop
@pytest.mark.parametrize("name", ["2025-06-18", "2025-11-25", "2026-07-28", "0.1.16"])
def test_the_suite_gives_the_same_results_as_for_an_http_server(judge, mcpreel, direct_verdict, name, record_property):
    """But for tasks, which it has on HTTP only."""
    where = judge.fresh()
    command = shlex.join(map(os.fspath, [judge.node, SCRIPTS / "conformance-server.mjs", judge.home, "--stdio"]))
    with listening([mcpreel, "record", *LISTEN, "-o", where / "suite.jsonl", "--upstream", command], where / "err") as at:
        through = judge.of_server(SUITES[name], f"{at}/mcp")
    record_property("shown", table(f"{name}, on stdio", {"on HTTP": direct_verdict(name), "behind mcpreel": through}))

    def told(verdict):
        return Verdict({scenario: checks for scenario, checks in verdict.scenarios.items()
                        if scenario not in OF_HTTP and not scenario.startswith("tasks-")})

    assert_same_verdict(told(direct_verdict(name)), told(through))
    assert not [check for scenario in OF_HTTP for check in through.scenarios.get(scenario, ()) if check.status in (BAD, DOUBTFUL)]

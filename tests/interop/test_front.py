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
from processes import TIMEOUT_S, line_of, started
from peers import CLIENTS, SSE_CLIENTS, SERVERS, HTTP_CLIENTS, assert_same, document_of, without_generated_values, remaining_processes

MAIN = [("ts", "everything")]
OTHERS = [
    ("py", "python"), *(("ts", server) for server in ("memory", "filesystem", "python", "fastmcp", "ts-2")),
    *((client, "everything") for client in HTTP_CLIENTS if client != "ts"),
    *((client, "ts-2") for client in ("ts-2", "ts-2-auto", "py-auto", "fastmcp-auto", "ts-1.13")),
    ("py", "memory"), ("fastmcp", "fastmcp"), ("fastmcp-auto", "fastmcp"), ("py-auto", "python"), ("fastmcp", "python"),
]
MATRIX = [*MAIN, *(pytest.param(*pair, marks=pytest.mark.interop) for pair in OTHERS)]


def group_unsolicited(document, server):
    """An unsolicited message of a server can arrive during another step, but it does arrive."""
    if SERVERS[server].generates_values:
        document = without_generated_values(document)
    received = [one for step in document["steps"] for one in step["heard"]]
    steps = [{key: value for key, value in step.items() if key != "heard"} for step in document["steps"]]
    return {**document, "steps": steps, "heard": sorted(received, key=json.dumps)}


def run_http(peer_runner, client, server, url, ids="numbers"):
    where = peer_runner.new_folder()
    folder = peer_runner.folder(server)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    script = peer_runner.script(SERVERS[server], where, folder)
    return document_of(peer_runner.run([*peer_runner.client(client, ids), "--url", url, script], timeout=120))


@pytest.fixture(scope="session")
def bridged(peer_runner, mcpreel):
    """A session through the recorder: what the client saw, and the recording."""
    made = {}

    def get(client, server):
        if (client, server) not in made:
            file = peer_runner.new_folder() / "session.jsonl"
            env = [word for pair in SERVERS[server].env(peer_runner.folder(server)).items() for word in ("--target-env", "=".join(pair))]
            command = shlex.join(map(os.fspath, peer_runner.server(server)))
            with listening([mcpreel, "record", *LISTEN, *env, "-o", file, "--upstream", command], file.with_suffix(".err")) as at:
                seen = run_http(peer_runner, client, server, f"{at}/{'sse' if client in SSE_CLIENTS else 'mcp'}")
            made[client, server] = seen, file
        return made[client, server]

    return get


def run_direct(peer_runner, client, server):
    traits = {**CLIENTS, **HTTP_CLIENTS}[client]
    return peer_runner.run_stdio(client, server, logged=not traits.starts_twice).document


@pytest.mark.parametrize("client,server", MATRIX)
def test_an_http_client_gets_the_results_of_a_stdio_client(peer_runner, bridged, client, server):
    seen, _ = bridged(client, server)
    assert_same(group_unsolicited(run_direct(peer_runner, client, server), server), group_unsolicited(seen, server))


@pytest.mark.parametrize("client,server", MATRIX)
def test_the_recording_is_replayed_over_http(peer_runner, mcpreel, bridged, client, server):
    seen, file = bridged(client, server)
    ids = "strings" if HTTP_CLIENTS[client].strings else "numbers"
    with listening(replaying(mcpreel, file, "--match", "by-request"), file.with_suffix(".replay")) as at:
        again = run_http(peer_runner, client, server, f"{at}/mcp", ids)
    assert_same(group_unsolicited(seen, server), group_unsolicited(again, server))


@pytest.mark.parametrize("client,server", [(c, s) for c, s in MAIN if c in CLIENTS])
def test_the_recording_is_replayed_on_stdio(bridged, replayed, client, server):
    seen, file = bridged(client, server)
    again = replayed(client, server, file, "by-request", ids="strings")
    assert_same(group_unsolicited(seen, server), group_unsolicited(again.document, server))
    assert remaining_processes(again.mark) == []


@pytest.mark.interop
@pytest.mark.parametrize("client,stdio_client,server", [
    ("ts-1.9-sse", "ts-1.9", "everything"), ("ts-sse", "ts", "memory"), ("py-sse", "py", "memory"), ("fastmcp-sse", "fastmcp", "fastmcp"),
])
def test_an_http_sse_client_gets_the_results_of_a_stdio_client(peer_runner, bridged, mcpreel, client, stdio_client, server):
    seen, file = bridged(client, server)
    assert_same(group_unsolicited(run_direct(peer_runner, stdio_client, server), server), group_unsolicited(seen, server))
    with listening(replaying(mcpreel, file, "--match", "by-request"), file.with_suffix(".replay")) as at:
        again = run_http(peer_runner, client, server, f"{at}/sse")
    assert_same(group_unsolicited(seen, server), group_unsolicited(again, server))


def test_the_command_line_of_mcp_recorder_works(peer_runner, mcpreel, run):
    """The text is equal, except for the port. The client gets the same results from the cassette."""
    file = peer_runner.new_folder() / "golden.json"
    command = shlex.join(map(os.fspath, peer_runner.server("python")))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with started([mcpreel, "record", "--target-stdio", command, "--target-env", "ROLE=it", "--port", str(port), "--output", file],
                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        url = line_of(process.stdout.fileno(), process)
        assert url == f"http://127.0.0.1:{port}/mcp"
        seen = run_http(peer_runner, "py", "python", url)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 0
    assert_same(group_unsolicited(run_direct(peer_runner, "py", "python"), "python"), group_unsolicited(seen, "python"))
    cassette = json.loads(file.read_text())
    assert cassette["metadata"]["transport_type"] == "stdio"
    assert cassette["metadata"]["server_url"].startswith("stdio://")
    asked = [(i["request"] or {}).get("method") for i in cassette["interactions"] if i["type"] == "jsonrpc_request"]
    assert asked[0] == "initialize" and "tools/list" in asked and "tools/call" in asked


# These ask how a server on HTTP likes to answer, as a stream or not, and whether it hangs up to be polled. One on stdio
# has no say in that; mcpreel answers with JSON if it can, and does not hang up.
HTTP_ONLY_SCENARIOS = ("server-sse-polling", "server-sse-multiple-streams")


@pytest.mark.interop
@pytest.mark.parametrize("name", ["2025-06-18", "2025-11-25", "2026-07-28", "0.1.16"])
def test_the_suite_gives_the_same_results_as_for_an_http_server(conformance_runner, mcpreel, direct_verdict, name, record_property):
    """But for tasks, which it has on HTTP only."""
    where = conformance_runner.new_folder()
    command = shlex.join(map(os.fspath, [conformance_runner.node, SCRIPTS / "conformance-server.mjs", conformance_runner.home, "--stdio"]))
    with listening([mcpreel, "record", *LISTEN, "-o", where / "suite.jsonl", "--upstream", command], where / "err") as at:
        through = conformance_runner.run_server_suite(SUITES[name], f"{at}/mcp")
    record_property("shown", table(f"{name}, on stdio", {"on HTTP": direct_verdict(name), "behind mcpreel": through}))

    def checks_on_both_transports(verdict):
        return Verdict({scenario: checks for scenario, checks in verdict.scenarios.items()
                        if scenario not in HTTP_ONLY_SCENARIOS and not scenario.startswith("tasks-")})

    assert_same_verdict(checks_on_both_transports(direct_verdict(name)), checks_on_both_transports(through))
    assert not [check for scenario in HTTP_ONLY_SCENARIOS for check in through.scenarios.get(scenario, ()) if check.status in (BAD, DOUBTFUL)]

"""mcp-recorder itself: what it writes we read and give back, what we write it reads and replays.

Its cassettes are converted to a recording and back byte for byte: those of real sessions, and
generated ones of every shape that its models allow. Both programs must accept and reject the same
damaged ones.
"""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import time

import pytest

pytestmark = pytest.mark.interop

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
SESSION = PEERS / "sessions" / "cassette.json"
TIMEOUT_S = 30


@pytest.fixture(scope="session")
def recorder(recorder_peer):
    """The start of every command that is mcp-recorder's own."""
    return [recorder_peer / "bin/python", PEERS / "mcp-recorder.py"]


@pytest.fixture(scope="session")
def server(python_peers):
    return [python_peers / "bin/python", PEERS / "py-server.py"]


@contextlib.contextmanager
def running(command, output):
    """A server that prints its URL and ends with its stdin; what it says later goes into `output`."""
    with subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
            output.append(process.communicate(timeout=TIMEOUT_S)[0])
        finally:
            process.kill()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def http_server(server):
    port = free_port()
    with subprocess.Popen([*map(os.fspath, server), "--http", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(TIMEOUT_S * 10):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="session")
def run_client(python_peers, run):
    """The official client plays the session with a server on stdio or at a URL: what it saw."""
    def make(*server):
        ran = run([python_peers / "bin/python", PEERS / "py-client.py", *server], timeout=60)
        assert ran.code == 0, str(ran)
        document = json.loads(ran.out)
        assert document["trouble"] == [], str(ran)
        return document

    return make


@pytest.fixture(scope="session")
def convert(mcpreel, run):
    def make(source, target, *options):
        ran = run([mcpreel, "convert", *options, source, "-o", target])
        assert ran.code == 0, str(ran)
        return target

    return make


@pytest.fixture(scope="session")
def mcp_recorder_session(recorder, server, run_client, run, tmp_path_factory):
    """Two sessions with the same server: over HTTP with the official client, and over stdio with its own."""
    where = tmp_path_factory.mktemp("recorded")
    with http_server(server) as target, running([*recorder, "record", target, where / "http.json"], []) as url:
        seen = run_client("--url", url, SESSION)
    assert seen == run_client(SESSION, "--", *server)
    (where / "scenarios.yml").write_text(json.dumps({
        "schema_version": "1.0",
        "target": {"command": os.fspath(server[0]), "args": [os.fspath(server[1])]},
        "scenarios": {"stdio": {"actions": [
            "list_tools", {"call_tool": {"name": "echo", "arguments": {"text": "Grüße 🎞\u2028"}}},
            {"call_tool": {"name": "fail", "arguments": {"why": "because"}}},
            {"read_resource": {"uri": "memo://today"}}, {"get_prompt": {"name": "greet", "arguments": {"name": "Ada"}}},
        ]}},
    }))
    ran = run([*recorder, "cli", "record-scenarios", where / "scenarios.yml", "--output-dir", where])
    assert ran.code == 0, str(ran)
    return {"http": where / "http.json", "stdio": where / "stdio.json"}, seen


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_cassette_of_mcp_recorder_is_rewritten_byte_for_byte(mcp_recorder_session, convert, tmp_path, transport):
    cassette = mcp_recorder_session[0][transport]
    types = {one["type"] for one in json.loads(cassette.read_text())["interactions"]}
    assert types >= {"jsonrpc_request", "notification"} | ({"lifecycle"} if transport == "http" else set())
    native = convert(cassette, tmp_path / "native.jsonl", "--lossless")
    assert convert(native, tmp_path / "back.json", "--lossless").read_bytes() == cassette.read_bytes()


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_inspect_prints_the_output_of_mcp_recorder(mcp_recorder_session, recorder, mcpreel, run, transport):
    cassette = mcp_recorder_session[0][transport]
    its = run([*recorder, "cli", "inspect", cassette])
    ours = run([mcpreel, "inspect", cassette])
    assert (its.code, ours.code, ours.err) == (0, 0, b""), f"{its}\n{ours}"
    assert ours.out == re.sub(rb" ->(\d)", rb" -> \1", its.out)
    assert (ours.out != its.out) == (transport == "http")  # the only arrows without a blank


def test_a_cassette_of_mcp_recorder_is_replayed(mcp_recorder_session, mcpreel, run_client):
    cassettes, seen = mcp_recorder_session
    assert run_client(SESSION, "--", mcpreel, "replay", cassettes["http"]) == seen


def test_mcp_recorder_replays_our_cassette(recorder, server, mcpreel, run_client, convert, tmp_path):
    seen = run_client(SESSION, "--", mcpreel, "record", "-o", tmp_path / "session.jsonl", "--", *server)
    cassette = convert(tmp_path / "session.jsonl", tmp_path / "session.json")
    output = []
    with running([*recorder, "replay", cassette], output) as url:
        assert run_client("--url", url, SESSION) == seen
    assert json.loads(output[0]) == {"all_consumed": True, "unmatched": []}


def test_mcp_recorder_rewrites_our_cassette_unchanged(recorder, server, mcpreel, run_client, convert, run, tmp_path):
    """It loads and saves the file without a change: layout, order and spelling are its own."""
    run_client(SESSION, "--", mcpreel, "record", "-o", tmp_path / "session.jsonl", "--", *server)
    cassette = convert(tmp_path / "session.jsonl", tmp_path / "session.json")
    ran = run([*recorder, "save-again", cassette, tmp_path / "again.json"])
    assert ran.code == 0, str(ran)
    assert (tmp_path / "again.json").read_bytes() == cassette.read_bytes()


# Invented values may look like secrets, and so may paths of URLs.
AS_IT_IS = ("--no-redact-defaults", "--no-redact-server-url")


def test_generated_cassettes_are_rewritten_byte_for_byte(recorder, convert, run, tmp_path):
    assert run([*recorder, "invent", tmp_path, "1", "150"]).code == 0
    cassettes = list(tmp_path.glob("*.json"))
    assert len(cassettes) == 150
    for cassette in cassettes:
        native = convert(cassette, cassette.with_suffix(".jsonl"), "--lossless", *AS_IT_IS)
        back = convert(native, tmp_path / "back.json", "--lossless", *AS_IT_IS)
        assert back.read_bytes() == cassette.read_bytes(), native.read_text()
        back.unlink()


OMITTED_NUMBER = rb"(mcpreel: warning: \S+:\d+:\d+: a number out of range; left out\n)*"


def remove_statuses_out_of_range(its, ours):
    """mcpreel leaves out a status that HTTP does not have, with a warning, because no response can be sent with it.
    A native recording keeps the two other members with the HTTP response, which is not there then."""
    for one, other in zip(its["interactions"], ours["interactions"]):
        if not 200 <= one["response_status"] <= 599:
            for name in ("response_status", "response_is_sse", "latency_ms"):
                one[name] = other[name] = None


def test_damaged_cassettes_are_accepted_or_rejected_by_both(recorder, mcpreel, convert, run, tmp_path):
    damaged, again = tmp_path / "spoilt", tmp_path / "again"
    damaged.mkdir()
    again.mkdir()
    assert run([*recorder, "spoil", damaged, "1", "300"]).code == 0
    its = json.loads(run([*recorder, "judge", damaged]).out)
    assert 50 < sum(verdict is None for verdict in its.values()) < 250
    for name, verdict in its.items():
        ran = run([mcpreel, "inspect", damaged / name])
        assert ran.code == (3 if verdict is None else 0), f"{ran}\n{(damaged / name).read_text()}"
        if verdict is None:
            assert re.fullmatch(OMITTED_NUMBER + rb"mcpreel: \S+:\d+:\d+: [^\n]+\n(  [^\n]+\n)?", ran.err), str(ran)
        else:
            convert(damaged / name, again / name, *AS_IT_IS)
    ours = json.loads(run([*recorder, "judge", again]).out)
    for name, verdict in ours.items():
        if "recorded_at" not in json.loads((damaged / name).read_text()).get("metadata", {}):
            verdict["metadata"]["recorded_at"] = its[name]["metadata"]["recorded_at"]  # it takes the present moment
        remove_statuses_out_of_range(its[name], verdict)
        assert verdict == its[name], (damaged / name).read_text()


def test_verify_prints_its_lines_for_get_and_delete(mcp_recorder_session, recorder, server, mcpreel, run, tmp_path):
    """A session over HTTP ends with DELETE, and a client asks for the stream of the session with GET."""
    cassette = mcp_recorder_session[0]["http"]
    command = " ".join(map(os.fspath, server))
    its = run([*recorder, "cli", "verify", "--cassette", cassette, "--target-stdio", command])
    ours = run([mcpreel, "verify", "--cassette", cassette, "--target-stdio", command])
    def lines(ran):
        return [line for line in ran.err.decode().splitlines() + ran.out.decode().splitlines()
                if re.match(r"  \d+\. (GET|DELETE) ", line) or line.startswith("Interactions: ")]
    assert lines(ours) == lines(its) and len(lines(ours)) > 1, f"{its}\n{ours}"

"""Tasks as the official TypeScript client makes and polls them: it repeats in each poll what made the task one.

With a server on the same SDK they are session_result over HTTP and on stdio, through the recorder and from the recording alone.
The ids and times of tasks are the server's: those of a replay are the recorded ones, to the letter.
"""
import json
import pathlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, recording, replaying
from conftest import once
from peers import group_unsolicited, assert_same, without_generated_values
from verdicts import assert_clean

PAIR = ("ts", "ts-tasks")
MODES = ["by-request", *(pytest.param(mode, marks=pytest.mark.interop) for mode in ("sequential", "fuzzy", "strict"))]
PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"


@pytest.fixture(scope="module")
def task_session(mcpreel, npm_peers, run, tmp_path_factory):
    """The client's command, the messages of the server, and the recording of that."""
    node = shutil.which("node")
    client = [node, PEERS / "ts-task.mjs", npm_peers, "--"]
    server = [node, npm_peers / "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]
    file = tmp_path_factory.mktemp("tasks") / "session.jsonl"

    recorded = run([*client, mcpreel, "record", "-o", file, "--", *server])
    assert recorded.code == 0, str(recorded)
    return client, recorded.out, file


@pytest.mark.interop
def test_the_recorded_client_polls_with_the_params_of_the_call(task_session):
    _, _, file = task_session
    sent = [line["msg"] for line in map(json.loads, file.read_text().splitlines()) if line.get("dir") == "c2s"]
    polls = [message for message in sent if message.get("method") in ("tasks/get", "tasks/result")]
    assert polls and all("task" in poll["params"] for poll in polls)


@pytest.mark.interop
@pytest.mark.parametrize("mode", ("sequential", "by-request", "fuzzy", "strict"))
def test_replayed_tasks_have_the_recorded_states(task_session, mcpreel, run, mode):
    client, output, file = task_session
    for word in (b"taskStatus working", b"taskStatus completed", b"taskStatus input_required", b"asked"):
        assert word in output
    replayed = run([*client, mcpreel, "replay", "--match", mode, file])
    assert replayed.code == 0, str(replayed)
    assert replayed.out == output


@pytest.mark.interop
def test_recorded_tasks_verify_clean(task_session, npm_peers, mcpreel, run):
    """Other ids, other times, other numbers of polls; a task waits for the user's reply."""
    _, _, file = task_session
    server = [shutil.which("node"), npm_peers / "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]
    assert_clean(run([mcpreel, "--json", "verify", file, "--", *server], timeout=120))


def comparable(document):
    """The document with the notifications of all steps together: a stream of its own may be faster or slower than the responses."""
    return group_unsolicited(document, PAIR[1])


def comparable_with_ids(document):
    """The same with every id and every time."""
    received = sorted((one for step in document["steps"] for one in step["heard"]), key=json.dumps)
    return {**document, "steps": [{**step, "heard": None} for step in document["steps"]], "heard": received}


def test_a_session_uses_every_feature_of_tasks(direct_http):
    document = direct_http(*PAIR)
    steps = [one for step in document["steps"] for one in step.get("together", [step])]
    assert {"completed", "failed", "input_required", "working"} <= {
        state["status"] for step in steps for state in step.get("states", [])}
    assert any(step["step"].get("ask") == "tasks/cancel" and step.get("result", {}).get("status") == "cancelled"
               for step in document["steps"])
    assert any(len(step.get("progress", [])) == 3 for step in steps)
    assert {"notifications/tasks/status", "elicitation/create"} <= {
        one["method"] for step in document["steps"] for one in step["heard"]}


def test_tasks_recorded_over_http_equal_the_direct_ones(direct_http, recorded_http):
    assert_same(comparable(direct_http(*PAIR)), comparable(recorded_http(*PAIR).document))


@pytest.mark.parametrize("mode", MODES)
def test_tasks_replayed_over_http_equal_the_recorded_ones(recorded_http, replayed_http, mode):
    recorded_session = recorded_http(*PAIR)
    again = replayed_http(*PAIR, recorded_session.file, "--match", mode, ids="strings")
    assert_same(comparable_with_ids(recorded_session.document), comparable_with_ids(again))


def test_tasks_recorded_on_stdio_equal_the_direct_ones(direct, recorded):
    assert_same(comparable(direct(*PAIR).document), comparable(recorded(*PAIR).result.document))


@pytest.mark.parametrize("mode", MODES)
def test_tasks_replayed_on_stdio_equal_the_recorded_ones(recorded, replayed, mode):
    recorded_session = recorded(*PAIR)
    again = replayed(*PAIR, recorded_session.file, mode, ids="strings")
    assert_same(comparable_with_ids(recorded_session.result.document), comparable_with_ids(again.document))


@pytest.mark.interop
def test_tasks_recorded_over_http_are_replayed_on_stdio(recorded_http, replayed):
    recorded_session = recorded_http(*PAIR)
    assert_same(comparable_with_ids(recorded_session.document), comparable_with_ids(replayed(*PAIR, recorded_session.file, "by-request", ids="strings").document))


@pytest.mark.interop
def test_tasks_recorded_on_stdio_are_replayed_over_http(recorded, replayed_http):
    recorded_session = recorded(*PAIR)
    assert_same(comparable_with_ids(recorded_session.result.document), comparable_with_ids(replayed_http(*PAIR, recorded_session.file, "--match", "by-request", ids="strings")))


@pytest.mark.interop
def test_concurrent_clients_poll_their_own_tasks(peer_runner, mcpreel, recorded_http):
    """All have the same ids of tasks, for each is as far as it has polled them."""
    recorded_session = recorded_http(*PAIR)
    with listening(replaying(mcpreel, recorded_session.file, "--match", "by-request"), peer_runner.new_folder() / "err") as address, \
            ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: peer_runner.run_http(*PAIR, f"{address}/mcp"), range(4)):
            assert_same(comparable_with_ids(recorded_session.document), comparable_with_ids(again))


# The Inspector knows both dialects.

THIRD_PARTY_CLIENTS = [("inspector-modern-tasks", "conformance"), ("inspector-tasks", "ts-tasks")]


@pytest.fixture(scope="session")
def third_party_tasks(peer_runner, conformance_runner, third_party_runner, mcpreel):
    """The results of a third-party client with the server itself, through the recorder, and with the recording:
    (sessions, recording)."""
    def make(client, server):
        where = peer_runner.new_folder()
        file = where / "session.jsonl"
        with conformance_runner.server() if server == "conformance" else peer_runner.serve_http(server) as url:
            direct = third_party_runner.run_session(client, url)
            with listening(recording(mcpreel, url, file), where / "err") as address:
                recorded = third_party_runner.run_session(client, f"{address}/mcp")
        with listening(replaying(mcpreel, file, "--match", "by-request"), where / "err") as address:
            return (direct, recorded, third_party_runner.run_session(client, f"{address}/mcp")), file

    return once(make)


@pytest.mark.interop
@pytest.mark.parametrize("client,server", THIRD_PARTY_CLIENTS)
def test_a_third_party_client_gets_recorded_tasks(third_party_tasks, client, server):
    (direct, recorded, replayed), _ = third_party_tasks(client, server)
    assert without_generated_values(direct) == without_generated_values(recorded)
    assert recorded == replayed


@pytest.mark.interop
@pytest.mark.parametrize("client,server", THIRD_PARTY_CLIENTS)
def test_a_third_party_client_creates_and_polls_tasks(third_party_tasks, client, server):
    _, file = third_party_tasks(client, server)
    messages = [line["msg"] for line in map(json.loads, file.read_text().splitlines()) if line["type"] == "message"]
    made = {message["result"].get("taskId") or message["result"].get("task", {}).get("taskId") for message in messages
            if message.get("result", {}).get("resultType") == "task" or "task" in message.get("result", {})}
    polled = {message["params"]["taskId"] for message in messages if message.get("method") == "tasks/get"}
    assert len(made) >= 2 and polled == made

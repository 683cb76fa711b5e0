"""Tasks as the official TypeScript client makes and polls them: it repeats in each poll what made the task one.

With a server on the same SDK they are played over HTTP and on stdio, through the recorder and from the recording alone.
The ids and times of tasks are the server's: those of a replay are the recorded ones, to the letter.
"""
import json
import pathlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance import listening, recording, replaying
from conftest import once
from peers import apart, assert_same, settled

PAIR = ("ts", "ts-tasks")
MODES = ["by-request", *(pytest.param(mode, marks=pytest.mark.interop) for mode in ("sequential", "fuzzy", "strict"))]
PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"


@pytest.fixture(scope="module")
def task_session(mcpreel, npm_peers, run, tmp_path_factory):
    """The client's command, what it was told by the server, and the recording of that."""
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
    said = [line["msg"] for line in map(json.loads, file.read_text().splitlines()) if line.get("dir") == "c2s"]
    polls = [message for message in said if message.get("method") in ("tasks/get", "tasks/result")]
    assert polls and all("task" in poll["params"] for poll in polls)


@pytest.mark.interop
@pytest.mark.parametrize("mode", ("sequential", "by-request", "fuzzy", "strict"))
def test_replayed_tasks_have_the_recorded_states(task_session, mcpreel, run, mode):
    client, told, file = task_session
    for word in (b"taskStatus working", b"taskStatus completed", b"taskStatus input_required", b"asked"):
        assert word in told
    replayed = run([*client, mcpreel, "replay", "--match", mode, file])
    assert replayed.code == 0, str(replayed)
    assert replayed.out == told


def told(document):
    """Wherever it was heard: a stream of its own may be faster or slower than the answers."""
    return apart(document, PAIR[1])


def exactly(document):
    """The same with every id and every time."""
    heard = sorted((one for step in document["steps"] for one in step["heard"]), key=json.dumps)
    return {**document, "steps": [{**step, "heard": None} for step in document["steps"]], "heard": heard}


def test_a_session_uses_every_feature_of_tasks(visited):
    document = visited(*PAIR)
    steps = [one for step in document["steps"] for one in step.get("together", [step])]
    assert {"completed", "failed", "input_required", "working"} <= {
        state["status"] for step in steps for state in step.get("states", [])}
    assert any(step["step"].get("ask") == "tasks/cancel" and step.get("result", {}).get("status") == "cancelled"
               for step in document["steps"])
    assert any(len(step.get("progress", [])) == 3 for step in steps)
    assert {"notifications/tasks/status", "elicitation/create"} <= {
        one["method"] for step in document["steps"] for one in step["heard"]}


def test_tasks_recorded_over_http_equal_the_direct_ones(visited, taped_visit):
    assert_same(told(visited(*PAIR)), told(taped_visit(*PAIR).document))


@pytest.mark.parametrize("mode", MODES)
def test_tasks_replayed_over_http_equal_the_recorded_ones(taped_visit, replayed_visit, mode):
    tape = taped_visit(*PAIR)
    again = replayed_visit(*PAIR, tape.file, "--match", mode, ids="strings")
    assert_same(exactly(tape.document), exactly(again))


def test_tasks_recorded_on_stdio_equal_the_direct_ones(direct, recorded):
    assert_same(told(direct(*PAIR).document), told(recorded(*PAIR).played.document))


@pytest.mark.parametrize("mode", MODES)
def test_tasks_replayed_on_stdio_equal_the_recorded_ones(recorded, replayed, mode):
    tape = recorded(*PAIR)
    again = replayed(*PAIR, tape.file, mode, ids="strings")
    assert_same(exactly(tape.played.document), exactly(again.document))


@pytest.mark.interop
def test_tasks_recorded_over_http_are_replayed_on_stdio(taped_visit, replayed):
    tape = taped_visit(*PAIR)
    assert_same(exactly(tape.document), exactly(replayed(*PAIR, tape.file, "by-request", ids="strings").document))


@pytest.mark.interop
def test_tasks_recorded_on_stdio_are_replayed_over_http(recorded, replayed_visit):
    tape = recorded(*PAIR)
    assert_same(exactly(tape.played.document), exactly(replayed_visit(*PAIR, tape.file, "--match", "by-request", ids="strings")))


@pytest.mark.interop
def test_concurrent_clients_poll_their_own_tasks(stage, mcpreel, taped_visit):
    """All have the same ids of tasks, for each is as far as it has polled them."""
    tape = taped_visit(*PAIR)
    with listening(replaying(mcpreel, tape.file, "--match", "by-request"), stage.fresh() / "err") as address, \
            ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: stage.visit(*PAIR, f"{address}/mcp"), range(4)):
            assert_same(exactly(tape.document), exactly(again))


# The Inspector knows both dialects.

GUESTS = [("inspector-modern-tasks", "conformance"), ("inspector-tasks", "ts-tasks")]


@pytest.fixture(scope="session")
def guests_with_tasks(stage, judge, house, mcpreel):
    """The results of a third-party client with the server itself, through the recorder, and with the recording:
    (sessions, recording)."""
    def make(guest, server):
        where = stage.fresh()
        file = where / "visit.jsonl"
        with judge.server() if server == "conformance" else stage.serve(server) as url:
            direct = house.visit(guest, url)
            with listening(recording(mcpreel, url, file), where / "err") as address:
                recorded = house.visit(guest, f"{address}/mcp")
        with listening(replaying(mcpreel, file, "--match", "by-request"), where / "err") as address:
            return (direct, recorded, house.visit(guest, f"{address}/mcp")), file

    return once(make)


@pytest.mark.interop
@pytest.mark.parametrize("guest,server", GUESTS)
def test_a_third_party_client_gets_recorded_tasks(guests_with_tasks, guest, server):
    (direct, recorded, replayed), _ = guests_with_tasks(guest, server)
    assert settled(direct) == settled(recorded)
    assert recorded == replayed


@pytest.mark.interop
@pytest.mark.parametrize("guest,server", GUESTS)
def test_a_third_party_client_creates_and_polls_tasks(guests_with_tasks, guest, server):
    _, file = guests_with_tasks(guest, server)
    messages = [line["msg"] for line in map(json.loads, file.read_text().splitlines()) if line["type"] == "message"]
    made = {message["result"].get("taskId") or message["result"].get("task", {}).get("taskId") for message in messages
            if message.get("result", {}).get("resultType") == "task" or "task" in message.get("result", {})}
    polled = {message["params"]["taskId"] for message in messages if message.get("method") == "tasks/get"}
    assert len(made) >= 2 and polled == made

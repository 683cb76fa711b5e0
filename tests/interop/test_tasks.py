"""Tasks as the official TypeScript client makes and polls them: it repeats in each poll what made the task one."""
import json
import pathlib
import shutil

import pytest

pytestmark = pytest.mark.interop

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


def test_the_recorded_client_polls_with_what_made_the_task(task_session):
    _, _, file = task_session
    said = [line["msg"] for line in map(json.loads, file.read_text().splitlines()) if line.get("dir") == "c2s"]
    polls = [message for message in said if message.get("method") in ("tasks/get", "tasks/result")]
    assert polls and all("task" in poll["params"] for poll in polls)


@pytest.mark.parametrize("mode", ("sequential", "by-request", "fuzzy", "strict"))
def test_replayed_tasks_are_told_as_they_were(task_session, mcpreel, run, mode):
    client, told, file = task_session
    for word in (b"taskStatus working", b"taskStatus completed", b"taskStatus input_required", b"asked"):
        assert word in told
    replayed = run([*client, mcpreel, "replay", "--match", mode, file])
    assert replayed.code == 0, str(replayed)
    assert replayed.out == told

"""Tools that speak to the session: what they say on the stream of the GET belongs to the call they are working on."""
import pathlib
import shutil
import subprocess

import pytest

from conformance import listening, recording, replaying
from processes import line_of, started

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "peers/ts-apart.mjs"

EXPECTED_OUTPUT = """\
calls plain
gets plain
calls log
receives logged
gets log
calls ask
is asked
answers
gets Bob
calls plain
gets plain
"""


def log_before_response(output):
    """A log and the answer come on two streams: which of them a busy client reads first is not for us to say."""
    return output.replace("gets log\nreceives logged\n", "receives logged\ngets log\n")


@pytest.fixture(scope="module")
def peer(npm_peers):
    return [shutil.which("node"), SCRIPT, npm_peers]


@pytest.fixture(scope="module")
def run_client(peer, run):
    def make(url, *tools):
        ran = run([*peer, "visit", url, *tools])
        assert ran.code == 0, str(ran)
        return log_before_response(ran.out.decode())

    return make


@pytest.fixture(scope="module")
def recorded_file(peer, run_client, mcpreel, tmp_path_factory):
    where = tmp_path_factory.mktemp("apart")
    file = where / "session.jsonl"
    with started([*peer, "serve"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        url = line_of(server.stdout.fileno(), server)
        with listening(recording(mcpreel, url, file), where / "err") as address:
            assert run_client(f"{address}/mcp", "plain", "log", "ask", "plain") == EXPECTED_OUTPUT
    return file


def test_messages_on_the_get_stream_are_replayed_with_their_call(mcpreel, recorded_file, run_client, tmp_path):
    with listening(replaying(mcpreel, recorded_file), tmp_path / "err") as address:
        assert run_client(f"{address}/mcp", "plain", "log", "ask", "plain") == EXPECTED_OUTPUT


def test_a_client_without_another_call_gets_these_messages(mcpreel, recorded_file, run_client, tmp_path):
    with listening(replaying(mcpreel, recorded_file), tmp_path / "err") as address:
        assert run_client(f"{address}/mcp", "ask") == "calls ask\nis asked\nanswers\ngets Bob\n"
        assert run_client(f"{address}/mcp", "plain") == "calls plain\ngets plain\n"
        assert run_client(f"{address}/mcp", "log") == "calls log\nreceives logged\ngets log\n"

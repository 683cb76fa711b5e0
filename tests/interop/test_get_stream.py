"""Tools that speak to the session: what they say on the stream of the GET belongs to the call they are working on."""
import pathlib
import shutil
import subprocess

import pytest

from conformance import listening, recording, replaying
from processes import line_of, started

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "peers/ts-apart.mjs"

STORY = """\
calls plain
gets plain
calls log
hears logged
gets log
calls ask
is asked
answers
gets Bob
calls plain
gets plain
"""


def settled(told):
    """A log and the answer come on two streams: which of them a busy client reads first is not for us to say."""
    return told.replace("gets log\nhears logged\n", "hears logged\ngets log\n")


@pytest.fixture(scope="module")
def peer(npm_peers):
    return [shutil.which("node"), SCRIPT, npm_peers]


@pytest.fixture(scope="module")
def visit(peer, run):
    def make(url, *tools):
        ran = run([*peer, "visit", url, *tools])
        assert ran.code == 0, str(ran)
        return settled(ran.out.decode())

    return make


@pytest.fixture(scope="module")
def tape(peer, visit, mcpreel, tmp_path_factory):
    where = tmp_path_factory.mktemp("apart")
    file = where / "session.jsonl"
    with started([*peer, "serve"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        url = line_of(server.stdout.fileno(), server)
        with listening(recording(mcpreel, url, file), where / "err") as address:
            assert visit(f"{address}/mcp", "plain", "log", "ask", "plain") == STORY
    return file


def test_messages_on_the_get_stream_are_replayed_with_their_call(mcpreel, tape, visit, tmp_path):
    with listening(replaying(mcpreel, tape), tmp_path / "err") as address:
        assert visit(f"{address}/mcp", "plain", "log", "ask", "plain") == STORY


def test_a_client_without_another_call_gets_these_messages(mcpreel, tape, visit, tmp_path):
    with listening(replaying(mcpreel, tape), tmp_path / "err") as address:
        assert visit(f"{address}/mcp", "ask") == "calls ask\nis asked\nanswers\ngets Bob\n"
        assert visit(f"{address}/mcp", "plain") == "calls plain\ngets plain\n"
        assert visit(f"{address}/mcp", "log") == "calls log\nhears logged\ngets log\n"

"""Clean recordings of real servers verify clean: of every pair of peers once, of a few of them twenty times."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from conformance import listening, recording  # noqa: E402
from peers import CLIENTS, LISTENERS, SERVERS, STRANGERS, VISITORS, Stage, on_stdio  # noqa: E402
from test_sse_peers import MATRIX as SSE  # noqa: E402
from verdicts import assert_clean  # noqa: E402

MINUTE = 60
OFTEN = 20
OFTEN_STDIO = [("ts", "everything"), ("py", "python"), ("ts", "filesystem"), ("ts", "memory"), ("ts", "ts"), ("ts-2", "ts-2"),
               ("py", "fastmcp"), ("go", "go"), ("rmcp", "rmcp")]
OFTEN_HTTP = [("ts", "ts"), ("ts", "everything"), ("py", "python"), ("ts-2-auto", "ts-2"), ("py", "fastmcp"), ("rmcp", "rmcp"),
              ("ts-1.9-sse", "ts-1.9-sse"), ("py-sse", "python-sse")]


def with_times(pairs, often):
    """Each pair, and how often its recording is verified."""
    return [(*pair, OFTEN if pair in often else 1) for pair in pairs]


STDIO = with_times([(client, server) for client in CLIENTS for server in SERVERS], OFTEN_STDIO)
HTTP = with_times([*((client, server) for client in VISITORS for server in LISTENERS if (client, server) not in STRANGERS), *SSE],
                  OFTEN_HTTP)


@pytest.fixture(scope="session")
def stage(peer_home, run, tmp_path_factory):
    return Stage(peer_home, run, tmp_path_factory.mktemp("verify"))


def one_file(mcpreel, run, folder):
    """The recordings of one session in one file: a client may start the server more than once."""
    joined = folder / "joined.jsonl"
    ran = run([mcpreel, "convert", *sorted(folder.glob("*.jsonl")), "-o", joined])
    assert ran.code == 0, str(ran)
    return joined


@pytest.mark.timeout(20 * MINUTE)
@pytest.mark.parametrize("client,server,times", STDIO)
def test_a_recording_verifies_clean_on_stdio(stage, mcpreel, run, client, server, times):
    folder = stage.fresh()
    stage.play(client, server, [mcpreel, "record", "-o", folder, "--", *stage.server(server)], watched=False)
    file = one_file(mcpreel, run, folder)
    for _ in range(times):
        folder = stage.empty_folder(server)
        assert_clean(run([mcpreel, "--json", "verify", file, "--", *stage.server(server)], timeout=120, env=on_stdio(server).env(folder)))


@pytest.mark.timeout(20 * MINUTE)
@pytest.mark.parametrize("client,server,times", HTTP)
def test_a_recording_verifies_clean_over_http(stage, mcpreel, run, client, server, times):
    where = stage.fresh()
    with stage.serve(server) as url:
        with listening(recording(mcpreel, url, where / "session.jsonl"), where / "err") as address:
            stage.visit(client, server, address + url[url.index("/", len("http://")):])
        for _ in range(times):
            assert_clean(run([mcpreel, "--json", "verify", "--url", url, where / "session.jsonl"], timeout=120), client)

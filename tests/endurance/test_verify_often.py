"""Clean recordings of real servers verify clean: of every pair of peers once, of a few of them twenty times."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from conformance import listening, recording  # noqa: E402
from peers import CLIENTS, HTTP_SERVERS, SERVERS, INCOMPATIBLE_PAIRS, HTTP_CLIENTS, PeerRunner, stdio_server_named  # noqa: E402
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
HTTP = with_times([*((client, server) for client in HTTP_CLIENTS for server in HTTP_SERVERS if (client, server) not in INCOMPATIBLE_PAIRS), *SSE],
                  OFTEN_HTTP)


@pytest.fixture(scope="session")
def peer_runner(peer_home, run, tmp_path_factory):
    return PeerRunner(peer_home, run, tmp_path_factory.mktemp("verify"))


def one_file(mcpreel, run, folder):
    """The recordings of one session in one file: a client may start the server more than once."""
    joined = folder / "joined.jsonl"
    ran = run([mcpreel, "convert", *sorted(folder.glob("*.jsonl")), "-o", joined])
    assert ran.code == 0, str(ran)
    return joined


@pytest.mark.timeout(20 * MINUTE)
@pytest.mark.parametrize("client,server,times", STDIO)
def test_a_recording_verifies_clean_on_stdio(peer_runner, mcpreel, run, client, server, times):
    folder = peer_runner.new_folder()
    peer_runner.run_stdio(client, server, [mcpreel, "record", "-o", folder, "--", *peer_runner.server(server)], logged=False)
    file = one_file(mcpreel, run, folder)
    for _ in range(times):
        folder = peer_runner.empty_folder(server)
        assert_clean(run([mcpreel, "--json", "verify", file, "--", *peer_runner.server(server)], timeout=120, env=stdio_server_named(server).env(folder)))


@pytest.mark.timeout(20 * MINUTE)
@pytest.mark.parametrize("client,server,times", HTTP)
def test_a_recording_verifies_clean_over_http(peer_runner, mcpreel, run, client, server, times):
    where = peer_runner.new_folder()
    with peer_runner.serve_http(server) as url:
        with listening(recording(mcpreel, url, where / "session.jsonl"), where / "err") as address:
            peer_runner.run_http(client, server, address + url[url.index("/", len("http://")):])
        for _ in range(times):
            assert_clean(run([mcpreel, "--json", "verify", "--url", url, where / "session.jsonl"], timeout=120), client)

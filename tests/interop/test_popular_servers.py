"""Servers that people use, each with a small real session: recorded, and replayed with the server gone."""
import contextlib
import http.server
import json
import subprocess
import threading

import pytest

from conformance import listening, recording
from peers import POPULAR_SERVERS, group_unsolicited, assert_same, http_server_named, remaining_processes
from processes import started, url_in

pytestmark = pytest.mark.interop

PAGE = b"""<!doctype html><title>Reel</title><link rel="icon" href="data:,"><h1>Hello</h1>
<button onclick="document.querySelector('p').textContent = 'clicked'">Press</button><p>waiting</p>"""

# Text that the responses must contain to be those of a working server, by the number of the step.
EXPECTED_TEXT = {
    "git": {1: "A memo", 2: "modified:   memo.txt", 3: "+buy two tapes", 4: "no-such"},
    "sqlite": {2: "affected_rows': 2", 3: "日本", 4: "syntax error"},
    "playwright": {1: "Page Title: Reel", 2: "name: 'Press'", 3: "clicked", 4: "image/png"},
    "devtools": {1: "Reel", 2: "waiting", 3: "Reel", 4: "image/png"},
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module", autouse=True)
def page(peer_runner):
    """The page that a browser is sent to: at one URL, so that a replay is asked for the same."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        peer_runner.page = f"http://127.0.0.1:{server.server_port}/"
        yield
        server.shutdown()


def assert_server_results(server, document):
    assert len(document["steps"][0]["result"]["tools"]) > 3
    for step, expected_text in EXPECTED_TEXT[server].items():
        assert expected_text in json.dumps(document["steps"][step]["result"], ensure_ascii=False), document["steps"][step]


@pytest.mark.parametrize("server", POPULAR_SERVERS)
def test_a_replayed_session_equals_the_recorded_one(recorded, replayed, server):
    recorded_session = recorded("ts", server)
    assert_server_results(server, recorded_session.result.document)
    assert remaining_processes(recorded_session.result.mark) == []
    again = replayed("ts", server, recorded_session.file, "by-request", ids="strings")
    assert_same(recorded_session.result.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.parametrize("server", POPULAR_SERVERS)
def test_a_recording_is_complete(recorded, mcpreel, run, server):
    # A busy machine lets some servers take longer to end than the client waits. Some calls have wrong arguments.
    checked = run([mcpreel, "check", "--json", "--ignore", "server-exit,input-schema", recorded("ts", server).file])
    assert checked.code == 0, str(checked)


@contextlib.contextmanager
def serve_http_from_config(peer_runner, name):
    """The URL of a server that says it in the configuration that it prints on stderr."""
    where, peer = peer_runner.new_folder(), http_server_named(name)
    with (where / "err").open("wb") as err, started(peer.words(peer_runner.home(peer.group), where), stdin=subprocess.DEVNULL,
                                                    stdout=subprocess.DEVNULL, stderr=err) as process:
        yield url_in(where / "err", process, r'"url": "(http://\S+)"')


def test_a_server_that_checks_the_host_is_recorded_over_http(peer_runner, mcpreel, replayed_http):
    where, server = peer_runner.new_folder(), "playwright"
    with serve_http_from_config(peer_runner, server) as url:
        with listening(recording(mcpreel, url, where / "session.jsonl"), where / "err") as address:
            recorded_session = peer_runner.run_http("ts", server, f"{address}/mcp")
    assert_server_results(server, recorded_session)
    again = replayed_http("ts", server, where / "session.jsonl", ids="strings")
    assert_same(group_unsolicited(recorded_session, server), group_unsolicited(again, server))

"""Servers that people use, each with a small real session: recorded, and replayed with the server gone."""
import contextlib
import http.server
import json
import subprocess
import threading

import pytest

from conformance import listening, recording
from peers import USED, apart, assert_same, listener, survivors
from processes import started, url_in

pytestmark = pytest.mark.interop

PAGE = b"""<!doctype html><title>Reel</title><link rel="icon" href="data:,"><h1>Hello</h1>
<button onclick="document.querySelector('p').textContent = 'clicked'">Press</button><p>waiting</p>"""

# Text that the responses must contain to be those of a working server, by the number of the step.
TOLD = {
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
def page(stage):
    """The page that a browser is sent to: at one URL, so that a replay is asked for the same."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stage.page = f"http://127.0.0.1:{server.server_port}/"
        yield
        server.shutdown()


def judge_answers(server, document):
    assert len(document["steps"][0]["result"]["tools"]) > 3
    for step, said in TOLD[server].items():
        assert said in json.dumps(document["steps"][step]["result"], ensure_ascii=False), document["steps"][step]


@pytest.mark.parametrize("server", USED)
def test_a_replayed_session_equals_the_recorded_one(recorded, replayed, server):
    tape = recorded("ts", server)
    judge_answers(server, tape.played.document)
    assert survivors(tape.played.mark) == []
    again = replayed("ts", server, tape.file, "by-request", ids="strings")
    assert_same(tape.played.document, again.document)
    assert again.status == 0, again.err


@pytest.mark.parametrize("server", USED)
def test_a_recording_is_complete(recorded, mcpreel, run, server):
    # A busy machine lets some servers take longer to end than the client waits.
    checked = run([mcpreel, "check", "--json", "--ignore", "server-exit", recorded("ts", server).file])
    assert checked.code == 0, str(checked)


@contextlib.contextmanager
def serving(stage, name):
    """The URL of a server that says it in the configuration that it prints on stderr."""
    where, peer = stage.fresh(), listener(name)
    with (where / "err").open("wb") as err, started(peer.words(stage.home(peer.group), where), stdin=subprocess.DEVNULL,
                                                    stdout=subprocess.DEVNULL, stderr=err) as process:
        yield url_in(where / "err", process, r'"url": "(http://\S+)"')


def test_a_server_that_checks_the_host_is_recorded_over_http(stage, mcpreel, replayed_visit):
    where, server = stage.fresh(), "playwright"
    with serving(stage, server) as url:
        with listening(recording(mcpreel, url, where / "session.jsonl"), where / "err") as address:
            tape = stage.visit("ts", server, f"{address}/mcp")
    judge_answers(server, tape)
    again = replayed_visit("ts", server, where / "session.jsonl", ids="strings")
    assert_same(apart(tape, server), apart(again, server))

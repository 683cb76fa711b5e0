"""A HAR that Playwright exports from a real Chromium has the session that mcpreel recorded at the same time."""
import json
import pathlib
import shlex
import subprocess

import pytest
from browser import program
from conformance import LISTEN, listening

pytestmark = pytest.mark.interop

PAGE = pathlib.Path(__file__).with_name("har-page.cjs")
SECONDS = 120


@pytest.fixture(scope="module")
def files(mcpreel, peer_home, peer_runner):
    where = peer_runner.new_folder()
    how = [mcpreel, "record", *LISTEN, "-o", where / "recorded.jsonl", "--upstream", shlex.join([str(mcpreel), "demo", "server"])]
    with listening(how, where / "err") as address:
        subprocess.run(["node", PAGE, peer_home("browsers") / "node_modules", program(), address, where / "page.har"],
                       check=True, timeout=SECONDS, capture_output=True)
    return where / "recorded.jsonl", where / "page.har"


def test_the_har_has_the_calls_of_the_recording(mcpreel, run, files):
    done = run([mcpreel, "diff", *files])
    assert done.code == 0, str(done)
    calls = json.loads(run([mcpreel, "stats", "--json", files[1]]).out)["servers"][0]["operations"]
    assert {row["method"] for row in calls} == {"initialize", "tools/call", "tools/list"}


def test_other_entries_are_left_out_with_a_warning(mcpreel, run, files, tmp_path):
    done = run([mcpreel, "convert", files[1], "-o", tmp_path / "page.jsonl"])
    assert done.code == 0 and b"entries that are not MCP, dropped: 1 of 5" in done.err, str(done)
    text = (tmp_path / "page.jsonl").read_text()
    session = next(h["value"] for e in json.loads(files[1].read_text())["log"]["entries"] for h in e["request"]["headers"]
                   if h["name"].lower() == "mcp-session-id")
    assert session not in text and '"session":1' in text

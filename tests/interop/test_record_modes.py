"""replay --record-mode with real clients and servers: a client sees the same when its calls are recorded, replayed or both.

To append, the recording loses all calls of tools: the server is asked for these again, and all else is replayed.
"""
import itertools
import json
import os
from urllib.parse import urlsplit

import pytest

from conformance import listening
from peers import group_unsolicited, assert_same

OTHERS = [("py", "fastmcp"), ("ts-1.12", "ts"), ("ts-2", "ts-2"), ("go", "go"), ("rmcp", "rmcp")]
STDIO = [("ts", "ts"), ("py", "python"), *(pytest.param(*pair, marks=pytest.mark.interop) for pair in [("py", "ts"), ("py-auto", "ts-2"), *OTHERS])]
# The Python SDK takes no event of more than a megabyte; a forwarded response of its server is no event, so that it takes that.
HTTP = [("ts", "python"), ("py", "ts"), *(pytest.param(*pair, marks=pytest.mark.interop) for pair in [("ts", "ts"), *OTHERS] if pair[1] != "go")]


def without_tools(file):
    """Takes the calls of tools out of a recording, but for those during which something else was sent. Returns how many these were."""
    texts = [line for line in file.read_text().split("\n") if line]
    lines = [json.loads(text) for text in texts]
    messages = [line for line in lines if line["type"] == "message"]
    pairs = [(one, other) for one, other in itertools.pairwise(messages) if one["dir"] == "c2s" and one["msg"].get("method") == "tools/call"
             and other["dir"] == "s2c" and "method" not in other["msg"] and other["msg"].get("id") == one["msg"]["id"]]
    seqs = {line["seq"] for pair in pairs for line in pair}
    exchanges = {one["exchange"] for one, _ in pairs if "exchange" in one}
    file.write_text("".join(text + "\n" for text, line in zip(texts, lines, strict=True)
                            if line.get("seq") not in seqs and line.get("exchange") not in exchanges and line["type"] != "footer"))
    return len(pairs)


def recording_in(report):
    contents = json.loads(report.read_text())
    assert contents["exit_code"] == 0, contents
    return contents["recording"]


@pytest.mark.parametrize("client,server", STDIO)
def test_a_stdio_session_is_recorded_replayed_and_appended(direct, peer_runner, mcpreel, client, server):
    where = peer_runner.new_folder()
    file, report = where / "session.jsonl", where / "report.json"
    expected = direct(client, server).document

    def run_stdio_mode(mode, env=None):
        command = [mcpreel, "replay", "--record-mode", mode, "--force", "--report", report, file, "--", *peer_runner.server(server)]
        session_result = peer_runner.run_stdio(client, server, command, env=env, logged=False)
        assert_same(group_unsolicited(expected, server), group_unsolicited(session_result.document, server))
        return recording_in(report)

    made = run_stdio_mode("rewrite")
    assert made["rewritten"] > 3 and made["written"] == os.fspath(file)
    tools = without_tools(file)
    appended = run_stdio_mode("append")
    assert tools and appended["appended"] == tools and appended["replayed"] > 0
    assert run_stdio_mode("once", {"PATH": os.fspath(peer_runner.new_folder())})["replayed"] == appended["replayed"] + appended["appended"]


@pytest.mark.parametrize("client,server", HTTP)
def test_an_http_session_is_recorded_replayed_and_appended(direct_http, peer_runner, mcpreel, client, server):
    where = peer_runner.new_folder()
    file, report = where / "session.jsonl", where / "report.json"
    expected = direct_http(client, server)

    def run_http_mode(mode):
        with peer_runner.serve_http(server) as url:
            command = [mcpreel, "replay", "--listen", "127.0.0.1:0", "--record-mode", mode, "--force", "--report", report, "--url", url, file]
            with listening(command, where / "err") as address:
                path = urlsplit(url).path if mode == "rewrite" else "/mcp"
                seen = peer_runner.run_http(client, server, address + path)
        assert_same(group_unsolicited(expected, server), group_unsolicited(seen, server))
        return recording_in(report)

    assert run_http_mode("rewrite")["rewritten"] > 3
    tools = without_tools(file)
    appended = run_http_mode("append")
    assert tools and appended["appended"] == tools and appended["replayed"] > 0
    assert run_http_mode("append")["appended"] == 0

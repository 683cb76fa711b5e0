"""verify with real servers on HTTP+SSE, the transport of 2024-11-05: recorded over it or over another one."""
import json

import pytest

from verdicts import TIMES, assert_clean

pytestmark = pytest.mark.interop

# Each client and each server once; tests/endurance verifies every pair.
VERIFIED = [("ts-1.9-sse", "ts-1.9-sse"), ("ts-1.12-either", "everything-sse"), ("ts-sse", "fastmcp-sse"), ("ts-either", "ts-1.9-sse"),
            ("py-sse", "python-sse"), ("fastmcp-sse", "fastmcp-sse")]


@pytest.mark.parametrize("client,server", VERIFIED)
def test_a_recording_over_http_sse_verifies_clean(recorded_http, peer_runner, mcpreel, run, client, server):
    file = recorded_http(client, server).file
    with peer_runner.serve_http(server) as url:
        assert url.endswith("/sse")
        for _ in range(TIMES):
            assert_clean(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120), client)


@pytest.mark.parametrize("recorded_by, server", [("ts-1.9", "ts-1.9-sse"), ("ts", "ts-1.9-sse")])
def test_a_recording_of_another_transport_verifies_over_http_sse(recorded, recorded_http, peer_runner, mcpreel, run, recorded_by, server):
    file = recorded("ts-1.9", "ts-1.9").file if recorded_by == "ts-1.9" else recorded_http("ts-sse", server).file
    with peer_runner.serve_http(server) as url:
        assert_clean(run([mcpreel, "--json", "verify", "--url", url, file], timeout=120))


def test_a_planted_change_is_found_over_http_sse(recorded_http, peer_runner, mcpreel, run, tmp_path):
    lines = recorded_http("ts-1.9-sse", "ts-1.9-sse").file.read_text().split("\n")
    planted = [line.replace('"description":"', '"description":"planted ', 1) if '"tools":[' in line else line for line in lines]
    assert planted != lines
    (tmp_path / "planted.jsonl").write_text("\n".join(planted))
    with peer_runner.serve_http("ts-1.9-sse") as url:
        ran = run([mcpreel, "--json", "verify", "--url", url, tmp_path / "planted.jsonl"], timeout=120)
    assert ran.code == 1, str(ran)
    failed = [call for call in json.loads(ran.out)["calls"] if call["verdict"] == "failed"]
    assert failed and {call["method"] for call in failed} == {"tools/list"}
    assert all(finding["path"].endswith(".description") for call in failed for finding in call["findings"])

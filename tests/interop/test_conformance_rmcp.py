"""The official conformance suite with the peers on rmcp, the Rust SDK: its verdicts without mcpreel, through the recorder
and from the recording. The server lacks what it would take more of the SDK to do; every check must come out as it does
without mcpreel, also those that fail."""
import sys

import pytest

from conformance import BAD, GOOD, SUITES, TIMED, ConformanceRunner, assert_same, listening, recording, replaying, table
from test_conformance_through import HERE

pytestmark = pytest.mark.interop

PASSED = {"2025-11-25": 83, "2026-07-28": 137}  # checks, at least
UNKNOWN = "sep-2640-"  # scenarios about skills, which the SDK does not have


@pytest.fixture(scope="module")
def rmcp(peer_home, run, tmp_path_factory):
    return ConformanceRunner(peer_home("conformance"), run, lambda: tmp_path_factory.mktemp("rmcp"), peer_home("rmcp") / "bin/rmcp-peer")


@pytest.mark.parametrize("name", PASSED)
def test_the_suite_gives_the_same_results_for_the_server(rmcp, mcpreel, name, record_property):
    suite, where = SUITES[name], rmcp.new_folder()
    with rmcp.server() as url:
        direct = rmcp.run_server_suite(suite, url)
        with listening(recording(mcpreel, url, where / "suite.jsonl"), where / "record.err") as address:
            recorded = rmcp.run_server_suite(suite, f"{address}/mcp")
    with listening(replaying(mcpreel, where / "suite.jsonl"), where / "replay.err") as address:
        replayed = rmcp.run_server_suite(suite, f"{address}/mcp")
    record_property("shown", table(f"{name}, rmcp", {"direct": direct, "recorded": recorded, "replayed": replayed}))
    assert direct.count(GOOD) >= PASSED[name], direct.log
    assert_same(direct, recorded)
    assert_same(direct, replayed)


def test_the_suite_gives_the_same_results_for_the_client(rmcp, mcpreel, record_property):
    """Each scenario in the newest revision that has it."""
    suite, folder = SUITES["2026-07-28"], rmcp.new_folder()
    newest = {name: revision for name, revision in sorted(rmcp.client_scenarios(suite, auth=False))
              if not name.startswith(UNKNOWN) and name not in TIMED}
    assert len(newest) >= 8
    direct = rmcp.run_client_suite(suite, only=newest.items())
    recorded = rmcp.run_client_suite(suite, through=[sys.executable, HERE / "through.py", mcpreel, folder], only=newest.items())
    record_property("shown", table("rmcp, client", {"direct": direct, "recorded": recorded}))
    assert direct.count(GOOD) > 20 and direct.count(GOOD) > 3 * direct.count(BAD), direct.log
    assert_same(direct, recorded)
    assert len(list(folder.glob("*.jsonl"))) == len(newest)

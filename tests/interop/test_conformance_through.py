"""The official conformance suite cannot tell mcpreel from the server: not while it records, not when it replays.

Every check of every scenario must come out as it does without mcpreel, also those that fail.
"""
import json
import pathlib
import sys

import pytest

from conformance import SUITES, Verdict, assert_same, differences, listening, replaying, table

HERE = pathlib.Path(__file__).resolve().parent
LEGACY = ["2025-03-26", "2025-06-18", "2025-11-25"]
OTHER = pytest.param("0.1.16", marks=pytest.mark.interop)
ALL = [*LEGACY, "2026-07-28", OTHER]
CLIENT = ["2026-07-28", OTHER]
POLLING = "server-sse-polling"
# In this suite a client of 2025-03-26 calls a tool that closes its stream without a response. No client can ask for
# the rest of such a stream, so the call has no response in the recording, and is a miss in its replay.
UNANSWERED = {"0.1.16": ["--on-unmatched", "warn"]}


def assert_replayed(name, direct, replayed):
    if name in UNANSWERED:
        direct, replayed = (Verdict({scenario: checks for scenario, checks in verdict.scenarios.items() if scenario != POLLING})
                            for verdict in (direct, replayed))
        assert len(direct.scenarios) >= 25
    assert_same(direct, replayed)


@pytest.mark.parametrize("name", ALL)
def test_the_suite_gives_the_same_results_for_the_recorded_server(direct_verdict, recorded_verdict, name):
    assert_same(direct_verdict(name), recorded_verdict(name).verdict)


@pytest.mark.parametrize("name", ALL)
def test_the_suite_gives_the_same_results_for_the_replayed_server(direct_verdict, recorded_verdict, replayed_verdict, name, record_property):
    recorded_session = recorded_verdict(name)
    replayed = replayed_verdict(name, recorded_session.file, *UNANSWERED.get(name, []))
    record_property("shown", table(name, {"direct": direct_verdict(name), "recorded": recorded_session.verdict, "replayed": replayed}))
    assert_replayed(name, direct_verdict(name), replayed)


@pytest.mark.parametrize("name", ALL)
def test_the_suite_gives_the_same_results_for_a_replay_by_request(direct_verdict, recorded_verdict, replayed_verdict, name):
    replayed = replayed_verdict(name, recorded_verdict(name).file, "--match", "by-request", *UNANSWERED.get(name, []))
    assert_replayed(name, direct_verdict(name), replayed)


def test_a_replay_serves_one_suite_run_after_the_other(conformance_runner, mcpreel, direct_verdict, recorded_verdict):
    """Nothing of the first run is used up or left over for the second."""
    with listening(replaying(mcpreel, recorded_verdict("2025-11-25").file), conformance_runner.new_folder() / "err") as address:
        for _ in range(2):
            assert_same(direct_verdict("2025-11-25"), conformance_runner.run_server_suite(SUITES["2025-11-25"], f"{address}/mcp"))


@pytest.mark.parametrize("name", CLIENT)
def test_the_suite_gives_the_same_results_for_the_recorded_client(conformance_runner, mcpreel, direct_client_verdict, name, record_property):
    folder = conformance_runner.new_folder()
    direct = direct_client_verdict(name)
    recorded = conformance_runner.run_client_suite(SUITES[name], through=[sys.executable, HERE / "through.py", mcpreel, folder])
    record_property("shown", table(f"{name}, client", {"direct": direct, "recorded": recorded}))
    assert_same(direct, recorded)
    assert len(list(folder.glob("*.jsonl"))) >= len(recorded.scenarios)


# Recorded by one release of the suite, replayed to another.


def common(verdict, *others):
    """The part of a verdict that is about scenarios the others have, too. Whether a stream can be polled, a server
    decides by the revision that a request names, which 0.1.16 leaves out: there each release sees another server."""
    return Verdict({name: checks for name, checks in verdict.scenarios.items()
                    if name != POLLING and all(name in other.scenarios for other in others)})


@pytest.mark.interop
@pytest.mark.parametrize("recorded_suite,replaying_suite", [
    ("2025-11-25", "0.1.16"), ("0.1.16", "2025-11-25"), ("2025-11-25", "2025-06-18"), ("0.1.16", "2025-06-18"),
    ("2025-06-18", "0.1.16"),
])
def test_another_release_of_the_suite_accepts_the_replay(direct_verdict, recorded_verdict, replayed_verdict, recorded_suite, replaying_suite):
    direct = direct_verdict(replaying_suite)
    recorded_session = recorded_verdict(recorded_suite)
    replayed = replayed_verdict(replaying_suite, recorded_session.file, "--match", "by-request", "--on-unmatched", "warn")
    assert len(common(direct, recorded_session.verdict).scenarios) >= 25
    assert_same(common(direct, recorded_session.verdict), common(replayed, recorded_session.verdict))


# The recordings themselves.


@pytest.mark.parametrize("name", ["2025-11-25", "2026-07-28"])
def test_a_recording_of_the_suite_is_complete(recorded_verdict, mcpreel, run, name):
    file = recorded_verdict(name).file
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert lines[0]["type"] == "header" and lines[-1]["type"] == "footer"
    assert run([mcpreel, "inspect", "--json", file]).code == 0


def test_the_replay_sends_the_content_of_the_file(recorded_verdict, replayed_verdict, direct_verdict, tmp_path):
    """The suite would see it if it did not."""
    response_text = b"This is a simple text response for testing."
    recorded_session = recorded_verdict("2025-11-25")
    altered = tmp_path / "altered.jsonl"
    kept = recorded_session.file.read_bytes()
    altered.write_bytes(kept.replace(b'"type":"text","text":"' + response_text, b'"type":"tExt","text":"' + response_text))
    assert altered.read_bytes() != kept
    replayed = replayed_verdict("2025-11-25", altered)
    found = list(differences(direct_verdict("2025-11-25"), replayed))
    assert found and all(one.startswith("tools-call-simple-text: ") for one in found), found

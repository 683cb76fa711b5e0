"""The official suite itself: it passes the server it is given, says the same twice, and sees faults."""
import dataclasses
import pathlib
import sys

import pytest

from conformance import BAD, DOUBTFUL, GOOD, SUITES, Check, Verdict, differences, table

FROZEN = ["2025-11-25", "2026-07-28"]
ALL = ["2025-03-26", "2025-06-18", *FROZEN, pytest.param("0.1.16", marks=pytest.mark.interop)]
PASSED = {"2025-03-26": 3, "2025-06-18": 56, "2025-11-25": 84, "2026-07-28": 196, "0.1.16": 44}

# The client scenarios of a release do not depend on whose requirements it is run for.
CLIENT = ["2026-07-28", pytest.param("0.1.16", marks=pytest.mark.interop)]
CLIENT_PASSED = {"2026-07-28": 91, "0.1.16": 12}


@pytest.mark.parametrize("name", ALL)
def test_the_server_passes_every_check(direct_verdict, name):
    verdict = direct_verdict(name)
    assert verdict.count(BAD) == 0, verdict.log
    assert verdict.count(GOOD) == PASSED[name], table(name, {"direct": verdict})


@pytest.mark.parametrize("name", FROZEN)
def test_every_required_server_scenario_was_run(conformance_runner, direct_verdict, name):
    verdict = direct_verdict(name)
    required = conformance_runner.required(SUITES[name], "server")
    assert len(required) >= 30
    for scenario in required:
        assert verdict.count(GOOD, [scenario]) > 0 and verdict.count(BAD, [scenario]) == 0, scenario


@pytest.mark.parametrize("name", ALL)
def test_a_second_run_gives_the_same_results(conformance_runner, direct_verdict, name):
    with conformance_runner.server() as url:
        again = conformance_runner.run_server_suite(SUITES[name], url)
    assert list(differences(direct_verdict(name), again)) == []


@pytest.mark.parametrize("name", CLIENT)
def test_the_client_passes_every_check(direct_client_verdict, name):
    verdict = direct_client_verdict(name)
    assert verdict.count(BAD) + verdict.count(DOUBTFUL) == 0, verdict.log
    assert verdict.count(GOOD) == CLIENT_PASSED[name], table(name, {"direct": verdict})
    for scenario in verdict.scenarios:
        assert verdict.count(GOOD, [scenario]) > 0, scenario


def test_every_required_client_scenario_was_run(conformance_runner, direct_client_verdict):
    ran = {scenario.split()[0] for scenario in direct_client_verdict("2026-07-28").scenarios}
    for name in FROZEN:
        required = conformance_runner.required(SUITES[name], "client")
        assert {one for one in required if not one.startswith("auth/")} <= ran


@pytest.mark.interop
@pytest.mark.parametrize("name", CLIENT)
def test_a_second_client_run_gives_the_same_results(conformance_runner, direct_client_verdict, name):
    assert list(differences(direct_client_verdict(name), conformance_runner.run_client_suite(SUITES[name]))) == []


@pytest.mark.interop
def test_a_client_that_does_nothing_fails(conformance_runner, direct_client_verdict):
    verdict = conformance_runner.run_client_suite(SUITES["2026-07-28"], through=["true"])
    assert verdict.count(BAD) > 30
    assert len(list(differences(direct_client_verdict("2026-07-28"), verdict))) > 30


def test_an_unreachable_server_fails(conformance_runner, direct_verdict):
    with conformance_runner.server() as url:
        pass
    verdict = conformance_runner.run_server_suite(SUITES["2025-11-25"], url)
    assert verdict.count(BAD) > 30
    assert len(list(differences(direct_verdict("2025-11-25"), verdict))) > 30


def test_an_unknown_scenario_is_named(run, conformance_runner):
    """Unknown, or none of that revision: the suite passes over both."""
    assert conformance_runner  # the suite is installed
    program = pathlib.Path(__file__).parent / "run_conformance.py"
    ran = run([sys.executable, program, "2026-07-28", *(word for name in ("tools-list", "nonsense", "tasks-lifecycle")
                                                        for word in ("--scenario", name))], timeout=120)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.decode().splitlines() == [f"run_conformance.py: '{name}' is no scenario for servers of 2026-07-28"
                                             for name in ("nonsense", "tasks-lifecycle")]


def verdict_of(**scenarios):
    return Verdict({name: [Check(*check) for check in checks] for name, checks in scenarios.items()})


ONE = verdict_of(ping=[("a", "A", GOOD), ("a", "A", GOOD), ("b", "B", "INFO")], list=[("c", "C", GOOD)])


@pytest.mark.parametrize("other,expected_text", [
    (verdict_of(ping=[("a", "A", GOOD), ("a", "A", BAD, "gone"), ("b", "B", "INFO")], list=[("c", "C", GOOD)]),
     "ping: a A #2: SUCCESS != FAILURE gone"),
    (verdict_of(ping=[("a", "A", GOOD), ("a", "A", GOOD)], list=[("c", "C", GOOD)]), "ping: b B #1: INFO != nothing"),
    (verdict_of(ping=[("a", "A", GOOD), ("a", "A", GOOD), ("b", "B", "INFO")]), "list: c C #1: SUCCESS != nothing"),
    (dataclasses.replace(ONE, scenarios={**ONE.scenarios, "new": [Check("d", "D", BAD)]}),
     "new: d D #1: nothing != FAILURE"),
])
def test_a_differing_check_is_named(other, expected_text):
    assert list(differences(ONE, other)) == [expected_text]
    assert list(differences(ONE, ONE)) == []


def test_the_table_shows_where_runs_differ():
    worse = verdict_of(ping=[("a", "A", GOOD), ("a", "A", BAD), ("b", "B", "INFO")], list=[("c", "C", GOOD)])
    assert table("all", {"direct": ONE, "recorded": worse}).splitlines() == [
        "all       direct    recorded",
        "ping         2/2       1/2 !",
        "list         1/1         1/1",
        "all          3/3       2/3 !",
    ]

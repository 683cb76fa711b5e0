"""Logins, judged by the official conformance suite: through 'mcpreel record' each check of each scenario comes out as it does
without, but for those that auth-differences.md gives a reason for, and those do differ."""
import fnmatch
import pathlib
import re
import sys

import pytest

from conformance import BAD, GOOD, SUITES, Check, Verdict, differences, table

HERE = pathlib.Path(__file__).resolve().parent
SECRETS = [b"test-client-secret", b"test-auth-code", b"test-token-"]
PASSED = {"2026-07-28": 837, "0.1.16": 392}

# The quick ones stand for all: metadata where only the challenge says it is, a wider scope, an authorization server on the
# server's own origin, and a resource that a client has to refuse.
QUICK_SCENARIOS = [("auth/metadata-var3", "2025-11-25"), ("auth/scope-step-up", "2026-07-28"),
        ("auth/2025-03-26-oauth-metadata-backcompat", "2025-03-26"), ("auth/resource-mismatch", "2026-07-28")]


def expected(name, scenarios):
    """(scenario, check) of every row that is about one of the scenarios of a suite."""
    for line in (HERE / "auth-differences.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells or not cells[0].startswith("`"):
            continue
        suite, = re.findall("`([^`]*)`", cells[0])
        pattern, = re.findall("`([^`]*)`", cells[1])
        checks = re.findall("`([^`]*)`", cells[2])
        assert suite in PASSED and checks and cells[3], f"a row without a suite, checks or a reason: {line}"
        for scenario in scenarios:
            if suite == name and fnmatch.fnmatchcase(scenario.split()[0], pattern):
                yield from ((scenario, check) for check in checks)


def assert_as_expected(name, direct, recorded):
    """Whatever differs has a row, and whatever has a row differs."""
    differ = {tuple(re.match(r"([^:]*): (\S+)", one).groups()): one for one in differences(direct, recorded)}
    expected_rows = set(expected(name, direct.scenarios))
    unexplained = [one for key, one in differ.items() if key not in expected_rows]
    assert not unexplained, "\n".join(["without a row in auth-differences.md:", *unexplained])
    missing = sorted(expected_rows - differ.keys())
    assert not missing, "\n".join(["with a row in auth-differences.md, but not different:", *map(str, missing)])


def run_with_and_without_mcpreel(conformance_runner, mcpreel, name, **which):
    folder = conformance_runner.new_folder()
    direct = conformance_runner.run_client_suite(SUITES[name], auth=True, **which)
    recorded = conformance_runner.run_client_suite(SUITES[name], auth=True, through=[sys.executable, HERE / "through.py", mcpreel, folder], **which)
    assert direct.count(BAD) == 0, direct.log
    return direct, recorded, folder


def assert_no_secret(folder):
    files = [file for file in folder.iterdir() if file.suffix in (".jsonl", ".err")]
    assert files
    for file in files:
        text = file.read_bytes()
        assert [secret for secret in SECRETS if secret in text] == [], file


def test_some_logins_give_the_same_results_as_without_mcpreel(conformance_runner, mcpreel, record_property):
    direct, recorded, folder = run_with_and_without_mcpreel(conformance_runner, mcpreel, "2026-07-28", only=QUICK_SCENARIOS)
    record_property("shown", table("logins, some", {"direct": direct, "recorded": recorded}))
    assert all(direct.count(GOOD, [one]) for one in direct.scenarios)
    assert_as_expected("2026-07-28", direct, recorded)
    assert_no_secret(folder)


@pytest.mark.interop
@pytest.mark.parametrize("name", PASSED)
def test_all_logins_give_the_same_results_as_without_mcpreel(conformance_runner, mcpreel, name, record_property):
    direct, recorded, folder = run_with_and_without_mcpreel(conformance_runner, mcpreel, name)
    record_property("shown", table(f"{name}, logins", {"direct": direct, "recorded": recorded}))
    assert direct.count(GOOD) == PASSED[name]
    assert_as_expected(name, direct, recorded)
    assert_no_secret(folder)


def test_the_table_of_differences_is_exact():
    rows = set(expected("2026-07-28", ["auth/metadata-var1 2025-11-25", "auth/dpop", "auth/dpop-nonce", "auth/basic-cimd 2025-11-25"]))
    assert ("auth/metadata-var1 2025-11-25", "resource-parameter-matches-prm") in rows
    assert ("auth/dpop-nonce", "sep-1932-client-rs-nonce") in rows
    assert ("auth/dpop", "sep-1932-client-rs-nonce") not in rows
    assert not any(scenario.startswith("auth/basic-cimd") for scenario, _ in rows)
    assert not set(expected("0.1.16", ["auth/metadata-var1 2025-11-25"]))


def verdict_of(**scenarios):
    return Verdict({name.replace("_", "-").replace("auth-", "auth/", 1): [Check(*check) for check in checks]
                    for name, checks in scenarios.items()})


PASSING = verdict_of(auth_dpop=[("sep-1932-client-fresh-proof", "", GOOD), ("token-request", "", GOOD)])


@pytest.mark.parametrize("recorded,expected_text", [
    (PASSING, "but not different"),
    (verdict_of(auth_dpop=[("sep-1932-client-fresh-proof", "", BAD), ("token-request", "", BAD)]), "without a row"),
    (verdict_of(auth_dpop=[("sep-1932-client-fresh-proof", "", BAD)]), "without a row"),
])
def test_new_and_missing_differences_fail(recorded, expected_text):
    assert_as_expected("2026-07-28", PASSING, verdict_of(auth_dpop=[("sep-1932-client-fresh-proof", "", BAD), ("token-request", "", GOOD)]))
    with pytest.raises(AssertionError, match=expected_text):
        assert_as_expected("2026-07-28", PASSING, recorded)

"""The runner counts what ran, tells what failed, and does not call nothing a success."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """tools/run-tests as a module that works in a folder of its own."""
    loader = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools/run-tests"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.delenv("CI", raising=False)
    loader.exec_module(module)
    module.ROOT, module.RESULTS = tmp_path, tmp_path / "build/test-results"
    module.RESULTS.mkdir(parents=True)
    return module


def run_result(runner, monkeypatch, capsys, *suites):
    """Exit code and output of a run of these (name, cases)."""
    monkeypatch.setattr("sys.argv", ["run-tests", "check"])
    runner.SUITES = [runner.Suite(name, "check", lambda suite, cases=cases: cases)
                     for name, cases in suites]
    return runner.main(), capsys.readouterr().out.splitlines()


def test_all_passed(runner, monkeypatch, capsys):
    case = runner.Case
    code, out = run_result(runner, monkeypatch, capsys, ("a", [case("x", "passed")] * 2),
                       ("b", [case("y", "passed")]))
    assert (code, out[-1]) == (0, "3 passed, 0 failed")


def test_a_failure_prints_its_log_once_and_fails(runner, monkeypatch, capsys):
    log = "[ RUN      ] y\n[  ERROR   ] --- 1 != 2\n[       OK ] z\n"
    case = runner.Case
    code, out = run_result(runner, monkeypatch, capsys,
                       ("a", [case("x", "passed"), case("y", "failed", log), case("w", "failed", log)]))
    assert (code, out[-1]) == (1, "1 passed, 2 failed")
    assert "  FAILED a: y" in out and "  FAILED a: w" in out
    assert out.count("    [  ERROR   ] --- 1 != 2") == 1
    assert not any("RUN" in line or "OK" in line for line in out)


def test_a_skip_is_visible(runner, monkeypatch, capsys):
    case = runner.Case
    code, out = run_result(runner, monkeypatch, capsys,
                       ("a", [case("x", "passed"), case("y", "skipped", "no network")]))
    assert (code, out[-1]) == (0, "1 passed, 0 failed, 1 skipped")
    assert "  SKIPPED a: y" in out and "    no network" in out


def test_selected_output_is_printed(runner, monkeypatch, capsys):
    cases = [runner.Case("x", outcome, shown=f"a {outcome}\nb") for outcome in ("passed", "failed")]
    _, out = run_result(runner, monkeypatch, capsys, ("a", cases))
    assert out[1:5] == ["    a passed", "    b", "    a failed", "    b"]


def test_a_skip_in_ci_is_a_failure(runner, monkeypatch, capsys):
    case = runner.Case
    monkeypatch.setenv("CI", "true")
    code, out = run_result(runner, monkeypatch, capsys, ("a", [case("x", "passed"), case("y", "skipped")]))
    assert (code, out[-1]) == (1, "1 passed, 1 failed")


def test_an_empty_run_is_a_failure(runner, monkeypatch, capsys):
    assert run_result(runner, monkeypatch, capsys) == (1, ["no tests ran", "0 passed, 0 failed"])
    code, out = run_result(runner, monkeypatch, capsys, ("a", [runner.Case("x", "passed")]), ("b", []))
    assert (code, out[-1]) == (1, "1 passed, 1 failed")


def test_a_test_file_outside_every_suite_is_a_failure(runner, monkeypatch, capsys):
    (runner.ROOT / "tests/lost").mkdir(parents=True)
    (runner.ROOT / "tests/lost/test_x.py").write_text("")
    code, out = run_result(runner, monkeypatch, capsys, ("a", [runner.Case("x", "passed")]))
    assert (code, out[-1]) == (1, "1 passed, 1 failed")
    assert "  FAILED tests: tests/lost/test_x.py: in no suite of tools/run-tests" in out


MESON = """project('p', 'c')
cmocka = dependency('cmocka')
foreach m : ['good', 'bad', 'quits', 'crashes', 'empty', 'leaks']
  test(m, executable(m, 'x.c', dependencies: cmocka, c_args: '-DTESTS_' + m), suite: 'unit')
endforeach
"""
UNIT = """#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void it_works(void **s)
{
    (void)s;
}
static void it_is_not_run_here(void **s)
{
    (void)s;
    skip();
}
static void it_goes_wrong(void **s)
{
    (void)s;
#ifdef TESTS_bad
    assert_int_equal(1, 2);
#elif defined TESTS_quits
    exit(0);
#elif defined TESTS_crashes
    __builtin_trap();
#endif
}
int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_works), cmocka_unit_test(it_is_not_run_here),
                                        cmocka_unit_test(it_goes_wrong) };
#ifdef TESTS_empty
    return 0;
#endif
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
#ifdef TESTS_leaks
    return 99;
#endif
    return failed;
}
"""


def test_every_test_of_a_program_counts(runner):
    (runner.ROOT / "meson.build").write_text(MESON)
    (runner.ROOT / "x.c").write_text(UNIT)
    subprocess.run(["meson", "setup", "build"], cwd=runner.ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", "build"], cwd=runner.ROOT, check=True)
    cases = runner.meson(runner.Suite("unit", "check", runner.meson, where="unit"))
    got = {outcome: sorted(c.name for c in cases if c.outcome == outcome)
           for outcome in ("passed", "failed", "skipped")}
    programs = ("good", "bad", "quits", "crashes", "leaks")
    assert got["skipped"] == sorted(f"{p}: it_is_not_run_here" for p in programs)
    assert got["passed"] == sorted([*(f"{p}: it_works" for p in programs), "good: it_goes_wrong",
                                    "leaks: it_goes_wrong"])
    assert got["failed"] == ["bad: it_goes_wrong", "crashes: it_goes_wrong", "empty: ran 0 of 0 tests",
                             "leaks: ends with ERROR 99", "quits: ran 2 of 3 tests"]
    bad = next(c for c in cases if c.name == "bad: it_goes_wrong")
    assert "0x1 != 0x2" in bad.detail


def test_missing_programs_are_a_failure(runner):
    (runner.ROOT / "meson.build").write_text(MESON)
    (runner.ROOT / "x.c").write_text(UNIT)
    subprocess.run(["meson", "setup", "build"], cwd=runner.ROOT, check=True, stdout=subprocess.DEVNULL)
    cases = runner.meson(runner.Suite("unit", "check", runner.meson, where="unit"))
    assert [(c.name, c.outcome) for c in cases] == [("meson test", "failed")]


PYTESTS = """import os
import pytest

def test_good(): assert os.environ["MCPREEL"].endswith("/build-asan/mcpreel")
def test_bad(record_property):
    record_property("shown", "one\\ntwo")
    assert 1 == 2
def test_skips(): pytest.skip("no such peer")
@pytest.fixture
def broken(): raise OSError("cannot start")
def test_cannot_start(broken): pass
"""


def script(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("shared", ("", "load", "loadfile"))
def test_every_test_of_pytest_counts(runner, shared):
    script(runner.ROOT / "tools/peers", f'[ "$1" = python ] && echo {runner.ROOT}/peers')
    script(runner.ROOT / "peers/bin/python", f'exec {sys.executable} "$@"')
    folder = runner.ROOT / "tests/golden"
    folder.mkdir(parents=True)
    (folder / "test_x.py").write_text(PYTESTS)
    cases = runner.pytest(runner.Suite("golden", "check", runner.pytest, where="tests/golden",
                                       build="build-asan", shared=shared))
    assert {(c.name, c.outcome) for c in cases} == {
        ("test_x: test_good", "passed"), ("test_x: test_bad", "failed"),
        ("test_x: test_skips", "skipped"), ("test_x: test_cannot_start", "failed")}
    assert {c.name: c.shown for c in cases if c.shown} == {"test_x: test_bad": "one\ntwo"}
    (folder / "test_x.py").write_text("import nowhere\n")
    cases = runner.pytest(runner.Suite("golden", "check", runner.pytest, where="tests/golden"))
    assert [c.outcome for c in cases] == ["failed"] and "nowhere" in cases[0].detail


def test_peers_that_cannot_be_installed_are_a_skip(runner):
    script(runner.ROOT / "tools/peers", "echo \"peers: cannot install 'python'\" >&2; exit 1")
    cases = runner.pytest(runner.Suite("peers", "test", runner.pytest, where="tests/peers"))
    assert [(c.outcome, c.detail) for c in cases] == [("skipped", "peers: cannot install 'python'")]


def test_a_check_that_cannot_judge_is_a_skip(runner):
    for name, code in (("good", 0), ("bad", 1), ("unable", 77), ("broken", 2)):
        script(runner.ROOT / f"tools/check-{name}", f"echo says {name}; exit {code}")
    cases = runner.static(runner.Suite("house rules", "check", runner.static))
    assert [(c.name, c.outcome, c.detail) for c in cases] == [
        ("check-bad", "failed", "says bad\n"), ("check-broken", "failed", "says broken\n"),
        ("check-good", "passed", "says good\n"), ("check-unable", "skipped", "says unable\n")]


def test_a_hanging_test_is_ended(runner, monkeypatch):
    monkeypatch.setattr(runner, "HEARTBEAT", 0.1)
    code, out = runner.run(["sh", "-c", "echo before; sleep 60 & wait"], 0.2)
    assert code is None and out.startswith("before\n") and "ended after" in out


def test_a_suite_of_meson_that_is_ended_has_failed(runner, monkeypatch):
    (runner.ROOT / "meson.build").write_text(
        "project('p')\n"
        "foreach m : ['quick', 'slow']\n"
        "  test(m, find_program(m), suite: 'fuzz', is_parallel: false)\n"
        "endforeach\n")
    script(runner.ROOT / "quick", "exit 0")
    script(runner.ROOT / "slow", "exec sleep 60")
    subprocess.run(["meson", "setup", "build"], cwd=runner.ROOT, check=True, stdout=subprocess.DEVNULL)
    monkeypatch.setattr(runner, "HEARTBEAT", 0.5)
    cases = runner.meson(runner.Suite("fuzz", "check", runner.meson, where="fuzz", limit=3))
    assert ("meson test", "failed") in [(c.name, c.outcome) for c in cases]

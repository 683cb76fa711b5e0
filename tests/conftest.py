"""Shared by all tests: the program under test, a way to run commands, the real peers.

    MCPREEL=build-asan/mcpreel pytest tests        another program than build/mcpreel
    pytest -m "not interop" tests                  what 'make test' runs
    pytest -m interop tests                        what 'make interop' adds

A test that lacks a peer or a tool, or may not use it, skips. With CI set every skip is a failure; elsewhere the
skips are repeated at the end of the output, so that they are not taken for passes.
"""
import functools
import os
import pathlib
import platform
import signal
import subprocess
from dataclasses import dataclass

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pytest_configure(config):
    config.addinivalue_line("markers", "interop: beyond the main real peers; runs in 'make interop'")
    config.addinivalue_line("markers", "generated: compares many generated sessions with a reference; 'make endurance' runs it again with more of them")
    config.addinivalue_line("markers", "rare: a pair of real peers that 'make interop' has with others; runs in 'make endurance'")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"not run, which is a failure in CI: {report.longrepr[2]}"


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"NOT RUN {report.nodeid}: {report.longrepr[2]}", yellow=True)


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    command: list
    code: int
    out: bytes
    err: bytes

    def __str__(self):
        said = f"{self.out.decode(errors='replace')[-4000:]}\n--- stderr\n{self.err.decode(errors='replace')[-4000:]}"
        return f"{' '.join(map(str, self.command))}\nended with {self.code}\n--- stdout\n{said}"


def run_command(command, *, stdin=b"", timeout=60, env=None, cwd=None):
    """Run a command to its end. Its process group never outlives the call."""
    command = [os.fspath(word) for word in command]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})}, cwd=cwd, start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"still running after {timeout} s: {Ran(command, -signal.SIGKILL, out, err)}")
    return Ran(command, process.returncode, out, err)


@pytest.fixture(scope="session")
def run():
    return run_command


@pytest.fixture(scope="session")
def mcpreel():
    """The program under test, by absolute path."""
    path = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build" / "mcpreel")).resolve()
    if not os.access(path, os.X_OK):
        pytest.fail(f"no program at '{path}': build it first (make), or set MCPREEL")
    return path


@functools.cache
def installation(group):
    return run_command([ROOT / "tools" / "peers", group], timeout=900)


def installed(group):
    ran = installation(group)
    if ran.code == 0:
        return pathlib.Path(ran.out.decode().strip())
    reasons = [line for line in ran.err.decode().splitlines() if line.startswith("peers: cannot install")]
    if not reasons:
        pytest.fail(str(ran))
    pytest.skip(reasons[0])


@pytest.fixture(scope="session")
def peer_home():
    """Where a group of tools/peers is installed, by its name."""
    return installed


@pytest.fixture(scope="session")
def build_wheels(mcpreel):
    """Build the wheels of packages of this repository, with the program under test, into a folder."""
    python = installed("python-tools") / "bin/python"
    env = {"MCPREEL_PROGRAM": os.fspath(mcpreel), "MCPREEL_WHEEL_PLATFORM": f"linux_{platform.machine()}"}

    def build(folder, *packages):
        for package in packages:
            ran = run_command([python, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT / package, env=env)
            assert ran.code == 0, ran
        return sorted(folder.glob("*.whl"))

    return build


@pytest.fixture(scope="session")
def npm_peers():
    """The directory that holds the node_modules of the pinned npm peers."""
    return installed("npm")


@pytest.fixture(scope="session")
def recorder_peer():
    """The virtual environment of the pinned mcp-recorder."""
    return installed("mcp-recorder")


@pytest.fixture(scope="session")
def python_peers():
    """The virtual environment of the pinned Python peers."""
    return installed("python")

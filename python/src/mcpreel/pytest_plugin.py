"""The pytest plugin: mock servers from recordings, and recordings from real servers.

    @pytest.mark.mcp("node server.js")
    async def test_search(mcp_server):
        async with stdio_client(mcp_server.stdio_params()) as streams: ...

Fixtures, marks and options of mcp-recorder work, too, unless mcp-recorder itself is installed.
The recording of a test changes only when the test has passed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpreel.process import McpreelError
from mcpreel.replay import ReplayServer
from mcpreel.suite import McpSuite, collect_suite
from mcpreel.testing import MODES, McpServer
from mcpreel.verify import VerifyResult, verify

NAME_LIMIT = 120  # characters of a recording's file name
SERVER = pytest.StashKey[McpServer]()
PASSED = pytest.StashKey[bool]()
COUNTS = pytest.StashKey["dict[str, int]"]()


def _has_mcp_recorder(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("mcp_recorder")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    group = parser.getgroup("mcpreel", "recordings of MCP servers")
    group.addoption(
        "--mcp-mode",
        choices=MODES,
        default=None,
        help="none: replay only (default with CI set); once: record what has no recording yet (default); append: "
        "record unmatched calls; rewrite: record anew; verify: compare the real server with the recording first",
    )
    group.addoption(
        "--mcp-trace",
        choices=("off", "on", "retain-on-failure"),
        default="retain-on-failure",
        help="keep the traffic of a test in the folder mcp-traces: always, never, or if it failed (default)",
    )
    if pluginmanager.hasplugin("mcp_recorder"):
        return  # its own options have these names
    group.addoption(
        "--mcp-record-mode",
        choices=("replay", "record", "auto"),
        default="replay",
        help="replay: serve the cassette (default); record: record it anew from --mcp-target or --mcp-target-stdio; "
        "auto: skip the test if there is no cassette",
    )
    group.addoption("--mcp-target", default=None, metavar="URL", help="real server, for record and verify")
    group.addoption("--mcp-target-stdio", default=None, metavar="COMMAND", help="the same for a server on stdio")
    group.addoption(
        "--mcp-target-env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable for the server of --mcp-target-stdio (repeatable)",
    )
    group.addoption(
        "--mcp-match",
        choices=("method_params", "sequential", "strict"),
        default="method_params",
        help="how requests are matched with those of a cassette (default: method_params)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "mcp(server=None, *, recording=None, match=None, ignore=(), options=()): the real server of a test (a command "
        "line, a list of words, or a URL), its recording, and how requests match",
    )
    if not _has_mcp_recorder(config):
        config.addinivalue_line(
            "markers",
            "mcp_cassette(path, *, match=None, ignore_fields=None, ignore_paths=None): the cassette of a test",
        )
    config.stash[COUNTS] = {}


def _mode(config: pytest.Config) -> str:
    return config.getoption("--mcp-mode") or ("none" if os.environ.get("CI") else "once")


# The fixture mcp_server.


def _file_name(name: str) -> str:
    """A name for any test id, short enough for a file, and different for different ids."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "test"
    if plain == name and len(plain) <= NAME_LIMIT:
        return plain
    return f"{plain[: NAME_LIMIT - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _recording_of(item: pytest.Item, given: str | None) -> Path:
    if given is not None:
        return item.path.parent / given
    return item.path.parent / "recordings" / item.path.stem / f"{_file_name(item.name)}.jsonl"


def _server_words(server: Any) -> tuple[str | None, list[str]]:
    """(URL, command) of the mark's first argument."""
    if server is None:
        return None, []
    if isinstance(server, str):
        if server.startswith(("http://", "https://")):
            return server, []
        return None, shlex.split(server)
    return None, [str(word) for word in server]


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest) -> Generator[McpServer, None, None]:
    """A server that answers from the recording of this test, or the recorder in front of the real one."""
    mark = request.node.get_closest_marker("mcp")
    words = dict(mark.kwargs) if mark else {}
    url, command = _server_words(mark.args[0] if mark and mark.args else words.get("server"))
    options = list(words.get("options", ()))
    options += ["--match", words["match"]] if words.get("match") else []
    options += [part for path in words.get("ignore", ()) for part in ("--ignore-paths", path)]
    server = McpServer(
        recording=_recording_of(request.node, words.get("recording")),
        mode=_mode(request.config),
        url=url,
        command=command,
        options=options,
        test=request.node.nodeid,
    )
    try:
        server.prepare()
    except McpreelError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[SERVER] = server
    yield server
    passed = request.node.stash.get(PASSED, False)
    server.close(accept=passed)
    _keep_trace(request, server, passed)
    counts = request.config.stash[COUNTS]
    for name, number in server.counts.items():
        counts[name] = counts.get(name, 0) + number


def _keep_trace(request: pytest.FixtureRequest, server: McpServer, passed: bool) -> None:
    wanted = request.config.getoption("--mcp-trace")
    if wanted == "on" or (wanted == "retain-on-failure" and not passed):
        folder = request.config.rootpath / "mcp-traces"
        server.keep_traces(folder / _file_name(request.node.nodeid.replace("/", "-").replace("::", "-")))
    server.remove()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Unmatched requests fail the test itself, not its teardown; if it failed already, they are its explanation."""
    outcome = yield
    server = item.stash.get(SERVER, None)
    if server is None:
        return
    problem = server.finish()
    if not problem:
        return
    if outcome.excinfo is None:  # type: ignore[attr-defined]
        outcome.force_exception(pytest.fail.Exception(problem, pytrace=False))  # type: ignore[attr-defined]
    else:
        item.add_report_section("call", "mcpreel", problem)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call":
        item.stash[PASSED] = report.passed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = {name: number for name, number in config.stash[COUNTS].items() if number}
    if counts:
        terminalreporter.section("mcp recordings")
        terminalreporter.line(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))


# One test for each recorded call.


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Collector | None:
    return collect_suite(collector, name, obj) if isinstance(obj, McpSuite) else None


# The fixtures of mcp-recorder.


def _cassette_of(request: pytest.FixtureRequest) -> tuple[Path, pytest.Mark]:
    mark = request.node.get_closest_marker("mcp_cassette")
    if mark is None or not mark.args:
        pytest.fail("the test needs @pytest.mark.mcp_cassette('path of the cassette')", pytrace=False)
    return (request.path.parent / mark.args[0]).resolve(), mark


def _names(mark: pytest.Mark, key: str) -> list[str]:
    return list(mark.kwargs.get(key) or ())


def _target(config: pytest.Config) -> tuple[str | None, list[str], list[str]]:
    """(URL, command, NAME=VALUE words) of the options; fails unless there is one server."""
    url, command = config.getoption("--mcp-target"), config.getoption("--mcp-target-stdio")
    if bool(url) == bool(command):
        pytest.fail("give one of --mcp-target URL and --mcp-target-stdio COMMAND", pytrace=False)
    return url, shlex.split(command or ""), config.getoption("--mcp-target-env")


def _missing(path: Path) -> None:
    if not path.exists():
        pytest.fail(f"Cassette file not found: {path}", pytrace=False)


def _replay_url(request: pytest.FixtureRequest) -> Generator[str, None, None]:
    path, mark = _cassette_of(request)
    mode = request.config.getoption("--mcp-record-mode")
    if mode == "auto" and not path.exists():
        pytest.skip(f"Cassette not found (auto mode): {path}")
    match = mark.kwargs.get("match") or request.config.getoption("--mcp-match")
    options = ["--match", match]
    options += [part for name in _names(mark, "ignore_fields") for part in ("--ignore-fields", name)]
    options += [part for value in _names(mark, "ignore_paths") for part in ("--ignore-paths", value)]
    if mode == "record":
        yield from _record_anew(request, path, options)
        return
    _missing(path)
    with ReplayServer(path, options=[*options, "--on-unmatched", "warn", "--cassette"]) as server:
        yield server.url


def _record_anew(request: pytest.FixtureRequest, path: Path, options: list[str]) -> Generator[str, None, None]:
    url, command, env = _target(request.config)
    server = McpServer(
        recording=path,
        mode="rewrite",
        url=url,
        command=["env", *env, *command] if env else command,
        options=options,
        test=request.node.nodeid,
    )
    server.prepare()
    request.node.stash[SERVER] = server
    yield server.url
    server.close(accept=request.node.stash.get(PASSED, False))
    server.remove()


def _verify_result(request: pytest.FixtureRequest) -> VerifyResult:
    path, mark = _cassette_of(request)
    url, command, env = _target(request.config)
    _missing(path)
    return verify(
        path,
        url=url,
        command=["env", *env, *command] if env else command,
        ignore_fields=_names(mark, "ignore_fields"),
        ignore_paths=_names(mark, "ignore_paths"),
        as_cassette=True,
    )


class _McpRecorderNames:
    """Registered only if mcp-recorder is not there, whose fixtures have these names."""

    @pytest.fixture
    def mcp_replay_url(self, request: pytest.FixtureRequest) -> Generator[str, None, None]:
        """The URL of a server that answers from the cassette of the mark mcp_cassette."""
        yield from _replay_url(request)

    @pytest.fixture
    def mcp_verify_result(self, request: pytest.FixtureRequest) -> VerifyResult:
        """The server of --mcp-target or --mcp-target-stdio, compared with the cassette of the mark."""
        return _verify_result(request)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if not _has_mcp_recorder(session.config):
        session.config.pluginmanager.register(_McpRecorderNames(), "mcpreel-mcp-recorder-names")

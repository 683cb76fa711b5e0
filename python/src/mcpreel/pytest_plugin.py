"""The pytest plugin: mock servers from recordings, and recordings from real servers.

    @pytest.mark.mcp("node server.js")
    async def test_search(mcp_server):
        async with stdio_client(mcp_server.stdio_params()) as streams: ...

Fixtures, marks and options of mcp-recorder work, too, unless mcp-recorder itself is installed.
The recording of a test changes only when the test has passed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shlex
import traceback
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpreel.binary import MissingProgramError
from mcpreel.process import McpreelError, words_of
from mcpreel.replay import ReplayServer
from mcpreel.suite import McpSuite, collect_suite
from mcpreel.testing import MODES, McpServer
from mcpreel.verify import VerifyResult, verify

NAME_LIMIT = 120  # characters of a recording's file name
SERVER = pytest.StashKey[McpServer]()
OUTCOMES = pytest.StashKey["dict[str, str]"]()
COUNTS = pytest.StashKey["dict[str, int]"]()


def _has_mcp_recorder(plugins: pytest.PytestPluginManager) -> bool:
    """Whether mcp-recorder's own plugin is used. It may be loaded after this one."""
    if plugins.is_blocked("mcp_recorder"):
        return False
    try:
        importlib.metadata.version("mcp-recorder")
    except importlib.metadata.PackageNotFoundError:
        return plugins.hasplugin("mcp_recorder")
    return True


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
        help="keep the traffic of a test in the folder mcp-traces: never, always, or if it failed (default)",
    )
    if _has_mcp_recorder(pluginmanager):
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
    if not _has_mcp_recorder(config.pluginmanager):
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
    name = item.nodeid.partition("::")[2].replace("::", ".")  # with the class, if there is one
    return item.path.parent / "recordings" / item.path.stem / f"{_file_name(name)}.jsonl"


MARK_WORDS = {"server", "recording", "match", "ignore", "options"}


def _server_of(request: pytest.FixtureRequest) -> McpServer:
    """The server that the mark of a test describes."""
    mark = request.node.get_closest_marker("mcp")
    words = dict(mark.kwargs) if mark else {}
    if mark and mark.args:
        words["server"] = mark.args[0]
    unknown = sorted(set(words) - MARK_WORDS)
    if unknown:
        raise McpreelError(f"mcpreel: the mark mcp has no '{unknown[0]}'; it has {', '.join(sorted(MARK_WORDS))}")
    server = words.get("server") or ()
    is_url = isinstance(server, str) and server.startswith(("http://", "https://"))
    ignore = words.get("ignore", ())
    return McpServer(
        recording=_recording_of(request.node, words.get("recording")),
        mode=_mode(request.config),
        url=str(server) if is_url else None,
        command=() if is_url else words_of(server),
        match=words.get("match"),
        ignore=[ignore] if isinstance(ignore, str) else ignore,
        options=words.get("options", ()),
        test=request.node.nodeid,
    )


def _prepared(request: pytest.FixtureRequest, server: McpServer) -> McpServer:
    server.prepare()
    request.node.stash[SERVER] = server
    return server


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest) -> Generator[McpServer, None, None]:
    """A server that answers from the recording of this test, or the recorder in front of the real one."""
    server = _prepared(request, _server_of(request))
    yield server
    if not server.problem_shown:
        _fail_if(server.finish())


def _fail_if(problem: str | None) -> None:
    if problem:
        pytest.fail(problem, pytrace=False)


def _fixtures_use_it(item: pytest.Item) -> bool:
    """Whether other fixtures have the server, such as one with a connected client, which ends after the test."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = info.name2fixturedefs.values() if info else ()
    return any("mcp_server" in one.argnames for several in definitions for one in several)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Unmatched requests fail the test itself, not its teardown; if it failed already, they are its explanation."""
    outcome = yield
    server = item.stash.get(SERVER, None)
    if server is None or _fixtures_use_it(item):
        return
    problem = server.finish()
    server.problem_shown = True
    if not problem:
        return
    if outcome.excinfo is None:  # type: ignore[attr-defined]
        outcome.force_exception(pytest.fail.Exception(problem, pytrace=False))  # type: ignore[attr-defined]
    else:
        item.add_report_section("call", "mcpreel", problem)


def _is_of_fixtures(error: BaseException) -> bool:
    """Whether a fixture or its server raised it, and not other code of the test that uses this package."""
    ours = (__name__, McpServer.__module__)
    return isinstance(error, (McpreelError, MissingProgramError)) and any(
        frame.f_globals.get("__name__") in ours for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _leave_out_traceback(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """The message of a fixture that could not serve is the whole failure: the code of this package explains nothing."""
    if call.excinfo is None or not report.failed or not _is_of_fixtures(call.excinfo.value):
        return
    failure = pytest.fail.Exception(str(call.excinfo.value), pytrace=False)
    shown = pytest.ExceptionInfo.from_exc_info((type(failure), failure, call.excinfo.tb))
    report.longrepr = item.repr_failure(shown)  # call.excinfo stays: xfail(raises=...) looks at it


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """After the last phase, accept what was recorded if all phases passed."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    _leave_out_traceback(item, call, report)
    outcomes = item.stash.setdefault(OUTCOMES, {})
    outcomes[report.when] = report.outcome
    server = item.stash.get(SERVER, None)
    if report.when != "teardown" or server is None:
        return
    try:
        if all(outcomes.get(phase) == "passed" for phase in ("setup", "call", "teardown")):
            server.accept()
        wanted = item.config.getoption("--mcp-trace")
        if wanted == "on" or (wanted == "retain-on-failure" and "failed" in outcomes.values()):
            name = _file_name(item.nodeid.replace("/", "-").replace("::", "-"))
            kept = server.keep_traces(item.config.rootpath / "mcp-traces" / name)
            commands = "\n".join(f"mcpreel show {shlex.quote(os.path.relpath(path))}" for path in kept)
            # pytest shows a section of this phase, of which 'teardown' is in the name, below a failure of the test.
            report.sections += [("mcpreel: look at the traffic (kept at teardown)", commands)] if kept else []
    except (McpreelError, OSError) as error:
        report.outcome = "failed"
        report.longrepr = str(error) if isinstance(error, McpreelError) else f"mcpreel: {error}"
    finally:
        server.remove()
    counts = item.config.stash[COUNTS]
    for name, number in server.shown_counts.items():
        counts[name] = counts.get(name, 0) + number


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist sends its counts to the main process."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["mcpreel_counts"] = session.config.stash[COUNTS]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    counts = node.config.stash[COUNTS]
    for name, number in getattr(node, "workeroutput", {}).get("mcpreel_counts", {}).items():
        counts[name] = counts.get(name, 0) + number


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = {name: number for name, number in config.stash[COUNTS].items() if number}
    if counts:
        terminalreporter.section("mcp recordings")
        terminalreporter.line("calls: " + ", ".join(f"{number} {name}" for name, number in sorted(counts.items())))


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


def _target(config: pytest.Config) -> tuple[str | None, list[str], dict[str, str]]:
    """(URL, command, variables) of the options; fails unless there is one server."""
    url, command = config.getoption("--mcp-target"), config.getoption("--mcp-target-stdio")
    if bool(url) == bool(command):
        pytest.fail("give one of --mcp-target URL and --mcp-target-stdio COMMAND", pytrace=False)
    pairs = [word.partition("=") for word in config.getoption("--mcp-target-env")]
    return url, words_of(command or ""), {name: value for name, equals, value in pairs if equals}


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
    server = _prepared(
        request,
        McpServer(
            recording=path,
            mode="rewrite",
            url=url,
            command=command,
            env=env,
            options=options,
            test=request.node.nodeid,
        ),
    )
    yield server.url


def _verify_result(request: pytest.FixtureRequest) -> VerifyResult:
    path, mark = _cassette_of(request)
    url, command, env = _target(request.config)
    _missing(path)
    return verify(
        path,
        url=url,
        command=command,
        env=env,
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
    if not _has_mcp_recorder(session.config.pluginmanager):
        session.config.pluginmanager.register(_McpRecorderNames(), "mcpreel-mcp-recorder-names")

"""One test for each recorded call: the server is compared with a recording."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcpreel.binary import MissingProgramError
from mcpreel.process import error_text, run, words_of


class McpSuite:
    """The value of mcp_suite(). The plugin makes tests of it if it is a variable of a test module."""

    def __init__(self, pattern: str, arguments: list[str], server: list[str]) -> None:
        self.pattern = pattern
        self.arguments = arguments
        self.server = server


def mcp_suite(
    pattern: str,
    *,
    server: str | Sequence[str] = (),
    url: str | None = None,
    ignore: Iterable[str] = (),
    options: Sequence[str] = (),
) -> McpSuite:
    """Make a test of every recorded call in the files of `pattern`, which is relative to the test file.

    `test_verify = mcp_suite("recordings/*.jsonl", server=["python", "server.py"])`
    """
    if bool(server) == bool(url):
        raise ValueError("mcp_suite() needs a server or a url, and not both")
    arguments = [*options, *(part for path in ignore for part in ("--ignore-paths", path))]
    return McpSuite(
        pattern, [*arguments, *(["--url", url] if url else [])], ["--", *words_of(server)] if server else []
    )


def collect_suite(parent: pytest.Collector, name: str, suite: McpSuite) -> pytest.Collector:
    return _SuiteCollector.from_parent(parent, name=name, suite=suite)


class _SuiteCollector(pytest.Collector):
    def __init__(self, *, suite: McpSuite, **rest: Any) -> None:
        super().__init__(**rest)
        self._suite = suite

    def collect(self) -> Iterator[pytest.Item]:
        pattern = os.path.join(glob.escape(str(self.path.parent)), self._suite.pattern)
        files = sorted(glob.glob(pattern, recursive=True))
        if not files:
            raise self.CollectError(f"mcp_suite: no recording matches {pattern}")
        for file in files:
            shared = _Verification(Path(file), self._suite)
            stem = os.path.relpath(file, self.path.parent)
            try:
                requests = list(_requests(Path(file)))
            except MissingProgramError as error:
                raise self.CollectError(str(error)) from None
            except CallFailedError as error:
                yield _UnreadableItem.from_parent(self, name=stem, file=Path(file), reason=str(error))
                continue
            for seq, label in requests:
                yield _CallItem.from_parent(self, name=f"{stem}:{seq} {label}", verification=shared, seq=seq)


def _requests(file: Path) -> Iterator[tuple[int, str]]:
    """(seq, name) of the recorded requests of the client."""
    shown = run(["show", "--json", str(file)])
    if shown.returncode:
        raise CallFailedError(f"mcpreel: {error_text(shown.stderr)}")
    for line in shown.stdout.splitlines():
        operation = json.loads(line)
        if operation.get("kind") == "request" and operation.get("from") == "client":
            for message in operation["messages"]:
                if message["role"] == "request" and message["from"] == "client":
                    yield message["seq"], " ".join(filter(None, (operation["method"], operation["subject"])))


class _Verification:
    """Runs mcpreel verify once for a file, when its first test runs."""

    def __init__(self, file: Path, suite: McpSuite) -> None:
        self.file = file
        self._suite = suite
        self._calls: dict[int, dict[str, Any]] | None = None
        self.trouble = ""

    def call(self, seq: int) -> dict[str, Any] | None:
        if self._calls is None:
            done = run(["verify", "--json", *self._suite.arguments, str(self.file), *self._suite.server])
            report: dict[str, Any] = {}
            if done.stdout.startswith("{"):
                report = json.loads(done.stdout.splitlines()[0])
            self._calls = {call["seq"]: call for call in report.get("calls", ())}
            findings = [finding["message"] for finding in report.get("findings", ()) if finding["severity"] == "error"]
            self.trouble = "\n".join([*findings, error_text(done.stderr)])
        return self._calls.get(seq)


class CallFailedError(Exception):
    """A recorded call that the server answers differently."""


class _SuiteItem(pytest.Item):
    """A test whose failure is its own text, without a traceback."""

    def __init__(self, *, file: Path, **rest: Any) -> None:
        super().__init__(**rest)
        self._file = file

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (CallFailedError, MissingProgramError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        # Not the name alone: pytest -v would replace each '.' of it by '::'.
        return self._file, 0, f"{self.parent.name if self.parent else ''}: {self.name}"


class _UnreadableItem(_SuiteItem):
    def __init__(self, *, reason: str, **rest: Any) -> None:
        super().__init__(**rest)
        self._reason = reason

    def runtest(self) -> None:
        raise CallFailedError(self._reason)


class _CallItem(_SuiteItem):
    def __init__(self, *, verification: _Verification, seq: int, **rest: Any) -> None:
        super().__init__(file=verification.file, **rest)
        self._verification = verification
        self._seq = seq

    def runtest(self) -> None:
        call = self._verification.call(self._seq)
        if call is None:
            raise CallFailedError(f"mcpreel verify has no verdict on it: {self._verification.trouble}")
        if call["verdict"] == "skipped":
            pytest.skip(call["reason"] or "not sent")
        if call["verdict"] in ("failed", "blocked"):
            raise CallFailedError(_describe(call, self._verification.file))


def _describe(call: dict[str, Any], file: Path) -> str:
    lines = [f"mcpreel: {call['method']} {call['subject'] or ''} of {file}:{call['line']} {call['verdict']}".rstrip()]
    if call["reason"]:
        lines.append(f"  {call['reason']}")
    for finding in call["findings"]:
        lines.append(f"  {finding['path'] or ''} {finding['message']}".replace("   ", "  "))
        lines += [f"      - {_short(finding['recorded'])}  recorded"] if "recorded" in finding else []
        lines += [f"      + {_short(finding['live'])}  live"] if "live" in finding else []
        lines += [f"      {finding['hint']}"] if finding.get("hint") else []
    lines.append(f"  If the change is intended: mcpreel verify --update={call['number']} {file} …")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"

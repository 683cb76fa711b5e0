"""Compare a server with a recording: 'mcpreel verify', with the result type of mcp-recorder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpreel.process import McpreelError, error_text, run, words_of

FAILED = ("failed", "blocked")


@dataclass
class InteractionResult:
    """The verdict on one recorded request."""

    index: int
    method: str
    passed: bool
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None
    diff: list[str] = field(default_factory=list)


@dataclass
class VerifyResult:
    """The verdicts on all recorded requests."""

    total: int
    passed: int
    failed: int
    results: list[InteractionResult] = field(default_factory=list)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _difference(finding: dict[str, Any]) -> str:
    if finding.get("path") is None:
        return str(finding["message"])
    recorded = _text(finding["recorded"]) if "recorded" in finding else "(absent)"
    live = _text(finding["live"]) if "live" in finding else "(absent)"
    return f"{finding['path']}: {recorded} != {live}"


def _interaction(call: dict[str, Any]) -> InteractionResult:
    diff = [_difference(finding) for finding in call["findings"]]
    if call["reason"]:
        diff.append(str(call["reason"]))
    method = call["method"] or ""
    return InteractionResult(
        index=call["number"],
        method=f"{method} [{call['subject']}]" if call["subject"] else method,
        passed=call["verdict"] not in FAILED,
        diff=diff,
    )


def verify(
    recording: str | os.PathLike[str],
    *,
    url: str | None = None,
    command: str | Sequence[str] = (),
    env: dict[str, str] | None = None,
    ignore_fields: Iterable[str] = (),
    ignore_paths: Iterable[str] = (),
    options: Sequence[str] = (),
    as_cassette: bool = False,
) -> VerifyResult:
    """Send the requests of `recording` to the server at `url`, or to the one that `command` starts.

    With `as_cassette`, the comparison is that of mcp-recorder: no value counts as volatile but ids and `_meta`.
    Raises McpreelError if the recording cannot be used, or the server cannot be reached at all.
    """
    if bool(url) == bool(command):
        raise ValueError("verify() needs a url or a command, and not both")
    arguments = ["verify", "--json", *options]
    arguments += [part for name in ignore_fields for part in ("--ignore-fields", name)]
    arguments += [part for path in ignore_paths for part in ("--ignore-paths", path)]
    arguments += ["--url", url] if url else []
    arguments += [*(["--cassette"] if as_cassette else []), os.fspath(recording)]
    arguments += ["--", *words_of(command)] if command else []
    done = run(arguments, env)
    try:
        report = json.loads(done.stdout.splitlines()[0])
        calls = [call for call in report["calls"] if call["verdict"] != "skipped"]
    except (IndexError, ValueError, KeyError):
        raise McpreelError(f"mcpreel verify ended with {done.returncode}: {error_text(done.stderr)}") from None
    results = [_interaction(call) for call in calls]
    passed = sum(result.passed for result in results)
    return VerifyResult(total=len(results), passed=passed, failed=len(results) - passed, results=results)

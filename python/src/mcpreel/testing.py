"""The server that a test talks to: a replay, or a recorder in front of the real server."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpreel.binary import find_program
from mcpreel.process import Listener, McpreelError, run
from mcpreel.replay import ReplayServer

MODES = ("none", "once", "append", "rewrite", "verify")
REPORT_WAIT = 5.0  # seconds; a stdio replay ends when its client closes standard input


@dataclass
class Call:
    """A tool call of this test, as the client made it."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    error: bool = False
    server_ms: float | None = None


class McpServer:
    """Give clients `url`, or start one with `stdio_params()` or `command`. Each of these is one run of mcpreel.

    The files of a run are in a folder of their own; close(accept=True) makes what was recorded the
    recording of the test.
    """

    def __init__(
        self,
        *,
        recording: Path,
        mode: str,
        url: str | None = None,
        command: Sequence[str] = (),
        options: Sequence[str] = (),
        test: str = "",
    ) -> None:
        self.recording = recording
        self.mode = mode
        self.counts: dict[str, int] = {}
        self._server = ["--url", url] if url else (["--", *command] if command else [])
        self._options = list(options)
        self._test = test
        self._folder = Path(tempfile.mkdtemp(prefix="mcpreel-"))
        self._runs = 0
        self._replay: ReplayServer | None = None
        self._front: Listener | None = None
        self._http_run = ""  # name of its folder
        self._problem: str | None = None
        self._finished = False

    def prepare(self) -> None:
        """Check what can be checked before the test runs."""
        exists = self.recording.exists()
        if not exists and (self.mode in ("none", "verify") or not self._server):
            advice = (
                f"record it: pytest --mcp-mode=once '{self._test}'"
                if self._server
                else "name the real server, @pytest.mark.mcp('COMMAND'), and record it with --mcp-mode=once"
            )
            raise McpreelError(f"mcpreel: there is no recording {self.recording} (mode {self.mode})\n\n  {advice}")
        if self.mode == "verify":
            self._verify()
        elif self.mode != "none":
            self.recording.parent.mkdir(parents=True, exist_ok=True)

    def _verify(self) -> None:
        if not self._server:
            raise McpreelError("mcpreel: mode verify needs the real server: @pytest.mark.mcp('COMMAND')")
        if self._server[0] == "--url":
            arguments = ["verify", *self._server, str(self.recording)]
        else:
            arguments = ["verify", str(self.recording), *self._server]
        done = run(arguments)
        if done.returncode:
            raise McpreelError(f"mcpreel: the server differs from {self.recording}\n\n{done.stdout}{done.stderr}")

    # For tests.

    @property
    def url(self) -> str:
        """The URL for clients over HTTP. All clients of a test share it."""
        if self._front is None:
            mode, server = self._mode_words()
            run_folder = self._new_run()
            self._http_run = run_folder.name
            pending = ["--pending", str(run_folder / self.recording.name)] if server else []
            self._replay = ReplayServer(self.recording, options=[*mode, *pending, *self._options], server=server)
            self._replay.start()
            trace = run_folder / "trace.jsonl"
            self._front = Listener(["record", "-q", "-o", str(trace), "--url", self._replay.url])
        return self._front.url

    @property
    def command(self) -> list[str]:
        """The words of a command for a client on stdio. Each use is a run of its own."""
        mode, server = self._mode_words()
        run_folder = self._new_run()
        pending = ["--pending", str(run_folder / self.recording.name)] if server else []
        program = find_program()
        return [
            *(program, "record", "-q", "-o", str(run_folder / "trace.jsonl"), "--"),
            *(program, "-q", "replay", "--report", f"json={run_folder / 'report.json'}"),
            *(*mode, *pending, *self._options, str(self.recording), *server),
        ]

    def stdio_params(self, env: dict[str, str] | None = None) -> Any:
        """mcp.StdioServerParameters for the official Python SDK."""
        from mcp import StdioServerParameters

        program, *arguments = self.command
        return StdioServerParameters(command=program, args=arguments, env={**os.environ, **(env or {})})

    @property
    def calls(self) -> list[Call]:
        """The tool calls so far, in order."""
        return [call for trace in self._traces() for call in _calls_in(trace)]

    def assert_called(self, tool: str, **arguments: Any) -> None:
        """Fail unless a call of the tool has at least these arguments. '*' in the name stands for any text."""
        named = [call for call in self.calls if fnmatch.fnmatchcase(call.tool, tool)]
        if any(arguments.items() <= call.arguments.items() for call in named):
            return
        seen = "\n".join(f"  {call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in self.calls)
        wanted = f"{tool} {json.dumps(arguments, ensure_ascii=False)}" if arguments else tool
        raise AssertionError(f"no call of {wanted}; the calls were:\n{seen or '  none'}")

    def assert_not_called(self, tool: str) -> None:
        named = [call for call in self.calls if fnmatch.fnmatchcase(call.tool, tool)]
        if named:
            lines = "\n".join(f"  {call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in named)
            raise AssertionError(f"{tool} was called:\n{lines}")

    # For the plugin.

    def finish(self) -> str | None:
        """End all runs. Return the text about requests without a match, or None."""
        if self._finished:
            return self._problem
        self._finished = True
        if self._front is not None and self._replay is not None:
            self._front.close()
            self._replay.stop()
            self._count(self._replay.report)
            self._note(self._replay.report, self._replay.exit_code, self._replay.messages)
        for folder in self._run_folders():
            if folder.name != self._http_run and (folder / "trace.jsonl").exists():
                report = _wait_for_report(folder / "report.json")
                self._count(report)
                self._note(report, report.get("exit_code"), "")
        return self._problem

    def close(self, accept: bool) -> None:
        """With `accept`, the new recording, if there is one, replaces the old one."""
        self.finish()
        if not accept:
            return
        for folder in self._run_folders():
            pending = folder / self.recording.name
            if pending.exists():
                new = self.recording.with_name(f".{self.recording.name}.{os.getpid()}")
                shutil.copyfile(pending, new)
                os.replace(new, self.recording)

    def keep_traces(self, stem: Path) -> None:
        traces = self._traces()
        if traces:
            stem.parent.mkdir(parents=True, exist_ok=True)
        for number, trace in enumerate(traces):
            shutil.copyfile(trace, stem.with_name(f"{stem.name}{f'-{number + 1}' if number else ''}.jsonl"))

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _mode_words(self) -> tuple[list[str], list[str]]:
        """Options and server words of 'mcpreel replay'."""
        if self.mode in ("none", "verify") or not self._server:
            return ["--fail-at-end"], []
        # append has no requests without a match: the server answers them.
        at_end = [] if self.mode == "append" else ["--fail-at-end"]
        return [*at_end, "--record-mode", self.mode], self._server

    def _new_run(self) -> Path:
        self._runs += 1
        folder = self._folder / str(self._runs)
        folder.mkdir()
        return folder

    def _run_folders(self) -> list[Path]:
        return [self._folder / str(number + 1) for number in range(self._runs)]

    def _traces(self) -> list[Path]:
        return [folder / "trace.jsonl" for folder in self._run_folders() if (folder / "trace.jsonl").exists()]

    def _count(self, report: dict[str, Any]) -> None:
        recorded = report.get("recording") or {}
        replayed = report.get("matched", 0) + report.get("repeated", 0)
        for name, number in (
            ("calls replayed", replayed),
            ("calls appended", recorded.get("appended", 0)),
            ("calls recorded", recorded.get("rewritten", 0)),
            ("calls without a match", report.get("unmatched", 0) - report.get("forwarded", 0)),
        ):
            self.counts[name] = self.counts.get(name, 0) + number

    def _note(self, report: dict[str, Any], code: int | None, messages: str) -> None:
        missed = [request for request in report.get("unmatched_requests", ()) if not report.get("forwarded")]
        if missed:
            lines = "\n".join(f"  {request['text']}" for request in missed)
            self._add_problem(
                f"mcpreel: requests without a match in {self.recording}:\n{lines}\n\n"
                f"  If the change is intended: pytest --mcp-mode=rewrite '{self._test}'\n"
                '  If a value varies: @pytest.mark.mcp(ignore=["$.params.arguments.NAME"])'
            )
        elif code:
            self._add_problem(f"mcpreel replay ended with exit code {code}\n{messages.strip()}")

    def _add_problem(self, text: str) -> None:
        self._problem = f"{self._problem}\n\n{text}" if self._problem else text


def _wait_for_report(path: Path) -> dict[str, Any]:
    end = time.monotonic() + REPORT_WAIT
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        return dict(json.load(file))


def _calls_in(trace: Path) -> list[Call]:
    done = run(["show", "--json", str(trace), "method:tools/call"])
    calls = []
    for line in done.stdout.splitlines():
        operation = json.loads(line)
        if operation.get("type") != "operation" or operation.get("kind") != "request":
            continue
        text = operation.get("arguments_text")
        server_us = operation.get("server_us")
        calls.append(
            Call(
                tool=operation["subject"],
                arguments=_arguments(text),
                error=operation["outcome"] != "ok",
                server_ms=None if server_us is None else server_us / 1000,
            )
        )
    return calls


def _arguments(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

"""The server that a test talks to: a replay, or a recorder in front of the real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpreel.binary import find_program
from mcpreel.process import Listener, McpreelError, ScratchFolder, run
from mcpreel.replay import ReplayServer

MODES = ("none", "once", "append", "rewrite", "verify")
KEPT = ("appended", "recorded")  # the counts of calls that are in the recording only if it is accepted
OWN_RECORDING = "give each test a recording of its own, or run the tests that share one in one process"
ADVICE = {  # for requests without a match, by the reason in the report
    "no-match": '  If a value varies: @pytest.mark.mcp(ignore=["$.params.arguments.NAME"])',
    "exhausted": '  If a call may be repeated: @pytest.mark.mcp(options=["--on-exhausted", "last"])',
}
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

    The files of a run are in a folder of their own, which only this user can read; accept() makes what
    was recorded the recording of the test.
    """

    def __init__(
        self,
        *,
        recording: Path,
        mode: str,
        url: str | None = None,
        command: Sequence[str] = (),
        env: dict[str, str] | None = None,
        match: str | None = None,
        ignore: Iterable[str] = (),
        options: Sequence[str] = (),
        test: str = "",
    ) -> None:
        self.recording = recording
        self.mode = mode
        self.counts: dict[str, int] = {}
        self.problem_shown = False  # set by the plugin when the test failed with it
        self._server = ["--url", url] if url else (["--", *command] if command else [])
        self._env = env
        self._ignore = [part for path in ignore for part in ("--ignore-paths", path)]
        self._redaction, others = _split_redaction(options)
        self._options = [*(["--match", match] if match else []), *self._ignore, *others]
        self._test = test
        self._folder: ScratchFolder | None = None
        self._runs: list[Path] = []
        self._before = _state(recording)
        self._lock = threading.Lock()
        self._replay: ReplayServer | None = None
        self._front: Listener | None = None
        self._http_run: Path | None = None
        self._problem: str | None = None
        self._finished = False
        self._accepted = False
        self._made_folders: list[Path] = []  # for the recording, the innermost first

    def prepare(self) -> None:
        """Check what can be checked before the test runs."""
        if not self.recording.exists() and (self.mode in ("none", "verify") or not self._server):
            advice = (
                f"record it: pytest --mcp-mode=once '{self._test}'"
                if self._server
                else "name the real server, @pytest.mark.mcp('COMMAND'), and record it with --mcp-mode=once"
            )
            raise McpreelError(f"mcpreel: there is no recording {self.recording} (mode {self.mode})\n\n  {advice}")
        if self.mode == "verify":
            self._verify()
        elif self.mode != "none":
            folder = self.recording.parent
            self._made_folders = [one for one in (folder, folder.parent) if not one.exists()]
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise McpreelError(
                    f"mcpreel: no recording can be written to {self.recording.parent}: {error}"
                ) from None
        self._folder = ScratchFolder()

    def _verify(self) -> None:
        if not self._server:
            raise McpreelError("mcpreel: mode verify needs the real server: @pytest.mark.mcp('COMMAND')")
        url, command = (self._server, []) if self._server[0] == "--url" else ([], self._server)
        done = run(["verify", *self._ignore, *url, str(self.recording), *command], self._env)
        if done.returncode:
            raise McpreelError(f"mcpreel: the server differs from {self.recording}\n\n{done.stdout}{done.stderr}")

    # For tests.

    @property
    def url(self) -> str:
        """The URL for clients over HTTP. All clients of a test share it."""
        with self._lock:
            if self._front is None:
                folder = self._new_run()
                options, server = self._replay_words(folder)
                self._replay = ReplayServer(self.recording, options=options, server=server, env=self._env)
                try:
                    self._replay.start()
                except McpreelError as error:
                    raise McpreelError(_with_advice(str(error))) from None
                self._http_run = folder
                self._front = Listener([*_recorder(folder), "--url", self._replay.url])
            return self._front.url

    @property
    def command(self) -> list[str]:
        """The words of a command for a client on stdio. Each use is a run of its own."""
        with self._lock:
            folder = self._new_run()
        options, server = self._replay_words(folder)
        program = find_program()
        return [
            *(program, *_recorder(folder), "--"),
            *(program, "-q", "replay", "--report", f"json={folder / 'report.json'}"),
            *(*options, str(self.recording), *server),
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

    def assert_called(self, tool: str, /, **arguments: Any) -> None:
        """Fail unless a call of the tool has at least these arguments. '*' in the name stands for any text."""
        calls = self.calls
        named = _of_tool(calls, tool)
        if any(arguments.items() <= call.arguments.items() for call in named):
            return
        wanted = f"{tool} {json.dumps(arguments, ensure_ascii=False)}" if arguments else tool
        raise AssertionError(f"no call of {wanted}; the calls were:\n{_list(calls) or '  none'}")

    def assert_not_called(self, tool: str, /) -> None:
        named = _of_tool(self.calls, tool)
        if named:
            raise AssertionError(f"{tool} was called:\n{_list(named)}")

    # For the plugin.

    def finish(self) -> str | None:
        """End all runs. Return the text about what went wrong in them, or None."""
        if self._finished:
            return self._problem
        self._finished = True
        if self._front is not None:
            self._front.close()
        if self._replay is not None:
            self._replay.stop()
            self._judge(self._replay.report, self._replay.exit_code, self._replay.messages)
        for folder in self._runs:
            if folder != self._http_run and (folder / "trace.jsonl").exists():
                self._judge_stdio(folder)
        pending = self._pending()
        if len(pending) > 1:
            self._add_problem(
                f"mcpreel: {len(pending)} clients recorded at a time, and one file cannot hold both: let the test use "
                "one client, or 'url' for all of them"
            )
        elif pending and _state(self.recording) != self._before:
            self._add_problem(
                f"mcpreel: {self.recording} was changed during the test, by another test or program: {OWN_RECORDING}"
            )
        return self._problem

    def accept(self) -> None:
        """Make the new recording, if there is one, the recording of the test."""
        for pending in self._pending():
            _replace_file(pending, self.recording)
        self._accepted = True

    @property
    def shown_counts(self) -> dict[str, int]:
        """The counts for the summary, when it is decided whether the recording is accepted."""
        if self._accepted:
            return self.counts
        shown = {name: number for name, number in self.counts.items() if name not in KEPT}
        return {**shown, "recorded, but not kept": sum(self.counts.get(name, 0) for name in KEPT)}

    def keep_traces(self, stem: Path) -> list[Path]:
        """Write the traffic of the test to files, redacted as the recording, and return these."""
        kept = []
        for number, trace in enumerate(self._traces()):
            stem.parent.mkdir(parents=True, exist_ok=True)
            path = stem.with_name(f"{stem.name}{f'-{number + 1}' if number else ''}.jsonl")
            path.unlink(missing_ok=True)
            done = run(["-q", "redact", *self._redaction, str(trace), "-o", str(path)])
            if done.returncode:
                raise McpreelError(f"mcpreel: the trace {path} cannot be written: {done.stderr.strip()}")
            kept.append(path)
        return kept

    def remove(self) -> None:
        """Remove the files of the runs, but not the journal of a failed recording, which its message names."""
        for folder in self._runs:
            if any(folder.glob("*.journal")):
                (folder / "trace.jsonl").unlink(missing_ok=True)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        if self._folder is not None:
            with contextlib.suppress(OSError):  # it has a journal
                self._folder.path.rmdir()
            self._folder.keep()
        for folder in self._made_folders:
            with contextlib.suppress(OSError):  # it has a recording
                folder.rmdir()

    def _replay_words(self, folder: Path) -> tuple[list[str], list[str]]:
        """Options and server words of 'mcpreel replay'."""
        if self.mode in ("none", "verify") or not self._server:
            return ["--fail-at-end", *self._options], []
        # append has no requests without a match: the server answers them.
        at_end = [] if self.mode == "append" else ["--fail-at-end"]
        pending = ["--pending", str(folder / self.recording.name)]
        return [*at_end, "--record-mode", self.mode, *pending, *self._redaction, *self._options], self._server

    def _new_run(self) -> Path:
        if self._folder is None:
            raise RuntimeError("prepare() comes first")
        folder = self._folder.path / str(len(self._runs) + 1)
        folder.mkdir()
        self._runs.append(folder)
        return folder

    def _pending(self) -> list[Path]:
        return [path for path in (folder / self.recording.name for folder in self._runs) if path.exists()]

    def _traces(self) -> list[Path]:
        return [path for path in (folder / "trace.jsonl" for folder in self._runs) if path.exists()]

    def _judge_stdio(self, folder: Path) -> None:
        """Judge a run that the client started: the replay writes its report, then the recorder its own."""
        report, session = _wait_for_reports(folder)
        if report is not None:
            self._judge(report, report["exit_code"], "")
        elif session is not None:
            reason = _stderr_in(folder / "trace.jsonl")
            text = f"mcpreel replay ended with exit code {session['exit_code']}\n{reason}".strip()
            self._add_problem(_with_advice(text))
        else:
            self._add_problem("mcpreel: a client on stdio has not closed its connection when the test ended")

    def _judge(self, report: dict[str, Any], code: int | None, messages: str) -> None:
        recorded = report.get("recording") or {}
        for name, number in (
            ("replayed", report.get("matched", 0) + report.get("repeated", 0)),
            ("appended", recorded.get("appended", 0)),
            ("recorded", recorded.get("rewritten", 0)),
            ("without a match", report.get("unmatched", 0) - report.get("forwarded", 0)),
        ):
            self.counts[name] = self.counts.get(name, 0) + number
        missed = [] if report.get("forwarded") else report.get("unmatched_requests", ())
        if missed:
            lines = [f"  {request['text']}" for request in missed]
            reasons = {request["reason"] for request in missed}
            lines += ["", f"  If the change is intended: pytest --mcp-mode=rewrite '{self._test}'"]
            lines += [advice for reason, advice in ADVICE.items() if reason in reasons]
            self._add_problem("\n".join([f"mcpreel: requests without a match in {self.recording}:", *lines]))
        elif code:
            self._add_problem(f"mcpreel replay ended with exit code {code}\n{messages.strip()}")

    def _add_problem(self, text: str) -> None:
        self._problem = f"{self._problem}\n\n{text}" if self._problem else text


def _replace_file(source: Path, path: Path) -> None:
    """Readers see the old file or the new one, and never a part. An old file keeps its mode."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    mode = stat.S_IMODE((path if path.exists() else source).stat().st_mode)
    try:
        with open(beside, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as new:
            new.write(source.read_bytes())
            os.fchmod(new.fileno(), mode)
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # as with a file for the folder: the first error says it
            beside.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise McpreelError(f"mcpreel: no recording can be written to {path.parent}: {error}") from None


def _split_redaction(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """(options that redact, all others). Only a recorder takes the first."""
    redaction: list[str] = []
    others: list[str] = []
    words = iter(options)
    for word in words:
        if word.startswith(("--redact-", "--no-redact-")):
            redaction.append(word)
            takes_value = word in ("--redact-env", "--redact-patterns", "--redact-members")
            redaction += [next(words, "")] if takes_value else []
        else:
            others.append(word)
    return redaction, others


def _recorder(folder: Path) -> list[str]:
    """The recorder of a test's own traffic. Tests ask for its arguments, so it is redacted only when it is kept."""
    files = ["-o", str(folder / "trace.jsonl"), "--report", str(folder / "session.json")]
    return ["record", "-q", "--no-redact-defaults", "--no-redact-server-url", *files]


def _with_advice(text: str) -> str:
    """Say in the words of tests how to avoid that two runs of mcpreel record to one file."""
    return f"{text}\n\n  {OWN_RECORDING}" if "writes to it" in text else text


def _state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _read_json(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        return dict(json.load(file))


def _wait_for_reports(folder: Path) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """(report of the replay, report of the recorder); neither, if the client goes on."""
    report, session = folder / "report.json", folder / "session.json"
    end = time.monotonic() + REPORT_WAIT
    while not (report.exists() or session.exists()) and time.monotonic() < end:
        time.sleep(0.01)
    return _read_json(report), _read_json(session)


def _lines_of(trace: Path) -> Iterator[dict[str, Any]]:
    with trace.open(encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break  # being written
            yield json.loads(line)


def _stderr_in(trace: Path) -> str:
    return "".join(line["text"] for line in _lines_of(trace) if line["type"] == "stderr").strip()


def _of_tool(calls: Iterable[Call], name: str) -> list[Call]:
    """The calls of a tool. '*' in the name stands for any text."""
    pattern = re.compile(".*".join(map(re.escape, name.split("*"))), re.DOTALL)
    return [call for call in calls if pattern.fullmatch(call.tool)]


def _list(calls: Iterable[Call]) -> str:
    return "\n".join(f"  {call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in calls)


def _arguments_by_seq(trace: Path) -> dict[int, dict[str, Any]]:
    """The arguments of the recorded requests. 'mcpreel show' has them as text, and long ones shortened."""
    found: dict[int, dict[str, Any]] = {}
    for record in _lines_of(trace):
        params = (record.get("msg") or {}).get("params") or {}
        arguments = params.get("arguments") if isinstance(params, dict) else None
        if isinstance(arguments, dict):
            found[record["seq"]] = arguments
    return found


def _calls_in(trace: Path) -> list[Call]:
    done = run(["show", "--json", str(trace), "method:tools/call"])
    if done.returncode:
        raise McpreelError(f"mcpreel: the trace of the test cannot be read: {done.stderr.strip()}")
    arguments = _arguments_by_seq(trace)
    calls = []
    for line in done.stdout.splitlines():
        operation = json.loads(line)
        if operation["kind"] != "request" or operation["from"] != "client":
            continue
        seq = next((message["seq"] for message in operation["messages"] if message["role"] == "request"), -1)
        server_us = operation["server_us"]
        calls.append(
            Call(
                tool=operation["subject"] or "",
                arguments=arguments.get(seq, {}),
                error=operation["outcome"] != "ok",
                server_ms=None if server_us is None else server_us / 1000,
            )
        )
    return calls

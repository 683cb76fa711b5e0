"""Start mcpreel, wait until it serves clients, and end it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from mcpreel.binary import find_program

START_LIMIT = 30.0  # seconds until mcpreel listens; a server that it starts for 'record' may be slow
STOP_LIMIT = 10.0  # seconds until it has ended after SIGINT: it stops its own server within 3


class McpreelError(RuntimeError):
    """mcpreel could not do what it was asked for. The message is its own."""


def words_of(server: str | Sequence[str]) -> list[str]:
    """The words of a server's command line."""
    try:
        return shlex.split(server) if isinstance(server, str) else [str(word) for word in server]
    except ValueError as error:
        raise McpreelError(f"mcpreel: the command {server!r} cannot be split into words: {error}") from None


def error_text(output: str) -> str:
    """The message in what mcpreel --json writes to standard error; the text as it is if that is no JSON."""
    try:
        return str(json.loads(output)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return output.strip()


def run(arguments: Sequence[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run mcpreel to its end, with `env` added to the environment. The caller judges output and exit code."""
    return subprocess.run(
        [find_program(), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(env or {})},
        check=False,
    )


_PIPES: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()  # to programs that wait for the end of this process


def _end_with_this_process(program: subprocess.Popen[bytes]) -> None:
    """Close the pipe to a program in forked children: one that lives longer would keep the program running."""
    if program.stdin is not None:
        _PIPES.add(program.stdin)


def _close_pipes() -> None:
    for pipe in list(_PIPES):
        pipe.close()


os.register_at_fork(after_in_child=_close_pipes)


class ScratchFolder:
    """A temporary folder for files with secrets. Only this user can read it.

    It is removed also if this process is killed: by a shell that waits for the end of a pipe, or for a
    line that says that it is not needed any more.
    """

    # A program that ends, too, may make a file in it meanwhile: then rm fails.
    _GUARD = 'read -r done || for try in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$1" && break; sleep 1; done'

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="mcpreel-"))
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", self._GUARD, "sh", str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # Ctrl-C is not for it
            bufsize=0,  # a buffer has a lock, which another thread may hold during a fork
        )
        _end_with_this_process(self._guard)

    def keep(self) -> None:
        """Leave the folder to the caller."""
        if self._guard.stdin is not None and not self._guard.stdin.closed:  # as it is in a forked child
            self._guard.communicate(b"\n")

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.keep()


class Listener:
    """A running 'mcpreel … --listen' on a free port of this machine. It ends with this process, also if that is killed.

    `command` is without the options that this class adds behind the first word.
    """

    def __init__(self, command: Sequence[str], env: dict[str, str] | None = None) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, closed by close()
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(find_program(), command[0], "--listen", "127.0.0.1:0"),
                    *("--ready-fd", str(writing), "--end-with-stdin", *command[1:]),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                env={**os.environ, **(env or {})},
                pass_fds=(writing,),
                bufsize=0,  # as in ScratchFolder
            )
            _end_with_this_process(self._process)
        except BaseException:
            os.close(reading)
            self._log.close()
            raise
        finally:
            os.close(writing)
        self.url = self._wait_for_address(reading)

    def _wait_for_address(self, reading: int) -> str:
        text = b""
        end = time.monotonic() + START_LIMIT
        try:
            while not text.endswith(b"\n"):
                ready, _, _ = select.select([reading], [], [], max(0.0, end - time.monotonic()))
                piece = os.read(reading, 4096) if ready else b""
                if not piece:
                    break
                text += piece
        finally:
            os.close(reading)
        if text.endswith(b"\n"):
            return text.decode().strip()
        code = self.stop()
        reason = self.messages().strip() or "it said nothing"
        self.close()
        raise McpreelError(f"mcpreel did not start (exit code {code}): {reason}")

    def messages(self) -> str:
        """Return its standard error so far."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def stop(self) -> int | None:
        """End it and return its exit code. Further calls return the same."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return self._process.returncode

    def close(self) -> None:
        self.stop()
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(OSError):
            self._log.close()

"""Record calls that Python code makes: a client behind 'mcpreel record'."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from mcpreel.client import McpClient
from mcpreel.process import Listener, McpreelError, words_of


class RecordSession:
    """`async with RecordSession(target="http://localhost:8000", output="golden.json") as client: …`

    The name of `output` selects the format; `.json` is a cassette. The file is written when the block
    ends, and it is left as it was if the server answered nothing. `command` starts a stdio server in
    place of `target`.
    """

    def __init__(
        self,
        target: str | None = None,
        output: str | os.PathLike[str] = "recording.json",
        *,
        command: str | Sequence[str] = (),
        redact_server_url: bool = True,
        redact_env: Sequence[str] = (),
        redact_patterns: Sequence[str] = (),
        verbose: bool = False,
        options: Sequence[str] = (),
    ) -> None:
        if bool(target) == bool(command):
            raise ValueError("RecordSession needs a target or a command, and not both")
        self._output = Path(output)
        self._arguments = ["--target", target] if target else []
        self._arguments += [] if redact_server_url else ["--no-redact-server-url"]
        self._arguments += [part for name in redact_env for part in ("--redact-env", name)]
        self._arguments += [part for pattern in redact_patterns for part in ("--redact-patterns", pattern)]
        self._arguments += ["--verbose"] if verbose else []
        self._arguments += [*options, *(["--", *words_of(command)] if command else [])]
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._listener: Listener | None = None
        self._client: McpClient | None = None

    async def __aenter__(self) -> McpClient:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix=".mcpreel-", dir=self._output.parent)
        try:
            self._listener = Listener(["record", "-o", str(self._made()), *self._arguments])
            self._client = McpClient(self._listener.url)
            response = await self._client.initialize()
            if not response or "result" not in response:
                raise McpreelError(f"the server did not answer initialize: {self._listener.messages().strip()}")
        except BaseException:
            self._stop()
            self._folder.cleanup()
            raise
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is None or self._folder is None:
            return
        with self._folder:
            await self._client.close()
            code, messages = self._stop()
            if self._made().exists():
                os.replace(self._made(), self._output)
            if code and kind is None:
                raise McpreelError(f"mcpreel record ended with {code}: {messages.strip()}")

    def _made(self) -> Path:
        """The file that the recorder writes. Its name selects the format, as that of the output does."""
        if self._folder is None:
            raise RuntimeError("the session has not begun")
        return Path(self._folder.name) / self._output.name

    def _stop(self) -> tuple[int | None, str]:
        """(exit code, messages) of the recorder."""
        if self._listener is None:
            return None, ""
        code = self._listener.stop()
        messages = self._listener.messages()
        self._listener.close()
        self._listener = None
        return code, messages

"""Record calls that Python code makes: a client behind 'mcpreel record'."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType

from mcpreel.client import McpClient
from mcpreel.process import Listener, McpreelError


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
        command: Sequence[str] = (),
        redact_server_url: bool = True,
        redact_env: Sequence[str] = (),
        redact_patterns: Sequence[str] = (),
        verbose: bool = False,
        options: Sequence[str] = (),
    ) -> None:
        if bool(target) == bool(command):
            raise ValueError("RecordSession needs a target or a command, and not both")
        self._arguments = ["record", "-o", os.fspath(output), "--force"]
        self._arguments += ["--target", target] if target else []
        self._arguments += [] if redact_server_url else ["--no-redact-server-url"]
        self._arguments += [part for name in redact_env for part in ("--redact-env", name)]
        self._arguments += [part for pattern in redact_patterns for part in ("--redact-patterns", pattern)]
        self._arguments += ["--verbose"] if verbose else []
        self._arguments += options
        self._arguments += ["--", *command] if command else []
        self._listener: Listener | None = None
        self._client: McpClient | None = None

    async def __aenter__(self) -> McpClient:
        self._listener = Listener(self._arguments)
        self._client = McpClient(self._listener.url)
        try:
            await self._client.initialize()
        except BaseException:
            self._listener.close()
            raise
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is None or self._listener is None:
            return
        await self._client.close()
        code = self._listener.stop()
        messages = self._listener.messages()
        self._listener.close()
        if code and kind is None:
            raise McpreelError(f"mcpreel record ended with {code}: {messages.strip()}")

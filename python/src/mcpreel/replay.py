"""Serve a recording as an MCP server over HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Union

from mcpreel.process import Listener, ScratchFolder

Path = Union[str, "os.PathLike[str]"]


class ReplayServer:
    """A context manager: `with ReplayServer("session.jsonl") as server: connect(server.url)`.

    The recording may have any format that mcpreel reads. `options` are those of 'mcpreel replay'.
    After the block, `report` has the object that 'mcpreel replay --report' writes, and `exit_code`
    is 1 if requests had no match.
    """

    def __init__(
        self,
        recording: Path,
        *,
        options: Sequence[str] = (),
        server: Sequence[str] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        self._recording = os.fspath(recording)
        self._options = list(options)
        self._server = list(server)
        self._env = env
        self._listener: Listener | None = None
        self._folder: ScratchFolder | None = None
        self.report: dict[str, Any] = {}
        self.exit_code: int | None = None
        self.messages = ""

    @property
    def url(self) -> str:
        if self._listener is None:
            raise RuntimeError("the server is not running: use it in a 'with' block")
        return self._listener.url

    def start(self) -> ReplayServer:
        if self._listener is not None:
            raise RuntimeError("the server is running already")
        self._folder = ScratchFolder()
        report = self._folder.path / "report.json"
        try:
            self._listener = Listener(
                ["replay", "--report", f"json={report}", *self._options, self._recording, *self._server],
                self._env,
            )
        except BaseException:
            self._folder.remove()
            raise
        return self

    def stop(self) -> None:
        if self._listener is None or self._folder is None:
            return
        self.exit_code = self._listener.stop()
        self.messages = self._listener.messages()
        self._listener.close()
        self._listener = None
        report = self._folder.path / "report.json"
        if report.exists():
            self.report = json.loads(report.read_text(encoding="utf-8"))
        self._folder.remove()

    def __enter__(self) -> ReplayServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

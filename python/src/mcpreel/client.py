"""A small MCP client over Streamable HTTP, with the methods of mcp-recorder's McpClient."""

from __future__ import annotations

import asyncio
import http.client
import json
import urllib.parse
from collections.abc import Iterator
from types import TracebackType
from typing import Any

PROTOCOL_VERSION = "2025-11-25"
METHOD_NOT_FOUND = -32601


class McpError(RuntimeError):
    """The server did not answer with an MCP message."""


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The JSON messages of an SSE stream, each when it is complete."""
    data: list[str] = []
    for raw in response:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line:
            text = "\n".join(data)
            data = []
            if text.strip():
                yield json.loads(text)


class McpClient:
    """Every method returns the whole JSON-RPC response, as a dict. Close it, or use it with 'async with'."""

    def __init__(self, base_url: str, *, timeout: float = 120.0) -> None:
        self._url = urllib.parse.urlsplit(base_url)
        self._timeout = timeout
        self._session: str | None = None
        self._version: str | None = None
        self._last_id = 0

    async def __aenter__(self) -> McpClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the session at the server, if there is one."""
        if self._session is not None:
            await asyncio.to_thread(self._delete)
            self._session = None

    async def initialize(self) -> dict[str, Any] | None:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "mcpreel", "version": "1"},
        }
        response = await self.request("initialize", params)
        if response and "result" in response:
            self._version = response["result"].get("protocolVersion")
        await self.notify("notifications/initialized")
        return response

    async def list_tools(self) -> dict[str, Any] | None:
        return await self.request("tools/list", {})

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any] | None:
        return await self.request("tools/call", {"name": name, "arguments": arguments or {}})

    async def list_prompts(self) -> dict[str, Any] | None:
        return await self.request("prompts/list", {})

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any] | None:
        return await self.request("prompts/get", {"name": name, **({"arguments": arguments} if arguments else {})})

    async def list_resources(self) -> dict[str, Any] | None:
        return await self.request("resources/list", {})

    async def read_resource(self, uri: str) -> dict[str, Any] | None:
        return await self.request("resources/read", {"uri": uri})

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """Send any request; return its response, or None if the server closed the stream before it."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        return await asyncio.to_thread(self._exchange, message)

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        await asyncio.to_thread(self._exchange, message)

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.netloc, timeout=self._timeout)

    def _path(self) -> str:
        path = self._url.path if self._url.path not in ("", "/") else "/mcp"
        return f"{path}?{self._url.query}" if self._url.query else path

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        if self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _delete(self) -> None:
        connection = self._connect()
        try:
            connection.request("DELETE", self._path(), headers=self._headers())
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass  # the server has gone, and its session with it
        finally:
            connection.close()

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any] | None:
        connection = self._connect()
        try:
            connection.request("POST", self._path(), json.dumps(message).encode(), self._headers())
            response = connection.getresponse()
            self._session = response.getheader("Mcp-Session-Id") or self._session
            if "text/event-stream" in (response.getheader("Content-Type") or ""):
                return self._wait_for_response(response, message.get("id"))
            body = response.read()
            if not body.strip():
                if response.status >= 400:
                    raise McpError(f"the server answered HTTP {response.status} to {message['method']}")
                return None
            try:
                parsed = json.loads(body)
            except ValueError as error:
                raise McpError(
                    f"the server answered HTTP {response.status} to {message['method']}, with no JSON: {body[:200]!r}"
                ) from error
            return parsed if isinstance(parsed, dict) else None
        finally:
            connection.close()

    def _wait_for_response(self, response: http.client.HTTPResponse, own_id: Any) -> dict[str, Any] | None:
        for message in _events(response):
            if "method" not in message and message.get("id") == own_id:
                return message
            if "method" in message and "id" in message:
                self._refuse(message)
        return None

    def _refuse(self, request: dict[str, Any]) -> None:
        """This client has no sampling, elicitation or roots. A server that asks anyway must not wait."""
        error = {"code": METHOD_NOT_FOUND, "message": f"{request['method']} is not supported by this client"}
        result: dict[str, Any] | None = {} if request["method"] == "ping" else None
        reply = {"jsonrpc": "2.0", "id": request["id"], **({"error": error} if result is None else {"result": result})}
        connection = self._connect()
        try:
            connection.request("POST", self._path(), json.dumps(reply).encode(), self._headers())
            connection.getresponse().read()
        finally:
            connection.close()

#!/usr/bin/env python3
"""An MCP server on FastMCP, for the session 'common'.

    DIR/bin/python tests/peers/fastmcp-server.py          on stdio (DIR from tools/peers fastmcp)
    DIR/bin/python tests/peers/fastmcp-server.py --http   on a free port of the loopback interface; the first
                                                          line on stdout is the URL
    DIR/bin/python tests/peers/fastmcp-server.py --sse    the same over HTTP+SSE

Everything it says depends only on what it is asked.
"""
import asyncio
import socket
import sys

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

server = FastMCP("mcpreel-fastmcp-server", version="1.0.0",
                 instructions="Ask me anything twice: the answer is the same.")


class Weather(BaseModel):
    city: str
    celsius: float
    words: list[str]


@server.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@server.tool
def weather(city: str) -> Weather:
    """Structured output with a schema."""
    return Weather(city=city, celsius=-1.5, words=["clear", "cold"])


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count with progress."""
    for i in range(1, to + 1):
        await ctx.report_progress(i, to, f"step {i} of {to}")
    return f"counted to {to}"


@server.tool
async def slow(ms: int) -> str:
    """Answer late, so that a faster call overtakes it."""
    await asyncio.sleep(ms / 1000)
    return f"waited {ms} ms"


@server.tool
def fail(why: str) -> str:
    """A tool error: an ordinary result with isError."""
    raise ToolError(why)


@server.resource("memo://today", mime_type="text/plain")
def memo() -> str:
    """A short text."""
    return "buy tape\n"


@server.resource("memo://letters/{name}", mime_type="text/plain")
def letter(name: str) -> str:
    """A template."""
    return f"Dear {name},\n\tthis is \"quoted\" \\ and \u0001 is a control character.\n"


@server.prompt
def greet(name: str) -> str:
    """A prompt with one required argument."""
    return f"Greet {name} in a warm tone."


if __name__ == "__main__":
    if sys.argv[1:2] in (["--http"], ["--sse"]):
        sse = sys.argv[1] == "--sse"
        listener = socket.create_server(("127.0.0.1", 0))
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if sse else 'mcp'}", flush=True)
        app = server.http_app(transport="sse") if sse else server.http_app()
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
    else:
        server.run("stdio", show_banner=False, log_level="ERROR")

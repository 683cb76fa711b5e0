#!/usr/bin/env python3
"""An MCP server on the official Python SDK: the features that server-everything does not have, and a second implementation.

    DIR/bin/python tests/peers/py-server.py               on stdio (DIR from tools/peers python)
    DIR/bin/python tests/peers/py-server.py --http PORT   on http://127.0.0.1:PORT/mcp; 0 is any free one
    DIR/bin/python tests/peers/py-server.py --sse PORT    on http://127.0.0.1:PORT/sse, over HTTP+SSE

Over HTTP the first line on stdout is the URL. --host NAME: the name of the proxy in front of it.
--token TOKEN: a client that does not send it as a bearer token gets 401, and nothing else.

Speaks both protocol generations. Its messages depend only on the requests: it uses no clock, no
randomness and no environment.
"""
import argparse
import asyncio
import socket
import sys
import warnings
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, Elicit, Image, ListRoots, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    Completion,
    CreateMessageResult,
    ListRootsResult,
    PromptReference,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, ConfigDict

# The features of the stateful protocol are deprecated, but real servers use them and so does this one.
warnings.simplefilter("ignore", MCPDeprecationWarning)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)

server = MCPServer(
    "mcpreel-py-server",
    title="A Python peer",
    version="1.0.0",
    instructions="Ask me anything twice: the answer is the same.\nZwei Zeilen, naïve façade, 日本語.",
    log_level="WARNING",
)


class Weather(BaseModel):
    city: str
    celsius: float
    words: list[str]


class Choice(BaseModel):
    # The TypeScript SDK drops a schema's title; without one both SDKs see the same question.
    model_config = ConfigDict(json_schema_extra=lambda schema: schema.pop("title"))

    colour: str
    sure: bool


@server.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


@server.tool()
def weather(city: str) -> Weather:
    """Structured output with a schema."""
    return Weather(city=city, celsius=-1.5, words=["clear", "cold"])


@server.tool()
def picture() -> Image:
    """One red pixel."""
    return Image(data=PNG, format="png")


@server.tool()
def big(kib: int) -> str:
    """A text of many KiB: one line on the wire that no pipe holds at once."""
    return "0123456789abcde\n" * 64 * kib


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Count with progress and a log message at each step."""
    for i in range(1, to + 1):
        await ctx.report_progress(i, to, f"step {i} of {to}")
        await ctx.info({"step": i, "of": to}, logger_name="counter")
        await asyncio.sleep(0.01)
    return f"counted to {to}"


@server.tool()
async def slow(ms: int, ctx: Context) -> str:
    """Answer late, so that a faster call overtakes it."""
    await asyncio.sleep(ms / 1000)
    return f"waited {ms} ms"


@server.tool()
async def wait_for_cancel(ctx: Context) -> str:
    """Report that it began, then never end by itself."""
    await ctx.report_progress(0, None, "waiting to be cancelled")
    await asyncio.Event().wait()
    return "unreachable"


@server.tool()
def fail(why: str) -> str:
    """A tool error: an ordinary result with isError."""
    raise ToolError(why)


@server.tool()
def refuse(why: str) -> str:
    """A protocol error with a code and data of its own."""
    raise MCPError(code=-32050, message=why, data={"why": why, "codes": [1, 2.5, None]})


@server.tool()
def grumble(text: str) -> str:
    """Write to stderr, which carries no protocol."""
    print(text, file=sys.stderr, flush=True)
    return "said it on stderr"


@server.tool()
async def announce(ctx: Context) -> str:
    """Notify the client that the lists changed and one resource was updated."""
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_prompt_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_resource_updated("memo://today")
    return "announced"


def ask_model(question: str) -> Sample:
    text = TextContent(type="text", text=question)
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=40, temperature=0.5)


def ask_user(question: str) -> Elicit[Choice]:
    return Elicit(question, Choice)


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
def sample(question: str, said: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Send a sampling request."""
    return f"{said.model} said: {said.content.text}"


@server.tool()
def elicit(question: str, choice: Annotated[Choice, Resolve(ask_user)]) -> str:
    """Send an elicitation request."""
    return f"the user chose {choice.colour}{'' if choice.sure else ', perhaps'}"


@server.tool()
def roots(listed: Annotated[ListRootsResult, Resolve(ask_roots)]) -> list[str]:
    """Request the client's roots."""
    return [f"{root.name}: {root.uri}" for root in listed.roots]


@server.resource("memo://today", mime_type="text/plain")
def memo() -> str:
    """A short text."""
    return "buy tape\n"


@server.resource("memo://pixel", mime_type="image/png")
def pixel() -> bytes:
    """A few bytes that are no text."""
    return PNG


@server.resource("memo://letters/{name}", mime_type="text/plain")
def letter(name: str) -> str:
    """A template."""
    return f"Dear {name},\n\tthis is \"quoted\" \\ and \u0001 is a control character, \U0001f39e is a reel.\n"


@server.prompt()
def greet(name: str, tone: str = "warm") -> str:
    """A prompt with one required argument."""
    return f"Greet {name} in a {tone} tone."


@server.completion()
async def complete(ref, argument, context):
    if not isinstance(ref, PromptReference) or argument.name != "tone":
        return None
    values = [tone for tone in ("warm", "wary", "cold") if tone.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--sse", type=int, metavar="PORT")
    parser.add_argument("--host", metavar="NAME")
    parser.add_argument("--token")
    return parser.parse_args()


def guarded(app, token):
    """As a gateway in front of a server does it, which knows keys and nothing else."""
    async def serve(scope, receive, send):
        if scope["type"] != "http" or (b"authorization", f"Bearer {token}".encode()) in scope["headers"]:
            return await app(scope, receive, send)
        await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
        await send({"type": "http.response.body"})

    return serve


def listen(args):
    sse = args.sse is not None
    # Proxies may leave the port out of Host.
    names = ["127.0.0.1", "127.0.0.1:*", *([args.host] if args.host else [])]
    hosts = TransportSecuritySettings(allowed_hosts=names)
    listener = socket.create_server(("127.0.0.1", args.sse if sse else args.http))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if sse else 'mcp'}", flush=True)
    app = (server.sse_app if sse else server.streamable_http_app)(transport_security=hosts)
    if args.token:
        app = guarded(app, args.token)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    given = arguments()
    if given.http is not None or given.sse is not None:
        listen(given)
    else:
        server.run("stdio")

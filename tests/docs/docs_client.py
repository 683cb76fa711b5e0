#!/usr/bin/env python3
"""The client 'my-client' of the examples in the docs, on the official Python SDK.

    my-client [--echo TEXT] URL           over Streamable HTTP, or over HTTP+SSE where the path ends in /sse
    my-client [--echo TEXT] COMMAND…      starts COMMAND, and connects to it on stdio

Prints the names of the server's tools, or the result of its tool 'echo' for TEXT.
"""
import argparse
import asyncio
import os
import sys

from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


def connected(where, env):
    if not where[0].startswith("http"):
        return stdio_client(StdioServerParameters(command=where[0], args=where[1:], env=env))
    return sse_client(where[0]) if where[0].endswith("/sse") else streamable_http_client(where[0])


async def run_session(where, env, echo=None):
    async with connected(where, env) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        if echo:
            result = await session.call_tool("echo", {"text": echo})
            return [content.text for content in result.content]
        return [tool.name for tool in (await session.list_tools()).tools]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--echo", metavar="TEXT")
    parser.add_argument("where", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    try:
        print(*asyncio.run(run_session(args.where, dict(os.environ), args.echo)))
    except Exception as trouble:
        while isinstance(trouble, BaseExceptionGroup):
            trouble = trouble.exceptions[0]
        sys.exit(f"my-client: {trouble}")


if __name__ == "__main__":
    main()

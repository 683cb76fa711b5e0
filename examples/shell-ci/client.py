#!/usr/bin/env python3
"""Print the number of words and the beginning of a file, with the help of an MCP server.

client.py FILE SERVER-COMMAND…
"""

import json
import pathlib
import subprocess
import sys


class Client:
    """One session with a server on stdio."""

    def __init__(self, command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0
        client = {"name": "words-client", "version": "1.0.0"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def request(self, method, params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id:
                if "error" in message:
                    sys.exit(f"client.py: {message['error']['message']}")
                return message["result"]
        sys.exit("client.py: the server ended without a response")

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result["isError"]:
            sys.exit(f"client.py: {text}")
        return text

    def close(self):
        """End the session. The exit code is that of the server."""
        self.server.stdin.close()
        return self.server.wait()


def main():
    file, *command = sys.argv[1:]
    text = pathlib.Path(file).read_text()
    client = Client(command)
    print(f"{file}: {client.call('count_words', text=text)} words: {client.call('shorten', text=text, words=5)}")
    sys.exit(client.close())


main()

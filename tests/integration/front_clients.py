"""Clients of 'mcpreel record --listen … -- CMD': how they begin, what they ask, and what is to be seen of it afterwards."""
import json
import pathlib
import time

from http_peers import WAIT, call, initialize, whole_lines_of


def recorded(program, code=0):
    assert program.stop() == code, program.err
    return whole_lines_of(program.file)


def begin(program, version="2025-11-25"):
    """A client in a session of its own: the connection, and what it says with each request."""
    client = program.client()
    answer = client.post(initialize(version=version))
    assert answer.status == 200, answer.body
    session = [("Mcp-Session-Id", answer.get("mcp-session-id")), ("MCP-Protocol-Version", version)]
    assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session).status == 202
    return client, session


def tool(request_id, tool_name, **arguments):
    return call(request_id, "tools/call", name=tool_name, arguments=arguments)


def modern(request_id, method, **params):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = call(request_id, method, **params, _meta=meta)
    name = [("Mcp-Name", params["name"])] if "name" in params else []
    return message, [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), *name]


def birth(pid):
    """When it began, which tells it from another with its number; None if it has ended."""
    try:
        state, *rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else rest[18]


def is_alive(pid):
    return birth(pid) is not None


def wait_dead(pid, born=None):
    """`born`: when it began, if others may have come to its number since."""
    def lives():
        return born in (None, birth(pid)) and is_alive(pid)

    deadline = time.monotonic() + WAIT
    while lives() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not lives()


def wait_text(program, text):
    """Until it is in the recording."""
    deadline = time.monotonic() + WAIT
    while text not in program.file.read_text().replace('": "', '":"') and time.monotonic() < deadline:
        time.sleep(0.02)
    assert text in program.file.read_text().replace('": "', '":"')


def events(client):
    """The data of all events of a stream that ends."""
    body = client.answer().body.decode()
    return [json.loads(line[len("data: "):]) for line in body.splitlines() if line.startswith("data: ") and line[len("data: "):]]

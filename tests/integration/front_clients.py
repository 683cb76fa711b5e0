"""Clients of 'mcpreel record --listen … -- CMD': their handshake, their requests, and the records of them."""
import json
import pathlib
import time

from http_peers import WAIT, call, initialize, valid_lines_of


def recorded(program, code=0):
    assert program.stop() == code, program.err
    return valid_lines_of(program.file)


def open_session(program, version="2025-11-25"):
    """A client in its own session: the connection, and the headers of each request."""
    client = program.client()
    response = client.post(initialize(version=version))
    assert response.status == 200, response.body
    session = [("Mcp-Session-Id", response.get("mcp-session-id")), ("MCP-Protocol-Version", version)]
    assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session).status == 202
    return client, session


def tool(request_id, tool_name, **arguments):
    return call(request_id, "tools/call", name=tool_name, arguments=arguments)


def stateless_request(request_id, method, **params):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = call(request_id, method, **params, _meta=meta)
    name = [("Mcp-Name", params["name"])] if "name" in params else []
    return message, [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), *name]


def start_time(pid):
    """Its start time, which distinguishes it from another one with its number; None if it has ended."""
    try:
        state, *rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else rest[18]


def is_alive(pid):
    return start_time(pid) is not None


def wait_for_exit(pid, started_at=None):
    """`started_at`: when it began, if others may have come to its number since."""
    def is_running():
        return started_at in (None, start_time(pid)) and is_alive(pid)

    deadline = time.monotonic() + WAIT
    while is_running() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running()


def wait_text(program, text):
    """Until it is in the recording."""
    deadline = time.monotonic() + WAIT
    while text not in program.file.read_text().replace('": "', '":"') and time.monotonic() < deadline:
        time.sleep(0.02)
    assert text in program.file.read_text().replace('": "', '":"')


def events(client):
    """The data of all events of a stream that ends."""
    body = client.read_response().body.decode()
    return [json.loads(line[len("data: "):]) for line in body.splitlines() if line.startswith("data: ") and line[len("data: "):]]

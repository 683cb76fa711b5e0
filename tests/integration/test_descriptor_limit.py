"""Without descriptors, new clients get an error, the program does not spin, connected clients are not
affected, and it recovers."""
import os
import pathlib
import resource
import time

import pytest

import stream_load
from http_peers import WAIT, Program, Upstream
from test_concurrent_streams import recording_with_a_server_request

LIMIT = 64
CLIENTS = 70


def limited(limit, *words):
    return Program(["sh", "-c", f'ulimit -n {limit} && exec "$0" "$@"', *words])


def processor(pid):
    """Seconds that it has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Streams:
    """A server whose streams stay open, and say something when they are told to."""

    def __init__(self):
        self.open = []
        self.server = Upstream(self.serve)

    def serve(self, conn):
        conn.sock.settimeout(None)
        while conn.request():
            self.open.append(conn)
            conn.sse()
            conn.event(stream_load.log_message("x", 0))


@pytest.fixture
def streams():
    s = Streams()
    yield s
    s.server.close()


def recorder(mcpreel, tmp_path, streams):
    p = limited(LIMIT, mcpreel, "record", "-o", tmp_path / "r.jsonl", "--listen", "127.0.0.1:0", "--url", streams.server.url)
    p.open_stream = lambda client: client.send_request(method="GET")
    return p


@pytest.fixture(params=["record", "replay"])
def limited_program(request, mcpreel, tmp_path, streams):
    """A program with room for few, and what a client of it asks for: a stream that stays open."""
    if request.param == "record":
        p = recorder(mcpreel, tmp_path, streams)
    else:
        recording_with_a_server_request(tmp_path / "r.jsonl")
        p = limited(LIMIT, mcpreel, "replay", "--on-exhausted", "cycle", "--listen", "127.0.0.1:0", tmp_path / "r.jsonl")
        session = p.client().post(stream_load.INITIALIZE).get("mcp-session-id")
        headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", stream_load.VERSION)]
        p.open_stream = lambda client: client.send_request(stream_load.call("x"), headers=headers)
    yield p
    p.close()


def status_of(client):
    status = client.head().status
    if status == 503:
        assert client.rest()
        client.close()
    return status


def connect_many(program, count):
    """So many at once, and the status of each; those who are in stay."""
    clients = []
    for _ in range(count):
        clients.append(program.client())
        program.open_stream(clients[-1])
    return [(client, status_of(client)) for client in clients]


def test_clients_over_the_descriptor_limit_get_an_error(limited_program):
    came = connect_many(limited_program, CLIENTS)
    inside = [client for client, status in came if status == 200]
    assert {status for _, status in came} == {200, 503}
    assert len(inside) >= LIMIT // 4

    # Other clients keep connecting, and each gets only its own turn.
    waiting = [limited_program.client() for _ in range(20)]
    before = processor(limited_program.process.pid)
    time.sleep(0.5)
    assert processor(limited_program.process.pid) - before < 0.25
    for client in waiting:
        client.close()

    # A client that closes makes room.
    for client in inside:
        client.close()
    deadline = time.monotonic() + WAIT
    while True:
        client = limited_program.client()
        limited_program.open_stream(client)
        status = client.head().status
        client.close()
        if status == 200:
            break
        assert time.monotonic() < deadline
    assert limited_program.stop() == 0, limited_program.err
    assert limited_program.err.count("the limit of open files is reached") == 1


def test_connected_clients_are_not_affected(mcpreel, tmp_path, streams):
    program = recorder(mcpreel, tmp_path, streams)
    try:
        inside = program.client()
        program.open_stream(inside)
        assert inside.head().status == 200
        assert "x 0" in inside.event()
        first = streams.open[0]
        others = connect_many(program, CLIENTS)
        for n in range(1, 20):
            first.event(stream_load.log_message("x", n))
            assert f"x {n}" in inside.event()
        assert sum(status == 503 for _, status in others) > CLIENTS / 2
    finally:
        program.close()


def test_without_a_descriptor_for_the_server_the_client_gets_an_error(mcpreel, tmp_path, streams):
    program = recorder(mcpreel, tmp_path, streams)
    pid = program.process.pid
    try:
        client, other = program.client(), program.client()
        other.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        program.open_stream(client)  # so that both were let in
        assert client.head().status == 200
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, before[1]))
        other.send(b"\r\n")
        response = other.read_response()
        assert response.status == 503
        assert response.json["error"]["message"].endswith("no file descriptor is free")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        program.open_stream(other)
        assert other.head().status == 200
    finally:
        program.close()


IDLE = 300  # connections that never send a byte


def test_silent_connections_do_not_block_others(limited_program):
    """A client that sends a request is served or gets 503, and one that has begun to send is not closed in favour of
    silent ones."""
    begun = limited_program.client()
    begun.send(b"OPTIONS /mcp HT")
    idle = [limited_program.client() for _ in range(IDLE)]
    try:
        client = limited_program.client()
        limited_program.open_stream(client)
        assert client.head().status in (200, 503)
        begun.send(b"TP/1.1\r\nHost: localhost\r\n\r\n")
        assert begun.head().status
        deadline = time.monotonic() + WAIT
        while True:
            served = limited_program.client()
            limited_program.open_stream(served)
            if status_of(served) == 200:
                break
            assert time.monotonic() < deadline
    finally:
        for one in idle:
            one.close()
    assert limited_program.stop() == 0, limited_program.err

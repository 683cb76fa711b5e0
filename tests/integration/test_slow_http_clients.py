"""Clients that are slow on purpose, among others.

Unit tests check the time limits without waiting, 'make endurance' with waiting.
"""
import contextlib
import json

import pytest

import stream_load
from http_peers import compose
from slow_clients import SLOW, program, recorder, replayer, slow_reader
from test_concurrent_streams import OPTIMISED, memory


@pytest.mark.parametrize("start, kinds", [(recorder, SLOW), (replayer, SLOW[:2])], ids=["record", "replay"])
def test_fast_clients_are_served_among_many_slow_ones(mcpreel, tmp_path, start, kinds):
    with start(mcpreel, tmp_path / "r.jsonl") as program:
        slow = [kind(program) for kind in kinds for _ in range(10 if kind is slow_reader else 100)]
        client = program.client()
        for _ in range(20):
            assert client.post(stream_load.INITIALIZE).status == 200
            slow[0].send(b"X: y\r\n")
        for s in slow:
            s.close()
        assert client.post(stream_load.INITIALIZE).status == 200
        client.close()
        assert program.stop() == 0, program.err


def test_a_body_sent_in_pieces_is_one_body(mcpreel, tmp_path):
    with recorder(mcpreel, tmp_path / "r.jsonl") as program:
        client, body = program.client(), stream_load.text(stream_load.INITIALIZE)
        request = compose("POST /mcp HTTP/1.1", [("Host", "localhost"), ("Content-Type", "application/json")], body)
        for n in range(len(request)):
            client.send(request[n:n + 1])
        assert client.read_response().status == 200


def test_a_client_that_sends_requests_and_reads_nothing_has_bounded_cost(tmp_path):
    """Gigabytes of responses, all requested before any is read."""
    path, large = tmp_path / "r.jsonl", "x" * 100_000
    messages = [("c2s", {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}),
                ("s2c", {"jsonrpc": "2.0", "id": 1, "result": {"resources": [], "x": large}})]
    head = {"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "x", "thoughtjack_version": "0.3.0"}
    rest = [{"type": "message", "seq": n + 1, "ts": "2026-11-15T21:00:00.000Z", "dir": d, "msg": m} for n, (d, m) in enumerate(messages)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *rest]))
    with program(OPTIMISED, "-q", "replay", "--listen", "127.0.0.1:0", path) as p:
        client = p.client()
        session = client.post(stream_load.INITIALIZE).get("mcp-session-id")
        request = compose("POST /mcp HTTP/1.1", [("Host", "localhost"), ("Content-Type", "application/json"), ("Accept", "application/json"),
                                                 ("Mcp-Session-Id", session), ("MCP-Protocol-Version", stream_load.VERSION)],
                          stream_load.text(messages[0][1]))
        with contextlib.suppress(OSError):  # we are given up
            for _ in range(1000):
                client.send(request * 100)
                assert memory(p.process.pid) < 32 << 10
        assert p.client().post(stream_load.INITIALIZE).status == 200

"""Clients that are slow on purpose, among those who are not.

How long the slow ones have is tested without waiting, on the modules that know it, and with waiting in 'make endurance'.
"""
import contextlib
import json

import pytest

import swarm
from http_peers import compose
from slow_clients import SLOW, program, recorder, replayer, slow_reader
from test_swarm import OPTIMISED, memory


@pytest.mark.parametrize("start, kinds", [(recorder, SLOW), (replayer, SLOW[:2])], ids=["record", "replay"])
def test_who_is_not_slow_is_served_among_many_who_are(mcpreel, tmp_path, start, kinds):
    with start(mcpreel, tmp_path / "r.jsonl") as program:
        slow = [kind(program) for kind in kinds for _ in range(10 if kind is slow_reader else 100)]
        client = program.client()
        for _ in range(20):
            assert client.post(swarm.HELLO).status == 200
            slow[0].send(b"X: y\r\n")
        for s in slow:
            s.close()
        assert client.post(swarm.HELLO).status == 200
        client.close()
        assert program.stop() == 0, program.err


def test_a_body_piece_by_piece_is_one_all_the_same(mcpreel, tmp_path):
    with recorder(mcpreel, tmp_path / "r.jsonl") as program:
        client, body = program.client(), swarm.text(swarm.HELLO)
        request = compose("POST /mcp HTTP/1.1", [("Host", "localhost"), ("Content-Type", "application/json")], body)
        for n in range(len(request)):
            client.send(request[n:n + 1])
        assert client.answer().status == 200


def test_who_asks_on_and_on_and_takes_nothing_costs_no_more_than_who_asks_once(tmp_path):
    """Gigabytes of answers, all asked for before any is taken."""
    path, large = tmp_path / "r.jsonl", "x" * 100_000
    messages = [("c2s", {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}),
                ("s2c", {"jsonrpc": "2.0", "id": 1, "result": {"resources": [], "x": large}})]
    head = {"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "x", "thoughtjack_version": "0.3.0"}
    rest = [{"type": "message", "seq": n + 1, "ts": "2026-11-15T21:00:00.000Z", "dir": d, "msg": m} for n, (d, m) in enumerate(messages)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *rest]))
    with program(OPTIMISED, "-q", "replay", "--listen", "127.0.0.1:0", path) as p:
        client = p.client()
        session = client.post(swarm.HELLO).get("mcp-session-id")
        request = compose("POST /mcp HTTP/1.1", [("Host", "localhost"), ("Content-Type", "application/json"), ("Accept", "application/json"),
                                                 ("Mcp-Session-Id", session), ("MCP-Protocol-Version", swarm.VERSION)],
                          swarm.text(messages[0][1]))
        with contextlib.suppress(OSError):  # we are given up
            for _ in range(1000):
                client.send(request * 100)
                assert memory(p.process.pid) < 32 << 10
        assert p.client().post(swarm.HELLO).status == 200

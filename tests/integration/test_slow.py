"""Clients that are slow on purpose, among those who are not.

How long the slow ones have is tested without waiting, on the modules that know it, and with waiting in 'make endurance'.
"""
import pytest

import swarm
from http_peers import compose
from slow_clients import SLOW, recorder, replayer, slow_reader


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

"""Thousands of clients that are slow on purpose: all others are served, and the slow ones time out."""
import pathlib
import selectors
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import stream_load  # noqa: E402
from slow_clients import SLOW, recorder, slow_body  # noqa: E402

# Seconds that each kind has, and how many of them there are.
KINDS = dict(zip(SLOW, [(10, 3000), (30, 100), (120, 20)]))
LATE = 60  # seconds by which a loaded machine may be late


def wait_for_ends(clients, deadline):
    """Until all of them were closed; what they got."""
    poll, open_, responses = selectors.DefaultSelector(), set(clients), []
    for client in clients:
        client.sock.setblocking(False)
        poll.register(client.sock, selectors.EVENT_READ, client)
    while open_:
        assert time.monotonic() < deadline, f"{len(open_)} are still there"
        for key, _ in poll.select(1):
            try:
                data = key.fileobj.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                poll.unregister(key.fileobj)
                open_.discard(key.data)
                responses.append(key.data.have)
            elif len(key.data.have) < 4096:
                key.data.have += data
    return responses


@pytest.mark.timeout(20 * 60)
def test_slow_clients_time_out_and_others_are_served(mcpreel, tmp_path, record_property):
    with recorder(mcpreel, tmp_path / "r.jsonl") as program:
        slow = {kind: [kind(program) for _ in range(count)] for kind, (_, count) in KINDS.items()}
        start = time.monotonic()
        requested, over, worst = [0], threading.Event(), [0.0]

        def ask():
            client = program.client()
            while not over.is_set():
                before = time.monotonic()
                assert client.post(stream_load.INITIALIZE).status == 200
                worst[0] = max(worst[0], time.monotonic() - before)
                requested[0] += 1
                time.sleep(0.05)

        honest = threading.Thread(target=ask)
        honest.start()
        try:
            heads, bodies, readers = SLOW
            responses = wait_for_ends(slow[heads], start + KINDS[heads][0] + LATE)
            assert {text[:13] for text in responses} == {b"HTTP/1.1 408 "}
            responses = wait_for_ends(slow[bodies], start + KINDS[bodies][0] + LATE)
            assert {text[:13] for text in responses} == {b"HTTP/1.1 408 "}
            assert honest.is_alive()
            while time.monotonic() < start + KINDS[readers][0] + LATE / 2:  # they read nothing, so they do not see it
                time.sleep(1)
            wait_for_ends(slow[readers], start + KINDS[readers][0] + 2 * LATE)
        finally:
            over.set()
            honest.join()
        assert requested[0] > 100
        record_property("shown", f"{requested[0]} requests among {sum(map(len, slow.values()))} slow clients, the longest {worst[0] * 1000:.0f} ms")
        assert program.stop() == 0, program.err


@pytest.mark.timeout(10 * 60)
def test_a_slow_body_within_the_limits_arrives(mcpreel, tmp_path):
    """Above a kilobyte each second it may take as long as it likes."""
    with recorder(mcpreel, tmp_path / "r.jsonl") as program:
        client = slow_body(program)
        for _ in range(45):
            time.sleep(1)
            client.send(b" " * 2048)
        client.send(b"}" + b" " * (100000 - 45 * 2048 - 2))
        assert client.read_response().status == 200

"""Clients on HTTP, servers on stdio: tens of thousands of sessions, one after the other."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from test_front_sessions import OPTIMISED, run_rounds, check_recording  # noqa: E402

MINUTE = 60


@pytest.mark.timeout(60 * MINUTE)
def test_many_sessions_in_sequence_leak_nothing(tmp_path, record_property):
    """The names of sessions are remembered as secrets, the latest 16,384 of them. After that all that comes with a new one is its number,
    for the latest 65,536."""
    rounds, warm, number = 6000, 4500, 256
    took = [kilobytes for kilobytes, _ in run_rounds(OPTIMISED, tmp_path / "r.jsonl", rounds)]
    check_recording(tmp_path / "r.jsonl", rounds)
    record_property("shown", f"front: {4 * rounds} sessions, RSS from {took[warm]} to {took[-1]} kB")
    assert (max(took[warm:]) - took[warm]) << 10 <= 4 * (rounds - warm) * number, took[warm::100]

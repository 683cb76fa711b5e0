"""Clients on HTTP, servers on stdio: tens of thousands of sessions, one after the other."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from test_front_crowd import OPTIMISED, come_and_go, check_crowd  # noqa: E402
from test_swarm import check_steady  # noqa: E402

MINUTE = 60


@pytest.mark.timeout(60 * MINUTE)
def test_sessions_come_and_go(tmp_path, record_property):
    """The names of sessions are remembered as secrets, the latest 16,384 of them: after that nothing grows."""
    rounds, warm = 6000, 4500
    took = come_and_go(OPTIMISED, tmp_path / "r.jsonl", rounds)
    check_crowd(tmp_path / "r.jsonl", rounds)
    record_property("shown", f"front: {4 * rounds} sessions, RSS from {took[warm][0]} to {took[-1][0]} kB")
    check_steady([(kilobytes, 0) for kilobytes, _ in took], warm)

"""As many streams at once as 20,000 descriptors allow, and thousands of them again and again."""
import pathlib
import resource
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from test_swarm import check_recording, record_streams, replay_streams, shown  # noqa: E402

PROXIED, REPLAYED = 9_500, 19_500
MINUTE = 60


def enough_descriptors():
    have = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if have != resource.RLIM_INFINITY and have < 20_000:
        pytest.skip(f"needs 20,000 descriptors; there are {have}")


@pytest.mark.timeout(30 * MINUTE)
def test_recorded_streams(mcpreel, tmp_path, record_property):
    enough_descriptors()
    took = record_streams(mcpreel, tmp_path / "r.jsonl", PROXIED, 3)
    check_recording(tmp_path / "r.jsonl", PROXIED, 3)
    shown(record_property, "record", PROXIED, max(kilobytes for kilobytes, _ in took))
    assert max(kilobytes for kilobytes, _ in took) <= 160 << 10


@pytest.mark.timeout(30 * MINUTE)
def test_replayed_streams(mcpreel, tmp_path, record_property):
    enough_descriptors()
    kilobytes, fds = replay_streams(mcpreel, tmp_path / "r.jsonl", REPLAYED)
    assert fds > REPLAYED
    shown(record_property, "replay", REPLAYED, kilobytes)

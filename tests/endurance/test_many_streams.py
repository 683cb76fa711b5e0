"""As many streams at once as 20,000 descriptors allow, and thousands of them again and again."""
import pathlib
import resource
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from test_concurrent_streams import OPTIMISED, check_recording, check_steady, record_streams, replay_streams, shown  # noqa: E402

PROXIED, REPLAYED = 9_500, 19_500
MINUTE = 60


def enough_descriptors():
    have = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if have != resource.RLIM_INFINITY and have < 20_000:
        pytest.skip(f"needs 20,000 descriptors; there are {have}")


@pytest.mark.timeout(30 * MINUTE)
def test_many_streams_are_recorded_at_once(tmp_path, record_property):
    enough_descriptors()
    took = record_streams(OPTIMISED, tmp_path / "r.jsonl", PROXIED, 3)
    check_recording(tmp_path / "r.jsonl", PROXIED, 3)
    shown(record_property, "record", PROXIED, max(kilobytes for kilobytes, _ in took))
    assert max(kilobytes for kilobytes, _ in took) <= 160 << 10


@pytest.mark.timeout(30 * MINUTE)
def test_many_streams_are_replayed_at_once(tmp_path, record_property):
    enough_descriptors()
    kilobytes, fds = replay_streams(OPTIMISED, tmp_path / "r.jsonl", REPLAYED)
    assert fds > REPLAYED
    shown(record_property, "replay", REPLAYED, kilobytes)


@pytest.mark.timeout(3 * 60 * MINUTE)
def test_nearly_a_million_streams_in_sequence_leak_nothing(tmp_path, record_property):
    """Eight million messages. The remembered state is limited: 65,536 abandoned requests, which the clients that disconnect early
    leave behind after 328 rounds; the slowest table is full after half a million streams."""
    rounds, count, aborted_streams, warm = 700, 1000, 200, 450
    if shutil.disk_usage(tmp_path).free < 6 << 30:
        pytest.skip("the recording needs 6 GiB of disk")
    try:
        took = record_streams(OPTIMISED, tmp_path / "r.jsonl", count, rounds, aborted_streams)
    finally:
        (tmp_path / "r.jsonl").unlink(missing_ok=True)
    record_property("shown", f"record: {count * rounds} streams, RSS from {took[warm][0]} to {took[-1][0]} kB")
    check_steady(took, warm)

"""Ten thousand messages of a megabyte each way, which is 20 GB of recording."""
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from test_process import MESSAGE, check_full_pipes  # noqa: E402

MESSAGES = 10_000


@pytest.mark.timeout(3 * 3600)
def test_full_pipes_in_both_directions_lose_nothing_for_a_long_time(tmp_path):
    need = 2 * MESSAGES * (len(MESSAGE) + 1000)
    if shutil.disk_usage(tmp_path).free < need + (1 << 30):
        pytest.skip(f"the recording needs {need >> 30} GiB of disk")
    try:
        check_full_pipes(tmp_path / "r.jsonl", MESSAGES, 0)
    finally:
        (tmp_path / "r.jsonl").unlink(missing_ok=True)

"""Kills a recorder ten thousand times, as 'make test' does some hundred times."""
import os
import pathlib
import subprocess
import sys

INTEGRATION = pathlib.Path(__file__).resolve().parents[1] / "integration"


def test_no_message_is_missing_after_ten_thousand_kills():
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "kill_9",
                          INTEGRATION / "test_record_disk.py"], env={**os.environ, "KILLS": "10000"},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=7200)
    assert ran.returncode == 0 and "200 passed" in ran.stdout, ran.stdout

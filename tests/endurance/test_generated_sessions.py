"""The tests of generated sessions, each with ten times as many sessions as in 'make test'."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_reference_agrees_on_500_sessions(mcpreel, peer_home):
    for group in "mcp-recorder", "otlp":
        peer_home(group)
    p = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "generated", ROOT / "tests/integration"],
                       env={**os.environ, "MCPREEL": str(mcpreel), "TEST_SESSIONS": "500"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=4 * 3600)
    assert p.returncode == 0, p.stdout
    assert int(re.search(r"^(\d+) passed", p.stdout, re.M)[1]) >= 25, p.stdout

"""The commands of the house: all there, and all explained."""
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ["all", "demo", "check", "test", "interop", "endurance", "bench", "fuzz", "format",
            "install", "clean", "help"]


def make(*args):
    return subprocess.run(["make", "-C", ROOT, *args], stdout=subprocess.PIPE, text=True, check=True).stdout


def test_help_explains_every_command():
    assert re.findall(r"^  make (\w+) +\S.*", make("help"), re.M) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there(command):
    assert make("-n", command)


def test_clean_keeps_the_downloads(tmp_path):
    """They cost minutes; what is built costs seconds."""
    (tmp_path / "build/peers/x").mkdir(parents=True)
    (tmp_path / "build/tests").mkdir()
    (tmp_path / "build-asan").mkdir()
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == [
        "build", "build/peers", "build/peers/x"]

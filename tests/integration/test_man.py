"""The manual pages the build makes: one for each command, without a fault for a formatter."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel")).resolve()
PAGES = sorted((PROGRAM.parent / "share").glob("*.1"))


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=True, timeout=30).stdout


def test_every_command_has_one_page():
    listed = re.search(r"\nCommands:\n((?:  .*\n)+)", output(PROGRAM, "help"))[1]
    commands = [line.split()[0] for line in listed.splitlines()]
    assert "help" in commands
    assert [p.name for p in PAGES] == sorted(["mcpreel.1", *(f"mcpreel-{c}.1" for c in commands)])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_page_has_no_formatting_errors(page):
    mandoc = shutil.which("mandoc") or pytest.skip("mandoc is not installed")
    assert output(mandoc, "-Tlint", "-Wwarning", page) == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_page_fits_80_columns(page):
    mandoc = shutil.which("mandoc") or pytest.skip("mandoc is not installed")
    text = re.sub(".\b", "", output(mandoc, "-Tutf8", "-Owidth=80", page))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert re.search(r"^NAME\n +mcpreel\S* [–-] \w", text, re.M)
    for name in ("SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
        assert re.search(rf"^{name}$", text, re.M)
    assert "\\" not in text and "\nMCPREEL" in "\n" + text

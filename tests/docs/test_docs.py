"""Run what the documents tell people to type.

Every fenced block marked `sh` is run with `bash -euo pipefail`, the blocks of one document in order
and in one fresh directory, with mcpreel on the PATH. Blocks that are only to be looked at are marked
otherwise (`json`, `text`, `console`).
"""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)


RUNNABLE = [page for page in PAGES if blocks(page)]


def test_the_readme_has_something_to_run():
    assert ROOT / "README.md" in RUNNABLE


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_command_works(page, tmp_path):
    binary = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build" / "mcpreel")).resolve()
    env = {**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"}
    for block in blocks(page):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=tmp_path, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"


LINK = re.compile(r"\]\(([^)#:]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    gone = [target for target in LINK.findall(page.read_text()) if not (page.parent / target).exists()]
    assert not gone


def test_the_map_names_every_module_and_none_that_is_gone():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    rooms = dict(re.findall(r"^### (\w+) — .*?\n(.*?)(?=^##)", text, re.M | re.S))
    for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        modules = {p.stem for p in folder.iterdir() if p.suffix in (".c", ".cc") and not p.stem.startswith("cmd-")}
        named = set(re.findall(r"`([\w-]+)`", rooms[folder.name]))
        assert modules <= named, f"{folder.name}: not on the map: {modules - named}"
        assert named <= modules, f"{folder.name}: on the map, but gone: {named - modules}"


def test_the_example_of_a_format_is_in_the_house_format(tmp_path):
    source, header = tmp_path / "arrows.c", tmp_path / "arrows.h"
    subprocess.run([ROOT / "tests/formats/extract-example", ROOT / "docs/ARCHITECTURE.md", source, header, tmp_path],
                   check=True)
    done = subprocess.run(["clang-format", f"--style=file:{ROOT}/.clang-format", "--dry-run", "-Werror", source],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

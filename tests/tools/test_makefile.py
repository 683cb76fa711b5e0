"""The commands of the house: all there, and all explained."""
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ["all", "demo", "check", "test", "interop", "endurance", "bench", "dist", "fuzz",
            "format", "hooks", "install", "clean", "help"]


def make(*args):
    return subprocess.run(["make", "-C", ROOT, *args], stdout=subprocess.PIPE, text=True, check=True).stdout


def test_help_explains_every_command():
    assert re.findall(r"^  make (\w+) +\S.*", make("help"), re.M) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command):
    assert make("-n", command)


def test_clean_keeps_the_downloads(tmp_path):
    """They cost minutes; what is built costs seconds."""
    (tmp_path / "build/peers/x").mkdir(parents=True)
    (tmp_path / "build/tests").mkdir()
    (tmp_path / "build-asan").mkdir()
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == [
        "build", "build/peers", "build/peers/x"]


@pytest.mark.parametrize("subject, why", [
    ("match: cache the last match by raw params text", None),
    ("base, json: say what each header promises\n\nWhy.", None),
    ("# a comment\n\nloop: batch socket writes", None),
    ("Merge branch 'x'", None),
    ("cache the last match", "names no area"),
    ("replay: who comes back is not the one who hears", "begins with 'who'"),
    ("map: What half of the room would do for", "begins with 'what'"),
    ("transport: nobody loses a connection", "begins with 'nobody'"),
    ("tests: shorter", "one word"),
    ("tests: wip on streams", "not finished"),
    ("a: " + "b " * 60, "longer than"),
])
def test_the_hook_checks_subjects(tmp_path, subject, why):
    (tmp_path / "message").write_text(subject + "\n")
    hook = subprocess.run([ROOT / "tools/hooks/commit-msg", tmp_path / "message"], stderr=subprocess.PIPE, text=True)
    assert hook.returncode == (1 if why else 0)
    assert not why or why in hook.stderr


def test_hooks_are_installed_in_the_git_directory(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tools/hooks").mkdir(parents=True)
    shutil.copy(ROOT / "tools/hooks/commit-msg", tmp_path / "tools/hooks")
    subprocess.run(["make", "-f", ROOT / "Makefile", "hooks"], cwd=tmp_path, check=True)
    assert os.access(tmp_path / ".git/hooks/commit-msg", os.X_OK)


def test_the_license_is_declared_and_installed():
    text = (ROOT / "LICENSE").read_text()
    assert text.startswith("MIT License\n") and "the mcpreel authors" in text
    assert re.search(r"^ *license: 'MIT',$", (ROOT / "meson.build").read_text(), re.M)
    installed = json.loads(subprocess.run(["meson", "introspect", ROOT / "build", "--installed"], stdout=subprocess.PIPE,
                                          text=True, check=True).stdout)
    assert installed[os.fspath(ROOT / "LICENSE")].endswith("/share/doc/mcpreel/LICENSE")


FAKES = {
    "tools/bootstrap": "",
    "bin/meson": "echo meson prints a lot; mkdir -p $2; touch $2/build.ninja",
    # Prints its steps with -n; otherwise it does them, unless --quiet was given.
    "bin/ninja": """case "$*" in
        *--quiet*) ;;
        *) echo "ninja: Entering directory"; echo "[1/2] cc a.c"; echo "[2/2] ld a" ;;
        esac
        case "$*" in *" -n "*) ;; *) mkdir -p build; printf '#!/bin/sh\\necho mcpreel 1' > build/mcpreel; chmod +x build/mcpreel ;; esac""",
}


@pytest.fixture
def fake_tools(tmp_path):
    for name, text in FAKES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return {"cwd": tmp_path, "env": {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}}


def test_a_build_prints_its_steps(fake_tools):
    done = subprocess.run(["make", "-f", ROOT / "Makefile", "demo"], stdout=subprocess.PIPE, text=True, check=True, **fake_tools)
    configuring, compiling, built, demo, *_ = done.stdout.splitlines()
    assert configuring == "configuring build for gcc"
    assert compiling == "compiling build: 2 steps"
    assert built.startswith("built build/mcpreel 1")
    assert demo.startswith("recording, replaying and verifying ")


def test_a_build_shows_progress_on_a_terminal(fake_tools):
    ours, theirs = pty.openpty()
    subprocess.run(["make", "-f", ROOT / "Makefile", "all"], stdout=theirs, check=True, **fake_tools)
    os.close(theirs)
    shown = b""
    with open(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # EIO is its end
        while more := terminal.read(4096):
            shown += more
    assert b"[1/2] cc a.c" in shown

"""The static programs of 'make dist': made twice, run without a system, and put through the integration tests."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in (
    {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Lisbon"}}}))


def run(*command, code=0, **options):
    p = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=3600, **options)
    assert p.returncode == code, p.stdout + p.stderr
    return p.stdout


def program(folder, cpu):
    (found,) = folder.glob(f"mcpreel-*-linux-{cpu}")
    return found


@pytest.fixture(scope="module")
def dist():
    """build/dist of this folder, made anew."""
    run("make", "-C", ROOT, "dist")
    return ROOT / "build/dist"


def test_the_sums_are_those_of_the_files(dist):
    rows = [line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines()]
    # Two programs, a wheel and an npm package for each, the wheel with mcp-recorder's names, and the npm package mcpreel.
    assert len(rows) == 8
    assert {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for _, name in rows} == {
        name: digest for digest, name in rows}


def test_the_licenses_of_all_parts_are_in_the_wheels_and_npm_packages(dist):
    text = (dist / "LICENSES.txt").read_bytes()
    for name in ("mcpreel", "zlib", "libzstd", "libuv1", "re2", "libyaml", "xxhash", "openssl", "curl", "musl", "compiler-rt of zig", "libc++",
                 "libc++abi", "libunwind"):
        assert f"\n{name}: ".encode() in text, name
        assert re.search(rf"^{re.escape(name)}  ", (dist / "CONTENTS.txt").read_text(), re.M), name
    assert b"Apache License" in text
    assert b"LLVM Exceptions to the Apache 2.0 License" in text
    for wheel in dist.glob("mcpreel-*.whl"):
        assert zipfile.ZipFile(wheel).read("mcpreel/LICENSES.txt") == text
    for package in dist.glob("mcpreel-linux-*.tgz"):
        with tarfile.open(package) as tar:
            assert tar.extractfile("package/LICENSES.txt").read() == text


def test_another_folder_makes_the_same_bytes(dist, tmp_path):
    run("git", "clone", "-q", ROOT, tmp_path / "other")
    run("make", "-C", tmp_path / "other", "dist")
    other = tmp_path / "other/build/dist"
    assert (other / "SHA256SUMS").read_text() == (dist / "SHA256SUMS").read_text()


@pytest.mark.parametrize("cpu", ["x64", "arm64"])
def test_no_interpreter_and_no_library_is_needed(dist, cpu):
    said = run("readelf", "--wide", "--program-headers", "--dynamic", program(dist, cpu))
    assert "INTERP" not in said
    assert "NEEDED" not in said


def record_and_replay(folder, *words, before=()):
    """Records the demo server, replays the recording, and returns both outputs."""
    live = run(*before, *words, "-q", "record", "-o", f"{folder}/a.jsonl", "--", *words, "demo", "server", input=LINES)
    replayed = run(*before, *words, "-q", "replay", f"{folder}/a.jsonl", input=LINES)
    return live, replayed


def test_an_empty_root_folder_is_enough(dist, tmp_path):
    shutil.copy(program(dist, "x64"), tmp_path / "mcpreel")
    (tmp_path / "tmp").mkdir()
    live, replayed = record_and_replay("/tmp", "/mcpreel", before=("chroot", tmp_path))
    assert "Lisbon" in live
    assert live == replayed
    assert "weather" in run("chroot", tmp_path, "/mcpreel", "inspect", "/tmp/a.jsonl")


def test_the_integration_tests_accept_the_static_program(dist):
    """TLS, certificates, proxies, names, both transports."""
    files = ["test_http_relay.py", "test_http_bridge.py", "test_replay.py", "test_front.py", "test_idle_options.py"]
    p = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                        *(ROOT / "tests/integration" / name for name in files)],
                       env={**os.environ, "MCPREEL": str(program(dist, "x64"))}, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=3600)
    assert p.returncode == 0, p.stdout


def test_the_arm64_program_runs_under_qemu(dist, tmp_path):
    arm, x64 = program(dist, "arm64"), program(dist, "x64")
    qemu = ("qemu-aarch64-static", arm)
    assert run(*qemu, "version").startswith("mcpreel ")
    live = run(*qemu, "-q", "record", "-o", tmp_path / "a.jsonl", "--", x64, "demo", "server", input=LINES)
    assert "Lisbon" in live
    assert run(*qemu, "-q", "replay", tmp_path / "a.jsonl", input=LINES) == live
    assert "weather" in run(*qemu, "inspect", tmp_path / "a.jsonl")
    run(*qemu, "-q", "convert", tmp_path / "a.jsonl", "-o", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["interactions"]

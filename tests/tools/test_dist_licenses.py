"""The lists of parts and licences that tools/dist writes, with sources and a compiler that hold only licences."""
import importlib.machinery
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = {"musl": "lib/libc/musl/COPYRIGHT", "compiler-rt of zig": "LICENSE", "libc++": "lib/libcxx/LICENSE.TXT",
            "libc++abi": "lib/libcxxabi/LICENSE.TXT", "libunwind": "lib/libunwind/LICENSE.TXT"}


@pytest.fixture
def dist(tmp_path, monkeypatch):
    """The program as a module, whose compiler is a folder of this test."""
    loader = importlib.machinery.SourceFileLoader("dist", str(ROOT / "tools/dist"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dist", loader))
    monkeypatch.setitem(sys.modules, "dist", module)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "WORK", tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "project_version", lambda: "0.1.0")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    write(tmp_path / "LICENSE", "the licence of mcpreel")
    write(tmp_path / "ziglang/__init__.py", "")
    write(tmp_path / "ziglang/__main__.py", "print('0.17.0')")
    for name, path in COMPILER.items():
        write(tmp_path / "ziglang" / path, f"the licence of {name}")
    return module


@pytest.fixture
def sources(dist, tmp_path):
    found = {}
    for lib in dist.LIBRARIES:
        found[lib.package] = tmp_path / lib.package
        write(tmp_path / lib.package / "debian/changelog", f"{lib.package} ({lib.minimum}-1) stable")
        write(tmp_path / lib.package / "debian/copyright", f"the licence of {lib.package}")
    return found


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_part_of_a_program_is_listed_with_its_licence(dist, sources):
    parts = ["mcpreel", *sources, *COMPILER]
    texts = dist.licence_texts(sources, pathlib.Path(sys.executable))
    assert [name for name in parts if f"\n\nthe licence of {name}\n" not in texts] == []
    rows = dist.contents(sources, pathlib.Path(sys.executable)).splitlines()[2:]
    assert [row[:28].strip() for row in rows] == parts
    assert "libc++                       zig 0.17.0       Apache-2.0 WITH LLVM-exception" in rows

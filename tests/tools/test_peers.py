"""tools/peers and the fixtures on top of it: what is pinned, and what happens where nothing can be installed."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOCKS = ROOT / "tests" / "peers"
SCRIPTED = ["node_modules/@modelcontextprotocol/inspector"]  # installed and used without its script


@pytest.fixture
def bare_tree(tmp_path):
    """A copy of the tree's installer and fixtures on a machine that has Python and nothing else."""
    shutil.copytree(LOCKS, tmp_path / "tests" / "peers")
    for name in ("tools/peers", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    (tmp_path / "tests" / "test_one.py").write_text("def test_that_needs_a_peer(npm_peers):\n    pass\n")
    return tmp_path


def run_on_bare_tree(run, bare_tree, command, ci=""):
    return run(command, cwd=bare_tree, env={"PATH": os.fspath(bare_tree / "bin"), "CI": ci})


@pytest.mark.parametrize("folder,least", [(".", 10), ("pins", 10), ("older", 10), ("conformance", 10), ("others", 10), ("browsers", 4), ("js", 10), ("vitest-5", 10)])
def test_every_npm_package_is_pinned_by_hash_without_address(folder, least):
    packages = json.loads((LOCKS / folder / "package-lock.json").read_text())["packages"]
    assert len(packages) > least
    for path, package in packages.items():
        if path:
            assert package["integrity"].startswith("sha512-"), path
            assert "resolved" not in package, path
            assert not package.get("hasInstallScript") or path in SCRIPTED, path


@pytest.mark.parametrize("name", ["requirements", "fastmcp", "fastmcp-older", "mcp-recorder", "agents", "mcp-server-git", "mcp-server-sqlite", "tables", "spark", "spark-build"])
def test_every_python_package_is_pinned_by_hash_without_address(name):
    lock = (LOCKS / f"{name}.lock").read_text()
    for requirement in lock.replace("\\\n", " ").splitlines():
        assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?==\S+( +--hash=sha256:[0-9a-f]{64})+ *", requirement), requirement
    for top in (LOCKS / f"{name}.in").read_text().splitlines():
        if not top.startswith("#"):
            assert any(f"\n{one} " in f"\n{lock}" for one in (top, re.sub(r"\[.*]", "", top))), top


@pytest.mark.parametrize("folder", ["go", "collector"])
def test_every_go_module_is_pinned_by_hash(folder):
    wanted = re.findall(r"^\s*(?:require )?(\S+/\S+) (v\S+)", (LOCKS / folder / "go.mod").read_text(), re.M)
    assert len(wanted) > 3
    hashes = (LOCKS / folder / "go.sum").read_text()
    for module, version in wanted:
        assert re.search(rf"^{re.escape(module)} {re.escape(version)} h1:\S{{44}}$", hashes, re.M), module


@pytest.mark.parametrize("folder,least,direct", [("rmcp", 50, 6), ("oatf", 5, 1), ("thoughtjack", 100, 5)])
def test_every_crate_is_pinned_by_hash_without_address(folder, least, direct):
    """All but our own, of which there is one."""
    packages = (LOCKS / folder / "Cargo.lock").read_text().split("\n[[package]]\n")[1:]
    assert len(packages) > least
    pinned = [one for one in packages if re.search(r'^name = "\S+"\nversion = "\S+"\nchecksum = "[0-9a-f]{64}"$', one, re.M)]
    assert len(packages) - len(pinned) == 1
    assert not any(re.search(r"^source|://", one, re.M) for one in packages)
    wanted = re.findall(r'^([a-z_-]+) = (?:\{ (?:package = "(\S+)", )?version = )?"=(\S+)"', (LOCKS / folder / "Cargo.toml").read_text(), re.M)
    assert len(wanted) >= direct
    for name, package, version in wanted:
        name = package or (folder if name == "version" else name)  # which has a table of its own
        assert any(one.startswith(f'name = "{name}"\nversion = "{version}"\n') for one in pinned), name


def test_every_jar_is_pinned_by_hash_without_address():
    lines = (LOCKS / "java/jars.lock").read_text().splitlines()
    assert len(lines) > 5
    for line in lines:
        assert re.fullmatch(r"[0-9a-f]{64}  [a-z0-9.-]+\.jar", line), line
    pom = (LOCKS / "java/pom.xml").read_text()
    assert "repositor" not in pom and re.search(r"<artifactId>mcp</artifactId>\s*<version>[0-9.]+</version>", pom)


@pytest.mark.parametrize("group, program", [
    ("npm", "npm"), ("npm-pins", "npm"), ("npm-older", "npm"), ("conformance", "npm"), ("others", "npm"), ("browsers", "npm"), ("js", "npm"), ("vitest-5", "npm"), ("go", "go"), ("collector", "go"),
    ("rmcp", "cargo"), ("java", "mvn")])
def test_a_failed_installation_is_reported_and_leaves_nothing(run, bare_tree, group, program):
    ran = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", group])
    assert ran.code == 1 and ran.out == b"", str(ran)
    assert f"peers: cannot install '{group}': cannot run '{program}'".encode() in ran.err
    assert list((bare_tree / "build" / "peers").iterdir()) == []


@pytest.mark.parametrize("group, changed", [("go", "go/go.sum"), ("go", "go/client/main.go"), ("go", "go/server/main.go"), ("collector", "collector/main.go")])
def test_a_changed_source_of_a_go_peer_causes_a_new_installation(run, bare_tree, group, changed):
    """A 'go' that builds nothing is enough to see where its work would be put."""
    (bare_tree / "bin" / "go").write_text("#!/bin/sh\n")
    (bare_tree / "bin" / "go").chmod(0o755)
    before = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", group])
    with open(bare_tree / "tests/peers" / changed, "a", encoding="utf-8") as file:
        file.write("\n")
    after = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", group])
    assert (before.code, after.code) == (0, 0) and before.out != after.out, f"{before}\n{after}"


def test_all_sources_of_compiled_peers_count():
    text = (ROOT / "tools/peers").read_text()
    sources = [*LOCKS.rglob("*.go"), *LOCKS.rglob("*.rs"), *(LOCKS / "java").rglob("*.java")]
    assert len(sources) > 5
    for source in sources:
        assert f'"{source.relative_to(LOCKS)}"' in text


@pytest.fixture
def replace_program(bare_tree):
    """Puts a shell script in the place of a program."""
    def put(name, body):
        (bare_tree / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (bare_tree / "bin" / name).chmod(0o755)

    for name in ("sh", "cat", "cp", "mkdir", "grep"):
        (bare_tree / "bin" / name).symlink_to(shutil.which(name))
    return put


def test_the_lock_file_for_cargo_names_its_registry(run, bare_tree, replace_program):
    """Asked for a lock of its own, it says the name; the one it builds with has that for every crate with a checksum."""
    replace_program("cargo", f"""case $1 in
generate-lockfile) echo 'source = "some-registry"' >Cargo.lock ;;
build) cp Cargo.lock {bare_tree}/given && mkdir -p $CARGO_TARGET_DIR/release && echo built >$CARGO_TARGET_DIR/release/rmcp-peer ;;
esac""")
    ran = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", "rmcp"])
    assert ran.code == 0, str(ran)
    given, lock = (bare_tree / "given").read_text(), (LOCKS / "rmcp/Cargo.lock").read_text()
    assert given.replace('source = "some-registry"\n', "") == lock
    assert given.count('"\nsource = "some-registry"\nchecksum = ') == given.count("source = ") == lock.count("checksum = ")
    home = pathlib.Path(ran.out.decode().strip())
    assert (home / "bin/rmcp-peer").read_text() == "built\n"


@pytest.mark.parametrize("named", ["", "source = \"one\"\nsource = \"two\""])
def test_a_cargo_with_no_or_two_registries_is_rejected(run, bare_tree, replace_program, named):
    replace_program("cargo", f"printf '%s\\n' '{named}' >Cargo.lock")
    ran = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", "rmcp"])
    assert ran.code == 1 and b"peers: cannot install 'rmcp': Cargo names" in ran.err, str(ran)
    assert list((bare_tree / "build" / "peers").iterdir()) == []


@pytest.mark.parametrize("content, code", [("good", 0), ("forged", 1)])
def test_a_forged_jar_is_rejected(run, bare_tree, replace_program, content, code):
    replace_program("mvn", f"""for word; do case $word in -DoutputDirectory=*) echo {content} >"${{word#*=}}/one.jar" ;; esac; done""")
    replace_program("javac", "exit 0")
    good = hashlib.sha256(b"good\n").hexdigest()
    (bare_tree / "tests/peers/java/jars.lock").write_text(f"{good}  one.jar\n")
    ran = run_on_bare_tree(run, bare_tree, [bare_tree / "tools/peers", "java"])
    assert ran.code == code, str(ran)
    assert (b"peers: cannot install 'java': the jars DO NOT MATCH THE HASHES" in ran.err) == bool(code), str(ran)
    assert len(list((bare_tree / "build" / "peers").iterdir())) == 1 - code


def test_a_forged_package_is_rejected(run, bare_tree):
    (bare_tree / "wheels").mkdir()
    with zipfile.ZipFile(bare_tree / "wheels" / "pluggy-1.7.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pluggy-1.7.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pluggy\nVersion: 1.7.0\n")
    lock = bare_tree / "tests/peers/requirements.lock"
    lock.write_text(re.search(r"^pluggy==(.*\\\n)*.*\n", lock.read_text(), re.M)[0])
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": os.fspath(bare_tree / "wheels")}
    ran = run([bare_tree / "tools/peers", "python"], cwd=bare_tree, env=offline)
    assert ran.code == 1 and b"DO NOT MATCH THE HASHES" in ran.err, str(ran)
    assert b"peers: cannot install 'python'" in ran.err
    assert list((bare_tree / "build" / "peers").iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["ruby"], ["npm", "python"]])
def test_usage_errors_are_explained(run, arguments):
    ran = run([ROOT / "tools" / "peers", *arguments])
    assert ran.code == 2 and ran.err.startswith(b"usage: peers npm|npm-pins|npm-older|conformance|others|python|fastmcp|fastmcp-older|python-tools|mcp-recorder|go|rmcp|java|agents|"), str(ran)


def test_a_missing_peer_is_a_visible_skip(run, bare_tree):
    ran = run_on_bare_tree(run, bare_tree, [sys.executable, "-m", "pytest", "-q", "tests"])
    assert ran.code == 0, str(ran)
    assert b"1 skipped" in ran.out and b"NOT RUN tests/test_one.py::test_that_needs_a_peer: " in ran.out, str(ran)


def test_a_missing_peer_is_a_failure_in_ci(run, bare_tree):
    ran = run_on_bare_tree(run, bare_tree, [sys.executable, "-m", "pytest", "-q", "tests"], ci="true")
    assert ran.code == 1 and b"cannot install 'npm'" in ran.out, str(ran)


def test_any_other_missing_requirement_is_a_failure_in_ci(run, bare_tree):
    """In a fixture or in a test; what is known to fail is something else."""
    (bare_tree / "tests" / "test_one.py").write_text("""import pytest

@pytest.fixture
def may_trace(): pytest.skip("no tracing here")
def test_fixture(may_trace): pass
def test_itself(): pytest.skip("no shell here")
@pytest.mark.xfail
def test_known(): assert False
""")
    words = [sys.executable, "-m", "pytest", "-q", "tests"]
    ran = run_on_bare_tree(run, bare_tree, words)
    assert ran.code == 0 and b"2 skipped, 1 xfailed" in ran.out, str(ran)
    ran = run_on_bare_tree(run, bare_tree, words, ci="true")
    assert ran.code == 1 and b"1 failed, 1 xfailed, 1 error" in ran.out, str(ran)
    assert b"no tracing here" in ran.out and b"no shell here" in ran.out, str(ran)

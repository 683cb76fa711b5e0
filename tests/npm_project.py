"""Projects with the npm packages: made from the tree and the program under test, and put beside the peers."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel"))
CPU = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
PATIENCE_S = 120


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S, **options)


def peers(group):
    p = subprocess.run([ROOT / "tools/peers", group], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(p.stdout.strip())


def version():
    return re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]


def make_packages(out):
    """The .tgz files by the names of their packages."""
    p = subprocess.run([ROOT / "tools/npm-packages", "--out", out, "--program", f"{CPU}={PROGRAM}"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert p.returncode == 0, p.stdout
    names = [pathlib.Path(line).name for line in p.stdout.split()]
    assert names == [f"mcpreel-{version()}.tgz", f"mcpreel-linux-{CPU}-{version()}.tgz"]
    return {"mcpreel": out / names[0], f"@mcpreel/linux-{CPU}": out / names[1]}


def install(folder, packages):
    """Let npm install our packages, without a registry."""
    p = run("npm", "install", "--offline", "--no-save", "--no-audit", "--no-fund", *packages.values(), cwd=folder, env=environment())
    assert p.returncode == 0, p.stdout


def unpack(file, folder):
    """Put the content of a package where npm does."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file) as tar:
        tar.extractall(folder.parent / ".unpacked", filter="data")
    (folder.parent / ".unpacked/package").rename(folder)


def link_peers(modules, group):
    """Put the packages of a group, and their commands, into a node_modules."""
    home = peers(group) / "node_modules"
    (modules / ".bin").mkdir(exist_ok=True)
    for path in [*home.iterdir(), *(home / ".bin").iterdir()]:
        if path.parent != home or not path.name.startswith("."):
            (modules / path.relative_to(home)).symlink_to(path)


def make_modules(folder, group, packages):
    """A node_modules with the peers of a group and our packages."""
    modules = folder / "node_modules"
    modules.mkdir()
    link_peers(modules, group)
    for name, file in packages.items():
        unpack(file, modules / name)
    return modules


def environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("CI", "MCPREEL", "GITHUB_ACTIONS") and not name.startswith(("MCPREEL_", "npm_", "VITEST"))}
    return {**kept, "NO_COLOR": "1", **more}


# The tests of these projects use the demo server.
HEAD = """
import { mcpTest, expect, verifyRecordings } from 'mcpreel/vitest'
import { findProgram, ReplayServer, run, verify } from 'mcpreel'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, afterEach, describe } from 'vitest'

const SERVER = [findProgram(), 'demo', 'server']
const test = mcpTest.with({ server: SERVER })
const weather = (client: Client, city: string) => client.callTool({ name: 'weather', arguments: { city } })

"""


def expect_no_process(folder, limit):
    """No process may have a file of the folder in its command line for more than `limit` seconds."""
    end = time.monotonic() + limit
    while left := [line for line in run("ps", "-ww", "-eo", "pid,args").stdout.splitlines() if f"{folder}/" in line]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


class Project:
    """A folder with one test file, which Vitest runs."""

    def __init__(self, folder, modules, source, node="node"):
        self.folder, self.node = folder, node
        (folder / "node_modules").symlink_to(modules)
        (folder / "package.json").write_text(json.dumps({"type": "module", "private": True}))
        (folder / "it.test.ts").write_text(HEAD + source)

    def run(self, *arguments, limit=3, **variables):
        """Exit code, number of tests by outcome, and output. Processes have `limit` seconds to end after Vitest."""
        p = run(self.node, self.folder / "node_modules/vitest/vitest.mjs", "run", "--reporter=verbose", *arguments,
                cwd=self.folder, env=environment(**variables))
        expect_no_process(self.folder, limit)
        line = re.search(r"^ +Tests +(.*)$", p.stdout, re.M)
        found = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped)", line[1] if line else "")}
        return p.returncode, found, p.stdout

    def change(self, before, after):
        path = self.folder / "it.test.ts"
        assert before in path.read_text()
        path.write_text(path.read_text().replace(before, after))

    def copy(self, package):
        shutil.copytree(package, self.folder / "node_modules" / package.name)

    def files(self, pattern):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(pattern) if path.is_file())

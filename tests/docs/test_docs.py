"""Run the commands of the docs.

The fenced blocks of a document are run in order and in one fresh directory, with mcpreel on the PATH:

    sh             with `bash -euo pipefail`
    sh server      a command that runs until Ctrl-C: it must print its address, and gets its Ctrl-C at the next one or the next heading
    console        the commands after `$`; the lines below each must be among those it says, where `…` is anything
    json config    the configuration of a client: my-client starts the servers in it
    yaml steps     the steps of a job of GitHub Actions: the shell of each `run`; the processes it leaves behind end with the section
    yaml script    a job of GitLab: each item of `script`
    yaml hooks     hooks of pre-commit: each `entry`, with the recordings as arguments unless `pass_filenames` is false

Blocks that are only to be looked at are marked otherwise (`json`, `text`, or a language). 8080 is a port that is free. Hosts below
example.com are there, as docs_servers.py has them.
"""
import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import pytest
from processes import line_of, started
from docs_client import run_session
from docs_servers import HOSTS, INVALID_CERTIFICATES, VISITOR, LocalHosts, script

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted(page for page in (ROOT / "examples").glob("**/README.md") if "node_modules" not in page.parts)
PATIENCE_S = 60
PART = re.compile(r"^(?:#+ (?P<heading>.*)|```(?P<kind>.*)\n(?P<text>(?:.*\n)*?)```)$", re.M)
RUN = ("sh", "sh server", "console", "json config", "yaml steps", "yaml script", "yaml hooks")
LOOKED_AT = ("json", "text", "c", "meson", "python", "ts", "js")


def parts(page):
    return [(m["kind"], m["text"]) for m in PART.finditer(page.read_text()) if m["heading"] or m["kind"] in RUN]


RUNNABLE = [page for page in PAGES if any(kind for kind, _ in parts(page))]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Reader:
    """Runs the commands of one document."""

    def __init__(self, folder, env):
        self.folder, self.env, self.port = folder, env, 0
        self.serving = contextlib.ExitStack()

    def bash(self, *words, check=True):
        done = subprocess.run(["bash", *words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
        assert not check or done.returncode == 0, f"{words[-1]}\n{done.stdout}"
        return done.stdout

    def type(self, kind, text):
        if kind in (None, "sh server", "yaml steps"):
            self.serving.close()
        if kind in ("sh server", "yaml steps"):
            self.port = free_port()
        text = text and text.replace("8080", str(self.port))
        {None: lambda _: None, "sh": self.run, "sh server": self.serve, "console": self.run_client_block,
         "json config": self.configure, "yaml steps": self.work, "yaml script": self.work_gitlab, "yaml hooks": self.hook}[kind](text)

    def run(self, block):
        self.bash("-euo", "pipefail", "-c", block)

    def serve(self, block):
        """The exit code must be 0, or the block has failed."""
        process = self.serving.enter_context(
            started(["bash", "-euc", re.sub(r"^mcpreel ", "exec mcpreel ", block, flags=re.M)], cwd=self.folder, env=self.env,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))

        @self.serving.callback
        def end():
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 0, block

        assert line_of(process.stdout.fileno(), process).startswith(f"http://127.0.0.1:{self.port}/"), block

    def work(self, block):
        """A step with an exit code other than 0 fails."""
        for step in re.findall(r"^- run: (.*)$", block, re.M):
            code, output = self.step(step)
            assert code == 0, f"{step}\n{output}"

    def work_gitlab(self, block):
        lines = re.findall(r"^    - (.*)$", block, re.M)
        assert lines, block
        for line in lines:
            self.bash("-eo", "pipefail", "-c", line)

    def hook(self, block):
        entries = re.findall(r"^      entry: (.*)\n(?:      files: (.*)\n)?", block, re.M)
        assert entries, block
        for entry, pattern in entries:
            names = [path.name for path in self.folder.iterdir() if pattern and re.search(pattern, path.name)]
            assert bool(names) == bool(pattern), entry
            self.bash("-c", f'{entry} "$@"', "hook", *names)

    def step(self, shell):
        """Exit code and output of a step; its background processes run until the section ends."""
        log = self.folder / "step.log"
        with log.open("wb") as out:
            process = subprocess.Popen(["bash", "-eo", "pipefail", "-c", shell], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       env={**self.env, "GITHUB_STEP_SUMMARY": os.fspath(self.folder / "summary.md")})

        @self.serving.callback
        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

        return process.wait(PATIENCE_S), log.read_text()

    def run_client_block(self, block):
        for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            output = self.bash("-c", command, check=False)
            for line in expected.splitlines():
                pattern = ".*".join(map(re.escape, line.split("…")))
                assert re.search(f"^{pattern}$", output, re.M), f"{command}\nsays\n{output}\nand not\n{line}"

    def configure(self, block):
        for server in json.loads(block)["mcpServers"].values():
            self.bash("-euc", 'my-client "$@"', "my-client", server["command"], *server["args"])


@contextlib.contextmanager
def reader(folder, binary, text, peer_home):
    """With the hosts that the text names."""
    with contextlib.ExitStack() as stack:
        env = {**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"}
        if hosts := [host for host in [*HOSTS, *INVALID_CERTIFICATES] if f"https://{host}" in text]:
            where = folder / "world"
            where.mkdir()
            local_hosts = stack.enter_context(LocalHosts(where, hosts, lambda: peer_home("conformance")))
            env |= local_hosts.env(binary)
            (folder / "company-ca.pem").write_bytes((where / "company-ca.pem").read_bytes())
        elif "my-client" in text:
            tools = folder / "bin"
            tools.mkdir()
            script(tools / "my-client", f'exec "{sys.executable}" "{VISITOR}" "$@"\n')
            env["PATH"] = f"{tools}:{env['PATH']}"
        it = Reader(folder, env)
        with it.serving:
            yield it


def test_the_readme_has_commands_to_run():
    assert ROOT / "README.md" in RUNNABLE


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_has_a_known_language(page):
    """A block with another language would be skipped unnoticed."""
    kinds = set(re.findall(r"^```(.*)\n(?:.*\n)*?```$", page.read_text(), re.M))
    assert kinds <= {*RUN, *LOOKED_AT}


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_command_works(page, tmp_path, mcpreel, peer_home):
    found = parts(page)
    with reader(tmp_path, mcpreel, "".join(text for kind, text in found if kind), peer_home) as it:
        for kind, text in found:
            it.type(kind, text)


@pytest.mark.parametrize("server, code, summary", [("demo server", 0, "9 passed"), ("demo server --changed", 1, "1 failed, 8 passed")])
def test_the_recipe_for_ci_fails_if_the_server_has_changed(tmp_path, mcpreel, peer_home, server, code, summary):
    block = re.search(r"^```yaml steps\n((?:.*\n)*?)```$", (ROOT / "docs/verify.md").read_text(), re.M)[1]
    with reader(tmp_path, mcpreel, block, peer_home) as it:
        it.bash("-c", "mcpreel demo -o session.jsonl")
        start, verify = re.findall(r"^- run: (.*)$", block.replace("8080", str(free_port())).replace("demo server", server), re.M)
        assert it.step(start)[0] == 0
        ended, output = it.step(verify)
    assert ended == code, output
    assert summary in (tmp_path / "summary.md").read_text().splitlines()[0]
    assert output.count("::error ") == code


COLUMNS = (None, "/mcp", "/sse")
WANTED = {"COMMAND": "mcpreel demo server", "FILE": "session.jsonl"}


def choices():
    """The table of commands: (row, path of the client, command)."""
    table = re.search(r"## Choose a command\n+((?:\|.*\n)+)", (ROOT / "docs/http.md").read_text())[1]
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for path, cell in zip(COLUMNS, cells, strict=True):
            yield name.strip("*"), path, re.fullmatch(r"`(mcpreel .*)`", cell)[1]


def test_each_command_of_the_table_works(tmp_path, mcpreel, peer_home):
    """Each one of the table, with a real client of its column and a real server of its row."""
    with reader(tmp_path, mcpreel, "https://mcp.example.com https://old.example.com", peer_home) as it:
        it.env["MCPREEL_DIR"] = os.fspath(tmp_path)
        it.bash("-c", "mcpreel demo -o session.jsonl")
        for row, path, command in choices():
            url = "https://old.example.com/sse" if "HTTP+SSE" in row else "https://mcp.example.com/mcp"
            for word, value in {**WANTED, "URL": url}.items():
                command = command.replace(word, value)
            if path:
                it.type("sh server", command)
                where = [f"http://127.0.0.1:{it.port}{path}"]
            else:
                where = ["bash", "-c", f"cd '{tmp_path}' && exec {command}"]
            assert "weather" in asyncio.run(run_session(where, it.env)), f"{row}: {command}"


UNTRUSTED_HOSTS = ("mcp.corp.example.com", *INVALID_CERTIFICATES)
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}}


def test_the_table_has_the_messages_about_certificates(tmp_path, mcpreel, peer_home, run):
    table = re.search(r"\| message \| cause \|\n.*\n((?:\|.*\n)+)", (ROOT / "docs/http.md").read_text())[1]
    words = [re.findall(r"`([^`]*)`", line.split("|")[1]) for line in table.splitlines()]
    with reader(tmp_path, mcpreel, " ".join(f"https://{host}" for host in UNTRUSTED_HOSTS), peer_home) as it:
        output = [run([tmp_path / "world/bin/mcpreel", "record", "--url", f"https://{host}/mcp", "-o", f"{host}.jsonl"],
                    stdin=json.dumps(INITIALIZE).encode() + b"\n", env=it.env, cwd=tmp_path).out.decode() for host in UNTRUSTED_HOSTS]
    assert sum(map(len, words)) == len(output)
    for one, text in zip([word for row in words for word in row], output, strict=True):
        assert one in text


LINK = re.compile(r"\]\(([^):#]*)(?:#([^)]*))?\)")


def anchors(page):
    """The anchors of the headings, made from their words."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES], ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_has_a_target(page):
    for target, anchor in LINK.findall(page.read_text()):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


@pytest.mark.parametrize("command", ["record", "replay"])
def test_the_page_about_http_lists_all_http_options(command, mcpreel, run):
    text = run([mcpreel, "help", command]).out.decode()
    groups = re.findall(r"^(?:A server|Clients) on HTTP:\n((?: .*\n)+)", text, re.M)
    assert len(groups) == 2
    table = (ROOT / "docs/http.md").read_text().partition("## Options\n")[2]
    missing = [name for group in groups for name in re.findall(r"^      (--[\w-]+)", group, re.M) if f"`{name} " not in table
               and f"`{name}`" not in table]
    assert not missing


def test_the_architecture_names_only_modules_that_exist():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    folders = [p.name for p in (ROOT / "src").iterdir() if p.is_dir()]
    named = re.findall(rf"\b(?:{'|'.join(folders)})/[a-z][a-z0-9-]*\b", re.sub(r"src/\S+", "", text))
    missing_files = [name for name in named if not list((ROOT / "src").glob(f"{name}.[ch]*"))]
    assert len(named) > 40 and not missing_files
    assert text.count("\n") <= 300
    assert all(f"{folder} " in text for folder in folders)


def test_the_example_of_a_format_is_formatted(tmp_path):
    source, header = tmp_path / "arrows.c", tmp_path / "arrows.h"
    subprocess.run([ROOT / "tests/formats/extract-example", ROOT / "docs/adding-a-format.md", source, header, tmp_path],
                   check=True)
    done = subprocess.run(["clang-format", f"--style=file:{ROOT}/.clang-format", "--dry-run", "-Werror", source],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

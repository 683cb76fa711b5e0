"""Every real client and server by name, and how to put one in front of the other.

A client plays the session script of a server (tests/peers/sessions) and prints a document of all it
saw; 'PeerRunner.run_stdio' runs it against any command and gives the document back. So

    peer_runner.run_stdio(client, server)                      is the direct session,
    peer_runner.run_stdio(client, server, [mcpreel, …])        the same one through something else,

over HTTP

    with peer_runner.serve_http(server) as url:
        peer_runner.run_http(client, server, url)            is the direct session,

and 'assert_same' holds one document to the other, up to 'without_generated_values' if both servers were live.
"""
import base64
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass

import pytest

import browser
from processes import started, url_in

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "peers"


@dataclass(frozen=True)
class Client:
    group: str  # of tools/peers
    words: callable  # where that is installed -> the command up to the session, or up to --url
    strings: bool = True  # it can be told to use ids of its own making
    starts_twice: bool = False  # it starts the command a second time, to see what it speaks
    unsupported_step: str = None  # the kind of step that its SDK has no call for; the session is played without those
    signals: bool = False  # its SDK sends SIGTERM when it closes stdin: either may end the server


@dataclass(frozen=True)
class Server:
    group: str
    words: callable  # (where that is installed, a folder of its own) -> the command
    session: str
    env: callable = lambda folder: {}
    expected_findings: tuple = ()  # what 'mcpreel check' rightly remarks on in this session
    generates_values: bool = False  # it says things that are other ones in each run; see 'without_generated_values'
    omitted_tools: tuple = ()  # tools that its session is played without
    prepare: callable = lambda folder: None  # puts into its folder what the session needs


def node(*words):
    return [shutil.which("node"), *words]


def ts_client(group, package, *more, **traits):
    return Client(group, lambda home: node(SCRIPTS / "ts-client.mjs", "--sdk", home / "node_modules" / package, *more),
                  **traits)


def py_client(group, *more, **traits):
    return Client(group, lambda home: [home / "bin/python", SCRIPTS / "py-client.py", *more], **traits)


def go_client(*more):
    return Client("go", lambda home: [home / "bin/client", *more], strings=False)


def rmcp_client(*more):
    return Client("rmcp", lambda home: [home / "bin/rmcp-peer", "client", *more], strings=False)


def java_client():
    def words(home):
        return [shutil.which("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                f"{home / 'classes'}:{home / 'jars'}/*", "Client"]

    return Client("java", words, strings=False, unsupported_step="cancel", signals=True)


# "-auto" finds out what the server speaks and takes the newest; the others open with initialize.
CLIENTS = {
    "ts": ts_client("npm", "@modelcontextprotocol/sdk"),  # 2025-11-25
    "py": py_client("python"),
    "py-auto": py_client("python", "--era", "auto"),
    "ts-1.9": ts_client("npm-pins", "sdk-1.9"),  # 2024-11-05
    "ts-1.12": ts_client("npm-pins", "sdk-1.12"),  # 2025-03-26
    "ts-1.24": ts_client("npm-pins", "sdk-1.24"),  # 2025-06-18
    "ts-2": ts_client("npm-pins", "@modelcontextprotocol/client"),
    "ts-2-auto": ts_client("npm-pins", "@modelcontextprotocol/client", "--era", "auto", strings=False, starts_twice=True),
    "fastmcp": py_client("fastmcp", "--sdk", "fastmcp", strings=False),
    "fastmcp-auto": py_client("fastmcp", "--sdk", "fastmcp", "--era", "auto", strings=False),
    "go": go_client(),
    "go-auto": go_client("--era", "auto"),
    "rmcp": rmcp_client(),
    "rmcp-auto": rmcp_client("--era", "auto"),
    "java": java_client(),
}

# Those that can go to a URL, and one that is a pin for HTTP only: the first that names its revision in a header.
HTTP_CLIENTS = {
    **{name: client for name, client in CLIENTS.items() if client.group != "go" and name != "ts-1.9"},
    "ts-1.13": ts_client("npm-pins", "sdk-1.13"),  # 2025-06-18
}

# Those that speak HTTP+SSE, or try Streamable HTTP first.
SSE_CLIENTS = {
    "ts-1.9-sse": ts_client("npm-pins", "sdk-1.9", "--transport", "sse"),
    "ts-1.12-either": ts_client("npm-pins", "sdk-1.12", "--transport", "either"),
    "ts-sse": ts_client("npm", "@modelcontextprotocol/sdk", "--transport", "sse"),
    "ts-either": ts_client("npm", "@modelcontextprotocol/sdk", "--transport", "either"),
    "py-sse": py_client("python", "--transport", "sse"),
    "fastmcp-sse": py_client("fastmcp", "--sdk", "fastmcp", "--transport", "sse", strings=False),
}


def client_named(name):
    return {**CLIENTS, **HTTP_CLIENTS, **SSE_CLIENTS}[name]


def ended_well(client, status):
    """Whether a server whose stdin `client` closed ended as it should; None: the traffic log has no status."""
    return status in (0, None) or (client_named(client).signals and status == 128 + signal.SIGTERM)


UNLISTED = ("unlisted-tool",)


def npm_server(name, session, *more, **traits):
    program = f"node_modules/@modelcontextprotocol/{name}/dist/index.js"
    return Server("npm", lambda home, folder: node(home / program, *more), session, **traits)


def ts_server(group, package, *more, session="common", **traits):
    return Server(group, lambda home, folder: node(SCRIPTS / "ts-server.mjs", home / "node_modules" / package, *more),
                  session, expected_findings=UNLISTED, **traits)


SERVERS = {
    "everything": npm_server("server-everything", "everything", "stdio", expected_findings=(*UNLISTED, "tool-changed"), generates_values=True),
    "filesystem": Server(
        "npm", lambda home, folder: node(home / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", folder),
        "filesystem"),
    "memory": npm_server("server-memory", "memory",
                         env=lambda folder: {"MEMORY_FILE_PATH": os.fspath(folder / "memory.jsonl")}),
    "python": Server("python", lambda home, folder: [home / "bin/python", SCRIPTS / "py-server.py"], "python",
                     expected_findings=(*UNLISTED, "unanswered", "late-response")),
    "fastmcp": Server("fastmcp", lambda home, folder: [home / "bin/python", SCRIPTS / "fastmcp-server.py"], "common",
                      expected_findings=UNLISTED),
    "go": Server("go", lambda home, folder: [home / "bin/server"], "common", expected_findings=UNLISTED),
    "rmcp": Server("rmcp", lambda home, folder: [home / "bin/rmcp-peer", "server"], "common", expected_findings=UNLISTED),
    "ts": ts_server("npm", "@modelcontextprotocol/sdk"),
    "ts-1.9": ts_server("npm-pins", "sdk-1.9"),
    "ts-1.12": ts_server("npm-pins", "sdk-1.12"),
    "ts-1.24": ts_server("npm-pins", "sdk-1.24"),
    "ts-2": ts_server("npm-pins", "@modelcontextprotocol/server"),
}


# Those that have tools which are tasks, for clients that know how to call them.
TASKS = {"ts-tasks": ts_server("npm", "@modelcontextprotocol/sdk", "--tasks", session="tasks", generates_values=True)}


def commit_memo(folder):
    """A repository with one commit and a change, the same one each time."""
    (folder / "memo.txt").write_text("buy tape\n")
    env = {"PATH": os.environ["PATH"], "HOME": os.fspath(folder), "GIT_AUTHOR_DATE": "2026-07-28T12:00:00Z",
           "GIT_COMMITTER_DATE": "2026-07-28T12:00:00Z"}
    for words in (["init", "--quiet", "--initial-branch=main"], ["add", "memo.txt"],
                  ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message=A memo"]):
        subprocess.run(["git", *words], cwd=folder, env=env, check=True)
    (folder / "memo.txt").write_text("buy two tapes\n")


def playwright(home, folder, *more):
    return node(home / "node_modules/@playwright/mcp/cli.js", "--headless", "--isolated", "--no-sandbox", "--executable-path",
                browser.program(), "--output-dir", folder, *more)


def devtools(home, folder):
    return node(home / "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", "--headless", "--isolated",
                "--chromeArg=--no-sandbox", "--executablePath", browser.program(), "--no-usage-statistics", "--no-performance-crux")


# Servers that people use; their sessions are small, and may need a page to look at.
POPULAR_SERVERS = {
    "git": Server("mcp-server-git", lambda home, folder: [home / "bin/python", "-m", "mcp_server_git", "--repository", folder],
                  "git", prepare=commit_memo),
    "sqlite": Server("mcp-server-sqlite", lambda home, folder: [
        home / "bin/python", "-c", "from mcp_server_sqlite import main; main()", "--db-path", folder / "reels.db"], "sqlite"),
    "playwright": Server("browsers", playwright, "playwright"),
    "devtools": Server("browsers", devtools, "devtools", env=lambda folder: {"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"}),
}


def stdio_server_named(name):
    return {**SERVERS, **TASKS, **POPULAR_SERVERS}[name]


def ts_http_server(group, package, *more, session="common", **traits):
    return ts_server(group, package, "--http", *more, session=session, **traits)


# The same over HTTP: each says its URL on stdout.
HTTP_SERVERS = {
    "ts": ts_http_server("npm", "@modelcontextprotocol/sdk"),
    "ts-1.13": ts_http_server("npm-pins", "sdk-1.13"),
    "ts-2": ts_http_server("conformance", "@modelcontextprotocol/server"),
    "python": Server("python", lambda home, folder: [home / "bin/python", SCRIPTS / "py-server.py", "--http", "0"],
                     "python"),
    "fastmcp": Server("fastmcp", lambda home, folder: [home / "bin/python", SCRIPTS / "fastmcp-server.py", "--http"],
                      "common"),
    "rmcp": Server("rmcp", lambda home, folder: [home / "bin/rmcp-peer", "server", "--http"], "common"),
    "mcp-lite": Server("others", lambda home, folder: node(SCRIPTS / "lite-server.mjs", home), "common"),
    "everything": Server(
        "npm", lambda home, folder: node("--import", SCRIPTS / "loopback.mjs",
                                         home / "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
                                         "streamableHttp"),
        "everything", generates_values=True),
}


HTTP_TASK_SERVERS = {
    "ts-tasks": ts_http_server("npm", "@modelcontextprotocol/sdk", "--tasks", session="tasks", generates_values=True)}


# One of those that people use, which checks the Host of a request; it says its URL on stderr.
HTTP_POPULAR_SERVERS = {
    "playwright": Server("browsers", lambda home, folder: playwright(home, folder, "--port", "0"), "playwright")}


# And over HTTP+SSE.
SSE_SERVERS = {
    "ts-1.9-sse": Server("npm-pins", lambda home, folder: node(SCRIPTS / "ts-server.mjs", home / "node_modules/sdk-1.9", "--sse"),
                         "common"),
    "python-sse": Server("python", lambda home, folder: [home / "bin/python", SCRIPTS / "py-server.py", "--sse", "0"],
                         "python", omitted_tools=("big",)),  # the Python SDK takes no event of more than a megabyte
    "fastmcp-sse": Server("fastmcp", lambda home, folder: [home / "bin/python", SCRIPTS / "fastmcp-server.py", "--sse"],
                          "common"),
    "everything-sse": Server(
        "npm", lambda home, folder: ["env", "LOOPBACK_PATH=/sse", *node(
            "--import", SCRIPTS / "loopback.mjs",
            home / "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "sse")],
        "everything", generates_values=True),
}


# Steps that the TypeScript SDK cannot do over HTTP even without mcpreel, and that are left out of the session: the server of
# the Python SDK answers the call that was cancelled ("cancel"), and mcp-lite rejects the GET stream of a session ("stream")
# if the client names the negotiated version instead of the requested one.
OMITTED_STEPS = {
    **{(client, "python"): "cancel" for client in ("ts", "ts-1.12", "ts-1.13", "ts-1.24", "ts-2")},
    **{(client, "mcp-lite"): "stream" for client in ("ts", "ts-2", "ts-2-auto")},
}


# Pairs that do not get along over HTTP with nothing in between: rmcp sends priming events also to clients of revisions
# that have none, and the older TypeScript SDKs complain; these servers refuse the Java SDK during its handshake.
INCOMPATIBLE_PAIRS = [("ts-1.12", "rmcp"), ("ts-1.13", "rmcp"), ("java", "ts-1.13"), ("java", "mcp-lite")]


def omitted_step(client, server):
    """The kind of step that a client plays the session of a server over HTTP without."""
    return OMITTED_STEPS.get((client, server), client_named(client).unsupported_step)


def http_server_named(name):
    return {**HTTP_SERVERS, **HTTP_TASK_SERVERS, **SSE_SERVERS, **HTTP_POPULAR_SERVERS}[name]


def generates_values(server):
    """Whether a server of either transport says other things in each run."""
    return {**SERVERS, **TASKS, **HTTP_SERVERS, **HTTP_TASK_SERVERS, **SSE_SERVERS, **POPULAR_SERVERS}[server].generates_values


@dataclass(frozen=True)
class SessionResult:
    """One session as a client saw it."""

    document: dict
    err: str
    mark: str  # in the environment of every process of it
    sent: bytes = None  # the rest is what the traffic log has, if there is one
    got: bytes = None
    status: int = None


class PeerRunner:
    """Everything needed to put a client in front of a server."""

    def __init__(self, home, run, tmp):
        self.home, self.run, self.tmp = home, run, tmp
        self.runs = itertools.count(1)
        self.page = ""  # the URL that stands for {page} in a session

    def new_folder(self):
        where = self.tmp / f"run-{next(self.runs)}"
        where.mkdir()
        return where

    def folder(self, server):
        """The server's own; always the same one, because answers name it."""
        return self.tmp / f"folder-of-{server}"

    def empty_folder(self, server):
        """The same as at the start of every session."""
        folder = self.folder(server)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        stdio_server_named(server).prepare(folder)
        return folder

    def server(self, name):
        peer = stdio_server_named(name)
        return peer.words(self.home(peer.group), self.folder(name))

    def client(self, name, ids="numbers"):
        peer = client_named(name)
        assert ids == "numbers" or peer.strings, f"'{name}' cannot choose its ids"
        words = peer.words(self.home(peer.group))
        return [*words, "--ids", ids] if ids != "numbers" else words

    def log_traffic(self, where, command):
        return [sys.executable, SCRIPTS / "traffic-log.py", where, "--", *command]

    def run_stdio(self, client, server, command=None, *, ids="numbers", env=None, logged=True):
        """Plays the server's session with it, or with what `command` starts in its place."""
        where, folder, mark = self.new_folder(), self.empty_folder(server), uuid.uuid4().hex
        script = self.script(stdio_server_named(server), where, folder, client_named(client).unsupported_step)
        command = command or self.server(server)
        if logged:
            command = self.log_traffic(where / "client-side", command)
        ran = self.run([*self.client(client, ids), script, "--", *command], timeout=120,
                       env={**stdio_server_named(server).env(folder), "MCPREEL_TEST_MARK": mark, **(env or {})})
        document = document_of(ran)
        seen = {}
        if logged:
            seen = {"sent": (where / "client-side/in").read_bytes(), "got": (where / "client-side/out").read_bytes(),
                    "status": int((where / "client-side/status").read_text())}
        return SessionResult(document=document, err=ran.err.decode(), mark=mark, **seen)


    def script(self, peer, where, folder, without=None):
        """The session of a server as a file, `without` the steps of one kind."""
        text = (SCRIPTS / "sessions" / f"{peer.session}.json").read_text()
        script = json.loads(text.replace("{folder}", os.fspath(folder)).replace("{page}", self.page))
        script["steps"] = [step for step in script["steps"]
                           if step.get("params", {}).get("name") not in peer.omitted_tools and without not in step]
        (where / "session.json").write_text(json.dumps(script))
        return where / "session.json"

    @contextlib.contextmanager
    def serve_http(self, name):
        """The URL of a server over HTTP, which ends with the block."""
        peer, where = http_server_named(name), self.new_folder()
        command = peer.words(self.home(peer.group), where)
        with (where / "out").open("wb") as out, (where / "err").open("wb") as err, started(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err) as process:
            yield url_in(where / "out", process)

    def run_http(self, client, server, url, ids="numbers"):
        """Plays the session of a server with whatever is at the URL: the document."""
        where, without = self.new_folder(), omitted_step(client, server)
        script = self.script(http_server_named(server), where, where, without)
        alone = ["--no-stream"] if without == "stream" else []
        return document_of(self.run([*self.client(client, ids), *alone, "--url", url, script], timeout=120))


def mark_rare(pairs, always=()):
    """Marks pairs of a client and a server as `rare` if each of the two is in an earlier pair, or in one of `always`."""
    seen, marked = {("client", client) for client, _ in always} | {("server", server) for _, server in always}, []
    for pair in pairs:
        client, server = values = tuple(getattr(pair, "values", pair))
        peers = {("client", client), ("server", server)}
        if peers <= seen and values not in always:
            pair = pytest.param(*values, marks=[*getattr(pair, "marks", []), pytest.mark.rare])
        seen |= peers
        marked.append(pair)
    return marked


def document_of(ran):
    assert ran.code == 0, str(ran)
    document = json.loads(ran.out)
    assert document["trouble"] == [], str(ran)
    return document


def remaining_processes(mark, timeout_s=5):
    """The processes of a session that are still there, given a moment to go; zombies have no environment."""
    def alive():
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (process / "environ").read_bytes():
                    yield f"{process.name}: {(process / 'cmdline').read_bytes().decode(errors='replace')}"
            except OSError:
                pass  # gone meanwhile, or not ours

    deadline = time.monotonic() + timeout_s
    while (found := list(alive())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


CLOCK = re.compile(r"created at \d{1,2}:\d\d:\d\d(\s[AP]M)?")
TASK_ID = re.compile(r"\b[0-9a-f]{32}\b")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def without_generated_values(value, key=None):
    """The same document without what a server makes up in each run. server-everything: the wall-clock time in its
    dynamic resources, in base64 where they are blobs, and the id of an elicitation it names itself. Those with
    tasks: their ids and times."""
    if isinstance(value, dict):
        return {k: without_generated_values(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [without_generated_values(v) for v in value]
    if not isinstance(value, str):
        return value
    if key == "blob" and CLOCK.search(base64.b64decode(value).decode(errors="replace")):
        return without_generated_values(base64.b64decode(value).decode())
    if key == "elicitationId":
        return UUID.sub("UUID", value)
    if key in ("createdAt", "lastUpdatedAt"):
        return "TIME"
    return TASK_ID.sub("TASK", CLOCK.sub("created at TIME", value))


def group_unsolicited(document, server):
    """A session whose unsolicited messages can arrive during another step, but they do arrive: over HTTP they have a
    stream of their own. For server-everything the session id, which it prints, is removed."""
    if generates_values(server):
        document = json.loads(re.sub(r"\bsession [^\s\"]+", "session NAME", json.dumps(without_generated_values(document))))
    received = [one for step in document["steps"] for one in step["heard"]]
    steps = [{key: value for key, value in step.items() if key != "heard"} for step in document["steps"]]
    return {**document, "steps": steps, "heard": sorted(received, key=json.dumps)}


def differences(one, other, path="$"):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{path}.{key}: only in the {'second' if key in other else 'first'}"
            else:
                yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}[{i}]")
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield f"{path}: {json.dumps(one, ensure_ascii=False)[:300]} != {json.dumps(other, ensure_ascii=False)[:300]}"


def assert_same(one, other):
    found = list(differences(one, other))
    assert not found, "\n".join([f"{len(found)} differences", *found[:20]])


def assert_same_live(server, one, other):
    """Removes from a run of a server the values that it generates."""
    if stdio_server_named(server).generates_values:
        one, other = without_generated_values(one), without_generated_values(other)
    assert_same(one, other)

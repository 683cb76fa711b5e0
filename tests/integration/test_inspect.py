"""inspect on files that no test would keep in the tree: large ones, and hostile ones.

Memory is measured on the optimised build, whatever the program under test is: sanitizers keep
memory of their own.
"""
import collections
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

import pytest

from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
LIMIT_KB = 32 * 1024
MB = 1_000_000

HEADER = ('{"type":"header","version":"1.0","recorded_at":"2026-11-15T21:00:00Z","upstream":"u",'
          '"thoughtjack_version":"0.3.0","us":0}\n')


def message(seq, direction, msg):
    return (f'{{"type":"message","seq":{seq},"ts":"2026-11-15T21:00:00Z","dir":"{direction}",'
            f'"msg":{msg},"us":{seq},"conn":1}}\n')


def call(seq, name):
    return message(seq, "c2s", f'{{"jsonrpc":"2.0","id":{seq},"method":"tools/call","params":'
                               f'{{"name":"{name}","arguments":{{}}}}}}')


def response(seq, request_id):
    return message(seq, "s2c", f'{{"jsonrpc":"2.0","id":{request_id},"result":{{"content":[]}}}}')


def many_tools(n):
    """Every call a tool and an id of its own, all answered."""
    return call(2 * n + 1, f"tool-{n}") + response(2 * n + 2, 2 * n + 1)


def never_answered(n):
    return call(n + 1, f"tool-{n}")


def long_names(n):
    return call(n + 1, f"{n}-" + "x" * 20000)


def many_lists(n):
    """Other tools in every list, other codes and notifications every time."""
    tools = ",".join(f'{{"name":"t{n}-{i}"}}' for i in range(20))
    return (message(4 * n + 1, "c2s", f'{{"id":{n},"method":"tools/list"}}') +
            message(4 * n + 2, "s2c", f'{{"id":{n},"result":{{"tools":[{tools}]}}}}') +
            message(4 * n + 3, "s2c", f'{{"method":"notifications/{n}"}}') +
            message(4 * n + 4, "s2c", f'{{"id":"x{n}","error":{{"code":{n},"message":""}}}}'))


def many_sessions(n):
    return message(2 * n + 1, "c2s", f'{{"id":{n},"method":"initialize","params":{{"clientInfo":'
                                     f'{{"name":"client {n}"}}}}}}') + response(2 * n + 2, n)


def one_id(n):
    """All requests wait under the same id."""
    return message(n + 1, "c2s", '{"id":1,"method":"ping"}')


def generate(path, size, lines):
    with open(path, "w") as f:
        written, n = f.write(HEADER), 0
        while written < size:
            written += f.write("".join(lines(i) for i in range(n, n + 500)))
            n += 500
    return path


def measure(path):
    rss, seconds, out = measured(OPTIMISED, "inspect", "--json", path)
    return rss, seconds, json.loads(out)


def test_the_measurement_detects_memory():
    """The floor is below the limit, and a program over the limit is noticed."""
    assert measured(sys.executable, "-c", "x = b'x' * 64_000_000")[0] > LIMIT_KB
    assert measured(OPTIMISED, "version")[0] < LIMIT_KB / 2


@pytest.mark.parametrize("lines, megabytes", [
    (many_tools, 200), (never_answered, 40), (long_names, 40), (many_lists, 20),
    (many_sessions, 20), (one_id, 20),
], ids=lambda v: getattr(v, "__name__", f"{v}MB"))
def test_memory_is_bounded_whatever_the_file_holds(lines, megabytes, tmp_path):
    path = generate(tmp_path / "large.jsonl", megabytes * MB, lines)
    rss, seconds, _ = measure(path)
    assert rss <= LIMIT_KB
    assert seconds < 1 + megabytes / 20  # a hang, not a slow machine


def test_counts_of_a_large_file_are_right(tmp_path):
    path = tmp_path / "a.jsonl"
    n = 20000
    path.write_text(HEADER + "".join(many_tools(i) for i in range(n)) + call(2 * n + 1, "tool-3"))
    _, _, seen = measure(path)
    assert seen["totals"]["client"]["requests"] == n + 1
    assert sum(op["calls"] for op in seen["operations"]) == n + 1
    assert sum(op["answered"] for op in seen["operations"]) == n
    assert len(seen["operations"]) == 513 and seen["operations"][-1]["aggregate"]
    assert seen["operations"][3]["calls"] == 2
    assert [(o["rule"], o["count"]) for o in seen["findings"]] == [("no-footer", 1), ("unanswered", 1)]


def documented(section, table=r"^\| (`.+?) \|"):
    page = (ROOT / "docs" / "json-output.md").read_text()
    part = re.search(rf"^#+ {section}\n(.*?)(?=^#|\Z)", page, re.M | re.S)[1]
    return [name for row in re.findall(table, part, re.M) for name in re.findall(r"`([^`]+)`", row)]


def test_the_json_output_has_the_documented_members(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + many_tools(0))
    seen = json.loads(run([mcpreel, "inspect", "--json", path]).out)
    assert documented("`inspect`") == list(seen)


def test_the_json_output_of_a_call_has_the_documented_members(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + call(1, "a") +
                    message(2, "s2c", '{"id":1,"method":"elicitation/create"}') +
                    message(4, "c2s", '{"id":1,"result":{}}') + response(5, 1))
    seen = json.loads(run([mcpreel, "inspect", "--json", path]).out)["operations"][0]
    page = (ROOT / "docs" / "json-output.md").read_text()
    assert documented("Calls in numbers") == list(seen)[3:19]
    assert [name for name in list(seen)[:3] + list(seen)[19:] if f"`{name}`" not in page] == []


def recordings_of(case):
    """The recordings that a golden case is about."""
    files, name = {}, None
    for line in case.read_text().splitlines():
        if line.startswith("file "):
            name = line[5:]
            files[name] = ""
        elif line.startswith("| ") and name:
            files[name] += line[2:] + "\n"
        elif not line.startswith("|"):
            name = None
    return [text for text in files.values() if text.startswith('{"type":"header","version":"1.0"')]


@pytest.mark.parametrize("case", sorted((ROOT / "tests" / "golden").glob("*.case")), ids=lambda p: p.stem)
def test_inspect_counts_the_operations_that_show_lists(case, mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    for text in recordings_of(case):
        path.write_text(text)
        shown = run([mcpreel, "show", "--json", path])
        report = run([mcpreel, "inspect", "--json", path])
        assert report.code == shown.code
        if shown.code:
            continue
        shown = [json.loads(line) for line in shown.out.splitlines()]
        totals = json.loads(report.out)["totals"]
        assert totals["operations"] == len(shown)
        parts = [op for op in shown if op["kind"] == "request" and op["link"] in ("retry", "task", "page")
                 and "after-end" not in op["flags"] and any(m["role"] == "request" for m in op["messages"])]
        assert totals["children"] == len(parts)
        assert {k: v for k, v in totals["outcomes"].items() if v} == \
            dict(collections.Counter(op["outcome"] for op in shown if op not in parts))


def test_the_corpus_has_recordings_to_compare():
    found = sum(len(recordings_of(p)) for p in (ROOT / "tests" / "golden").glob("*.case"))
    assert found > 10


def test_the_documented_findings_are_those_of_the_program():
    """Those of inspect in their order, then those that check alone makes."""
    sources = {path.name: path.read_text() for folder in ("report", "check")
               for path in (ROOT / "src" / folder).glob("*.c")}
    inspected = re.findall(r"\[STATS_\w+\] =\s*\{ \"([a-z-]+)\"", sources["findings.c"])
    checked = {*re.findall(r"\[DEFINITION_\w+\] = \"([a-z-]+)\"", sources["definition-check.c"]),
               *re.findall(r"STR(?:_INIT)?\(\"((?:expect|forbid|max)-[a-z-]+)\"\)", sources["gate.c"]),
               *re.findall(r"\.rule = STR\(\"([a-z-]+)\"\)", sources["assertion.c"])}
    found = documented("Findings")[1:]
    assert len(inspected) > 20
    assert len(checked) > 10
    assert found[:len(inspected)] == inspected
    assert sorted(found[len(inspected):]) == sorted(checked)


# A pipe that is fed slowly is slow on every machine.
FEED = f"""
import sys, time
sys.stdout.write({HEADER!r})
for i in range(14):
    sys.stdout.write({many_tools(0)!r} * 2000)
    sys.stdout.flush()
    time.sleep(0.1)
"""


def read_terminal(fd):
    """Returns the output on our side of a terminal until the other side is closed."""
    terminal_output = b""
    while True:
        try:
            terminal_output += os.read(fd, 65536)
        except OSError:
            return terminal_output


def watch(command, out_too=False):
    """Returns the terminal output of a command that reads a slow pipe."""
    feed = subprocess.Popen([sys.executable, "-c", FEED], stdout=subprocess.PIPE)
    ours, theirs = pty.openpty()
    p = subprocess.Popen(command, stdin=feed.stdout, stdout=theirs if out_too else subprocess.DEVNULL,
                         stderr=theirs)
    feed.stdout.close()
    os.close(theirs)
    terminal_output = read_terminal(ours)
    os.close(ours)
    assert p.wait(20) in (0, 1)
    assert feed.wait(20) == 0
    return terminal_output


@pytest.mark.parametrize("words", [["inspect"], ["check"], ["show"], ["show", "-m"], ["convert", "-o"]],
                         ids=" ".join)
def test_progress_is_shown_on_a_terminal_and_removed_at_the_end(words, mcpreel, tmp_path):
    more = [str(tmp_path / "out.trace.jsonl")] if "-o" in words else []
    terminal_output = watch([mcpreel, *words, *more, "-"])
    assert re.search(rb"(reading|converting) -  [0-9.]+ MB *\r", terminal_output), terminal_output
    assert re.search(rb"\r +\r", terminal_output), terminal_output


def test_rows_on_the_same_terminal_are_not_mixed_with_progress(mcpreel):
    terminal_output = watch([mcpreel, "show", "-", "id:1"], out_too=True)
    drawn = re.findall(rb"reading -  [0-9.]+ MB *\r( +\r|reading|)", terminal_output)
    assert drawn and all(drawn), drawn  # erased or redrawn before any other output
    rows = re.findall(rb"^(?:.*\r)? *\d+ +\d+\.\d+ +client +tools/call tool-0 +ok .*\r$", terminal_output, re.M)
    assert len(rows) == 14 * 2000

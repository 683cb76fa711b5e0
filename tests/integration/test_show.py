"""show on files that no test would keep in the tree, and against its documentation."""
import json
import pathlib
import re
import subprocess

import pytest

from measure import measured
from test_inspect import (HEADER, LIMIT_KB, MB, OPTIMISED, answer, call, documented, generate,
                          long_names, many_lists, many_tools, never_answered, one_id)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(*words):
    return measured(OPTIMISED, "show", *words)[:2]


def first_never_ends(n):
    """Everything waits for the row of the first."""
    return call(1, "patient") if n == 0 else call(2 * n, f"t{n}") + answer(2 * n + 1, 2 * n)


@pytest.mark.parametrize("lines, megabytes, limit", [
    (many_tools, 100, LIMIT_KB), (never_answered, 30, 2 * LIMIT_KB),
    (long_names, 30, 2 * LIMIT_KB), (many_lists, 20, LIMIT_KB), (one_id, 20, 2 * LIMIT_KB),
    (first_never_ends, 40, 2 * LIMIT_KB),
], ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("words", [(), ("-m",), ("is:error",), ("--last", "5")], ids=" ".join)
def test_memory_is_bounded_whatever_the_file_holds(lines, megabytes, limit, words, tmp_path):
    path = generate(tmp_path / "large.jsonl", megabytes * MB, lines)
    rss, seconds = measure(path, *words)
    assert rss <= limit
    assert seconds < 2 + megabytes / 5  # a hang, not a slow machine


def test_a_row_that_waits_too_long_is_passed_over(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + "".join(first_never_ends(n) for n in range(20000)))
    rows = [json.loads(line)["number"] for line in run([mcpreel, "show", "--json", path]).out.splitlines()]
    assert sorted(rows) == list(range(1, 20001))
    assert rows[0] == 2 and rows[-1] == 1


def test_a_closed_pipe_ends_it_quietly(mcpreel, tmp_path):
    path = generate(tmp_path / "a.jsonl", 5 * MB, many_tools)
    for disposition in ("trap - PIPE", "trap '' PIPE"):
        p = subprocess.run(["bash", "-c", f"{disposition}; '{mcpreel}' show '{path}' | head -n 1; "
                            "echo ${PIPESTATUS[0]}"], capture_output=True, text=True, timeout=60)
        assert p.stderr == ""
        assert p.stdout.splitlines()[1] in ("0", "141")


def test_the_documented_members_are_what_comes_out(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + many_tools(0))
    operation = json.loads(run([mcpreel, "show", "--json", path]).out)
    message = json.loads(run([mcpreel, "show", "--json", "-m", path]).out.splitlines()[0])
    assert documented("Operations that show lists") == list(operation)
    assert documented("Messages that show lists") == list(message)


def words_of_help(mcpreel, run):
    text = run([mcpreel, "help", "filters"]).out.decode()
    return re.findall(r"^  (\S+) +.+$", text.split("The keys:")[1], re.M)


def test_the_documented_keys_and_words_are_those_of_the_program(mcpreel, run):
    page = (ROOT / "docs" / "filters.md").read_text().split("## The keys")[1]
    assert re.findall(r"^\| `([^`]+)`", page, re.M) == words_of_help(mcpreel, run)


def test_every_documented_example_is_a_filter(mcpreel, run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + many_tools(0))
    page = (ROOT / "docs" / "filters.md").read_text().split("## The keys")[1]
    examples = re.findall(r"^\| `[^`]+`.*\| `([^`]+)` \|$", page, re.M)
    assert len(examples) > 20
    for example in examples:
        assert run([mcpreel, "show", path, "--filter", example]).code == 0

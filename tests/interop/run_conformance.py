#!/usr/bin/env python3
"""Let the official conformance suite check one build, outside of the tests: the table, and every check that differs.

    tests/interop/run_conformance.py SUITE [--mcpreel PROGRAM] [--scenario NAME]… [--keep FOLDER] [-- REPLAY OPTION…]

SUITE is a revision or 0.1.16, as in conformance.py. With --scenario only those are run, which takes seconds. The
recording and what mcpreel said stay in FOLDER.
"""
import argparse
import contextlib
import dataclasses
import importlib.util
import itertools
import pathlib
import re
import shutil
import sys
import tempfile

from conformance import SUITES, ConformanceRunner, Verdict, differences, listening, recording, replaying, table

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fixtures():
    """The conftest of all tests: it installs peers and runs commands."""
    spec = importlib.util.spec_from_file_location("fixtures", ROOT / "tests/conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments():
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--mcpreel", type=pathlib.Path, default=ROOT / "build/mcpreel")
    parser.add_argument("--scenario", action="append")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args(sys.argv[1:cut])
    args.how = sys.argv[cut + 1:]
    return args


def version(args):
    return () if args.suite == "0.1.16" else ("--spec-version", args.suite)


def suites(args):
    suite = SUITES[args.suite]
    if not args.scenario:
        return [suite]
    return [dataclasses.replace(suite, words=("--scenario", name, *version(args))) for name in args.scenario]


def unknown(args, conformance_runner):
    """Returns the error of the given names; the suite runs nothing for unknown ones, and only mentions that among
    much other output."""
    listed = conformance_runner.suite(SUITES[args.suite], "list", "--server", *version(args))
    known = re.findall(r"^  - (\S+)", listed.out.decode(), re.M)
    assert known, str(listed)
    return [f"'{name}' is no scenario for servers of {args.suite}" for name in args.scenario or () if name not in known]


def compare_runs(args, conformance_runner, folder):
    def verdict(url):
        parts = [conformance_runner.run_server_suite(suite, url) for suite in suites(args)]
        return Verdict({name: checks for part in parts for name, checks in part.scenarios.items()})

    file, columns = folder / "suite.jsonl", {}
    with conformance_runner.server() as url:
        columns["direct"] = verdict(url)
        with listening(recording(args.mcpreel, url, file), folder / "record.err") as address:
            columns["recorded"] = verdict(f"{address}/mcp")
    with listening(replaying(args.mcpreel, file, *args.how), folder / "replay.err") as address:
        columns["replayed"] = verdict(f"{address}/mcp")
        print(table(args.suite, columns))
    return [f"{name}: {one}" for name in ("recorded", "replayed") for one in differences(columns["direct"], columns[name])]


def main():
    args = arguments()
    common = fixtures()
    with contextlib.ExitStack() as stack:
        folder = args.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "suite.jsonl").unlink(missing_ok=True)
        runs = itertools.count(1)

        def new_folder():
            where = folder / f"run-{next(runs)}"
            shutil.rmtree(where, ignore_errors=True)
            where.mkdir()
            return where

        conformance_runner = ConformanceRunner(common.installed("conformance"), common.run_command, new_folder)
        if wrong := unknown(args, conformance_runner):
            print("\n".join(f"run_conformance.py: {one}" for one in wrong), file=sys.stderr)
            return 2
        found = compare_runs(args, conformance_runner, folder)
    print("\n".join(found) or "no check differs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

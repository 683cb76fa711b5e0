"""The queries of docs/at-scale.md give the numbers of stats, in DuckDB and in ClickHouse (chdb)."""
import json
import os
import pathlib
import re
import subprocess

import pytest

pytestmark = pytest.mark.interop

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "at-scale.md"
ERRORS = "rpc_errors", "tool_errors", "http_errors", "malformed"
RUNNER = """
import json, sys
database, query = sys.argv[1:]
if database == "DuckDB":
    import duckdb
    cursor = duckdb.sql(query)
    print(json.dumps([dict(zip(cursor.columns, row)) for row in cursor.fetchall()]))
else:
    import chdb
    print(json.dumps([json.loads(line) for line in str(chdb.query(query, "JSONEachRow")).splitlines()]))
"""


def queries():
    """The SQL below each "DATABASE:" line, in the order of the page."""
    return re.findall(r"^(DuckDB|ClickHouse)\b[^\n]*:\n\n```text\n(.*?);\n```$", PAGE.read_text(), re.M | re.S)


@pytest.fixture(scope="module")
def folder(mcpreel, tmp_path_factory):
    """Made by the commands of the page."""
    where = tmp_path_factory.mktemp("fleet")
    script = re.search(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S)[1]
    env = {**os.environ, "PATH": f"{pathlib.Path(mcpreel).parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=where, env=env, check=True, capture_output=True)
    return where


@pytest.fixture(scope="module")
def stats(mcpreel, folder):
    files = sorted(folder.glob("recordings/*.jsonl"))
    servers = json.loads(subprocess.run([mcpreel, "stats", "--json", *files], check=True, capture_output=True).stdout)["servers"]
    return [{**row, "errors": sum(row[kind] for kind in ERRORS)} for server in servers for row in server["operations"]
            if row["calls"] and row["from"] == "client"]


def rows_of(home, folder, number):
    database, query = queries()[number]
    done = subprocess.run([home / "bin" / "python", "-c", RUNNER, database, query], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [{name: int(v) if isinstance(v, str) and v.isdigit() else v for name, v in row.items()} for row in json.loads(done.stdout)]


def test_the_page_has_two_queries_for_each_database():
    assert [database for database, _ in queries()] == ["DuckDB", "ClickHouse"] * 2


@pytest.mark.parametrize("number", [0, 1])
def test_rows_give_the_numbers_of_stats(number, peer_home, folder, stats):
    got = {(row["method"], row["subject"]): (row["calls"], row["errors"], row["server_max_us"], row["bytes"])
           for row in rows_of(peer_home("tables"), folder, number)}
    assert got == {(row["method"], row.get("subject")): (row["calls"], row["errors"], row["server_max_us"], row["bytes"])
                   for row in stats} and len(got) > 5


@pytest.mark.parametrize("number", [2, 3])
def test_recordings_as_they_are_give_the_numbers_of_stats(number, peer_home, folder, stats):
    got = {row["subject"]: (row["calls"], row["rpc_errors"]) for row in rows_of(peer_home("tables"), folder, number)}
    want = {row["subject"]: (row["calls"], row["rpc_errors"]) for row in stats if row["method"] == "tools/call"}
    assert got == want and sum(errors for _, errors in want.values())

"""csv and flat: the rows of many recordings in SQLite give the numbers of stats."""
import csv
import json
import pathlib
import re
import sqlite3

import pytest

from test_stats import recordings, rows_of, stats  # noqa: F401  a fixture

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "formats" / "flat.md"
NUMBERS = """
    SELECT server, server_version, method, subject, count(*), sum(outcome = 'rpc-error'), sum(outcome = 'tool-error'), sum(outcome = 'pending'),
           max(server_us), sum(bytes), sum(result_bytes > 0), sum(result_bytes), max(result_bytes)
    FROM calls WHERE is_call AND "from" = 'client' GROUP BY server, server_version, method, subject"""


def typed(row):
    """Values of a line of CSV as JSON has them."""
    numbers = {name for name in row if name.endswith(("_us", "bytes", "_code", "status")) or name in ("session", "number", "parent")}
    return {name: None if value == "" else int(value) if name in numbers else value == "true" if name == "is_call" else value
            for name, value in row.items()}


def read_csv(path):
    with open(path, newline="") as file:
        return [typed(row) for row in csv.DictReader(file, strict=True)]


def read_flat(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def table_of(rows):
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE calls ({', '.join(chr(34) + name + chr(34) for name in rows[0])})")
    database.executemany(f"INSERT INTO calls VALUES ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows])
    return database


@pytest.mark.parametrize("ending, read", [("csv", read_csv), ("flat.jsonl", read_flat)])
def test_rows_in_a_database_give_the_numbers_of_stats(ending, read, mcpreel, run, recordings, tmp_path):  # noqa: F811
    rows = []
    for n, path in enumerate(sorted(recordings.iterdir())):
        assert run([mcpreel, "convert", path, "-o", tmp_path / f"{n}.{ending}"]).code == 0
        rows += read(tmp_path / f"{n}.{ending}")
    got = {row[:4]: row[4:] for row in table_of(rows).execute(NUMBERS)}
    want = {}
    for server in stats(run, mcpreel, recordings)["servers"]:
        for (method, subject), row in rows_of(server).items():
            if row["calls"]:
                want[server["name"], server["version"], method, subject] = (
                    row["calls"], row["rpc_errors"], row["tool_errors"], row["pending"], row.get("server_max_us"), row["bytes"],
                    row["results"] or None, row["result_bytes"] or None, row["result_max_bytes"] or None)
    assert got == want and len(want) > 20


def test_the_query_of_the_page_gives_the_calls_of_stats(mcpreel, run, recordings, tmp_path):  # noqa: F811
    rows = []
    for n, path in enumerate(sorted(recordings.iterdir())[:20]):
        assert run([mcpreel, "convert", path, "-o", tmp_path / f"{n}.csv"]).code == 0
        rows += csv.DictReader(open(tmp_path / f"{n}.csv", newline=""))
    query = re.search(r"^SELECT.*?;$", PAGE.read_text(), re.M | re.S)[0]
    servers = stats(run, mcpreel, *sorted(recordings.iterdir())[:20])["servers"]
    got = list(table_of(rows).execute(query))
    assert sum(row[3] for row in got) == sum(server["calls"] for server in servers) > 0
    assert sum(row[4] for row in got) == sum(server["errors"] for server in servers) > 0


def test_both_tables_have_the_same_rows_and_the_documented_columns(mcpreel, run, tmp_path):
    source = tmp_path / "a.jsonl"
    assert run([mcpreel, "demo", "-o", source]).code == 0
    for name in ("a.csv", "a.flat.jsonl", "b.csv.gz"):
        assert run([mcpreel, "convert", source, "-o", tmp_path / name]).code == 0
    rows = read_csv(tmp_path / "a.csv")
    assert rows == read_flat(tmp_path / "a.flat.jsonl") and len(rows) == 10
    assert all(f"`{name}`" in PAGE.read_text() for name in rows[0])
    assert [row["subject"] for row in rows if row["outcome"] != "ok"] == ["divide", "teleport"]


def test_hostile_names_stay_in_their_cell(mcpreel, run, tmp_path):
    name = 'a,"b"\r\n=1+1\x1b\u202e,,'
    message = json.dumps({"type": "message", "seq": 1, "ts": "2026-11-15T21:00:00Z", "dir": "c2s",
                          "msg": {"id": 1, "method": "tools/call", "params": {"name": name}}})
    (tmp_path / "a.jsonl").write_text(message + "\n")
    for ending, read in (("csv", read_csv), ("flat.jsonl", read_flat)):
        assert run([mcpreel, "convert", tmp_path / "a.jsonl", "-o", tmp_path / f"b.{ending}"]).code == 0
        [row] = read(tmp_path / f"b.{ending}")
        assert row["subject"] == name and row["outcome"] == "pending"


def test_tables_are_only_exported(mcpreel, run, tmp_path):
    source, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    assert run([mcpreel, "demo", "-o", source]).code == 0
    ran = run([mcpreel, "record", "-o", table, "--", "cat"])
    assert ran.code == 2 and b"mcpreel only writes it" in ran.err and not table.exists()
    ran = run([mcpreel, "convert", "--lossless", source, "-o", table])
    assert ran.code == 1 and not table.exists()
    assert run([mcpreel, "convert", source, "-o", table]).code == 0
    ran = run([mcpreel, "inspect", table])
    assert ran.code == 3 and b"which mcpreel only writes" in ran.err
    assert json.loads(run([mcpreel, "list", "--json", tmp_path]).out)["other_files"] == 1

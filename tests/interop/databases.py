"""The queries of docs/at-scale.md, run in a database over folders that the commands of the page make, and the same numbers from stats."""
import json
import os
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "at-scale.md"
ERRORS = "rpc_errors", "tool_errors", "http_errors", "malformed"
ROWS, RECORDINGS = 0, 1
RUNNER = """
import json, sys
database, query = sys.argv[1:]
if database == "DuckDB":
    import duckdb
    cursor = duckdb.sql(query)
    print(json.dumps([dict(zip(cursor.columns, row)) for row in cursor.fetchall()]))
elif database == "ClickHouse":
    import chdb
    print(json.dumps([json.loads(line) for line in str(chdb.query(query, "JSONEachRow")).splitlines()]))
else:
    from pyspark.sql import SparkSession
    local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    spark = SparkSession.builder.master("local[2]").config(map=local).getOrCreate()
    print(json.dumps([row.asDict() for row in spark.sql(query).collect()]))
"""


def queries(database):
    """The SQL below each "DATABASE:" line, in the order of the page: of ROWS, of RECORDINGS."""
    return re.findall(rf"^{database}\b[^\n]*:\n\n```text\n(.*?);\n```$", PAGE.read_text(), re.M | re.S)


def commands():
    return re.search(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S)[1]


def make_folders(mcpreel, where, script):
    env = {**os.environ, "PATH": f"{pathlib.Path(mcpreel).parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=where, env=env, check=True, capture_output=True)


def stats_of(mcpreel, files):
    """The operations that clients called."""
    servers = json.loads(subprocess.run([mcpreel, "stats", "--json", *files], check=True, capture_output=True).stdout)["servers"]
    return [{**row, "errors": sum(row[kind] for kind in ERRORS)} for server in servers for row in server["operations"]
            if row["calls"] and row["from"] == "client"]


def result_of(home, folder, database, query):
    done = subprocess.run([home / "bin" / "python", "-c", RUNNER, database, query], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [{name: int(v) if isinstance(v, str) and v.isdigit() else v for name, v in row.items()} for row in json.loads(done.stdout)]


def assert_rows(result, stats):
    got = {(row["method"], row["subject"]): (row["calls"], row["errors"], row["server_max_us"], row["bytes"]) for row in result}
    want = {(row["method"], row.get("subject")): (row["calls"], row["errors"], row["server_max_us"], row["bytes"]) for row in stats}
    assert got == want and len(got) > 5, f"the query gives\n{got}\nand stats\n{want}"


def assert_recordings(result, stats):
    got = {row["subject"]: (row["calls"], row["rpc_errors"]) for row in result}
    want = {row["subject"]: (row["calls"], row["rpc_errors"]) for row in stats if row["method"] == "tools/call"}
    assert got == want and sum(errors for _, errors in want.values()), f"the query gives\n{got}\nand stats\n{want}"

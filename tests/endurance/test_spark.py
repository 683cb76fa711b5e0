"""The queries of docs/at-scale.md give the numbers of stats in Spark, over recordings of several days and servers."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from databases import RECORDINGS, ROWS, assert_recordings, assert_rows, commands, make_folders, queries, result_of, stats_of  # noqa: E402

DAYS = ["2027-01-14", "2027-01-15", "2027-01-16"]
FILES = {"mcpreel-demo": 2, "shop": 3}  # for each day


def dated(recording, day, server):
    """The recording with the date and the name of the server replaced."""
    for line in map(json.loads, recording.splitlines()):
        for name in "recorded_at", "ts":
            if name in line:
                line[name] = day + line[name][10:]
        for info in line.get("server_info"), line.get("msg", {}).get("result", {}).get("serverInfo"):
            if info:
                info["name"] = server
        yield json.dumps(line) + "\n"


@pytest.fixture(scope="module")
def folder(mcpreel, tmp_path_factory):
    """Recordings of the demo, and the folders that the commands of the page make of them."""
    where = tmp_path_factory.mktemp("fleet")
    source, demo = where / "demo.jsonl", f"'{mcpreel}' demo -o demo.jsonl --force"
    (where / "recordings").mkdir()
    for day in DAYS:
        for server, count in FILES.items():
            for n in range(count):
                make_folders(mcpreel, where, demo)
                (where / "recordings" / f"{server}-{day}-{n}.jsonl").write_text("".join(dated(source.read_text(), day, server)))
    make_folders(mcpreel, where, commands()[commands().index("for file"):])
    assert len(list(where.glob("calls/day=*/service=*/*.flat.jsonl"))) == len(DAYS) * sum(FILES.values())
    return where


@pytest.mark.parametrize("server", FILES)
@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_a_server_since_a_day_give_the_numbers_of_stats(server, first, mcpreel, peer_home, folder):
    query = queries("Spark")[ROWS].replace("mcpreel-demo", server).replace("2020-01-01", DAYS[first])
    files = [file for day in DAYS[first:] for file in folder.glob(f"recordings/{server}-{day}-*.jsonl")]
    result, stats = result_of(peer_home("spark"), folder, "Spark", query), stats_of(mcpreel, files)
    assert {row["server"] for row in result} == {server}
    assert len(files) == FILES[server] * len(DAYS[first:]) and max(row["calls"] for row in stats) == len(files)
    assert_rows(result, stats)


def test_recordings_as_they_are_give_the_numbers_of_stats(mcpreel, peer_home, folder):
    """The query has no server, so the numbers of stats for each server are added up."""
    stats = {}
    for row in stats_of(mcpreel, sorted(folder.glob("recordings/*.jsonl"))):
        same = stats.setdefault((row["method"], row.get("subject")), {**row, "calls": 0, "rpc_errors": 0})
        same["calls"] += row["calls"]
        same["rpc_errors"] += row["rpc_errors"]
    assert_recordings(result_of(peer_home("spark"), folder, "Spark", queries("Spark")[RECORDINGS]), stats.values())

"""stats over many recordings, against an oracle in Python that counts the same from the lines of the files."""
import collections
import json
import math
import os
import random

import pytest

from test_inspect import documented

SUBJECTS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "resources/subscribe": "uri"}


class Row:
    """Numbers of the oracle about one method and name of one server."""

    def __init__(self):
        self.calls, self.bytes, self.listings, self.definition = 0, 0, 0, 0
        self.outcomes, self.times, self.results = collections.Counter(), [], []


def members(text):
    """The text of each member of an object, or of each element of an array, with its blanks."""
    decoder, at, key = json.JSONDecoder(), 1, None
    found = {} if text[0] == "{" else []
    while True:
        while text[at] in " \t\r\n,:":
            at += 1
        if text[at] in "}]":
            return found
        value, end = decoder.raw_decode(text, at)
        if isinstance(found, list):
            found.append(text[at:end])
        elif key is None:
            key = value
        else:
            found[key], key = text[at:end], None
        at = end


def size(text):
    return len(text.encode())


def messages_of(path):
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "message":
            yield record, members(line)["msg"]


def answered(row, sent, record, text):
    message = record["msg"]
    row.times.append(record["us"] - sent["us"])
    if "error" in message:
        row.outcomes["rpc_errors"] += 1
        return
    row.outcomes["tool_errors" if message["result"].get("isError") is True else "ok"] += 1
    row.results.append(size(members(text)["result"]))


def oracle(paths):
    """Rows by server and name: only requests of the client, without retries, tasks and pages."""
    servers = collections.defaultdict(lambda: collections.defaultdict(Row))
    for path in paths:
        rows, server, open_requests = collections.defaultdict(Row), None, {}
        for record, text in messages_of(path):
            message, key = record["msg"], record["msg"].get("id")
            if record["dir"] == "c2s" and "method" in message and key is not None:
                subject = message.get("params", {}).get(SUBJECTS.get(message["method"], ""))
                row = rows[message["method"], subject]
                row.calls += 1
                row.bytes += size(text)
                open_requests[key] = row, record
            elif record["dir"] == "s2c" and "method" not in message:
                row, sent = open_requests.pop(key)
                row.bytes += size(text)
                answered(row, sent, record, text)
                if sent["msg"]["method"] == "initialize":
                    info = message["result"]["serverInfo"]
                    server = info["name"], info["version"]
                for tool in members(members(members(text)["result"])["tools"]) if sent["msg"]["method"] == "tools/list" else []:
                    row = rows["tools/call", json.loads(tool)["name"]]
                    row.listings += 1
                    row.definition = size(tool)
        for row, _ in open_requests.values():
            row.outcomes["pending"] += 1
        for name, row in rows.items():
            add(servers[server][name], row)
    return servers


def add(total, row):
    total.calls += row.calls
    total.bytes += row.bytes
    total.listings += row.listings
    total.definition = max(total.definition, row.definition)
    total.outcomes += row.outcomes
    total.times += row.times
    total.results += row.results


def quantile(numbers, percent):
    return sorted(numbers)[math.ceil(len(numbers) * percent / 100) - 1]


def assert_row(got, row):
    assert got["calls"] == row.calls
    for kind in ("rpc_errors", "tool_errors", "pending"):
        assert got[kind] == row.outcomes[kind], (got, kind)
    assert got["results"] == len(row.results)
    assert got["result_bytes"] == sum(row.results)
    assert got["result_max_bytes"] == max(row.results, default=0)
    assert got["result_estimated_tokens"] == math.ceil(sum(row.results) / 4)
    assert got.get("listings", 0) == row.listings
    assert got.get("definition_bytes", 0) == row.definition


def assert_times(got, times):
    assert ("server_max_us" in got) == bool(times)
    if times:
        assert got["server_max_us"] == max(times)
        assert got["wait_max_us"] == 0
        for percent in (50, 95):
            exact = quantile(times, percent)
            assert abs(got[f"server_p{percent}_us"] - exact) * 32 <= exact, (got, exact)


class Writer:
    """Writes a recording of random traffic."""

    def __init__(self, path, chance):
        self.file, self.chance, self.seq, self.us = open(path, "w"), chance, 0, 0
        self.line(type="header", version="1.0", recorded_at="2026-11-15T21:00:00Z", upstream="x", thoughtjack_version="0.3.0")

    def line(self, **members):
        self.file.write(json.dumps(members, separators=(",", ":"), ensure_ascii=False) + "\n")

    def message(self, direction, **message):
        self.seq += 1
        self.us += self.chance.choice((1, 40, 900, 30_000, 2_000_000))
        self.line(type="message", seq=self.seq, ts="2026-11-15T21:00:01Z", dir=direction, us=self.us, msg={"jsonrpc": "2.0", **message})

    def call(self, number, chance):
        kind = chance.random()
        if kind < 0.7:
            self.message("c2s", id=number, method="tools/call", params={"name": f"tool{chance.randrange(4)}", "arguments": {"q": "é" * chance.randrange(40)}})
        elif kind < 0.9:
            self.message("c2s", id=number, method="resources/read", params={"uri": f"file:///{chance.randrange(3)}"})
        else:
            self.message("c2s", id=number, method="ping")

    def respond(self, number, chance):
        kind = chance.random()
        if kind < 0.7:
            self.message("s2c", id=number, result={"content": [{"type": "text", "text": "x" * chance.randrange(900)}]})
        elif kind < 0.85:
            self.message("s2c", id=number, result={"content": [], "isError": True})
        else:
            self.message("s2c", id=number, error={"code": -32602, "message": "no"})


def write_session(path, server, chance):
    w = Writer(path, chance)
    w.message("c2s", id=0, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}})
    w.message("s2c", id=0, result={"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": server[0], "version": server[1]}})
    w.message("c2s", id=1, method="tools/list")
    w.message("s2c", id=1, result={"tools": [{"name": f"tool{n}", "description": "d" * n * 10, "inputSchema": {"type": "object"}} for n in range(5)]})
    waiting = []
    for number in range(2, 2 + chance.randrange(40)):
        w.call(number, chance)
        waiting.append(number)
        while waiting and chance.random() < 0.6:
            w.respond(waiting.pop(chance.randrange(len(waiting))), chance)
    w.file.close()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder, chance = tmp_path_factory.mktemp("stats"), random.Random(20)
    for n in range(60):
        write_session(folder / f"{n}.jsonl", chance.choice((("one", "1.0"), ("one", "1.1"), ("two", "1.0"))), chance)
    return folder


def stats(run, mcpreel, *words, code=0):
    ran = run([mcpreel, "stats", "--json", *words])
    assert ran.code == code, ran
    return json.loads(ran.out)


def rows_of(server):
    return {(row["method"], row["subject"]): row for row in server["operations"] if row["from"] == "client"}


def test_the_numbers_are_those_of_the_oracle(mcpreel, run, recordings):
    seen, want = stats(run, mcpreel, recordings), oracle(sorted(recordings.iterdir()))
    assert {(one["name"], one["version"]) for one in seen["servers"]} == set(want) and len(want) == 3
    assert (seen["files"]["read"], seen["recordings"], seen["others"]) == (60, 60, None)
    for server in seen["servers"]:
        rows, got = want[server["name"], server["version"]], rows_of(server)
        assert set(got) == set(rows)
        assert server["calls"] == sum(row.calls for row in rows.values())
        assert server["errors"] == sum(row.outcomes["rpc_errors"] + row.outcomes["tool_errors"] for row in rows.values())
        assert server["tools"] == 5
        assert server["definition_bytes"] == sum(row.definition for row in rows.values())
        assert got["tools/call", "tool4"]["calls"] == 0
        for name, row in rows.items():
            assert_row(got[name], row)
            assert got[name]["bytes"] == row.bytes
            assert_times(got[name], row.times)


def test_files_of_any_format_in_any_order_give_the_same_calls(mcpreel, run, recordings, tmp_path):
    files = sorted(recordings.iterdir())
    for n, path in enumerate(files):
        name = (f"{n}.jsonl.gz", f"{n}.trace.jsonl", f"{n}.jsonl")[n % 3]
        assert run([mcpreel, "convert", path, "-o", tmp_path / name]).code == 0
    seen, again = stats(run, mcpreel, *files), stats(run, mcpreel, *reversed(files))
    assert seen == again
    assert seen["servers"] == stats(run, mcpreel, recordings)["servers"]
    converted = stats(run, mcpreel, tmp_path)["servers"]
    for old, new in zip(seen["servers"], converted, strict=True):
        assert (old["calls"], old["errors"], old["definition_bytes"]) == (new["calls"], new["errors"], new["definition_bytes"])


def test_a_merged_recording_is_split_by_server(mcpreel, run, recordings, tmp_path):
    files = sorted(recordings.iterdir())[:6]
    assert run([mcpreel, "convert", *files, "-o", tmp_path / "all.jsonl"]).code == 0
    separate, merged = stats(run, mcpreel, *files)["servers"], stats(run, mcpreel, tmp_path / "all.jsonl")["servers"]
    assert len(separate) > 1
    assert [(one["name"], one["version"], one["calls"]) for one in merged] == [(one["name"], one["version"], one["calls"]) for one in separate]
    for old, new in zip(separate, merged, strict=True):
        assert {n: r["calls"] for n, r in rows_of(old).items()} == {n: r["calls"] for n, r in rows_of(new).items()}


def test_real_sessions_agree_with_the_oracle(mcpreel, run, tmp_path):
    paths = [tmp_path / f"{n}.jsonl" for n in range(3)]
    for path in paths:
        assert run([mcpreel, "demo", "-o", path]).code == 0
    [server] = stats(run, mcpreel, tmp_path)["servers"]
    [(name, rows)] = oracle(paths).items()
    assert (server["name"], server["version"], server["recordings"]) == (*name, 3)
    got = rows_of(server)
    assert set(got) == set(rows)
    for key, row in rows.items():
        assert_row(got[key], row)
    haiku = got["tools/call", "haiku"]  # the server requests sampling for it
    assert 0 < haiku["wait_max_us"] < haiku["max_us"]
    [sampling] = [row for row in server["operations"] if row["from"] == "server"]
    assert sampling["calls"] == 3 and sampling["wait_max_us"] == sampling["max_us"]


def test_memory_does_not_grow_with_the_number_of_files(mcpreel, run, recordings):
    # AddressSanitizer keeps freed blocks, up to this size; those are no memory of ours.
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}

    def peak(times):
        ran = run(["python3", "-c", "import resource, subprocess, sys\n"
                   "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                   mcpreel, "stats", *[recordings] * times], env=env)
        assert ran.code == 0, ran
        return int(ran.out)

    assert peak(30) < peak(2) + 2048  # KiB


def test_the_others_are_added_up_if_a_file_is_bad(mcpreel, run, recordings, tmp_path):
    good = sorted(recordings.iterdir())[0]
    lines = good.read_text().splitlines(keepends=True)
    (tmp_path / "damaged.jsonl").write_text("".join(lines[:5]) + "{]\n" + "".join(lines[5:]))
    (tmp_path / "torn.jsonl").write_text("".join(lines[:5])[:-3])
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "notes.txt").write_text("no recording\n")
    seen = stats(run, mcpreel, tmp_path, tmp_path / "missing", good, code=3)
    assert (seen["files"]["read"], seen["files"]["failed"], seen["files"]["other"]) == (3, 3, 1)
    assert {one["path"].rpartition("/")[2] for one in seen["failures"]} == {"damaged.jsonl", "empty.jsonl", "missing"}
    assert seen["servers"][0]["recordings"] == 3
    ran = run([mcpreel, "stats", tmp_path / "missing", good])
    assert ran.code == 3 and b"No such file" in ran.err and b"1 file could not be read" in ran.out


def test_the_json_output_has_the_documented_members(mcpreel, run, recordings):
    seen = stats(run, mcpreel, recordings)
    assert documented("`stats`") == list(seen)
    assert documented("Servers in numbers") == list(seen["servers"][0])
    row = rows_of(seen["servers"][0])["tools/call", "tool1"]
    assert documented("Bytes of calls")[1:] == list(row)[-8:][1:] and "bytes" in row

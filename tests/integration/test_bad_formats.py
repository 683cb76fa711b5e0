"""Files that cannot be used, hundreds of them, made from tables: one clear error each.

Every file is given to `mcpreel inspect`. A bad one must end with 3, nothing on standard output, and
one line on standard error that names file, line and byte (but for what is wrong with the file as a
whole), with at most one line of advice. A tolerated one must end with 0, and with the warnings it
stands here with. None may crash or take long.
"""
import concurrent.futures
import gzip
import json
import os
import re
import zlib
from dataclasses import dataclass

import pytest

SECONDS_EACH = 20  # a loaded machine, under the sanitizers
ANY = -1  # some line


@dataclass(frozen=True)
class Case:
    name: str
    content: bytes
    line: int = 0  # where the error must be, or ANY; 0: the file as a whole is wrong
    warning_count: int = -1  # tolerated, with so many; -1: an error
    expected_text: str = ""  # must be in the error or the first warning


def lines(*values):
    return b"".join((v if isinstance(v, bytes) else json.dumps(v).encode()) + b"\n" for v in values)


TIME = "2026-11-15T21:00:00.000Z"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}

# ---- what every line of every format must be: name: (a good value, its kind, required)

TEXT, COUNT, NUMBER, WHEN, OBJECT, ARRAY, TEXTS, BOOL, DIR, FROM, BASE64 = range(11)
WRONG = {
    TEXT: [5, None, ["x"], True],
    COUNT: [-1, 1.5, "1", None, 10 ** 19, {}],
    NUMBER: [1.5, "1", None, -10 ** 19, [1]],
    WHEN: ["yesterday", 1700000000, None, "2026-13-01T00:00:00Z", "2026-11-15"],
    OBJECT: [[], "x", None, 1],
    ARRAY: [{}, "x", None],
    TEXTS: [{}, "x", None, ["a", 1], [["a"]]],
    BOOL: [0, "true", None],
    DIR: ["up", "c2S", None, 1],
    FROM: ["me", "c2s", None],
    BASE64: ["!", "AAA", 5, None],
}

COMMON = {"us": (1, NUMBER, False), "conn": (1, COUNT, False), "session": (1, COUNT, False),
          "exchange": (1, COUNT, False), "stream": (1, COUNT, False)}
RECORDING = {
    "header": {"version": ("1.0", TEXT, True), "recorded_at": (TIME, WHEN, True), "upstream": ("x", TEXT, True),
               "thoughtjack_version": ("0.3.0", TEXT, True), "name": ("n", TEXT, False), "tags": (["a"], TEXTS, False),
               "producer": ({}, OBJECT, False), "command": (["x"], TEXTS, False), "transport": ("stdio", TEXT, False), "source": ({}, OBJECT, False)},
    "message": {"seq": (1, COUNT, True), "ts": (TIME, WHEN, True), "dir": ("c2s", DIR, True), "msg": (PING, OBJECT, True),
                "latency_ms": (1, COUNT, False), "event": ({}, OBJECT, False), "batch": ({}, OBJECT, False),
                "redelivers": (1, COUNT, False), "redacted": (["/a"], TEXTS, False), **COMMON},
    "raw": {"from": ("client", FROM, True), "why": ("w", TEXT, False), "by": ("mcpreel", TEXT, False), "text": ("t", TEXT, False),
            "base64": ("AA==", BASE64, False)},
    "stderr": {"text": ("t", TEXT, False), "base64": ("AA==", BASE64, False)},
    "proc": {"ev": ("exit", TEXT, True), "exit_code": (0, NUMBER, False), "signal": (9, NUMBER, False)},
    "http response": {"status": (200, COUNT, True), "by": ("server", TEXT, False), "media": ("json", TEXT, False),
                      "resumes": ({}, OBJECT, False), "mints_session": (True, BOOL, False), "headers": ([], ARRAY, False),
                      "took_ms": (1, COUNT, False)},
    "http request": {"method": ("GET", TEXT, False), "path": ("/", TEXT, False), "query": ("", TEXT, False),
                     "state": ("live", TEXT, False), "host": ("self", TEXT, False), "origin": ("none", TEXT, False),
                     "headers": ([], ARRAY, False), "auth": (True, BOOL, False), "body": ("raw", TEXT, False),
                     "kind": ("lifecycle", TEXT, False)},
    "http end": {"by": ("client", TEXT, True), "clean": (True, BOOL, True)},
    "sse": {"n": (1, COUNT, False), "id": ("1", TEXT, False), "event": ("e", TEXT, False), "retry": (1, COUNT, False),
            "data": ("d", TEXT, False), "comment": ("c", TEXT, False)},
    "gap": {"messages": (1, COUNT, True), "bytes": (1, COUNT, True), "why": ("w", TEXT, True), "from": ("client", FROM, False)},
    "footer": {"total_messages": (1, COUNT, True), "duration_ms": (1, COUNT, True), "client_messages": (1, COUNT, True),
               "server_messages": (0, COUNT, True), "exit_code": (0, NUMBER, False), "protocol_version": ("p", TEXT, False),
               "server_info": ({}, OBJECT, False), "client_info": ({}, OBJECT, False), "errors": (0, COUNT, False)},
}
TRACE = {
    "meta": {"v": (1, NUMBER, True), "startedAt": (TIME, WHEN, True), "label": ("l", TEXT, True),
             "command": (["x"], TEXTS, True)},
    "": {"t": (TIME, WHEN, True), "dir": ("in", TEXT, True), "raw": (PING, None, True)},
    "end": {"t": (TIME, WHEN, True), "durationMs": (1, NUMBER, True), "exitCode": (0, NUMBER, False)},
}


def recording_line(type_, members):
    kind, _, ev = type_.partition(" ")
    return {"type": kind, **({"ev": ev, "exchange": 1} if ev else {}), **members}


def trace_line(type_, members):
    return {**({"type": type_} if type_ else {}), **members}


def invalid_members(format_, table, make, before):
    """Every member of every type of line with values it cannot have, and without those it must have."""
    for type_, members in table.items():
        good = {name: value for name, (value, _, required) in members.items() if required}
        for name, (value, kind, required) in members.items():
            where = f"{format_}: {type_ or 'message'} {name}".replace("  ", " ")
            for wrong in WRONG.get(kind, []):
                yield Case(f"{where} = {json.dumps(wrong)}", before + lines(make(type_, {**good, name: wrong})),
                           line=before.count(b"\n") + 1, expected_text=name)
            if required:
                without = {n: v for n, v in good.items() if n != name}
                yield Case(f"{where} is missing", before + lines(make(type_, without)), before.count(b"\n") + 1, expected_text=name)


# ---- one good file of each format

HEADER = recording_line("header", {n: v for n, (v, _, required) in RECORDING["header"].items() if required})
META = trace_line("meta", {n: v for n, (v, _, _) in TRACE["meta"].items()})
LINES = {
    "recording": lines(HEADER, recording_line("message", {"seq": 1, "ts": TIME, "dir": "c2s", "msg": PING}),
                       recording_line("message", {"seq": 2, "ts": TIME, "dir": "s2c", "msg": PONG})),
    "trace": lines(META, {"t": TIME, "dir": "in", "raw": PING}, {"t": TIME, "dir": "out", "raw": PONG}),
    "jsonrpc": lines(PING, PONG),
}
INTERACTION = {"type": "jsonrpc_request", "request": PING, "response": PONG, "response_is_sse": False,
               "response_status": 200, "latency_ms": 1, "http_method": None, "http_path": None}
METADATA = {"recorded_at": TIME, "server_url": "http://x", "transport_type": "http", "protocol_version": None,
            "server_info": None}
CASSETTE = {"version": "1.0", "metadata": METADATA, "interactions": [INTERACTION]}


def cassette(**changes):
    return json.dumps({**CASSETTE, **changes}, indent=2).encode() + b"\n"


GOOD = {**LINES, "cassette": cassette()}
MESSAGE = {  # a line with a message that contains `text`, in each format
    "recording": lambda text: b'{"type":"message","seq":3,"ts":"%s","dir":"c2s","msg":%s}' % (TIME.encode(), text),
    "trace": lambda text: b'{"t":"%s","dir":"in","raw":%s}' % (TIME.encode(), text),
    "jsonrpc": lambda text: text,
}

# ---- text that is not JSON, wherever a message may stand

NOT_JSON = {
    "a comma too many": b'{"method":"x",}',
    "no colon": b'{"method" "x"}',
    "a name without quotes": b'{method:"x"}',
    "single quotes": b"{'method':'x'}",
    "a comment": b'{"method":"x"/**/}',
    "NaN": b'{"method":"x","params":{"a":NaN}}',
    "infinity": b'{"method":"x","params":{"a":-Infinity}}',
    "a number with a plus": b'{"method":"x","params":{"a":+1}}',
    "a number with zeros": b'{"method":"x","params":{"a":007}}',
    "a hexadecimal number": b'{"method":"x","params":{"a":0x1}}',
    "half a number": b'{"method":"x","params":{"a":1.}}',
    "half a word": b'{"method":"x","params":{"a":tru}}',
    "a capital word": b'{"method":"x","params":{"a":True}}',
    "half an escape": b'{"method":"\\u12"}',
    "an unknown escape": b'{"method":"\\x41"}',
    "a tab in a string": b'{"method":"a\tb"}',
    "a NUL in a string": b'{"method":"a\0b"}',
    "a NUL outside": b'{"method":\0"a"}',
    "the wrong bracket": b'{"method":"x","params":{"a":[1}}}',
    "too deep": b'{"method":"x","params":' + b"[" * 600 + b"]" * 600 + b"}",
    "far too deep": b'{"method":"x","params":' + b'{"a":' * 100000 + b"1" + b"}" * 100000 + b"}",
    "an overlong byte sequence": b'{"method":"\xc0\xaf"}',
    "a surrogate in bytes": b'{"method":"\xed\xa0\x80"}',
    "beyond Unicode": b'{"method":"\xf4\x90\x80\x80"}',
    "half a character": b'{"method":"\xc3"}',
    "Latin-1": b'{"method":"caf\xe9"}',
    "a stray byte": b'{"method":"x"\xff}',
}
PYTHONS = ("NaN", "infinity")  # Python reads them, and so do readers of its output
NOT_A_LINE = {  # JSON, but not what a line may be
    "a number": b"7", "a string": b'"x"', "null": b"null", "an empty array": b"[]", "an array of objects": b"[{}]",
    "an empty object": b"{}",
}


def broken_lines(format_):
    good, line = LINES[format_], LINES[format_].count(b"\n") + 1
    for name, text in NOT_JSON.items():
        yield Case(f"{format_}: {name}", good + MESSAGE[format_](text) + b"\n" + good, line)
    for name, text in NOT_A_LINE.items():
        yield Case(f"{format_}: {name} for a line", good + text + b"\n" + good, line)
    incomplete = MESSAGE[format_](b'{"method":"x"}')
    for cut in (len(incomplete) // 3, len(incomplete) // 2, len(incomplete) - 1):
        yield Case(f"{format_}: a line cut at {cut} in the middle", good + incomplete[:cut] + b"\n" + good, line)
    yield Case(f"{format_}: two values on one line", good + incomplete + b" " + incomplete + b"\n", line)
    yield Case(f"{format_}: NUL bytes in the middle", good + b"\0" * 50 + good, line, expected_text="NUL")
    for other in LINES:
        if other != format_:
            yield Case(f"{format_}: then {other}", good + LINES[other], line, expected_text=other)


def invalid_cassettes():
    """Members as mcp-recorder would refuse them, in the document, its metadata and its interactions."""
    def case(where, wrong, content, expected_text):
        return Case(f"cassette: {where} = {json.dumps(wrong)}", content, expected_text=expected_text, line=ANY)

    for name, wrongs in {"version": [1, 1.0, None, "2.0", "", "one"], "metadata": [[], "x", 1, None],
                         "interactions": [{}, "x", 1, None]}.items():
        for wrong in wrongs:
            yield case(name, wrong, cassette(**{name: wrong}), name)
    for name in METADATA:
        wrongs = [5, [], True] if name == "server_info" else [5, [], {}, True]
        if name in ("recorded_at", "server_url"):
            wrongs.append(None)
        for wrong in wrongs:
            yield case(name, wrong, cassette(metadata={**METADATA, name: wrong}), name)
    for name, wrongs in {"type": ["x", "", None, 5, "Notification"], "request": [[], "x", 1, [PING]],
                         "response": [[], "x", 1, True], "response_is_sse": [None, "maybe", 2, {}],
                         "response_status": [None, "x", 1.5, [], {}], "latency_ms": [None, "x", 1.5, []],
                         "http_method": [5, [], {}], "http_path": [5, [], True]}.items():
        for wrong in wrongs:
            yield case(name, wrong, cassette(interactions=[INTERACTION, {**INTERACTION, name: wrong}]), name)
    for wrong in ([], "x", None, 7):
        yield case("an interaction", wrong, cassette(interactions=[INTERACTION, wrong]), "interaction")
    yield Case("cassette: an interaction without a type", cassette(interactions=[{"request": PING}]), ANY, expected_text="type")


def cassette_with(text):
    """The good one, with this text in the place of a message."""
    content = GOOD["cassette"].replace(json.dumps(PING, indent=2).replace("\n", "\n" + " " * 6).encode(), text)
    assert content != GOOD["cassette"]
    return content


def broken_cassettes():
    good = GOOD["cassette"]
    for name, text in NOT_JSON.items():
        if name not in PYTHONS:
            yield Case(f"cassette: {name}", cassette_with(text), 13)
    for cut in range(70, len(good) - 2, 97):
        yield Case(f"cassette: cut to {cut}", good[:cut], good[:cut].count(b"\n") + 1)
    yield Case("cassette: twice", good * 2, good.count(b"\n") + 1)
    yield Case("cassette: NUL bytes at the end", good + b"\0" * 50, good.count(b"\n") + 1)
    for other in LINES:
        yield Case(f"cassette: then {other}", good + LINES[other], good.count(b"\n") + 1)
        yield Case(f"{other}: then cassette", LINES[other] + good, LINES[other].count(b"\n") + 1, expected_text="cassette")


def zstd(data):
    """A frame of one block that is not compressed; of 256 bytes or more."""
    size, block = len(data) - 256, len(data) << 3 | 1
    return b"\x28\xb5\x2f\xfd\x60" + size.to_bytes(2, "little") + block.to_bytes(3, "little") + data


def longer(format_):
    good = GOOD[format_]
    return good + good.split(b"\n", 1)[1] * 4 if format_ in LINES else good


def is_incomplete(content):
    """Whether it ends amid a line that is not complete."""
    try:
        json.loads(content.rsplit(b"\n", 1)[-1] or "0")
        return False
    except ValueError:
        return True


def cut_packing(format_):
    """The readable part is used, as of a file that is not compressed."""
    good = longer(format_)
    for name, packed in ("gzip", gzip.compress(good)), ("zstd", zstd(good)):
        for cut in (len(packed) // 2, len(packed) - 1):
            decompressed = zlib.decompressobj(31).decompress(packed[:cut]) if name == "gzip" else packed[10:cut]
            incomplete = is_incomplete(decompressed.replace(b"\n", b" ") if format_ == "cassette" else decompressed)
            if format_ == "cassette" and incomplete:
                yield Case(f"{format_}: {name} cut to {cut}", packed[:cut], line=ANY)
            else:
                yield Case(f"{format_}: {name} cut to {cut}", packed[:cut], warning_count=1 + incomplete, expected_text="cut off")


def broken_packing(format_):
    good = longer(format_)
    for name, packed, block in ("gzip", gzip.compress(good), 10), ("zstd", zstd(good), 7):
        for cut in (4, 12):
            yield Case(f"{format_}: {name} cut to {cut}", packed[:cut])
        damaged = bytearray(packed)
        damaged[block] |= 6  # a kind of block that does not exist
        yield Case(f"{format_}: {name} spoiled", bytes(damaged))
        yield Case(f"{format_}: {name}, then text", packed + good)
    yield Case(f"{format_}: gzip in gzip", gzip.compress(gzip.compress(good)), line=1)
    blank = gzip.compress((b" " * 65535 + b"\n") * 16)
    yield Case(f"{format_}: gzip bomb", gzip.compress(good) + blank * 600, expected_text="bomb")


def not_utf8(format_):
    text = GOOD[format_].decode()
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32-be"):
        expected_text = "UTF-16" if "16" in encoding else ""
        yield Case(f"{format_}: {encoding}", text.encode(encoding), line=1, expected_text=expected_text)


ANYTHING = {
    "nothing": b"", "a newline": b"\n", "blanks": b" \r\n\t\n", "a mark": b"\xef\xbb\xbf", "NUL bytes": b"\0" * 4096,
    "prose": b"hello world\n", "a program": b"\x7fELF\x02\x01\x01" + b"\0" * 50, "a script": b"#!/bin/sh\necho\n",
    "HTML": b"<!doctype html><title>x</title>", "YAML": b"version: 1\nmessages: []\n", "CSV": b"seq,dir,msg\n1,c2s,{}\n",
    "an empty object": b"{}\n", "an empty array": b"[]\n", "a number": b"42\n", "batches": lines([PING], [PING]),
    "an unknown type": lines({"type": "episode_start"}), "a number for a type": lines({"type": 1}),
    "an object that is no message": lines({"jsonrpc": "2.0"}), "a log in JSON": lines({"level": "info", "msg": "x"}),
    "a log that is no HAR": lines({"log": {"version": "1.2"}}), "a deep array": b"[" * 100000,
    "a torn word": b"tru", "a PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a ZIP": b"PK\x03\x04" + b"\0" * 26,
    "a bare gzip header": b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
}
VERSIONS = [
    *(Case(f"recording: version {v!r}", lines({**HEADER, "version": v}), 1, expected_text="version")
      for v in ("", "0.9", "2", "2.0", "10.0", "one", "v1.0")),
    *(Case(f"trace: version {v}", lines({**META, "v": v}), 1, expected_text="version") for v in (0, 2, -1, 11)),
]
JSONRPC = [Case(f"jsonrpc: {name}", lines(PING, value), 2) for name, value in {
    "neither method nor id": {"jsonrpc": "2.0"}, "an id alone": {"jsonrpc": "2.0", "id": 1},
    "an object for an id": {"id": {}, "method": "x"},
    "a boolean for an id": {"id": True, "method": "x"}, "a number for a method": {"id": 1, "method": 5},
    "an error that is none": {"error": "invalid_token"}, "a batch": [PING, PONG],
}.items()]
RARE = [
    Case("trace: a type that is null", lines(META, {"type": None, "t": TIME}), 2, expected_text="type"),
    Case("recording: a type that is a list", lines(HEADER, {"type": ["message"]}), 2, expected_text="type"),
    Case("recording: an event of HTTP with null for a status",
         lines(HEADER, {"type": "http", "ev": "response", "exchange": 1, "status": None}), 2, expected_text="status"),
    Case("recording: members twice, the last one wrong", lines(HEADER, b'{"type":"stderr","text":"a","text":1}'), 2),
]

HUGE, TINY = 2 ** 63 - 1, -2 ** 63


def pythons_numbers():
    for name in PYTHONS:
        yield Case(f"cassette: {name}", cassette_with(NOT_JSON[name]), warning_count=1)


def huge_numbers():
    """Every value of up to 64 bits is accepted."""
    for name in ("us", "conn", "session", "latency_ms", "seq"):
        for n in (HUGE, TINY) if name == "us" else (HUGE, 0):
            members = {"seq": 1, "ts": TIME, "dir": "c2s", "msg": PING, "us": 1, name: n}
            response = {"seq": 2, "ts": TIME, "dir": "s2c", "msg": PONG, "us": 2}
            yield Case(f"recording: {name} = {n}", lines(HEADER, recording_line("message", members),
                                                         recording_line("message", response)), warning_count=0)
    footer = {"total_messages": HUGE, "duration_ms": HUGE, "client_messages": HUGE, "server_messages": HUGE,
              "exit_code": TINY, "us": HUGE, "errors": HUGE}
    yield Case("recording: a footer of huge numbers", lines(HEADER, recording_line("footer", footer)), warning_count=0)
    yield Case("trace: an end of huge numbers",
               lines(META, {"t": TIME, "type": "end", "durationMs": HUGE, "exitCode": TINY}), warning_count=0)
    yield Case("jsonrpc: a huge time", lines({**PING, "timestamp_ms": HUGE}), warning_count=0)


def tolerated(format_):
    good = GOOD[format_]
    yield Case(f"{format_}: good", good, warning_count=0)
    yield Case(f"{format_}: CRLF", good.replace(b"\n", b"\r\n"), warning_count=0)
    yield Case(f"{format_}: blank lines", b"\n\n" + good.replace(b"\n", b"\n \n"), warning_count=0)
    yield Case(f"{format_}: no newline at the end", good[:-1], warning_count=0)
    yield Case(f"{format_}: a mark of UTF-8", b"\xef\xbb\xbf" + good, warning_count=0)
    yield Case(f"{format_}: gzip", gzip.compress(good), warning_count=0)
    yield Case(f"{format_}: gzip in two parts", gzip.compress(good[:50]) + gzip.compress(good[50:]), warning_count=0)
    yield Case(f"{format_}: zstd", zstd(longer(format_)), warning_count=0)


def tolerated_lines(format_):
    good = LINES[format_]
    yield Case(f"{format_}: over several lines",
               b"".join(json.dumps(json.loads(s), indent=2).encode() + b"\n" for s in good.splitlines()), warning_count=0)
    yield Case(f"{format_}: lone surrogates and large numbers",
               good + MESSAGE[format_](b'{"method":"\\ud83d","params":{"a":1e999,"a":-0.0}}') + b"\n", warning_count=0)
    yield Case(f"{format_}: NUL bytes at the end", good + b"\0" * 5000, warning_count=1, expected_text="NUL")
    for cut in (10, 25):
        yield Case(f"{format_}: the last {cut} bytes are gone", good[:-cut], warning_count=1, expected_text="cut off")


TOLERATED = [
    Case("cassette: on one line", json.dumps(CASSETTE).encode(), warning_count=0),
    Case("cassette: defaults", lines({"interactions": [{"type": "lifecycle"}]}), warning_count=0),
    Case("cassette: numbers as text", cassette(interactions=[{**INTERACTION, "response_status": "200"}]), warning_count=0),
    Case("cassette: a status below zero", cassette(interactions=[{**INTERACTION, "response_status": -1}]), warning_count=1),
    Case("cassette: a latency beyond us", cassette(interactions=[{**INTERACTION, "latency_ms": 10 ** 30}]), warning_count=1),
    Case("cassette: unknown members", cassette(mood=None), warning_count=0),
    Case("recording: no header", GOOD["recording"].split(b"\n", 1)[1], warning_count=1, expected_text="no header line"),
    Case("recording: two headers", GOOD["recording"] * 2, warning_count=1, expected_text="another header line"),
    Case("recording: an unknown line", GOOD["recording"] + lines({"type": "weather"}), warning_count=0),
    Case("recording: an unknown event of HTTP", GOOD["recording"] + lines({"type": "http", "ev": "x"}), warning_count=0),
    Case("recording: an unknown member", lines({**HEADER, "mood": None}), warning_count=0),
    Case("recording: a later minor version", lines({**HEADER, "version": "1.7"}), warning_count=0),
    Case("trace: a rotated part", GOOD["trace"].split(b"\n", 1)[1], warning_count=1, expected_text="no meta line"),
    Case("trace: two traces", GOOD["trace"] * 2, warning_count=1, expected_text="another meta line"),
    Case("trace: unknown lines", GOOD["trace"] + lines({"type": "beat"}, {"type": "beat"}), warning_count=1, expected_text="'beat'"),
    Case("trace: an unknown direction", GOOD["trace"] + lines({"t": TIME, "dir": "event", "raw": 1}), warning_count=1),
    Case("trace: an end without exit code", GOOD["trace"] + lines({"t": TIME, "type": "end", "durationMs": 1}), warning_count=0),
    Case("trace: values that are no message", GOOD["trace"] + lines({"t": TIME, "dir": "out", "raw": None}), warning_count=0),
]

CASES = [
    *invalid_members("recording", RECORDING, recording_line, lines(HEADER)),
    *invalid_members("trace", TRACE, trace_line, lines(META)),
    *invalid_cassettes(), *broken_cassettes(),
    *(case for make in (broken_lines, tolerated_lines) for f in LINES for case in make(f)),
    *(case for make in (broken_packing, cut_packing, not_utf8, tolerated) for f in GOOD for case in make(f)),
    *(Case(f"not a recording: {name}", content) for name, content in ANYTHING.items()),
    *VERSIONS, *JSONRPC, *RARE, *TOLERATED, *huge_numbers(), *pythons_numbers(),
]


@pytest.fixture(scope="module")
def results(mcpreel, run, tmp_path_factory):
    """How `inspect` ended on every file. All at once: most of it is waiting for processes to start."""
    home = tmp_path_factory.mktemp("bad")

    def inspect(numbered):
        n, case = numbered
        (home / f"file-{n}").write_bytes(case.content)
        return run([mcpreel, "inspect", f"file-{n}"], cwd=home, timeout=SECONDS_EACH)

    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        return list(pool.map(inspect, enumerate(CASES)))


def test_the_tables_give_enough_bad_files():
    assert len([case for case in CASES if case.warning_count < 0]) >= 200
    assert len({case.name for case in CASES}) == len(CASES)


def location(n, line):
    return rf"file-{n}:{line if line > 0 else '[1-9][0-9]*'}:[1-9][0-9]*: \S"


@pytest.mark.parametrize("n", [n for n, c in enumerate(CASES) if c.warning_count < 0], ids=lambda n: CASES[n].name)
def test_a_bad_file_gives_one_error(results, n):
    case, ran = CASES[n], results[n]
    first, *more = ran.err.decode().splitlines() or [""]
    assert ran.code == 3 and ran.out == b"", str(ran)
    assert re.match(rf"mcpreel: ({location(n, case.line)}|cannot read 'file-{n}': \S)", first), str(ran)
    assert not case.line or re.match(f"mcpreel: {location(n, case.line)}", first), str(ran)
    assert case.expected_text in first, str(ran)
    assert len(first) < 300 and first[-1] != ".", str(ran)
    assert len(more) <= 1 and all(line.startswith("  ") for line in more), str(ran)


@pytest.mark.parametrize("n", [n for n, c in enumerate(CASES) if c.warning_count >= 0], ids=lambda n: CASES[n].name)
def test_a_tolerated_file_is_read_with_its_warnings(results, n):
    case, ran = CASES[n], results[n]
    warnings = ran.err.decode().splitlines()
    assert ran.code == 0 and ran.out, str(ran)
    assert len(warnings) == case.warning_count, str(ran)
    assert all(re.match(rf"mcpreel: warning: {location(n, 0)}", line) for line in warnings), str(ran)
    assert case.expected_text in "".join(warnings[:1]), str(ran)

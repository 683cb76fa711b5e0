#!/usr/bin/env python3
"""The functions of mcp-recorder that the tests need, by its own code.

    DIR/bin/python tests/peers/mcp-recorder.py COMMAND …        (DIR from tools/peers mcp-recorder)

    cli ARGS…                its command line; MCP_RECORDER_TIMEOUT: its time limit on stdio in seconds, in place of 120
    record TARGET OUT        its recording proxy in front of TARGET; saves to OUT when stdin ends
    record-stdio OUT CMD…    the same in front of a server that it starts
    replay CASSETTE          its replay server; at the end a line of JSON: all_consumed, unmatched
    invent DIR SEED COUNT    cassettes of every shape its models allow, as it saves them
    spoil DIR SEED COUNT     cassettes with members that may be wrong; see judge
    save-again FILE OUT      loads FILE and saves it to OUT
    judge DIR                one JSON object: what it loads of each *.json in DIR, null if it refuses

Both servers print their URL first and stop when stdin ends. The command line would bind every address
of the machine; here it is loopback.
"""
import json
import os
import pathlib
import random
import shlex
import sys

from mcp_recorder import cli, transport
from mcp_recorder._types import Cassette, CassetteInteraction, CassetteMetadata, InteractionType
from mcp_recorder._utils import UvicornServer, find_free_port, load_cassette, save_cassette
from mcp_recorder.matcher import create_matcher
from mcp_recorder.proxy import create_proxy_app
from mcp_recorder.replayer import create_replay_app


def serve(app):
    server = UvicornServer(app, find_free_port())
    server.start()
    print(server.url, flush=True)
    sys.stdin.read()
    server.stop()


def record(target, out):
    cassette = Cassette(metadata=CassetteMetadata(server_url=target, transport_type="http"))
    serve(create_proxy_app(cassette=cassette, target_url=target))
    cli._save_cassette(cassette, pathlib.Path(out), redact_server_url=True)


def record_stdio(out, *command):
    line = shlex.join(command)
    cassette = Cassette(metadata=CassetteMetadata(server_url=f"stdio://{line}", transport_type="stdio"))
    serve(create_proxy_app(cassette=cassette, transport=cli._build_stdio_transport(line, ())))
    cli._save_cassette(cassette, pathlib.Path(out), redact_server_url=True)


def replay(path):
    cassette = load_cassette(pathlib.Path(path))
    matcher = create_matcher("method_params", cassette.interactions)
    serve(create_replay_app(cassette, matcher))
    print(json.dumps({"all_consumed": matcher.all_consumed, "unmatched": matcher.unmatched_requests}))


DATES = [
    "2026-02-17T20:25:23+00:00", "2026-02-17T20:25:23.000001+00:00", "2026-02-17T20:25:23.100000+00:00",
    "2026-02-17T20:25:23Z", "2026-02-17T20:25:23.1+00:00", "2026-02-17T20:25:23+05:00", "yesterday", "",
    "1970-01-01T00:00:00+00:00", "1969-12-31T23:59:59.999999+00:00",
]
LETTERS = ["a", "é", "日本", "😀", '"', "\\", "/", "\n", "\t", "\b", "\f", "\r", "\0", "\x1f", "\x7f", "\x85",
           "\u2028", "\ufeff", " ", "{", "}", "[", "]", ",", ":"]


class Inventor:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *of):
        return self.random.choice(of)

    def text(self):
        return "".join(self.random.choices(LETTERS, k=self.random.randrange(8)))

    def maybe(self, make):
        return make() if self.random.random() < 0.6 else None

    def value(self, depth=0):
        kind = self.random.randrange(10 if depth < 4 else 6)
        if kind < 4:
            return self.one(None, True, False, 0, -1, 10**30, 1.5, 1e300, -0.0, 7.0, 1e-7)
        if kind < 6:
            return self.text()
        if kind < 8:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.text(): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def message(self):
        members = {
            "id": self.one(0, 1, "x", None), "method": self.one("initialize", "tools/call", "ping", self.text()),
            "params": self.one({}, [], {"name": "add"}), self.text(): self.value(),
            "result": self.one({}, {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s"}}),
        }
        return {name: value for name, value in members.items() if self.random.random() < 0.6}

    def interaction(self):
        return CassetteInteraction(
            type=self.one(*InteractionType), request=self.maybe(self.message), response=self.maybe(self.message),
            response_is_sse=self.one(True, False), response_status=self.one(200, 202, 404, 500, 599),
            latency_ms=self.one(0, 1, 17, 10**12),
            http_method=self.maybe(lambda: self.one("GET", "DELETE", "POST", "", self.text())),
            http_path=self.maybe(lambda: self.one("/mcp", "", self.text())))

    def cassette(self):
        metadata = CassetteMetadata(
            server_url=self.one("", "http://x/y", "stdio://a b", self.text()),
            transport_type=self.one(None, "http", "stdio", self.text()),
            protocol_version=self.one(None, "2025-11-25", self.text()),
            server_info=self.one(None, {}, {"name": "s", "version": "1"}, self.message()))
        if self.one(True, False):
            metadata.recorded_at = self.one(*DATES)
        return Cassette(version=self.one("1.0", "1.0", "1", "1.7"), metadata=metadata,
                        interactions=[self.interaction() for _ in range(self.random.randrange(6))])


def invent(where, seed, count):
    inventor = Inventor(int(seed))
    for n in range(int(count)):
        save_cassette(inventor.cassette(), pathlib.Path(where) / f"{n}.json")


# JSON texts to put in the place of a member. None that both sides take but only Python can hold: a number
# below zero or of more than 64 bits.
WRONG = ["null", "[]", "{}", "5", "0", "1", "7.5", "200.0", "2e2", "1e300", "9.3e18", "true", '"true"', '"T"',
         '"off"', '"x"', '"200"', '" 7 "', '"+7"', '"1_0"', '"3.0"', '"5."', '""', '"1.0"', '"2.0"', '"lifecycle"',
         '[{}]', '[null]', '{"a":1}', '"\\ud800"']


def places(document):
    yield from ((document, name) for name in ("version", "metadata", "interactions"))
    yield from ((document["metadata"], name) for name in document["metadata"])
    for interaction in document["interactions"]:
        yield from ((interaction, name) for name in interaction)


def spoil(where, seed, count):
    inventor = Inventor(int(seed))
    for n in range(int(count)):
        document = inventor.cassette().model_dump(mode="json")
        marks = {}
        for inside, name in inventor.random.sample(list(places(document)), k=2):
            if inventor.one(True, False, False) and name != "interactions":
                inside.pop(name)
            else:
                inside[name] = f"<mark {len(marks)}>"
                marks[f'"{inside[name]}"'] = inventor.one(*WRONG)
        text = json.dumps(document, indent=inventor.one(None, 2), ensure_ascii=inventor.one(True, False))
        for mark, wrong in marks.items():
            text = text.replace(mark, wrong)
        (pathlib.Path(where) / f"{n}.json").write_text(text)


def save_again(path, out):
    save_cassette(load_cassette(pathlib.Path(path)), pathlib.Path(out))


def judge(where):
    verdicts = {}
    for path in pathlib.Path(where).glob("*.json"):
        try:
            verdicts[path.name] = load_cassette(path).model_dump(mode="json")
        except ValueError:  # of JSON, of UTF-8, of the models
            verdicts[path.name] = None
    print(json.dumps(verdicts))


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "cli":
        transport._REQUEST_TIMEOUT = float(os.environ.get("MCP_RECORDER_TIMEOUT", transport._REQUEST_TIMEOUT))  # on stdio
        cli.main(rest, prog_name="mcp-recorder")
    {"record": record, "record-stdio": record_stdio, "replay": replay, "invent": invent, "spoil": spoil,
     "save-again": save_again, "judge": judge}[command](*rest)

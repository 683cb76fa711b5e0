"""Transcripts of Assay: equivalent sessions in all formats give the same trace, that of a reference
written for this test. Sessions are generated; the reference knows only who sent which message."""
import itertools
import json
import os
import pathlib
import random
import subprocess

import pytest

from generated import SESSIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build" / "mcpreel")).resolve()
FORMATS = ("jsonrpc", "inspector", "streamable-http", "http-sse")


def mcpreel(*words, stdin=b""):
    return subprocess.run([PROGRAM, "-q", *words], input=stdin, capture_output=True, timeout=60)


def output(*words, stdin=b""):
    ran = mcpreel(*words, stdin=stdin)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


# Sessions: lists of (from the client, message).

def some_value(rng, depth=0):
    kinds = ["int", "float", "text", "null", "bool"] + (["list", "object"] if depth < 3 else [])
    kind = rng.choice(kinds)
    if kind == "list":
        return [some_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == "object":
        return {rng.choice("abc é\""): some_value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return {"int": rng.randrange(-5, 10**15), "float": rng.random(), "text": rng.choice(["", "é\n\"", "x"]),
            "null": None, "bool": rng.random() < .5}[kind]


def request(rng, number):
    method = rng.choice(["tools/call"] * 4 + ["tools/list", "initialize", "prompts/list"])
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if method == "tools/call":
        message["params"] = {"name": rng.choice(["add", "größe"])}
        if rng.random() < .8:
            message["params"]["arguments"] = some_value(rng)
        if rng.random() < .1:
            del message["params"]["name"]
    return message


def response(rng, to, number):
    message = {"jsonrpc": "2.0", "id": number}
    if rng.random() < .2:
        message["error"] = {"code": rng.randrange(-32700, 500), "message": "no", "data": some_value(rng)}
    elif to == "tools/list":
        message["result"] = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}, {"description": "d"}]}
    else:
        message["result"] = rng.choice([some_value(rng), {"content": [], "isError": True}])
    return message


def other_type(number):
    return int(number) if isinstance(number, str) else str(number)


def session(seed, typed=False):
    """`typed`: ids keep their type, and nothing is without an id."""
    rng = random.Random(seed)
    messages, pending, number = [], [], itertools.count()
    for _ in range(rng.randrange(1, 20)):
        step = rng.choice(["request", "request", "response", "response", "server", "late", "notification", "null"])
        if step == "request":
            n = next(number)
            message = request(rng, n if rng.random() < .5 else str(n))
            pending.append(message)
            messages.append((True, message))
        elif step == "response" and pending:
            asked = pending.pop(rng.randrange(len(pending)))
            same = typed or rng.random() < .7
            answer = response(rng, asked["method"], asked["id"] if same else other_type(asked["id"]))
            messages.append((False, answer))
        elif step == "server":
            # With the id of a call that is open: ids of the two sides are separate.
            n = pending[-1]["id"] if pending else 0
            messages.append((False, {"jsonrpc": "2.0", "id": n, "method": "sampling/createMessage", "params": {}}))
            messages.append((True, {"jsonrpc": "2.0", "id": n, "result": {"role": "assistant"}}))
        elif step == "late":
            taken = {str(m["id"]) for m in pending}
            ghost = rng.choice(["ghost", *(str(n) for n in range(20))])
            if ghost not in taken:
                messages.append((False, response(rng, "tools/call", ghost)))
        elif step == "notification":
            messages.append((False, {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}))
        elif step == "null" and not typed:
            messages.append(rng.choice([
                (True, {"jsonrpc": "2.0", "id": None, "method": "tools/call", "params": {"name": "n"}}),
                (False, {"jsonrpc": "2.0", "id": None, "result": some_value(rng)})]))
    if not messages:
        messages.append((True, request(rng, 0)))
    if rng.random() < .6:
        now = rng.randrange(1, 2 * 10**12)
        for _, message in messages:
            now += rng.choice([0, 1, 250])
            message["timestamp_ms"] = now
        if rng.random() < .3:
            rng.choice(messages)[1]["timestamp_ms"] = max(1, now - rng.randrange(10**6))
    return messages


# The session as a file of each format.

def as_lines(messages):
    return "".join(json.dumps(m) + "\n" for _, m in messages)


def as_inspector(messages, rng):
    events = [m for _, m in messages]
    return json.dumps(rng.choice([events, {"events": events, "by": "x"}]), indent=rng.choice([None, 1]))


NOISE = ({"sse": {"event": "endpoint", "data": "/mcp?session=1"}}, {"sse": {"event": "keepalive", "data": ""}},
         {"sse": {"data": "ping"}}, {"sse": {"event": "other", "data": {"jsonrpc": "2.0", "id": 1, "result": 1}}})


def server_entry(message, rng):
    text = json.dumps(message, ensure_ascii=rng.random() < .5, indent=rng.choice([None, 2]))
    return rng.choice([{"response": message}, {"sse": {"data": message}},
                       {"sse": {"event": "message", "id": "e1", "data": text}},
                       {"sse": {"event": None, "data": json.dumps(text)}}])


def as_http(messages, transport, rng):
    entries = []
    for from_client, message in messages:
        entry = {"request": message} if from_client else server_entry(message, rng)
        message = dict(message)
        if "timestamp_ms" in message and rng.random() < .5:
            entry["timestamp_ms"] = message["timestamp_ms"]
        if rng.random() < .3:
            entry["transport_context"] = {"status": 200, "headers": {"Mcp-Session-Id": "s", "WWW-Authenticate": "scope=x"}}
        entries.append(entry)
        if rng.random() < .2:
            entries.append(rng.choice(NOISE))
    document = {"transport": transport, "transport_context": {"status": 401}, "entries": entries}
    return json.dumps(document, indent=rng.choice([None, 1]))


def as_file(messages, name, seed=0):
    rng = random.Random(seed)
    if name == "jsonrpc":
        return as_lines(messages).encode()
    text = as_inspector(messages, rng) if name == "inspector" else as_http(messages, name, rng)
    return text.encode()


# The reference.

class Reference:
    """The trace of a session, as lists without the members that never change."""

    def __init__(self, messages, typed=False):
        order = sorted(range(len(messages)), key=lambda i: (messages[i][1].get("timestamp_ms", 0), i))
        self.messages = [messages[i] for i in order]
        self.typed = typed
        times = [m["timestamp_ms"] for _, m in messages if "timestamp_ms" in m]
        self.start = self.now = min(times, default=0)
        self.steps = 0
        self.lines = [("episode_start", self.start)]
        self.calls = {}  # number of step: the call
        self.output = None
        for from_client, message in self.messages:
            self.now = max(self.now, message.get("timestamp_ms", 0))
            self.add(from_client, message)
        for step, call in self.calls.items():
            self.lines.append(("tool_call", call["at"], step, call["name"], call["args"], None, "timeout/no_response"))
        self.lines.append(("episode_end", self.now, self.output))

    def add(self, from_client, message):
        if from_client and message.get("method") == "tools/call":
            self.add_call(message)
        elif from_client and message.get("method") == "tools/list":
            self.step("tools/list", {}, ())
        elif not from_client and "method" not in message:
            self.add_response(message)

    def step(self, name, content, meta):
        self.lines.append(("step", self.now, self.steps, name, content, dict(meta)))
        self.steps += 1

    def add_call(self, message):
        params, number = message["params"], message["id"]
        call = {"id": number, "name": params.get("name", "unknown_tool"), "args": params.get("arguments"), "at": self.now}
        self.step(call["name"], None, [("jsonrpc_id", None if number is None else str(number))])
        if number is None:
            self.lines.append(("tool_call", self.now, self.steps - 1, call["name"], call["args"], None, None))
        else:
            self.calls[self.steps - 1] = call

    def add_response(self, message):
        result = message.get("result")
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            tools = [{"name": t.get("name", "unknown"), "description": t.get("description"),
                      "input_schema": t.get("inputSchema"), "tool_identity": None} for t in result["tools"]]
            self.step("tools/list.result", {"tools": tools}, ())
            return
        failed = "result" not in message
        self.output = [message["error"] if failed else result]
        for step, call in self.calls.items():
            mine = call["id"] == message["id"] if self.typed else str(call["id"]) == str(message["id"])
            if mine and message["id"] is not None:
                del self.calls[step]
                value = {"error": message["error"]} if failed else result
                self.lines.append(("tool_call", self.now, step, call["name"], call["args"], value,
                                   "mcp_error" if failed else None))
                return


def parsed_trace(text):
    """The lines of a trace in the form of the reference; checks the members that never change."""
    lines = []
    for line in map(json.loads, text.decode().splitlines()):
        kind, now = line["type"], line["timestamp"]
        assert line["episode_id"] == "e"
        if kind == "episode_start":
            assert line["input"] == {"prompt": "<mcp:session>"}
            assert not any(v is True for v in line["meta"]["mcp"]["authorization_discovery"].values())
            lines.append((kind, now))
        elif kind == "step":
            assert line["step_id"] == f"step_{line['idx']:03}" and line["kind"] == "tool"
            content = line["content"] and json.loads(line["content"])
            lines.append((kind, now, line["idx"], line["name"], content, line["meta"]))
        elif kind == "tool_call":
            step = int(line["step_id"].removeprefix("step_"))
            lines.append((kind, now, step, line["tool_name"], line["args"], line["result"], line["error"]))
        else:
            assert kind == "episode_end" and line["outcome"] is None
            output_text = line["final_output"]
            lines.append((kind, now, None if output_text is None else [json.loads(output_text)]))
    return lines


def trace_of(data, *words):
    return parsed_trace(output("import", "-", "--out-trace", "-", "--episode-id", "e", *words, stdin=data))


@pytest.mark.generated
@pytest.mark.parametrize("name", FORMATS)
def test_the_trace_of_a_session_is_that_of_the_reference(name):
    for seed in range(SESSIONS):
        messages = session(seed)
        assert trace_of(as_file(messages, name, seed), "--format", name) == Reference(messages).lines, seed


@pytest.mark.generated
@pytest.mark.parametrize("name", FORMATS)
def test_the_trace_with_the_rules_of_head_is_that_of_the_reference(name):
    for seed in range(SESSIONS):
        messages = session(seed, typed=True)
        trace = trace_of(as_file(messages, name, seed), "--format", name, "--rules", "head")
        assert trace == Reference(messages, typed=True).lines, seed


@pytest.mark.generated
@pytest.mark.parametrize("source,target", list(itertools.permutations(FORMATS, 2)))
def test_a_converted_session_has_the_same_trace(source, target):
    for seed in range(SESSIONS):
        messages = session(seed)
        converted = output("convert", "-", "--to", target, "-o", "-", stdin=as_file(messages, source, seed))
        assert trace_of(converted, "--format", target) == Reference(messages).lines, seed


def vectors():
    """Cases of Assay's own tests, written anew: (name, lines, calls as (tool, result, error), rules)."""
    def call(number, tool="T", ms=1000):
        return {"timestamp_ms": ms, "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool}}

    def result(number, value, ms=1001):
        return {"timestamp_ms": ms, "jsonrpc": "2.0", "id": number, "result": value}

    timeout = "timeout/no_response"
    both = ("documented", "head")
    yield "string id", [call("r"), result("r", 1)], [("T", 1, None)], both
    yield "number id", [call(7), result(7, 1)], [("T", 1, None)], both
    yield "number and string", [call(7), result("7", 1)], [("T", 1, None)], ("documented",)
    yield "other id", [call("a"), result("b", 1)], [("T", None, timeout)], both
    yield "first response", [call("a"), result("a", 1), result("a", 2, 1002)], [("T", 1, None)], both
    yield "null id", [call(None), result(None, 1)], [("T", None, None)], ("documented",)
    yield "error", [call("a"), {**result("a", 1), "error": {"code": 1, "message": "m"}}], [("T", 1, None)], ("documented",)
    yield "reuse after a response", [call("a"), result("a", 1), call("a", "U", 1002)], [("T", 1, None), ("U", None, timeout)], ("head",)
    yield "typed ids", [call("1", "S"), call(1, "N", 1001), result(1, 5, 1002)], [("N", 5, None), ("S", None, timeout)], ("head",)
    yield "a number with a fraction", [call(1.5), result(1.5, 1)], [("T", None, None)], ("head",)


@pytest.mark.parametrize("name", FORMATS)
def test_the_vectors_of_assay_give_their_calls(name):
    for title, lines, calls, rules in vectors():
        messages = [("method" in m, m) for m in lines]
        for rule in rules:
            trace = trace_of(as_file(messages, name), "--format", name, "--rules", rule)
            found = [(line[3], line[5], line[6]) for line in trace if line[0] == "tool_call"]
            assert found == calls, (title, rule)


REJECTED = (
    ([{"id": True}], "must not be a boolean"), ([{"id": False}], "must not be a boolean"),
    ([{"id": {"a": 1}}], "must not be an object"), ([{"id": [1, 2]}], "must not be an array"),
    ([{"id": "d"}, {"id": "d"}], "duplicate tools/call request id"), ([{"id": 1}, {"id": "1"}], "duplicate tools/call request id"),
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_wrong_session_is_rejected_with_its_entry_or_line(name, tmp_path):
    for parts, error in REJECTED:
        messages = [(True, {"jsonrpc": "2.0", "method": "ping", "id": 0})]
        messages += [(True, {"jsonrpc": "2.0", "method": "tools/call", "params": {}, **part}) for part in parts]
        ran = mcpreel("import", "-", "--format", name, "--out-trace", tmp_path / "t", stdin=as_file(messages, name))
        assert ran.returncode == 3 and error in ran.stderr.decode(), ran.stderr
        where = f"-:{len(messages)}:1: " if name == "jsonrpc" else f"entry {len(messages)}: "
        assert where in ran.stderr.decode()
        assert not list(tmp_path.iterdir())


def test_a_member_that_is_null_is_absent_except_for_head():
    document = b'{"transport":"http-sse","entries":[{"request":null,"sse":{"data":"ping"}}]}'
    words = ("import", "-", "--out-trace", "-")
    assert mcpreel(*words, stdin=document).returncode == 0
    assert mcpreel(*words, "--rules", "head", stdin=document).returncode == 3


def test_duplicate_members_are_rejected_by_head_only():
    inner = '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'
    documents = {
        "jsonrpc": inner, "inspector": f"[{inner}]",
        "streamable-http": '{"transport":"streamable-http","entries":[{"response":%s}]}' % inner,
        "http-sse": '{"transport":"http-sse","entries":[{"sse":{"data":%s}}]}' % json.dumps(inner),
    }
    for name, text in documents.items():
        words = ("import", "-", "--format", name, "--out-trace", "-")
        assert mcpreel(*words, stdin=text.encode()).returncode == 0
        ran = mcpreel(*words, "--rules", "head", stdin=text.encode())
        assert ran.returncode == 3 and b"a member twice" in ran.stderr, ran.stderr

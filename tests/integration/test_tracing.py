"""convert to traces: generated sessions, whose calls are known, compared with what MPLP, OTLP and Jaeger say about them."""
import datetime
import json
import pathlib
import random

import pytest

import mplp_rules
from generated import SESSIONS
from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
START = 1_800_000_000_000_000  # 2027-01-15T08:00:00Z


class Session:
    """A recording with random calls that overlap, and what a trace must say about each."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.calls, self.us, self.id = [], [], 0, 0
        self.lines.append({"type": "header", "version": "1.0", "recorded_at": "2027-01-15T08:00:00.000Z", "upstream": f"server {seed}",
                           "thoughtjack_version": "0.3.0", "transport": "stdio", "us": 0})
        self.handshake()
        outstanding = []
        for _ in range(self.random.randint(3, 30)):
            outstanding.append(self.request())
            while outstanding and self.random.random() < 0.6:
                self.end(outstanding.pop(self.random.randrange(len(outstanding))))
            if self.random.random() < 0.3:
                self.put("s2c", {"method": "notifications/message", "params": {"level": "info", "data": self.text()}})
        for call in outstanding:
            call["outcome"] = "running"
        self.finished = self.random.random() < 0.8
        if self.finished:
            self.put_footer()

    def put(self, direction, message):
        self.us += self.random.choice([0, 1, 250, 1_000_000])
        micro = START + self.us
        self.lines.append({"type": "message", "seq": len(self.lines), "ts": stamp(micro), "us": self.us, "dir": direction,
                           "msg": {"jsonrpc": "2.0", **message}})

    def put_footer(self):
        messages = [line["dir"] for line in self.lines if line["type"] == "message"]
        self.lines.append({"type": "footer", "ended_at": stamp(START + self.us), "total_messages": len(messages), "duration_ms": self.us // 1000,
                           "client_messages": messages.count("c2s"), "server_messages": messages.count("s2c"), "exit_code": 0, "us": self.us})

    def text(self):
        return self.random.choice(["", "plain", "\u00e9\u2028", "\ud83d", "\"quoted\" \\", "x" * 300])

    def handshake(self):
        self.put("c2s", {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "agent", "version": "1"}}})
        start = self.us
        self.put("s2c", {"id": 0, "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "tools", "version": "2"}}})
        self.calls.append({"id": "0", "name": "initialize", "method": "initialize", "start": start, "end": self.us, "outcome": "completed", "dir": "c2s"})
        self.put("c2s", {"method": "notifications/initialized"})

    def request(self):
        self.id += 1
        method = self.random.choice(["tools/call", "tools/call", "prompts/get", "resources/read", "ping"])
        target = self.random.choice(["add", "\u00e9t\u00e9", "a b"])
        params = {"tools/call": {"name": target, "arguments": {"n": self.id, "text": self.text()}}, "prompts/get": {"name": target},
                  "resources/read": {"uri": "file:///a"}, "ping": {}}[method]
        remote = self.random.random() < 0.2
        if remote:
            params["_meta"] = {"traceparent": PARENT, "tracestate": "v=\"1\""}
        id = self.random.choice([self.id, f"r{self.id}"])
        self.put("c2s", {"id": id, "method": method, "params": params})
        call = {"id": str(id), "raw": id, "method": method, "name": f"{method} {target}" if method in ("tools/call", "prompts/get") else method,
                "tool": target if method == "tools/call" else None, "args": params.get("arguments"), "start": self.us, "remote": remote, "dir": "c2s"}
        self.calls.append(call)
        return call

    def end(self, call):
        kind = self.random.choice(["ok", "ok", "ok", "error", "invalid", "tool_error", "cancel"])
        if kind == "cancel":
            self.put("c2s", {"method": "notifications/cancelled", "params": {"requestId": call["raw"], "reason": "no"}})
            call.update(outcome="cancelled", type="cancelled")
            return
        if kind == "tool_error" and call["method"] != "tools/call":
            kind = "ok"
        codes = {"error": -32603, "invalid": -32602}
        body = {"ok": {"result": {"content": [], "text": self.text()}}, "tool_error": {"result": {"isError": True, "content": []}}}.get(
            kind, {"error": {"code": codes.get(kind), "message": self.text()}})
        self.put("s2c", {"id": call["raw"], **body})
        call.update(outcome="completed" if kind == "ok" else "failed", end=self.us, code=codes.get(kind),
                    type=None if kind == "ok" else "tool_error" if kind == "tool_error" else str(codes[kind]))

    def write(self, path):
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path


def stamp(micro):
    seconds, rest = divmod(micro, 1_000_000)
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest:06}Z"


def ok(run, *command, **more):
    ran = run(command, **more)
    assert ran.code == 0, str(ran)
    return ran


def check_mplp(session, trace):
    assert mplp_rules.faults(trace) == []
    assert trace["status"] == ("completed" if session.finished else "running")
    segments = {s["attributes"]["jsonrpc.request.id"]: s for s in trace["segments"] if "jsonrpc.request.id" in s["attributes"]}
    assert len(segments) == len(session.calls)
    for call in session.calls:
        segment = segments[call["id"]]
        a = segment["attributes"]
        assert (segment["label"], segment["status"], a["mplp.operation"]) == (call["name"], call["outcome"], call["method"])
        assert segment["started_at"].rstrip("0Z") == stamp(START + call["start"]).rstrip("0Z")
        if call["outcome"] in ("completed", "failed"):
            assert a["mplp.duration_ms"] == pytest.approx((call["end"] - call["start"]) / 1000)
        assert a.get("mplp.tool.name") == call.get("tool") and a.get("mplp.tool.args") == call.get("args")
        assert ("mplp.error" in a) == (call["outcome"] in ("failed", "cancelled"))
    types = [e["event_type"] for e in trace["events"]]
    assert types[0] == "execution.started" and types.count("tool.call") == sum(c["method"] == "tools/call" for c in session.calls)
    assert types.count("mcp.notifications.initialized") == 1


def check_otlp(session, spans):
    found = {s["attributes"]["jsonrpc.request.id"]: s for s in spans if "jsonrpc.request.id" in s["attributes"]}
    (root,) = [s for s in spans if not s["parent"]]
    assert len(found) == len(session.calls) == len(spans) - 1
    for call in session.calls:
        span = found[call["id"]]
        remote = call.get("remote")
        fault = call.get("type") and not (remote and call.get("code") == -32602) or call["outcome"] == "running"
        assert (span["name"], span["kind"]) == (call["name"], "SERVER" if remote else "CLIENT")
        assert span["service"] == ("tools" if remote else "agent")
        assert (span["trace"], span["parent"]) == ((PARENT[3:35], PARENT[36:52]) if remote else (root["trace"], root["id"]))
        assert span["start"] == (START + call["start"]) * 1000 and span["error"] == bool(fault)
        if call.get("end"):
            assert span["end"] == (START + call["end"]) * 1000
        assert span["attributes"].get("error.type") == (call.get("type") or "no_response" if fault else None)
        assert span["attributes"].get("gen_ai.tool.name") == call.get("tool")
        assert "gen_ai.tool.call.arguments" not in span["attributes"] and "mplp.operation" not in span["attributes"]
        assert span["state"].startswith("mplp=trace_id:") and ("v=\"1\"" in span["state"]) == bool(remote)
        assert span["links"] == ([root["trace"]] if remote else []) and span["flags"] == (769 if remote else 257)


def check_jaeger(document, spans, trace):
    (data,) = document["data"]
    by_id = {s["spanID"]: s for s in data["spans"]}
    assert by_id.keys() == {s["id"] for s in spans} == {s["segment_id"].replace("-", "")[:16] for s in trace["segments"]}
    for span in spans:
        jaeger = by_id[span["id"]]
        tags = {t["key"]: t["value"] for t in jaeger["tags"]}
        assert (jaeger["operationName"], jaeger["startTime"] * 1000) == (span["name"], span["start"])
        assert (jaeger["startTime"] + jaeger["duration"]) * 1000 == span["end"]
        assert data["processes"][jaeger["processID"]]["serviceName"] == span["service"]
        assert tags.get("error", False) == span["error"] and tags["span.kind"] == span["kind"].lower()
        assert [log["fields"][0]["value"] for log in jaeger["logs"]] == span["events"]
        for reference in jaeger["references"]:
            assert reference["refType"] == "FOLLOWS_FROM" or reference["spanID"] in by_id


@pytest.mark.generated
def test_generated_sessions_are_the_same_trace_in_every_format(run, mcpreel, peer_home, tmp_path):
    sessions = [Session(seed) for seed in range(SESSIONS)]
    lines, counts = [], []
    for i, session in enumerate(sessions):
        path = session.write(tmp_path / f"{i}.jsonl")
        for name in ("mplp.json", "otlp.json", "jaeger.json"):
            ok(run, mcpreel, "-q", "convert", path, "-o", tmp_path / f"{i}.{name}")
        lines.append((tmp_path / f"{i}.otlp.json").read_bytes())
        assert lines[-1].count(b"\n") == 1
    ran = ok(run, peer_home("otlp") / "bin" / "python", ROOT / "tests" / "peers" / "otlp-decode.py", stdin=b"".join(lines))
    spans = [json.loads(line) for line in ran.out.splitlines()]
    for i, session in enumerate(sessions):
        own, spans = spans[:len(session.calls) + 1], spans[len(session.calls) + 1:]
        trace = json.loads((tmp_path / f"{i}.mplp.json").read_text())
        check_mplp(session, trace)
        check_otlp(session, own)
        check_jaeger(json.loads((tmp_path / f"{i}.jaeger.json").read_text()), own, trace)
        counts.append(trace["trace_id"])
    assert not spans and len(set(counts)) == SESSIONS


def test_the_lines_of_mplp_are_the_segments_and_events_of_the_document(run, mcpreel, tmp_path):
    path = Session(7).write(tmp_path / "a.jsonl")
    trace = json.loads(ok(run, mcpreel, "-q", "convert", path, "--to", "mplp", "-o", "-").out)
    lines = [json.loads(line) for line in ok(run, mcpreel, "-q", "convert", path, "--to", "mplp-jsonl", "-o", "-").out.splitlines()]
    extra = {"trace_id": trace["trace_id"], "context_id": trace["context_id"]}
    assert all(line.pop("operation") == line["attributes"]["mplp.operation"] for line in lines if "segment_id" in line)
    assert [line for line in lines if "segment_id" in line] == [{**s, **extra} for s in trace["segments"]]
    assert [line for line in lines if "event_id" in line] == trace["events"]


def test_the_operations_of_the_stories_are_valid_traces(run, mcpreel, tmp_path):
    """Retries, tasks, pages, batches and server requests: every member of a family is below its parent."""
    def message(us, direction, **body):
        return {"type": "message", "seq": us, "ts": stamp(START + us), "us": us, "dir": direction, "msg": {"jsonrpc": "2.0", **body}}

    lines = [
        message(1, "c2s", id=1, method="tools/call", params={"name": "t"}),
        message(2, "s2c", id=1, result={"resultType": "input_required", "requestState": "s", "inputRequests": {"k": {}}}),
        message(3, "c2s", id=2, method="tools/call", params={"name": "t", "requestState": "s", "inputResponses": {"k": {}}}),
        message(4, "s2c", id="q", method="sampling/createMessage", params={}),
        message(5, "c2s", id="q", result={"model": "m", "usage": {"input_tokens": 3, "output_tokens": 4}}),
        message(6, "s2c", id=2, result={"content": []}),
        message(7, "c2s", id=3, method="tools/list"),
        message(8, "s2c", id=3, result={"tools": [], "nextCursor": "c"}),
        message(9, "c2s", id=4, method="tools/list", params={"cursor": "c"}),
        message(10, "s2c", id=4, result={"tools": []}),
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = json.loads(ok(run, mcpreel, "-q", "convert", tmp_path / "a.jsonl", "--to", "mplp", "-o", "-").out)
    assert mplp_rules.faults(trace) == []
    labels = {s["segment_id"]: s["label"] for s in trace["segments"]}
    assert sorted((s["label"], labels.get(s.get("parent_segment_id"))) for s in trace["segments"]) == [
        ("execute_tool t", "mcp session"), ("mcp session", None), ("sampling/createMessage", "tools/call t"), ("tools/call t", "execute_tool t"),
        ("tools/call t", "execute_tool t"), ("tools/list", "mcp session"), ("tools/list", "tools/list"), ("tools/list", "tools/list")]
    (sampling,) = [s["attributes"] for s in trace["segments"] if s["label"] == "sampling/createMessage"]
    assert [sampling[f"mplp.{k}"] for k in ("llm.model", "llm.tokens_in", "llm.tokens_out", "tokens_used")] == ["m", 3, 4, 7]


def attributes_of(run, mcpreel, path, *options):
    """The attributes of each span, by its name."""
    document = json.loads(ok(run, mcpreel, "-q", "convert", path, "--to", "otlp", "-o", "-", *options).out)
    spans = [span for resource in document["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]
    return {span["name"]: {one["key"]: one["value"] for one in span["attributes"]} for span in spans}


def prompt_session(tmp_path, upstream, arguments):
    lines = [{"type": "header", "version": "1.0", "recorded_at": "2027-01-15T08:00:00.000Z", "upstream": upstream, "thoughtjack_version": "0.3.0",
              "transport": "http", "us": 0}]
    for direction, body in (("c2s", {"id": 1, "method": "prompts/get", "params": {"name": "greet", "arguments": arguments}}),
                            ("s2c", {"id": 7, "method": "roots/list"}), ("s2c", {"id": 1, "result": {"messages": []}})):
        lines.append({"type": "message", "seq": len(lines), "ts": stamp(START), "us": len(lines), "dir": direction, "msg": {"jsonrpc": "2.0", **body}})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "a.jsonl"


@pytest.mark.parametrize("upstream,address", [
    ("https://mcp.example.com/mcp?a=1", ("mcp.example.com", "443")), ("http://[::1]:8080/mcp", ("::1", "8080")), ("http-server --port 1", None),
])
def test_the_servers_url_is_its_address(run, mcpreel, tmp_path, upstream, address):
    found = attributes_of(run, mcpreel, prompt_session(tmp_path, upstream, {}))
    sent, received = found["prompts/get greet"], found["roots/list"]
    assert (sent.get("server.address"), sent.get("server.port")) == \
        ((None, None) if address is None else ({"stringValue": address[0]}, {"intValue": address[1]}))
    assert not [key for key in received if key.startswith("server.")]


def test_arguments_of_a_prompt_are_variables(run, mcpreel, tmp_path):
    path = prompt_session(tmp_path, "http://h/", {"name": "Ada \ud83d", "é b": "x", "n": 1, "": "y", "\0": "z"})
    prefix = "gen_ai.prompt.variable."
    sent = attributes_of(run, mcpreel, path, "--payloads")["prompts/get greet"]
    assert {key: value for key, value in sent.items() if key.startswith(prefix)} == \
        {prefix + "name": {"stringValue": "Ada \ufffd\ufffd\ufffd"}, prefix + "é b": {"stringValue": "x"}}
    assert not [key for key in attributes_of(run, mcpreel, path)["prompts/get greet"] if key.startswith(prefix)]
    many = prompt_session(tmp_path, "http://h/", {str(n): "x" for n in range(100)})
    assert len([key for key in attributes_of(run, mcpreel, many, "--payloads")["prompts/get greet"] if key.startswith(prefix)]) == 16


def test_options_of_a_trace_are_checked(run, mcpreel, tmp_path):
    path = Session(1).write(tmp_path / "a.jsonl")
    uuid = "550e8400-e29b-41d4-a716-446655440000"
    out = tmp_path / "b.mplp.json"
    ok(run, mcpreel, "-q", "convert", path, "-o", out, "--plan-id", uuid, "--context-id", uuid, "--step-id", uuid, "--agent-role", "planner", "--payloads")
    trace = json.loads(out.read_text())
    assert mplp_rules.faults(trace) == [] and trace["plan_id"] == trace["context_id"] == trace["root_span"]["context_id"] == uuid
    assert all((s["attributes"]["mplp.step_id"], s["attributes"]["mplp.agent_role"]) == (uuid, "planner") for s in trace["segments"])
    for arguments in (["--plan-id", "1"], ["--plan-id", uuid.upper()], ["--agent-role", ""], ["--mplp"]):
        ran = run([mcpreel, "convert", path, "-o", tmp_path / "c.mplp.json", *arguments])
        assert ran.code == 2 and arguments[0].encode() in ran.err and not (tmp_path / "c.mplp.json").exists(), str(ran)


def test_absurd_times_give_valid_traces(run, mcpreel, peer_home, tmp_path):
    def message(us, direction, **body):
        return {"type": "message", "seq": 1, "ts": "9999-12-31T23:59:59Z", "us": us, "dir": direction, "msg": {"jsonrpc": "2.0", **body}}

    lines = [message(2**62, "c2s", id=1, method="ping"), message(5, "s2c", id=1, result={})]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = json.loads(ok(run, mcpreel, "-q", "convert", tmp_path / "a.jsonl", "--to", "mplp", "-o", "-").out)
    assert list(mplp_rules.shape(trace)) == []
    otlp = ok(run, mcpreel, "-q", "convert", tmp_path / "a.jsonl", "--to", "otlp", "-o", "-").out
    ok(run, peer_home("otlp") / "bin" / "python", ROOT / "tests" / "peers" / "otlp-decode.py", stdin=otlp)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """40 MB, so that a writer that keeps it all exceeds the limit."""
    path = tmp_path_factory.mktemp("large") / "a.jsonl"
    bodies = [("c2s", json.dumps({"method": "tools/call", "params": {"name": "t", "arguments": {"text": "x" * 350}}})[1:]),
              ("s2c", json.dumps({"result": {"content": [{"type": "text", "text": "y" * 350}]}})[1:])]
    with path.open("w") as f:
        for n in range(40_000):
            for direction, body in bodies:
                f.write(f'{{"type":"message","seq":{n + 1},"ts":"2027-01-15T08:00:00Z","us":{n},"dir":"{direction}",'
                        f'"msg":{{"jsonrpc":"2.0","id":{n},{body}}}\n')
    return path


@pytest.mark.parametrize("to", ["mplp", "mplp-jsonl", "otlp", "jaeger"])
def test_a_large_recording_needs_little_memory(large, tmp_path, to):
    if not OPTIMISED.exists():
        pytest.skip("needs the optimised program")
    peak_kb, _, _ = measured(OPTIMISED, "-q", "convert", large, "--to", to, "--payloads", "-o", tmp_path / "out")
    assert peak_kb < 32 * 1024

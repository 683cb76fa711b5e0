"""convert --otlp with an OpenTelemetry Collector, which writes what it receives to a file: all that convert writes to one."""
import json
import pathlib
import random
import signal
import sys
import urllib.error
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
from processes import TIMEOUT_S, started, url_in  # noqa: E402

CALLS = 20_000
WHERE = r'Starting HTTP server.*"endpoint": "([^"]+)"'


def demo(run, mcpreel, path):
    ran = run([mcpreel, "demo", "-o", path])
    assert ran.code == 0, str(ran)


def calls(_run, _mcpreel, path):
    """Calls that succeed, fail, are cancelled, get no response, have notifications and trace contexts of their own."""
    dice = random.Random(21)
    messages = [("c2s", {"id": "i", "method": "initialize", "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "ägent"}}}),
                ("s2c", {"id": "i", "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}}})]
    for n in range(CALLS):
        params = {"name": dice.choice(["add", "höhe", "a b", "x" * 200]), "arguments": {"text": "é\n\"\u2028" * dice.randint(0, 50)}}
        if dice.random() < 0.2:
            params["_meta"] = {"traceparent": f"00-{dice.getrandbits(128):032x}-{dice.getrandbits(64):016x}-01"}
        messages.append(("c2s", {"id": n, "method": "tools/call", "params": params}))
        if dice.random() < 0.3:
            messages.append(("s2c", {"method": "notifications/message", "params": {"level": "info", "data": n}}))
        messages += dice.choice([
            [("s2c", {"id": n, "result": {"content": [{"type": "text", "text": "ok"}]}})],
            [("s2c", {"id": n, "result": {"content": [{"type": "text", "text": "no\u0001"}], "isError": True}})],
            [("s2c", {"id": n, "error": {"code": dice.choice([-32602, -32603, 7]), "message": "kaputt"}})],
            [("c2s", {"method": "notifications/cancelled", "params": {"requestId": n}})], []])
    header = {"type": "header", "version": "1.0", "recorded_at": "2027-01-15T08:00:00Z", "upstream": "s", "thoughtjack_version": "0.3.0"}
    lines = [{"type": "message", "seq": seq, "ts": "2027-01-15T08:00:00Z", "us": seq * 10, "dir": direction, "msg": {"jsonrpc": "2.0", **body}}
             for seq, (direction, body) in enumerate(messages, 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]))


@pytest.fixture
def spans(run, peer_home):
    """The spans of a file of OTLP/JSON by their ids, decoded with the official classes."""
    def decode(path):
        ran = run([peer_home("otlp") / "bin" / "python", ROOT / "tests" / "peers" / "otlp-decode.py"], stdin=path.read_bytes())
        assert ran.code == 0, str(ran)
        found = list(map(json.loads, ran.out.splitlines()))
        assert len({span["id"] for span in found}) == len(found)
        return sorted(found, key=lambda span: span["id"])

    return decode


@pytest.mark.parametrize("record, least, options", [(demo, 11, []), (calls, CALLS, []), (calls, CALLS, ["--payloads", "--mplp"])],
                         ids=["demo", "many calls", "many calls with payloads"])
def test_a_collector_receives_what_convert_writes(run, mcpreel, peer_home, tmp_path, spans, record, least, options):
    recording, written, received, log = (tmp_path / name for name in ("a.jsonl", "a.otlp.jsonl", "received.jsonl", "log"))
    record(run, mcpreel, recording)
    ran = run([mcpreel, "convert", recording, *options, "-o", written])
    assert ran.code == 0, str(ran)
    program = peer_home("collector") / "bin" / "collector"
    with log.open("wb") as err, started([program, received], stderr=err) as collector:
        ran = run([mcpreel, "convert", recording, *options, "--otlp", f"http://{url_in(log, collector, WHERE)}"])
        assert ran.code == 0 and b"warning" not in ran.err, f"{ran}\n{log.read_text()}"
        collector.send_signal(signal.SIGTERM)
        assert collector.wait(TIMEOUT_S) == 0, log.read_text()
    want, got = spans(written), spans(received)
    assert len(got) == len(want) >= least
    assert got == want and any(span["error"] for span in got) and any(span["events"] for span in got)


def test_a_collector_rejects_what_is_no_trace(run, peer_home, tmp_path):
    """So that its success above is one."""
    log = tmp_path / "log"
    with log.open("wb") as err, started([peer_home("collector") / "bin" / "collector", tmp_path / "received.jsonl"], stderr=err) as collector:
        url = f"http://{url_in(log, collector, WHERE)}/v1/traces"
        body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"no"}]}]}]}'
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout=TIMEOUT_S)

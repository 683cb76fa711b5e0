"""convert --otlp: a collector with the official classes of OpenTelemetry, and collectors that are down, reject or hang."""
import base64
import json
import pathlib
import re
import socket
import subprocess
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_PROXY = {"OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ""}


class Collector:
    def __init__(self, home, plan):
        self.process = subprocess.Popen([home / "bin" / "python", ROOT / "tests" / "peers" / "otlp-collector.py", *plan],
                                        stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.posts = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        self.posts.extend(json.loads(line) for line in self.process.stdout)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        return self.posts


@pytest.fixture
def collector(peer_home):
    started = []

    def start(*plan):
        started.append(Collector(peer_home("otlp"), plan))
        return started[-1]

    yield start
    for c in started:
        c.close()


def message(n, direction, **body):
    return {"type": "message", "seq": n + 1, "ts": "2027-01-15T08:00:00Z", "us": n, "dir": direction, "msg": {"jsonrpc": "2.0", **body}}


@pytest.fixture
def recording(tmp_path):
    """700 calls: two batches."""
    header = {"type": "header", "version": "1.0", "recorded_at": "2027-01-15T08:00:00Z", "upstream": "s", "thoughtjack_version": "0.3.0"}
    lines = [header] + [message(n, d, **body) for n in range(700)
             for d, body in (("c2s", {"id": n, "method": "tools/call", "params": {"name": "add"}}), ("s2c", {"id": n, "result": {}}))]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def send(run, mcpreel, recording, *arguments, **env):
    return run([mcpreel, "convert", recording, *arguments], env={**NO_PROXY, **env})


def test_each_batch_is_one_post(run, mcpreel, recording, collector):
    to = collector()
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert (ran.code, ran.out) == (0, b"") and b"in 2 batches" in ran.err, str(ran)
    posts = to.close()
    assert [(p["path"], len(p["spans"])) for p in posts] == [("/v1/traces", 512), ("/v1/traces", 189)]
    assert len({s["id"] for p in posts for s in p["spans"]}) == 701
    headers = posts[0]["headers"]
    assert headers["content-type"] == "application/json" and headers["content-encoding"] == "gzip" and headers["user-agent"].startswith("mcpreel/")


def test_the_variables_of_opentelemetry_are_used(run, mcpreel, recording, collector):
    to = collector()
    ran = send(run, mcpreel, recording, "--to", "otlp", OTEL_EXPORTER_OTLP_ENDPOINT=to.url + "/base", OTEL_EXPORTER_OTLP_COMPRESSION="none",
               OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b, x-more=c=d")
    assert ran.code == 0, str(ran)
    (first, _) = to.close()
    assert first["path"] == "/base/v1/traces" and "content-encoding" not in first["headers"]
    assert (first["headers"]["x-key"], first["headers"]["x-more"]) == ("a b", "c=d")


def test_the_endpoint_for_traces_is_used_as_it_is(run, mcpreel, recording, collector):
    to = collector()
    ran = send(run, mcpreel, recording, "--to", "otlp", "--mplp", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
               OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=to.url.replace("//", "//me:secret@") + "/in?x=1")
    assert ran.code == 0 and b"secret" not in ran.err, str(ran)
    (first, _) = to.close()
    assert first["path"] == "/in?x=1" and first["headers"]["authorization"] == "Basic " + base64.b64encode(b"me:secret").decode()
    assert first["spans"][0]["attributes"]["mplp.operation"] == "tools/call"


@pytest.mark.parametrize("status", ["429", "502", "503", "504"])
def test_a_busy_collector_is_tried_three_times(run, mcpreel, recording, collector, status):
    to = collector(f"{status}:0", f"{status}:0", "200")
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 0, str(ran)
    assert len(to.close()) == 4
    to = collector(f"{status}:0")
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 4 and f"HTTP {status}".encode() in ran.err and ran.err.count(b"\n") == 4, str(ran)
    assert ran.err.count(f"warning: the collector responded with HTTP {status}; trying again in 0 s".encode()) == 2, str(ran)
    assert len(to.close()) == 3


def test_a_date_says_when_to_try_again(run, mcpreel, recording, collector):
    to = collector("date:2", "date:-60", "200")
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 0 and re.search(rb"trying again in [12] s\n.*trying again in 0 s\n", ran.err), str(ran)
    assert len(to.close()) == 4


def test_the_page_of_a_web_server_is_no_success(run, mcpreel, recording, collector):
    to = collector("page")
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 4 and b"is no collector: it responded with HTML: <!doctype html>" in ran.err and ran.err.count(b"\n") == 2, str(ran)
    assert len(to.close()) == 1


@pytest.mark.parametrize("status", ["400", "401", "404", "500", "307"])
def test_a_rejection_is_final(run, mcpreel, recording, collector, status):
    to = collector(status)
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 4 and f"HTTP {status}".encode() in ran.err and ran.err.count(b"\n") == 2, str(ran)
    assert len(to.close()) == 1


def test_rejected_spans_are_reported_and_not_sent_again(run, mcpreel, recording, collector):
    to = collector("partial:3", "200")
    ran = send(run, mcpreel, recording, "--otlp", to.url)
    assert ran.code == 0 and b"rejected 3 spans: too old" in ran.err, str(ran)
    assert len(to.close()) == 2


def test_a_collector_that_hangs_is_given_up(run, mcpreel, recording, collector):
    ran = send(run, mcpreel, recording, "--otlp", collector("hang").url, OTEL_EXPORTER_OTLP_TIMEOUT="300")
    assert ran.code == 4 and b"did not respond within 300 ms" in ran.err and ran.err.count(b"\n") == 2, str(ran)


def test_a_collector_that_is_down_is_named(run, mcpreel, recording):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ran = send(run, mcpreel, recording, "--otlp", f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert ran.code == 4 and b"cannot send spans to" in ran.err and ran.err.count(b"\n") == 2, str(ran)


@pytest.mark.parametrize("arguments,env,code", [
    (["--otlp", "localhost:4318"], {}, 2),
    (["--otlp", "http://h", "-o", "x"], {}, 2),
    (["--otlp", "http://h", "--to", "csv"], {}, 2),
    (["--otlp", "http://h", "--lossless"], {}, 2),
    (["--to", "otlp"], {}, 2),
    (["--otlp", "http://h"], {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, 2),
    (["--otlp", "http://h"], {"OTEL_EXPORTER_OTLP_COMPRESSION": "zip"}, 2),
    (["--otlp", "http://h"], {"OTEL_EXPORTER_OTLP_HEADERS": "a b=secret"}, 2),
    (["--to", "otlp"], {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, 2),
])
def test_wrong_options_and_variables_are_rejected(run, mcpreel, recording, arguments, env, code):
    ran = send(run, mcpreel, recording, *arguments, **env)
    assert ran.code == code and ran.err and b"secret" not in ran.err, str(ran)

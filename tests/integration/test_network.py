"""No connections except the requested ones: the system calls of every command, as strace reports them."""
import json
import os
import re
import signal
import socket
import subprocess

import pytest

import stream_load
from http_peers import WAIT, Bytes, Program, Upstream, read_head
from test_concurrent_streams import OPTIMISED, recording_with_a_server_request



# Others may be about a pair of sockets, which is a pipe by another name, unless they name an address.
NETWORK_CALLS = {"socket", "connect", "bind", "listen", "accept", "accept4"}


class Traced:
    """The network calls of a command and its descendants."""

    def __init__(self, log):
        self.log = log

    def words(self, *command):
        return ["strace", "-f", "-qq", "-e", "trace=network", "-e", "signal=none", "-o", self.log, *command]

    def calls(self):
        """(call, address, result) of each; the address as 'IP:PORT', 'unix:PATH' or the family."""
        found = []
        for line in self.log.read_text().splitlines():
            call = re.search(r"^\d+ +(?:<\.\.\. )?(\w+)(?: resumed>)?\(?(.*) = (-?\d+|\?)", line)
            if call and (call[1] in NETWORK_CALLS or address_of(call[2])):
                found.append((call[1], address_of(call[2]), call[3]))
        return found

    def by(self, name):
        return [address for call, address, _ in self.calls() if call == name]


def address_of(text):
    v4 = re.search(r'port=htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"', text)
    v6 = re.search(r'port=htons\((\d+)\).*inet_pton\(AF_INET6, "([^"]+)"', text)
    unix = re.search(r'sun_path=(@?"[^"]*")', text)
    if v4:
        return f"{v4[2]}:{v4[1]}"
    if v6:
        return f"[{v6[2]}]:{v6[1]}"
    return f"unix:{unix[1]}" if unix else (re.match(r"(AF_(?!UNIX)\w+)", text) or [None])[0]


@pytest.fixture
def mcpreel():
    """The one that users get: sanitizers look for leaks by tracing, which only one can do at a time."""
    return OPTIMISED


@pytest.fixture(scope="module")
def may_trace():
    tried = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"strace does not work here: {tried.stderr.strip()}")


@pytest.fixture
def traced(may_trace, tmp_path):
    return Traced(tmp_path / "calls")


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "q.jsonl"
    recording_with_a_server_request(path)
    return path


# Text of a file may look like an address; mcpreel does not connect to it.
@pytest.mark.parametrize("words", [
    "version", "help record", "formats", "completion bash", "check q.jsonl", "check --secrets q.jsonl", "check --fix q.jsonl", "show q.jsonl",
    "list .", "show --json q.jsonl", "inspect q.jsonl", "inspect --json q.jsonl", "convert q.jsonl -o c.json", "convert q.jsonl -o t.trace.jsonl",
    "convert q.jsonl -o z.jsonl.gz", "redact q.jsonl -o clean.jsonl", "demo -o d.jsonl", "replay q.jsonl", "record -o s.jsonl -- cat"])
def test_commands_that_need_no_network_do_not_touch_it(mcpreel, traced, recording, run, tmp_path, words):
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    lines[0]["upstream"] = "http://192.0.2.1:80/mcp"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = run(traced.words(mcpreel, *words.split()), cwd=tmp_path)
    assert ran.code in (0, 1), str(ran)
    assert traced.calls() == []


def serve(traced, *words, env=None):
    """The program that strace runs, listening."""
    return Program(traced.words(*words), env=env)


def signal_traced(program, signum):
    """strace passes no signal on, but ends with what it traces."""
    children = f"/proc/{program.process.pid}/task/{program.process.pid}/children"
    if program.process.poll() is None:
        os.kill(int(open(children).read().split()[0]), signum)


def end(program):
    signal_traced(program, signal.SIGTERM)
    assert program.stop(None) == 0, program.err


def close(program):
    """Also after a failed test: a traced process would outlive strace."""
    signal_traced(program, signal.SIGKILL)
    program.close()


def own_calls(program, *hosts):
    return {f"{host}:{port}" for host in hosts for port in ("0", program.port)}


@pytest.mark.parametrize("listen, hosts", [("127.0.0.1:0", ["127.0.0.1"]), ("localhost:0", ["127.0.0.1", "[::1]"]), ("[::1]:0", ["[::1]"])])
def test_replay_sends_no_network_request(mcpreel, traced, recording, listen, hosts):
    program = serve(traced, mcpreel, "-q", "replay", "--on-unmatched", "warn", "--listen", listen, recording)
    try:
        if hosts == ["[::1]"]:
            client = Bytes(socket.create_connection(("::1", program.port), timeout=WAIT))
            client.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_head(client).status == 406
        else:
            client = program.client()
            assert client.post(stream_load.INITIALIZE).status == 200
            assert client.post({**stream_load.INITIALIZE, "method": "nobody/knows"}).status in (200, 400)
        end(program)
    finally:
        close(program)
    assert set(traced.by("bind")) <= own_calls(program, *hosts)
    assert traced.by("connect") == [] and traced.by("sendto") == [] and traced.by("sendmsg") == []
    assert {a for a in traced.by("socket")} <= {"AF_INET", "AF_INET6"}


def test_record_connects_to_its_server_only(mcpreel, traced, tmp_path):
    """An address needs no name service, and addresses in messages of a client or server are not contacted."""
    def respond_once(conn):
        while conn.request():
            conn.respond(status=307, headers=[("Location", "http://192.0.2.7/elsewhere"), ("Link", "<http://192.0.2.8/>; rel=preload"),
                                             ("WWW-Authenticate", 'Bearer resource_metadata="http://192.0.2.9/x"')])

    upstream = Upstream(respond_once)
    program = serve(traced, mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--listen", "127.0.0.1:0", "--url", upstream.url,
                    env={"http_proxy": "http://192.0.2.10:1", "https_proxy": "http://192.0.2.10:1"})
    try:
        client = program.client()
        for _ in range(3):
            assert client.post(stream_load.INITIALIZE, headers=[("X-Forwarded-Host", "192.0.2.11"), ("Forwarded", "host=192.0.2.12")]).status == 307
        end(program)
    finally:
        close(program)
        upstream.close()
    assert set(traced.by("connect")) == {f"127.0.0.1:{upstream.port}"}
    assert set(traced.by("bind")) == {"127.0.0.1:0"}
    assert {a for a in traced.by("socket")} <= {"AF_INET", "AF_INET6"}


def test_tls_to_an_address_uses_no_name_service(mcpreel, traced, tmp_path):
    """libcurl connects here; the server has no TLS, which makes no difference."""
    upstream = Upstream(lambda conn: conn.close())
    program = serve(traced, mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--listen", "127.0.0.1:0", "--url",
                    upstream.url.replace("http:", "https:"))
    try:
        assert program.client().post(stream_load.INITIALIZE).status == 502
        end(program)
    finally:
        close(program)
        upstream.close()
    reached = {a for a in traced.by("connect") if a}
    assert reached == {f"127.0.0.1:{upstream.port}"}, reached

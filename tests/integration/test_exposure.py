"""Access to a listening program: which requests are accepted, on which address it listens, which headers it
adds."""
import ipaddress
import json
import os
import pathlib

import pytest

import stream_load
from http_peers import Program, Upstream, compose, lines_of, records_of
from test_concurrent_streams import recording_with_a_server_request

TABLE = [line.split("  ") for line in (pathlib.Path(__file__).parent / "accepted-requests.txt").read_text().splitlines()
         if line and not line.startswith("#")]
ROWS = [[cell.strip() for cell in row if cell.strip()] for row in TABLE]


@pytest.fixture(scope="module")
def upstream():
    u = Upstream()
    yield u
    u.close()


@pytest.fixture(scope="module")
def recorder(mcpreel, upstream, tmp_path_factory):
    p = Program([mcpreel, "record", "-o", tmp_path_factory.mktemp("r") / "r.jsonl", "--listen", "127.0.0.1:0", "--url", upstream.url])
    yield p
    p.close()


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "q.jsonl"
    recording_with_a_server_request(path)
    return path


@pytest.fixture(scope="module")
def replayer(mcpreel, recording):
    p = Program([mcpreel, "replay", "--on-unmatched", "warn", "--listen", "127.0.0.1:0", recording])
    yield p
    p.close()


@pytest.fixture
def start(mcpreel):
    """A program that listens, for the length of a test."""
    started = []

    def run(*words, **more):
        started.append(Program([mcpreel, *words], **more))
        return started[-1]

    yield run
    for program in started:
        program.close()


def send(program, method, host, origin="-", type_="-", site="-", path=None):
    """The status that such a request gets."""
    names = {"Host": host, "Origin": origin, "Content-Type": type_, "Sec-Fetch-Site": site}
    values = [(n, "" if v == "(empty)" else v.replace("PORT", str(program.port))) for n, v in names.items() if v != "-"]
    body = stream_load.text(stream_load.INITIALIZE) if method in ("POST", "PUT", "PATCH") else b""
    client = program.client()
    client.send(compose(f"{method} {path or program.path} HTTP/1.1", [*values, ("Accept", "application/json, text/event-stream")], body,
                        sized=bool(body)))
    status = client.head().status
    client.close()
    return status


def test_the_table_has_every_combination():
    assert len(ROWS) >= 100 and all(len(row) == 7 for row in ROWS)
    for column, least in ((0, 8), (1, 25), (2, 25), (3, 15), (4, 6)):
        assert len({row[column] for row in ROWS}) >= least


@pytest.mark.parametrize("row", ROWS, ids=[" ".join(row[:5]) for row in ROWS])
def test_the_table_decides_which_requests_are_accepted(recorder, replayer, upstream, row):
    before = len(upstream.seen)
    *request, recorded, replayed = row
    assert send(recorder, *request) == int(recorded)
    assert len(upstream.seen) - before == (recorded == "200")
    assert send(replayer, *request) == int(replayed)


def listening(pid):
    """The addresses on which a process listens."""
    mine = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in mine:
                words = bytes.fromhex(cells[1].split(":")[0])
                yield ipaddress.ip_address(b"".join(words[n:n + 4][::-1] for n in range(0, len(words), 4)))


@pytest.mark.parametrize("address", ["0", ":0", "localhost:0", "LOCALHOST:0", "127.0.0.1:0", "127.1:0", "127.0.0.9:0", "[::1]:0",
                                     "[::ffff:127.0.0.1]:0", "0x7f000001:0"])
def test_localhost_listens_only_on_this_machine(start, recording, address):
    program = start("replay", "--listen", address, recording)
    found = set(listening(program.process.pid))
    assert found
    for ip in found:
        assert ip.is_loopback or (ip.version == 6 and ip.ipv4_mapped and ip.ipv4_mapped.is_loopback), ip


OTHERS = ["0.0.0.0:0", "0:0", "00:0", "0x0:0", "0x00000000:0", "0.0:0", "0.0.0:0", "000.000.000.000:0", "0x0.0x0.0x0.0x0:0", "[::]:0", "[::0]:0",
          "[0::]:0", "[0:0:0:0:0:0:0:0]:0", "[::0.0.0.0]:0", "[::ffff:0.0.0.0]:0", "[::ffff:0:0]:0", "*:0", "10.0.0.1:0",
          "192.168.0.1:0", "255.255.255.255:0", "224.0.0.1:0", "[fe80::1]:0", "[fd00::1]:0", "[ff02::1]:0", "[::2]:0", "[64:ff9b::7f00:1]:0",
          "example.org:0", "localhost.example.org:0", "foo.localhost:0", "ip6-localhost:0"]
NONSENSE = ["", ":", "*", "[::]", "::", ":::0", "0.0.0.0", "localhost", "[::1", "::1:0x", "[*]:0", "**:0", "*.*:0", "127.0.0.1:-1", "127.0.0.1:65536",
            "127.0.0.1:0:0", "http://127.0.0.1:0", "127.0.0.1:0/", "user@127.0.0.1:0", "127.0.0.256:0", "1 27.0.0.1:0", "127.0.0.1 :0",
            "127.0.0.1:+0", "127.0.0.1: 0", "[127.0.0.1]:0", "[::1%lo]:0", "127.0.0.1%lo:0", "０.０.０.０:0", "127。0。0。1:0"]


@pytest.mark.parametrize("command, address", [("record" if n % 2 else "replay", address) for n, address in enumerate(OTHERS)])
def test_other_machines_are_accepted_only_with_the_option(run, mcpreel, recording, tmp_path, command, address):
    words = ["replay", recording] if command == "replay" else ["record", "-o", tmp_path / "r.jsonl", "--url", "http://127.0.0.1:9/mcp"]
    ran = run([mcpreel, *words, "--listen", address])
    assert ran.code == 2, str(ran)
    assert f"'{address}' can be reached from other machines" in ran.err.decode()
    assert "--allow-remote" in ran.err.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", NONSENSE)
def test_an_invalid_address_is_reported(run, mcpreel, recording, address):
    ran = run([mcpreel, "replay", recording, "--listen", address])
    assert ran.code == 2, str(ran)
    assert "not an address to listen on" in ran.err.decode() or "needs a value" in ran.err.decode()


@pytest.mark.parametrize("address", ["0.0.0.0:0", "*:0"])
def test_with_the_option_pages_of_other_origins_are_still_rejected(start, recording, address):
    program = start("replay", "--allow-remote", "--listen", address, recording)
    assert {ip.is_unspecified for ip in listening(program.process.pid)} == {True}
    for host, status in (("192.168.1.5:PORT", 200), ("recorder:PORT", 200), ("localhost:PORT", 200), ("rebound.example:PORT", 403)):
        assert send(program, "POST", host, type_="application/json") == status
    assert send(program, "POST", "192.168.1.5:PORT", "http://192.168.1.5:PORT", "application/json") == 403
    assert send(program, "POST", "192.168.1.5:PORT", type_="text/plain") == 415


def test_accepted_hosts_and_origins_are_printed(start, upstream, recording, tmp_path):
    named = ["--allow-host", "tunnel.example", "--allow-origin", "https://app.example", "--listen", "127.0.0.1:0"]
    for program in (start("record", "-o", tmp_path / "r.jsonl", "--url", upstream.url, *named), start("replay", *named, recording)):
        for host, origin, status in (("tunnel.example", "-", 200), ("tunnel.example", "https://app.example", 200), ("localhost", "-", 200),
                                     ("localhost", "https://app.example", 200), ("tunnel.example", "https://tunnel.example", 403),
                                     ("other.example", "-", 403), ("tunnel.example", "http://app.example", 403), ("recorder", "-", 403)):
            assert send(program, "POST", host, origin, "application/json") == status, (host, origin)
        assert program.stop() == 0


# A header that replaces the client's own must not be sent for every client that finds the port.

SECRET = {"TOKEN": "Bearer zq81-kdhf-pwoe-2201"}


@pytest.mark.parametrize("lent", [["--header-env", "Authorization=TOKEN"], ["--header", "X-Api-Key: zq81-kdhf-pwoe-2201"], ["--url", None]],
                         ids=["header-env", "header", "url"])
@pytest.mark.parametrize("opened", [["--listen", "0.0.0.0:0", "--allow-remote"], ["--listen", "10.0.0.1:0", "--allow-remote"],
                                    ["--listen", "[::]:0", "--allow-remote"], ["--listen", "0", "--allow-host", "tunnel.example"]])
def test_credentials_are_not_sent_for_other_machines(run, mcpreel, upstream, tmp_path, lent, opened):
    if lent[0] == "--url":
        lent = ["--url", upstream.url.replace("//", "//user:zq81-kdhf-pwoe@")]
    else:
        lent = [*lent, "--url", upstream.url]
    ran = run([mcpreel, "record", "-o", tmp_path / "r.jsonl", *lent, *opened], env=SECRET)
    assert ran.code == 2, str(ran)
    assert "are allowed for local clients only" in ran.err.decode()
    assert b"zq81" not in ran.err and list(tmp_path.iterdir()) == []


def test_ordinary_headers_may_be_sent_for_other_machines(start, upstream, tmp_path):
    program = start("record", "-o", tmp_path / "r.jsonl", "--url", upstream.url, "--header", "MCP-Protocol-Version: 2025-11-25",
                    "--allow-remote", "--listen", "0.0.0.0:0")
    assert send(program, "POST", "192.168.1.5", type_="application/json") == 200


def test_credentials_are_not_sent_for_pages(start, upstream, tmp_path):
    """Nor to what a page shows, on any path, which would be sent without an Origin."""
    program = start("record", "-o", tmp_path / "r.jsonl", "--url", upstream.url, "--header-env", "Authorization=TOKEN", "--listen", "127.0.0.1:0",
                    env=SECRET)
    before = len(upstream.seen)
    for path in (program.path, "/", "/admin?delete=1", "/.well-known/oauth-protected-resource"):
        for method in ("GET", "POST", "DELETE", "HEAD", "OPTIONS"):
            assert send(program, method, "evil.example", type_="application/json", path=path) == 403
            assert send(program, method, "localhost:PORT", "http://evil.example", "application/json", path=path) == 403
            assert send(program, method, "localhost:PORT", "null", "application/json", path=path) == 403
            assert send(program, method, "localhost:PORT", "-", "application/json", "cross-site", path=path) == 403
    client = program.client()
    client.send_request(method="GET", path="/login", headers=[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")])
    assert client.read_response().status == 403
    assert len(upstream.seen) == before
    assert send(program, "POST", "localhost:PORT", type_="application/json") == 200
    assert upstream.requests[-1].get("authorization") == SECRET["TOKEN"]
    assert program.stop() == 0
    assert "zq81" not in (tmp_path / "r.jsonl").read_text() + program.out + program.err


def test_without_our_credentials_other_machines_may_log_in(start, upstream, tmp_path):
    program = start("record", "-o", tmp_path / "r.jsonl", "--url", upstream.url, "--listen", "127.0.0.1:0")
    for path, status in (("/login", 200), (program.path, 403), ("/", 403)):
        client = program.client()
        client.send_request(method="GET", path=path, headers=[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")])
        assert client.read_response().status == status
    assert program.stop() == 0
    assert [line["status"] for line in records_of(lines_of(tmp_path / "r.jsonl"), "http", ev="response")] == [200, 403, 403]


def test_a_recording_does_not_choose_any_address_to_contact(start, recording, upstream, tmp_path):
    """A recording that names a server and a command: replay neither calls the one nor starts the other."""
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    lines[0].update(upstream=upstream.url, command=["touch", str(tmp_path / "started")], transport="http")
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = upstream.count
    program = start("replay", "--on-unmatched", "warn", "--listen", "127.0.0.1:0", tmp_path / "r.jsonl")
    assert program.client().post(stream_load.INITIALIZE).status == 200
    assert program.client().post({**stream_load.INITIALIZE, "method": "tools/list"}).status == 400
    assert program.stop() == 0
    assert upstream.count == before and not (tmp_path / "started").exists()

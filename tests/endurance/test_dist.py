"""The static programs of 'make dist': made twice, run without a system, and put through the integration tests."""
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import threading
import urllib.request
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in (
    {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Lisbon"}}}))


def run(*command, code=0, **options):
    p = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=3600, **options)
    assert p.returncode == code, p.stdout + p.stderr
    return p.stdout


def program(folder, cpu):
    (found,) = folder.glob(f"mcpreel-*-linux-{cpu}")
    return found


@pytest.fixture(scope="module")
def dist():
    """build/dist of this folder, made anew."""
    run("make", "-C", ROOT, "dist")
    return ROOT / "build/dist"


def test_the_sums_are_those_of_the_files(dist):
    rows = [line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines()]
    # Two programs, a wheel and an npm package for each, the wheel with mcp-recorder's names, and the npm package mcpreel.
    assert len(rows) == 8
    assert {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for _, name in rows} == {
        name: digest for digest, name in rows}


def test_the_licenses_of_all_parts_are_in_the_wheels_and_npm_packages(dist):
    text = (dist / "LICENSES.txt").read_bytes()
    for name in ("mcpreel", "zlib", "libzstd", "libuv1", "re2", "libyaml", "xxhash", "openssl", "curl", "musl", "compiler-rt of zig", "libc++",
                 "libc++abi", "libunwind"):
        assert f"\n{name}: ".encode() in text, name
        assert re.search(rf"^{re.escape(name)}  ", (dist / "CONTENTS.txt").read_text(), re.M), name
    assert b"Apache License" in text
    assert b"LLVM Exceptions to the Apache 2.0 License" in text
    for wheel in dist.glob("mcpreel-*.whl"):
        assert zipfile.ZipFile(wheel).read("mcpreel/LICENSES.txt") == text
    for package in dist.glob("mcpreel-linux-*.tgz"):
        with tarfile.open(package) as tar:
            assert tar.extractfile("package/LICENSES.txt").read() == text


def test_another_folder_makes_the_same_bytes(dist, tmp_path):
    run("git", "clone", "-q", ROOT, tmp_path / "other")
    run("make", "-C", tmp_path / "other", "dist")
    other = tmp_path / "other/build/dist"
    assert (other / "SHA256SUMS").read_text() == (dist / "SHA256SUMS").read_text()


@pytest.mark.parametrize("cpu", ["x64", "arm64"])
def test_no_interpreter_and_no_library_is_needed(dist, cpu):
    said = run("readelf", "--wide", "--program-headers", "--dynamic", program(dist, cpu))
    assert "INTERP" not in said
    assert "NEEDED" not in said


def record_and_replay(folder, *words, before=()):
    """Records the demo server, replays the recording, and returns both outputs."""
    live = run(*before, *words, "-q", "record", "-o", f"{folder}/a.jsonl", "--", *words, "demo", "server", input=LINES)
    replayed = run(*before, *words, "-q", "replay", f"{folder}/a.jsonl", input=LINES)
    return live, replayed


@pytest.fixture
def empty_root(dist, tmp_path):
    """A folder for chroot(8) with the program and a temporary folder."""
    root = tmp_path / "root"
    (root / "tmp").mkdir(parents=True)
    shutil.copy(program(dist, "x64"), root / "mcpreel")
    return root


def test_an_empty_root_folder_is_enough(empty_root):
    live, replayed = record_and_replay("/tmp", "/mcpreel", before=("chroot", empty_root))
    assert "Lisbon" in live
    assert live == replayed
    assert "weather" in run("chroot", empty_root, "/mcpreel", "inspect", "/tmp/a.jsonl")


class SecureServer(http.server.BaseHTTPRequestHandler):
    """An MCP server that answers every request with the same result."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "secure", "version": "1"},
                  "content": [{"type": "text", "text": "Lisbon"}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() if "id" in message else b""
        self.send_response(200 if answer else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_DELETE(self):
        self.send_error(405)

    do_GET = do_DELETE

    def log_message(self, *_):
        pass


@pytest.fixture
def secure_port(empty_root):
    """The port of a server on this machine that is mcp.test, too. Its certificate is /cert.pem of the empty root."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=mcp.test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:mcp.test",
        "-keyout", empty_root / "key.pem", "-out", empty_root / "cert.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(empty_root / "cert.pem", empty_root / "key.pem")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), SecureServer) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def record_in(root, url, **variables):
    """Exit code and both outputs of a recording of the server at a URL, without the variables of this process."""
    p = subprocess.run(["chroot", root, "/mcpreel", "-q", "record", "--force", "-o", "/tmp/b.jsonl", "--url", url], input=LINES,
                       env={"PATH": os.environ["PATH"], **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=60)
    return p.returncode, p.stdout, p.stderr


def test_without_certificates_the_places_for_them_are_listed(empty_root, secure_port):
    code, _, error = record_in(empty_root, f"https://127.0.0.1:{secure_port}/mcp")
    assert code == 4, error
    assert "SSL_CERT_FILE is not set" in error
    for path in ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"):
        assert f"'{path}'" in error


@pytest.mark.parametrize("bundle, variables", [("cert.pem", {"SSL_CERT_FILE": "/cert.pem"}), ("etc/ssl/cert.pem", {})],
                         ids=["variable", "usual place"])
def test_certificates_are_found_in_an_empty_root(empty_root, secure_port, bundle, variables):
    (empty_root / bundle).parent.mkdir(parents=True, exist_ok=True)
    if not (empty_root / bundle).exists():
        shutil.copy(empty_root / "cert.pem", empty_root / bundle)
    code, answers, error = record_in(empty_root, f"https://127.0.0.1:{secure_port}/mcp", **variables)
    assert code == 0, error
    assert "Lisbon" in answers


def test_names_are_looked_up_in_the_hosts_file_of_an_empty_root(empty_root, secure_port):
    (empty_root / "etc").mkdir()
    (empty_root / "etc/hosts").write_text("127.0.0.1 mcp.test\n")
    code, answers, error = record_in(empty_root, f"https://mcp.test:{secure_port}/mcp", SSL_CERT_FILE="/cert.pem")
    assert code == 0, error
    assert "Lisbon" in answers


def test_the_integration_tests_accept_the_static_program(dist):
    """TLS, certificates, proxies, names, both transports."""
    files = ["test_http_relay.py", "test_http_bridge.py", "test_replay.py", "test_front.py", "test_idle_options.py"]
    p = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                        *(ROOT / "tests/integration" / name for name in files)],
                       env={**os.environ, "MCPREEL": str(program(dist, "x64"))}, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=3600)
    assert p.returncode == 0, p.stdout


def replay_over_http(recording, *words):
    """Serves a recording, and returns the body of the response to the last of LINES."""
    p = subprocess.Popen([*map(str, words), "-q", "replay", "--listen", "127.0.0.1:0", str(recording)], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, text=True)
    try:
        url, session = p.stdout.readline().strip(), {}
        for line in LINES.splitlines():
            head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
            with urllib.request.urlopen(urllib.request.Request(url, line.encode(), head), timeout=60) as response:
                body = response.read().decode()
                session = session or {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        p.terminate()
        assert p.wait(60) == 0
        return body
    finally:
        p.kill()
        p.communicate()


def test_the_arm64_program_runs_under_qemu(dist, tmp_path):
    arm, x64 = program(dist, "arm64"), program(dist, "x64")
    qemu = ("qemu-aarch64-static", arm)
    assert run(*qemu, "version").startswith("mcpreel ")
    live = run(*qemu, "-q", "record", "-o", tmp_path / "a.jsonl", "--", x64, "demo", "server", input=LINES)
    assert "Lisbon" in live
    assert run(*qemu, "-q", "replay", tmp_path / "a.jsonl", input=LINES) == live
    assert "Lisbon" in replay_over_http(tmp_path / "a.jsonl", *qemu)
    assert "weather" in run(*qemu, "inspect", tmp_path / "a.jsonl")
    run(*qemu, "-q", "convert", tmp_path / "a.jsonl", "-o", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["interactions"]

"""The demo as a newcomer meets it: what it prints is true, and what it says to try works."""
import fcntl
import json
import os
import pty
import re
import select
import subprocess
import time

import pytest

FILE = "mcpreel-demo.jsonl"
MESSAGES = 25  # of the recorded session
LIMIT = 20  # seconds; it promises never to hang


@pytest.fixture
def demo(mcpreel, run, tmp_path):
    """Runs the demo in a directory of its own, with mcpreel on the PATH as users have it."""
    env = {"PATH": f"{mcpreel.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "NO_COLOR": ""}

    def go(*options):
        return run(["mcpreel", "demo", *options], cwd=tmp_path, env=env, timeout=LIMIT)

    go.env, go.dir = env, tmp_path
    return go


def commands(text):
    """The shell commands of the last part; a line that ends with a pipe goes on in the next."""
    part = text[text.index("\n4 "):text.index("  To record your own server")]
    lines = [line.strip() for line in part.splitlines()[2:]]
    return re.split(r"(?<!\|)\n", "\n".join(lines))


def test_the_demo_works_and_prints_the_path_of_the_recording(demo):
    start = time.monotonic()
    ran = demo()
    assert ran.code == 0, str(ran)
    assert time.monotonic() - start < 3
    assert ran.err == b""
    assert f"mcpreel record -o {FILE} -- mcpreel demo server" in ran.out.decode()
    assert "received the same: 9 responses" in ran.out.decode()
    assert "\n  9 passed\n" in ran.out.decode() and "\n  8 passed, 1 failed: tools/call divide\n" in ran.out.decode()
    assert sorted(os.listdir(demo.dir)) == [FILE]


def test_the_output_fits_on_a_screen(demo):
    lines = demo().out.decode().splitlines()
    assert len(lines) <= 40
    # The two lines with absolute paths are as long as those are.
    assert [line for line in lines if len(line) > 80 and not re.search(r' "(command|args)": ', line)] == []


def test_the_recording_is_complete(demo):
    demo()
    text = (demo.dir / FILE).read_text()
    assert text.endswith("\n")
    lines = [json.loads(line) for line in text.splitlines()]
    messages = [line for line in lines if line["type"] == "message"]
    assert lines[0]["type"] == "header" and lines[-1]["type"] == "footer"
    assert lines[0]["command"][1:] == ["demo", "server"]
    assert [line["seq"] for line in messages] == list(range(1, MESSAGES + 1))
    assert lines[-1]["total_messages"] == MESSAGES and lines[-1]["exit_code"] == 0
    methods = {line["msg"].get("method") for line in messages}
    assert {"initialize", "tools/call", "resources/read", "prompts/get", "notifications/progress",
            "notifications/message", "sampling/createMessage"} <= methods
    assert any(line["type"] == "stderr" for line in lines)
    assert (demo.dir / FILE).stat().st_mode & 0o777 == 0o600


def test_a_second_run_needs_force(demo):
    assert demo().code == 0
    before = (demo.dir / FILE).read_bytes()
    again = demo()
    assert again.code == 2
    assert again.out == b""
    assert again.err.decode() == (f"mcpreel: cannot write '{FILE}': it exists already\n"
                                  "  choose another name, or add --force to replace it\n")
    assert (demo.dir / FILE).read_bytes() == before
    assert demo("--force").code == 0
    assert (demo.dir / FILE).read_bytes() != before


@pytest.mark.parametrize("name", [FILE, "with blank & it's.jsonl"])
def test_every_printed_command_works(demo, run, name):
    ran = demo("-o", name)
    found = commands(ran.out.decode())
    assert [c.split()[:2] for c in found] == [["mcpreel", "inspect"], ["echo", found[1].split()[1]]]
    runs = [run(["bash", "-euo", "pipefail", "-c", c], cwd=demo.dir, env=demo.env) for c in found]
    for one in runs:
        assert one.code == 0, str(one)
    assert "mcpreel-demo" in runs[0].out.decode()
    response = json.loads(runs[1].out)
    assert response["id"] == 7 and [t["name"] for t in response["result"]["tools"]] == ["weather", "count", "divide", "haiku"]


def test_the_verify_commands_of_the_demo_give_its_results(demo, run):
    """Both commands of the third part, with their results."""
    out = demo().out.decode()
    part = out[out.index("\n3 "):out.index("\n4 ")]
    for command, code in zip(re.findall(r"^  (mcpreel verify .*)$", part, re.M), (0, 1), strict=True):
        ran = run(["bash", "-c", command], cwd=demo.dir, env=demo.env)
        assert ran.code == code, str(ran)
        assert f"{9 - code} passed" in ran.out.decode()
        assert ('+ "division by zero"' in ran.out.decode()) == bool(code)
    assert '+ "division by zero"' in part


def test_the_printed_configuration_records_a_server(demo, run):
    out = demo().out.decode()
    server_config = json.loads(out[out.index('  { "mcpServers"'):])["mcpServers"]["mine"]
    words = [server_config["command"], *server_config["args"]]
    assert words[-2:] == ["YOUR-SERVER", "ITS-ARGUMENTS"]
    for _ in range(2):  # a client starts it again and again
        ran = run([*words[:-2], server_config["command"], "demo", "server"], cwd="/",
                  stdin=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert ran.code == 0, str(ran)
        assert json.loads(ran.out) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (demo.dir / "mine.jsonl").read_text().count('"type":"message"') == 2


def test_an_unwritable_directory_is_named(demo):
    ran = demo("-o", "nowhere/x.jsonl")
    assert ran.code == 5
    assert ran.out == b""
    assert ran.err == b"mcpreel: cannot write 'nowhere/x.jsonl': there is no folder 'nowhere'\n  make it first: mkdir -p 'nowhere'\n"


def test_the_output_on_a_terminal_is_coloured(mcpreel, tmp_path):
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    p = subprocess.Popen([mcpreel, "demo"], stdin=subprocess.DEVNULL, stdout=theirs, cwd=tmp_path,
                         env={**env, "TERM": "xterm"})
    os.close(theirs)
    out = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # how Linux says that the other side has closed
            break
        if not chunk:
            break
        out += chunk
    os.close(ours)
    assert p.wait(LIMIT) == 0
    assert b"\x1b[32m" in out


class PausedDemo:
    """A demo that cannot print what it has recorded, and so cannot go on to the replay."""

    def __init__(self, mcpreel, where):
        self.ours, theirs = os.pipe()
        self.size = fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        os.write(theirs, b"x" * self.size)
        self.process = subprocess.Popen([mcpreel, "demo", "-o", FILE], stdin=subprocess.DEVNULL, stdout=theirs,
                                        stderr=subprocess.PIPE, cwd=where)
        os.close(theirs)
        self.file = where / FILE
        end = time.monotonic() + LIMIT
        while b'"type":"footer"' not in (self.file.read_bytes() if self.file.exists() else b""):
            assert time.monotonic() < end, "nothing was recorded"
            time.sleep(0.01)

    def resume(self):
        """How it ends: exit code, standard output, standard error."""
        out = b""
        while chunk := os.read(self.ours, 4096):
            out += chunk
            assert select.select([self.ours], [], [], LIMIT)[0], "it hangs"
        os.close(self.ours)
        err = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(LIMIT), out[self.size:].decode(), err.decode()


@pytest.fixture
def paused_demo(mcpreel, tmp_path):
    paused_demo = PausedDemo(mcpreel, tmp_path)
    yield paused_demo
    if paused_demo.process.poll() is None:
        paused_demo.process.kill()
        paused_demo.process.wait()


def test_the_demo_can_be_stopped_and_continued(paused_demo):
    code, out, err = paused_demo.resume()
    assert code == 0, out + err
    assert "received the same" in out


def test_a_changed_recording_is_detected(paused_demo):
    paused_demo.file.write_bytes(paused_demo.file.read_bytes().replace(b"counted to three", b"counted to seven"))
    code, out, err = paused_demo.resume()
    assert code == 1
    assert "The replay differs from the recording. The first difference is after tools/call count to 3:" in out
    assert re.search(r"^  recorded  .*counted to three", out, re.M)
    assert re.search(r"^  replayed  .*counted to seven", out, re.M)
    assert err == ""


def test_a_broken_recording_is_named_with_its_line(paused_demo):
    lines = paused_demo.file.read_bytes().splitlines(keepends=True)
    paused_demo.file.write_bytes(b"".join([*lines[:6], b'{"type":"message",\n', *lines[6:]]))
    code, out, err = paused_demo.resume()
    assert code == 3
    assert err.startswith("mcpreel: ") and f"{FILE}:7:" in err
    assert "1 Record: " in out and "2 Replay: " not in out


def test_a_deleted_recording_is_named(paused_demo):
    paused_demo.file.unlink()
    code, _, err = paused_demo.resume()
    assert code == 3
    assert err == f"mcpreel: cannot read '{FILE}': No such file or directory\n"


def test_no_process_of_the_demo_survives(mcpreel, tmp_path, run):
    """Every process it starts works in its directory, and is gone with it."""
    assert run([mcpreel, "demo"], cwd=tmp_path, timeout=LIMIT).code == 0
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            if os.readlink(f"/proc/{pid}/cwd") == str(tmp_path):
                left.append(words)
        except OSError:
            continue
    assert left == []

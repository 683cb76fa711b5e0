"""The server process: whatever it does and however the session ends, no process is left."""
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(300)
CEILING = 60  # seconds that nothing takes, however busy the machine is
EXIT_LIMIT_S = 6  # seconds until all processes have ended: 3 are documented, and 16 sessions are ended at a time
SILENT_LIMIT_S = 2  # seconds after which a silent server would have been ended


@dataclasses.dataclass
class Server:
    """A way to behave, and the exit codes the recorder must have for it, by how the session ends."""

    script: str
    client_gone_codes: set  # the client is gone: stdin and stdout both
    eof: set  # the client closes stdin and reads on
    TERM: set
    INT: set
    HUP: set
    ready_line: str = "up"  # on stdout, once it does what it is to do
    input_bytes: int = 0  # bytes that its client tries to send
    continues: bool = False  # it goes on after the end of its stdin, and may, until there is a signal

    def exit_codes(self, end):
        return getattr(self, "client_gone_codes" if end == "gone" else end)


def server(script, eof, *, client_gone_codes=None, TERM=143, INT=130, HUP=129, **more):
    codes = [{c} if isinstance(c, int) else set(c) for c in (eof if client_gone_codes is None else client_gone_codes, eof, TERM, INT, HUP)]
    return Server(script, *codes, **more)


def any_exit_server(script, code, **more):
    """Ends by itself while it is being ended; the signal may come first, or last, when only we are left."""
    return server(script, {code}, TERM={code, 143, -15}, INT={code, 130, -2}, HUP={code, 129, -1}, **more)


# Without a process of its own: a shell that is just starting one may miss a signal.
READ = "while read line; do :; done"
IGNORE_SIGNALS = "trap '' TERM INT HUP; "
FOR_EVER = "while :; do sleep 0.05; done"
ENDS = ["gone", "eof", "TERM", "INT", "HUP", "KILL"]
SERVERS = {
    "ends with its stdin": server("echo up; " + READ + "; exit 3", 3),
    "exits at once": any_exit_server("echo up; exit 7", 7),
    "exits before a word": any_exit_server("exit 7", 7, ready_line=""),
    "ignores the end of its stdin": server("echo up; exec sleep 1000", 143),
    "ignores everything": server(IGNORE_SIGNALS + "echo up; " + FOR_EVER, 137, TERM=137, INT=137, HUP=137),
    "ends itself on each signal": server(
        "trap 'exit 4' TERM; trap 'exit 5' INT; trap 'exit 6' HUP; echo up; " + FOR_EVER, 4, TERM=4, INT=5, HUP=6),
    "waits for a grandchild": server("echo up; sh -c 'sleep 1000; :'; :", 143, INT={130, 137}),
    "waits for a deaf grandchild": server(
        "echo up; sh -c \"" + IGNORE_SIGNALS + FOR_EVER + "\"; :", 143, INT={130, 137}),
    "leaves a grandchild that holds its pipes": server(
        "sleep 1000 & echo up; " + READ + "; exit 2", 2),
    "leaves a deaf grandchild that holds its pipes": server(
        "(" + IGNORE_SIGNALS + "sleep 1000; sleep 1000) & echo up; " + READ + "; exit 2", 2),
    "leaves a deaf grandchild that holds nothing": server(
        "(" + IGNORE_SIGNALS + "exec </dev/null >/dev/null 2>&1; sleep 1000; sleep 1000) & echo up; " + READ + "; exit 2", 2),
    "exits at once and leaves a deaf grandchild": any_exit_server(
        "(" + IGNORE_SIGNALS + "sleep 1000; sleep 1000) & echo up; exit 2", 2),
    "waits for a grandchild in a group of its own": server("echo up; timeout 1000 sleep 1000; :", 143, INT={130, 137}),
    "leaves a deaf grandchild in a group of its own": server(
        "(" + IGNORE_SIGNALS + "exec timeout -s CONT 1000 sh -c 'sleep 1000; sleep 1000') & echo up; " + READ + "; exit 2", 2),
    "exits at once and leaves a group of its own": any_exit_server(
        "(exec </dev/null >/dev/null 2>&1; exec timeout 1000 sleep 1000) & echo up; exit 2", 2),
    "forks twice": server("(sleep 1000 & sleep 1000 &); (" + IGNORE_SIGNALS + "sleep 1000 &); echo up; " + READ + "; exit 2", 2),
    "closes stdout and lives": server("echo up; exec >&-; " + READ + "; exit 3", 3),
    "closes all and lives": server("echo up; exec <&- >&- 2>&-; exec sleep 1000", 143),
    "closes stdin and lives": server("exec <&-; echo up; exec sleep 1000", 143, input_bytes=4_000_000),
    "floods stderr": server("echo up; exec yes >&2", 143),
    "floods stdout": server("echo up; exec yes", 143, client_gone_codes=141, continues=True),
    "floods both": server("yes >&2 & echo up; exec yes", 143, client_gone_codes=141, continues=True),
    "dies in the middle of a line": any_exit_server("echo up; printf '{\"jsonrpc\":'; kill -KILL $$", 137),
    "never reads": server("echo up; exec sleep 1000", 143, input_bytes=4_000_000),
    "never reads and is deaf": server(IGNORE_SIGNALS + "echo up; " + FOR_EVER, 137, TERM=137, INT=137, HUP=137, input_bytes=4_000_000),
    "answers late": server("echo up; " + READ + "; sleep 0.4; echo late; sleep 0.1; exit 3", 3, client_gone_codes={3, 141}),
    "is slow to end": server("trap 'exit 4' TERM; echo up; " + READ + "; sleep 2; exit 3", {4, 143}, TERM={4, 143}),
    "stops": server("echo up; kill -STOP $$; exit 3", 137, TERM={137, 143}, INT={137, 130}, HUP={137, 129}),
    "is killed by itself": any_exit_server("ulimit -c 0; echo up; kill -SEGV $$", 139),
    "speaks no MCP": server("echo up; echo Welcome to a shell; exec cat", 0),
}
assert len(SERVERS) >= 15


class CpuClock:
    """Seconds that pass more slowly on a loaded machine: half as fast while twice as many threads as processors
    are runnable, and not at all while a sleeping thread is not woken."""

    TICK = 0.02

    def __init__(self):
        self.now = 0
        threading.Thread(target=self.tick, daemon=True).start()

    def tick(self):
        while True:
            start = time.monotonic()
            time.sleep(self.TICK)
            self.now += min(time.monotonic() - start, 2 * self.TICK) * self.share()

    @staticmethod
    def share():
        ready = int(pathlib.Path("/proc/loadavg").read_text().split()[3].split("/")[0])
        return min(1, os.cpu_count() / ready)

    def wait(self, what, limit):
        """Whether it happened within so many seconds."""
        deadline = self.now + limit
        while not (there := what()) and self.now < deadline:
            time.sleep(self.TICK)
        return there or what()


def process_exists(pid):
    """Whether there is such a process, be it a zombie."""
    return pathlib.Path(f"/proc/{pid}").exists()


class ExitCase:
    """One server, one session, one end. Every started process holds the mark until its end."""

    def __init__(self, mcpreel, folder, one, end, clock):
        self.one, self.end, self.clock = one, end, clock
        self.came = 0  # bytes that its client has read
        self.path = folder / "r.jsonl"
        self.mark, mark = os.pipe()
        note = folder / "pid"
        self.process = subprocess.Popen(
            [mcpreel, "-q", "record", "-o", self.path, "--", "sh", "-c", f"echo $$ >'{note}'; {one.script}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[mark],
            bufsize=0)
        os.close(mark)
        self.note = note
        self.threads = []

    def run_in_thread(self, work):
        def ignore_errors():
            with contextlib.suppress(OSError, ValueError):
                work()
        self.threads.append(threading.Thread(target=ignore_errors, daemon=True))
        self.threads[-1].start()

    def drain(self, pipe):
        while more := os.read(pipe.fileno(), 1 << 16):
            self.came += len(more)

    def wait_until_up(self):
        got = b""
        while self.one.ready_line and self.one.ready_line.encode() + b"\n" not in got:
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, self.process.stderr.read()
            got += more

    def end_session(self):
        p, end = self.process, self.end
        if end in ("gone", "eof"):
            p.stdin.close()
        if end == "gone":
            p.stdout.close()
        else:
            self.run_in_thread(lambda: self.drain(p.stdout))
        if end not in ("gone", "eof"):
            p.send_signal(getattr(signal, f"SIG{end}"))

    def assert_continues(self):
        """While its client reads, mcpreel does not end it; a signal does."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(SILENT_LIMIT_S)
        before = self.came
        if not self.clock.wait(lambda: self.came > before, EXIT_LIMIT_S) or self.process.poll() is not None:
            return False
        self.process.terminate()
        return True

    def feed(self):
        """As much as goes in, without waiting for more."""
        os.set_blocking(self.process.stdin.fileno(), False)
        left, deadline = self.one.input_bytes, time.monotonic() + 0.3
        while left > 0 and time.monotonic() < deadline:
            left -= self.process.stdin.write(b"x" * min(left, 1 << 16)) or 0
            time.sleep(0.001)

    def run(self):
        """Returns the error, or None."""
        p = self.process
        try:
            self.run_in_thread(lambda: self.drain(p.stderr))
            self.wait_until_up()
            if self.one.input_bytes:
                self.feed()
            self.end_session()
            if self.one.continues and self.end == "eof" and not self.assert_continues():
                return "was ended at its work"
            if not self.clock.wait(lambda: p.poll() is not None, EXIT_LIMIT_S):
                return f"the recorder still runs after {EXIT_LIMIT_S} s"
            return self.check_exit(p.returncode)
        finally:
            p.kill()
            p.wait()

    def check_exit(self, code):
        own = self.note.exists() and int(self.note.read_text() or 0)
        if self.end == "KILL":
            if code != -signal.SIGKILL and code not in self.one.client_gone_codes:
                return f"ended with {code}"
        elif code not in (codes := self.one.exit_codes(self.end)):
            return f"ended with {code}, not {codes}"
        elif own and code >= 0 and process_exists(own):  # after a signal that ended us it is for others to wait for
            return f"left its server unwaited for, and ended with {code}"
        if not self.clock.wait(lambda: select.select([self.mark], [], [], 0)[0], EXIT_LIMIT_S):
            return f"left somebody behind for {EXIT_LIMIT_S} s"
        os.close(self.mark)
        return None if self.end == "KILL" or code < 0 else self.check_recording(code)

    def check_recording(self, code):
        *_, last = self.path.read_text().splitlines()
        footer = json.loads(last)
        if (footer["type"], footer.get("exit_code")) != ("footer", code):
            return f"the recording ends with {last}"
        return None


def test_no_process_is_left_whatever_the_server_does_and_however_it_ends(mcpreel, tmp_path):
    cells = [(name, one, end) for name, one in SERVERS.items() for end in ENDS]
    clock = CpuClock()

    def run(n):
        name, one, end = cells[n]
        folder = tmp_path / str(n)
        folder.mkdir()
        wrong = ExitCase(mcpreel, folder, one, end, clock).run()
        return wrong and f"{name} × {end}: {wrong}"

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        wrong = [w for w in pool.map(run, range(len(cells))) if w]
    assert not wrong, "\n".join(wrong)


# --- what the server sees of us: nothing

def unusual_start():
    """A start that no client would make, but some shell, supervisor or scheduler does."""
    for one in (signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ, signal.SIGTSTP, signal.SIGRTMIN + 3):
        signal.signal(one, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD, signal.SIGRTMIN + 5])
    os.umask(0o027)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 30))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 24))
    os.nice(3)


# Environment that differs between any two starts.
OWN = re.compile(rb"(?m)^(Tgid|Ngid|Pid|PPid|NS\w+|Vm\w+|Hugetlb\w+|Rss\w+|FDSize|SigQ|\w+ctxt_switches|Cpus_allowed\w*):.*\n")
LOOKS = {
    "signals, umask and who it is": ["cat", "/proc/self/status"],
    "limits": ["cat", "/proc/self/limits"],
    "environment": ["cat", "/proc/self/environ"],
    "arguments": ["sh", "-c", "cat /proc/$$/cmdline", "sh", "", "a b", "\u00e9\n", "\udcff", "--", "-o", "--help"],
    "directory": ["pwd", "-P"],
    "descriptors": ["ls", "/proc/self/fd"],
    "kinds of descriptors": ["sh", "-c", "for f in 0 1 2; do test -p /dev/fd/$f && echo pipe; done"],
    "priority": ["nice"],
}


@pytest.mark.parametrize("what", LOOKS)
@pytest.mark.parametrize("before", [None, unusual_start], ids=["as usual", "strange"])
def test_the_server_runs_in_the_environment_of_the_client(what, before, mcpreel, tmp_path):
    reading, writing = os.pipe()  # a descriptor that is passed on, for whatever reason
    env = {**os.environ, "EMPTY": "", "ODD": "\udcff\n=", "MCPREEL_NAME": "for us, and passed on"}

    def run_server(*through):
        p = subprocess.run([*through, *LOOKS[what]], input=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=before, env=env, cwd=tmp_path, pass_fds=[writing], timeout=CEILING)
        assert (p.returncode, p.stderr) == (0, b"")
        return OWN.sub(b"", p.stdout).split(b"\n")

    try:
        assert run_server() == run_server(mcpreel, "-q", "record", "-o", tmp_path / "r.jsonl", "--")
    finally:
        os.close(reading)
        os.close(writing)


def test_mcpreel_writes_two_lines_to_stderr(run, mcpreel, tmp_path):
    ran = run([mcpreel, "record", "-o", tmp_path / "r.jsonl", "--", "sh", "-c", "echo server >&2; cat"], stdin=b"{}\n")
    lines = ran.err.decode().splitlines()
    assert [line.startswith("mcpreel: ") for line in lines] == [True, False, True], lines


def sessions_end(p, code=0):
    p.stdin.close()
    assert p.wait(CEILING) == code


def start(mcpreel, path, *command, **more):
    return subprocess.Popen([mcpreel, "-q", "record", "-o", path, "--", *command], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, **more)


def test_under_nohup_a_hangup_has_no_effect(mcpreel, tmp_path):
    with start(mcpreel, tmp_path / "r.jsonl", "cat", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as p:
        for text in (b"one\n", b"two\n"):
            p.stdin.write(text)
            assert p.stdout.read(4) == text
            p.send_signal(signal.SIGHUP)
        sessions_end(p)


def child_named(pid, name):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next((int(c) for c in children if pathlib.Path(f"/proc/{c}/comm").read_text() == name + "\n"), None)


def wait_for(what):
    deadline = time.monotonic() + CEILING
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if found := what():
                return found
        time.sleep(0.01)
    pytest.fail("it did not happen")


def test_killing_the_watchdog_kills_the_server(mcpreel, tmp_path):
    reading, writing = os.pipe()
    with start(mcpreel, tmp_path / "r.jsonl", "sh", "-c", IGNORE_SIGNALS + "echo up; " + FOR_EVER, pass_fds=[writing]) as p:
        os.close(writing)
        assert p.stdout.read(3) == b"up\n"
        watchdog = wait_for(lambda: child_named(p.pid, "reel-watchdog"))
        assert os.listdir(f"/proc/{watchdog}/fd") == ["0"], "it holds what is not its own"
        os.kill(watchdog, signal.SIGKILL)
        assert p.wait(CEILING) == 128 + signal.SIGKILL
    assert select.select([reading], [], [], CEILING)[0], "somebody was left behind"
    os.close(reading)
    assert '"signal":9' in (tmp_path / "r.jsonl").read_text()


def test_a_process_with_its_own_session_may_stay(mcpreel, tmp_path):
    """A daemon is meant to outlive the processes that started it."""
    script = "setsid sh -c 'echo $$ >daemon; exec sleep 1000' </dev/null >/dev/null 2>&1 & echo up; cat"
    with start(mcpreel, tmp_path / "r.jsonl", "sh", "-c", script, cwd=tmp_path) as p:
        assert p.stdout.read(3) == b"up\n"
        daemon = int(wait_for((tmp_path / "daemon").read_text))
        sessions_end(p)
    assert pathlib.Path(f"/proc/{daemon}/comm").read_text() in ("sh\n", "sleep\n")
    os.kill(daemon, signal.SIGKILL)


def test_a_server_that_closes_stdout_and_runs_on_is_ended(mcpreel, tmp_path):
    with start(mcpreel, tmp_path / "r.jsonl", "sh", "-c", "echo up; exec >&-; " + READ + "; exit 3") as p:
        assert p.stdout.read(3) == b"up\n"
        assert select.select([p.stdout], [], [], CEILING)[0], "the end of stdout is hidden"
        assert p.stdout.read(1) == b""
        p.stdin.write(b'{"jsonrpc":"2.0","method":"still/received"}\n')
        sessions_end(p, 3)
    assert "still/received" in (tmp_path / "r.jsonl").read_text()


# --- clients that start the command twice

ECHO_SERVER = ["sed", "-u", r's/"method":"[^"]*"/"result":{}/']


def test_a_session_ended_after_its_response_leaves_a_complete_recording(mcpreel, tmp_path):
    """As a client that first requests the version from another process of the server."""
    discover_request = b'{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover"}\n'
    for i in range(10):
        with start(mcpreel, tmp_path / f"probe-{i}.jsonl", *ECHO_SERVER) as probe:
            probe.stdin.write(discover_request)
            assert b"result" in probe.stdout.read(1000)
            probe.terminate()
            with start(mcpreel, tmp_path / f"real-{i}.jsonl", *ECHO_SERVER) as real:
                real.stdin.write(discover_request * 3)
                sessions_end(real)
            assert probe.wait(CEILING) == 128 + signal.SIGTERM
        for name, count in ((f"probe-{i}.jsonl", 2), (f"real-{i}.jsonl", 6)):
            lines = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
            assert (lines[0]["type"], lines[-1]["type"]) == ("header", "footer")
            assert sum(line["type"] == "message" for line in lines) == count


# --- a client that never reads our standard error

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"x","params":"' + b"y" * 300 + b'"}\n'


def full_pipe():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    return reading, writing


def send_probe(p):
    p.stdin.write(REQUEST)
    assert select.select([p.stdout], [], [], CEILING)[0], "no answer"
    assert b'"result"' in p.stdout.read(1000)


@contextlib.contextmanager
def unread(mcpreel, path, script, stderr=subprocess.PIPE, **more):
    with subprocess.Popen([mcpreel, "record", "-o", path, "--", "sh", "-c", script], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=stderr, bufsize=0, **more) as p:
        try:
            yield p
        finally:
            p.kill()


def assert_ends(p, end, code):
    if end == "TERM":
        p.terminate()
    else:
        p.stdin.close()
    assert p.wait(CEILING) == code


ANSWER = r"""exec sed -u 's/"method":"[^"]*"/"result":{}/'"""


@pytest.mark.parametrize("end", ["eof", "TERM"])
def test_a_full_stderr_does_not_block_the_session(end, mcpreel, tmp_path):
    reading, writing = full_pipe()
    with unread(mcpreel, tmp_path / "r.jsonl", ANSWER, stderr=writing) as p:
        send_probe(p)
        assert_ends(p, end, 143 if end == "TERM" else 0)
    assert os.get_blocking(writing)
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("command", [["-v", "replay", "--on-unmatched", "warn", "r.jsonl"], ["demo", "server"]])
def test_a_full_stderr_does_not_block_a_replay(command, mcpreel, tmp_path):
    (tmp_path / "r.jsonl").write_text(  # with nothing in it, which is remarked on, as is every question
        '{"type":"header","version":"1.0","recorded_at":"2026-11-16T00:00:00Z","upstream":"x","thoughtjack_version":"0.3.0"}\n')
    reading, writing = full_pipe()
    with subprocess.Popen([mcpreel, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writing, bufsize=0,
                          cwd=tmp_path) as p:
        try:
            p.stdin.write(REQUEST)
            assert select.select([p.stdout], [], [], CEILING)[0], "no answer"
            assert_ends(p, "eof", 0)
        finally:
            p.kill()
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("kilobytes", [64, 900])
def test_unread_stderr_of_the_server_does_not_prevent_the_end(kilobytes, mcpreel, tmp_path):
    script = f"head -c {kilobytes}k /dev/zero >&2; " + ANSWER
    with unread(mcpreel, tmp_path / "r.jsonl", script) as p:
        send_probe(p)
        sessions_end(p)


@pytest.mark.parametrize("end", ["eof", "TERM"])
def test_a_server_blocked_on_stderr_is_ended(end, mcpreel, tmp_path):
    with unread(mcpreel, tmp_path / "r.jsonl", "echo up; exec yes >&2") as p:
        assert p.stdout.read(3) == b"up\n"
        assert_ends(p, end, 143)


def test_unread_disk_errors_block_nothing(mcpreel, tmp_path):
    def no_space():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

    with unread(mcpreel, tmp_path / "r.jsonl", "head -c 66k /dev/zero >&2; " + ANSWER, preexec_fn=no_space) as p:
        for _ in range(100):
            send_probe(p)
        sessions_end(p)


# --- full pipes

OPTIMISED = ROOT / "build/mcpreel"  # sanitizers keep memory back
LIMIT_KB = 32 << 10
MESSAGE = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"' + b"x" * 1_000_000 + b'"}}\n'


def peak_kb(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def exchange(p, messages, reader):
    """Sends so many messages while `reader` reads the same number back; the peak of the recorder's memory."""
    def send():
        for _ in range(messages):
            view = memoryview(MESSAGE)
            while view:
                view = view[p.stdin.write(view):]

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    assert reader(messages * len(MESSAGE)) == messages * len(MESSAGE)
    sender.join(CEILING)
    peak = peak_kb(p.pid)
    sessions_end(p)
    return peak


def read_all(p, pause=0.0):
    def read(left):
        got = 0
        while got < left:
            chunk = p.stdout.read(min(left - got, 1 << 20))
            if not chunk:
                break
            got += len(chunk)
            time.sleep(pause)
        return got
    return read


def check_full_pipes(path, messages, pause):
    """A server that writes as much as it reads, with a client that does both at once: there may be no deadlock."""
    with start(OPTIMISED, path, "cat") as p:
        peak = exchange(p, messages, read_all(p, pause))
    assert peak <= LIMIT_KB
    with open(path, "rb") as f:
        assert sum(line.startswith(b'{"type":"message"') for line in f) == 2 * messages


@pytest.fixture
def steady_path(tmp_path):
    """In memory, if there is enough: the queue of a slow disk would need memory, too, and is not the subject."""
    shared = pathlib.Path("/dev/shm")
    has_space = shared.is_dir() and shutil.disk_usage(shared).free > 1 << 30
    with tempfile.TemporaryDirectory(dir=shared if has_space else tmp_path) as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("messages, pause", [(200, 0), (30, 0.002)], ids=["a quick reader", "a slow reader"])
def test_full_pipes_in_both_directions_lose_nothing(messages, pause, steady_path):
    check_full_pipes(steady_path / "r.jsonl", messages, pause)


def test_a_client_that_reads_nothing_causes_no_buffering(tmp_path):
    with start(OPTIMISED, tmp_path / "r.jsonl", "sh", "-c", "exec yes 'a line that nobody reads'") as p:
        before = after = None
        while before is None or after != before:  # until all that can be full is
            before, after = after, (tmp_path / "r.jsonl").stat().st_size if (tmp_path / "r.jsonl").exists() else None
            time.sleep(0.3)
        assert peak_kb(p.pid) <= LIMIT_KB
        p.terminate()
        assert p.wait(CEILING) == 143


@pytest.mark.parametrize("direction", ["up", "down"])
def test_an_endless_line_is_not_buffered(direction, tmp_path):
    """200 MB, of which a copy is kept until it is too long for us."""
    size = 200 << 20
    script = "exec cat >/dev/null" if direction == "up" else f"head -c {size} /dev/zero; echo; cat"
    with start(OPTIMISED, tmp_path / "r.jsonl", "sh", "-c", script) as p:
        if direction == "up":
            for _ in range(size >> 20):
                view = memoryview(bytes(1 << 20))
                while view:
                    view = view[p.stdin.write(view):]
        else:
            assert read_all(p)(size + 1) == size + 1
        peak = peak_kb(p.pid)
        sessions_end(p)
    assert peak <= 96 << 10
    gap, = [one for one in map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines()) if one["type"] == "gap"]
    assert gap["bytes"] == size

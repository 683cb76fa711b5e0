"""Processes that listen: started, asked where, and gone with who started them."""
import contextlib
import ctypes
import functools
import os
import re
import selectors
import signal
import subprocess
import time

TIMEOUT_S = 30
PR_SET_PDEATHSIG = 1


@contextlib.contextmanager
def started(command, **how):
    """A process that is gone when the block ends, or when we are killed."""
    libc = ctypes.CDLL(None)
    orphaned = functools.partial(libc.prctl, PR_SET_PDEATHSIG, signal.SIGKILL) if hasattr(libc, "prctl") else None
    process = subprocess.Popen([os.fspath(word) for word in command], start_new_session=True, preexec_fn=orphaned, **how)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def line_of(fd, process):
    """The first line that a process writes to a descriptor, without its end."""
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            assert selector.select(TIMEOUT_S), f"{process.args} did not say where it listens"
            piece = os.read(fd, 1)
            assert piece, f"{process.args} ended before it listened"
            line += piece
    return line.decode().rstrip("\n")


def url_in(file, process, pattern=r"^(http://\S+)\n"):
    """The first line of a process' output that is a URL, or that of another pattern."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(pattern, file.read_text(errors="replace"), re.M):
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"{process.args} did not say where it listens")

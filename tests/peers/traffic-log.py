#!/usr/bin/env python3
"""Run a stdio program unchanged and keep all bytes.

    traffic-log.py DIR -- COMMAND…

Passes stdin and stdout through byte for byte. DIR gets 'in' and 'out', all bytes of each direction in
order, and 'status', COMMAND's exit code (128+N after signal N), which is also its own. An SDK
that starts a server does not report how it ended; this program does.
"""
import os
import pathlib
import signal
import subprocess
import sys
import threading


def pump(source, sink, copy):
    """Copy first: once the other side has a byte, it is on record."""
    with open(copy, "wb", buffering=0) as kept:
        while chunk := os.read(source, 65536):
            kept.write(chunk)
            while chunk:
                chunk = chunk[os.write(sink, chunk):]


def feed(child, copy):
    try:
        pump(0, child.stdin.fileno(), copy)
    except BrokenPipeError:
        pass
    child.stdin.close()


def main(where, command):
    where.mkdir(parents=True)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    threading.Thread(target=feed, args=(child, where / "in"), daemon=True).start()
    try:
        pump(child.stdout.fileno(), 1, where / "out")
    except BrokenPipeError:
        child.stdout.close()
    code = child.wait()
    status = code if code >= 0 else 128 - code
    (where / "status").write_text(str(status))
    os._exit(status)  # the feeding thread may sit in a read that never ends


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit("usage: traffic-log.py DIR -- COMMAND…")
    main(pathlib.Path(sys.argv[1]), sys.argv[3:])

#!/usr/bin/env python3
"""Run a client through 'mcpreel record': the last word of its command is the URL of a server.

    tests/interop/through.py MCPREEL FOLDER CLIENT… URL

Starts a recorder before the server, gives the client the recorder's address in place of the server's, and ends
the recorder when the client has ended. FOLDER gets a recording of its own for each run. The exit code is the
client's.
"""
import pathlib
import subprocess
import sys
import urllib.parse
import uuid

from conformance import listening, recording

mcpreel, folder, *client, url = sys.argv[1:]
name = pathlib.Path(folder) / uuid.uuid4().hex
with listening(recording(mcpreel, url, name.with_suffix(".jsonl")), name.with_suffix(".err")) as address:
    there = urllib.parse.urljoin(address, urllib.parse.urlsplit(url).path)
    code = subprocess.run([*client, there]).returncode
sys.exit(code)

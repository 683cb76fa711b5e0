#!/bin/sh
# Make the files that ci.sh reads: once, and after each intended change. Commit them.
set -eu
cd "$(dirname "$0")"
mkdir -p recordings

mcpreel lock mcp.lock.json -- python3 server.py
mcpreel run --output-dir recordings scenarios.yml
python3 client.py notes.txt mcpreel record --force -o recordings/client.jsonl -- python3 server.py
mcpreel check --secrets recordings/*.jsonl

#!/bin/sh
# All checks. Each writes a JUnit report to reports/, also if it fails. The exit code is 1 if one of them failed.
cd "$(dirname "$0")" && mkdir -p reports || exit 2
failed=0

check() {
    report=$1
    shift
    echo "== $report"
    "$@" || { echo "ci.sh: $report failed with exit code $?" >&2; failed=1; }
}

# Does the surface of the server break clients?
check lock mcpreel lock --check --report junit=reports/lock.xml --force mcp.lock.json -- python3 server.py

# Does the server respond as recorded: to the scenarios, and to the client?
check scenarios mcpreel run --verify --output-dir recordings --report junit=reports/scenarios.xml --force scenarios.yml
check verify mcpreel verify --report junit=reports/verify.xml --force recordings/client.jsonl -- python3 server.py

# Does the client still send the recorded requests? The recording is its server.
check replay python3 client.py notes.txt \
    mcpreel replay --fail-at-end --report junit=reports/replay.xml --force recordings/client.jsonl

# Did the recorded calls of the client go as expected?
check recording mcpreel check --ignore unlisted-tool --expect-tool count_words,shorten --max-errors 0 \
    --report junit=reports/recording.xml --force recordings/client.jsonl

exit $failed

"""Tests of server.py: it gets each call that the tests of agent.py recorded, and must return the recorded result."""

from mcpreel.suite import mcp_suite

test_recorded_calls = mcp_suite("recordings/**/*.jsonl", server="python server.py")

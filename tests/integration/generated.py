"""The number of sessions that a test marked `generated` makes: 50, and 500 in tests/endurance."""
import os

SESSIONS = int(os.environ.get("TEST_SESSIONS", "50"))

"""The reports of 'mcpreel --json verify'."""
import json

TIMES = 5  # that make interop verifies a recording: values that change from run to run differ in one of them


def unpassed(report):
    return [call for call in report["calls"] if call["verdict"] not in ("passed", "volatile")]


def assert_clean(ran, client=""):
    """Every call has passed, and there is nothing else to say. The first initialize of a client that tries both HTTP transports
    got no response: it is skipped."""
    assert ran.code == 0, str(ran)
    report = json.loads(ran.out)
    skipped = [("initialize", "skipped", "it was recorded without a response")] if client.endswith("-either") else []
    assert [(call["method"], call["verdict"], call["reason"]) for call in unpassed(report)] == skipped
    assert report["findings"] == [], report["findings"]
    assert report["summary"]["passed"] > 1

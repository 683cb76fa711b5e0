"""With mcp-recorder's spellings only explicit rules redact, in metadata and in what the server sends (finding M2)."""
import json
import subprocess

import pytest

from http_peers import Program, Upstream, call, result

KEY = "AKIA" + "IOSFODNN7EXAMPLE"  # known by its looks
CANARY = "canary-value-7"


def serve(conn):
    """Every request gets its params back, and with a password in it."""
    while request := conn.request():
        conn.respond(json_=result(request.json.get("id"), {"said": request.json.get("params"), "password": "hunter2"})
                    if request.body else {})


@pytest.fixture
def recorded(mcpreel, tmp_path):
    """Records one call; returns the cassette and standard error."""
    server = Upstream(serve)

    def record(*options, path="/mcp"):
        program = Program([mcpreel, "record", "--target", f"http://127.0.0.1:{server.port}{path}", "--listen", "0", "-o", "a.json", *options],
                          cwd=tmp_path, env={"CANARY": CANARY})
        try:
            assert program.client().post(call(1, "tools/call", name="t", arguments={"key": KEY, "x": CANARY})).status == 200
            assert program.stop() == 0, program.err
        finally:
            program.close()
        return json.loads((tmp_path / "a.json").read_text()), program.err

    yield record
    server.close()


def parts(cassette):
    interaction, = cassette["interactions"]
    return json.dumps(interaction["request"]), json.dumps(interaction["response"])


def test_only_given_rules_are_applied(recorded):
    cassette, error_output = recorded()
    request, response = parts(cassette)
    assert KEY in request and CANARY in request
    assert KEY in response and CANARY in response and "hunter2" in response and "REDACTED" not in response
    assert "unchanged" not in error_output


def test_given_rules_change_responses_and_not_requests(recorded):
    cassette, error_output = recorded("--redact-env", "CANARY", "--redact-patterns", "AKIA[A-Z0-9]+", "--redact-members", "password")
    request, response = parts(cassette)
    assert KEY in request and CANARY in request
    assert KEY not in response and CANARY not in response and "hunter2" not in response
    assert response.count("[REDACTED]") == 3
    assert "1 message of the client contains secrets: with --target they are not redacted" in error_output


@pytest.mark.parametrize("options, env", [(["--redact-defaults"], {}), ([], {"MCPREEL_REDACT_DEFAULTS": "true"})])
def test_the_default_rules_are_applied_if_requested(recorded, monkeypatch, options, env):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    request, response = parts(recorded(*options)[0])
    assert KEY in request and KEY not in response and "hunter2" not in response


@pytest.mark.parametrize("path, shown", [("/mcp", "/[REDACTED]"), ("/key/mcp", "/[REDACTED]")])
def test_the_path_of_the_server_is_not_recorded(recorded, path, shown):
    cassette, _ = recorded(path=path)
    assert cassette["metadata"]["server_url"].split("127.0.0.1:")[1].lstrip("0123456789") == shown


@pytest.mark.parametrize("path, shown", [("/mcp", "/mcp"), ("/api/v1/mcp", "/api/v1/mcp"), ("/sse", "/sse"), ("/key/mcp", "/[REDACTED]"),
                                         ("/mcp?k=1", "/[REDACTED]"), ("/a1b2c3d4e5f6a7b8", "/[REDACTED]")])
def test_ordinary_paths_are_recorded_with_the_native_options(mcpreel, tmp_path, path, shown):
    server = Upstream(serve)
    program = Program([mcpreel, "record", "--url", f"http://127.0.0.1:{server.port}{path}", "--listen", "0", "-o", "a.jsonl"], cwd=tmp_path)
    try:
        assert program.client().post(call(1, "tools/call", name="t", arguments={"key": KEY})).status == 200
        assert program.stop() == 0, program.err
    finally:
        program.close()
        server.close()
    lines = (tmp_path / "a.jsonl").read_text()
    assert json.loads(lines.splitlines()[0])["upstream"] == f"http://127.0.0.1:{server.port}{shown}"
    assert KEY not in lines and "hunter2" not in lines


@pytest.mark.parametrize("command, label", [
    (["cat", "/dev/null"], "null"),
    (["/bin/cat", "--", "/dev/null", "--token=" + KEY], "null"),
    (["/bin/echo", "server", KEY], "echo"),
])
def test_the_label_of_a_trace_is_no_placeholder(mcpreel, tmp_path, command, label):
    out = tmp_path / "a.trace.jsonl"
    subprocess.run([mcpreel, "record", "-o", out, "--", *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    first = json.loads(out.read_text().splitlines()[0])
    assert first["label"] == label
    assert KEY not in out.read_text()

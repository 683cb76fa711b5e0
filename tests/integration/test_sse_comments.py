"""Comments of streams, and lines that are no message, do not fill the disk."""
import contextlib
import json

from http_peers import Program, Upstream, call, chunk, records_of, result, valid_lines_of

NOISE = 5000


def serve_comments(conn):
    """A stream with far more comments and events that are no message than messages."""
    while request := conn.request():
        conn.sse()
        conn.send(chunk(b": keep-alive\n\n" * NOISE + b"data: no\n\n" * NOISE))
        conn.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}})
        conn.send(chunk(b": keep-alive\n\n" * NOISE))
        conn.event(result(request.json["id"]))
        conn.last()


def noise_of(lines, kind):
    """The number of comments, or of lines that are no message, in a recording, and the number of its lines."""
    lines_with_noise = [line for line in records_of(lines, kind) if kind == "raw" or "comment" in line]
    return sum(line.get("count", 1) for line in lines_with_noise), len(lines_with_noise)


def test_many_comments_are_counted_and_not_recorded_one_by_one(run, mcpreel, tmp_path):
    file = tmp_path / "r.jsonl"
    with contextlib.closing(Upstream(serve_comments)) as server, contextlib.closing(
            Program([mcpreel, "record", "--url", server.url, "--listen", "127.0.0.1:0", "-o", file])) as program:
        client = program.client()
        client.send_request(call(1))
        client.read_response()
        assert program.stop() == 0, program.err
    lines = valid_lines_of(file)
    assert noise_of(lines, "sse") == (2 * NOISE, 32 + 4)  # one for 4096, one for the rest of each row
    assert noise_of(lines, "raw") == (NOISE, 32 + 2)
    for kind, text in ("sse", b": keep-alive"), ("raw", b"no"):
        counted = [line for line in records_of(lines, kind) if "count" in line]
        assert all(line["bytes"] == line["count"] * (len(text) - (kind == "sse")) for line in counted), counted
    order = [line["type"] for line in lines if line["type"] == "message" or "count" in line]
    assert order == ["message", "sse", "raw", "sse", "raw", "message", "sse", "sse", "message"], order
    assert file.stat().st_size < 20000
    report = json.loads(run([mcpreel, "--json", "check", file]).out)["files"][0]
    assert [(odd["rule"], odd["count"]) for odd in report["findings"] if "non-message" in odd["rule"]] == [("server-non-message", NOISE)], report
    replayed = run([mcpreel, "replay", file], stdin=json.dumps(call(7)).encode() + b"\n")
    assert json.loads(replayed.out.splitlines()[-1]) == result(7), replayed

"""A client on stdio and a server on HTTP whose streams break off: how often it is asked to go on, and what comes of that."""
from bridging import bridge, greeted, recorded, result, serving, stdio, upstream  # noqa: F401
from http_peers import call, of

SILENT = "the server was silent for ten seconds after the client's end"
AGAIN = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "again"}}


def resumptions(server):
    return [request.get("Last-Event-ID") for request in server.requests if request.method == "GET" and request.get("Last-Event-ID")]


def going_on(upstream, stream):
    """A server that tells each call a place to go on from, at once; `stream` says what comes there."""
    def calls(conn, request):
        conn.sse()
        conn.event("", id="1", retry=0)
        conn.last()

    def get(conn, request):
        if not request.get("Last-Event-ID"):
            return False
        conn.sse()
        stream(conn, request.get("Last-Event-ID"))
        conn.last()
        return True

    return upstream(serving(calls, get))


# Two at once: each waits for ten seconds.
def test_a_server_that_gets_nowhere_is_not_flooded_and_not_waited_for(upstream, stdio, tmp_path):
    stays = going_on(upstream, lambda conn, last: conn.event("", id="1", retry=0))
    repeats = going_on(upstream, lambda conn, last: conn.event(AGAIN, id="1", retry=0))
    ends = []
    for n, server in enumerate((stays, repeats)):
        one = stdio("record", "--url", server.url, "-o", tmp_path / f"{n}.jsonl")
        one.file = tmp_path / f"{n}.jsonl"
        greeted(one).say(call(1, "tools/call", name="x"))
        ends.append(one)
    assert ends[1].hear() == AGAIN
    for one in ends:
        one.process.stdin.close()
    for one, server in zip(ends, (stays, repeats)):
        assert one.end() == 0
        assert one.hear() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": SILENT}}
        assert one.hear() is None
        assert 1 <= len(resumptions(server)) <= 5
        assert {"1"} == set(resumptions(server))
        assert len(recorded(one)) < 100
        assert server.requests[-1].method == "DELETE"


def test_a_call_is_polled_for_as_long_as_the_server_moves(upstream, bridge):
    def stream(conn, last):
        if int(last) < 4:
            conn.event("", id=str(int(last) + 1), retry=0)
        else:
            conn.event(result(1), id="answer")

    server = going_on(upstream, stream)
    one = greeted(bridge(server))
    assert one.ask(call(1, "tools/call", name="x")) == result(1)
    assert one.close() == 0
    assert resumptions(server) == ["1", "2", "3", "4"]


def test_what_came_before_is_recorded_again_but_told_once(upstream, bridge):
    def stream(conn, last):
        conn.event(AGAIN, id="note")
        if last == "note":
            conn.event(result(1), id="answer")

    one = greeted(bridge(going_on(upstream, stream)))
    assert one.ask(call(1, "tools/call", name="x")) == AGAIN
    assert one.hear() == result(1)
    assert one.close() == 0
    assert [line["msg"] for line in of(recorded(one), "message", dir="s2c")].count(AGAIN) == 2

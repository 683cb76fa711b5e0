"""A client on stdio and a server on HTTP whose streams are aborted: the number of resumptions, and their results."""
import queue

from bridging import bridge, initialized, initialize_response, recorded, session_server, stdio, upstream  # noqa: F401
from http_peers import WAIT, call, initialize, records_of, result

NO_MESSAGE = "the server sent nothing for 10 s after the client closed its input"
AGAIN = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "again"}}


def resumptions(server):
    return [request.get("Last-Event-ID") for request in server.requests if request.method == "GET" and request.get("Last-Event-ID")]


def resumable_server(upstream, stream):
    """A server that at once sends each call an event id to resume from; `stream` has the events of the resumed stream."""
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

    return upstream(session_server(calls, get))


# All at once: each waits for ten seconds.
def test_a_server_without_progress_is_not_flooded_and_not_waited_for(upstream, stdio, tmp_path):
    stays = resumable_server(upstream, lambda conn, last: conn.event("", id="1", retry=0))
    repeats = resumable_server(upstream, lambda conn, last: conn.event(AGAIN, id="1", retry=0))
    hangs = upstream(session_server(lambda conn, request: conn.wait_end()))
    ends, servers = [], (stays, repeats, hangs)
    for n, server in enumerate(servers):
        one = stdio("record", "--url", server.url, "-o", tmp_path / f"{n}.jsonl")
        one.file = tmp_path / f"{n}.jsonl"
        initialized(one).send(call(1, "tools/call", name="x"))
        ends.append(one)
    assert ends[1].receive() == AGAIN
    for one in ends:
        one.process.stdin.close()
    for one, server in zip(ends, servers):
        assert one.end() == 0
        assert one.receive() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": NO_MESSAGE}}
        assert one.receive() is None
        assert len(recorded(one)) < 100
        assert server.requests[-1].method == "DELETE"
    assert [set(resumptions(server)) for server in servers] == [{"1"}, {"1"}, set()]
    assert all(len(resumptions(server)) <= 5 for server in servers)


def test_a_call_is_polled_as_long_as_the_server_sends_events(upstream, bridge):
    def stream(conn, last):
        if int(last) < 4:
            conn.event("", id=str(int(last) + 1), retry=0)
        else:
            conn.event(result(1), id="answer")

    server = resumable_server(upstream, stream)
    one = initialized(bridge(server))
    assert one.get_response(call(1, "tools/call", name="x")) == result(1)
    assert one.close() == 0
    assert resumptions(server) == ["1", "2", "3", "4"]


def test_redelivered_events_are_recorded_again_and_forwarded_once(upstream, bridge):
    def stream(conn, last):
        conn.event(AGAIN, id="note")
        if last == "note":
            conn.event(result(1), id="answer")

    one = initialized(bridge(resumable_server(upstream, stream)))
    assert one.get_response(call(1, "tools/call", name="x")) == AGAIN
    assert one.receive() == result(1)
    assert one.close() == 0
    assert [line["msg"] for line in records_of(recorded(one), "message", dir="s2c")].count(AGAIN) == 2


def test_another_message_under_a_known_event_id_is_forwarded(upstream, bridge):
    """A server whose events all have the same id. It also sends a server request: one that is not forwarded never gets
    its response."""
    def server_request(n):
        return {"jsonrpc": "2.0", "id": f"q{n}", "method": "roots/list"}

    responses = []

    def stream(conn, last):
        responses.append(last)
        conn.event(server_request(len(responses)), id="1", retry=0)
        if len(responses) == 2:
            conn.event(result(1), id="1")

    server = resumable_server(upstream, stream)
    one = initialized(bridge(server))
    one.send(call(1, "tools/call", name="x"))
    for n in (1, 2):
        assert one.receive() == server_request(n)
        one.send({"jsonrpc": "2.0", "id": f"q{n}", "result": {"roots": []}})
    assert one.receive() == result(1)
    assert one.close() == 0
    assert [r.json["id"] for r in server.requests if r.method == "POST" and "result" in r.json] == ["q1", "q2"]


def test_an_http_sse_session_ends_with_its_stream(upstream, bridge):
    streams = queue.Queue()

    def serve(conn):
        while request := conn.request():
            if request.method == "GET":
                conn.sse()
                conn.event("/messages", event="endpoint")
                streams.put(conn)
                conn.wait_end()
            elif request.target != "/messages":
                conn.respond(405)
            else:
                conn.respond(202)
                stream = streams.get(timeout=WAIT)
                if request.json["method"] == "initialize":
                    stream.event(initialize_response(request.json["id"]))
                    streams.put(stream)
                else:
                    stream.last()

    server = upstream(serve)
    one = bridge(server.url.replace("/mcp", "/sse"))
    assert one.get_response(initialize()) == initialize_response(0)
    for n in (1, 2):
        assert one.get_response(call(n)) == {"jsonrpc": "2.0", "id": n, "error": {"code": -32000, "message": "the server has ended the session"}}
    assert one.close() == 0
    assert [r.json["id"] for r in server.requests if r.method == "POST" and r.target == "/messages"] == [0, 1]

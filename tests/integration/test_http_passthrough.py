"""replay over HTTP with a server behind it, which comes and goes: what a client is told, and what its user."""
import socket

import pytest
from http_peers import Program, Upstream, call, result
from bridging import greeting
from test_http_bridge import READY, echo, initialize, serving
from test_replay import TALK, write_recording


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "session.jsonl", TALK)


@pytest.fixture
def replay(mcpreel, recording):
    started = []

    def start(*words):
        started.append(Program([mcpreel, "replay", "--listen", "0", "--on-unmatched", "passthrough", recording, *words]))
        return started[-1]

    yield start
    for program in started:
        program.close()


def enter(program):
    """A client with a session: what asks for it."""
    client = program.client()
    hello = client.post(initialize())
    inside = [("Mcp-Session-Id", hello.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
    assert client.post(READY, headers=inside).status == 202
    return lambda n, method="prompts/list": client.post(call(n, method), headers=inside)


@pytest.fixture
def clients(replay):
    """A client of a replay before a URL, and the replay."""
    def start(url, *words):
        program = replay("--url", url, *words)
        return enter(program), program

    return start


def told(program):
    return [line for line in program.err.splitlines() if "passthrough server: " in line or "responds again" in line]


def hanging_up(conn):
    """A server that ends its connections, so that it can be gone at once."""
    request = conn.request()
    if request.method != "POST":
        conn.answer(405, headers=[("Connection", "close")])
    elif "id" not in request.json:
        conn.answer(202, headers=[("Connection", "close")])
    else:
        method = request.json["method"]
        answer = greeting(request.json["id"]) if method == "initialize" else result(request.json["id"], {"said": method})
        conn.answer(json_=answer, headers=[("Connection", "close")])


def test_an_unreachable_server_is_tried_again(clients):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ask, program = clients(f"http://127.0.0.1:{port}/mcp")
    refused = f"cannot connect to 'http://127.0.0.1:{port}': connection refused"
    for n in range(3):
        answer = ask(n)
        assert (answer.status, answer.json["id"]) == (200, n)
        assert answer.json["error"] == {"code": -32000, "message": f"not recorded, and the passthrough server does not respond: {refused}"}
    server = Upstream(hanging_up, port=port)
    assert ask("up").json == result("up", {"said": "prompts/list"})
    server.close()
    for n in range(2):
        assert ask(n).json["error"] == answer.json["error"]  # whether it has to be greeted again or not
    assert program.stop() == 4  # one request got no response
    down = f"mcpreel: warning: passthrough server: {refused}"
    assert told(program) == [down, "mcpreel: the passthrough server responds again", down]


def test_a_server_that_lost_the_session_is_initialized_again(clients):
    forgotten = [True]

    def once(conn, request):
        if forgotten and forgotten.pop():
            conn.answer(404)
        else:
            echo(conn, request)

    server = Upstream(serving(once))
    ask, program = clients(server.url)
    assert ask(1).json["error"] == {"code": -32000, "data": {"httpStatus": 404},
                                    "message": "the server has ended the session (status 404): the next request starts a new one"}
    assert ask(2).json == result(2, {"said": "prompts/list"})
    methods = [r.json.get("method") for r in server.requests if r.body]
    assert methods == ["initialize", "notifications/initialized", "prompts/list"] * 2
    program.stop()
    assert told(program) == ["mcpreel: warning: passthrough server: the server ended the session; the next request starts a new one",
                             "mcpreel: the passthrough server responds again"]
    server.close()


@pytest.mark.parametrize("status, why", [(401, "requires a login (status 401)"), (503, "answered HTTP 503"),
                                         (302, "redirects (status 302)")])
def test_an_http_error_status_is_reported(clients, status, why):
    def refuse(conn):
        while conn.request():
            conn.answer(status, headers=[("Location", "http://127.0.0.1:1/")] if status == 302 else [])

    server = Upstream(refuse)
    ask, program = clients(server.url)
    for n in range(2):
        answer = ask(n)
        assert answer.status == 200 and why in answer.json["error"]["message"]
    assert program.stop() == 4
    line, = told(program)
    assert why in line
    server.close()


def test_a_tls_error_is_reported(clients):
    """The server there does not use TLS."""
    def hang_up(conn):
        conn.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    server = Upstream(hang_up)
    ask, program = clients(server.url.replace("http:", "https:"))
    for n in range(2):
        assert f"'https://127.0.0.1:{server.port}'" in ask(n).json["error"]["message"]
    assert program.stop() == 4
    assert len(told(program)) == 1
    server.close()


def test_a_passthrough_command_answers_unrecorded_requests(mcpreel, replay):
    program = replay("--", mcpreel, "demo", "server")
    clients = [enter(program) for _ in range(3)]
    assert clients[0](1, "tools/list").json == TALK[3][1]
    for ask in clients:
        answer = ask(7)
        assert answer.status == 200 and answer.json["id"] == 7 and answer.json["result"]["prompts"]
    assert program.stop() == 0, program.err

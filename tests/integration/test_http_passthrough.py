"""replay over HTTP with a server behind it, which comes and goes: what a client is told, and what its user."""
import socket

import pytest
from http_peers import Program, Upstream, call, result
from bridging import initialize_response
from test_http_bridge import INITIALIZED, echo, initialize, session_server
from test_replay import SESSION, write_recording


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "session.jsonl", SESSION)


@pytest.fixture
def replay(mcpreel, recording):
    started = []

    def start(*words):
        started.append(Program([mcpreel, "replay", "--listen", "0", "--on-unmatched", "passthrough", recording, *words]))
        return started[-1]

    yield start
    for program in started:
        program.close()


def open_session(program):
    """A client with a session: what asks for it."""
    client = program.client()
    first_response = client.post(initialize())
    inside = [("Mcp-Session-Id", first_response.get("Mcp-Session-Id")), ("MCP-Protocol-Version", "2025-11-25")]
    assert client.post(INITIALIZED, headers=inside).status == 202
    return lambda n, method="prompts/list": client.post(call(n, method), headers=inside)


@pytest.fixture
def clients(replay):
    """A client of a replay before a URL, and the replay."""
    def start(url, *words):
        program = replay("--url", url, *words)
        return open_session(program), program

    return start


def stderr_of(program):
    return [line for line in program.err.splitlines() if "passthrough server: " in line or "responds again" in line]


def closing_server(conn):
    """A server that ends its connections, so that it can be gone at once."""
    request = conn.request()
    if request.method != "POST":
        conn.respond(405, headers=[("Connection", "close")])
    elif "id" not in request.json:
        conn.respond(202, headers=[("Connection", "close")])
    else:
        method = request.json["method"]
        response = initialize_response(request.json["id"]) if method == "initialize" else result(request.json["id"], {"said": method})
        conn.respond(json_=response, headers=[("Connection", "close")])


def test_an_unreachable_server_is_tried_again(clients):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    send_call, program = clients(f"http://127.0.0.1:{port}/mcp")
    refused = f"cannot connect to 'http://127.0.0.1:{port}': connection refused"
    for n in range(3):
        response = send_call(n)
        assert (response.status, response.json["id"]) == (200, n)
        assert response.json["error"] == {"code": -32000, "message": f"not recorded, and the passthrough server does not respond: {refused}"}
    server = Upstream(closing_server, port=port)
    assert send_call("up").json == result("up", {"said": "prompts/list"})
    server.close()
    for n in range(2):
        assert send_call(n).json["error"] == response.json["error"]  # whether it has to be greeted again or not
    assert program.stop() == 4  # one request got no response
    down = f"mcpreel: warning: passthrough server: {refused}"
    assert stderr_of(program) == [down, "mcpreel: the passthrough server responds again", down]


def test_a_server_that_lost_the_session_is_initialized_again(clients):
    forgotten = [True]

    def once(conn, request):
        if forgotten and forgotten.pop():
            conn.respond(404)
        else:
            echo(conn, request)

    server = Upstream(session_server(once))
    send_call, program = clients(server.url)
    assert send_call(1).json["error"] == {"code": -32000, "data": {"httpStatus": 404},
                                    "message": "the server has ended the session (status 404): the next request starts a new one"}
    assert send_call(2).json == result(2, {"said": "prompts/list"})
    methods = [r.json.get("method") for r in server.requests if r.body]
    assert methods == ["initialize", "notifications/initialized", "prompts/list"] * 2
    program.stop()
    assert stderr_of(program) == ["mcpreel: warning: passthrough server: the server ended the session; the next request starts a new one",
                             "mcpreel: the passthrough server responds again"]
    server.close()


@pytest.mark.parametrize("status, why", [(401, "requires a login (status 401)"), (503, "answered HTTP 503"),
                                         (302, "redirects (status 302)")])
def test_an_http_error_status_is_reported(clients, status, why):
    def refuse(conn):
        while conn.request():
            conn.respond(status, headers=[("Location", "http://127.0.0.1:1/")] if status == 302 else [])

    server = Upstream(refuse)
    send_call, program = clients(server.url)
    for n in range(2):
        response = send_call(n)
        assert response.status == 200 and why in response.json["error"]["message"]
    assert program.stop() == 4
    line, = stderr_of(program)
    assert why in line
    server.close()


def test_a_tls_error_is_reported(clients):
    """The server there does not use TLS."""
    def close_after_response(conn):
        conn.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    server = Upstream(close_after_response)
    send_call, program = clients(server.url.replace("http:", "https:"))
    for n in range(2):
        assert f"'https://127.0.0.1:{server.port}'" in send_call(n).json["error"]["message"]
    assert program.stop() == 4
    assert len(stderr_of(program)) == 1
    server.close()


def test_a_passthrough_command_answers_unrecorded_requests(mcpreel, replay):
    program = replay("--", mcpreel, "demo", "server")
    clients = [open_session(program) for _ in range(3)]
    assert clients[0](1, "tools/list").json == SESSION[3][1]
    for send_call in clients:
        response = send_call(7)
        assert response.status == 200 and response.json["id"] == 7 and response.json["result"]["prompts"]
    assert program.stop() == 0, program.err

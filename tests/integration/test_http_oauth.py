"""Logins through 'mcpreel record --url': what a client must see to log in, what the server must see to let it, and
what must never be in the recording or on stderr."""
import gzip
import json
import re
import urllib.parse

import pytest

from http_peers import JSON, Program, Upstream, call, lines_of, records_of, result

FORM = ("Content-Type", "application/x-www-form-urlencoded")
REDIRECT_URI = "http://localhost:3/callback"
METADATA = "/.well-known/oauth-protected-resource/mcp"
CANARIES = {name: f"canary-{name}-8d1f6a02c9" for name in (
    "code", "state", "verifier", "client-secret", "access", "refresh", "password", "registration", "cookie", "client-id")}


class Login:
    """A server that wants a login, and its authorization server: itself, or, if named, another one."""

    def __init__(self, authorization=None, challenge=None, issuer="", login=False, name=None, names_issuer=True, as_called=False):
        self.authorization_server, self.issuer, self.login, self.names_issuer = authorization, issuer, login, names_issuer
        self.challenge = challenge or (lambda me: [f'Bearer resource_metadata="{me}{METADATA}", scope="mcp"'])
        self.as_called = as_called  # it calls itself what its clients write as Host
        self.upstream = Upstream(self.serve)
        self.me = f"http://{name or '127.0.0.1'}:{self.upstream.port}"
        self.requested_resources = []  # the resources that codes and tokens were asked for
        self.url = f"{self.me}/mcp"
        # A server that has a name is elsewhere, and can only be reached through a proxy, which it plays, too.
        self.env = {"http_proxy": f"http://127.0.0.1:{self.upstream.port}", "no_proxy": "", "NO_PROXY": ""} if name else {}

    @property
    def authorization(self):
        return self.authorization_server.me if self.authorization_server else self.me

    def serve(self, conn):
        while request := conn.request():
            if request.method == "CONNECT":
                conn.send(b"HTTP/1.1 200 OK\r\n\r\n")
                continue
            if self.as_called:
                self.me = f"http://{request.get('host')}"
            target = urllib.parse.urlsplit(request.target)
            given = dict(urllib.parse.parse_qsl(target.query or request.body.decode("latin-1")))
            getattr(self, "at_" + re.sub(r"\W+", "_", target.path).strip("_"), self.respond_404)(conn, request, given)

    def respond_404(self, conn, request, given):
        conn.respond(404, b"nothing here")

    def at_mcp(self, conn, request, given):
        if request.get("authorization") != f"Bearer {CANARIES['access']}":
            conn.respond(401, json_={"error": "invalid_token"},
                        headers=[("WWW-Authenticate", line) for line in self.challenge(self.me)])
        elif request.json["method"] == "tools/call":
            conn.respond(403, json_={}, headers=[
                ("WWW-Authenticate", f'Bearer error="insufficient_scope", scope="w", resource_metadata="{self.me}{METADATA}"')])
        else:
            conn.respond(json_=result(request.json["id"]))

    def at_well_known_oauth_protected_resource_mcp(self, conn, request, given):
        conn.respond(headers=[("ETag", '"1"'), ("Cache-Control", "max-age=3600"), JSON], body=json.dumps(
            {"resource": f"{self.me}/mcp", "authorization_servers": [self.authorization + self.issuer], "n": 1}, indent=1).encode())

    def at_well_known_oauth_authorization_server(self, conn, request, given):
        conn.sse()  # in chunks; the type is of no account
        document = {"issuer": self.me + self.issuer, "authorization_response_iss_parameter_supported": self.names_issuer,
                    **{f"{name}_endpoint": f"{self.me}/{path}" for name, path in (
                        ("authorization", "authorize"), ("token", "token"), ("registration", "register"))}}
        text = json.dumps(document).encode()
        for piece in (text[:20], text[20:]):
            conn.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        conn.last()

    def at_register(self, conn, request, given):
        conn.respond(201, json_={"client_id": CANARIES["client-id"], "client_secret": CANARIES["client-secret"],
                                "registration_access_token": CANARIES["registration"]})

    def redirect_with_code(self, conn, given):
        query = urllib.parse.urlencode({"code": CANARIES["code"], "state": given["state"],
                                        **({"iss": self.me + self.issuer} if self.names_issuer else {})})
        conn.respond(302, headers=[("Location", f"{REDIRECT_URI}?{query}")])

    def at_authorize(self, conn, request, given):
        self.requested_resources.append(given.get("resource"))
        if self.login:
            conn.respond(302, headers=[("Location", f"{self.me}/login?state={given['state']}"),
                                      ("Set-Cookie", f"login={CANARIES['cookie']}; HttpOnly")])
        else:
            self.redirect_with_code(conn, given)

    def at_login(self, conn, request, given):
        if request.method == "POST":
            self.redirect_with_code(conn, given)
        else:
            conn.respond(body=b"<form method=post>")

    def at_token(self, conn, request, given):
        self.requested_resources.append(given.get("resource"))
        assert given["code"] == CANARIES["code"] and given["code_verifier"] == CANARIES["verifier"]
        conn.respond(json_={"access_token": CANARIES["access"], "refresh_token": CANARIES["refresh"], "token_type": "Bearer"})


@pytest.fixture
def login():
    made = []

    def make(**how):
        made.append(Login(**how))
        return made[-1]

    yield make
    for one in made:
        one.upstream.close()


@pytest.fixture
def record(mcpreel, tmp_path):
    started = []

    def start(server, *options):
        started.append(Program([mcpreel, "record", "--url", server.url, "--listen", "127.0.0.1:0", "-o", tmp_path / "r.jsonl", "-vv",
                                *options], env=server.env))
        started[-1].file = tmp_path / "r.jsonl"
        return started[-1]

    yield start
    for program in started:
        program.close()


class Browser:
    """Asks for URLs, each on a connection of its own; what is not ours is asked of whom it names."""

    def __init__(self, program, name="127.0.0.1"):
        self.program, self.name = program, name
        self.home = f"http://{name}:{program.port}"

    def fetch(self, url, method="GET", form=None, json_=None, headers=()):
        at = urllib.parse.urlsplit(url)
        assert f"{at.scheme}://{at.netloc}" == self.home, f"{url} does not lead through us"
        client = self.program.client()
        body = urllib.parse.urlencode(form).encode() if form else json.dumps(json_).encode() if json_ else b""
        client.send_request(method=method, path=at.path + (f"?{at.query}" if at.query else ""), body=body,
                   headers=[("Host", at.netloc), *([FORM] if form else []), *headers])
        response = client.read_response()
        client.close()
        return response

    def call(self, path="/mcp", method="ping", headers=()):
        return self.fetch(self.home + path, "POST", json_=call(1, method), headers=headers)


def where(challenge):
    return re.search(r'resource_metadata="([^"]*)"', challenge)[1]


def log_in(browser, path="/mcp", server_page=None):
    """All that a client does, with the checks that clients make. `server_page`: what a browser is told when it is sent to
    the server's own page, which is not asked through us."""
    refused = browser.call(path)
    assert refused.status == 401
    resource = browser.fetch(where(refused.get("www-authenticate"))).json
    assert resource["resource"] == browser.home + path
    issuer, = resource["authorization_servers"]
    server = browser.fetch(f"{browser.home}/.well-known/oauth-authorization-server").json
    assert server["issuer"] == issuer
    client = browser.fetch(server["registration_endpoint"], "POST", json_={"redirect_uris": [REDIRECT_URI]}).json
    query = urllib.parse.urlencode({"client_id": client["client_id"], "redirect_uri": REDIRECT_URI, "state": CANARIES["state"],
                                    "code_challenge": "x", "resource": resource["resource"]})
    response = browser.fetch(f"{server['authorization_endpoint']}?{query}")
    if server_page:
        response = server_page(response)
    if not response.get("location").startswith(REDIRECT_URI):
        page = urllib.parse.urljoin(browser.home, response.get("location"))
        assert browser.fetch(page).status == 200
        response = browser.fetch(page, "POST", form={"password": CANARIES["password"], "state": CANARIES["state"]},
                             headers=[("Origin", browser.home), ("Cookie", f"login={CANARIES['cookie']}")])
    back = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(response.get("location")).query))
    assert back.get("iss", issuer) == issuer and back["state"] == CANARIES["state"]
    token = browser.fetch(server["token_endpoint"], "POST", form={
        "grant_type": "authorization_code", "code": back["code"], "code_verifier": CANARIES["verifier"],
        "client_secret": client["client_secret"], "resource": resource["resource"]}).json["access_token"]
    assert browser.call(path, headers=[("Authorization", f"Bearer {token}")]).status == 200


def recorded(program):
    """The lines of the recording, in which, as on stderr, there is none of what a login is made of."""
    assert program.stop() == 0, program.err
    for text in (program.file.read_text(), program.err):
        assert [name for name, value in CANARIES.items() if value in text] == []
    return lines_of(program.file)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("issuer", ["", "/"])
def test_a_client_logs_in_at_the_server(login, record, name, issuer):
    server = login(issuer=issuer)
    program = record(server)
    log_in(Browser(program, name))
    assert server.requested_resources == [server.url] * 2
    lines = recorded(program)
    assert [line["path"] for line in records_of(lines, "http", ev="request")] == [
        "/mcp", METADATA, "/.well-known/oauth-authorization-server", "/register", "/authorize", "/token", "/mcp"]
    assert len(records_of(lines, "message")) == 3 and not records_of(lines, "raw", **{"from": "client"})


def test_login_pages_stay_with_mcpreel(login, record):
    server = login(login=True)
    program = record(server)
    log_in(Browser(program))
    assert server.requested_resources == [server.url] * 2
    recorded(program)


@pytest.mark.parametrize("path", ["/mcp", "/"])
def test_a_server_with_our_own_url_is_not_rewritten(login, record, path):
    server = login(as_called=True)
    program = record(server, "--keep-host")
    log_in(Browser(program), path)
    assert server.requested_resources == [program.url] * 2
    recorded(program)
    assert "on another host" not in program.err and "is not proxied" not in program.err


def test_the_authorization_page_is_at_the_servers_own_url(login, record):
    """Its cookies and its way back from another login are bound to its name."""
    server = login(name="server.example", names_issuer=False)
    program = record(server)

    def page(response):
        assert response.status == 302
        at = urllib.parse.urlsplit(response.get("location"))
        assert f"{at.scheme}://{at.netloc}{at.path}" == f"{server.me}/authorize"
        assert dict(urllib.parse.parse_qsl(at.query))["resource"] == server.url
        response.headers = [("Location", f"{REDIRECT_URI}?code={CANARIES['code']}&state={CANARIES['state']}")]
        return response

    log_in(Browser(program), server_page=page)
    assert server.requested_resources == [server.url]
    lines = recorded(program)
    exchange, = [line["exchange"] for line in records_of(lines, "http", ev="request", path="/authorize")]
    response, = records_of(lines, "http", ev="response", exchange=exchange)
    assert (response["status"], response["by"]) == (302, "mcpreel")


def test_an_issuer_in_the_redirect_is_rewritten(login, record):
    """Only so can the name be ours."""
    server = login(name="server.example", names_issuer=True)
    program = record(server)
    log_in(Browser(program))
    assert server.requested_resources == [server.url] * 2
    assert all(request.get("host") == server.me[7:] for request in server.upstream.requests if request.method != "CONNECT")
    recorded(program)


def test_a_client_that_uses_the_root_logs_in_there(login, record):
    server = login()
    program = record(server)
    log_in(Browser(program), "/")
    assert server.requested_resources == [server.url] * 2
    recorded(program)


def test_the_challenge_decides_where_the_resource_is(login, record):
    """A page that is loaded there in between is no login."""
    server = login()
    program = record(server)
    browser = Browser(program)
    assert browser.call().status == 401
    browser.call("/", headers=[("Authorization", f"Bearer {CANARIES['access']}")])
    assert browser.fetch(browser.home + METADATA).json["resource"] == f"{browser.home}/mcp"
    assert browser.call("/").status == 401
    assert browser.fetch(browser.home + METADATA).json["resource"] == f"{browser.home}/"
    recorded(program)


def test_only_urls_are_rewritten_and_no_body_is_recorded(login, record):
    server = login()
    program = record(server)
    browser = Browser(program)
    response = browser.fetch(browser.home + METADATA, headers=[("Accept-Encoding", "gzip, br"), ("If-None-Match", '"1"')])
    seen = server.upstream.requests[-1]
    assert seen.get("accept-encoding") == "identity" and seen.get("if-none-match") is None
    assert response.get("etag") is None and response.all("cache-control") == ["no-store"]
    original = json.dumps({"resource": server.url, "authorization_servers": [server.me], "n": 1}, indent=1)
    assert response.body.decode() == original.replace(server.me, browser.home)
    assert int(response.get("content-length")) == len(response.body)
    recorded(program)


def test_an_authorization_server_of_another_origin_is_not_rewritten(login, record):
    far = login()
    server = login(authorization=far)
    program = record(server)
    browser = Browser(program)
    resource = browser.fetch(where(browser.call().get("www-authenticate"))).json
    assert resource["resource"] == f"{browser.home}/mcp"
    assert resource["authorization_servers"] == [far.me]
    browser.fetch(browser.home + METADATA)
    recorded(program)
    assert program.err.count(f"the authorization server '{far.me}' is not proxied") == 1


def test_a_wider_scope_is_requested_through_mcpreel(login, record):
    program = record(login())
    browser = Browser(program)
    refused = browser.call(method="tools/call", headers=[("Authorization", f"Bearer {CANARIES['access']}")])
    assert refused.status == 403
    assert refused.get("www-authenticate") == (
        f'Bearer error="insufficient_scope", scope="w", resource_metadata="{browser.home}{METADATA}"')
    recorded(program)


@pytest.mark.parametrize("lines,want", [
    (['Basic realm="x"', 'Bearer resource_metadata="{me}/a"'], ['Basic realm="x"', 'Bearer resource_metadata="{us}/a"']),
    (['Basic realm="x", Bearer resource_metadata="{me}/a", DPoP algs="ES256"'],
     ['Basic realm="x", Bearer resource_metadata="{us}/a", DPoP algs="ES256"']),
    (['Bearer resource_metadata={me}/a, scope=b'], ['Bearer resource_metadata={us}/a, scope=b']),
    (['Bearer resource_metadata="/a"'], ['Bearer resource_metadata="/a"']),
    (['Bearer resource_metadata="https://other.example/a"'], ['Bearer resource_metadata="https://other.example/a"']),
    (['Bearer realm="{me}/mcp"'], ['Bearer realm="{me}/mcp"']),
    (['Bearer resource_metadata="{me}/no end'], ['Bearer resource_metadata="{me}/no end']),
    ([], []),
])
def test_a_challenge_is_forwarded_in_every_form(login, record, lines, want):
    server = login(challenge=lambda me: [line.format(me=me) for line in lines])
    program = record(server)
    browser = Browser(program)
    for _ in range(2):
        assert browser.call().all("www-authenticate") == [line.format(me=server.me, us=browser.home) for line in want]
    recorded(program)
    bare = not any('resource_metadata="{me}/a' in line or "resource_metadata={me}" in line or '"/a"' in line for line in lines)
    far = any("other.example" in line for line in lines)
    assert program.err.count("does not name its OAuth metadata") == (1 if bare and not far else 0)
    assert program.err.count("is on another host") == (1 if far else 0)


def test_metadata_is_found_at_the_url_of_the_challenge(login, record):
    server = login(challenge=lambda me: [f'Bearer resource_metadata="{me}/custom/location.json"'])
    server.at_custom_location_json = server.at_well_known_oauth_protected_resource_mcp
    program = record(server)
    browser = Browser(program)
    unlisted_metadata = browser.fetch(f"{browser.home}/custom/location.json").json
    assert unlisted_metadata["resource"] == server.url  # no challenge has named this as metadata yet
    resource = browser.fetch(where(browser.call().get("www-authenticate"))).json
    assert resource["resource"] == f"{browser.home}/mcp"
    recorded(program)


def test_a_foreign_resource_is_not_rewritten(login, record):
    server = login()
    document = b'{"resource":"https://evil.example/mcp"}'
    server.at_well_known_oauth_protected_resource_mcp = lambda conn, request, given: conn.respond(body=document)
    program = record(server)
    browser = Browser(program)
    assert browser.fetch(browser.home + METADATA).body == document
    recorded(program)


@pytest.mark.parametrize("headers,body", [
    ([("Content-Encoding", "gzip")], gzip.compress(b'{"resource":"x"}', mtime=0)),
    ([], b"<html>"),
    ([], b'{"resource":"http://127.0.0.1/", "more":"' + b"x" * 300_000 + b'"}'),
])
def test_unreadable_metadata_is_forwarded_and_reported_once(login, record, headers, body):
    server = login()
    server.at_well_known_oauth_protected_resource_mcp = lambda conn, request, given: conn.respond(headers=headers, body=body)
    program = record(server)
    browser = Browser(program)
    for _ in range(2):
        assert browser.fetch(browser.home + METADATA).body == body
    recorded(program)
    assert program.err.count("cannot parse the OAuth metadata") == 1


def test_a_page_of_another_origin_cannot_use_the_login(login, record):
    server = login()
    program = record(server)
    browser = Browser(program)
    response = browser.fetch(f"{browser.home}/token", "POST", form={"code": CANARIES["code"]}, headers=[("Origin", "https://evil.example")])
    assert response.status == 403 and server.upstream.requests == []
    recorded(program)


def test_a_replay_requires_no_login(login, record, mcpreel):
    program = record(login())
    browser = Browser(program)
    assert browser.call(method="tools/list").status == 401
    assert browser.call(method="tools/list", headers=[("Authorization", f"Bearer {CANARIES['access']}")]).status == 200
    recorded(program)
    replay = Program([mcpreel, "replay", "--listen", "127.0.0.1:0", program.file])
    response = Browser(replay).call(method="tools/list")
    assert (response.status, response.json) == (200, result(1))
    replay.close()

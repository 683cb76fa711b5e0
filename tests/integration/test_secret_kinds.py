"""Every kind of credential in every part of a message, and every usual name of a secret with values of any length.

Values are made here from parts, so that no search for credentials finds any in this file. A recording with
all cells is made by one process; each cell is a message with an id of its own.
"""
import base64
import json
import subprocess
import urllib.parse

import pytest

UPPER, LOWER, DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
ALNUM = "".join(a + b + c for a, b, c in zip(UPPER, LOWER, DIGITS * 3))  # Aa0Bb1Cc2…


def some(n, chars=ALNUM):
    """n characters, not in the order of the alphabet."""
    return "".join(chars[(7 * i + 3) % len(chars)] for i in range(n))


def hexa(n):
    return some(n, "0a1b2c3d4e5f6789")


def b64(text):
    return base64.b64encode(text.encode()).decode()


def b64url(data):
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


def uuid():
    h = hexa(32)
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def all_of(*parts):
    """A text that is secret as a whole."""
    return "".join(parts), "".join(parts)


def after(before, secret, behind=""):
    """A text in which only `secret` is."""
    return before + secret + behind, secret


PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + some(64) + "\n" + some(40) + "\n-----END RSA PRIVATE " + "KEY-----"

KINDS = {
    "aws-access-key": all_of("AK", "IA", some(16, UPPER)),
    "aws-temporary-key": all_of("AS", "IA", some(16, UPPER)),
    "aws-secret-key": after("aws_secret_access_key = ", some(40)),
    "aws-session-token": all_of("IQoJb3Jp", "Z2luX2Vj", some(300)),
    "aws-session-token-by-name": after("AWS_SESSION_TOKEN=", some(120)),
    "github-token": all_of("gh", "p_", some(36)),
    "github-fine-grained": all_of("github", "_pat_", some(22), "_", some(59)),
    "gitlab-token": all_of("gl", "pat-", some(20)),
    "slack-bot": all_of("xo", "xb-", some(12, DIGITS), "-", some(24)),
    "slack-app": all_of("xa", "pp-1-", some(40)),
    "slack-webhook": all_of("hooks.slack", ".com/services/T", some(9), "/B", some(9), "/", some(24)),
    "discord-webhook": all_of("discord", ".com/api/webhooks/", some(18, DIGITS), "/", some(68)),
    "discord-bot": all_of(b64("1986" + "22483471925248"), ".", some(6), ".", some(38)),
    "discord-bot-newer": all_of(b64("1234567" + "890123456789").rstrip("="), ".", some(6), ".", some(27)),
    "stripe-live": all_of("sk", "_live_", some(24)),
    "stripe-webhook": all_of("wh", "sec_", some(32)),
    "anthropic": all_of("sk-", "ant-api03-", some(80)),
    "openai": all_of("sk-", some(48)),
    "openai-project": all_of("sk-", "proj-", some(64)),
    "openrouter": all_of("sk-", "or-v1-", hexa(64)),
    "langfuse": all_of("sk-", "lf-", uuid()),
    "elevenlabs": all_of("sk", "_", hexa(48)),
    "google-api-key": all_of("AI", "za", some(35)),
    "google-oauth-token": all_of("ya", "29.", some(60)),
    "google-client-secret": all_of("GOC", "SPX-", some(28)),
    "azure-storage": all_of("Account", "Key=", some(86), "=="),
    "azure-ad-client-secret": all_of(some(3), "8", "Q~", some(34)),
    "azure-sql": after("Server=tcp:h.example,1433;User ID=u;Pass" + "word=", "Tr0ub4dor+3", ";Encrypt=True"),
    "azure-sas": after("sv=2024-01-01&si" + "g=", some(43) + "=", "&se=x"),
    "digitalocean": all_of("dop", "_v1_", hexa(64)),
    "npm": all_of("np", "m_", some(36)),
    "pypi": all_of("py", "pi-AgE", some(80)),
    "rubygems": all_of("ruby", "gems_", hexa(48)),
    "docker": all_of("dckr", "_pat_", some(27)),
    "huggingface": all_of("h", "f_", some(34)),
    "replicate": all_of("r", "8_", some(37)),
    "groq": all_of("gs", "k_", some(52)),
    "perplexity": all_of("pp", "lx-", some(48)),
    "xai": all_of("xa", "i-", some(80)),
    "nvidia": all_of("nv", "api-", some(64)),
    "tavily": all_of("tv", "ly-", some(32)),
    "firecrawl": all_of("f", "c-", hexa(32)),
    "langsmith": all_of("lsv2", "_pt_", hexa(32), "_", hexa(10)),
    "pinecone": all_of("pc", "sk_", some(60)),
    "sendgrid": all_of("S", "G.", some(22), ".", some(43)),
    "brevo": all_of("xkey", "sib-", hexa(64), "-", some(16)),
    "twilio-key": all_of("S", "K", hexa(32)),
    "twilio-auth-token": after("TWILIO_AUTH_TOKEN=", hexa(32)),
    "mailgun": all_of("ke", "y-", hexa(32)),
    "shopify": all_of("shp", "at_", hexa(32)),
    "square": all_of("sq0", "atp-", some(22)),
    "linear": all_of("lin", "_api_", some(40)),
    "notion": all_of("nt", "n_", some(46)),
    "figma": all_of("fi", "gd_", some(40)),
    "supabase": all_of("sb", "p_", hexa(40)),
    "sentry": all_of("snt", "rys_", some(80)),
    "grafana": all_of("gl", "sa_", some(32), "_", hexa(8)),
    "postman": all_of("PM", "AK-", hexa(24), "-", hexa(34)),
    "newrelic": all_of("NR", "AK-", some(27, UPPER)),
    "dynatrace": all_of("dt0", "c01.", some(24, UPPER), ".", some(64, UPPER)),
    "databricks": all_of("da", "pi", hexa(32)),
    "heroku": all_of("HR", "KU-AA", some(58)),
    "tailscale": all_of("ts", "key-auth-", some(30)),
    "planetscale": all_of("pscale", "_pw_", some(43)),
    "pulumi": all_of("pu", "l-", hexa(40)),
    "contentful": all_of("CF", "PAT-", some(43)),
    "atlassian": all_of("ATA", "TT3", some(180)),
    "bitbucket": all_of("AT", "BB", some(32)),
    "onepassword": all_of("op", "s_eyJ", some(200)),
    "vault": all_of("hv", "s.", some(90)),
    "doppler": all_of("dp.", "pt.", some(43)),
    "terraform-cloud": all_of(some(14), ".atlas", "v1.", some(67)),
    "cloudflare-token": after("CLOUDFLARE_API_TOKEN=", some(40)),
    "cloudflare-origin-key": all_of("v1", ".0-", hexa(24), "-", hexa(146)),
    "age": all_of("AGE-SECRET-", "KEY-1", some(58, UPPER)),
    "telegram": all_of(some(10, "123456789"), ":A", "A", some(33)),
    "jwt": all_of(b64url({"alg": "HS256", "typ": "JWT"}), ".", b64url({"sub": "1234567890"}), ".", some(43)),
    "private-key": (PEM, some(64)),
    "url-password": after("postgres://u:", "Tr0ub4dor", "@h.example/db"),
    "bearer": after("Bearer ", some(32)),
    "basic": after("Basic ", b64("user:Tr0ub4dor")),
    "authorization-token": after("Authorization: token ", hexa(40)),
    "x-api-key": after("X-Api-Key: ", some(24)),
    "cookie": after("Cookie: sid=", some(24), "; theme=dark"),
    "set-cookie": after("Set-Cookie: sid=", some(24), "; Path=/"),
    "password-assigned": after("host=h pass" + "word=", "correct-horse", " port=1"),
    "pgpassword": after("PGPASS" + "WORD=", "correcthorse", " psql"),
    "id-token": after("id_token=", some(30)),
    "secret-key": after("SECRET_KEY=", some(50)),
}

CARRIERS = {
    "argument": lambda i, v: {"id": i, "method": "tools/call", "params": {"name": "t", "arguments": {"a": v}}},
    "text": lambda i, v: {"id": i, "result": {"content": [{"type": "text", "text": f"it is\n{v}\nindeed"}]}},
    "json-in-text": lambda i, v: {"id": i, "result": {"content": [
        {"type": "text", "text": json.dumps({"n": 1, "list": [{"x": v}]}, indent=2)}]}},
    "structured": lambda i, v: {"id": i, "result": {"content": [], "structuredContent": {"deep": [{"x": v}]}}},
    "error-message": lambda i, v: {"id": i, "error": {"code": -1, "message": f"refused: {v}"}},
    "error-data": lambda i, v: {"id": i, "error": {"code": -1, "message": "no", "data": {"detail": [v]}}},
    "log": lambda i, v: {"method": "notifications/message", "params": {"level": "info", "data": f"got {v}", "n": i}},
    "uri": lambda i, v: {"id": i, "method": "resources/read", "params": {
        "uri": "x://h/p?q=" + urllib.parse.quote(v, safe="") + "&z=1"}},
    "blob": lambda i, v: {"id": i, "result": {"contents": [{"uri": "file:///x", "blob": b64(f"# .env\n{v}\n")}]}},
    "data": lambda i, v: {"id": i, "result": {"content": [
        {"type": "image", "mimeType": "image/svg+xml", "data": b64(f"<svg>\n{v}\n</svg>")}]}},
}

NAMES = """password passwd secret client_secret private_key api_key apikey x-api-key access_token refresh_token
auth_token authorization db_password token id_token cookie set-cookie session_token accessToken clientSecret
privateKey apiKey API_KEY refreshToken authToken sessionToken Authorization X-Api-Key secret_key secretKey
aws_secret_access_key secretAccessKey passphrase credentials db_passwd userPassword webhook_secret
signing_secret bearer_token github_token csrf_token encryption_key jwt pwd""".split()


def message(content):
    return json.dumps({"jsonrpc": "2.0", **content})


def record(mcpreel, tmp_path, lines, errors=(), options=()):
    """The file of a session in which the server writes these lines; the client's are among them."""
    tmp_path.mkdir(exist_ok=True)
    server_output, err, out = tmp_path / "said", tmp_path / "err", tmp_path / "a.jsonl"
    server_output.write_text("".join(f"{line}\n" for line in lines))
    err.write_text("".join(f"{line}\n" for line in errors))
    subprocess.run([mcpreel, "record", *options, "-o", out, "--", "sh", "-c", 'cat "$1"; cat "$2" >&2', "sh", server_output, err],
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
    return [json.loads(line) for line in out.read_text().splitlines()]


def decoded(value):
    """All texts in a value, and what they hold in JSON, percent-encoding and base64."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from decoded(member)
            if name in ("blob", "data") and isinstance(member, str):
                try:
                    yield base64.b64decode(member, validate=True).decode()
                except ValueError:
                    pass
    elif isinstance(value, list):
        for member in value:
            yield from decoded(member)
    elif isinstance(value, str):
        yield value
        yield urllib.parse.unquote(value)
        if value.lstrip()[:1] in ("{", "["):
            try:
                yield from decoded(json.loads(value))
            except ValueError:
                pass


def messages(recorded):
    return [line for line in recorded if line["type"] == "message"]


CELLS = [(kind, carrier) for kind in KINDS for carrier in CARRIERS]


def unredacted_cells(recorded, secrets):
    """The indexes of the cells in which the secret still stands."""
    return [i for i, (line, secret) in enumerate(zip(recorded, secrets))
            if any(secret in text for text in decoded(line["msg"]))]


def test_no_credential_is_recorded_in_any_part_of_a_message(mcpreel, tmp_path):
    assert len(KINDS) >= 68 and len(CARRIERS) >= 9
    lines = [message(CARRIERS[carrier](i, KINDS[kind][0])) for i, (kind, carrier) in enumerate(CELLS)]
    secrets = [KINDS[kind][1] for kind, _ in CELLS]
    plain = messages(record(mcpreel, tmp_path / "plain", lines, options=["--no-redact-defaults"]))
    assert len(unredacted_cells(plain, secrets)) == len(CELLS)  # the search finds each of them
    recorded = messages(record(mcpreel, tmp_path / "clean", lines))
    assert len(recorded) == len(CELLS)
    assert [CELLS[i] for i in unredacted_cells(recorded, secrets)] == []
    assert all(line["redacted"] for line in recorded)


def test_no_credential_is_recorded_on_stderr(mcpreel, tmp_path):
    recorded = record(mcpreel, tmp_path, [], [f"got {text} there" for text, _ in KINDS.values()])
    text = "".join(line.get("text", "") for line in recorded if line["type"] == "stderr")
    assert text.count("got ") == len(KINDS)
    assert [kind for kind, (_, secret) in KINDS.items() if secret in text] == []


MEMBER_CARRIERS = {
    "argument": lambda i, v: {"id": i, "method": "tools/call", "params": {"name": "t", "arguments": {"a": [v]}}},
    "text": lambda i, v: {"id": i, "result": {"content": [{"type": "text", "text": json.dumps(v, indent=1)}]}},
    "text-of-python": lambda i, v: {"id": i, "result": {"content": [{"type": "text", "text": repr(v)}]}},
    "text-twice": lambda i, v: {"id": i, "result": {"content": [{"type": "text", "text": json.dumps(json.dumps(v))}]}},
    "structured": lambda i, v: {"id": i, "result": {"content": [], "structuredContent": v}},
    "meta": lambda i, v: {"id": i, "result": {"_meta": v}},
    "blob": lambda i, v: {"id": i, "result": {"contents": [{"uri": "x://y", "blob": b64(json.dumps(v))}]}},
}

# Letters only, and letters with what JSON escapes.
SIZES = {6: "hunter", 16: 'qwertz"uiop\\asdf', 40: some(40, LOWER)}


def test_values_of_secret_names_are_not_recorded(mcpreel, tmp_path):
    assert len(NAMES) >= 40
    cells = [(name, size, carrier) for name in NAMES for size in SIZES for carrier in MEMBER_CARRIERS]
    lines, secrets = [], []
    for i, (name, size, carrier) in enumerate(cells):
        lines.append(message(MEMBER_CARRIERS[carrier](i, {"before": "x", name: SIZES[size], "after": "y"})))
        secrets.append(SIZES[size])
    recorded = messages(record(mcpreel, tmp_path, lines))
    raw = [i for i, line in enumerate(recorded) if any(part in json.dumps(line["msg"]) for part in
                                                       (secrets[i], secrets[i][:6], secrets[i][-4:]))]
    assert len(recorded) == len(cells)
    assert [cells[i] for i in raw] == [] and [cells[i] for i in unredacted_cells(recorded, secrets)] == []
    structured_messages = [line["msg"] for (_, _, carrier), line in zip(cells, recorded) if carrier == "structured"]
    for line, name in zip(structured_messages, [n for n in NAMES for _ in SIZES]):
        assert line["result"]["structuredContent"] == {"before": "x", name: "[REDACTED:rule-1]", "after": "y"}


def test_lists_of_values_and_user_defined_names_are_redacted(mcpreel, run, tmp_path):
    own = [{"Customer-Ref": "Ann"}, {"customer_ref": "Ann"}, {"customerRef": "Ann"}, {"CUSTOMERREF": "Ann"},
           {"pin": "Ann"}, {"customer_ref": {"pin": "Ann"}}]
    lines = [message(MEMBER_CARRIERS[c](i, v)) for i, v in enumerate(own) for c in MEMBER_CARRIERS]
    lines.append(message({"id": 1, "result": {"headers": {"Set-Cookie": ["a=Ann", "b=Ann"]}, "n": ["Bob"]}}))
    recorded = messages(record(mcpreel, tmp_path, lines, options=["--redact-members", "customer_ref,p_i_n"]))
    assert [line["msg"] for line in recorded if any("Ann" in text for text in decoded(line["msg"]))] == []
    assert recorded[-1]["redacted"] == ["/result/headers/Set-Cookie/0", "/result/headers/Set-Cookie/1"]
    assert run([mcpreel, "check", "--secrets", tmp_path / "a.jsonl"]).code == 0
    assert recorded[-1]["msg"]["result"]["n"] == ["Bob"]


SCHEMA = {"type": "object", "required": ["password", "token"], "properties": {
    "password": {"type": "string", "description": "the password", "default": "hunter2", "examples": ["hunter2"]},
    "token": {"type": "string", "const": "abc"}}, "dependentRequired": {"password": ["token"]}}

UNTOUCHED = [
    {"id": "token", "method": "tools/list", "params": {"_meta": {"progressToken": "password=hunter2x"}}},
    {"id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {
        "max_tokens": 512, "tokens": "512", "token": 7, "secret": True, "password": None, "key": "value", "note": ""}}},
    {"id": 1, "result": {"tools": [{"name": "t", "inputSchema": SCHEMA, "outputSchema": SCHEMA}],
                         "nextCursor": '{"token":"abc"}'}},
    {"id": 1, "method": "elicitation/create", "params": {"message": "who?", "requestedSchema": SCHEMA}},
    {"method": "notifications/progress", "params": {"progressToken": "abc", "progress": 1}},
    {"id": 1, "result": {"pageToken": "abc", "nextPageToken": "abc", "next_token": "abc", "progressToken": "abc"}},
    {"id": 1, "result": {"content": [{"type": "text", "text": text} for text in (
        "a secretary and a tokenizer: tokenizer=fast", "token_count=512 max_tokens=1000", "compass: north",
        "def f(password=None, token=self.token): return get(password=password)", "if token == other:",
        "Password: required. Authorization: see below. Cookie: a small file.", "keyboard=qwertz monkey=banana7",
        '{"type":"password","tokens":12,"token_type":"bearer"}', "cookie_policy=strict", "eos_token=</s>")]}},
    {"id": 1, "result": {"content": [{"type": "image", "mimeType": "image/png", "data": b64("plain text")}]}},
    {"id": 1, "result": {"password": "", "token": "[REDACTED:NAME]", "secret": "********", "api_key": "${API_KEY}"}},
    {"id": 1, "result": {"a": "ends in a backslash\\", "b": "x", "c": 'say "token" to', "d": "z"}},
]


def test_text_that_resembles_a_secret_stays(mcpreel, tmp_path):
    lines = [message(content) for content in UNTOUCHED]
    recorded = messages(record(mcpreel, tmp_path, lines))
    assert [line["msg"] for line in recorded] == [json.loads(line) for line in lines]


def test_a_value_that_ends_with_a_backslash_is_redacted(mcpreel, tmp_path):
    line = message({"id": 1, "result": {"password": "a\\", "next": "value", "token": 'x"', "last": "z"}})
    recorded, = messages(record(mcpreel, tmp_path, [line]))
    assert recorded["msg"]["result"] == {"password": "[REDACTED:rule-1]", "next": "value",
                                         "token": "[REDACTED:rule-1]", "last": "z"}


@pytest.fixture
def blobs(mcpreel, tmp_path):
    values = {"text": b64("PASS" + "WORD=hunter2\n"), "plain": b64("nothing")}
    values["gzip"] = base64.b64encode(b"\x1f\x8b\x08\x00" + bytes(20)).decode()
    values["binary"] = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
    values["url-safe"] = base64.urlsafe_b64encode(("\u00ff\u00fe>>>??? pass" + "word=hunter2\n").encode()).decode().rstrip("=")
    values["lines"] = "\n".join([values["text"][:8], values["text"][8:]])
    values["blanks"] = f" {values['text'][:8]}\t {values['text'][8:]} "
    values["large"] = b64("x" * (17 << 20))
    lines = [message({"id": i, "result": {"contents": [{"uri": "x://y", "blob": v}]}}) for i, v in enumerate(values.values())]
    return values, messages(record(mcpreel, tmp_path, lines)), tmp_path / "a.jsonl"


def test_base64_with_a_secret_is_replaced_completely(blobs):
    values, recorded, _ = blobs
    for (kind, value), line in zip(values.items(), recorded):
        is_redacted = kind in ("text", "url-safe", "lines", "blanks")
        assert line["msg"]["result"]["contents"][0]["blob"] == ("[REDACTED:rule-1]" if is_redacted else value)
        assert line.get("redacted") == (["/result/contents/0/blob"] if is_redacted else None)


def test_check_lists_which_secrets_it_searched(blobs, mcpreel, run):
    _, _, out = blobs
    ran = run([mcpreel, "check", "--secrets", "--redact-members", "pin", out])
    assert ran.code == 0
    assert b": no secrets found\n" in ran.out
    assert b"not searched: 1 binary value, 1 compressed value, 1 value over 16 MiB in base64\n" in ran.out
    assert b"searched for: well-known credential formats, values named as secrets; members pin\n" in ran.out
    found = json.loads(run([mcpreel, "check", "--secrets", "--json", out]).out)
    assert found["files"][0]["not_searched"] == {"binary": 1, "compressed": 1, "too_large": 1}
    assert found["searched_for"] == {"defaults": True, "variables": [], "members": [], "patterns": 0}


def test_redacted_values_are_not_found_again(mcpreel, run, tmp_path):
    lines = [message(CARRIERS[carrier](i, KINDS[kind][0])) for i, (kind, carrier) in enumerate(CELLS)]
    record(mcpreel, tmp_path, lines, [text for text, _ in KINDS.values()])
    ran = run([mcpreel, "check", "--secrets", tmp_path / "a.jsonl"])
    assert ran.code == 0, ran.out[:2000]


def test_a_declared_value_is_replaced_completely_beside_a_name(mcpreel, tmp_path, monkeypatch):
    """Found only below an escape, it goes beyond the quote that ends the member's value."""
    monkeypatch.setenv("CANARY", 'ab"cd efgh')
    recorded = record(mcpreel, tmp_path, [], ['"token":"x%61b"cd efgh"'], options=["--redact-env", "CANARY"])
    text = "".join(line.get("text", "") for line in recorded if line["type"] == "stderr")
    assert "REDACTED" in text and "efgh" not in text

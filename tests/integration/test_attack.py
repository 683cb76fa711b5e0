"""convert to attack configurations: a simulator of their reader serves them and gives the recorded responses.

The four levels: the text is safe for the loader, the structure and the semantics are those of the specification, and the behaviour is the recorded one.

A test named ec_rec_NNN is for the edge case EC-REC-NNN of TJ-SPEC-010. EC-REC-009, passthrough, has none here: it is only about replay (tests/unit/test-cmd-replay.c).
"""
import json
import pathlib
import random

import pytest

from attack_server import AttackServer, OatfServer, check_config, check_oatf, documents
from generated import SESSIONS
from measure import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIMISED = ROOT / "build" / "mcpreel"
HOSTILE = ["", " ", "\n", "a\nb\n", "a\n\n", " a\nb ", "---", "---\na\n...\n", "- a\n- b", "a: b # c\nd: [", "yes", "on", "null", "~", "1e5", "0x1f", "2026-11-15",
           "${HOME}", "$${HOME}", "$$", "$$$${{a}", "a\n${b\nc", "{{a}}", "\x00", "\x1b[31mred\x1b[0m", "\r\n", "\u0085\u2028\u2029", "\ufeff", "\u202eevil\u202c", "😀\n😀",
           "\U0010ffff", "\ufffe", "é" * 600, "k" * 1500, "line\n" * 200, "x" * 20_000, "'\"\\", "%YAML 1.2\n---\n", "&a *b !!str c", "a\tb\n\tc", "# a\n# b", "|\n>"]
MARKER = "[INJECT YOUR PAYLOAD HERE]"


class Session:
    """Composes a recording, and remembers what was answered."""

    def __init__(self, listed=None):
        self.lines = []
        self.answers = []
        self.arguments = []
        self.open = []
        self.record({"type": "header", "version": "1.0", "recorded_at": "2026-11-15T21:00:00.000Z", "upstream": "python server.py ${HOME}\n", "thoughtjack_version": "0.3.0"})
        if listed is not None:
            self.ask("tools/list", {}, {"tools": listed})

    def record(self, line):
        self.lines.append(json.dumps(line))

    def message(self, direction, message):
        n = len(self.lines)
        self.record({"type": "message", "seq": n, "ts": f"2026-11-15T21:00:{n % 60:02}.000Z", "dir": direction, "msg": {"jsonrpc": "2.0", **message}})

    def ask(self, method, params, result=None, error=None, later=False):
        identifier = len(self.lines)
        self.message("c2s", {"id": identifier, "method": method, "params": params})
        response = {"id": identifier, **({"error": error} if error else {"result": result})}
        if later:
            self.open.append(response)
        else:
            self.message("s2c", response)

    def call(self, name, *texts, error=False, arguments=None, later=False):
        content = [{"type": "text", "text": text} for text in texts]
        self.ask("tools/call", {"name": name, "arguments": arguments or {}}, {"content": content, **({"isError": True} if error else {})}, later=later)
        self.answers.append((name, content))
        self.arguments.append(arguments or {})

    def answer_open(self):
        while self.open:
            self.message("s2c", self.open.pop())

    def save(self, path):
        self.answer_open()
        path.write_text("\n".join(self.lines) + "\n")
        return path


def tool(name, **more):
    return {"name": name, "description": "does " + name, "inputSchema": {"type": "object"}, **more}


@pytest.fixture
def convert(run, mcpreel, tmp_path):
    """Converts a session; returns the text and what was printed."""
    def convert(session, *options, out="attack.yaml"):
        source = session if isinstance(session, type(tmp_path)) else session.save(tmp_path / "session.jsonl")
        ran = run([mcpreel, "convert", "-r", source, "-o", tmp_path / out, "--force", *options])
        assert ran.code == 0, str(ran)
        return (tmp_path / out).read_text(), ran.err.decode()
    return convert


@pytest.fixture
def load_oatf(recorder_peer):
    def load(*texts):
        loaded = documents(recorder_peer / "bin/python", texts)
        for document in loaded:
            check_oatf(document)
        return loaded
    return load


@pytest.fixture
def load(recorder_peer):
    def load(*texts):
        configs = documents(recorder_peer / "bin/python", texts)
        for config in configs:
            check_config(config)
        return configs
    return load


def random_session(seed):
    """Calls of several tools, with texts and arguments of a hostile server."""
    dice = random.Random(seed)
    names = ["read_file", "on", "a b", "é\n${X}", "k" * 1200][:dice.randint(1, 5)]
    properties = {key or "empty": {"description": text} for key, text in zip(dice.sample(HOSTILE, 5), dice.sample(HOSTILE, 5))}
    session = Session([tool(name, inputSchema={"type": "object", "properties": properties}) for name in names if dice.random() < 0.8] if dice.random() < 0.8 else None)
    for _ in range(dice.randint(0, 12)):
        texts = [dice.choice(HOSTILE) for _ in range(dice.randint(1, 3))]
        session.call(dice.choice(names), *texts, error=dice.random() < 0.2, arguments={"a": dice.choice(HOSTILE)}, later=dice.random() < 0.4)
        if dice.random() < 0.5:
            session.answer_open()
    return session


@pytest.mark.generated
def test_each_recorded_answer_comes_byte_for_byte(convert, load):
    sessions = [random_session(seed) for seed in range(SESSIONS)]
    simple = load(*[convert(session)[0] for session in sessions])
    for session, config in zip(sessions, simple):
        server = AttackServer(config)
        for name, content in session.answers:
            assert server.call(name)["content"] == content
        for name, content in dict(session.answers).items():
            assert server.call(name)["content"] == content, "the last one is repeated"


@pytest.mark.parametrize("style", ["simple", "phased"])
def test_an_empty_answer_is_served_as_an_empty_text(convert, load, style):
    """TJ-SPEC-001 wants an item. It is the only difference, and there is a warning."""
    session = Session([tool("a"), tool("b"), tool("c")])
    for name, texts in ("a", ()), ("b", ()), ("b", ("x",)), ("b", ()), ("c", ()), ("c", ()):
        session.call(name, *texts)
    session.ask("resources/read", {"uri": "file:///a"}, {"contents": []})
    session.ask("prompts/get", {"name": "p"}, {"messages": []})
    text, printed = convert(session, "--style", style, *(["--phase-after", "6"] if style == "phased" else []))
    config, = load(text)
    server, empty = AttackServer(config), {"type": "text", "text": ""}
    for name, content in session.answers:
        assert server.call(name) == {"content": content or [empty]}
    assert server.read("file:///a") == {"contents": []}
    assert server.get("p") == {"messages": [{"role": "user", "content": empty}]}
    assert "warning: responses without content became an empty text: the format needs an item (" in printed
    assert "no response recorded" not in text


@pytest.mark.parametrize("style", ["simple", "phased"])
def test_oatf_gives_an_empty_answer_as_it_was(convert, load_oatf, style):
    session = Session([tool("a"), tool("b")])
    for name, texts, arguments in ("a", (), {}), ("b", (), {"n": 1}), ("b", ("x",), {"n": 2}), ("b", (), {"n": 1}):
        session.call(name, *texts, arguments=arguments)
    session.ask("resources/read", {"uri": "file:///a"}, {"contents": []})
    text, printed = convert(session, "--to", "oatf", "--style", style, *(["--phase-after", "4"] if style == "phased" else []))
    document, = load_oatf(text)
    server = OatfServer(document)
    state = server.phases[0]["state"]
    for (name, content), arguments in zip(session.answers, session.arguments):
        assert server.call(name, arguments) == {"content": content}
    assert state["resources"][0]["responses"] == [{"contents": []}]
    assert "without content" not in printed


def test_both_parsers_of_pyyaml_read_the_same(convert, recorder_peer):
    session = Session([tool("a")])
    for text in HOSTILE:
        session.call("a", text)
    text, _ = convert(session)
    assert documents(recorder_peer / "bin/python", [text]) == documents(recorder_peer / "bin/python", [text], "--pure")


@pytest.mark.generated
def test_the_phased_style_is_benign_first(convert, load):
    sessions = [random_session(seed) for seed in range(1000, 1000 + SESSIONS)]
    configs = load(*[convert(session, "--style", "phased", "--phase-after", "4")[0] for session in sessions])
    for session, config in zip(sessions, configs):
        server = AttackServer(config)
        for name, content in session.answers[:4]:
            assert server.phase_name() == "benign"
            assert server.call(name)["content"] == content
        for name, content in session.answers[4:]:
            assert server.phase_name() == "attack"
            first = next(c for n, c in session.answers[4:] if n == name)
            attack = server.call(name)["content"]
            assert attack[-1]["text"] == first[-1]["text"] + f"\n\n{MARKER}\n" and attack[:-1] == first[:-1]
        assert json.dumps(config["baseline"]).find(MARKER) < 0


def test_the_attack_begins_after_three_calls_by_default(convert, load):
    session = Session([tool("a")])
    for n in range(5):
        session.call("a", str(n))
    config, = load(convert(session, "--style", "phased", out="attack.yml")[0])
    server = AttackServer(config)
    assert [MARKER in server.call("a")["content"][0]["text"] for _ in range(5)] == [False] * 3 + [True] * 2


def test_the_text_is_stable_and_names_its_origin(convert):
    session = random_session(7)
    first, _ = convert(session)
    assert first == convert(session)[0]
    head = first.split("\nserver:")[0]
    assert "# Generated by mcpreel from session.jsonl\n" in head
    assert "# Recorded: 2026-11-15T21:00:00.000Z\n" in head
    assert "# Upstream: python server.py $ {HOME}\\n\n" in head


def test_resources_and_prompts_are_served(convert, load):
    session = Session([])
    session.ask("resources/list", {}, {"resources": [{"uri": "file:///a", "name": "a", "mimeType": "text/plain"}], "nextCursor": "2"})
    session.ask("resources/list", {"cursor": "2"}, {"resources": [{"uri": "file:///b", "name": "b"}]})
    session.ask("prompts/list", {}, {"prompts": [{"name": "p", "arguments": [{"name": "x", "required": True}]}]})
    for text in HOSTILE:
        session.ask("resources/read", {"uri": "file:///a"}, {"contents": [{"uri": "file:///a", "mimeType": "text/plain", "text": text}]})
        session.ask("prompts/get", {"name": "p"}, {"messages": [{"role": "assistant", "content": {"type": "text", "text": text}}]})
    config, = load(convert(session)[0])
    server = AttackServer(config)
    for text in HOSTILE:
        assert server.read("file:///a") == {"contents": [{"uri": "file:///a", "mimeType": "text/plain", "text": text}]}
        assert server.get("p") == {"messages": [{"role": "assistant", "content": {"type": "text", "text": text}}]}
    assert [item["resource"]["uri"] for item in config["resources"]] == ["file:///a", "file:///b"]
    assert config["prompts"][0]["prompt"] == {"name": "p", "arguments": [{"name": "x", "required": True}]}


def test_ec_rec_001_an_empty_recording_gives_a_minimal_configuration(convert, load):
    simple, _ = convert(Session())
    phased, _ = convert(Session(), "--style", "phased")
    assert load(simple)[0] == {"server": {"name": "replay-session", "version": "1.0.0"}, "tools": []}
    config, = load(phased)
    assert config["baseline"]["tools"] == [] and config["phases"] == []


def test_ec_rec_002_the_rest_of_a_torn_recording_is_converted(convert, load, tmp_path):
    session = Session([tool("a")])
    session.call("a", "first")
    session.call("a", "second")
    text = "\n".join(session.lines)
    (tmp_path / "torn.jsonl").write_text(text[:-20])
    config, = load(convert(tmp_path / "torn.jsonl")[0])
    assert AttackServer(config).call("a")["content"] == [{"type": "text", "text": "first"}]
    assert "sequence" not in config["tools"][0]["response"]


def test_ec_rec_003_equal_ids_are_answered_in_their_order(convert, load):
    session = Session([tool("a")])
    for text in "one", "two":
        session.message("c2s", {"id": 5, "method": "tools/call", "params": {"name": "a"}})
        session.message("s2c", {"id": 5, "result": {"content": [{"type": "text", "text": text}]}})
    server = AttackServer(load(convert(session)[0])[0])
    assert [server.call("a")["content"][0]["text"] for _ in range(3)] == ["one", "two", "two"]


def test_ec_rec_004_responses_are_in_the_order_of_the_calls(convert, load):
    session = Session([tool("a")])
    for n in range(4):
        session.call("a", str(n), later=True)
    server = AttackServer(load(convert(session)[0])[0])
    assert [server.call("a")["content"][0]["text"] for _ in range(4)] == ["0", "1", "2", "3"]


def test_ec_rec_005_a_notification_is_no_call_and_needs_no_response(convert, load):
    """Between a request and its response, as the last message, and with the method of a call."""
    def session(*notifications):
        session = Session([tool("a")])
        session.message("c2s", {"id": 5, "method": "tools/call", "params": {"name": "a"}})
        for direction, notification in notifications:
            session.message(direction, notification)
        session.message("s2c", {"id": 5, "result": {"content": [{"type": "text", "text": "one"}]}})
        session.call("a", "two")
        for direction, notification in notifications:
            session.message(direction, notification)
        return session

    notifications = [("c2s", {"method": "notifications/initialized"}), ("c2s", {"method": "notifications/cancelled", "params": {"requestId": 99}}),
                     ("s2c", {"method": "notifications/message", "params": {"level": "info", "data": "x"}}), ("c2s", {"method": "tools/call", "params": {"name": "a"}})]
    for options in (), ("--style", "phased", "--phase-after", "1"), ("--to", "oatf"):
        assert convert(session(*notifications), *options)[0] == convert(session(), *options)[0]
    server = AttackServer(load(convert(session(*notifications))[0])[0])
    assert [server.call("a")["content"][0]["text"] for _ in range(3)] == ["one", "two", "two"]


def test_ec_rec_006_binary_content_is_exact(convert, load):
    image = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" + "A" * 4000}
    blob = {"uri": "file:///a", "mimeType": "image/png", "blob": "AAEC/w=="}
    session = Session([tool("a")])
    session.ask("tools/call", {"name": "a"}, {"content": [image, {"type": "resource", "resource": blob}]})
    session.ask("resources/read", {"uri": "file:///a"}, {"contents": [blob]})
    server = AttackServer(load(convert(session)[0])[0])
    assert server.call("a")["content"] == [image, {"type": "resource", "resource": blob}]
    assert server.read("file:///a")["contents"] == [blob]


@pytest.mark.parametrize("options", [["--to", "thoughtjack"], ["--to", "oatf"], ["--to", "thoughtjack", "--style", "phased"]])
def test_ec_rec_007_a_very_large_recording_takes_little_memory(tmp_path, options):
    """Only those of 100 MB that are written stay in memory. More than a file may have is an error, before it is all in memory."""
    session = Session([tool("a")])
    session.call("a", "one")
    path, target = session.save(tmp_path / "a.jsonl"), tmp_path / "a.yaml"
    with path.open("a") as file:
        line = json.dumps({"type": "message", "seq": 9, "ts": "2026-11-15T21:01:00.000Z", "dir": "s2c", "msg": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 10_000}}})
        file.writelines(line + "\n" for _ in range(10_000))
    rss, _, _ = measured(OPTIMISED, "-q", "convert", path, "-o", target, *options)
    assert rss < 16 * 1024 and "one" in target.read_text()
    target.unlink()
    with path.open("w") as file:
        for n in range(250):
            call = Session()
            call.call("a", "x" * 1_000_000)
            file.write("\n".join(call.lines[n > 0:]) + "\n")
    rss, _, _ = measured(OPTIMISED, "-q", "convert", path, "-o", target, *options, code=3)
    assert rss < 128 * 1024 and not target.exists()


def test_ec_rec_008_another_version_is_an_error(run, mcpreel, tmp_path):
    (tmp_path / "a.jsonl").write_text(Session().lines[0].replace('"1.0"', '"2.0"') + "\n")
    ran = run([mcpreel, "convert", tmp_path / "a.jsonl", "-o", tmp_path / "a.yaml"])
    assert ran.code == 3 and b"version 2.0" in ran.err
    assert not (tmp_path / "a.yaml").exists()


def test_ec_rec_010_tools_are_inferred_from_their_calls(convert, load):
    session = Session()
    session.call("a", "one", arguments={"path": "x"})
    session.call("a", "two", arguments={"path": "y", "depth": 1})
    session.call("b", "three")
    text, printed = convert(session)
    config, = load(text)
    assert "warning: tools that are in no tools/list were inferred from their calls" in printed
    assert "# in no list; inferred from requests" in text
    assert config["tools"][0]["tool"]["inputSchema"] == {"type": "object", "properties": {"path": {}, "depth": {}}}
    server = AttackServer(config)
    assert [server.call(name)["content"][0]["text"] for name in "aab"] == ["one", "two", "three"]


def test_ec_rec_011_a_missing_footer_does_not_matter(convert, load):
    session = Session([tool("a")])
    with_footer = Session([tool("a")])
    with_footer.record({"type": "footer", "total_messages": 2, "duration_ms": 1, "client_messages": 1, "server_messages": 1})
    assert convert(session)[0] == convert(with_footer)[0]


def test_ec_rec_012_of_two_calls_that_match_equally_the_first_is_used(convert, load_oatf):
    """Only OATF compares arguments. In a ThoughtJack file no response is left out because its call is similar."""
    for first, second in (({"x": 1}, {"y": 2}), ({"y": 2}, {"x": 1})):
        session = Session([tool("a")])
        session.call("a", "first", arguments=first)
        session.call("a", "second", arguments=second)
        session.call("a", "last", arguments={"z": 3})
        document, = load_oatf(convert(session, "--to", "oatf")[0])
        server = OatfServer(document)
        answers = [server.call("a", arguments)["content"][0]["text"] for arguments in ({"x": 1, "y": 2}, first, second, {"x": 7})]
        assert answers == ["first", "first", "second", "last"]
        assert [text in convert(session)[0] for text in ("first", "second", "last")] == [True] * 3


@pytest.mark.parametrize("options, out", [(["-o", "a.txt", "--style", "simple"], "a.txt"), (["-o", "a.yaml"], "a.yaml"), (["-o", "a.txt", "--to", "thoughtjack"], "a.txt")])
def test_a_name_or_a_style_means_an_attack_configuration(run, mcpreel, tmp_path, options, out):
    source = Session().save(tmp_path / "s.jsonl")
    ran = run([mcpreel, "convert", source, *options], cwd=tmp_path)
    assert ran.code == 0 and (tmp_path / out).read_text().startswith("# Generated by mcpreel")


def test_a_style_does_not_change_the_meaning_of_other_names(run, mcpreel, tmp_path):
    source = Session().save(tmp_path / "s.jsonl")
    ran = run([mcpreel, "convert", source, "-o", tmp_path / "a.json", "--style", "phased"])
    assert ran.code == 2 and b"'--style' only goes with the formats" in ran.err
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("after", ["0", "-1", "x", "3.5"])
def test_the_number_of_benign_calls_is_positive(run, mcpreel, tmp_path, after):
    source = Session().save(tmp_path / "s.jsonl")
    assert run([mcpreel, "convert", source, "-o", tmp_path / "a.yaml", "--style", "phased", f"--phase-after={after}"]).code == 2
    assert not (tmp_path / "a.yaml").exists()


def test_a_useless_number_of_calls_is_a_warning(convert):
    session = Session([tool("a")])
    session.call("a", "x")
    assert "the attack begins after 3 tool calls, but the recording has 1" in convert(session, "--style", "phased")[1]
    assert "--phase-after only goes with --style phased" in convert(session, "--phase-after", "2")[1]


def test_a_rejected_conversion_warns_of_nothing(run, mcpreel, tmp_path):
    session = Session()
    session.call("a", "x")
    ran = run([mcpreel, "convert", "--lossless", session.save(tmp_path / "s.jsonl"), "-o", tmp_path / "a.yaml"])
    assert ran.code == 1 and b"inferred" not in ran.err
    assert not (tmp_path / "a.yaml").exists()


@pytest.mark.parametrize("style", ["simple", "phased"])
@pytest.mark.parametrize("schema,why", [
    ({"type": "nonsense"}, "$.type is not one of"),
    ({"required": "a"}, "$.required must be an array"),
    ({"properties": []}, "$.properties must be an object"),
    ({"minProperties": -1}, "$.minProperties must be at least 0"),
    ({"properties": {"n": {"exclusiveMinimum": True}}}, "$.properties.n.exclusiveMinimum must be a number"),
])
def test_an_invalid_schema_is_replaced_with_a_warning(convert, load, schema, why, style):
    session = Session([tool("bad", inputSchema=schema), tool("good", inputSchema={"type": "object", "required": ["a"]})])
    session.call("bad", "x")
    text, printed = convert(session, "--style", style)
    config, = load(text)
    assert [item["tool"]["inputSchema"] for item in config.get("baseline", config)["tools"]] == \
        [{"type": "object"}, {"type": "object", "required": ["a"]}]
    assert printed.count("the input schema of the tool 'bad' is no valid JSON Schema: " + why) == 1
    assert "# the recorded schema is not valid: " + why in text and "'good'" not in printed


@pytest.mark.parametrize("schema", [
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"n": {"minimum": 0, "exclusiveMinimum": True}}},
    {"$schema": "https://example.com/own", "type": "date"},
])
def test_a_schema_of_another_dialect_stays(convert, load, schema):
    session = Session([tool("a", inputSchema=schema)])
    session.call("a", "x")
    text, printed = convert(session)
    config, = load(text)
    assert [item["tool"]["inputSchema"] for item in config["tools"]] == [schema]
    assert "no valid JSON Schema" not in printed


def test_limits_of_the_reader_are_warnings(convert):
    deep = {}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    printed = convert(Session([tool(f"t{n}") for n in range(1001)] + [tool("deep", inputSchema=deep)]))[1]
    assert "at most 1000 tools, the file has 1002" in printed
    assert "at most 64 levels" in printed
    session = Session([tool("a")])
    for n in range(11):
        session.call("a", str(n) + "x" * 1_000_000)
    assert "at most 10 MB" in convert(session)[1]


@pytest.mark.generated
def test_oatf_gives_each_recorded_answer(convert, load_oatf):
    sessions = [random_session(seed) for seed in range(2000, 2000 + SESSIONS)]
    loaded = load_oatf(*[convert(session, out="attack.oatf.yaml")[0] for session in sessions])
    for session, document in zip(sessions, loaded):
        server = OatfServer(document)
        for (name, content), arguments in zip(session.answers, session.arguments):
            assert server.call(name, arguments)["content"] == content


@pytest.mark.generated
def test_oatf_in_phases_is_benign_first(convert, load_oatf):
    sessions = [random_session(seed) for seed in range(3000, 3000 + SESSIONS)]
    loaded = load_oatf(*[convert(session, "--style", "phased", "--to", "oatf")[0] for session in sessions])
    for session, document in zip(sessions, loaded):
        server = OatfServer(document)
        for (name, content), arguments in zip(session.answers[:3], session.arguments):
            assert server.call(name, arguments)["content"] == content
        for name, _ in session.answers[3:]:
            first = next(c for n, c in session.answers[3:] if n == name)
            assert server.call(name, {})["content"][-1]["text"] == first[-1]["text"] + f"\n\n{MARKER}\n"


def test_oatf_keeps_results_and_definitions(convert, load_oatf):
    definition = tool("a", title="A", outputSchema={"type": "object"}, annotations={"readOnlyHint": True}, responses=[1])
    result = {"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AA=="}, {"type": "text", "text": "{{x}}", "generate": {"kind": "nested_json"}}],
              "structuredContent": {"n": 1.5}, "_meta": {"a": "b"}, "when": {}, "synthesize": {}}
    session = Session([definition])
    session.ask("initialize", {}, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}, "instructions": "use {{ it"})
    session.ask("tools/call", {"name": "a"}, result)
    session.ask("resources/read", {"uri": "file:///a"}, error={"code": -32002, "message": "gone"})
    session.ask("resources/templates/list", {}, {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "t"}]})
    document, = load_oatf(convert(session, out="a.oatf.yaml")[0])
    state = document["attack"]["execution"]["state"]
    assert state["protocol_version"] == "2025-11-25" and state["server_info"] == {"name": "s", "version": "1"}
    assert state["instructions"] == "use \\{{ it"
    assert state["resource_templates"] == [{"uriTemplate": "file:///{x}", "name": "t"}]
    assert state["resources"][0]["responses"] == [{"contents": [{"uri": "file:///a", "text": "gone"}]}]
    served = {k: v for k, v in state["tools"][0].items() if k != "responses"}
    assert served == {k: v for k, v in definition.items() if k != "responses"}
    del result["when"], result["synthesize"], result["content"][1]["generate"]
    assert OatfServer(document).call("a", {}) == result


def test_oatf_prefers_the_most_specific_arguments(convert, load_oatf):
    session = Session([tool("a")])
    asked = [{}, {"x": 1}, {"x": 1, "y": [2]}, {"y": [2], "x": 1}, {"x": 2}, {"z.z": 1}, {"x": {"gt": 1}}]
    for n, arguments in enumerate(asked[:3]):
        session.call("a", str(n), arguments=arguments)
    session.call("a", "2", arguments=asked[3])
    for n, arguments in enumerate(asked[4:]):
        session.call("a", str(n), arguments=arguments)
    document, = load_oatf(convert(session, out="a.oatf.yaml")[0])
    server = OatfServer(document)
    assert [server.call("a", arguments)["content"][0]["text"] for arguments in asked] == ["0", "1", "2", "2", "0", "1", "2"]

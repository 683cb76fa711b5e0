"""The pytest plugin: each test here runs a pytest of its own on a small test file."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import time

import pytest

HTTP = """
@pytest.mark.mcp(SERVER)
def test_city(mcp_server):
    assert "Lisbon" in str(weather(mcp_server.url, "Lisbon"))
"""
STDIO = """
@pytest.mark.mcp(SERVER)
def test_city(mcp_server):
    assert "Lisbon" in str(weather_on_stdio(mcp_server.command, "Lisbon"))
"""
GONE = ("SERVER = [os.environ", "SERVER = ['false'] or [os.environ")  # a server that exits at once
OSLO = ('"Lisbon")', '"Oslo")')


def with_other(folder, before, after):
    path = folder / "test_it.py"
    path.write_text(path.read_text().replace(before, after))


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_the_first_run_records_and_the_second_needs_no_server(tests, source):
    t = tests(source)
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text
    assert t.files("recordings/**/*") == ["recordings/test_it/test_city.jsonl"]
    assert "calls: 1 recorded" in text
    with_other(t.folder, *GONE)
    code, found, text = t.run(CI="true")
    assert (code, found) == (0, {"passed": 1}), text
    assert "calls: 1 replayed" in text


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_an_unmatched_call_fails_the_test_and_names_the_nearest_one(tests, source):
    t = tests(source)
    t.run()
    before = (t.folder / "recordings/test_it/test_city.jsonl").read_bytes()
    with_other(t.folder, "in str(", "in 'Lisbon' + str(")  # the test itself does not see the error
    with_other(t.folder, *OSLO)
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert 'differs at $.params.arguments.city: recorded "Lisbon", got "Oslo"' in text
    assert "--mcp-mode=rewrite 'test_it.py::test_city'" in text
    assert "If a value varies: @pytest.mark.mcp(ignore=" in text
    assert "If a call may be repeated" not in text
    assert (t.folder / "recordings/test_it/test_city.jsonl").read_bytes() == before
    assert t.files("mcp-traces/*") == ["mcp-traces/test_it.py-test_city.jsonl"]
    assert "\nmcpreel show mcp-traces/test_it.py-test_city.jsonl\n" in text


def test_a_call_that_is_used_up_gets_advice_of_its_own(tests):
    t = tests("""
@pytest.mark.mcp(SERVER, options=["--on-exhausted", "error"])
def test_city(mcp_server):
    async def go():
        async with McpClient(mcp_server.url) as client:
            await client.initialize()
            for city in ["Lisbon"]:
                await client.call_tool("weather", {"city": city})
    asyncio.run(go())
""")
    t.run()
    with_other(t.folder, '["Lisbon"]', '["Lisbon", "Lisbon"]')
    _, _, text = t.run()
    assert 'If a call may be repeated: @pytest.mark.mcp(options=["--on-exhausted", "last"])' in text
    assert "If a value varies" not in text
    with_other(t.folder, "error", "last")
    assert t.run(CI="true")[1] == {"passed": 1}


def test_append_adds_a_call_only_if_the_test_passed(tests):
    t = tests(HTTP)
    t.run()
    path = t.folder / "recordings/test_it/test_city.jsonl"
    before = path.read_bytes()
    with_other(t.folder, *OSLO)
    assert t.run("--mcp-mode=append")[1] == {"failed": 1}  # it still wants Lisbon
    assert path.read_bytes() == before
    with_other(t.folder, '"Lisbon" in', '"Oslo" in')
    code, found, text = t.run("--mcp-mode=append")
    assert (code, found) == (0, {"passed": 1}), text
    assert "1 appended" in text
    assert b"Lisbon" in path.read_bytes()
    assert b"Oslo" in path.read_bytes()


def test_rewrite_replaces_the_recording(tests):
    t = tests(HTTP)
    t.run()
    with_other(t.folder, "Lisbon", "Oslo")
    code, found, text = t.run("--mcp-mode=rewrite")
    assert (code, found) == (0, {"passed": 1}), text
    recorded = (t.folder / "recordings/test_it/test_city.jsonl").read_text()
    assert "Oslo" in recorded
    assert "Lisbon" not in recorded


def test_only_the_owner_can_read_a_new_recording_and_an_old_one_keeps_its_mode(tests):
    t = tests(HTTP)
    t.run()
    recording = t.folder / t.files("recordings/**/*.jsonl")[0]
    assert recording.stat().st_mode & 0o777 == 0o600
    recording.chmod(0o644)
    assert t.run("--mcp-mode=rewrite")[1] == {"passed": 1}
    assert recording.stat().st_mode & 0o777 == 0o644


def test_a_recording_that_does_not_fit_on_the_disk_leaves_the_old_one_and_no_other_file(tests):
    t = tests(HTTP)
    t.run()
    (recording,) = t.files("recordings/**/*")
    before = (t.folder / recording).read_bytes()
    with_other(t.folder, '"Lisbon"))\n', """"Lisbon"))
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))  # of this process; mcpreel runs already
""")
    code, found, text = t.run("--mcp-mode=rewrite")
    assert (code, found) == (1, {"passed": 1, "error": 1}), text
    assert "\nmcpreel: no recording can be written to" in text
    assert "File too large" in text
    assert {*t.files("recordings/**/*"), *t.files("recordings/**/.*")} == {recording}
    assert (t.folder / recording).read_bytes() == before


def test_a_folder_of_recordings_that_is_a_file_at_the_end_is_named(tests):
    t = tests(HTTP + """
    mcp_server.recording.parent.rmdir()
    mcp_server.recording.parent.write_text("")
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"passed": 1, "error": 1}), text
    assert f"\nmcpreel: no recording can be written to {t.folder}/recordings/test_it: " in text


def test_in_ci_a_missing_recording_is_an_error_that_says_how_to_record(tests):
    code, found, text = tests(HTTP).run(CI="true")
    assert (code, found) == (1, {"error": 1}), text
    assert "there is no recording" in text
    assert "pytest --mcp-mode=once 'test_it.py::test_city'" in text


def test_verify_finds_a_change_of_the_server(tests):
    t = tests("""
@pytest.mark.mcp(SERVER)
def test_divide(mcp_server):
    async def go():
        async with McpClient(mcp_server.url) as client:
            await client.initialize()
            return await client.call_tool("divide", {"a": 1, "b": 0})
    assert "isError" in str(asyncio.run(go()))
""")
    assert t.run()[1] == {"passed": 1}
    assert t.run("--mcp-mode=verify")[1] == {"passed": 1}
    with_other(t.folder, '"demo", "server"]', '"demo", "server", "--changed"]')
    code, found, text = t.run("--mcp-mode=verify")
    assert (code, found) == (1, {"error": 1}), text
    assert "division by zero" in text


def test_a_test_can_ask_for_the_calls(tests):
    t = tests("""
@pytest.mark.mcp(SERVER)
def test_calls(mcp_server):
    weather_on_stdio(mcp_server.command, "Lisbon")
    assert [(c.tool, c.arguments, c.error) for c in mcp_server.calls] == [("weather", {"city": "Lisbon"}, False)]
    mcp_server.assert_called("weather", city="Lisbon")
    mcp_server.assert_called("w*")
    mcp_server.assert_not_called("div*")
    mcp_server.assert_not_called("weathe?")
    mcp_server.assert_not_called("[w]eather")
    with pytest.raises(AssertionError, match="no call of weather.*Oslo"):
        mcp_server.assert_called("weather", city="Oslo")
    with pytest.raises(AssertionError, match="was called"):
        mcp_server.assert_not_called("weather")
""")
    assert t.run()[1] == {"passed": 1}


def test_ids_of_parametrized_tests_become_file_names(tests):
    t = tests("""
@pytest.mark.parametrize("city", ["Lisbon", "../Lisbon/x", "Lisbon" * 40])
@pytest.mark.mcp(SERVER)
def test_city(mcp_server, city):
    assert "result" in weather(mcp_server.url, city)
""")
    assert t.run()[1] == {"passed": 3}
    names = t.files("recordings/test_it/*")
    assert len(names) == 3
    assert all(len(name.split("/")[-1]) < 130 for name in names)
    assert t.run(CI="true")[1] == {"passed": 3}


def test_a_mark_can_let_values_differ(tests):
    t = tests(HTTP.replace("(SERVER)", '(SERVER, ignore=["$.params.arguments.city"])'))
    t.run()
    with_other(t.folder, *OSLO)
    assert t.run(CI="true")[1] == {"passed": 1}


def test_a_suite_makes_a_test_of_each_recorded_call(tests, recording):
    t = tests("""
test_same = mcp_suite("demo.jsonl", server=SERVER)
test_changed = mcp_suite("demo.jsonl", server=[*SERVER, "--changed"])
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 17}), text
    assert "tools/call divide" in text
    assert '- "cannot divide 1 by zero"  recorded' in text
    assert '+ "division by zero"  live' in text


def test_the_names_that_pytest_shows_select_a_test_of_a_suite(tests, recording):
    t = tests('test_same = mcp_suite("demo.jsonl", server=SERVER)')
    _, _, text = t.run("-vv")  # beside -q: as -v
    shown = re.search(r"^(test_it\.py::test_same::demo\.jsonl:\d+ tools/list) PASSED", text, re.M)
    assert shown, text
    assert t.run(shown[1])[1] == {"passed": 1}


def test_a_suite_without_recordings_is_an_error(tests):
    code, _, text = tests('test_all = mcp_suite("none/*.jsonl", server=SERVER)').run()
    assert code == 2
    assert "no recording matches" in text


def test_a_file_of_a_suite_that_cannot_be_read_is_one_failed_test(tests, recording):
    t = tests('test_all = mcp_suite("*.jsonl", server=SERVER)')
    (t.folder / "broken.jsonl").write_text("{}")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 9}), text
    assert "broken.jsonl" in text


def test_workers_of_xdist_have_recordings_of_their_own(tests):
    t = tests("""
@pytest.mark.parametrize("city", ["Lisbon", "Oslo", "Rome", "Paris", "Bern", "Wien"])
@pytest.mark.mcp(SERVER)
def test_city(mcp_server, city):
    assert city in str(weather(mcp_server.url, city))
""")
    _, found, text = t.run("-n", "2")
    assert found == {"passed": 6}
    assert "calls: 6 recorded" in text
    assert t.run("-n", "2", CI="true")[1] == {"passed": 6}


def test_collecting_starts_no_server(tests):
    t = tests(HTTP.replace("(SERVER)", '(["touch", "started"])'))
    assert t.run("--collect-only")[0] == 0
    assert not (t.folder / "started").exists()


KILLED = """
import threading

@pytest.mark.parametrize("kind", ["http", "stdio"])
@pytest.mark.mcp(SERVER)
def test_city(mcp_server, kind):
    if kind == "stdio":
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather"}}) + chr(10)
        p = subprocess.Popen(mcp_server.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        p.stdin.write(text)
        p.stdin.flush()
        p.stdout.readline()
    else:
        weather(mcp_server.url, "Lisbon")
    END
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(3)"], ids=["killed", "exit"])
@pytest.mark.parametrize("kind", ["http", "stdio"])
def test_nothing_stays_of_a_pytest_that_does_not_end_its_tests(tests, tmp_path, kind, end):
    t = tests(KILLED.replace("END", end))
    (tmp_path / "tmp").mkdir()
    code, found, text = t.run("--mcp-mode=rewrite", "-k", kind, TMPDIR=str(tmp_path / "tmp"))
    assert (code, found) in [(-9, {}), (3, {})], text
    expect_nothing_in(tmp_path / "tmp")
    assert t.files("recordings/**/*") == []


def test_nothing_stays_of_a_worker_that_crashed(tests, tmp_path):
    t = tests(KILLED.replace("END", "os.kill(os.getpid(), 11)"))
    (tmp_path / "tmp").mkdir()
    code, found, text = t.run("-n", "1", "--mcp-mode=rewrite", TMPDIR=str(tmp_path / "tmp"))
    assert (code, found) == (1, {"failed": 2}), text
    expect_nothing_in(tmp_path / "tmp")


FORK = """
    import time
    child = os.fork()
    if child == 0:
        os.close(1)
        os.close(2)
        end = time.monotonic() + 120
        while os.path.exists("alive") and time.monotonic() < end:
            time.sleep(0.05)
        os._exit(0)
    with open("child", "w") as file:
        file.write(str(child))
    os.kill(os.getpid(), 9)
"""


def test_a_child_that_was_forked_keeps_nothing_of_a_killed_pytest(tests, tmp_path):
    t = tests(KILLED.replace("    END\n", FORK))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "alive").touch()
    # Other descriptors of its output would keep run() waiting for the child.
    code, found, text = t.run("-s", "-p", "no:faulthandler", "--mcp-mode=rewrite", "-k", "http", TMPDIR=str(tmp_path / "tmp"))
    assert (code, found) == (-9, {}), text
    try:
        expect_nothing_in(tmp_path / "tmp")
        child = (tmp_path / "child").read_text()
        assert pathlib.Path(f"/proc/{child}/cmdline").read_bytes(), "the child has ended"
    finally:
        (tmp_path / "alive").unlink()


def expect_nothing_in(folder):
    """No process uses the folder any more, and no file of mcpreel is in it."""
    end = time.monotonic() + 60
    while left := [words for words in command_lines() if f"{folder}/".encode() in words] + list(folder.glob("mcpreel-*")):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def command_lines():
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield path.read_bytes()


CLIENT = """
def send(p, message_id, method, params):
    p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}) + chr(10))
    p.stdin.flush()
    return json.loads(p.stdout.readline())

def start(command):
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    send(p, 0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    return p
"""


def test_a_client_of_a_fixture_may_end_after_the_test(tests):
    t = tests(CLIENT + """
@pytest.fixture
def client(mcp_server):
    p = start(mcp_server.command)
    yield p
    p.stdin.close()
    p.wait()

@pytest.mark.mcp(SERVER)
def test_city(client):
    send(client, 1, "tools/call", {"name": "weather", "arguments": {"city": "Lisbon"}})
""")
    assert t.run()[1] == {"passed": 1}
    assert t.files("recordings/**/*") == ["recordings/test_it/test_city.jsonl"]
    with_other(t.folder, "Lisbon", "Oslo")
    code, found, text = t.run(CI="true")
    assert (code, found) == (1, {"passed": 1, "error": 1}), text
    assert 'recorded "Lisbon", got "Oslo"' in text


def test_a_client_that_is_not_closed_fails_the_test(tests):
    t = tests(CLIENT + """
@pytest.mark.mcp(SERVER)
def test_city(mcp_server):
    test_city.client = start(mcp_server.command)
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "has not closed its connection" in text
    assert t.files("recordings/**/*") == []


@pytest.mark.parametrize("mark, reason", [
    ('recording="broken.jsonl"', "broken.jsonl:1:1"),
    ('match="nope"', "'nope' is not"),
], ids=["recording", "option"])
def test_a_replay_that_does_not_begin_says_why_at_once(tests, mark, reason):
    t = tests(STDIO.replace("(SERVER)", f"(SERVER, {mark})"))
    (t.folder / "broken.jsonl").write_text("{}")
    start = time.monotonic()
    code, _, text = t.run()
    assert code == 1, text
    assert "mcpreel replay ended with exit code" in text
    assert reason in text
    assert "has not closed its connection" not in text
    assert time.monotonic() - start < 5


def expect_no_traceback(text):
    assert not re.search(r"^(E |>|[^ ]*\\.py:\\d+:)", text, re.M), text


TROUBLES = {
    "empty": ("", 'recording="empty.jsonl"', "cannot read '.*empty.jsonl': it is empty"),
    "option": ("", 'match="nope"', "'nope' is not one of"),
    "program": ("/none", "", "the variable MCPREEL is '/none', which is no program: unset it"),
}


@pytest.mark.parametrize("program, words, reason", TROUBLES.values(), ids=TROUBLES)
def test_an_error_of_mcpreel_is_shown_without_a_traceback(tests, program, words, reason):
    t = tests(HTTP.replace("(SERVER)", f"(SERVER, {words})"))
    (t.folder / "empty.jsonl").touch()
    code, found, text = t.run(**({"MCPREEL": program} if program else {}))
    assert (code, found) == (1, {"failed": 1}), text
    assert re.search(reason, text), text
    assert re.search("^FAILED test_it.py::test_city - Failed: ", text, re.M), text
    expect_no_traceback(text)


def test_an_error_of_mcpreel_can_be_expected_with_xfail(tests):
    t = tests("from mcpreel import McpreelError\n" + HTTP.replace("(SERVER)", "(SERVER, recording='empty.jsonl')")
              .replace("def", "@pytest.mark.xfail(raises=McpreelError, strict=True)\ndef"))
    (t.folder / "empty.jsonl").touch()
    code, found, text = t.run()
    assert (code, found) == (0, {}), text
    assert "1 xfailed" in text


OWN_ERROR = """
from mcpreel import ReplayServer

def serve():
    with ReplayServer("none.jsonl"):
        pass

@pytest.fixture
def own(mcp_server):
    IN FIXTURE

@pytest.mark.mcp(SERVER)
def test_own(own):
    IN TEST
"""


@pytest.mark.parametrize("place, found", [("FIXTURE", {"error": 1}), ("TEST", {"failed": 1})])
def test_an_error_of_the_own_code_of_a_test_with_a_server_has_its_line(tests, place, found):
    t = tests(re.sub("IN .*", "pass", OWN_ERROR.replace(f"IN {place}", "serve()")))
    code, counted, text = t.run()
    assert (code, counted) == (1, found), text
    assert re.search(r"^test_it\.py:\d+: in serve$", text, re.M), text
    assert re.search("^E .*cannot read 'none.jsonl'", text, re.M), text


def test_a_suite_without_a_program_is_an_error_without_a_traceback(tests, recording):
    _, found, text = tests('test_all = mcp_suite("*.jsonl", server=SERVER)').run(MCPREEL="/none")
    assert found == {"error": 1}, text
    assert "MCPREEL is '/none', which is no program" in text
    expect_no_traceback(text)


def test_other_code_that_uses_the_package_gets_a_traceback(tests):
    code, _, text = tests("""
def test_session():
    async def go():
        async with RecordSession(command="false", output="a.json"):
            pass
    asyncio.run(go())
""").run()
    assert code == 1
    assert re.search("^E .*did not answer initialize", text, re.M), text


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_a_recording_that_another_process_writes_is_explained(tests, source):
    t = tests(source)
    t.run()
    (recording,) = t.files("recordings/**/*")
    with open(t.folder / recording) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, found, text = t.run("--mcp-mode=append")
    assert (code, found) == (1, {"failed": 1}), text
    assert "writes to it" in text
    assert "give each test a recording of its own" in text


def test_calls_of_a_failed_test_are_not_counted_as_recorded(tests):
    t = tests(HTTP.replace('"Lisbon" in', '"Oslo" in'))
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "calls: 1 recorded, but not kept" in text
    assert not (t.folder / "recordings").exists()


def test_the_file_that_the_message_about_a_failed_server_names_is_there(tests):
    """The server answers the call, and fails at its end."""
    t = tests(STDIO.replace("(SERVER)", """(["sh", "-c", 'head -n 3 | "$MCPREEL" demo server; exit 3'])"""))
    code, _, text = t.run()
    assert code == 1
    (journal,) = set(re.findall(r"the session is in '([^']+)'", text))
    assert pathlib.Path(journal).exists()
    assert "trace.jsonl" not in os.listdir(os.path.dirname(journal))  # it has secrets
    shutil.rmtree(os.path.dirname(os.path.dirname(journal)))


def test_the_message_about_a_server_that_answered_no_call_names_no_file(tests):
    t = tests(STDIO.replace("(SERVER)", '(["sh", "-c", "read line; exit 3"])'))
    code, _, text = t.run()
    assert code == 1
    assert "the server failed" in text
    assert "the session is in" not in text


def test_a_recording_that_another_worker_writes_meanwhile_is_explained(tests):
    t = tests("""
@pytest.mark.parametrize("city", ["Lisbon", "Oslo", "Rome", "Paris"])
@pytest.mark.mcp(SERVER, recording="one.jsonl")
def test_city(mcp_server, city):
    assert city in str(weather(mcp_server.url, city))
    import time
    time.sleep(1)
""")
    code, found, text = t.run("-n", "4")
    assert code == 1
    assert found["passed"] == 1, text
    assert "give each test a recording of its own" in text
    assert len(t.files("one.jsonl*")) == 1


def test_two_recording_clients_fail_the_test(tests):
    t = tests("""
@pytest.mark.mcp(SERVER)
def test_city(mcp_server):
    weather_on_stdio(mcp_server.command, "Lisbon")
    weather_on_stdio(mcp_server.command, "Oslo")
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "2 clients recorded" in text
    assert t.files("recordings/**/*") == []


def test_tests_of_the_same_name_have_recordings_of_their_own(tests):
    both = HTTP.replace("\n", "\n    ").replace("(mcp_server)", "(self, mcp_server)")
    t = tests(f"class TestA:\n{both}\n\nclass TestB:\n{both.replace('Lisbon', 'Oslo')}\n")
    assert t.run()[1] == {"passed": 2}
    assert t.files("recordings/**/*") == [f"recordings/test_it/Test{c}.test_city.jsonl" for c in "AB"]


def test_a_failed_teardown_leaves_the_recording(tests):
    t = tests("""
@pytest.fixture
def after():
    yield
    assert False

@pytest.mark.mcp(SERVER)
def test_city(mcp_server, after):
    weather(mcp_server.url, "Lisbon")
""")
    _, found, text = t.run()
    assert found == {"passed": 1, "error": 1}
    assert t.files("recordings/**/*") == []
    assert text.count("\nmcpreel show mcp-traces/test_it.py-test_city.jsonl\n") == 1


def test_secrets_are_in_no_trace_and_no_recording_but_the_test_sees_them(tests):
    t = tests("""
@pytest.mark.mcp(SERVER, options=["--redact-env", "CITY"])
def test_city(mcp_server):
    weather(mcp_server.url, "Lisbon")
    mcp_server.assert_called("weather", city="Lisbon")
""")
    assert t.run("--mcp-trace=on", CITY="Lisbon")[1] == {"passed": 1}
    texts = [(t.folder / name).read_text() for name in t.files("recordings/**/*") + t.files("mcp-traces/*")]
    assert len(texts) == 2
    assert all("Lisbon" not in text and "REDACTED" in text for text in texts)
    assert t.run(CI="true", CITY="Lisbon")[1] == {"passed": 1}


def test_verify_heeds_the_values_that_a_mark_ignores(tests):
    t = tests("""
@pytest.mark.mcp(SERVER, ignore=["$.result.content[0].text"])
def test_divide(mcp_server):
    async def go():
        async with McpClient(mcp_server.url) as client:
            await client.initialize()
            return await client.call_tool("divide", {"a": 1, "b": 0})
    asyncio.run(go())
""")
    t.run()
    with_other(t.folder, '"demo", "server"]', '"demo", "server", "--changed"]')
    assert t.run("--mcp-mode=verify")[1] == {"passed": 1}


def test_an_unknown_word_in_a_mark_is_an_error(tests):
    code, found, text = tests(HTTP.replace("(SERVER)", '(SERVER, mach="fuzzy")')).run()
    assert (code, found) == (1, {"error": 1}), text
    assert "the mark mcp has no 'mach'" in text


# The names of mcp-recorder.

CASSETTE = """
@pytest.mark.mcp_cassette("demo.jsonl")
def test_replay(mcp_replay_url):
    assert "Lisbon" in str(weather(mcp_replay_url, "Lisbon"))

@pytest.mark.mcp_cassette("demo.jsonl")
def test_miss(mcp_replay_url):
    assert weather(mcp_replay_url, "Oslo")["error"]["code"] == -32600
"""
VERIFY = """
@pytest.mark.mcp_cassette("demo.jsonl")
def test_no_regression(mcp_verify_result):
    r = mcp_verify_result
    assert r.total == len(r.results) == r.passed + r.failed
    assert r.failed == 0, r.results
"""


def test_a_cassette_is_replayed_as_mcp_recorder_does(tests, recording):
    code, found, text = tests(CASSETTE).run()
    assert (code, found) == (0, {"passed": 2}), text


def test_a_missing_cassette_fails_or_is_skipped_in_mode_auto(tests):
    t = tests(CASSETTE)
    assert t.run()[1] == {"error": 2}
    assert t.run("--mcp-record-mode=auto")[1] == {"skipped": 2}


@pytest.mark.parametrize("words, content, reason", [
    ("", "{}", "demo.jsonl:1:1"), ("", "", "it is empty"), (', match="nope"', None, "'nope' is not one of")], ids=["broken", "empty", "option"])
def test_an_error_about_a_cassette_is_shown_without_a_traceback(tests, recording, words, content, reason):
    t = tests((CASSETTE + VERIFY).replace('"demo.jsonl"', f'"demo.jsonl"{words}'))
    if content is not None:
        recording.write_text(content)
    code, found, text = t.run("--mcp-target-stdio", f"{t.environment['MCPREEL']} demo server")
    assert (code, found) == (1, {"error": 2, "passed": 1} if words else {"error": 3}), text
    assert text.count(reason) >= found["error"]
    expect_no_traceback(text)


def test_verify_result_has_the_verdicts(tests, recording):
    t = tests(VERIFY)
    program = t.environment["MCPREEL"]
    assert t.run("--mcp-target-stdio", f"{program} demo server")[1] == {"passed": 1}
    code, found, text = t.run("-vv", "--mcp-target-stdio", f"{program} demo server --changed")
    assert (code, found) == (1, {"failed": 1}), text
    assert '$.result.content[0].text: "cannot divide 1 by zero" != "division by zero"' in text
    code, found, text = t.run()
    assert (code, found) == (1, {"error": 1}), text
    assert "--mcp-target" in text


def test_record_mode_records_the_cassette_anew(tests):
    t = tests(CASSETTE.replace("demo.jsonl", "made.json").partition("\n\n")[0])
    program = t.environment["MCPREEL"]
    code, found, text = t.run("--mcp-record-mode=record", "--mcp-target-stdio", f"{program} demo server")
    assert (code, found) == (0, {"passed": 1}), text
    assert json.loads((t.folder / "made.json").read_text())["version"] == "1.0"
    assert t.run()[1] == {"passed": 1}


def test_a_plugin_of_mcp_recorder_that_is_installed_keeps_its_names(tests, tmp_path):
    """Options and fixtures of the same names are an error of pytest if both plugins register them."""
    t = tests("""
@pytest.mark.mcp_cassette("demo.jsonl")
def test_url(mcp_replay_url):
    assert mcp_replay_url == "that of mcp-recorder"

def test_result(mcp_verify_result):
    assert mcp_verify_result == "that of mcp-recorder"

@pytest.mark.mcp(SERVER)
def test_city(mcp_server):
    weather(mcp_server.url, "Lisbon")
""")
    site = tmp_path / "site"
    info = site / "mcp_recorder-0.5.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp-recorder\nVersion: 0.5.0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nmcp_recorder = real_mcp_recorder\n")
    (site / "real_mcp_recorder.py").write_text("""
import pytest

def pytest_addoption(parser):
    parser.addoption("--mcp-target")
    parser.addoption("--mcp-match", default="theirs")

def pytest_configure(config):
    config.addinivalue_line("markers", "mcp_cassette(path): theirs")

@pytest.fixture
def mcp_replay_url(request):
    return "that of mcp-recorder"

@pytest.fixture
def mcp_verify_result():
    return "that of mcp-recorder"
""")
    path = os.pathsep.join([t.environment["PYTHONPATH"], str(site)])
    code, found, text = t.run("--strict-markers", PYTHONPATH=path)
    assert (code, found) == (0, {"passed": 3}), text
    assert t.run("--strict-markers", "-p", "no:mcp_recorder", PYTHONPATH=path)[1] == {"passed": 1, "error": 2}

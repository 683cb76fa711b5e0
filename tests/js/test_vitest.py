"""The fixtures and matchers for Vitest: each test here runs a Vitest of its own on a small test file."""
import json
import re
import shlex

import pytest
from npm_project import PROGRAM, expect_no_process

HTTP = """
test('finds the city', async ({ mcp }) => {
  const client = await mcp.client({ transport: 'http' })
  expect(await weather(client, 'Lisbon')).toBeToolResult({ text: /Lisbon/ })
})
"""
STDIO = HTTP.replace("'http'", "'stdio'")
OWN_HTTP = """
test('finds the city', async ({ mcp }) => {
  const client = new Client({ name: 'own', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(await mcp.url)))
  expect(await weather(client, 'Lisbon')).toBeToolResult({ text: /Lisbon/ })
})
"""
OWN_STDIO = OWN_HTTP.replace("new StreamableHTTPClientTransport(new URL(await mcp.url))", "new StdioClientTransport(mcp.stdioParams())") \
                    .replace("/Lisbon/ })", "/Lisbon/ })\n  await client.close()")
FILE = "__recordings__/it.test.ts/finds-the-city.jsonl"
GONE = ("const SERVER = [", "const SERVER = ['false', ")  # a server that exits at once


@pytest.mark.parametrize("source", [HTTP, STDIO, OWN_HTTP, OWN_STDIO], ids=["http", "stdio", "own-http", "own-stdio"])
def test_the_first_run_records_and_the_second_needs_no_server(project, source):
    t = project(source)
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text
    assert t.files("__recordings__/**/*") == [FILE]
    t.change(*GONE)
    code, found, text = t.run(CI="true")
    assert (code, found) == (0, {"passed": 1}), text


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_an_unmatched_call_fails_the_test_and_names_the_nearest_one(project, source):
    t = project(source)
    t.run()
    before = (t.folder / FILE).read_bytes()
    t.change("expect(await weather(client, 'Lisbon')).toBeToolResult({ text: /Lisbon/ })",
             "await weather(client, 'Oslo').catch(() => {})")  # the test itself does not see the error
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert 'differs at $.params.arguments.city: recorded "Lisbon", got "Oslo"' in text
    assert text.count(" FAIL ") == 1
    assert "npx vitest run 'it.test.ts' -t '^finds the city$' -u" in text
    assert "If a value varies: mcpTest.with({ ignore:" in text
    assert "If a call may be repeated" not in text
    assert (t.folder / FILE).read_bytes() == before
    (trace,) = t.files("mcp-traces/*")
    assert "Oslo" in (t.folder / trace).read_text()
    assert f"  Look at it: npx mcpreel show '{trace}'\n" in text


def test_a_call_that_is_used_up_gets_advice_of_its_own(project):
    t = project(HTTP.replace("test(", "test.with({ options: ['--on-exhausted', 'error'] })("))
    t.run()
    t.change("  expect(await", "  await weather(client, 'Lisbon').catch(() => {})\n  expect(await")
    _, _, text = t.run()
    assert "If a call may be repeated: mcpTest.with({ options: ['--on-exhausted', 'last'] })" in text
    assert "If a value varies" not in text


def test_the_command_of_a_failure_records_this_test_anew_and_no_other(project):
    t = project(HTTP)
    (t.folder / "other.test.ts").write_text((t.folder / "it.test.ts").read_text())
    assert t.run()[1] == {"passed": 2}
    other = "__recordings__/other.test.ts/finds-the-city.jsonl"
    for name in ("it.test.ts", "other.test.ts"):
        (t.folder / name).write_text((t.folder / name).read_text().replace("'Lisbon'", "'Oslo'").replace("/Lisbon/", "/Oslo/"))
    before = {name: (t.folder / name).read_bytes() for name in (FILE, other)}
    _, _, text = t.run("it.test.ts", CI="true")
    command = re.search(r"If the change is intended: npx vitest run (.*)", text)[1]
    assert t.run(*shlex.split(command))[1] == {"passed": 1}
    assert b"Oslo" in (t.folder / FILE).read_bytes() != before[FILE]
    assert (t.folder / other).read_bytes() == before[other]


def test_append_adds_a_call_only_if_the_test_passed(project):
    t = project(HTTP)
    t.run()
    before = (t.folder / FILE).read_bytes()
    t.change("'Lisbon'", "'Oslo'")
    _, found, text = t.run(MCPREEL_MODE="append")  # it still wants Lisbon
    assert found == {"failed": 1}
    assert f"Look at it: npx mcpreel show '{t.files('mcp-traces/*')[0]}'" in text
    assert (t.folder / FILE).read_bytes() == before
    t.change("/Lisbon/", "/Oslo/")
    code, found, text = t.run(MCPREEL_MODE="append")
    assert (code, found) == (0, {"passed": 1}), text
    assert b"Lisbon" in (t.folder / FILE).read_bytes()
    assert b"Oslo" in (t.folder / FILE).read_bytes()


@pytest.mark.parametrize("arguments,variables", [(["-u"], {}), ([], {"MCPREEL_MODE": "rewrite"}), (["-u"], {"CI": "true"})],
                         ids=["-u", "variable", "-u in CI"])
def test_rewrite_replaces_the_recording_if_the_test_passed(project, arguments, variables):
    t = project(HTTP)
    t.run()
    before = (t.folder / FILE).read_text()
    t.change("'Lisbon'", "'Oslo'")
    assert t.run(*arguments, **variables)[1] == {"failed": 1}
    assert (t.folder / FILE).read_text() == before
    t.change("/Lisbon/", "/Oslo/")
    with (t.folder / FILE).open() as reader:
        code, found, text = t.run(*arguments, **variables)
        assert reader.read() == before  # the new file replaced the old one, which is not written to
    assert (code, found) == (0, {"passed": 1}), text
    assert "Oslo" in (t.folder / FILE).read_text()
    assert "Lisbon" not in (t.folder / FILE).read_text()


def test_a_recording_and_a_contract_keep_their_modes(project):
    t = project(CONTRACT.replace("expect(mcp)", "weather(await mcp.client(), 'Lisbon')\n  await expect(mcp)"))
    assert t.run()[1] == {"passed": 1}
    (recording,) = t.files("__recordings__/*/*.jsonl")
    assert (t.folder / recording).stat().st_mode & 0o777 == 0o600
    for name, mode in ((recording, 0o644), (LOCK, 0o640)):
        (t.folder / name).chmod(mode)
    assert t.run("-u")[1] == {"passed": 1}
    assert [(t.folder / name).stat().st_mode & 0o777 for name in (recording, LOCK)] == [0o644, 0o640]


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_in_ci_a_missing_recording_is_an_error_that_says_how_to_record(project, source):
    t = project(source)
    code, found, text = t.run(CI="true")
    assert (code, found) == (1, {"failed": 1}), text
    assert "mcpreel: there is no recording" in text
    assert "MCPREEL_MODE=once npx vitest run 'it.test.ts' -t '^finds the city$'" in text
    assert t.files("__recordings__/**/*") == []


def test_without_a_server_the_error_says_how_to_name_one(project):
    code, _, text = project(HTTP.replace("test(", "mcpTest(")).run()
    assert code == 1
    assert "name the real server, mcpTest.with({ server: 'COMMAND' })" in text


def test_verify_without_a_server_is_an_error(project, recording):
    t = project(HTTP.replace("test(", "mcpTest.with({ recording: 'demo.jsonl' })("))
    assert t.run()[1] == {"passed": 1}
    code, _, text = t.run(MCPREEL_MODE="verify")
    assert code == 1
    assert "mode verify needs the real server" in text


DIVIDE = """
test('divides', async ({ mcp }) => {
  const client = await mcp.client()
  expect(await client.callTool({ name: 'divide', arguments: { a: 1, b: 0 } })).toBeToolResult({ isError: true })
})
"""
CHANGED = ("'demo', 'server']", "'demo', 'server', '--changed']")


def test_verify_finds_a_change_of_the_server(project):
    t = project(DIVIDE)
    assert t.run()[1] == {"passed": 1}
    assert t.run(MCPREEL_MODE="verify")[1] == {"passed": 1}
    t.change(*CHANGED)
    code, found, text = t.run(MCPREEL_MODE="verify")
    assert (code, found) == (1, {"failed": 1}), text
    assert "mcpreel: the server differs from" in text
    assert "division by zero" in text
    t.change("const test = mcpTest.with({", "const test = mcpTest.with({ ignore: '$.result.content[0].text',")
    assert t.run(MCPREEL_MODE="verify")[1] == {"passed": 1}


def test_an_unknown_mode_is_an_error(project):
    code, _, text = project(HTTP).run(MCPREEL_MODE="replay")
    assert code == 1
    assert "mcpreel: MCPREEL_MODE is 'replay'; it can be none, once, append, rewrite, verify" in text


def test_an_unknown_option_is_an_error(project):
    code, _, text = project(HTTP.replace("test(", "test.with({ mach: 'fuzzy' } as never)(", 1)).run()
    assert code == 1
    assert "mcpTest.with() has no option 'mach'" in text


def test_options_add_up_and_let_values_differ(project):
    t = project(HTTP.replace("test(", "test.with({ ignore: '$.params.arguments.city', recording: 'a/b.jsonl' })(", 1))
    assert t.run()[1] == {"passed": 1}
    assert t.files("**/*.jsonl") == ["a/b.jsonl"]
    t.change("'Lisbon'", "'Oslo'")
    assert t.run(CI="true")[1] == {"passed": 1}


# The matchers.

def test_matchers_ask_for_the_calls(project):
    t = project("""
test('calls', async ({ mcp }) => {
  const client = await mcp.client()
  await weather(client, 'Lisbon')
  expect(mcp.calls).toMatchObject([{ tool: 'weather', arguments: { city: 'Lisbon' }, error: false }])
  expect(mcp).toHaveCalledTool('weather', { city: 'Lisbon' })
  expect(mcp).toHaveCalledTool('weather', { city: expect.stringContaining('Lis') })
  expect(mcp).toHaveCalledTool('w*')
  expect(mcp).not.toHaveCalledTool('weather', { city: 'Oslo' })
  expect(mcp).not.toHaveCalledTool('div*')
  expect(mcp).not.toHaveCalledTool('eather')
  expect(() => expect(mcp).toHaveCalledTool('weather', { city: 'Oslo' })).toThrow(/no call of weather.*Oslo.*\\n.*Lisbon/)
  expect(() => expect(mcp).not.toHaveCalledTool('w*')).toThrow(/was called/)
  expect(() => expect({}).toHaveCalledTool('w*')).toThrow(/fixture 'mcp'/)
})
""")
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text


def test_matchers_of_tool_results_name_what_differs(project):
    t = project("""
test('results', () => {
  const result = { content: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }], structuredContent: { n: 1 } }
  expect(result).toBeToolResult()
  expect(result).toBeToolResult({ text: 'a\\nb', structuredContent: { n: expect.any(Number) } })
  expect(() => expect(result).toBeToolResult({ text: 'a' })).toThrow(/the text is "a\\\\nb", not "a"/)
  expect(() => expect(result).toBeToolResult({ text: /c/ })).toThrow(/not \\/c\\//)
  expect(() => expect(result).toBeToolResult({ structuredContent: { n: 2 } })).toThrow('structuredContent is {"n":1}, not {"n":2}')
  expect(() => expect(result).toBeToolResult({ isError: true })).toThrow(/it is no error/)
  expect(() => expect({ ...result, isError: true }).toBeToolResult({ text: /a/ })).toThrow(/it is an error: a/)
  expect(() => expect({}).toBeToolResult()).toThrow(/has no content/)
  expect({ ...result, isError: true }).not.toBeToolResult()
})
""")
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text


TWO = """
test('asks twice', async ({ mcp }) => {
  const client = await mcp.client()
  await weather(client, 'Lisbon')
  await weather(client, 'Oslo')
  await expect(mcp).toMatchRecording()
})
"""


def test_a_conversation_matches_its_recording_only_as_a_whole(project):
    t = project(TWO)
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text
    assert t.run(CI="true")[1] == {"passed": 1}
    t.change("  await weather(client, 'Oslo')\n", "")
    code, found, text = t.run(CI="true")
    assert (code, found) == (1, {"failed": 1}), text
    assert "mcpreel: the conversation is not that of" in text
    assert "- tools/call weather" in text
    assert "npx vitest run 'it.test.ts' -t '^asks twice$' -u" in text
    assert t.run("-u")[1] == {"passed": 1}
    assert "Oslo" not in (t.folder / "__recordings__/it.test.ts/asks-twice.jsonl").read_text()


def test_a_conversation_that_has_not_begun_matches_nothing(project):
    code, _, text = project("test('none', async ({ mcp }) => { await expect(mcp).toMatchRecording() })").run()
    assert code == 1
    assert "mcpreel: no clients have connected" in text


CONTRACT = "test('contract', async ({ mcp }) => { await expect(mcp).toMatchToolContract() })"
LOCK = "__recordings__/it.test.ts/contract.lock.json"


def test_a_contract_is_written_once_and_then_kept(project):
    t = project(CONTRACT)
    code, _, text = t.run(CI="true")
    assert code == 1
    assert "mcpreel: there is no contract" in text
    assert t.run()[1] == {"passed": 1}
    assert t.files("__recordings__/**/*") == [LOCK]
    assert t.run(CI="true")[1] == {"passed": 1}
    lock = json.loads((t.folder / LOCK).read_text())
    lock["tools"][0]["inputSchema"]["required"] = []
    (t.folder / LOCK).write_text(json.dumps(lock))
    code, found, text = t.run(CI="true")
    assert (code, found) == (1, {"failed": 1}), text
    assert "mcpreel: the server does not keep its contract" in text
    assert "breaking" in text
    assert t.run("-u")[1] == {"passed": 1}
    assert t.run(CI="true")[1] == {"passed": 1}


def test_a_contract_of_a_failed_test_is_not_written(project):
    t = project(CONTRACT.replace("toMatchToolContract()", "toMatchToolContract(); expect(1).toBe(2)"))
    assert t.run()[1] == {"failed": 1}
    assert t.files("__recordings__/**/*") == []


def test_a_contract_that_cannot_be_written_leaves_no_other_file(project):
    t = project(CONTRACT.replace("toMatchToolContract()", "toMatchToolContract({ file: 'a.lock.json' }); mkdirSync('a.lock.json')"))
    t.change("import { afterAll", "import { mkdirSync } from 'node:fs'\nimport { afterAll")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "mcpreel: no recording can be written to" in text
    assert list(t.folder.glob(".a.lock*")) == []


def test_a_recording_below_a_file_fails_the_test_and_names_the_folder(project):
    t = project(HTTP.replace("test(", "test.with({ recording: 'afile/x.jsonl' })("))
    (t.folder / "afile").write_text("")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert f"mcpreel: no recording can be written to {t.folder}/afile: " in text


def test_without_a_server_the_contract_is_that_of_the_recording(project, recording):
    t = project(CONTRACT.replace("test(", "mcpTest.with({ recording: 'demo.jsonl' })("))
    assert t.run("-u")[1] == {"passed": 1}
    assert t.files("*.lock.json") == ["demo.lock.json"]
    code, found, text = t.run(CI="true")
    assert (code, found) == (0, {"passed": 1}), text


# Recordings and the tests they belong to.

def test_names_of_tests_become_file_names(project):
    t = project("""
describe('suite', () => {
  for (const city of ['Lisbon', '../Lisbon/x', 'Lisbon'.repeat(40)]) {
    test(city, async ({ mcp }) => { await weather(await mcp.client(), city) })
  }
})
test('suite Lisbon', async ({ mcp }) => { await weather(await mcp.client(), 'Oslo') })
""")
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 4}), text
    names = [name.split("/")[-1] for name in t.files("__recordings__/it.test.ts/*")]
    assert len(names) == 4
    assert "suite.Lisbon.jsonl" in names
    assert all(len(name) < 130 for name in names)
    assert t.run(CI="true")[1] == {"passed": 4}


@pytest.mark.parametrize("source", [
    HTTP + "afterEach(() => { expect(1).toBe(2) })\n",
    HTTP.replace("{ mcp }", "{ mcp, after }").replace("test(", "test.extend({ after: async ({}, use) => { await use(1); throw new Error('after') } })("),
    HTTP.replace("{ mcp }", "{ mcp, onTestFinished }").replace("const client", "onTestFinished(() => { throw new Error('late') })\n  const client"),
    HTTP.replace("test(", "test.fails(").replace("/Lisbon/", "/Oslo/"),
], ids=["afterEach", "fixture", "onTestFinished", "fails"])
def test_a_test_that_fails_after_its_end_leaves_the_recording(project, source):
    t = project(source)
    _, found, text = t.run()
    assert found == {"failed": 1} or "1 expected fail" in text, text
    assert t.files("__recordings__/**/*") == []


KILL = ("/Lisbon/ })", "/Lisbon/ })\n  process.kill(process.pid, 'SIGKILL')")


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_nothing_stays_of_a_worker_that_is_killed(project, source, tmp_path_factory):
    t = project(source.replace(*KILL))
    temporary = tmp_path_factory.mktemp("temporary")
    code, _, text = t.run("--pool=forks", limit=60, MCPREEL_MODE="rewrite", TMPDIR=str(temporary))
    assert code == 1, text
    expect_no_process(temporary, 60)  # recorder and guard have only files of this folder
    assert list(temporary.glob("mcpreel-*")) == []


def test_nothing_stays_of_a_killed_worker_in_a_relative_folder(project):
    t = project(HTTP.replace(*KILL))
    (t.folder / "tmp").mkdir()
    code, _, text = t.run("--pool=forks", limit=60, MCPREEL_MODE="rewrite", TMPDIR="tmp")
    assert code == 1, text
    assert list(t.folder.glob("tmp/mcpreel-*")) == []


def test_a_retried_test_keeps_the_recording_of_the_attempt_that_passed(project):
    t = project("let attempts = 0\n" + HTTP.replace("city', async", "city', { retry: 2 }, async")
                .replace("/Lisbon/ })", "/Lisbon/ })\n  expect(++attempts).toBe(2)"))
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 1}), text
    recorded = (t.folder / FILE).read_text()
    assert recorded.count('"tools/call"') == 1


def test_secrets_are_in_no_trace_and_no_recording_but_the_test_sees_them(project):
    t = project("""
test.with({ options: ['--redact-env', 'CITY'] })('finds the city', async ({ mcp }) => {
  await weather(await mcp.client(), 'Lisbon')
  expect(mcp).toHaveCalledTool('weather', { city: 'Lisbon' })
  await expect(mcp).toMatchRecording()
})
""")
    code, found, text = t.run(CITY="Lisbon", MCPREEL_TRACE="on")
    assert (code, found) == (0, {"passed": 1}), text
    texts = [(t.folder / name).read_text() for name in t.files("__recordings__/**/*") + t.files("mcp-traces/*")]
    assert len(texts) == 2
    assert all("Lisbon" not in text and "REDACTED" in text for text in texts)
    code, found, text = t.run(CITY="Lisbon", CI="true")
    assert (code, found) == (0, {"passed": 1}), text


def test_traces_can_be_switched_off(project):
    t = project(HTTP.replace("/Lisbon/", "/Oslo/"))
    assert t.run(MCPREEL_TRACE="off")[1] == {"failed": 1}
    assert t.files("mcp-traces/*") == []
    assert "MCPREEL_TRACE is 'never'" in t.run(MCPREEL_TRACE="never")[2]


# Bad input.

def test_a_client_that_is_not_closed_fails_the_test(project):
    t = project("""
let client: Client
test('leaves', async ({ mcp }) => {
  client = new Client({ name: 'own', version: '1' })
  await client.connect(new StdioClientTransport(mcp.stdioParams()))
})
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "has not closed its connection" in text
    assert t.files("__recordings__/**/*") == []


def test_two_recording_clients_fail_the_test(project):
    code, found, text = project("""
test('two', async ({ mcp }) => {
  for (const city of ['Lisbon', 'Oslo']) await weather(await mcp.client(), city)
})
""").run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "2 clients recorded" in text


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_a_server_that_does_not_start_fails_the_test_with_its_reason(project, source):
    t = project(source)
    t.change("const SERVER = [", "const SERVER = ['/no/such/server', ")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1}), text
    assert "/no/such/server" in text
    assert t.files("__recordings__/**/*") == []


@pytest.mark.parametrize("source", [HTTP, STDIO], ids=["http", "stdio"])
def test_a_recording_that_cannot_be_read_fails_the_test_with_its_reason(project, source):
    t = project(source)
    (t.folder / FILE).parent.mkdir(parents=True)
    (t.folder / FILE).write_text("{}")
    code, _, text = t.run()
    assert code == 1
    assert "finds-the-city.jsonl:1" in text
    assert "has not closed its connection" not in text


def test_a_test_without_the_sdk_is_told_to_install_it(project, tmp_path, modules):
    t = project("")
    (t.folder / "it.test.ts").write_text("import { mcpTest } from 'mcpreel/vitest'\n"
                                         "mcpTest.with({ server: 'x' })('a', async ({ mcp }) => { await mcp.client() })\n")
    (t.folder / "node_modules").unlink()
    (t.folder / "node_modules").mkdir()
    for path in modules.iterdir():
        if path.name == "mcpreel":  # a copy, whose imports are looked for here
            t.copy(path)
        elif path.name != "@modelcontextprotocol":
            (t.folder / "node_modules" / path.name).symlink_to(path)
    code, _, text = t.run()
    assert code == 1
    assert "npm install -D @modelcontextprotocol/sdk" in text


TWO_FILES = """
import { setTimeout as sleep } from 'node:timers/promises'
for (const city of ['Lisbon', 'Oslo']) {
  test.with({ recording: 'shared.jsonl' }).concurrent(city, async ({ mcp }) => {
    await weather(await mcp.client(), city)
    await sleep(500)
  })
}
"""


@pytest.mark.parametrize("mode", ["once", "rewrite"])
def test_two_tests_that_record_one_file_leave_it_whole(project, mode):
    t = project(TWO_FILES)
    code, found, text = t.run(MCPREEL_MODE=mode)
    assert (code, found) == (1, {"passed": 1, "failed": 1}), text
    assert "give each test a recording of its own" in text or "is locked" in text
    assert t.files("*.jsonl*") == t.files(".*.jsonl*") + ["shared.jsonl"] == ["shared.jsonl"]
    recorded = [json.loads(line) for line in (t.folder / "shared.jsonl").read_text().splitlines()]
    assert len([record for record in recorded if record.get("msg", {}).get("method") == "tools/call"]) == 1


def test_workers_have_recordings_of_their_own(project):
    t = project("for (const city of ['Lisbon', 'Oslo', 'Rome', 'Bern']) test.concurrent(city, async ({ mcp }) => "
                "{ expect(await weather(await mcp.client(), city)).toBeToolResult({ text: new RegExp(city) }) })")
    (t.folder / "other.test.ts").write_text((t.folder / "it.test.ts").read_text())
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 8}), text
    assert len(t.files("__recordings__/*/*.jsonl")) == 8
    assert t.run(CI="true")[1] == {"passed": 8}


# One test for each recorded call.

def test_a_suite_makes_a_test_of_each_recorded_call(project, recording):
    t = project("""
verifyRecordings('*.jsonl', { server: SERVER })
describe('changed', () => verifyRecordings('d?mo.jsonl', { server: [...SERVER, '--changed'] }))
describe('ignored', () => verifyRecordings('**/demo.jsonl', { server: [...SERVER, '--changed'], ignore: '$.result.content[0].text' }))
""")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 26}), text
    assert "tools/call divide" in text
    assert '- "cannot divide 1 by zero"  recorded' in text
    assert '+ "division by zero"  live' in text


def test_a_suite_takes_a_url(project, recording):
    t = project("const real = await ReplayServer.start(`${import.meta.dirname}/demo.jsonl`)\nafterAll(async () => { await real.stop() })\nverifyRecordings('demo.jsonl', { url: real.url })")
    code, found, text = t.run()
    assert (code, found.get("failed", 0)) == (0, 0), text
    assert found["passed"] > 5, text


@pytest.mark.parametrize("call,reason", [
    ("verifyRecordings('none/**/*.jsonl', { server: SERVER })", "no recording matches"),
    ("verifyRecordings('demo.jsonl', {})", "needs a server or a url, and not both"),
    ("verifyRecordings('demo.jsonl', { server: SERVER, url: 'http://127.0.0.1:1' })", "needs a server or a url, and not both"),
    ("verifyRecordings('demo.jsonl', { server: '/no/such/server' })", "/no/such/server"),
])
def test_a_suite_that_cannot_run_is_an_error_with_its_reason(project, recording, call, reason):
    code, _, text = project(call).run()
    assert code == 1
    assert reason in text


def test_a_file_of_a_suite_that_cannot_be_read_is_one_failed_test(project, recording):
    t = project("verifyRecordings('*.jsonl', { server: SERVER })")
    (t.folder / "broken.jsonl").write_text("{}")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 9}), text
    assert "broken.jsonl" in text


def test_listing_tests_starts_no_server(project):
    t = project(HTTP.replace("test(", "test.with({ server: ['touch', 'started'] })("))
    t.run("-t", "no such test")
    assert t.files("started") == []
    assert PROGRAM.exists()

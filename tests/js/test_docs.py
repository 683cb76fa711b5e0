"""The code of docs/javascript.md: each block is the file that its first line names."""
import os
import re

import pytest
from npm_project import ROOT, Project, environment, peers, run

PAGE = (ROOT / "docs/javascript.md").read_text()
FILES = {name: f"// {name}\n{text}" for name, text in re.findall(r"^```[jt]s\n// (\S+)\n(.*?)^```", PAGE, re.M | re.S)}


@pytest.fixture
def reader(tmp_path, modules):
    """A project with the files of the page; 'npx mcpreel' is the command of the package."""
    t = Project(tmp_path, modules, "")
    (tmp_path / "it.test.ts").unlink()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    npx = tmp_path / "bin/npx"
    npx.parent.mkdir()
    npx.write_text(f'#!/bin/sh\nshift\nexec node "{modules}/mcpreel/dist/cli.cjs" "$@"\n')
    npx.chmod(0o755)
    t.path = f"{npx.parent}:{os.environ['PATH']}"
    return t


def test_the_page_has_a_file_in_every_block():
    assert set(FILES) == {"weather.test.ts", "contract.test.ts", "server.test.ts", "functions.mjs"}
    assert len(FILES) == PAGE.count("```ts") + PAGE.count("```js")


def test_the_code_of_the_page_runs(reader):
    code, found, text = reader.run("weather", "contract", PATH=reader.path)
    assert (code, found) == (0, {"passed": 2}), text
    assert reader.files("__recordings__/**/*") == ["__recordings__/weather.test.ts/finds-the-weather.jsonl"]
    assert reader.files("*.lock.json") == ["mcp.lock.json"]
    code, found, text = reader.run(CI="true", PATH=reader.path)
    assert (code, found) == (0, {"passed": 4}), text
    p = run("node", "functions.mjs", cwd=reader.folder, env=environment(PATH=reader.path))
    assert p.returncode == 0, p.stdout
    assert p.stdout.startswith("0 /"), p.stdout
    assert "\n0 [" in p.stdout
    assert "tools/call weather" in p.stdout


def test_the_code_of_the_page_has_the_types_that_it_uses(reader):
    p = run(peers("js") / "node_modules/.bin/tsc", "--noEmit", "--strict", "--allowJs", "--checkJs", "--ignoreConfig", "--module", "nodenext", "--target", "es2022", "--types", "node",
            "--skipLibCheck", "--typeRoots", peers("js") / "node_modules/@types", *FILES, cwd=reader.folder)
    assert p.returncode == 0, p.stdout


def test_the_messages_of_the_page_are_those_of_the_package():
    source = (ROOT / "js/src/program.cts").read_text()
    messages = re.findall(r"^\| (.*?…?.*?) \| .*(?:npm|platform)", PAGE.partition("## The program is not found")[2], re.M)
    assert len(messages) == 3
    for message in messages:
        for part in message.split("…"):
            assert part.strip() in source, message

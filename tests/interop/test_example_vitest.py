"""examples/typescript-vitest, from the built npm packages in an empty folder, by the commands of its README."""
import json
import re
import shutil

import pytest
from npm_project import CPU, ROOT, environment, install, link_peers, make_packages, run

pytestmark = pytest.mark.interop

EXAMPLE = ROOT / "examples/typescript-vitest"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return make_packages(tmp_path_factory.mktemp("packages"))


class Example:
    def __init__(self, folder):
        self.folder = folder

    def test(self, *arguments, **variables):
        """Exit code and output of 'npm test', and the files of the tests that it has changed."""
        before = self.files()
        words = ["npm", "test", *(["--", *arguments] if arguments else [])]
        p = run(*words, cwd=self.folder, env=environment(**variables))
        after = self.files()
        return p.returncode, p.stdout, sorted(name for name in {*before, *after} if before.get(name) != after.get(name))

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in (self.folder / "test").rglob("*") if path.is_file()}

    def change(self, name, before, after):
        path = self.folder / name
        assert before in path.read_text()
        path.write_text(path.read_text().replace(before, after))


@pytest.fixture
def example(packages, tmp_path):
    folder = tmp_path / "example"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    install(folder, packages)
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
    link_peers(folder / "node_modules", "js")
    return Example(folder)


def test_the_versions_of_the_example_are_the_pinned_ones():
    wanted = json.loads((EXAMPLE / "package.json").read_text())
    wanted = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert wanted.pop("mcpreel") == json.loads((ROOT / "js/package.json").read_text())["version"]
    pinned = json.loads((ROOT / "tests/peers/js/package.json").read_text())["dependencies"]
    assert wanted == {name: pinned[name] for name in wanted}


def test_the_committed_recordings_are_replayed_in_ci(example):
    code, output, changed = example.test(CI="true")
    assert code == 0, output
    assert re.search(r"Tests +8 passed", output), output
    assert changed == []


def test_a_changed_client_fails_and_is_recorded_anew(example):
    example.change("src/triage.ts", "limit: 5", "limit: 3")
    code, output, changed = example.test(CI="true")
    assert code == 1, output
    assert "differs at $.params.arguments.limit: recorded 5, got 3" in output
    assert "npx vitest run 'test/triage.test.ts'" in output
    assert changed == []
    code, output, changed = example.test("-u")
    assert code == 0, output
    assert changed == ["test/__recordings__/triage.test.ts/finds-nothing.jsonl", "test/__recordings__/triage.test.ts/names-the-oldest-bug.jsonl"]
    p = run("npx", "--offline", "mcpreel", "show", "test/__recordings__/triage.test.ts/names-the-oldest-bug.jsonl", cwd=example.folder, env=environment())
    assert '"limit":3' in p.stdout, p.stdout


def test_a_changed_answer_of_the_server_fails(example):
    example.change("src/server.ts", "The map has no north", "The map has no south")
    code, output, _ = example.test(CI="true")
    assert code == 1, output
    assert "tools/call search_issues" in output
    assert "no south" in output


def test_a_changed_tool_of_the_server_fails(example):
    example.change("src/server.ts", "'get_issue'", "'show_issue'")
    code, output, _ = example.test(CI="true")
    assert code == 1, output
    assert "mcpreel: the server does not keep its contract" in output
    assert "get_issue" in output


def test_the_commands_of_the_readme_succeed(example, packages):
    commands = [line for block in re.findall(r"^```sh\n(.*?)^```", (EXAMPLE / "README.md").read_text(), re.M | re.S)
                for line in block.splitlines()]
    installing, *others = commands
    assert installing.split()[:2] == ["npm", "install"]  # done by the fixture
    assert [word.split("/")[-1].replace("x64", CPU) for word in installing.split()[2:]] == [file.name for file in packages.values()]
    assert len(others) == 3
    for command in others:
        p = run("bash", "-c", command, cwd=example.folder, env=environment())
        assert p.returncode == 0, f"{command}\n{p.stdout}"
    assert "search_issues" in p.stdout

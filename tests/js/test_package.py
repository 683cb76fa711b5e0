"""The npm packages: contents, installation, the command, the search for the program, and the functions."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time
import urllib.parse

import pytest
from npm_project import CPU, PROGRAM, ROOT, environment, install, make_modules, peers, run, unpack, version

OTHER = {"x64": "arm64", "arm64": "x64"}[CPU]


def test_the_package_has_the_version_of_the_program_and_no_dependency():
    package = json.loads((ROOT / "js/package.json").read_text())
    assert package["version"] == version()
    assert package["optionalDependencies"] == {f"@mcpreel/linux-{cpu}": version() for cpu in ("arm64", "x64")}
    assert not {"dependencies", "scripts"} & set(package)
    assert set(package["peerDependencies"]) == set(package["peerDependenciesMeta"])


def test_the_package_of_a_platform_has_only_the_program_and_its_licenses(packages):
    with tarfile.open(packages[f"@mcpreel/linux-{CPU}"]) as tar:
        assert sorted(tar.getnames()) == ["package/LICENSES.txt", "package/bin/mcpreel", "package/package.json"]
        assert b"MIT License" in tar.extractfile("package/LICENSES.txt").read()
        package = json.load(tar.extractfile("package/package.json"))
        assert tar.getmember("package/bin/mcpreel").mode & 0o111 == 0o111
    assert (package["os"], package["cpu"]) == (["linux"], [CPU])
    assert not {"dependencies", "scripts", "bin"} & set(package)


@pytest.fixture(scope="module")
def installed(packages, tmp_path_factory):
    """A folder in which npm has installed both packages."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "package.json").write_text('{"private": true}')
    install(folder, packages)
    return folder


def test_npm_installs_the_command(installed):
    p = run("npx", "--offline", "mcpreel", "version", cwd=installed, env=environment())
    assert p.stdout.strip().endswith(f"mcpreel {version()}")
    p = run(installed / "node_modules/.bin/mcpreel", "show", "no-such.jsonl", cwd=installed, env=environment())
    assert p.returncode == 3
    assert "no-such.jsonl" in p.stdout


def test_both_kinds_of_module_get_the_same_functions(installed):
    both = ("const required = require('mcpreel'); import('mcpreel').then((imported) => "
            "console.log(Object.keys(required).sort().join(), imported.McpreelError === required.McpreelError))")
    p = run("node", "-e", both, cwd=installed, env=environment())
    assert p.stdout.strip() == "McpreelError,ReplayServer,findProgram,run,verify true"


def test_the_command_passes_its_standard_streams(installed):
    words = [installed / "node_modules/.bin/mcpreel", "demo", "server"]
    request = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    p = subprocess.run(words, input=json.dumps(request) + "\n", stdout=subprocess.PIPE, text=True, env=environment(), timeout=30)
    assert json.loads(p.stdout.splitlines()[0])["id"] == 7
    assert p.returncode == 0


def start_server(installed, recording):
    """The command, which serves a recording, once it says where."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    words = [installed / "node_modules/.bin/mcpreel", "-q", "replay", "--listen", "127.0.0.1:0", recording]
    p = subprocess.Popen(words, stderr=writing, stdout=writing, env=environment())
    os.close(writing)
    with os.fdopen(reading) as lines:
        assert "http" in lines.readline()
        yield p
    p.kill()
    p.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command_ends_the_program(installed, recording, number):
    for p in start_server(installed, recording):
        direct = subprocess.run(["pgrep", "-P", str(p.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
        assert len(direct) == 1
        p.send_signal(number)
        assert p.wait(10) == 0
        assert not os.path.exists(f"/proc/{direct[0]}")


def test_the_command_ends_by_the_signal_that_ended_the_program(installed, recording):
    for p in start_server(installed, recording):
        child = int(subprocess.run(["pgrep", "-P", str(p.pid)], stdout=subprocess.PIPE, text=True).stdout)
        os.kill(child, signal.SIGKILL)
        assert p.wait(10) == -signal.SIGKILL


# The search for the program.

FIND = "console.log(require('mcpreel').findProgram())"
PRETEND = "Object.defineProperty(process, '{}', {{ value: '{}' }});"


def find(folder, before="", **variables):
    return run(shutil.which("node"), "-e", before + FIND, cwd=folder, env={**environment(), "PATH": "/none", **variables})


@pytest.fixture
def bare(packages, tmp_path):
    """A project with the JavaScript package alone, as --omit=optional leaves it."""
    unpack(packages["mcpreel"], tmp_path / "node_modules/mcpreel")
    return tmp_path


def test_the_program_is_that_of_the_platform_package(installed):
    assert find(installed).stdout.strip() == str(installed / f"node_modules/@mcpreel/linux-{CPU}/bin/mcpreel")
    assert find(installed, MCPREEL=str(PROGRAM)).stdout.strip() == str(PROGRAM)


def test_without_its_package_the_program_is_that_in_path_but_never_a_script(bare, tmp_path):
    for name in ("scripts", "programs"):
        (tmp_path / name).mkdir()
    (tmp_path / "scripts/mcpreel").write_text("#!/bin/sh\n")
    (tmp_path / "scripts/mcpreel").chmod(0o755)
    shutil.copy(PROGRAM, tmp_path / "programs/mcpreel")
    assert find(bare, PATH=f"{tmp_path}/scripts:{tmp_path}/programs").stdout.strip() == f"{tmp_path}/programs/mcpreel"
    assert "is not installed" in find(bare, PATH=f"{tmp_path}/scripts").stdout


def test_a_variable_that_names_no_program_is_an_error(bare):
    assert "MCPREEL is '/none/mcpreel', which is no program" in find(bare, MCPREEL="/none/mcpreel").stdout


def test_without_optional_packages_the_error_says_how_to_install_them(bare):
    p = find(bare)
    assert p.returncode != 0
    assert f"the package @mcpreel/linux-{CPU}, which has the program, is not installed" in p.stdout
    assert "npm install --include=optional" in p.stdout


def test_copied_node_modules_are_named_as_such(bare):
    other = bare / f"node_modules/@mcpreel/linux-{OTHER}"
    other.mkdir(parents=True)
    (other / "package.json").write_text("{}")
    p = find(bare)
    assert f"node_modules has @mcpreel/linux-{OTHER}, but this machine is linux-{CPU}" in p.stdout
    assert "npm ci" in p.stdout


def test_a_platform_without_a_program_is_named_with_those_that_have_one(bare):
    p = find(bare, PRETEND.format("platform", "darwin") + PRETEND.format("arch", "arm64"))
    assert "there is no program for darwin-arm64 yet" in p.stdout
    assert "@mcpreel/linux-x64 and @mcpreel/linux-arm64" in p.stdout
    assert "build mcpreel from source" in p.stdout


def test_the_command_without_a_program_ends_with_127(bare):
    p = run(shutil.which("node"), bare / "node_modules/mcpreel/dist/cli.cjs", "version", env={**environment(), "PATH": "/none"})
    assert p.returncode == 127
    assert p.stdout.startswith("mcpreel: the package")
    assert p.stdout.count("\n") == 1


def test_a_program_that_is_not_executable_is_an_error(bare):
    folder = bare / f"node_modules/@mcpreel/linux-{CPU}"
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (folder / "bin/mcpreel").write_text("")
    assert "is not executable: run 'npm ci'" in find(bare).stdout


# The functions.

def script(folder, source, **variables):
    """The JSON that a script writes."""
    (folder / "it.mjs").write_text("import { McpreelError, ReplayServer, findProgram, run, verify } from 'mcpreel'\n"
                                   "const SERVER = [findProgram(), 'demo', 'server']\n"
                                   "const say = (value) => console.log(JSON.stringify(value))\n" + source)
    p = run("node", folder / "it.mjs", cwd=folder, env=environment(**variables))
    assert p.returncode == 0, p.stdout
    return json.loads(p.stdout)


@pytest.fixture
def folder(tmp_path, modules):
    (tmp_path / "node_modules").symlink_to(modules)
    return tmp_path


def test_run_returns_output_and_exit_code(folder):
    done = script(folder, "say(await run(['show', 'no-such.jsonl']))")
    assert done["code"] == 3
    assert "no-such.jsonl" in done["stderr"]


def test_the_report_of_a_replay_names_what_was_not_recorded(folder, recording):
    report = script(folder, """
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
const server = await ReplayServer.start('demo.jsonl', { options: ['--fail-at-end'] })
const client = new Client({ name: 'test', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
await client.callTool({ name: 'weather', arguments: { city: 'Oslo' } }).catch(() => {})
await client.close()
const { unmatched_requests } = await server.stop()
say([unmatched_requests.map((one) => one.subject), server.exitCode, (await server.stop()).unmatched])
""")
    assert report == [["weather"], 1, 1]


def test_a_replay_on_stdio_is_a_command(folder, recording):
    text = script(folder, """
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
const client = new Client({ name: 'test', version: '1' })
await client.connect(new StdioClientTransport(ReplayServer.stdioParams('demo.jsonl')))
const { content } = await client.callTool({ name: 'weather', arguments: { city: 'Lisbon' } })
await client.close()
say(content[0].text)
""")
    assert "Lisbon" in text


def test_a_replay_of_a_missing_file_is_an_error_with_its_reason(folder):
    said = script(folder, """
try { await ReplayServer.start('no-such.jsonl') } catch (error) { say([error instanceof McpreelError, error.message]) }
""")
    assert said[0] is True
    assert "no-such.jsonl" in said[1]


def test_a_process_that_ends_leaves_no_server_behind(folder, recording):
    url = script(folder, "const server = await ReplayServer.start('demo.jsonl'); say(server.url); process.exit(0)")
    address = urllib.parse.urlsplit(url)
    time.sleep(0.2)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port), 5)


def test_verify_returns_the_verdicts(folder, recording):
    same, changed = script(folder, """
say([await verify('demo.jsonl', { server: SERVER }), await verify('demo.jsonl', { server: `'${SERVER[0]}' demo server "--changed"` })])
""")
    assert same["failed"] == 0
    assert same["passed"] == same["total"] > 5
    (failed,) = [result for result in changed["results"] if not result["passed"]]
    assert failed["method"] == "tools/call [divide]"
    assert failed["diff"] == ['$.result.content[0].text: "cannot divide 1 by zero" != "division by zero"']


@pytest.mark.parametrize("server,reason", [("[]", "needs a server"), ('"node \'x"', "a quote or a backslash without its end"),
                                           ('["/no/such/program"]', "/no/such/program")])
def test_a_server_that_cannot_be_used_is_an_error_with_its_reason(folder, recording, server, reason):
    said = script(folder, f"await verify('demo.jsonl', {{ server: {server} }}).catch((error) => say(error.message))")
    assert reason in said


# The types, as users of TypeScript see them.

TYPED = """
import { mcpTest, expect, verifyRecordings, type Call } from 'mcpreel/vitest'
import { ReplayServer, verify, type VerifyResult } from 'mcpreel'

mcpTest.with({ server: 'node server.js', ignore: ['$.result..id'] })('typed', async ({ mcp, task }) => {
  const client = await mcp.client({ transport: 'http' })
  const out = await client.callTool({ name: 'search', arguments: {} })
  expect(out).toBeToolResult({ text: /x/ })
  expect(mcp).not.toHaveCalledTool('delete_*')
  await expect(mcp).toMatchRecording()
  const calls: Call[] = mcp.calls
  expect(calls.length).toBe(1)
  expect(task.name).toMatch(/typed/)
})
verifyRecordings('*.jsonl', { url: 'http://127.0.0.1:1' })
const result: Promise<VerifyResult> = verify('a', { server: 'x' })
void ReplayServer.start('a').then((server) => server.url.length + result.toString().length)
"""


@pytest.mark.parametrize("group", ["js", "vitest-5"])
def test_the_types_are_those_of_the_functions(group, packages, tmp_path):
    modules = make_modules(tmp_path, group, packages)
    compiler = [peers("js") / "node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target",
                "es2022", "--types", "node", "--typeRoots", peers("js") / "node_modules/@types"]
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "typed.ts").write_text(TYPED)
    (tmp_path / "required.cts").write_text("import mcpreel = require('mcpreel')\nconst path: string = mcpreel.findProgram()\nvoid path\n")
    p = run(*compiler, "typed.ts", "required.cts", cwd=tmp_path)
    assert p.returncode == 0, p.stdout
    (tmp_path / "typed.ts").write_text(TYPED.replace("ignore:", "ignored:").replace("toHaveCalledTool('", "toHaveCalledTool(1, '"))
    p = run(*compiler, "typed.ts", cwd=tmp_path)
    assert p.stdout.count("error TS") == 2, p.stdout
    assert modules.is_dir()

"""Files that are no recording, or a broken or hostile one: one clear line that names the place, exit
code 3, bounded memory and time. Files that only end badly are used up to there.

Memory is measured on the optimised build, whatever the program under test is: sanitizers keep memory
of their own.
"""
import gzip
import json
import os
import pathlib
import pty
import random
import re
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(180)  # a wait without end must fail the test
OPTIMISED = ROOT / "build" / "mcpreel"
LIMIT_KB = 256 * 1024  # twice the longest line, and a margin
SECONDS = 60  # for a loaded machine; all of this takes less than one

HEADER = ('{"type":"header","version":"1.0","recorded_at":"2026-11-15T21:00:00Z","upstream":"u",'
          '"thoughtjack_version":"0.3.0","us":0}\n')
MESSAGE = ('{"type":"message","seq":1,"ts":"2026-11-15T21:00:00Z","dir":"c2s",'
           '"msg":{"jsonrpc":"2.0","id":1,"method":"ping"},"us":1,"conn":1}\n')
COMMANDS = pytest.mark.parametrize("command", ["inspect", "replay"])


def run_on_file(run, mcpreel, command, path, **more):
    """The words and the exit code of a command; hints, which are indented, are part of their line."""
    ran = run([mcpreel, command, path], timeout=SECONDS, **more)
    error_lines = [line for line in ran.err.decode().splitlines() if not line.startswith("  ")]
    return ran, error_lines


def assert_rejected(run, mcpreel, command, path, expected_error, code=3, **more):
    ran, error_lines = run_on_file(run, mcpreel, command, path, **more)
    assert (ran.code, ran.out, len(error_lines)) == (code, b"", 1), ran
    assert re.fullmatch(f"mcpreel: {expected_error}", error_lines[0]), ran


# --- what is no file

def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as s:
        here = os.getcwd()
        os.chdir(path.parent)  # its address may not be long
        s.bind(path.name)
        os.chdir(here)


@COMMANDS
@pytest.mark.parametrize("make, why", [
    (None, "No such file or directory"),
    (pathlib.Path.mkdir, "it is a directory, not a file"),
    (make_fifo, "it is a pipe, not a file"),
    (make_socket, "it is a socket, not a file"),
    (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file"),
    (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
    (lambda path: path.touch(), "it is empty"),
    (lambda path: path.write_bytes(gzip.compress(HEADER.encode())[:10]), "the compressed data is cut off"),
    (lambda path: path.write_bytes(bytes.fromhex("28b52ffd0458")), "the compressed data is cut off"),
], ids=["missing", "directory", "fifo", "socket", "device", "loop", "empty", "torn gzip", "torn zstd"])
def test_a_path_without_a_file_is_an_error(command, make, why, run, mcpreel, tmp_path):
    if make:
        make(tmp_path / "f")
    assert_rejected(run, mcpreel, command, tmp_path / "f", re.escape(f"cannot read '{tmp_path}/f': {why}"))


# Root may read everything, unless that is taken from it.
WITHOUT_OVERRIDE = ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@COMMANDS
def test_a_file_without_permission_is_an_error(command, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER)
    path.chmod(0)
    ran = run([*WITHOUT_OVERRIDE, mcpreel, command, path])
    assert (ran.code, ran.out) == (3, b""), ran
    assert ran.err == f"mcpreel: cannot read '{path}': Permission denied\n".encode()


@COMMANDS
def test_a_read_error_of_the_disk_is_an_io_error(command, run, mcpreel):
    assert_rejected(run, mcpreel, command, "/proc/self/mem", "cannot read '/proc/self/mem': Input/output error", code=5)


# --- what is no recording

def noise(seed, size):
    return random.Random(seed).randbytes(size)


@COMMANDS
@pytest.mark.parametrize("content", [
    b"\x7fELF\2\1\1" + bytes(1000), noise(1, 100_000), b"\xff" * 100, b"\0" * 100, b"\n\n\n", b"hello\n", b"{", b"[]\n",
    b"{}\n", b'"a"\n', b"7", b'{"jsonrpc":"3.0"}\n', b'{"type":7}\n', b"PK\3\4" + bytes(50),
], ids=lambda content: repr(content[:12]))
def test_a_file_that_is_no_recording_is_an_error(command, content, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(content)
    assert_rejected(run, mcpreel, command, path, re.escape(str(path)) + r":1:\d+: .+")


@COMMANDS
@pytest.mark.parametrize("version", ["2.0", "0.9", "10.0", "", "one", "1"])
def test_an_unsupported_version_is_an_error(command, version, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER.replace('"1.0"', f'"{version}"') + MESSAGE)
    if version == "1":
        assert run_on_file(run, mcpreel, command, path)[0].code == 0
        return
    assert_rejected(run, mcpreel, command, path,
            re.escape(f"{path}:1:1: this is a recording of version {version}; this program reads version 1"))


# --- what is broken before the end

BROKEN = {
    "garbage": ("oops", 1, "not valid JSON"),
    "half a line": (MESSAGE[:50], 51, "the line ends inside a JSON value"),
    "half a string": (MESSAGE[:30], 31, "the line ends inside a JSON value"),
    "two lines run together": (MESSAGE.strip() + MESSAGE.strip(), len(MESSAGE), "not valid JSON"),
    "bytes that are no text": ('{"type":"message","x":"\udcff"}', 24, "not valid JSON"),
    "NUL bytes": ("\0\0\0", 1, "NUL bytes in the middle of the file"),
    "a control character": ('{"type":"message","x":"\1"}', 24, "not valid JSON"),
    "an array": ("[1,2]", 1, "a line of a recording must be an object"),
    "a word": ("null", 1, "a line of a recording must be an object"),
    "no type": ("{}", 1, "a line without a 'type' that is a string"),
    "a type that is no string": ('{"type":7}', 1, "a line without a 'type' that is a string"),
}


@COMMANDS
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_in_the_middle_is_an_error(command, name, run, mcpreel, tmp_path):
    text, byte, why = BROKEN[name]
    path = tmp_path / "f"
    path.write_bytes((HEADER + MESSAGE + text + "\n" + MESSAGE).encode(errors="surrogateescape"))
    assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:3:{byte}: {why}") + ".*")


@COMMANDS
@pytest.mark.parametrize("text", ["oops", '{"type":"message","x":"\1"', "[" * 1_000_000, '{"type":]', "{,\0\0"],
                         ids=lambda text: repr(text[:12]))
def test_an_invalid_last_line_is_not_a_truncated_line(command, text, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE + text)
    assert_rejected(run, mcpreel, command, path, re.escape(str(path)) + r":3:\d+: not valid JSON: .+")


def without(line, member):
    return re.sub(rf'"{member}":("[^"]*"|\{{[^}}]*\}}|\d+),', "", line, count=1)


@COMMANDS
@pytest.mark.parametrize("member", ["seq", "ts", "dir", "msg"])
def test_a_message_without_a_required_member(command, member, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE + without(MESSAGE, member) + MESSAGE)
    assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:3:1: a message line without '{member}'"))


@COMMANDS
@pytest.mark.parametrize("member", ["version", "recorded_at", "upstream", "thoughtjack_version"])
def test_a_header_without_a_required_member(command, member, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(without(HEADER.replace(',"us":0}', ',"us":0,"x":0}'), member) + MESSAGE)
    assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:1:1: a header line without '{member}'"))


WRONG = [("seq", value) for value in ("-1", "1.5", '"1"', "null", "1e30")] + [
    ("ts", value) for value in ('"yesterday"', "0", '""', '"2026-13-01T00:00:00Z"')] + [
    ("dir", value) for value in ('"up"', "1", '"C2S"')] + [
    ("msg", value) for value in ("[]", '"{}"', "null", "1")] + [
    ("latency_ms", value) for value in ("-1", '"2"')]


@COMMANDS
@pytest.mark.parametrize("member, value", WRONG)
def test_a_member_with_an_invalid_value_is_an_error(command, member, value, run, mcpreel, tmp_path):
    line = without(MESSAGE, member).replace('"type":"message",', f'"type":"message","{member}":{value},')
    path = tmp_path / "f"
    path.write_text(HEADER + line + MESSAGE)
    byte = line.index(f'"{member}":') + len(member) + 4
    assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:2:{byte}: '{member}' of a message line must be ") + ".+")


# --- what is too much

@COMMANDS
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_million_levels_of_nesting_are_an_error(command, opening, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE.replace('{"jsonrpc"', opening * 1_000_000 + '{"jsonrpc"') + MESSAGE)
    assert_rejected(run, mcpreel, command, path, re.escape(str(path)) + r":2:\d+: .*nested.*")


@COMMANDS
def test_a_number_of_a_million_digits_is_an_error(command, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE.replace('"seq":1', '"seq":' + "1" * 1_000_000) + MESSAGE)
    assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:2:25: 'seq' of a message line must be ") + ".+")


@COMMANDS
@pytest.mark.parametrize("number", ["1" * 1_000_000, "0." + "1" * 1_000_000, "1e" + "9" * 1_000_000])
def test_a_number_of_a_million_digits_in_a_message_is_accepted(command, number, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE.replace('"id":1', f'"id":{number}') + MESSAGE)
    ran, error_lines = run_on_file(run, mcpreel, command, path)
    assert ran.code == 0 and not [line for line in error_lines if "warning" in line], ran


def test_a_number_of_a_million_digits_can_be_a_filter_value(run, mcpreel, tmp_path):
    """As an id, a token and an argument: all of them are compared and put in by their text."""
    path, digits = tmp_path / "f", "1" * 1_000_000
    ask = f'{{"id":%s,"method":"tools/call","params":{{"name":"t","arguments":{{"n":{digits}}}}}}}'
    path.write_text(HEADER + MESSAGE.replace('{"jsonrpc":"2.0","id":1,"method":"ping"}', ask % 1) + MESSAGE.replace(
        '{"jsonrpc":"2.0","id":1,"method":"ping"}', '{"id":1,"result":{}}').replace("c2s", "s2c"))
    ran = run([mcpreel, "-q", "replay", "--match", "by-request", path], stdin=(ask % digits).encode(), timeout=SECONDS)
    assert (ran.code, ran.out) == (0, f'{{"id":{digits},"result":{{}}}}\n'.encode())


def write_long_line(path, megabytes):
    part = b"a" * (1 << 20)
    with open(path, "wb") as f:
        f.write(HEADER.encode() + b'{"type":"message","x":"')
        for _ in range(megabytes):
            f.write(part)
        f.write(b'"}\n' + MESSAGE.encode())


@COMMANDS
@pytest.mark.parametrize("megabytes", [97, 1024])
def test_a_line_over_the_limit_is_an_error(command, megabytes, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    write_long_line(path, megabytes)
    try:
        assert_rejected(run, mcpreel, command, path, re.escape(f"{path}:2:1: a line or document of more than 96 MB"))
    finally:
        path.unlink()


@COMMANDS
def test_a_line_of_the_maximum_length_is_read(command, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_text(HEADER + MESSAGE.replace('"ping"', '"' + "a" * (60 << 20) + '"') + MESSAGE)
    ran, error_lines = run_on_file(run, mcpreel, command, path)
    assert ran.code == 0 and not [line for line in error_lines if "warning" in line], error_lines
    path.unlink()


# A process inherits the peak of the one it was forked from; so a small one starts the program.
MEASURE = """
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_kb(*command):
    ran = subprocess.run([sys.executable, "-c", MEASURE, *map(os.fspath, command)], stdout=subprocess.PIPE, check=True,
                         timeout=SECONDS)
    return int(ran.stdout)


@COMMANDS
@pytest.mark.parametrize("make", [
    lambda path: write_long_line(path, 512),
    lambda path: path.write_text(HEADER + "[" * 50_000_000),
    lambda path: path.write_text(HEADER + "{\n" * 50_000_000),
    lambda path: path.write_text(HEADER + MESSAGE.replace('"seq":1', '"seq":' + "1" * 50_000_000)),
    lambda path: path.write_bytes(b"\0" * 500_000_000),
    lambda path: path.write_bytes(HEADER.encode() + b"\0" * 500_000_000),
    lambda path: path.write_bytes(b" " * 100_000_000 + b"\n" * 100_000_000),
], ids=["a line without end", "levels without end", "lines without end", "digits without end", "NUL", "a NUL tail", "blanks"])
def test_memory_and_time_are_bounded(command, make, tmp_path):
    if not OPTIMISED.exists():
        pytest.fail(f"no program at '{OPTIMISED}': build it first (make)")
    make(tmp_path / "f")
    before = time.monotonic()
    assert peak_kb(OPTIMISED, command, tmp_path / "f") < LIMIT_KB
    assert time.monotonic() - before < SECONDS
    (tmp_path / "f").unlink()


# --- what only ends badly

TAILS = {
    "half a line": MESSAGE.strip()[:-1].encode(),
    "a few bytes": b'{"ty',
    "one byte": b"{",
    "half a character": MESSAGE.replace("ping", "é").encode()[:-30].split("é".encode())[0] + b"\xc3",
    "NUL bytes": b"\0" * 5000,
    "many NUL bytes": b"\0" * 10_000_000,
    "half a line and NUL bytes": MESSAGE[:40].encode() + b"\0" * 100,
}


@COMMANDS
@pytest.mark.parametrize("name", TAILS)
def test_a_truncated_end_gives_one_warning(command, name, run, mcpreel, tmp_path):
    path = tmp_path / "f"
    path.write_bytes((HEADER + MESSAGE).encode() + TAILS[name])
    ran, error_lines = run_on_file(run, mcpreel, command, path)
    warnings = [line for line in error_lines if "warning" in line]
    assert ran.code == 0 and len(warnings) == 1, ran
    assert re.fullmatch(rf"mcpreel: warning: {re.escape(str(path))}:3:\d+: .+; used up to here", warnings[0]), ran


def test_messages_before_a_truncated_end_are_replayed(run, mcpreel, tmp_path):
    path = tmp_path / "f"
    lines = [MESSAGE.replace("ping", "tools/list"),
             MESSAGE.replace('"seq":1', '"seq":2').replace("c2s", "s2c").replace('"method":"ping"', '"result":{"tools":[]}')]
    path.write_text(HEADER + "".join(lines) + MESSAGE[:60])
    ran = run([mcpreel, "replay", path], stdin=b'{"id":"a","method":"tools/list"}\n')
    assert (ran.code, ran.out) == (0, b'{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}\n'), ran


# Each prefix of a recording is a recording: with a warning if it ends inside a line, and an error
# only while it is too short to be told for one.
@COMMANDS
def test_a_recording_truncated_at_any_byte_is_read(command, run, mcpreel, tmp_path):
    path, contents = tmp_path / "f", HEADER + MESSAGE
    for cut in [*range(0, len(contents), 7), len(HEADER) - 1, len(HEADER), len(HEADER) + 1, len(contents) - 1]:
        path.write_text(contents[:cut])
        ran, error_lines = run_on_file(run, mcpreel, command, path)
        if cut < len('{"type":"header"'):
            assert ran.code == 3 and len(error_lines) == 1, (cut, ran)
        else:
            incomplete = contents[:cut][-1] != "\n" and not contents[:cut].endswith("}")
            assert ran.code == 0 and sum("used up to here" in line for line in error_lines) == incomplete, (cut, ran)


# --- what a terminal would obey

CONTROL_CHARACTERS = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0001]")
HOSTILE = "a\x9b2J\u202eb\u2066c\ufeffd\U000e0001e\x7f"


def on_terminal(command):
    """The bytes of a command's standard output and standard error, both a terminal."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    error_lines = b""
    while True:
        try:
            error_lines += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    return error_lines.decode(), p.wait(SECONDS)


@pytest.mark.parametrize("words", [["show"], ["show", "-m"], ["inspect"], ["check"]], ids=" ".join)
def test_json_output_on_a_terminal_is_escaped_and_equal(words, run, mcpreel, tmp_path):
    path = tmp_path / f"{HOSTILE}.jsonl"
    text = (f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{HOSTILE}","arguments":'
            f'{{"{HOSTILE}":"{HOSTILE}"}}}}}}')
    path.write_text(HEADER + MESSAGE.replace('{"jsonrpc":"2.0","id":1,"method":"ping"}', text))
    command = [mcpreel, "-q", "--json", words[0], str(path), *words[1:]]
    piped = run(command, timeout=SECONDS)
    shown, _ = on_terminal(command)
    assert not CONTROL_CHARACTERS.search(shown), shown
    assert ([json.loads(line) for line in shown.splitlines()] ==
            [json.loads(line) for line in piped.out.decode().split("\n") if line])


def test_an_error_as_json_on_a_terminal_is_escaped(mcpreel, tmp_path):
    shown, code = on_terminal([mcpreel, "--json", "show", str(tmp_path / HOSTILE)])
    assert code != 0
    assert not CONTROL_CHARACTERS.search(shown), shown
    assert HOSTILE in json.loads(shown)["error"]["message"]

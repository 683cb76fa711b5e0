"""Run tests/golden/*.case: each runs the program and compares its output.

A case starts with a comment that names its subject. Each line is a word and its text:

    file NAME      a file in the fresh directory the program runs in; its lines follow, each
                   after "| " ("|- " for a last line without a newline)
    stdin          what the next run reads, in the same way; otherwise it reads nothing
    env NAME=TEXT  a variable for all following runs; besides these there are only PATH, HOME
                   and TERM=dumb
    run mcpreel …  runs the program under test; words are quoted as in a shell
    out TEXT       the next line it must write to standard output
    err TEXT       the same for standard error
    exit N         how it must end; 0 if not said
    same A B       files A and B must have the same bytes in the end

The output must be exactly as given. The only placeholders, in run, out and err, are <version> and
<date>, those of the release as in the top meson.build, and \\e, the escape character.

The program is build/mcpreel, or what the variable MCPREEL names.
"""
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel")).resolve()
SECONDS = 20


class BadCase(Exception):
    pass


@dataclasses.dataclass
class Run:
    line: str
    stdin: str
    env: dict
    out: list = dataclasses.field(default_factory=list)
    err: list = dataclasses.field(default_factory=list)
    exit: int = 0


@dataclasses.dataclass
class Case:
    files: dict = dataclasses.field(default_factory=dict)
    runs: list = dataclasses.field(default_factory=list)
    same: list = dataclasses.field(default_factory=list)


def placeholders():
    build = (ROOT / "meson.build").read_text()
    return {"<version>": re.search(r"^ *version: '([^']+)'", build, re.M)[1],
            "<date>": re.search(r'MCPREEL_DATE="([^"]+)"', build)[1], "\\e": "\x1b"}


class Parser:
    """Reads a case line by line; each word of the language is a method."""

    def __init__(self):
        self.case = Case()
        self.text = None  # the file that "|" lines go to; "" is standard input
        self.stdin = ""
        self.env = {}
        self.values = placeholders()

    def line(self, line):
        word, _, rest = line.partition(" ")
        if word == "|" or word == "|-":
            return self.more(rest + ("\n" if word == "|" else ""))
        self.text = None
        if word and not word.startswith("#"):
            method = getattr(self, "word_" + word, None)
            if not method:
                raise BadCase(f"unknown word {word!r}")
            method(rest)

    def more(self, text):
        if self.text is None:
            raise BadCase("a '|' line that follows neither file nor stdin")
        if self.text == "":
            self.stdin += text
        else:
            self.case.files[self.text] += text

    def last_run(self):
        if not self.case.runs:
            raise BadCase("expects something before the first run")
        return self.case.runs[-1]

    def filled(self, text):
        for name, value in self.values.items():
            text = text.replace(name, value)
        return text

    def word_file(self, name):
        if not name or name in self.case.files:
            raise BadCase(f"file {name!r} has no name or is there twice")
        self.text = name
        self.case.files[name] = ""

    def word_stdin(self, rest):
        self.text = ""

    def word_env(self, rest):
        name, sep, value = rest.partition("=")
        if not sep:
            raise BadCase("env needs NAME=TEXT")
        self.env[name] = value

    def word_run(self, rest):
        self.case.runs.append(Run(self.filled(rest), self.stdin, dict(self.env)))
        self.stdin = ""

    def word_out(self, rest):
        self.last_run().out.append(self.filled(rest))

    def word_err(self, rest):
        self.last_run().err.append(self.filled(rest))

    def word_exit(self, rest):
        self.last_run().exit = int(rest)

    def word_same(self, rest):
        a, b = rest.split()
        self.case.same.append((a, b))


def parse(text):
    parser = Parser()
    if not text.startswith("# "):
        raise BadCase("does not start with a comment that says what it shows")
    for n, line in enumerate(text.splitlines(), 1):
        try:
            parser.line(line)
        except (BadCase, ValueError) as e:
            raise BadCase(f"line {n}: {e}") from e
    if not parser.case.runs:
        raise BadCase("runs nothing")
    return parser.case


def run_as_case(run, out, err, code):
    """One run in the language of the cases."""
    def lines(word, text):
        for line in text.split("\n")[:-1]:
            yield f"{word} {line}"
        if text.split("\n")[-1]:
            yield f"{word} {text.split(chr(10))[-1]}<no newline>"
    return [f"run {run.line}", *lines("out", out), *lines("err", err), f"exit {code}"]


def perform(run, directory):
    words = shlex.split(run.line)
    if words[:1] != ["mcpreel"]:
        raise BadCase("only mcpreel can be run")
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "TERM": "dumb", **run.env}
    env.update((k, v) for k, v in os.environ.items() if re.match(r"[A-Z]+SAN_", k))
    p = subprocess.run(["mcpreel", *words[1:]], executable=PROGRAM, cwd=directory, env=env,
                       input=run.stdin.encode(), capture_output=True, timeout=SECONDS)
    return [stream.decode("utf-8", "backslashreplace") for stream in (p.stdout, p.stderr)] + [
        p.returncode]


def differences(case, directory):
    """Returns the deviations as lines of a diff."""
    for name, text in case.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    expected_lines, actual_lines = [], []
    for run in case.runs:
        expected_lines += run_as_case(run, "".join(s + "\n" for s in run.out), "".join(s + "\n" for s in run.err),
                     run.exit)
        actual_lines += run_as_case(run, *perform(run, directory))
    for a, b in case.same:
        expected_lines.append(f"same {a} {b}")
        equal = all((directory / f).exists() for f in (a, b)) and (
            (directory / a).read_bytes() == (directory / b).read_bytes())
        actual_lines.append(f"same {a} {b}" if equal else f"{a} and {b} are not the same")
    return list(difflib.unified_diff(expected_lines, actual_lines, "told", "seen", lineterm="", n=3))


@pytest.mark.parametrize("path", sorted(HERE.glob("*.case")), ids=lambda p: p.stem)
def test_the_case_has_the_expected_output(path, tmp_path):
    diff = differences(parse(path.read_text()), tmp_path)
    if diff:
        pytest.fail("\n".join(repr(line)[1:-1] if "\x1b" in line else line for line in diff),
                    pytrace=False)


VERSION = "# A story.\nrun mcpreel version\n"


@pytest.mark.parametrize("text, seen", [
    (VERSION, "+out mcpreel "),
    (VERSION + "out mcpreel <version>\nout\n", "-out "),
    (VERSION + "out mcpreel <version>\nerr x\n", "-err x"),
    (VERSION + "out mcpreel <version>\nexit 1\n", "-exit 1"),
    (VERSION + "out mcpreel <version> \n", "+out mcpreel "),
    ("# A story.\nfile a\n| x\nfile b\n|- x\nrun mcpreel version\nout mcpreel <version>\n"
     "same a b\n", "+a and b are not the same"),
])
def test_a_wrong_case_fails(text, seen, tmp_path):
    assert any(line.startswith(seen) for line in differences(parse(text), tmp_path))


@pytest.mark.parametrize("text", [
    "run mcpreel version\n", "# A story.\n", VERSION + "uot x\n", "# A story.\nout x\n" + VERSION,
    "# A story.\n| x\nrun mcpreel version\n", VERSION + "exit one\n", VERSION + "same a\n",
    "# A story.\nfile a\nfile a\nrun mcpreel version\n", "# A story.\nenv A\nrun mcpreel version\n",
])
def test_an_invalid_case_is_rejected(text):
    with pytest.raises(BadCase):
        parse(text)


def test_only_the_tested_program_is_run(tmp_path):
    with pytest.raises(BadCase):
        differences(parse("# A story.\nrun rm x\n"), tmp_path)

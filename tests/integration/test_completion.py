"""Completion scripts, sourced by the shells they are for.

The scripts come from fixture-program, which has a command "record" with every kind of option;
see tests/unit/fake-cli.h. The scripts of the real program are checked for syntax.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MCPREEL", ROOT / "build/mcpreel")).resolve()
FIXTURE = PROGRAM.parent / "tests/integration/fixture-program"
SHELLS = ("bash", "zsh", "fish")
SECONDS = 30


def need(shell):
    return shutil.which(shell) or pytest.skip(f"{shell} is not installed")


def script(program, shell):
    return subprocess.run([program, "completion", shell], capture_output=True, text=True,
                          check=True, timeout=SECONDS).stdout


@pytest.fixture(scope="module")
def work_dir(tmp_path_factory):
    """A directory with files, one of them with a blank in its name, and a server in bin/."""
    tmp_path = tmp_path_factory.mktemp("place")
    (tmp_path / "session one.jsonl").touch()
    (tmp_path / "session-two.jsonl").touch()
    (tmp_path / "glob[ab]*").touch()
    (tmp_path / "data").mkdir()
    server = tmp_path / "bin/zz-server"
    server.parent.mkdir()
    server.touch(0o755)
    return tmp_path


def environment(work_dir):
    return {"PATH": f"{work_dir}/bin:{os.environ['PATH']}", "HOME": str(work_dir), "TERM": "dumb",
            "PS1": "ready> "}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("program", [PROGRAM, FIXTURE], ids=["mcpreel", "fixture"])
def test_the_shell_accepts_its_script(program, shell, tmp_path):
    path = tmp_path / "script"
    path.write_text(script(program, shell))
    p = subprocess.run([need(shell), "-n", path], capture_output=True, text=True, timeout=SECONDS)
    assert (p.returncode, p.stdout, p.stderr) == (0, "", "")


# The line up to the cursor, and all that is offered there.
LINES = [
    ("mcpreel ", "record plain start completion help version"),
    ("mcpreel re", "record"),
    ("mcpreel xyz", ""),
    ("mcpreel --co", "--color"),
    ("mcpreel --color ", "auto always never"),
    ("mcpreel --color always re", "record"),
    ("mcpreel --json completion ", "bash zsh fish"),
    ("mcpreel completion z", "zsh"),
    ("mcpreel help exit", "exit-codes"),
    ("mcpreel help pl", "plain"),
    ("mcpreel record --ma", "--match"),
    ("mcpreel record --match ", "sequential by-request"),
    ("mcpreel record --no-", "--no-redact"),
    ("mcpreel record --jso", "--json"),
    ("mcpreel record --odd", ""),
    ("mcpreel record --color n", "never"),
    ("mcpreel record -o session", "session one.jsonl|session-two.jsonl"),
    ("mcpreel record --output session-", "session-two.jsonl"),
    ("mcpreel record session-", "session-two.jsonl"),
    ("mcpreel plain glob", "glob[ab]*"),
    ("mcpreel record --label ", ""),
    ("mcpreel plain session-", "session-two.jsonl"),
    ("mcpreel plain --verb", "--verbose"),
]

# After "--" it is the server's command line, whatever stands there.
SERVERS = [
    ("mcpreel record -- zz-", ["zz-server"]),
    ("mcpreel start -- zz-", ["zz-server"]),
    ("mcpreel -- zz-", ["zz-server"]),
    ("mcpreel start -- zz-server dat", ["data"]),
    ("mcpreel record -- zz-server --jso", []),
]


def names(text):
    return sorted(text.split("|") if "|" in text else text.split())


BASH = r"""
source "$1"
IFS=$'\n' read -r -d '' -a COMP_WORDS < <(printf '%s\n' "${@:2}"; printf '\0')
(( ${#COMP_WORDS[@]} < $# - 1 )) && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_mcpreel
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash_offers(work_dir, words):
    """Returns COMPREPLY after bash has split the line into `words`."""
    path = work_dir / ".completion"
    path.write_text(script(FIXTURE, "bash"))
    p = subprocess.run([need("bash"), "--norc", "--noprofile", "-c", BASH, "bash", path, *words],
                       cwd=work_dir, env=environment(work_dir), capture_output=True, text=True,
                       timeout=SECONDS)
    assert p.stderr == ""
    return sorted(line for line in p.stdout.splitlines() if line)


@pytest.mark.parametrize("line, offered", LINES)
def test_bash_offers(line, offered, work_dir):
    assert bash_offers(work_dir, line.split(" ")) == names(offered)


@pytest.mark.parametrize("words, offered", [
    (["mcpreel", "--color", "=", ""], ["always", "auto", "never"]),
    (["mcpreel", "--color", "="], ["always", "auto", "never"]),
    (["mcpreel", "record", "--color", "=", "al"], ["always"]),
    (["mcpreel", "--color", "=", "always", "re"], ["record"]),
    (["mcpreel", "record", "--output", "=", "session-"], ["session-two.jsonl"]),
    (["mcpreel", "record", "--cassette", "session-"], ["session-two.jsonl"]),
])
def test_bash_completes_after_an_equals_sign(words, offered, work_dir):
    assert bash_offers(work_dir, words) == offered


@pytest.mark.parametrize("line, offered", SERVERS)
def test_bash_completes_the_server_after_two_dashes(line, offered, work_dir):
    assert bash_offers(work_dir, line.split(" ")) == offered


FISH = "source $argv[1]; complete -C $argv[2]"


def fish_offers(work_dir, line):
    path = work_dir / ".completion"
    path.write_text(script(FIXTURE, "fish"))
    p = subprocess.run([need("fish"), "--no-config", "-c", FISH, path, line], cwd=work_dir,
                       env=environment(work_dir), capture_output=True, text=True, timeout=SECONDS)
    assert p.stderr == ""
    return sorted(offer.partition("\t")[0] for offer in p.stdout.splitlines())


@pytest.mark.parametrize("line, offered", LINES)
def test_fish_offers(line, offered, work_dir):
    assert fish_offers(work_dir, line) == names(offered)


@pytest.mark.parametrize("line, offered", SERVERS)
def test_fish_completes_the_server_after_two_dashes(line, offered, work_dir):
    assert [o.rstrip("/") for o in fish_offers(work_dir, line)] == offered


def test_commands_of_mcpreel_are_not_offered_as_servers(work_dir):
    assert "plain" not in bash_offers(work_dir, ["mcpreel", "--", "plai"])
    assert "plain" not in fish_offers(work_dir, "mcpreel -- plai")


class Terminal:
    """An interactive shell on a terminal of its own."""

    def __init__(self, command, cwd, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(command[0], command, env)
        self.seen = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        """Returns the output since the last call up to the pattern."""
        end = time.monotonic() + SECONDS
        while not (m := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            assert ready, f"{pattern!r} did not come; seen: {self.seen!r}"
            self.seen += os.read(self.fd, 4096).decode(errors="replace")
        found, self.seen = self.seen[:m.end()], self.seen[m.end():]
        return found

    def close(self):
        self.type("\x15exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


# Shows the line as completion left it, between marks no line has.
ZSH = r"""
PS1='ready> '; unsetopt zle_bracketed_paste; autoload -Uz compinit
fpath=($PWD/.functions $fpath); compinit -u -d $PWD/.dump
zstyle ':completion:*' list-prompt ''; LISTMAX=1000; setopt no_beep
show() { print -rn -- "<<$BUFFER>>" }; zle -N show; bindkey '^X' show
stty -echo
"""


@pytest.fixture(scope="module")
def zsh(work_dir):
    (work_dir / ".functions").mkdir()
    (work_dir / ".functions/_mcpreel").write_text(script(FIXTURE, "zsh"))
    (work_dir / ".setup").write_text(ZSH)
    t = Terminal([need("zsh"), "-f", "-i"], work_dir, environment(work_dir))
    t.type("source ./.setup; print set''up\n")
    t.wait_for(r"setup[\r\n](.|\n)*ready> ")
    yield t
    t.close()


@pytest.mark.parametrize("line, becomes", [
    ("mcpreel rec", "mcpreel record "),
    ("mcpreel completion z", "mcpreel completion zsh "),
    ("mcpreel --color al", "mcpreel --color always "),
    ("mcpreel --json pl", "mcpreel --json plain "),
    ("mcpreel record --ma", "mcpreel record --match="),
    ("mcpreel record --match=by", "mcpreel record --match=by-request "),
    ("mcpreel record --no-r", "mcpreel record --no-redact "),
    ("mcpreel record -o session-", "mcpreel record -o session-two.jsonl "),
    ("mcpreel record session-", "mcpreel record session-two.jsonl "),
    ("mcpreel record --od", "mcpreel record --od"),
    ("mcpreel help exit", "mcpreel help exit-codes "),
    ("mcpreel help pl", "mcpreel help plain "),
    ("mcpreel version ses", "mcpreel version ses"),
    ("mcpreel start -- zz-", "mcpreel start -- zz-server "),
    ("mcpreel -- zz-", "mcpreel -- zz-server "),
    ("mcpreel record a -o b -- zz-", "mcpreel record a -o b -- zz-server "),
    ("mcpreel start -- zz-server dat", "mcpreel start -- zz-server data/"),
    ("mcpreel start -- zz-server --jso", "mcpreel start -- zz-server --jso"),
])
def test_zsh_completes(line, becomes, zsh):
    zsh.type("\x15" + line + "\t\x18")
    assert re.search(r"<<(.*?)>>", zsh.wait_for(r"<<.*?>>"))[1] == becomes


def test_bash_completes_on_a_terminal(work_dir):
    (work_dir / ".completion").write_text(script(FIXTURE, "bash"))
    t = Terminal([need("bash"), "--norc", "--noprofile", "-i"], work_dir, environment(work_dir))
    t.type("source ./.completion; echo set''up\n")
    t.wait_for(r"setup[\r\n](.|\n)*ready> ")
    t.type("mcpreel rec\t--match=by\t-o session\\ \tX")
    assert "record --match=by-request -o session\\ one.jsonl X" in t.wait_for("X")
    t.close()

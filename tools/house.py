"""Shared by the checks: the list of files, C without its comments, and reports.

A check prints one "file:line: what is wrong" per finding and exits 1; nothing and 0 when all
is well; 77, with the reason, when it cannot judge on this machine.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CANNOT_JUDGE = 77

C = (".c", ".h", ".cc")


def files(under="", suffixes=()):
    """Paths relative to the root, sorted: what git tracks or would add, or, in a copy without
    git, everything that was not built."""
    if (ROOT / ".git").exists():
        p = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        names = set(p.stdout.split("\0")) - {""}
    else:
        names = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*")}
    built = re.compile(r"^build(-\w+)?/|(^|/)(__pycache__|node_modules|\.pytest_cache)/")
    paths = (pathlib.PurePosixPath(n) for n in sorted(names)
             if n.startswith(under) and not built.search(n))
    return [p for p in paths if (not suffixes or p.suffix in suffixes) and (ROOT / p).is_file()]


def read(path):
    return (ROOT / path).read_text()


TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.S)


def code(text, strings=False):
    """C text with comments, and unless `strings` what stands in quotes, blanked; every
    character stays on its line and column."""
    def blank(m):
        if m["comment"] or not strings:
            keep = 0 if m["comment"] else 1
            inner = m[0][keep:len(m[0]) - keep]
            hidden = re.sub(r"[^\n]", " ", inner)
            return m[0][:keep] + hidden + m[0][len(m[0]) - keep:]
        return m[0]
    return TOKEN.sub(blank, text)


def includes(path):
    """(line, '"' or '<', name) of every #include."""
    for n, line in enumerate(code(read(path), strings=True).splitlines(), 1):
        if m := re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line):
            yield n, m[1], m[2]


def table(name, separator=":"):
    """(line, fields) of every row of tools/<name>; '#' starts a comment."""
    for n, line in enumerate(read(f"tools/{name}").splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line:
            yield n, [field.strip() for field in line.split(separator)]


def matches(path, globs):
    return any(pathlib.PurePosixPath(path).match(g) for g in globs.split())


class Findings:
    def __init__(self):
        self.lines = []

    def add(self, path, line, what):
        self.lines.append((str(path), line, what))

    def end(self):
        for path, line, what in sorted(set(self.lines)):
            print(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        sys.exit(1 if self.lines else 0)


def cannot_judge(why):
    print(why)
    sys.exit(CANNOT_JUDGE)

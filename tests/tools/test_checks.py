"""Every rule of every check has been seen to fail: each row plants one fault in a copy of the
tree and names the findings, all of them, that the check must print."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import house  # noqa: E402

CHECKS = sorted(p.name for p in (ROOT / "tools").glob("check-*"))
PROTECTED = ("-O2 -fPIE -pie -fstack-protector-all -D_FORTIFY_SOURCE=2 "
             "-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack")
PROGRAM = """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char b[64];
    memset(b, argc, sizeof b);
    snprintf(b, (size_t)argc, "%s", argv[0]);
    return puts(b);
}
"""


@dataclasses.dataclass
class Fault:
    check: str
    rule: str
    findings: list
    plant: dict  # path: new content, or (old, new) to replace in what is there


def fault(check, rule, plant, *findings):
    return pytest.param(Fault(check, rule, list(findings), plant), id=f"{check}: {rule}")


def header(name, body=""):
    guard = re.sub(r"\W", "_", name).upper()
    return f"/* {name} - planted. */\n#ifndef {guard}\n#define {guard}\n{body}\n#endif\n"


def function(lines, name="planted", body="    x();\n"):
    return f"void {name}(void)\n{{\n" + body * (lines - 3) + "}\n"


class Tree:
    """A copy of the tree as it would be committed, without git, in which faults are planted."""

    def __init__(self, root):
        self.root, self.planted = root, []
        for path in house.files():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)

    def plant(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            old = path.read_text()
            assert content[0] in old
            content = old.replace(*content, 1)
        path.write_text(content)
        self.planted.append(name)

    def build(self):
        """As much of a build as the checks look at: objects of one module and of what was
        planted, and a program."""
        for name in {"src/base/err.c", *self.planted}:
            self.compile(name, f"build/x.p/{name.replace('/', '_')}.o", "-O1 -c")
        self.plant("program.c", PROGRAM)
        self.compile("program.c", "build/mcpreel", PROTECTED)

    def compile(self, source, target, flags):
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Isrc", *flags.split(), source,
                        "-o", target], cwd=self.root, check=True)

    def run(self, check, *args, **env):
        p = subprocess.run([self.root / "tools" / check, *args], cwd=self.root, text=True,
                           env={**os.environ, **env}, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=60)
        return p.returncode, p.stdout.splitlines()

    def remove_faults(self):
        for name in self.planted:
            (self.root / name).unlink()
            if (ROOT / name).exists():
                shutil.copy(ROOT / name, self.root / name)
        self.planted.clear()
        shutil.rmtree(self.root / "build", ignore_errors=True)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def clean(copy):
    """The findings of each check in the unchanged tree, so that an existing fault does not hide
    whether a planted one is found."""
    copy.build()
    said = {check: copy.run(check) for check in CHECKS}
    copy.remove_faults()
    return said


@pytest.fixture
def tree(copy):
    yield copy
    copy.remove_faults()


@pytest.mark.parametrize("check", CHECKS)
def test_a_clean_tree_passes(clean, check):
    assert clean[check] == (0, [])


MARK = "TO" "DO"
HOST = "registry" ".example.org"
HERE = "/" "work/x"

FAULTS = [
    fault("check-layers", "a folder that may not be included",
          {"src/wire/bad.h": '#include "format/x.h"\n'},
          "src/wire/bad.h:1: 'wire' may not include 'format'"),
    fault("check-layers", "siblings do not see each other",
          {"src/format/bad.c": '\n  # include "engine/x.h"\n#include "transport/y.h"\n',
           "src/json/bad.c": '#include "loop/x.h"\n#include "wire/x.h"\n'},
          "src/format/bad.c:2: 'format' may not include 'engine'",
          "src/format/bad.c:3: 'format' may not include 'transport'",
          "src/json/bad.c:1: 'json' may not include 'loop'",
          "src/json/bad.c:2: 'json' may not include 'wire'"),
    fault("check-layers", "an engine is pure",
          {"src/engine/bad.c": '#include "base/str.h"\n#include "base/clock.h"\n'},
          "src/engine/bad.c:2: 'engine' may not include 'base/clock.h'"),
    fault("check-layers", "an include in a comment does not count",
          {"src/wire/fine.h": '/*\n#include "format/x.h"\n*/\n// #include "cmd/x.h"\n'}),
    fault("check-layers", "folder and file are named",
          {"src/base/bad.c": '#include "err.h"\n#include "../json/json.h"\n'},
          'src/base/bad.c:1: include "folder/file.h", not "err.h"',
          'src/base/bad.c:2: include "folder/file.h", not "../json/json.h"'),
    fault("check-layers", "angle brackets are no way around",
          {"src/base/bad.c": "#include <json/json.h>\n"},
          'src/base/bad.c:1: our own headers are included as "json/json.h"'),
    fault("check-layers", "a folder nobody knows", {"src/misc/bad.c": "\n"},
          "src/misc/bad.c:1: folder 'misc' is not in tools/layers.txt"),
    fault("check-layers", "a file outside any folder", {"src/bad.c": "\n"},
          "src/bad.c:1: a source file stands in src/<folder>/"),
    fault("check-layers", "a circle in the table",
          {"tools/layers.txt": ("\nbase:\n", "\nbase: json\n")},
          "tools/layers.txt:6: 'base' names 'json', which has no row above it"),

    fault("check-headers", "does not compile alone",
          {"src/base/bad.h": header("base/bad.h", "size_t bad(void);")},
          "src/base/bad.h:1: does not compile alone: unknown type name ‘size_t’"),
    fault("check-headers", "guard of another name",
          {"src/base/bad.h": header("base/bad.h").replace("BASE_BAD_H", "BAD_H")},
          "src/base/bad.h:1: include guard is not BASE_BAD_H"),
    fault("check-headers", "code after the guard",
          {"src/base/a-bad.h": header("base/a-bad.h") + "#define X\n"},
          "src/base/a-bad.h:1: include guard is not BASE_A_BAD_H"),
    fault("check-headers", "does not say what it is",
          {"src/base/bad.h": header("base/other.h").replace("OTHER", "BAD")},
          "src/base/bad.h:1: starts with '/* base/bad.h - ' and what it is for"),
    fault("check-headers", "of the tests, too", {"tests/unit/bad.h": "int x(void);\n"},
          "tests/unit/bad.h:1: include guard is not BAD_H",
          "tests/unit/bad.h:1: starts with '/* tests/unit/bad.h - ' and what it is for"),
    fault("check-headers", "own header not first",
          {"src/base/bad.h": header("base/bad.h"),
           "src/base/bad.c": '#include <stdio.h>\n#include "base/bad.h"\n'},
          'src/base/bad.c:1: "base/bad.h" is not included first'),

    fault("check-tests", "a module without row and test", {"src/wire/bad.c": "\n"},
          "src/wire/bad.c:1: has no row in src/wire/meson.build",
          "src/wire/bad.c:1: has no unit test tests/unit/test-bad.c"),
    fault("check-tests", "a test that tests nothing",
          {"tests/unit/test-err.c": "/* cmocka_unit_test(x) IN_TEMP_DIR(x) WITH_CLI(x) */ int main(void) { return 0; }\n"},
          "tests/unit/test-err.c:1: tests nothing: no cmocka_unit_test() in it"),
    fault("check-tests", "a test of nothing",
          {"tests/unit/test-bad.c": "cmocka_unit_test(x)\n", "tests/unit/helper.c": "\n"},
          "tests/unit/test-bad.c:1: no module 'bad': which one does it test?"),
    fault("check-tests", "a test that covers no module, or one whose header it does not include",
          {"src/base/meson.build": ("'arena',", "'arena',\n  'arenas',"), "src/base/arenas.c": "\n",
           "tests/unit/test-arena.c": ('#include', '/* Covers also: base/arenas, json/arena, json/scan. */\n#include "base/arenas.h"\n#include')},
          "tests/unit/test-arena.c:1: covers 'json/arena': there is no such module",
          "tests/unit/test-arena.c:1: covers 'json/scan', but does not include its header"),
    fault("check-tests", "a row without a source", {"src/base/meson.build": ("'arena',", "'arena',\n  'arenas',")},
          "src/base/meson.build:1: 'arenas' has no source file"),
    fault("check-tests", "rows not sorted",
          {"src/base/meson.build": ("  'arena',\n", "  'str',\n  'arena',\n")},
          "src/base/meson.build:1: modules stand one to a line, sorted, once"),
    fault("check-tests", "two rows on a line",
          {"src/base/meson.build": ("'arena',\n ", "'arena',")},
          "src/base/meson.build:1: modules stand one to a line, sorted, once"),
    fault("check-tests", "two modules of a name",
          {"src/view/meson.build": "view_modules = ['err']\n", "src/view/err.c": "\n"},
          "src/view/err.c:1: has no row in src/view/meson.build",
          "src/view/meson.build:1: a module 'err' is in base/ already"),
    fault("check-tests", "a folder without a list", {"src/view/meson.build": "\n"},
          "src/view/meson.build:1: has no list view_modules"),

    fault("check-foreign", "uv outside loop/", {"src/transport/bad.c": "#include <uv.h>\n"},
          "src/transport/bad.c:1: <uv.h> belongs to src/loop/*"),
    fault("check-foreign", "in quotes it is the same", {"src/transport/bad.c": '#include "uv.h"\n'},
          "src/transport/bad.c:1: <uv.h> belongs to src/loop/*"),
    fault("check-foreign", "each library has its file",
          {"src/base/bad.c": "#include <curl/curl.h>\n#include <re2/re2.h>\n#include <yaml.h>\n"
           "#include <xxhash.h>\n#include <zlib.h>\n#include <zstd.h>\n"},
          "src/base/bad.c:1: <curl/curl.h> belongs to src/transport/curl-load.h",
          "src/base/bad.c:2: <re2/re2.h> belongs to src/base/regex.cc",
          "src/base/bad.c:3: <yaml.h> belongs to src/yaml/yaml-tree.c",
          "src/base/bad.c:4: <xxhash.h> belongs to src/base/hash.c",
          "src/base/bad.c:5: <zlib.h> belongs to src/base/compress.c",
          "src/base/bad.c:6: <zstd.h> belongs to src/base/compress.c"),
    fault("check-foreign", "the system is not everywhere",
          {"src/engine/bad.c": "#include <unistd.h>\n#include <string.h>\n#include <sys/socket.h>\n"},
          "src/engine/bad.c:1: <unistd.h> belongs to src/base/* src/loop/* src/cmd/main.c src/runtime/app.c",
          "src/engine/bad.c:3: <sys/socket.h> belongs to src/loop/*"),
    fault("check-foreign", "a header without a row", {"src/base/bad.c": "#include <jansson.h>\n"},
          "src/base/bad.c:1: <jansson.h> has no row in tools/foreign.txt"),

    fault("check-modules", "a module that is not on the page",
          {"src/base/bad.h": header("base/bad.h")},
          "docs/MODULES.md: is not up to date; run 'tools/check-modules --fix'"),
    fault("check-modules", "a module that does not say what it does",
          {"src/base/bad.c": "int bad;\n"},
          "docs/MODULES.md: is not up to date; run 'tools/check-modules --fix'",
          "src/base/bad.c:1: has no first sentence that tells what it does"),
    fault("check-contract-rules", "a case that is not on the page",
          {"tests/contract/tool-title.json": ("The title of a tool changes", "A tool has another title")},
          "docs/contract-rules.md: is not up to date; run 'tools/check-contract-rules --fix'"),
    fault("check-contract-rules", "a rule without a case",
          {"src/diff/contract-rules.c": ('"tool.icons.changed"', '"tool.icon.changed"')},
          "docs/contract-rules.md: is not up to date; run 'tools/check-contract-rules --fix'",
          "src/diff/contract-rules.c: no case in tests/contract/ triggers 'tool.icon.changed'"),
    fault("check-contract-rules", "a severity that the cases do not have",
          {"src/diff/contract-rules.c": ('"tool.icons.changed", CHANGED, COSMETIC', '"tool.icons.changed", CHANGED, SAFE')},
          "docs/contract-rules.md: is not up to date; run 'tools/check-contract-rules --fix'",
          "src/diff/contract-rules.c: 'tool.icons.changed' is cosmetic in tests/contract/"),
    fault("check-symbols", "a tag that two files define",
          {"src/base/bad.c": "struct twice {\n    int a;\n};\n", "src/json/bad.c": "enum other { A };\nenum twice { B };\n"},
          "src/json/bad.c:2: the tag 'twice' is defined at src/base/bad.c:1 already"),
    fault("check-symbols", "no prefix",
          {"src/base/bad-one.c": "int bad_one;\nint bad_one_x(void);\nint bad_one_x(void)\n{\n"
           "    return 1;\n}\nint other(void);\n\nint other(void)\n{\n    return 2;\n}\n"
           "const int bad_onetable[] = { 1 };\n"},
          "src/base/bad-one.c:1: 'bad_one' is a mutable global",
          "src/base/bad-one.c:7: 'other' lacks the prefix 'bad_one_'",
          "src/base/bad-one.c:13: 'bad_onetable' lacks the prefix 'bad_one_'"),
    fault("check-symbols", "no prefix where the table has another",
          {"src/json/bad.c": "void bad_x(void);\nvoid bad_x(void)\n{\n}\n"
           "void json_x(void);\nvoid json_x(void)\n{\n}\n",
           "src/format/bad.c": "const int bad_x = 1, format_x = 2, other = 3;\n"},
          "src/format/bad.c:1: 'other' lacks the prefix 'bad_'",
          "src/json/bad.c:1: 'bad_x' lacks the prefix 'json_'"),
    fault("check-symbols", "mutable data of every kind",
          {"src/base/bad.c": "static int a = 1, *p = &a;\nint bad_x(void);\nint bad_x(void)\n{\n"
           "    static int inside;\n    static _Thread_local int mine;\n"
           "    return ++inside + ++a + *p++ + ++mine;\n}\n"},
          "src/base/bad.c:1: 'a' is a mutable global",
          "src/base/bad.c:1: 'p' is a mutable global",
          "src/base/bad.c:5: 'inside' is a mutable global",
          "src/base/bad.c:6: 'mine' is a mutable global"),
    fault("check-symbols", "a constant table with pointers is none",
          {"src/base/fine.c": 'extern const char *const fine_names[];\n'
           'const char *const fine_names[] = { "a", "b" };\n'}),

    fault("check-doors", "a module that writes by itself",
          {"src/engine/bad.c": "long write(int, const void *, unsigned long);\nlong bad_x(void);\nlong bad_x(void)\n"
           "{\n    return write(1, \"x\", 1);\n}\n"},
          "src/engine/bad.c:1: 'write' may be called by base/sys, base/log, loop/stream, loop/child, "
          "loop/watchdog, loop/program alone"),
    fault("check-doors", "a module that makes a recording of its own",
          {"src/cmd/bad.c": "int writer_open(void);\nint bad_x(void);\nint bad_x(void)\n{\n"
           "    return writer_open();\n}\n"},
          "src/cmd/bad.c:1: 'writer_open' may be called by cmd/cmd-convert, cmd/cmd-redact, cmd/repair, "
          "runtime/record-path, runtime/recording-append, runtime/run-scenario alone"),
    fault("check-doors", "a recorder that goes past the redactor",
          {"src/runtime/traffic-recorder.c": "int recorder_init(void);\nint reel_x(void);\n"
           "int reel_x(void)\n{\n    return recorder_init();\n}\n"},
          "src/runtime/traffic-recorder.c:1: calls 'recorder_init', but not 'redaction_sink'"),
    fault("check-doors", "who goes through it is fine",
          {"src/runtime/traffic-recorder.c": "int recorder_init(void), redaction_sink(void);\nint reel_x(void);\n"
           "int reel_x(void)\n{\n    return recorder_init() + redaction_sink();\n}\n"}),

    fault("check-banned", "a dangerous call",
          {"src/base/bad.c": "void f(char *s)\n{\n    strcpy(s, x.gets(1)); /* strcat() */\n"
           '    g->system("sprintf(");\n    sprintf (s, "");\n}\n'},
          "src/base/bad.c:3: strcpy() is banned here: use buf_add() or arena_str()",
          "src/base/bad.c:5: sprintf() is banned here: use buf_printf() or snprintf()"),
    fault("check-banned", "in a test, too", {"tests/unit/bad.c": "int i = atoi(s);\n"},
          "tests/unit/bad.c:1: atoi() is banned here: use a parser that refuses what is no number"),
    fault("check-banned", "a call in the wrong place",
          {"src/trace/bad.c": "p = malloc(1);\nexit(1);\nabort();\n", "tests/unit/fine.c": "malloc(1);\n"},
          "src/trace/bad.c:1: malloc() is banned here: use mem_alloc()",
          "src/trace/bad.c:2: exit() is banned here: use an error returned",
          "src/trace/bad.c:3: abort() is banned here: use BUG()"),
    fault("check-banned", "talk that is neither data nor log",
          {"src/cmd/bad.c": 'printf("x");\nfprintf(stderr, "x");\n'},
          "src/cmd/bad.c:1: printf() is banned here: use app_write(): standard output is data",
          "src/cmd/bad.c:2: fprintf() is banned here: use a log"),
    fault("check-banned", "a typedef of a struct",
          {"src/base/bad.h": "typedef struct a a;\ntypedef int (*fine)(void);\n"},
          "src/base/bad.h:1: a typedef hides a struct, union or enum"),

    fault("check-size", "a long function",
          {"src/base/bad.c": function(60, "fine") + "\n" + function(61).replace("(void)", "(int a,\nint b)")},
          "src/base/bad.c:62: planted() has 62 lines; 60 are allowed"),
    fault("check-size", "a long function with a reason",
          {"src/base/fine.c": "/* long function: one case per method of the protocol */\n" + function(99)}),
    fault("check-size", "a reason that says nothing",
          {"src/base/bad.c": "/* long function: yes */\n" + function(99)},
          "src/base/bad.c:1: says that the function is long, but not why"),
    fault("check-size", "a reason nobody needs",
          {"src/base/bad.c": "/* long function: used to be much longer */\n" + function(9)},
          "src/base/bad.c:1: planted() is not long; its excuse can go"),
    fault("check-size", "a tangled function",
          {"src/base/bad.c": function(17, body="    if (x)\n") + function(18, body="    if (x)\n")},
          "src/base/bad.c:18: planted() has 16 branches; 15 are allowed"),
    fault("check-size", "a long file",
          {"src/base/bad.c": "int x;\n" * 1201, "src/base/fine.c": "int x;\n" * 1200},
          "src/base/bad.c:1: 1201 lines; 1200 are allowed"),
    fault("check-size", "a long table",
          {"src/base/fine.c": "/* long file: the table of code points */\n" + "int x;\n" * 1201}),
    fault("check-size", "a long file's excuse nobody needs",
          {"src/base/bad.c": "int x;\n/* long file: it once was a long one */\n"},
          "src/base/bad.c:2: the file is not long; its excuse can go"),
    fault("check-size", "a long line",
          {"src/base/bad.c": "x" * 97 + "\n" + "é" * 96 + "\n"},
          "src/base/bad.c:1: line of 97 columns; 96 are allowed"),
    fault("check-size", "Python, too",
          {"tools/bad": "#!/usr/bin/env python3\ndef f():\n" + "    x()\n" * 60,
           "tests/bad.py": "x = 1\n" * 1201},
          "tests/bad.py:1: 1201 lines; 1200 are allowed",
          "tools/bad:2: f() has 61 lines; 60 are allowed"),

    fault("check-format", "another format", {"src/base/bad.c": "int bad_x;\nint bad_y   = 1;\n"},
          "src/base/bad.c:2: not in the house format; run 'make format'"),

    fault("check-text", "a path of one machine", {"docs/bad.md": f"see\nthere: {HERE} and ../{HERE}\n"},
          "docs/bad.md:2: path of one machine: '/" "work'"),
    fault("check-text", "a registry", {"tests/bad.json": f'{{"a": "https://{HOST}/x"}}\n'},
          "tests/bad.json:1: address of a registry: 'registry" ".example.o'"),
    fault("check-text", "an address in a lock",
          {"tests/package-lock.json": '{\n"resolved": "x" }\n', "tests/requirements.lock": "--index-url x\n",
           "tests/Cargo.lock": 'source = "registry+x"\n'},
          "tests/Cargo.lock:1: a lock file names no addresses, only versions and hashes: 'registry+'",
          "tests/package-lock.json:2: a lock file names no addresses, only versions and hashes: '\"resolved\":'",
          "tests/requirements.lock:1: a lock file names no addresses, only versions and hashes: '--index-url'"),
    fault("check-text", "unfinished work", {"src/base/bad.c": f"/* {MARK}: x */\n", "tests/fine.json": f'"{MARK}"'},
          f"src/base/bad.c:1: mark of unfinished work: '{MARK}'"),
    fault("check-text", "blanks at line ends", {"src/base/bad.c": "int a; \nint b;\t\nint c;\r\n"},
          "src/base/bad.c:1: blank at the end of the line: ''",
          "src/base/bad.c:2: blank at the end of the line: ''",
          "src/base/bad.c:3: blank at the end of the line: ''"),
    fault("check-text", "no newline at the end", {"docs/bad.md": "a\nb"},
          "docs/bad.md:2: no newline at the end of the file"),
    fault("check-text", "a script that cannot be run", {"tools/bad": "#!/bin/sh\n"},
          "tools/bad:1: a script that cannot be run: chmod +x"),
    fault("check-text", "a retired name",
          {"src/base/parcel.c": "int x;\n", "src/base/bad.c": "/* unravel */\nint unravel, far;\n",
           "tests/unit/test-far.c": "int x;\n"},
          "src/base/bad.c:2: a retired name (tools/retired.txt): 'unravel'",
          "src/base/parcel.c:1: a retired name (tools/retired.txt): 'parcel'",
          "tests/unit/test-far.c:1: a retired name (tools/retired.txt): 'test-far'"),
    fault("check-text", "a word that hides who acts",
          {"src/base/bad.c": "/* Nob" "ody calls it. */\nputs(\"who" "ever\"); /* some" "body */\nint nobody;\n"
                             "/* who" "ever: text-ok: quotes the old text */\n/* who" "ever: text-ok */\n",
           "docs/bad.md": "It is\nof " "old.\n\n```\nwhoever\n```\n"},
          "docs/bad.md:2: name who acts: 'of " "old'",
          "src/base/bad.c:1: name who acts: 'Nob" "ody'",
          "src/base/bad.c:2: name who acts: 'some" "body'",
          "src/base/bad.c:2: name who acts: 'who" "ever'",
          "src/base/bad.c:5: name who acts: 'who" "ever'"),
    fault("check-text", "a word that hides who acts, in a test",
          {"tests/unit/bad.h": header("bad.h", "/* nob" "ody */\nputs(\"nob" "ody\");"),
           "tests/bad.py": 'def f():\n    """Fine. Who' ' asks gets it."""\n    return "nob' 'ody"  # some' 'body\n',
           "tests/golden/bad.case": "# What" " is left.\nrun nob" "ody\n", "tools/bad.txt": "# Of" " two the last.\n"},
          "tests/bad.py:2: a sentence begins with 'Who'",
          "tests/bad.py:3: name who acts: 'some" "body'",
          "tests/golden/bad.case:1: a sentence begins with 'What'",
          "tests/unit/bad.h:4: name who acts: 'nob" "ody'",
          "tools/bad.txt:1: a sentence begins with 'Of'"),
    fault("check-text", "a word that hides who acts, in an example",
          {"examples/bad/README.md": "Who" " asks gets it.\n", "examples/bad/server.py": '"""Nob' 'ody asks."""\nx = "who' 'ever"\n',
           "examples/bad/ci.sh": "# Of" " two the last.\n"},
          "examples/bad/README.md:1: a sentence begins with 'Who'",
          "examples/bad/ci.sh:1: a sentence begins with 'Of'",
          "examples/bad/server.py:1: name who acts: 'Nob" "ody'"),
    fault("check-text", "a word that hides who acts, in pages of tests and packages, and in Python of packages",
          {"tests/peers/bad.md": "Of" " two the last.\n", "js/bad.md": "Nob" "ody asks.\n",
           "python/src/mcpreel/bad.py": '"""Nob' 'ody asks."""\nx = "who' 'ever"\n',
           "python-mcp-recorder/src/bad.py": "# It is for who" "ever asks.\n"},
          "js/bad.md:1: name who acts: 'Nob" "ody'",
          "python-mcp-recorder/src/bad.py:1: name who acts: 'who" "ever'",
          "python/src/mcpreel/bad.py:1: name who acts: 'Nob" "ody'",
          "tests/peers/bad.md:1: a sentence begins with 'Of'"),
    fault("check-text", "a word that hides who acts, in TypeScript",
          {"js/src/bad.mts": "// Nob" "ody calls it.\nexport const text = 'nob" "ody';\n"},
          "js/src/bad.mts:1: name who acts: 'Nob" "ody'"),
    fault("check-text", "a test without a subject in its name",
          {"tests/test_who_asks.py": "def test_what_is_left():\n    pass\n\n\ndef test_of_two_one():\n    pass\n\n\n"
                                     "def test_nob" "ody_asks():\n    pass\n\n\ndef test_whatever_offers():\n    pass\n",
           "tests/unit/test-bad.c": "t[] = { cmocka_unit_test(it_is_some" "bodys), cmocka_unit_test(it_hits_some" "body) };\n",
           "tests/playbook/what-is-left.play": "run\n"},
          "tests/playbook/what-is-left.play:1: a test is named by subject, verb and object: 'what-is-left'",
          "tests/test_who_asks.py:1: a test is named by subject, verb and object: 'what_is_left'",
          "tests/test_who_asks.py:1: a test is named by subject, verb and object: 'who_asks'",
          "tests/test_who_asks.py:5: a test is named by subject, verb and object: 'of_two_one'",
          "tests/test_who_asks.py:9: a test is named by subject, verb and object: 'nob" "ody_asks'",
          "tests/unit/test-bad.c:1: a test is named by subject, verb and object: 'it_hits_some" "body'"),
    fault("check-text", "a sentence without a subject after a lead-in, in a cell and in a quote",
          {"docs/bad.md": "**Lead.** What is left goes.\n\n| a | What is b |\n\n> Who asks gets it.\n"},
          "docs/bad.md:1: a sentence begins with 'What'", "docs/bad.md:3: a sentence begins with 'What'",
          "docs/bad.md:5: a sentence begins with 'Who'"),
    fault("check-text", "a sentence without a subject",
          {"src/base/bad.h": header("base/bad.h", "/* What is left. */\n/* Fine. Of\n * two the last. */\n"
                                    "/* Who calls it? Offers more. Whatever. */\nint x; /* what is left */"),
           "docs/bad.md": "# What it does\n\n- One.\n- What is two\n  lines.\n\nWho?\n"},
          "docs/bad.md:4: a sentence begins with 'What'",
          "src/base/bad.h:4: a sentence begins with 'What'",
          "src/base/bad.h:5: a sentence begins with 'Of'"),
    fault("check-text", "a row of a file that is clean, or gone",
          {"tools/unclean.txt": ("Rows only go.\n", "Rows only go.\nsrc/base/fine.c\nsrc/base/gone.c\nsrc/base/unclean.c\n"),
           "src/base/fine.c": "int x;\n", "src/base/unclean.c": "/* Who" "ever. */\n"},
          "tools/unclean.txt:2: 'src/base/fine.c' is clean: its row can go",
          "tools/unclean.txt:3: there is no 'src/base/gone.c'"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(tree, clean, fault):
    for name, content in fault.plant.items():
        tree.plant(name, content)
    if fault.check in ("check-symbols", "check-doors"):
        tree.build()
    code, lines = tree.run(fault.check)
    assert [line for line in lines if line not in clean[fault.check][1]] == fault.findings
    assert code == (1 if lines else 0)


@pytest.mark.parametrize("protection, opposite, finding", [
    ("-fPIE -pie", "-fno-pie -no-pie", "is not position independent (-fPIE -pie)"),
    ("relro", "norelro", "has no read-only relocations (-z relro)"),
    ("now", "lazy", "binds lazily (-z now)"),
    ("noexecstack", "execstack", "has an executable stack (-z noexecstack)"),
    ("-fstack-protector-all", "-fno-stack-protector",
     "has no stack protector (-fstack-protector-strong)"),
    ("-D_FORTIFY_SOURCE=2", "-U_FORTIFY_SOURCE", "has no fortified calls (-D_FORTIFY_SOURCE)"),
])
def test_a_missing_protection_is_found(tree, protection, opposite, finding):
    assert protection in PROTECTED
    tree.plant("program.c", PROGRAM)
    tree.compile("program.c", "build/mcpreel", PROTECTED.replace(protection, opposite))
    assert tree.run("check-hardening") == (1, [f"build/mcpreel: {finding}"])


def test_a_missing_program_is_found(tree):
    assert tree.run("check-hardening") == (
        1, ["build/mcpreel: is not a program that readelf can read"])


def test_missing_objects_are_found(tree):
    for check in ("check-symbols", "check-doors"):
        assert tree.run(check) == (1, ["build: there are no objects; run 'make' first"])


def test_check_format_fix_formats_a_file(tree, clean):
    tree.plant("src/base/bad.c", "int x   = 1;\n")
    assert tree.run("check-format", "--fix") == (0, [])
    assert (tree.root / "src/base/bad.c").read_text() == "int x = 1;\n"


def test_another_release_of_clang_format_is_not_used(tree, tmp_path):
    fake = tmp_path / "clang-format-14"
    fake.write_text("#!/bin/sh\necho clang-format version 19.1.7\n")
    fake.chmod(0o755)
    code, lines = tree.run("check-format", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert code == 77 and "the format is that of clang-format 14" in lines[0]

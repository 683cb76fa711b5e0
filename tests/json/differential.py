#!/usr/bin/env python3
"""Compare our JSON scanner with Python's on mutated messages.

    differential.py PROBE [--count N] [--seed N]

Every text must get the same verdict and, if it is JSON, the same meaning, but for the
differences that RULES below explains. PROBE is the json-probe executable.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from probe import ask  # noqa: E402

BATCH = 1000
MAX_DEPTH = 512

MESSAGES = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"client",'
    '"version":"1.0.0"}}}',
    '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":'
    '{"listChanged":true},"logging":{}},"serverInfo":{"name":"server","version":"0.1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"search","arguments":'
    '{"query":"caf\\u00e9 \\"x\\"","limit":10,"ratio":0.25,"deep":[[1,2],[3,[4]]]},"_meta":'
    '{"progressToken":7}}}',
    '{"jsonrpc":"2.0","id":"a-1","result":{"content":[{"type":"text","text":"line\\nand\\tmore '
    '\\ud83d\\ude80 \\/ \\\\ end"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}],'
    '"isError":false}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":null}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":'
    '1.5e1,"total":100.0,"message":"日本語 — “half” done 🚀"}}',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
    '{ "a" : [ 1 , -0.5E-3 , 1e400 , 123456789012345678901234567890 ] ,\n\t"a" : { } }\r\n',
    '{"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"A '
    'path that is longer than sixty-four bytes, so that it takes more than one block"},"n":'
    '{"type":"integer","minimum":0}},"required":["path"],"additionalProperties":false}}',
    '"ok \\ud83d and \\ude80 alone"',
]

# Text that mutations insert: tokens that are valid in other places.
TOKENS = [
    b'"', b"\\", b"\\u", b"\\ud83d", b"\\ude80", b"\\u0000", b"\\x", b"\\\\", b"\\n", b"{", b"}",
    b"[", b"]", b",", b":", b"null", b"true", b"false", b"nul", b"NaN", b"Infinity", b"-Infinity",
    b"-", b"+", b".", b"0", b"00", b"1e", b"1e5", b"e", b"E+", b"-0", b"0.0", b"1e999", b"9" * 400,
    b" ", b"\t", b"\n", b"\r", b"\0", b"\x0b", b"\x0c", b"\x1f", b"\x7f", b"\xc2\xa0", b"\xe2\x80\xa8",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xff", b"\x80", b"\xc3", b"\xe6\x97\xa5",
    b"\xf0\x9f\x9a\x80", b"\xf4\x90\x80\x80", b"/**/", b"//", b"'", b"[" * 300, b"{\"a\":" * 300,
    b"[" * 513 + b"]" * 513, b"a" * 70, "é".encode() * 40, b"\\u00e9" * 15, b"\\\\" * 33,
]

# Where Python is laxer or other by default, it is asked to be as strict and as lossless as we
# are, so that these need no rule:
#
#   NaN, Infinity, -Infinity   Python takes them; parse_constant refuses
#   numbers of any length      Python makes them int or float; the hooks keep the text
#   duplicate names            Python keeps the last; object_pairs_hook keeps all, in order
#   bytes that are not UTF-8   Python gets text; the bytes are decoded strictly before
#   UTF-16, UTF-32, a BOM      Python guesses from bytes; from text it does not
#   lone surrogates            both take the escapes; compared as WTF-8
#   control characters         both refuse them in strings
#
# The differences that remain: (name, when it explains our answer to a text).
RULES = [
    ("nested deeper than we accept", lambda ours, text: ours.startswith("! depth")
     and depth(text) > MAX_DEPTH),
]


def depth(text):
    """How deep brackets nest outside strings; for a text Python accepts."""
    deepest = now = 0
    for c in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text, flags=re.S):
        if c in b"[{":
            now += 1
            deepest = max(deepest, now)
        elif c in b"]}":
            now -= 1
    return deepest


class Number(str):
    pass


class Members(list):
    pass


def no_constant(name):
    raise ValueError(name)  # NaN and Infinity: Python's own idea


DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_int=Number, parse_float=Number,
                           parse_constant=no_constant)


def hexed(s):
    return "s" + s.encode("utf-8", "surrogatepass").hex() + ";"


def dump(v, out):
    """The same text as json-probe has for a meaning."""
    if v is None:
        out.append("z")
    elif v is True:
        out.append("t")
    elif v is False:
        out.append("f")
    elif isinstance(v, Number):
        out.append(f"n{v};")
    elif isinstance(v, str):
        out.append(hexed(v))
    elif isinstance(v, Members):
        out.append("{")
        for name, value in v:
            out.append(hexed(name))
            dump(value, out)
        out.append("}")
    else:
        out.append("[")
        for value in v:
            dump(value, out)
        out.append("]")


def theirs(text):
    """Python's verdict: the meaning, or None. Python does not look at bytes: UTF-8 is judged
    first, and strictly."""
    try:
        value = DECODER.decode(text.decode("utf-8"))
    except ValueError:  # also of the UTF-8 decoder
        return None
    out = []
    dump(value, out)
    return "".join(out)


def mutate(rng, text):
    text = bytearray(text)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 2, 5, 20, 100)))
        kind = rng.randrange(7)
        if kind == 0:
            text[at:at] = rng.choice(TOKENS)
        elif kind == 1:
            text[at:to] = rng.choice(TOKENS)
        elif kind == 2:
            del text[at:to]
        elif kind == 3:
            text[at:at] = text[at:to]
        elif kind == 4 and at < len(text):
            text[at] = rng.randrange(256)
        elif kind == 5 and at < len(text):
            text[at] ^= 1 << rng.randrange(8)
        elif kind == 6 and rng.random() < 0.3:
            del text[at:]
        elif kind == 6 and rng.random() < 0.1:
            levels = rng.choice((1, 50, MAX_DEPTH - 4, MAX_DEPTH, MAX_DEPTH + 1))
            text[:] = b"[" * levels + text + b"]" * levels
    return bytes(text)


def respell(rng, value):
    """The same value written in another way: other blanks, other escapes."""
    def blank():
        return rng.choice(("", "", "", " ", "\n", "\t ", "\r\n    "))

    def string(s):
        return '"' + "".join(
            c if c not in '"\\' and c >= " " and not 0xD800 <= ord(c) < 0xE000 and rng.random() < 0.9
            else "".join(f"\\u{u:04x}" if rng.random() < .5 else f"\\u{u:04X}" for u in units(c))
            for c in s) + '"'

    def units(c):
        n = ord(c)
        return (n,) if n < 0x10000 else (0xD800 + (n - 0x10000 >> 10), 0xDC00 + (n & 0x3FF))

    def write(v):
        if v is None or v is True or v is False:
            body = {None: "null", True: "true", False: "false"}[v]
        elif isinstance(v, Number):
            body = v
        elif isinstance(v, str):
            body = string(v)
        elif isinstance(v, Members):
            body = "{" + blank() + ",".join(
                blank() + string(k) + blank() + ":" + write(x) for k, x in v) + "}"
        else:
            body = "[" + blank() + ",".join(map(write, v)) + "]"
        return blank() + body + blank()
    return write(value).encode()


def cases(rng, count):
    values = [DECODER.decode(m) for m in MESSAGES]
    for i in range(count):
        if i % 8 == 0:
            text = respell(rng, rng.choice(values))
        else:
            text = rng.choice(MESSAGES).encode()
        if i % 11 == 0:
            other = rng.choice(MESSAGES).encode()
            text = text[:rng.randrange(len(text))] + other[rng.randrange(len(other)):]
        yield mutate(rng, text)


def judge(text, ours, tally):
    expected_meaning = theirs(text)
    if ours == expected_meaning or (expected_meaning is None and ours.startswith("!")):
        tally["not JSON" if expected_meaning is None else "JSON"] += 1
        return True
    for name, holds in RULES:
        if holds(ours, text):
            tally[name] += 1
            return True
    print(f"unexplained: {text!r}\n  ours:   {ours}\n  theirs: {expected_meaning}")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    sys.setrecursionlimit(20_000)
    rng = random.Random(args.seed)
    tally = dict.fromkeys(["JSON", "not JSON"] + [name for name, _ in RULES], 0)
    probe = subprocess.Popen([args.probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             bufsize=1 << 20)
    wrong, batch = 0, []
    for n, text in enumerate(cases(rng, args.count), 1):
        batch.append(text)
        if len(batch) == BATCH or n == args.count:
            wrong += sum(not judge(t, a, tally) for t, a in zip(batch, ask(probe, batch)))
            batch = []
    probe.stdin.close()
    wrong += probe.wait() != 0
    print(", ".join(f"{n} {name}" for name, n in tally.items()), f"- {wrong} wrong")
    # A run in which hardly anything was JSON would prove nothing; nor one without the limits.
    lopsided = min(tally.values()) < args.count // 10_000 or tally["JSON"] < args.count // 10
    if lopsided:
        print("too few of a kind: the mutations are at fault")
    return 1 if wrong or lopsided else 0


if __name__ == "__main__":
    sys.exit(main())

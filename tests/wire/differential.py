#!/usr/bin/env python3
"""Compare our reading of HTTP requests with Node's on mutated connections.

    differential.py PROBE [--node NODE] [--count N] [--seed N]

Node must read every input that we accept in the same way: the same requests with the same headers
and the same bodies, in the same order. We may reject more than Node does, but only for the reasons
that STRICTER lists. PROBE is the wire-probe executable.
"""
import argparse
import collections
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from probe import ask  # noqa: E402

BATCH = 500

HOST = b"Host: localhost:8080\r\n"
REQUESTS = [
    b"GET /mcp HTTP/1.1\r\n" + HOST + b"Accept: text/event-stream\r\nLast-Event-ID: 7\r\n\r\n",
    b"DELETE /mcp HTTP/1.1\r\n" + HOST + b"Mcp-Session-Id: 6f1d\r\nConnection: keep-alive\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET http://localhost:8080/mcp?a=b HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.0\r\n" + HOST + b"Connection: Keep-Alive\r\n\r\n",
    b"GET /close HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 24\r\n\r\n"
    b'{"id":1,"method":"ping"}',
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n"
    b"0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\ntransfer-encoding:chunked\r\n" + HOST + b"\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    b"PUT /x HTTP/1.1\r\n" + HOST + b"X-Empty:\r\nX-Blank: \t \r\nx: a\tb \xe9\r\nX: c\r\nContent-Length: 1\r\n\r\nx",
]

# Text that mutations insert: tokens that are valid in other places.
TOKENS = [
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b"\r\r\n", b"\0", b" ", b"\t", b"  ", b":", b" :", b": ", b",",
    b";", b"\x0b", b"\x0c", b"\x7f", b"\x80", b"\xff", b"\xa0", b"#", b"?", b"/", b"@", b"[", b"]", b"\\", b'"',
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"content-length: 05\r\n", b"Content-Length: +5\r\n",
    b"Content-Length: 5, 5\r\n", b"Content-Length : 5\r\n", b"Content-Length: 18446744073709551620\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: chunked, identity\r\n", b"Transfer-Encoding: x\r\n chunked\r\n", b"transfer-encoding: CHUNKED\r\n",
    b"Transfer-Encoding:\r\n", b"Transfer-Encoding: chunked,\r\n", b"Transfer-Encoding : chunked\r\n",
    b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"X: y\r\n z\r\n",
    b"Host: evil.example\r\n", b"Host:\r\n", HOST, b"X: " + b"y" * 300 + b"\r\n", b"X: y\r\n" * 40, b"X: y\r\n" * 99,
    b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.2", b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0", b"CONNECT a:80 ",
    b"POST ", b"FOO ", b"get ", b"0\r\n\r\n", b"5\r\n", b"5\n", b"0", b"00", b"f", b"g", b"0x", b"-1", b"5 \r\n", b"5;\r\n",
    b";a=" + b"b" * 260, b"fffffffffffffff\r\n", b"ffffffffffffffff\r\n", b"10000000000000000\r\n", b"http://", b"https://a",
]

# Why we refuse what Node takes, and what would happen otherwise.
STRICTER = {
    "a line that ends in LF alone": "Node passes over those between requests",
    "a CR without LF": "the same",
    "no Host header, which is required in HTTP/1.0, too": "Node's server, not its parser, asks for one",
    "more than one Host header": "Node's server, too",
    "an invalid Host header": "Node takes any text",
    "a Host header that differs from the host of the target": "Node does not compare them",
    "a target that is neither a path nor a URL": "Node takes any bytes but blanks",
    "CONNECT, which is not supported": "Node leaves that to its server",
    "a header line that begins with whitespace": "Node joins the lines",
    "a first line that is not 'METHOD TARGET VERSION'": "Node passes over many empty lines",
    "an unsupported HTTP version": "Node takes 0.9 and 2.0",
    "a Transfer-Encoding other than chunked": "Node hands on codings it does not know",
    "a Transfer-Encoding in HTTP/1.0": "Node takes it",
    "chunked more than once": "Node takes it",
    "a Transfer-Encoding that does not end in chunked": "Node reads until the end instead",
    "both Content-Length and Transfer-Encoding": "Node passes over an empty Transfer-Encoding",
    "a trailer that changes the framing": "the same",
    "a tab beside a Content-Length or Transfer-Encoding": "Node minds it behind them only",
    "too many headers": "Node counts bytes only",
    "a chunk extension that is not 'name=value'": "Node takes names and values of no bytes",
    "chunk extensions that are too long": "Node's server, not its parser, counts them",
    "a chunk whose size is not a hexadecimal number": "Node passes over blanks after it",
    "a chunk size that is too large": "Node takes one digit more, and zeros without end",
}

# The methods that Node knows; it refuses others, which we leave to the server.
METHODS = ("ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE",
           "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH",
           "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK",
           "UNSUBSCRIBE")


def mutate(rng, text):
    text = bytearray(text)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3, 4))):
        # Line ends are where readers part; half of the mutations go there.
        ends = [i + d for i in range(len(text)) if text[i] == 10 for d in (-1, 0, 1)]
        at = rng.choice(ends) if ends and rng.random() < 0.5 else rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 2, 5, 20)))
        kind = rng.randrange(6)
        if kind <= 1:
            text[at:at] = rng.choice(TOKENS)
        elif kind == 2:
            text[at:to] = rng.choice(TOKENS)
        elif kind == 3:
            del text[at:to]
        elif kind == 4:
            text[at:at] = text[at:to]
        elif at < len(text):
            text[at] = rng.randrange(256)
    return bytes(text)


def cases(rng, count):
    for _ in range(count):
        text = b"".join(rng.choice(REQUESTS) for _ in range(rng.choice((1, 1, 2, 3))))
        if rng.random() < 0.1:
            text = text[:rng.randrange(len(text))]
        yield mutate(rng, text)


def node_strictness(text, our_end, their_end):
    """Why Node refuses what we take."""
    if their_end == "! HPE_INVALID_METHOD":
        amid = our_end in ("body", "trailers")
        if amid or bytes.fromhex(our_end.split(" ")[0]).decode() not in METHODS:
            return "a method that Node does not know"
    if their_end == "! HPE_CLOSED_CONNECTION":
        return "Node heeds Connection in trailers"
    return None


def closes(request):
    """The line of a request, but for the wish to go on."""
    words = request.split(" ")
    return " ".join(words[:3] + ["0"] + words[4:])


def verdict(text, ours, theirs):
    """Why the two answers may stand beside each other; None: they may not."""
    shared = min(len(ours), len(theirs)) - 1
    # An earlier close does not matter for the requests before it: Node handles 'close' and
    # 'keep-alive' differently if both are there, and does not see either before a tab.
    for one, other, name in (ours, theirs, "only we close"), (theirs, ours, "only Node closes"):
        last = len(one) - 2
        if one[-1] == "closed" and one[:last] == other[:last] and closes(other[last]) == one[last]:
            return "the same" if one[last] == other[last] else name
    if ours[:shared] != theirs[:shared]:
        return None
    our_end, their_end = ours[shared], theirs[shared]
    we_refuse, they_refuse = our_end.startswith("! "), their_end.startswith("! ")
    if our_end == their_end:
        return "the same"
    if they_refuse and we_refuse:
        return "both refuse"
    if we_refuse and our_end[2:] in STRICTER:
        return our_end[2:]
    if they_refuse and our_end in ("head", "extension", "trailers"):
        return "Node refuses before the line is whole"
    if they_refuse:
        return node_strictness(text, our_end, their_end)
    if (our_end, their_end) in (("extension", "body"), ("trailers", "body"), ("head", "more")):
        return "the same"
    if their_end == "upgrade" or theirs[-1] == "upgrade":
        return "Node stops at an upgrade"
    return None


def judge(text, ours, theirs, tally):
    why = verdict(text, ours, theirs)
    if why is None:
        print(f"unexplained: {text!r}\n  ours:   {ours}\n  theirs: {theirs}")
        return False
    tally[why] += 1
    return True


def start(command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe")
    parser.add_argument("--node", default="node")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, tally, wrong = random.Random(args.seed), collections.Counter(), 0
    probes = [start([args.probe]),
              start([args.node, str(pathlib.Path(__file__).with_name("node-probe.js"))])]
    texts = list(cases(rng, args.count))
    for i in range(0, len(texts), BATCH):
        batch = texts[i:i + BATCH]
        ours, theirs = ([a.split("\n") for a in ask(p, batch)] for p in probes)
        wrong += sum(not judge(*case, tally) for case in zip(batch, ours, theirs))
    for p in probes:
        p.stdin.close()
        wrong += p.wait() != 0
    print(*(f"{n:8} {name}" for name, n in tally.most_common()), f"{wrong:8} wrong", sep="\n")
    # A run in which hardly anything was taken or refused would prove nothing.
    lopsided = min(tally["the same"], tally["both refuse"]) < args.count // 10
    if lopsided:
        print("too few of a kind: the mutations are at fault")
    return 1 if wrong or lopsided else 0


if __name__ == "__main__":
    sys.exit(main())

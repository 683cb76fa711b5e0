"""The ways in which a secret may be written down, and a search that finds it in any of them."""
import base64
import html
import html.entities
import json
import re
import urllib.parse

VALUE = 'Zq7/kV+9"w\\\u00e9 \u00df8 Lm&x'  # characters that some encoding escapes


def u_escaped(text):
    return "".join(f"\\u{ord(c):04x}" for c in text)


def json_text(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def percent(text, keep):
    return "".join(c if c in keep else "".join(f"%{b:02X}" for b in c.encode()) for c in text)


def b64(text, before=""):
    return base64.b64encode((before + text + "tail").encode()).decode()


ALNUM = "".join(map(chr, range(48, 58))) + "".join(map(chr, range(65, 91))) + "".join(map(chr, range(97, 123)))


def times(n, encode, text):
    for _ in range(n):
        text = encode(text)
    return text


# name: the text, and whether it is JSON's spelling of itself already.
ENCODINGS = {
    "raw": (lambda v: v, False),
    "json": (json_text, True),
    "json-ascii": (lambda v: json.dumps(v)[1:-1], True),
    "json-all-u": (u_escaped, True),
    "json-slash": (lambda v: json_text(v).replace("/", "\\/"), True),
    "json-twice": (lambda v: json_text(json_text(v)), True),
    "json-thrice": (lambda v: json_text(json_text(json.dumps(v)[1:-1])), True),
    "percent": (lambda v: urllib.parse.quote(v, safe=""), False),
    "percent-lower": (lambda v: re.sub("%..", lambda m: m[0].lower(), urllib.parse.quote(v, safe="")), False),
    "percent-all": (lambda v: percent(v, ""), False),
    "percent-partly": (lambda v: percent(v, ALNUM + "/+&"), False),
    "percent-twice": (lambda v: urllib.parse.quote(urllib.parse.quote(v, safe=""), safe=""), False),
    "form": (lambda v: urllib.parse.quote_plus(v), False),
    "base64": (lambda v: b64(v), False),
    "base64-1": (lambda v: b64(v, "u"), False),
    "base64-2": (lambda v: b64(v, "u:"), False),
    "base64url": (lambda v: b64(v, "\u00ff").replace("+", "-").replace("/", "_").rstrip("="), False),
    "form-mixed": (lambda v: urllib.parse.quote(v, safe=" ").replace(" ", "+", 1).replace(" ", "%20"), False),
    "base64-twice": (lambda v: b64(b64(v, "u"), "x"), False),
    "base64url-twice": (lambda v: b64(b64(v, "u:")).replace("+", "-").replace("/", "_").rstrip("="), False),
    "base64-of-json": (lambda v: b64(json.dumps({"k": v}, ensure_ascii=False)), False),
    "base64-of-ascii-json": (lambda v: b64(json.dumps({"ke": v})), False),
    "base64-of-percent": (lambda v: b64("?k=" + urllib.parse.quote(v, safe="")), False),
    "hex-of-json": (lambda v: json_text(v).encode().hex(), False),
    "base64-percent": (lambda v: urllib.parse.quote(b64(v, "a"), safe=""), False),
    "hex": (lambda v: v.encode().hex(), False),
    "hex-upper": (lambda v: v.encode().hex().upper(), False),
    "html": (html.escape, False),
    "html-numbers": (lambda v: "".join(f"&#{ord(c)};" for c in v), False),
    "html-hex": (lambda v: "".join(f"&#x{ord(c):X};" for c in v), False),
    "html-zeros": (lambda v: "".join(f"&#{ord(c):08};" for c in v), False),
    "html-names": (lambda v: "".join(f"&{html.entities.codepoint2name[ord(c)]};"
                                     if ord(c) in html.entities.codepoint2name
                                     else {"/": "&sol;", "+": "&plus;", "\\": "&bsol;"}.get(c, c) for c in v), False),
    "utf-16-base64": (lambda v: base64.b64encode(f"echo {v} tail".encode("utf-16-le")).decode(), False),
    "octal": (lambda v: "".join(f"\\{b:03o}" for b in v.encode()), False),
    "rust": (lambda v: "".join(f"\\u{{{ord(c):x}}}" for c in v), False),
    "python-ascii": (lambda v: ascii(v)[1:-1], False),
    "shell": (lambda v: re.sub(r"([^\w])", r"\\\1", v), False),
    "latin-1-percent": (lambda v: urllib.parse.quote(v.encode("latin-1"), safe=""), False),
    "escape()": (lambda v: "".join(f"%u{ord(c):04X}" for c in v), False),
    "python": (lambda v: "".join(f"\\x{b:02x}" for b in v.encode()), False),
}


def undone(blob):
    """Returns the bytes without one layer of each encoding."""
    text = blob.decode("utf-8", "replace")
    escapes = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def unescape(m):
        e = m[1]
        return chr(int(e[1:], 16)) if len(e) == 5 else escapes.get(e, e)

    yield re.sub(r"\\(u[0-9a-fA-F]{4}|.)", unescape, text, flags=re.S).encode("utf-16", "surrogatepass") \
        .decode("utf-16", "replace").encode()
    yield re.sub(r"(?:\\u\{|%u)([0-9a-fA-F]{1,4})\}?", lambda m: chr(int(m[1], 16)), text).encode()
    yield re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text).encode()
    yield re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), blob)
    yield urllib.parse.unquote(text, "latin-1").encode()
    yield blob[blob.find(b"\0") - 1:].decode("utf-16-le", "replace").encode() if b"\0" in blob else b""
    yield re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes.fromhex(m[1].decode()), blob)
    yield urllib.parse.unquote_to_bytes(blob)
    yield urllib.parse.unquote_to_bytes(blob.replace(b"+", b" "))
    yield html.unescape(text).encode("utf-8", "replace")
    for run in re.findall(rb"[A-Za-z0-9+/_-]{8,}", blob):
        for skip in range(4):
            part = run[skip:].replace(b"-", b"+").replace(b"_", b"/")
            yield base64.b64decode(part[: len(part) // 4 * 4])
    for run in re.findall(rb"[0-9a-fA-F]{12,}", blob):
        for skip in range(2):
            part = run[skip:]
            yield bytes.fromhex(part[: len(part) // 2 * 2].decode())


def finds(blob, value=VALUE, depth=4):
    needle = value.encode()
    seen, now = {blob}, {blob}
    for _ in range(depth):
        if any(needle in b for b in now):
            return True
        now = {b for old in now for b in undone(old) if len(b) >= len(needle)} - seen
        seen |= now
    return any(needle in b for b in now)

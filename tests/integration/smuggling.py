"""Requests that two readers could take for two different things, each under the name people know it by.

SECOND follows each of them on its connection: a server that finds another end of the first request than its sender may
take a part of SECOND for a request.
"""
SECOND = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

LINE = b"POST /mcp HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
POST = LINE + HOST + JSON
GET = b"GET /mcp HTTP/1.1\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"\r\n"
BODY = b"{}"
CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"

# The head is refused: name, status, bytes.
HEADS = [
    # two ways to say where the body ends
    ("CL.TE", 400, POST + LENGTH + CHUNKED + END + CHUNKS),
    ("TE.CL", 400, POST + CHUNKED + LENGTH + END + CHUNKS),
    ("CL.TE with the length of everything", 400, POST + b"Content-Length: 13\r\n" + CHUNKED + END + CHUNKS),
    ("CL.0 and TE", 400, POST + b"Content-Length: 0\r\n" + CHUNKED + END + CHUNKS),
    ("TE identity and CL", 400, POST + b"Transfer-Encoding: identity\r\n" + LENGTH + END + BODY),
    ("TE in HTTP/1.0", 400, b"POST /mcp HTTP/1.0\r\n" + HOST + JSON + CHUNKED + END + CHUNKS),

    # lengths
    ("two lengths", 400, POST + LENGTH + b"Content-Length: 3\r\n" + END + BODY),
    ("the same length twice", 400, POST + LENGTH + LENGTH + END + BODY),
    ("the same length twice, in other letters", 400, POST + LENGTH + b"content-length: 2\r\n" + END + BODY),
    ("a list of lengths", 400, POST + b"Content-Length: 2, 2\r\n" + END + BODY),
    ("a list of two lengths", 400, POST + b"Content-Length: 2,44\r\n" + END + BODY),
    ("a length with a plus", 400, POST + b"Content-Length: +2\r\n" + END + BODY),
    ("a length with a minus", 400, POST + b"Content-Length: -2\r\n" + END + BODY),
    ("a length in hexadecimal", 400, POST + b"Content-Length: 0x2\r\n" + END + BODY),
    ("a length with a blank in it", 400, POST + b"Content-Length: 2 2\r\n" + END + BODY),
    ("a length with an underscore", 400, POST + b"Content-Length: 2_2\r\n" + END + BODY),
    ("a length with a fraction", 400, POST + b"Content-Length: 2.0\r\n" + END + BODY),
    ("a length with an exponent", 400, POST + b"Content-Length: 2e0\r\n" + END + BODY),
    ("a length in quotes", 400, POST + b'Content-Length: "2"\r\n' + END + BODY),
    ("a length of nothing", 400, POST + b"Content-Length:\r\n" + END + BODY),
    ("a length beyond 64 bits", 400, POST + b"Content-Length: 18446744073709551618\r\n" + END + BODY),
    ("a length in other digits", 400, POST + "Content-Length: ２\r\n".encode() + END + BODY),
    ("a length before a semicolon", 400, POST + b"Content-Length: 2;a=b\r\n" + END + BODY),
    ("a length after a tab", 400, POST + b"Content-Length:\t2\r\n" + END + BODY),
    ("a length before a vertical tab", 400, POST + b"Content-Length: 2\x0b\r\n" + END + BODY),

    # codings
    ("TE xchunked", 400, POST + b"Transfer-Encoding: xchunked\r\n" + END + CHUNKS),
    ("TE chunked after a tab", 400, POST + b"Transfer-Encoding:\tchunked\r\n" + END + CHUNKS),
    ("TE chunked after a vertical tab", 400, POST + b"Transfer-Encoding: \x0bchunked\r\n" + END + CHUNKS),
    ("TE chunked after a form feed", 400, POST + b"Transfer-Encoding: \x0cchunked\r\n" + END + CHUNKS),
    ("TE chunked after a no-break space", 400, POST + b"Transfer-Encoding: \xa0chunked\r\n" + END + CHUNKS),
    ("TE chunked after a NUL", 400, POST + b"Transfer-Encoding: \0chunked\r\n" + END + CHUNKS),
    ("TE chunked in quotes", 400, POST + b'Transfer-Encoding: "chunked"\r\n' + END + CHUNKS),
    ("TE chunked with a parameter", 400, POST + b"Transfer-Encoding: chunked;a=b\r\n" + END + CHUNKS),
    ("TE chunked twice", 400, POST + CHUNKED + CHUNKED + END + CHUNKS),
    ("TE chunked, chunked", 400, POST + b"Transfer-Encoding: chunked, chunked\r\n" + END + CHUNKS),
    ("TE chunked, identity", 400, POST + b"Transfer-Encoding: chunked, identity\r\n" + END + CHUNKS),
    ("TE chunked, then another", 400, POST + CHUNKED + b"Transfer-Encoding: cow\r\n" + END + CHUNKS),
    ("TE identity, chunked", 400, POST + b"Transfer-Encoding: identity, chunked\r\n" + END + CHUNKS),
    ("TE gzip, chunked", 400, POST + b"Transfer-Encoding: gzip, chunked\r\n" + END + CHUNKS),
    ("TE of an empty item", 400, POST + b"Transfer-Encoding: ,chunked\r\n" + END + CHUNKS),
    ("TE of a last empty item", 400, POST + b"Transfer-Encoding: chunked,\r\n" + END + CHUNKS),
    ("TE of nothing", 400, POST + b"Transfer-Encoding:\r\n" + END + CHUNKS),

    # lines
    ("a line that ends in LF", 400, POST + b"X: y\nContent-Length: 2\r\n" + END + BODY),
    ("a head that ends in LF", 400, (POST + LENGTH).replace(b"\r\n", b"\n") + b"\n" + BODY),
    ("an empty line of LF alone", 400, POST + LENGTH + b"\n" + BODY),
    ("a line that ends in CR", 400, POST + b"X: y\rTransfer-Encoding: chunked\r\n" + END + CHUNKS),
    ("a CR before CRLF", 400, POST + b"Transfer-Encoding: chunked\r\r\n" + END + CHUNKS),
    ("a folded length", 400, POST + b"Content-Length:\r\n 2\r\n" + END + BODY),
    ("a folded coding", 400, POST + b"Transfer-Encoding:\r\n\tchunked\r\n" + END + CHUNKS),
    ("a folded first line", 400, LINE + b" " + HOST + LENGTH + END + BODY),
    ("a line of blanks", 400, POST + b" \r\n" + LENGTH + END + BODY),
    ("a NUL in a header", 400, POST + b"X: a\0b\r\n" + LENGTH + END + BODY),
    ("a line without a colon", 400, POST + b"GET /smuggled HTTP/1.1\r\n" + LENGTH + END + BODY),

    # names
    ("a blank before the colon of a length", 400, POST + b"Content-Length : 2\r\n" + END + BODY),
    ("a blank before the colon of a coding", 400, POST + b"Transfer-Encoding : chunked\r\n" + END + CHUNKS),
    ("a tab before the colon", 400, POST + b"Transfer-Encoding\t: chunked\r\n" + END + CHUNKS),
    ("a blank in a name", 400, POST + b"Content Length: 2\r\n" + END + BODY),
    ("a name in quotes", 400, POST + b'"Content-Length": 2\r\n' + END + BODY),
    ("a name in brackets", 400, POST + b"[Transfer-Encoding]: chunked\r\n" + END + CHUNKS),
    ("a name with a NUL", 400, POST + b"Transfer-Encoding\0: chunked\r\n" + END + CHUNKS),
    ("a name beyond ASCII", 400, POST + "Transfer-Encodıng: chunked\r\n".encode() + END + CHUNKS),
    ("an empty name", 400, POST + b": chunked\r\n" + LENGTH + END + BODY),

    # first lines
    ("HTTP/0.9", 400, b"GET /mcp\r\n"),
    ("HTTP/0.9 by its name", 505, b"GET /mcp HTTP/0.9\r\n" + HOST + END),
    ("the preface of HTTP/2", 505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("HTTP/1.2", 505, b"POST /mcp HTTP/1.2\r\n" + HOST + LENGTH + END + BODY),
    ("HTTP/1.10", 400, b"POST /mcp HTTP/1.10\r\n" + HOST + LENGTH + END + BODY),
    ("two versions", 400, b"POST /mcp HTTP/1.1 HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("two blanks", 400, b"POST  /mcp HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a blank in the path", 400, b"POST /mcp /x HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a tab for a blank", 400, b"POST\t/mcp\tHTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a NUL in the path", 400, b"POST /mcp\0 HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a fragment in the path", 400, b"POST /mcp#x HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a path without its slash", 400, b"POST mcp HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a method that is no word", 400, b"PO(ST /mcp HTTP/1.1\r\n" + HOST + LENGTH + END + BODY),
    ("a tunnel", 501, b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + END),
    ("the hello of TLS", 400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ("two empty lines first", 400, END + END + GET + HOST + END),

    # hosts
    ("no Host", 400, LINE + JSON + LENGTH + END + BODY),
    ("no Host in HTTP/1.0", 400, b"GET /mcp HTTP/1.0\r\n" + END),
    ("two Hosts", 400, POST + b"Host: evil.example\r\n" + LENGTH + END + BODY),
    ("two Hosts that are equal", 400, POST + HOST + LENGTH + END + BODY),
    ("a list of Hosts", 400, LINE + b"Host: localhost, evil.example\r\n" + LENGTH + END + BODY),
    ("a Host with a path", 400, LINE + b"Host: localhost/evil\r\n" + LENGTH + END + BODY),
    ("a Host with a user", 400, LINE + b"Host: localhost@evil.example\r\n" + LENGTH + END + BODY),
    ("a URL of somebody else", 400, b"GET http://evil.example/mcp HTTP/1.1\r\n" + HOST + END),
    ("a URL with a user", 400, b"GET http://localhost@evil.example/mcp HTTP/1.1\r\n" + HOST + END),
    ("a URL of another scheme", 400, b"GET ftp://localhost/mcp HTTP/1.1\r\n" + HOST + END),

    # too much of it
    ("a first line of 9 kB", 414, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + END),
    ("101 header lines", 431, POST + b"".join(b"X-%d: y\r\n" % n for n in range(101)) + END),
    ("a head of 70 kB", 431, POST + b"X: " + b"y" * 70000 + b"\r\n" + END),
]

# The head is fine, and the chunks after it are refused: name, bytes after the head.
CHUNKS_REFUSED = [
    ("a size with a sign", b"+2\r\n{}\r\n0\r\n\r\n"),
    ("a size below nothing", b"-2\r\n{}\r\n0\r\n\r\n"),
    ("a size with 0x", b"0x2\r\n{}\r\n0\r\n\r\n"),
    ("a size of nothing", b"\r\n{}\r\n0\r\n\r\n"),
    ("a size with a blank before it", b" 2\r\n{}\r\n0\r\n\r\n"),
    ("a size with an underscore", b"0_2\r\n{}\r\n0\r\n\r\n"),
    ("a size that is no number", b"two\r\n{}\r\n0\r\n\r\n"),
    ("a size beyond 64 bits", b"10000000000000002\r\n{}\r\n0\r\n\r\n"),
    ("a size that ends in LF", b"2\n{}\r\n0\r\n\r\n"),
    ("a size that ends in CR", b"2\r{}\r\n0\r\n\r\n"),
    ("a chunk that ends in LF", b"2\r\n{}\n0\r\n\r\n"),
    ("a chunk without its end", b"2\r\n{}0\r\n\r\n"),
    ("a chunk longer than its size", b"1\r\n{}\r\n0\r\n\r\n"),
    ("an extension with a LF", b"2;a=\nb\r\n{}\r\n0\r\n\r\n"),
    ("an extension with a CR", b"2;a=\rb\r\n{}\r\n0\r\n\r\n"),
    ("an extension with a NUL", b"2;a=\0\r\n{}\r\n0\r\n\r\n"),
    ("an extension without a semicolon", b"2 a=b\r\n{}\r\n0\r\n\r\n"),
    ("an extension of 20 kB", b"2;" + b"a" * 20000 + b"\r\n{}\r\n0\r\n\r\n"),
    ("a trailer with a length", b"2\r\n{}\r\n0\r\nContent-Length: 40\r\n\r\n"),
    ("a trailer with a coding", b"2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("a trailer without a colon", b"2\r\n{}\r\n0\r\nGET /smuggled HTTP/1.1\r\n\r\n"),
    ("a trailer that ends in LF", b"2\r\n{}\r\n0\r\nX: y\n\r\n"),
    ("an end in LF", b"2\r\n{}\r\n0\r\n\n"),
    ("a body of NULs", b"\0\0\0\0\0\0\0\0"),
]

# Unusual but unambiguous: name, bytes, the request line and the body that the server gets.
TAKEN = [
    ("a request in a body", POST + b"Content-Length: %d\r\n" % len(SECOND) + END + SECOND, b"POST /mcp HTTP/1.1", SECOND),
    ("a request in a chunk", POST + CHUNKED + END + b"%x\r\n%s\r\n0\r\n\r\n" % (len(SECOND), SECOND), b"POST /mcp HTTP/1.1", SECOND),
    ("an extension", POST + CHUNKED + END + b"2;a=b\r\n{}\r\n0\r\n\r\n", b"POST /mcp HTTP/1.1", BODY),
    ("sizes with zeros", POST + CHUNKED + END + b"0002\r\n{}\r\n000\r\n\r\n", b"POST /mcp HTTP/1.1", BODY),
    ("a trailer", POST + CHUNKED + END + b"2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", b"POST /mcp HTTP/1.1", BODY),
    ("a trailer with a Host", POST + CHUNKED + END + b"2\r\n{}\r\n0\r\nHost: evil.example\r\n\r\n", b"POST /mcp HTTP/1.1", BODY),
    ("a length with zeros", POST + b"Content-Length: 0002\r\n" + END + BODY, b"POST /mcp HTTP/1.1", BODY),
    ("CHUNKED", POST + b"transfer-encoding: CHUNKED\r\n" + END + CHUNKS, b"POST /mcp HTTP/1.1", BODY),
    ("one empty line first", END + POST + LENGTH + END + BODY, b"POST /mcp HTTP/1.1", BODY),
    ("our own URL", b"POST http://localhost/mcp HTTP/1.1\r\n" + HOST + JSON + LENGTH + END + BODY, b"POST /mcp HTTP/1.1", BODY),
    ("a length that Connection names", POST + b"Connection: content-length\r\n" + LENGTH + END + BODY, b"POST /mcp HTTP/1.1", BODY),
    ("a coding that Connection names", POST + b"Connection: transfer-encoding\r\n" + CHUNKED + END + CHUNKS, b"POST /mcp HTTP/1.1", BODY),
    ("a wish to upgrade", POST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n" + LENGTH + END + BODY, b"POST /mcp HTTP/1.1", BODY),
    ("a body to GET", GET + HOST + LENGTH + END + BODY, b"GET /mcp HTTP/1.1", BODY),
]

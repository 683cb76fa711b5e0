/* redact/encodings.h - lists the encodings in which a secret value may occur in text.
 *
 * Escapes are not listed: redact/unescape removes them where they occur, so only the value
 * itself and its unescaped forms are. Listed are base64 (at all three offsets, in both
 * alphabets) and hexadecimal, both also of the value as JSON, URL-encoded or UTF-16; base64 of
 * base64; Latin-1; and the value with U+FFFD for each byte that is not UTF-8, as JSON writers
 * emit it. Each comes with LF and with CRLF line ends. Long lines of a multi-line value are
 * listed by themselves.
 *
 * Pure: keeps nothing. */
#ifndef REDACT_ENCODINGS_H
#define REDACT_ENCODINGS_H

#include "base/str.h"

enum encoding {
    ENCODING_PLAIN,
    ENCODING_BASE64,       /* the neighbouring characters also carry bits of the value */
    ENCODING_BASE64_TWICE, /* more neighbouring characters do */
    ENCODING_HEX,          /* lower case; to be searched in any case */
};

enum { ENCODINGS_MIN = 6 }; /* bytes of a value */

typedef void encodings_fn(void *to, enum encoding encoding, struct str text);

/* Calls `fn` for each encoding of the value, for some more than once. A value shorter than
 * ENCODINGS_MIN is a BUG. In an ENCODING_PLAIN text, a space also stands for a plus, as HTML
 * forms are encoded. */
void encodings_each(struct str value, encodings_fn *fn, void *to);

#endif

/* redact/unescape.h - removes one layer of escapes from a text.
 *
 * Decodes at once the escapes of JSON, URLs, HTML, shells and programming languages: \n \" \/
 * \$ \u0041 \u{41} \U00000041 \x41 \101 (surrogate pairs as one character, lone surrogates as
 * three bytes), %41, %u0041, &amp; and the other named characters up to U+00FF, &#65; &#x41;
 * (the semicolon of the last two may be missing). An invalid escape stays as it is. Text that
 * was escaped several times has several layers.
 *
 * Where bytes came from is not recorded: unescape_map_back() computes it by a second pass,
 * which is rarely needed. */
#ifndef REDACT_UNESCAPE_H
#define REDACT_UNESCAPE_H

#include "base/buf.h"

enum unescape_kind {
    UNESCAPE_BACKSLASH = 1 << 0,
    UNESCAPE_PERCENT = 1 << 1,
    UNESCAPE_ENTITY = 1 << 2,
    UNESCAPE_ALL = 7,
};

enum { UNESCAPE_SLACK = 16 }; /* bytes that a result buffer needs beyond the text */

/* Appends the text without its outermost escapes of these `kinds`. Returns false and appends
 * nothing if it has none. The buffer becomes full if it cannot take the length of the text and
 * UNESCAPE_SLACK. */
bool unescape_text(struct str text, unsigned kinds, struct buf *to);

struct unescape_span {
    size_t at, end;
};

/* Maps spans of the result of unescape_text() back to spans of `text` that contain whole
 * escapes. The spans are sorted and do not overlap; `stride` is the distance of two in bytes.
 */
void unescape_map_back(struct str text, unsigned kinds, struct unescape_span *spans,
                       size_t stride, size_t count);

/* Finds the first escape from `from` on. */
bool unescape_find(struct str text, unsigned kinds, size_t from, struct unescape_span *out);

/* Returns the length of the escape at the start of `text`; 0: there is none. */
size_t unescape_length(struct str text, unsigned kinds);

#endif

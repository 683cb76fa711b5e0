/* base/unravel.h - one layer of escapes taken off a text.
 *
 * Takes off all at once what JSON, URLs, HTML, shells and programs put on: \n \" \/ \$
 * \u0041 \u{41} \U00000041 \x41 \101 (pairs of surrogates as one character, lone ones as
 * three bytes), %41, %u0041, &amp; and the other names of
 * characters up to U+00FF, &#65; &#x41; (a semicolon may be missing there). What looks like an
 * escape and is none stays. Texts escaped several times have several layers.
 *
 * Nothing is remembered of where bytes came from: who wants to know has the way walked a
 * second time, which is seldom. */
#ifndef BASE_UNRAVEL_H
#define BASE_UNRAVEL_H

#include "base/buf.h"

enum unravel {
    UNRAVEL_BACKSLASH = 1 << 0,
    UNRAVEL_PERCENT = 1 << 1,
    UNRAVEL_ENTITY = 1 << 2,
    UNRAVEL_ALL = 7,
};

enum { UNRAVEL_ROOM = 16 };

/* Appends the text without its outermost escapes; false, and nothing is added, if it has
 * none. `kinds` are those that count. The buffer is full if it has no room for the length
 * of the text and UNRAVEL_ROOM. */
bool unravel(struct str text, unsigned kinds, struct buf *to);

struct unravel_span {
    size_t at, end;
};

/* From places in what unravel() made of `text` to places in `text`: whole escapes. The
 * spans are in order and do not overlap; `stride` bytes lie from one to the next. */
void unravel_origin(struct str text, unsigned kinds, struct unravel_span *spans, size_t stride,
                    size_t count);

/* The first escape from `from` on; false if there is none. */
bool unravel_next(struct str text, unsigned kinds, size_t from, struct unravel_span *out);

/* The length of the escape that `text` starts with; 0: with none. */
size_t unravel_escape(struct str text, unsigned kinds);

#endif

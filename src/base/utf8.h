/* base/utf8.h - validates, decodes and encodes UTF-8 (RFC 3629: no overlong forms, no
 * surrogates). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

#include "base/str.h"

enum { UTF8_MAX = 4 };

/* Length of the longest valid prefix; s.len if all of it is valid. */
size_t utf8_valid_prefix(struct str s);

static inline bool utf8_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.len;
}

/* Decodes the code point at the front. Returns its number of bytes; 0 if the front is not valid
 * UTF-8 or is incomplete. */
size_t utf8_decode(struct str s, uint32_t *code);

/* Writes 1 to 4 bytes; surrogates are encoded as three bytes (WTF-8), because a
 * JSON string may hold a lone one and we must be able to compare it. */
size_t utf8_encode(char out[UTF8_MAX], uint32_t code);

#endif

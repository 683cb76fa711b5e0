#include "base/base64.h"

#include <stdint.h>

#include "base/ascii.h"

static const char digits[64] = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
};

static unsigned byte_at(struct str s, size_t i)
{
    return i < s.len ? (unsigned char)s.at[i] : 0;
}

void base64_encode(struct buf *to, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i += 3) {
        unsigned bits =
            byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
        char quad[4] = { digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                         digits[bits & 63] };
        if (i + 2 >= bytes.len)
            quad[3] = '=';
        if (i + 1 >= bytes.len)
            quad[2] = '=';
        buf_add(to, str_n(quad, 4));
    }
}

static int value_of(char c)
{
    if (ascii_is_upper(c))
        return c - 'A';
    if (ascii_is_lower(c))
        return c - 'a' + 26;
    if (ascii_is_digit(c))
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* Padding may only stand in the last two places of the text. */
static size_t padding(struct str text)
{
    if (text.len < 4 || text.at[text.len - 1] != '=')
        return 0;
    return text.at[text.len - 2] == '=' ? 2 : 1;
}

bool base64_decode(struct str text, struct arena *a, struct str *bytes)
{
    size_t pad = padding(text), n = 0;
    char *out;

    if (text.len % 4 != 0)
        return false;
    out = arena_alloc(a, text.len / 4 * 3 + 1);
    for (size_t i = 0; i < text.len; i += 4) {
        uint32_t bits = 0;
        for (size_t k = i; k < i + 4; k++) {
            int v = k >= text.len - pad ? 0 : value_of(text.at[k]);
            if (v < 0)
                return false;
            bits = bits << 6 | (uint32_t)v;
        }
        out[n++] = (char)(bits >> 16);
        out[n++] = (char)(bits >> 8 & 255);
        out[n++] = (char)(bits & 255);
    }
    *bytes = str_n(out, n - pad);
    return true;
}

#include "base/utf8.h"

#include "base/err.h"

/* Skips ASCII eight bytes at a time: most traffic is nothing else. */
static size_t ascii_run(struct str s, size_t from)
{
    size_t i = from;

    for (; s.len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, s.at + i, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < s.len && (unsigned char)s.at[i] < 0x80)
        i++;
    return i;
}

size_t utf8_valid_prefix(struct str s)
{
    size_t i = ascii_run(s, 0);

    while (i < s.len) {
        uint32_t code;
        size_t n = utf8_decode(str_skip(s, i), &code);
        if (n == 0)
            break;
        i = ascii_run(s, i + n);
    }
    return i;
}

/* The least code point that needs a form of so many bytes: less is overlong. */
static const uint32_t least_code[UTF8_MAX + 1] = { 0, 0, 0x80, 0x800, 0x10000 };

static bool is_surrogate(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

size_t utf8_decode(struct str s, uint32_t *code)
{
    const unsigned char *at = (const unsigned char *)s.at;
    size_t n;
    uint32_t c;

    if (s.len == 0)
        return 0;
    c = at[0];
    if (c < 0x80) {
        *code = c;
        return 1;
    }
    n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC0 || c >= 0xF8 || s.len < n)
        return 0;
    c &= 0x7FU >> n;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3F);
    }
    if (c < least_code[n] || c > 0x10FFFF || is_surrogate(c))
        return 0;
    *code = c;
    return n;
}

static char continuation(uint32_t bits)
{
    return (char)(0x80 | (bits & 0x3F));
}

size_t utf8_encode(char out[UTF8_MAX], uint32_t code)
{
    BUG_IF(code > 0x10FFFF);
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = continuation(code);
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = continuation(code >> 6);
        out[2] = continuation(code);
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = continuation(code >> 12);
    out[2] = continuation(code >> 6);
    out[3] = continuation(code);
    return 4;
}

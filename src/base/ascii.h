/* base/ascii.h - classifies and converts ASCII bytes, independent of the locale.
 *
 * Bytes beyond ASCII are in no class. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_letter(char c)
{
    return ascii_is_lower(c) || ascii_is_upper(c);
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

/* JSON's whitespace. */
static inline bool ascii_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char ascii_upper(char c)
{
    return ascii_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static inline bool ascii_is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* Returns how many bytes at the front are printable and none of the three. Inline because
 * writers of text do little else: eight bytes at a time. */
static inline size_t ascii_run_without(const char *at, size_t len, char a, char b, char c)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;
    size_t n = 0;

    for (; len - n >= sizeof ones; n += sizeof ones) {
        uint64_t w, is_a, is_b, is_c, ends;

        memcpy(&w, at + n, sizeof w);
        w = le64toh(w);
        is_a = (w ^ ones * (unsigned char)a) - ones;
        is_b = (w ^ ones * (unsigned char)b) - ones;
        is_c = (w ^ ones * (unsigned char)c) - ones;
        /* A top bit is set by a byte that ends the run; by another only behind such a byte. */
        ends = ((w - ones * ' ') | (w + ones) | w | is_a | is_b | is_c) & tops;
        if (ends)
            return n + (size_t)__builtin_ctzll(ends) / 8;
    }
    while (n < len && ascii_is_printable(at[n]) && at[n] != a && at[n] != b && at[n] != c)
        n++;
    return n;
}

extern const unsigned char ascii_hex_digits[256]; /* value of the digit + 1; 0: no digit */

/* Returns the value of a hexadecimal digit, -1 if it is none. */
static inline int ascii_hex(char c)
{
    return ascii_hex_digits[(unsigned char)c] - 1;
}

/* Returns the value of four bytes that are known to be hexadecimal digits. */
static inline uint32_t ascii_hex4(const char *at)
{
    uint32_t code = 0;

    for (int i = 0; i < 4; i++)
        code = code << 4 | (uint32_t)ascii_hex(at[i]);
    return code;
}

#endif

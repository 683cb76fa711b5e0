#include "format/python-json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/write.h"

enum { INDENT = 2 };

void python_json_write_newline(struct buf *to, unsigned level)
{
    buf_add_ch(to, '\n');
    for (unsigned i = 0; i < level * INDENT; i++)
        buf_add_ch(to, ' ');
}

static struct str skip_blanks(struct str s)
{
    size_t n = 0;

    while (n < s.len && ascii_is_blank(s.at[n]))
        n++;
    return str_skip(s, n);
}

/* The string at the front, quotes included. */
static struct str first_string(struct str s)
{
    size_t n = 1;

    for (;;) {
        n += ascii_run_without(s.at + n, s.len - n, '"', '\\', '\\');
        if (s.at[n] == '"')
            return str_n(s.at, n + 1);
        n += s.at[n] == '\\' ? 2 : 1;
    }
}

/* A number, true, false or null at the front. */
static struct str first_word(struct str s)
{
    size_t n = 0;

    while (n < s.len && !ascii_is_blank(s.at[n]) && !memchr(",:]}", s.at[n], 4))
        n++;
    return str_n(s.at, n);
}

/* Like Python: short escapes if there are any, else no escape where possible. */
static void add_code(struct buf *to, uint32_t code)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char bytes[UTF8_MAX];

    for (size_t i = 0; i < sizeof letters - 1; i += 2)
        if (code == (unsigned char)letters[i]) {
            buf_add_ch(to, '\\');
            buf_add_ch(to, letters[i + 1]);
            return;
        }
    if (code < 0x20 || (code >= 0xd800 && code < 0xe000))
        buf_printf(to, "\\u%04x", code);
    else
        buf_add(to, str_n(bytes, utf8_encode(bytes, code)));
}

/* Decodes the escape at the front; returns its length. */
static size_t decode_escape(struct str s, uint32_t *code)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    uint32_t low;

    for (size_t i = 0; i < sizeof letters - 1; i += 2)
        if (s.at[1] == letters[i]) {
            *code = (unsigned char)letters[i + 1];
            return 2;
        }
    *code = ascii_hex4(s.at + 2);
    if (*code >= 0xd800 && *code < 0xdc00 && str_starts(str_skip(s, 6), STR("\\u"))) {
        low = ascii_hex4(s.at + 8);
        if (low >= 0xdc00 && low < 0xe000) {
            *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
            return 12;
        }
    }
    return 6;
}

/* Adds the escape at the front; returns its length. */
static size_t add_escape(struct buf *to, struct str s)
{
    uint32_t code;
    size_t n = decode_escape(s, &code);

    add_code(to, code);
    return n;
}

static void add_string(struct buf *to, struct str s)
{
    while (s.len) {
        size_t plain = str_find(s, '\\');

        buf_add(to, str_n(s.at, plain));
        s = str_skip(s, plain);
        if (s.len)
            s = str_skip(s, add_escape(to, s));
    }
}

/* Adds the opening bracket, and the closing one if nothing is between them. */
static struct str add_opening(struct buf *to, struct str s, unsigned *level)
{
    struct str inside = skip_blanks(str_skip(s, 1));

    buf_add_ch(to, s.at[0]);
    if (inside.at[0] == '}' || inside.at[0] == ']') {
        buf_add_ch(to, inside.at[0]);
        return str_skip(inside, 1);
    }
    python_json_write_newline(to, ++*level);
    return inside;
}

void python_json_write(struct buf *to, struct str json, unsigned level)
{
    for (struct str s = skip_blanks(json); s.len; s = skip_blanks(s)) {
        struct str token = str_n(s.at, 1);

        switch (s.at[0]) {
        case '{':
        case '[':
            s = add_opening(to, s, &level);
            continue;
        case '}':
        case ']':
            python_json_write_newline(to, --level);
            buf_add(to, token);
            break;
        case ',':
            buf_add(to, token);
            python_json_write_newline(to, level);
            break;
        case ':':
            buf_add(to, STR(": "));
            break;
        case '"':
            add_string(to, token = first_string(s));
            break;
        default:
            buf_add(to, token = first_word(s));
        }
        s = str_skip(s, token.len);
    }
}

void python_json_write_compact(struct buf *to, struct str json)
{
    size_t n = 0; /* bytes at the front without a blank between tokens */

    while (n < json.len) {
        struct str rest = str_skip(json, n);

        if (rest.at[0] == '"') {
            n += first_string(rest).len;
        } else if (!ascii_is_blank(rest.at[0])) {
            n++;
        } else {
            buf_add(to, str_n(json.at, n));
            json = skip_blanks(rest);
            n = 0;
        }
    }
    buf_add(to, json);
}

void python_json_write_string(struct buf *to, struct str text)
{
    struct buf quoted;

    buf_init(&quoted, to->max);
    json_write_str(&quoted, text);
    to->full = to->full || quoted.full;
    add_string(to, buf_str(&quoted));
    buf_release(&quoted);
}

static void add_ascii_code(struct buf *to, uint32_t code)
{
    if (code >= 0x10000)
        buf_printf(to, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                   0xdc00 + (code & 0x3ff));
    else if (code >= 0x7f)
        buf_printf(to, "\\u%04x", code);
    else
        add_code(to, code);
}

/* Adds a string, whose quotes are in `s`. */
static void add_ascii_string(struct buf *to, struct str s)
{
    buf_add_ch(to, '"');
    s = str_n(s.at + 1, s.len - 2);
    while (s.len) {
        uint32_t code;
        size_t n = s.at[0] == '\\' ? decode_escape(s, &code) : utf8_decode(s, &code);

        add_ascii_code(to, code);
        s = str_skip(s, n);
    }
    buf_add_ch(to, '"');
}

static bool is_float(struct str number)
{
    return str_find(number, '.') < number.len || str_find(number, 'e') < number.len ||
           str_find(number, 'E') < number.len;
}

/* Adds digits "d.ddd" with a decimal exponent as Python does: without an exponent from 1e-4 up
 * to 1e16. */
static void add_digits(struct buf *to, struct str digits, int exponent)
{
    int count = (int)digits.len;

    if (exponent < -4 || exponent >= 16) {
        buf_add_ch(to, digits.at[0]);
        if (count > 1)
            buf_printf(to, ".%.*s", count - 1, digits.at + 1);
        buf_printf(to, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        buf_printf(to, "0.%.*s%.*s", -exponent - 1, "000", count, digits.at);
    } else if (count <= exponent + 1) {
        buf_printf(to, "%.*s%.*s.0", count, digits.at, exponent + 1 - count,
                   "0000000000000000");
    } else {
        buf_printf(to, "%.*s.%.*s", exponent + 1, digits.at, count - exponent - 1,
                   digits.at + exponent + 1);
    }
}

/* Adds the shortest text that has the same value. */
static void add_float(struct buf *to, double value)
{
    char text[40], digits[20];
    size_t count = 0;
    int precision = 0;

    if (signbit(value))
        buf_add_ch(to, '-');
    value = fabs(value);
    if (isinf(value)) {
        buf_add(to, STR("Infinity"));
        return;
    }
    do
        snprintf(text, sizeof text, "%.*e", precision, value);
    while (strtod(text, NULL) != value && ++precision < 17);
    for (const char *c = text; *c != 'e'; c++)
        if (*c != '.')
            digits[count++] = *c;
    add_digits(to, str_n(digits, count), (int)strtol(strchr(text, 'e') + 1, NULL, 10));
}

/* Adds a number, true, false or null. */
static void add_ascii_word(struct buf *to, struct str word)
{
    struct buf z;

    if (word.at[0] > '9' || !is_float(word)) {
        buf_add(to, str_eq(word, STR("-0")) ? STR("0") : word);
        return;
    }
    buf_init(&z, word.len + 1);
    buf_add(&z, word);
    add_float(to, strtod(buf_z(&z), NULL));
    buf_release(&z);
}

void python_json_write_ascii(struct buf *to, struct str json)
{
    for (struct str s = skip_blanks(json); s.len; s = skip_blanks(s)) {
        struct str token = str_n(s.at, 1);

        if (s.at[0] == '"') {
            add_ascii_string(to, token = first_string(s));
        } else if (memchr("{}[],:", s.at[0], 6)) {
            buf_add(to, token);
            if (s.at[0] == ',' || s.at[0] == ':')
                buf_add_ch(to, ' ');
        } else {
            add_ascii_word(to, token = first_word(s));
        }
        s = str_skip(s, token.len);
    }
}

#include "trace/forms.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/unravel.h"
#include "base/utf8.h"
#include "json/write.h"

/* Of a value of several lines each counts that is as long as the first, or as the second and
 * has letters and digits. */
enum { LINE_LONG = 16, LINE_SHORTEST = 8 };

/* Times the length of a value: six bytes for each of a value in which every line break takes
 * two, in base64 of base64. */
enum { LONGEST = 6 * 2 * 2 };

struct forms {
    forms_fn *fn;
    void *to;
    size_t room; /* of buffers: no form is longer */
};

static void give(struct forms *f, enum form form, struct str text)
{
    f->fn(f->to, form, text);
}

/* The characters of the base64 of `skip` unknown bytes, the value and what follows it that
 * depend on the value alone. */
static struct str base64_at(struct buf *to, struct str value, size_t skip)
{
    struct buf padded;
    size_t first = (8 * skip + 5) / 6, end = 8 * (skip + value.len) / 6;

    buf_init(&padded, value.len + 3);
    buf_add(&padded, str_n("\0\0", skip));
    buf_add(&padded, value);
    buf_clear(to);
    base64_encode(to, buf_str(&padded));
    buf_release(&padded);
    return str_n(to->at + first, end - first);
}

/* In the alphabet for URLs; false if that makes no difference. */
static bool to_url_alphabet(char *text, size_t len)
{
    bool any = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        text[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
        any |= text[i] != c;
    }
    return any;
}

/* At every place between threes of bytes, in both alphabets; and, `again`, the same of each
 * of those. */
static void give_base64(struct forms *f, struct str value, enum form form, bool again)
{
    struct buf text;

    buf_init(&text, f->room);
    for (size_t skip = 0; skip < 3; skip++) {
        struct str part = base64_at(&text, value, skip);
        do {
            give(f, form, part);
            if (again)
                give_base64(f, part, FORM_BASE64_TWICE, false);
        } while (to_url_alphabet(text.at, text.len));
    }
    buf_release(&text);
}

static void give_hex(struct forms *f, struct str value)
{
    struct buf text;

    buf_init(&text, f->room);
    for (size_t i = 0; i < value.len; i++)
        buf_printf(&text, "%02x", (unsigned char)value.at[i]);
    give(f, FORM_HEX, buf_str(&text));
    buf_release(&text);
}

/* A value may itself look escaped; together with its surroundings it is undone, too. */
static void give_unravelled(struct forms *f, struct str value)
{
    struct buf layers[2];
    size_t which = 0;

    buf_init(&layers[0], value.len + UNRAVEL_ROOM);
    buf_init(&layers[1], value.len + UNRAVEL_ROOM);
    while (unravel(value, UNRAVEL_ALL, &layers[which])) {
        value = buf_str(&layers[which]);
        if (value.len < FORMS_SHORTEST)
            break;
        give(f, FORM_PLAIN, value);
        which = 1 - which;
        buf_clear(&layers[which]);
    }
    buf_release(&layers[0]);
    buf_release(&layers[1]);
}

static bool counts_alone(struct str line)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < line.len; i++) {
        digit |= ascii_is_digit(line.at[i]);
        letter |= ascii_is_letter(line.at[i]);
    }
    return line.len >= LINE_LONG || (line.len >= LINE_SHORTEST && digit && letter);
}

/* Keys in PEM and the like come line by line where text is read so. */
static void give_lines(struct forms *f, struct str value)
{
    if (!memchr(value.at, '\n', value.len))
        return;
    while (value.len) {
        struct str line = str_trim(str_cut(&value, '\n'));
        if (counts_alone(line))
            give(f, FORM_PLAIN, line);
    }
}

static void to_json(struct buf *to, struct str value)
{
    struct buf quoted;
    struct json_out o = json_out_to(&quoted);

    buf_init(&quoted, to->max + 2);
    json_out_str(&o, value);
    buf_add(to, str_n(quoted.at + 1, quoted.len - 2));
    buf_release(&quoted);
}

/* JSON that is nothing but ASCII, as Python writes it. */
static void to_ascii_json(struct buf *to, struct str value)
{
    struct buf json;
    struct str rest;

    buf_init(&json, to->max);
    to_json(&json, value);
    for (rest = buf_str(&json); rest.len;) {
        uint32_t code;
        size_t n = utf8_decode(rest, &code);

        if (n < 2)
            buf_add_ch(to, rest.at[0]);
        else if (code < 0x10000)
            buf_printf(to, "\\u%04x", code);
        else
            buf_printf(to, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
                       0xDC00 + ((code - 0x10000) & 0x3FF));
        rest = str_skip(rest, n ? n : 1);
    }
    buf_release(&json);
}

/* As Windows has texts in memory, and PowerShell takes its commands. Without its last zero
 * it also stands in the other byte order. */
static void to_utf16(struct buf *to, struct str value)
{
    while (value.len) {
        uint32_t code;
        size_t n = utf8_decode(value, &code);
        uint32_t units[2] = { n ? code : (unsigned char)value.at[0], 0 };

        if (units[0] >= 0x10000) {
            units[1] = 0xDC00 + ((units[0] - 0x10000) & 0x3FF);
            units[0] = 0xD800 + ((units[0] - 0x10000) >> 10);
        }
        for (size_t i = 0; i < 2 && (i == 0 || units[i]); i++) {
            buf_add_ch(to, (char)units[i]);
            buf_add_ch(to, (char)(units[i] >> 8));
        }
        value = str_skip(value, n ? n : 1);
    }
    if (to->len && to->at[to->len - 1] == '\0')
        to->len--;
}

static void give_utf16(struct forms *f, struct str value)
{
    struct buf text;

    buf_init(&text, f->room);
    to_utf16(&text, value);
    give(f, FORM_PLAIN, buf_str(&text));
    buf_release(&text);
}

/* What is no UTF-8 cannot stand in JSON: there it is U+FFFD, byte by byte. */
static void give_replaced(struct forms *f, struct str value)
{
    struct buf text;

    if (utf8_valid(value))
        return;
    buf_init(&text, f->room);
    while (value.len) {
        uint32_t code;
        size_t n = utf8_decode(value, &code);

        buf_add(&text, n ? str_n(value.at, n) : STR("\xEF\xBF\xBD"));
        value = str_skip(value, n ? n : 1);
    }
    give(f, FORM_PLAIN, buf_str(&text));
    buf_release(&text);
}

/* Characters up to U+00FF as one byte: what comes of \xe9 where it stands for a character. */
static void give_latin1(struct forms *f, struct str value)
{
    struct str rest = value;
    struct buf text;

    buf_init(&text, f->room);
    while (rest.len) {
        uint32_t code;
        size_t n = utf8_decode(rest, &code);

        if (n == 2 && code < 0x100)
            buf_add_ch(&text, (char)code);
        else
            buf_add(&text, str_n(rest.at, n ? n : 1));
        rest = str_skip(rest, n ? n : 1);
    }
    if (text.len >= FORMS_SHORTEST && !str_eq(buf_str(&text), value)) {
        give(f, FORM_PLAIN, buf_str(&text));
        give_replaced(f, buf_str(&text));
    }
    buf_release(&text);
}

/* What is escaped and then encoded: the escapes cannot be undone where they are met. */
static void give_escaped(struct forms *f, struct str value)
{
    static void (*const ways[])(struct buf *, struct str) = { to_json, to_ascii_json,
                                                              buf_add_percent, to_utf16 };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct buf text;

        buf_init(&text, f->room);
        ways[i](&text, value);
        if (!str_eq(buf_str(&text), value)) {
            give_base64(f, buf_str(&text), FORM_BASE64, false);
            give_hex(f, buf_str(&text));
        }
        buf_release(&text);
    }
}

static void give_all(struct forms *f, struct str value)
{
    give(f, FORM_PLAIN, value);
    give_replaced(f, value);
    give_latin1(f, value);
    give_unravelled(f, value);
    give_base64(f, value, FORM_BASE64, true);
    give_hex(f, value);
    give_escaped(f, value);
    give_utf16(f, value);
}

/* The value with its lines ended by `end`, whatever ended them before. */
static void give_with_ends(struct forms *f, struct str value, struct str end)
{
    struct str rest = value;
    struct buf text;

    buf_init(&text, f->room);
    while (rest.len) {
        size_t line = str_find(rest, '\n');
        bool last = line == rest.len, with_cr = line && !last && rest.at[line - 1] == '\r';

        buf_add(&text, str_n(rest.at, line - with_cr));
        if (!last)
            buf_add(&text, end);
        rest = str_skip(rest, line + 1);
    }
    if (!str_eq(buf_str(&text), value))
        give_all(f, buf_str(&text));
    buf_release(&text);
}

void forms_each(struct str value, forms_fn *fn, void *to)
{
    struct forms f = { .fn = fn, .to = to, .room = LONGEST * value.len + 64 };

    BUG_IF(value.len < FORMS_SHORTEST);
    give_all(&f, value);
    give_with_ends(&f, value, STR("\n"));
    give_with_ends(&f, value, STR("\r\n"));
    give_lines(&f, value);
}

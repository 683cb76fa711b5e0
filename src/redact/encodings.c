#include "redact/encodings.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "redact/unescape.h"
#include "json/write.h"

/* A line of a multi-line value is secret by itself if it has LINE_LONG bytes, or LINE_SHORTEST
 * bytes with letters and digits. */
enum { LINE_LONG = 16, LINE_SHORTEST = 8 };

/* Longest encoding, in lengths of the value: 6 bytes per byte (\u0000), 2 for CRLF, 2 for
 * base64 of base64. */
enum { MAX_GROWTH = 6 * 2 * 2 };

struct encodings_target {
    encodings_fn *fn;
    void *arg;
    size_t max_bytes; /* limit of buffers: no encoding is longer */
};

static void emit(struct encodings_target *f, enum encoding encoding, struct str text)
{
    f->fn(f->arg, encoding, text);
}

/* Encodes `skip` unknown bytes and the value as base64. Returns the characters that depend on
 * the value only. */
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

/* Changes base64 to the URL alphabet. Returns whether it is different. */
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

/* Emits the base64 at all three offsets, in both alphabets; with `again`, also the base64 of
 * each of them. */
static void emit_base64(struct encodings_target *f, struct str value, enum encoding encoding,
                        bool again)
{
    struct buf text;

    buf_init(&text, f->max_bytes);
    for (size_t skip = 0; skip < 3; skip++) {
        struct str part = base64_at(&text, value, skip);
        do {
            emit(f, encoding, part);
            if (again)
                emit_base64(f, part, ENCODING_BASE64_TWICE, false);
        } while (to_url_alphabet(text.at, text.len));
    }
    buf_release(&text);
}

static void emit_hex(struct encodings_target *f, struct str value)
{
    struct buf text;

    buf_init(&text, f->max_bytes);
    for (size_t i = 0; i < value.len; i++)
        buf_printf(&text, "%02x", (unsigned char)value.at[i]);
    emit(f, ENCODING_HEX, buf_str(&text));
    buf_release(&text);
}

/* Emits the value without its own escapes: a search removes them with those around it. */
static void emit_unescaped(struct encodings_target *f, struct str value)
{
    struct buf layers[2];
    size_t which = 0;

    buf_init(&layers[0], value.len + UNESCAPE_SLACK);
    buf_init(&layers[1], value.len + UNESCAPE_SLACK);
    while (unescape_text(value, UNESCAPE_ALL, &layers[which])) {
        value = buf_str(&layers[which]);
        if (value.len < ENCODINGS_MIN)
            break;
        emit(f, ENCODING_PLAIN, value);
        which = 1 - which;
        buf_clear(&layers[which]);
    }
    buf_release(&layers[0]);
    buf_release(&layers[1]);
}

static bool is_secret_line(struct str line)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < line.len; i++) {
        digit |= ascii_is_digit(line.at[i]);
        letter |= ascii_is_letter(line.at[i]);
    }
    return line.len >= LINE_LONG || (line.len >= LINE_SHORTEST && digit && letter);
}

/* Emits long lines: a PEM key may be read line by line. */
static void emit_lines(struct encodings_target *f, struct str value)
{
    if (!memchr(value.at, '\n', value.len))
        return;
    while (value.len) {
        struct str line = str_trim(str_cut(&value, '\n'));
        if (is_secret_line(line))
            emit(f, ENCODING_PLAIN, line);
    }
}

static void write_json(struct buf *to, struct str value)
{
    struct buf quoted;
    struct json_out o = json_out_to(&quoted);

    buf_init(&quoted, to->max + 2);
    json_out_str(&o, value);
    buf_add(to, str_n(quoted.at + 1, quoted.len - 2));
    buf_release(&quoted);
}

/* Appends ASCII-only JSON, as Python writes it. */
static void write_ascii_json(struct buf *to, struct str value)
{
    struct buf json;
    struct str rest;

    buf_init(&json, to->max);
    write_json(&json, value);
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

/* Appends UTF-16LE, as Windows and encoded PowerShell commands have it. The last zero is left
 * out, so that the text is found in UTF-16BE, too. */
static void write_utf16(struct buf *to, struct str value)
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

static void emit_utf16(struct encodings_target *f, struct str value)
{
    struct buf text;

    buf_init(&text, f->max_bytes);
    write_utf16(&text, value);
    emit(f, ENCODING_PLAIN, buf_str(&text));
    buf_release(&text);
}

/* Emits the value with U+FFFD for each byte that is not UTF-8, as in JSON. */
static void emit_replaced(struct encodings_target *f, struct str value)
{
    struct buf text;

    if (utf8_valid(value))
        return;
    buf_init(&text, f->max_bytes);
    while (value.len) {
        uint32_t code;
        size_t n = utf8_decode(value, &code);

        buf_add(&text, n ? str_n(value.at, n) : STR("\xEF\xBF\xBD"));
        value = str_skip(value, n ? n : 1);
    }
    emit(f, ENCODING_PLAIN, buf_str(&text));
    buf_release(&text);
}

/* Emits the value in Latin-1: unescaping \xe9 gives one byte per character. */
static void emit_latin1(struct encodings_target *f, struct str value)
{
    struct str rest = value;
    struct buf text;

    buf_init(&text, f->max_bytes);
    while (rest.len) {
        uint32_t code;
        size_t n = utf8_decode(rest, &code);

        if (n == 2 && code < 0x100)
            buf_add_ch(&text, (char)code);
        else
            buf_add(&text, str_n(rest.at, n ? n : 1));
        rest = str_skip(rest, n ? n : 1);
    }
    if (text.len >= ENCODINGS_MIN && !str_eq(buf_str(&text), value)) {
        emit(f, ENCODING_PLAIN, buf_str(&text));
        emit_replaced(f, buf_str(&text));
    }
    buf_release(&text);
}

/* Emits encodings of the escaped value: a search cannot unescape inside of base64 or hex. */
static void emit_escaped(struct encodings_target *f, struct str value)
{
    static void (*const ways[])(struct buf *, struct str) = { write_json, write_ascii_json,
                                                              buf_add_percent, write_utf16 };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct buf text;

        buf_init(&text, f->max_bytes);
        ways[i](&text, value);
        if (!str_eq(buf_str(&text), value)) {
            emit_base64(f, buf_str(&text), ENCODING_BASE64, false);
            emit_hex(f, buf_str(&text));
        }
        buf_release(&text);
    }
}

static void emit_all(struct encodings_target *f, struct str value)
{
    emit(f, ENCODING_PLAIN, value);
    emit_replaced(f, value);
    emit_latin1(f, value);
    emit_unescaped(f, value);
    emit_base64(f, value, ENCODING_BASE64, true);
    emit_hex(f, value);
    emit_escaped(f, value);
    emit_utf16(f, value);
}

/* Emits the value with `end` after each line, if that changes it. */
static void emit_with_line_ends(struct encodings_target *f, struct str value, struct str end)
{
    struct str rest = value;
    struct buf text;

    buf_init(&text, f->max_bytes);
    while (rest.len) {
        size_t line = str_find(rest, '\n');
        bool last = line == rest.len, with_cr = line && !last && rest.at[line - 1] == '\r';

        buf_add(&text, str_n(rest.at, line - with_cr));
        if (!last)
            buf_add(&text, end);
        rest = str_skip(rest, line + 1);
    }
    if (!str_eq(buf_str(&text), value))
        emit_all(f, buf_str(&text));
    buf_release(&text);
}

void encodings_each(struct str value, encodings_fn *fn, void *to)
{
    struct encodings_target f = { .fn = fn,
                                  .arg = to,
                                  .max_bytes = MAX_GROWTH * value.len + 64 };

    BUG_IF(value.len < ENCODINGS_MIN);
    emit_all(&f, value);
    emit_with_line_ends(&f, value, STR("\n"));
    emit_with_line_ends(&f, value, STR("\r\n"));
    emit_lines(&f, value);
}

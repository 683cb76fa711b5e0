#include "json/write.h"

#include "base/ascii.h"
#include "base/utf8.h"

struct json_out json_out_to(struct buf *to)
{
    return (struct json_out){ .to = to };
}

static void add_comma(struct json_out *o)
{
    if (o->comma)
        buf_add_ch(o->to, ',');
    o->comma = true;
}

static void open_bracket(struct json_out *o, char bracket)
{
    add_comma(o);
    buf_add_ch(o->to, bracket);
    o->comma = false;
}

static void close_bracket(struct json_out *o, char bracket)
{
    buf_add_ch(o->to, bracket);
    o->comma = true;
}

void json_out_object(struct json_out *o)
{
    open_bracket(o, '{');
}

void json_out_end_object(struct json_out *o)
{
    close_bracket(o, '}');
}

void json_out_array(struct json_out *o)
{
    open_bracket(o, '[');
}

void json_out_end_array(struct json_out *o)
{
    close_bracket(o, ']');
}

void json_out_key(struct json_out *o, struct str key)
{
    json_out_str(o, key);
    buf_add_ch(o->to, ':');
    o->comma = false;
}

void json_out_str(struct json_out *o, struct str text)
{
    add_comma(o);
    json_write_str(o->to, text);
}

void json_out_int(struct json_out *o, int64_t n)
{
    add_comma(o);
    buf_add_int(o->to, n);
}

void json_out_bool(struct json_out *o, bool b)
{
    json_out_raw(o, b ? STR("true") : STR("false"));
}

void json_out_null(struct json_out *o)
{
    json_out_raw(o, STR("null"));
}

void json_out_raw(struct json_out *o, struct str json)
{
    add_comma(o);
    buf_add(o->to, json);
}

void json_out_key_str(struct json_out *o, struct str key, struct str text)
{
    json_out_key(o, key);
    json_out_str(o, text);
}

void json_out_key_str_or_null(struct json_out *o, struct str key, struct str text)
{
    json_out_key(o, key);
    if (text.len)
        json_out_str(o, text);
    else
        json_out_null(o);
}

void json_out_key_int(struct json_out *o, struct str key, int64_t n)
{
    json_out_key(o, key);
    json_out_int(o, n);
}

void json_out_key_bool(struct json_out *o, struct str key, bool b)
{
    json_out_key(o, key);
    json_out_bool(o, b);
}

void json_out_key_raw(struct json_out *o, struct str key, struct str json)
{
    json_out_key(o, key);
    json_out_raw(o, json);
}

static void write_ascii(struct buf *to, char c)
{
    static const char letters[] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't', [0x7F] = 0,
    };
    static const char hex[] = "0123456789abcdef";
    /* By hand: megabytes of such bytes pass through a recorder that must not stall. */
    const char code[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

    if (letters[(unsigned char)c])
        buf_add(to, str_n((const char[]){ '\\', letters[(unsigned char)c] }, 2));
    else
        buf_add(to, str_n(code, sizeof code));
}

/* A surrogate in three bytes, as json_text() leaves a lone one. */
static bool is_surrogate(struct str s)
{
    return s.len >= 3 && s.at[0] == '\xED' && (s.at[1] & 0xE0) == 0xA0 &&
           (s.at[2] & 0xC0) == 0x80;
}

/* Writes the character at the front of `s`, which is not ASCII; returns its number of bytes. */
static size_t write_wide(struct buf *to, struct str s)
{
    uint32_t code;
    size_t n = utf8_decode(s, &code);

    if (n == 0 && is_surrogate(s)) {
        buf_printf(to, "\\ud%x%02x", 8 | (s.at[1] & 0x1F) >> 2,
                   (s.at[1] & 0x03) << 6 | (s.at[2] & 0x3F));
        return 3;
    }
    if (n == 0) {
        buf_add(to, STR("\xEF\xBF\xBD"));
        return 1;
    }
    if (code == 0x2028 || code == 0x2029)
        buf_printf(to, "\\u%04x", code);
    else
        buf_add(to, str_n(s.at, n));
    return n;
}

void json_write_str(struct buf *to, struct str text)
{
    buf_add_ch(to, '"');
    while (text.len) {
        size_t n = ascii_run_without(text.at, text.len, '"', '\\', '\\');

        buf_add(to, str_n(text.at, n));
        text = str_skip(text, n);
        if (!text.len)
            break;
        if ((unsigned char)text.at[0] < 0x80) {
            write_ascii(to, text.at[0]);
            text = str_skip(text, 1);
        } else {
            text = str_skip(text, write_wide(to, text));
        }
    }
    buf_add_ch(to, '"');
}

struct str json_write_str_in(struct arena *a, struct str text)
{
    struct str json;
    struct buf b;

    buf_init(&b, text.len * 6 + 3); /* all of it may be \uXXXX */
    json_write_str(&b, text);
    json = arena_str(a, buf_str(&b));
    buf_release(&b);
    return json;
}

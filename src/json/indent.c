#include "json/indent.h"

#include "base/ascii.h"
#include "base/term.h"
#include "base/units.h"

enum { STEP = 2, BASE64_LONG = 256, BASE64_SHOWN = 32 };

/* Keys whose values say that something went wrong. */
static bool is_error_key(struct json_iter it, size_t depth)
{
    return (depth == 0 && json_is(it.key, STR("error"))) ||
           (json_is(it.key, STR("isError")) && json_type(it.value) == JSON_TRUE);
}

static enum term_style style_of(struct json_val v)
{
    switch (json_type(v)) {
    case JSON_STRING:
        return TERM_GREEN;
    case JSON_NUMBER:
        return TERM_YELLOW;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return TERM_BOLD;
    default:
        return TERM_PLAIN;
    }
}

static bool drain_if_full(const struct json_indent *how, struct err *e)
{
    return !how->drain || how->to->len < JSON_INDENT_CHUNK || how->drain(how->arg, e);
}

/* At most a chunk of the text, and no character is torn. */
static struct str next_chunk(struct str text)
{
    size_t n = text.len < JSON_INDENT_CHUNK ? text.len : JSON_INDENT_CHUNK;

    while (n < text.len && n && ((unsigned char)text.at[n] & 0xC0) == 0x80)
        n--;
    return str_n(text.at, n);
}

static bool add_text(const struct json_indent *how, struct str text, enum term_style style,
                     struct err *e)
{
    term_style(how->to, how->color, style);
    while (text.len) {
        struct str piece = next_chunk(text);
        term_escape(how->to, piece, TERM_ONE_LINE);
        text = str_skip(text, piece.len);
        if (!drain_if_full(how, e))
            return false;
    }
    term_style(how->to, how->color, TERM_PLAIN);
    return true;
}

static void add_newline(const struct json_indent *how, size_t depth)
{
    buf_add_ch(how->to, '\n');
    for (size_t i = 0; i < depth * STEP; i++)
        buf_add_ch(how->to, ' ');
}

static bool add_value(const struct json_indent *how, struct json_val v, size_t depth,
                      struct err *e);

static bool add_key(const struct json_indent *how, struct json_iter it, size_t depth,
                    struct err *e)
{
    if (!add_text(how, json_raw(it.key), is_error_key(it, depth) ? TERM_RED : TERM_CYAN, e))
        return false;
    buf_add(how->to, STR(": "));
    return true;
}

/* Goes as deep as the value is nested, which the scanner has bounded. */
static bool add_container(const struct json_indent *how, struct json_val v, size_t depth,
                          struct err *e)
{
    bool object = json_type(v) == JSON_OBJECT, first = true;
    struct json_iter it = json_each(v);

    buf_add_ch(how->to, object ? '{' : '[');
    while (json_next(&it)) {
        if (!first)
            buf_add_ch(how->to, ',');
        first = false;
        add_newline(how, depth + 1);
        if ((object && !add_key(how, it, depth, e)) || !add_value(how, it.value, depth + 1, e))
            return false;
    }
    if (!first)
        add_newline(how, depth);
    buf_add_ch(how->to, object ? '}' : ']');
    return drain_if_full(how, e);
}

/* Either alphabet, padding, and the slashes that some encoders escape. */
static bool is_base64(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if (!ascii_is_alnum(c) && c != '+' && c != '/' && c != '-' && c != '_' && c != '=' &&
            !(c == '\\' && i + 1 < text.len && text.at[i + 1] == '/'))
            return false;
    }
    return true;
}

/* The front of an image or another file, with its size. */
static void add_base64(const struct json_indent *how, struct str text)
{
    size_t encoded = text.len;

    for (size_t i = 0; i < text.len; i++)
        encoded -= text.at[i] == '\\' || text.at[i] == '=';
    term_style(how->to, how->color, TERM_GREEN);
    buf_printf(how->to, "\"%.*s…\"", BASE64_SHOWN, text.at);
    term_style(how->to, how->color, TERM_DIM);
    buf_add(how->to, STR(" (base64 of "));
    units_write_bytes(how->to, encoded / 4 * 3 + encoded % 4 * 3 / 4);
    buf_printf(how->to, "; %s)", how->base64_hint);
    term_style(how->to, how->color, TERM_PLAIN);
}

static bool is_long_base64(const struct json_indent *how, struct json_val v)
{
    return how->base64_hint && json_type(v) == JSON_STRING &&
           json_unquoted(v).len >= BASE64_LONG && is_base64(json_unquoted(v));
}

static bool add_value(const struct json_indent *how, struct json_val v, size_t depth,
                      struct err *e)
{
    if (is_long_base64(how, v)) {
        add_base64(how, json_unquoted(v));
        return drain_if_full(how, e);
    }
    if (json_type(v) == JSON_OBJECT || json_type(v) == JSON_ARRAY)
        return add_container(how, v, depth, e);
    return add_text(how, json_raw(v), style_of(v), e);
}

bool json_indent_add(const struct json_indent *how, struct json_val v, struct err *e)
{
    return add_value(how, v, 0, e);
}

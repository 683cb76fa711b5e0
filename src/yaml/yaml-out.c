#include "yaml/yaml-out.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/map.h"
#include "base/term.h"
#include "base/utf8.h"
#include "yaml/yaml-scalar.h"

enum {
    INDENT = 2,
    SMALL_OBJECT = 8, /* members, in which a search is quicker than a table */
    KEY_MAX = 1000,   /* bytes, escaped: readers limit a key before ':' to 1024 characters */
    DELETE = 0x7f,
    FIRST_AFTER_C1 = 0xa0,
    FIRST_OF_FOUR_BYTES = 0x10000,
    REPLACEMENT = 0xfffd,
};

struct yaml_out yaml_out_to(struct buf *to)
{
    return (struct yaml_out){ .to = to };
}

static void add_indent(struct yaml_out *o, unsigned depth)
{
    static const struct str blanks = STR_INIT("                ");

    for (size_t n = depth * INDENT, part; n; n -= part) {
        part = n < blanks.len ? n : blanks.len;
        buf_add(o->to, str_n(blanks.at, part));
    }
}

/* Begins a key or an item: on a line of its own, or behind the "- " of the list around it. */
static void begin_entry(struct yaml_out *o)
{
    if (o->place == YAML_OUT_LINE)
        add_indent(o, o->depth - 1);
    o->place = YAML_OUT_LINE;
}

static void end_line(struct yaml_out *o)
{
    buf_add_ch(o->to, '\n');
    o->place = YAML_OUT_LINE;
}

void yaml_out_open(struct yaml_out *o)
{
    if (o->place == YAML_OUT_KEY)
        end_line(o);
    if (++o->depth > o->deepest)
        o->deepest = o->depth;
}

void yaml_out_close(struct yaml_out *o)
{
    o->depth--;
}

/* Returns whether a character can stand in the text as it is, also in a comment. */
static bool is_shown(uint32_t code)
{
    if (code < FIRST_AFTER_C1)
        return code >= ' ' && code < DELETE;
    return !term_is_hidden(code) && (code & 0xfffe) != 0xfffe;
}

/* Decodes the character at the front; what YAML cannot express becomes U+FFFD. */
static size_t decode(struct str text, uint32_t *code)
{
    size_t n = utf8_decode(text, code);

    if (n)
        return n;
    *code = REPLACEMENT;
    n = 1;
    while (n < text.len && n < 3 && ((unsigned char)text.at[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static bool is_substitution(struct str text)
{
    return text.len > 1 && text.at[0] == '$' && (text.at[1] == '$' || text.at[1] == '{');
}

static void add_code(struct buf *to, uint32_t code)
{
    char bytes[UTF8_MAX];

    buf_add(to, str_n(bytes, utf8_encode(bytes, code)));
}

static void add_escape(struct buf *to, uint32_t code)
{
    if (code == '\n')
        buf_add(to, STR("\\n"));
    else if (code == '\t')
        buf_add(to, STR("\\t"));
    else if (code == '\r')
        buf_add(to, STR("\\r"));
    else if (code <= 0xff)
        buf_printf(to, "\\x%02x", (unsigned)code);
    else if (code < FIRST_OF_FOUR_BYTES)
        buf_printf(to, "\\u%04x", (unsigned)code);
    else
        buf_printf(to, "\\U%08x", (unsigned)code);
}

static void add_quoted(struct buf *to, struct str text)
{
    uint32_t code;
    size_t n;

    buf_add_ch(to, '"');
    for (; text.len; text = str_skip(text, n)) {
        n = ascii_run_without(text.at, text.len, '"', '\\', '$');
        if (n) {
            buf_add(to, str_n(text.at, n));
            continue;
        }
        n = decode(text, &code);
        if (code == '"' || code == '\\') {
            buf_add_ch(to, '\\');
            buf_add_ch(to, (char)code);
        } else if (is_shown(code) && !is_substitution(text)) {
            add_code(to, code);
        } else {
            add_escape(to, code);
        }
    }
    buf_add_ch(to, '"');
}

/* Whether a line of a literal block comes back as it is. An empty one does. */
static bool is_block_line(struct str line)
{
    uint32_t code;
    size_t n;

    if (!line.len)
        return true;
    if (line.at[0] == ' ' || line.at[line.len - 1] == ' ')
        return false;
    for (; line.len; line = str_skip(line, n)) {
        n = ascii_run_without(line.at, line.len, '$', '$', '$');
        if (n)
            continue;
        n = utf8_decode(line, &code);
        if (!n || !is_shown(code) || code == REPLACEMENT || is_substitution(line))
            return false;
    }
    return true;
}

/* Text of several lines, not empty at the front, with at most one newline at the end. */
static bool is_block(struct str text)
{
    size_t first = str_find(text, '\n');

    if (!first || first >= text.len - 1 || str_ends(text, STR("\n\n")))
        return false;
    while (text.len)
        if (!is_block_line(str_cut(&text, '\n')))
            return false;
    return true;
}

static void add_block(struct yaml_out *o, struct str text)
{
    buf_add(o->to, str_ends(text, STR("\n")) ? STR("|") : STR("|-"));
    while (text.len) {
        struct str line = str_cut(&text, '\n');

        buf_add_ch(o->to, '\n');
        if (line.len)
            add_indent(o, o->depth);
        buf_add(o->to, line);
    }
}

static void add_text(struct yaml_out *o, struct str text)
{
    if (is_block(text))
        add_block(o, text);
    else
        add_quoted(o->to, text);
}

static void begin_scalar(struct yaml_out *o)
{
    if (o->place == YAML_OUT_KEY)
        buf_add_ch(o->to, ' ');
}

void yaml_out_str(struct yaml_out *o, struct str text)
{
    struct buf changed;

    begin_scalar(o);
    if (!o->change) {
        add_text(o, text);
    } else {
        buf_init(&changed, o->to->max);
        o->change(&changed, text);
        o->to->full = o->to->full || changed.full;
        add_text(o, buf_str(&changed));
        buf_release(&changed);
    }
    end_line(o);
}

void yaml_out_plain(struct yaml_out *o, struct str text)
{
    begin_scalar(o);
    buf_add(o->to, text);
    end_line(o);
}

/* YAML 1.1 has them as booleans, too; few readers do. */
static bool is_yes_or_no(struct str key)
{
    return key.len == 1 && strchr("yYnN", key.at[0]);
}

static bool is_plain_key(struct str key)
{
    if (!key.len || ascii_is_digit(key.at[0]) || key.at[0] == '-')
        return false;
    for (size_t i = 0; i < key.len; i++)
        if (!ascii_is_alnum(key.at[i]) && key.at[i] != '_' && key.at[i] != '-')
            return false;
    return yaml_scalar_type(key) == YAML_TYPE_STRING && !is_yes_or_no(key);
}

static void add_short_key(struct yaml_out *o, struct str text)
{
    begin_entry(o);
    buf_add(o->to, text);
    buf_add_ch(o->to, ':');
}

/* A long key has to be announced by "? ". */
static void add_long_key(struct yaml_out *o, struct str text)
{
    begin_entry(o);
    buf_add(o->to, STR("? "));
    buf_add(o->to, text);
    buf_add_ch(o->to, '\n');
    add_indent(o, o->depth - 1);
    buf_add_ch(o->to, ':');
}

static void add_quoted_key(struct yaml_out *o, struct str key)
{
    struct buf text;

    buf_init(&text, o->to->max);
    add_quoted(&text, key);
    if (text.len > KEY_MAX || text.full)
        add_long_key(o, buf_str(&text));
    else
        add_short_key(o, buf_str(&text));
    buf_release(&text);
}

void yaml_out_key(struct yaml_out *o, struct str key)
{
    if (!is_plain_key(key))
        add_quoted_key(o, key);
    else if (key.len > KEY_MAX)
        add_long_key(o, key);
    else
        add_short_key(o, key);
    o->place = YAML_OUT_KEY;
}

void yaml_out_item(struct yaml_out *o)
{
    begin_entry(o);
    buf_add(o->to, STR("- "));
    o->place = YAML_OUT_ITEM;
}

void yaml_out_key_str(struct yaml_out *o, struct str key, struct str text)
{
    yaml_out_key(o, key);
    yaml_out_str(o, text);
}

void yaml_out_key_plain(struct yaml_out *o, struct str key, struct str text)
{
    yaml_out_key(o, key);
    yaml_out_plain(o, text);
}

void yaml_out_key_int(struct yaml_out *o, struct str key, int64_t n)
{
    yaml_out_key(o, key);
    begin_scalar(o);
    buf_add_int(o->to, n);
    end_line(o);
}

/* Numbers with an exponent need a point and a sign in YAML 1.1. */
static void add_number(struct yaml_out *o, struct str number)
{
    size_t at =
        str_find(number, 'e') < number.len ? str_find(number, 'e') : str_find(number, 'E');
    struct str digits = str_n(number.at, at), exponent = str_skip(number, at + 1);

    begin_scalar(o);
    buf_add(o->to, digits);
    if (at < number.len) {
        if (!str_contains(digits, STR(".")))
            buf_add(o->to, STR(".0"));
        buf_add_ch(o->to, 'e');
        if (ascii_is_digit(exponent.at[0]))
            buf_add_ch(o->to, '+');
        buf_add(o->to, exponent);
    }
    end_line(o);
}

/* The depth of recursion is that of the value: JSON_MAX_DEPTH at most. */
static void add_value(struct yaml_out *o, struct json_val v, struct arena *a);

static void add_list(struct yaml_out *o, struct json_val list, struct arena *a)
{
    struct json_iter it = json_each(list);

    yaml_out_open(o);
    while (json_next(&it)) {
        yaml_out_item(o);
        add_value(o, it.value, a);
    }
    yaml_out_close(o);
}

static bool is_named(const struct str *names, struct str name)
{
    while (names->len && !str_eq(*names, name))
        names++;
    return names->len;
}

static void add_members(struct yaml_out *o, struct json_val object, const struct str *skipped,
                        struct arena *a)
{
    const bool is_small = json_count(object) <= SMALL_OBJECT;
    struct json_iter it = json_each(object);
    struct map last; /* of the members of a name: its node + 1; not of a small object */

    map_init(&last);
    while (!is_small && json_next(&it))
        map_put(&last, json_text(it.key, a), (void *)(uintptr_t)(it.value.node + 1));
    it = json_each(object);
    while (json_next(&it)) {
        struct str key = json_text(it.key, a);
        uintptr_t used =
            is_small ? json_get(object, key).node + 1 : (uintptr_t)map_get(&last, key);

        if (is_named(skipped, key) || used != it.value.node + 1)
            continue;
        yaml_out_key(o, key);
        add_value(o, it.value, a);
    }
    map_release(&last);
}

static void add_map(struct yaml_out *o, struct json_val object, struct arena *a)
{
    static const struct str none = { 0 };

    yaml_out_open(o);
    add_members(o, object, &none, a);
    yaml_out_close(o);
}

void yaml_out_members(struct yaml_out *o, struct json_val object, const struct str *skipped)
{
    struct arena a = { 0 };

    add_members(o, object, skipped, &a);
    arena_release(&a);
}

static void add_value(struct yaml_out *o, struct json_val v, struct arena *a)
{
    switch (json_type(v)) {
    case JSON_OBJECT:
        if (json_count(v))
            add_map(o, v, a);
        else
            yaml_out_plain(o, STR("{}"));
        break;
    case JSON_ARRAY:
        if (json_count(v))
            add_list(o, v, a);
        else
            yaml_out_plain(o, STR("[]"));
        break;
    case JSON_STRING:
        yaml_out_str(o, json_text(v, a));
        break;
    case JSON_NUMBER:
        add_number(o, json_raw(v));
        break;
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        yaml_out_plain(o, json_raw(v));
        break;
    case JSON_ABSENT:
        BUG("an absent value has no text");
    }
}

void yaml_out_json(struct yaml_out *o, struct json_val v)
{
    struct arena a = { 0 };

    add_value(o, v, &a);
    arena_release(&a);
}

void yaml_out_comment(struct yaml_out *o, const char *fmt, ...)
{
    struct buf text;
    struct str rest;
    uint32_t code;
    size_t n;
    va_list ap;

    buf_init(&text, o->to->max);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    rest = buf_str(&text);
    add_indent(o, o->depth ? o->depth - 1 : 0);
    buf_add_ch(o->to, '#');
    for (size_t columns = 0; rest.len; rest = str_skip(rest, n), columns++) {
        n = decode(rest, &code);
        if (!columns)
            buf_add_ch(o->to, ' ');
        if (columns == YAML_OUT_COMMENT_MAX) {
            buf_add(o->to, STR("…"));
            break;
        }
        if (is_shown(code))
            add_code(o->to, code);
        else
            add_escape(o->to, code);
        if (is_substitution(rest))
            buf_add_ch(o->to, ' ');
    }
    end_line(o);
    buf_release(&text);
}

void yaml_out_space(struct yaml_out *o)
{
    end_line(o);
}

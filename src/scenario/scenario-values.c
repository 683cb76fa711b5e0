#include "scenario/scenario-values.h"

#include "base/ascii.h"
#include "json/write.h"

void scenario_values_init(struct scenario_values *v)
{
    *v = (struct scenario_values){ .arena = { 0 } };
    map_init(&v->by_name);
}

void scenario_values_release(struct scenario_values *v)
{
    map_release(&v->by_name);
    arena_release(&v->arena);
}

static bool is_name_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_';
}

bool scenario_values_is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_char(name.at[i]))
            return false;
    return name.len > 0;
}

void scenario_values_set(struct scenario_values *v, struct str name, struct str json)
{
    struct str *copy = arena_new(&v->arena, struct str);

    *copy = arena_str(&v->arena, json);
    map_put(&v->by_name, name, copy);
}

/* Parses a reference at the front of a text. Returns its length; 0: there is none. Reads no
 * further than the next '{', so that texts with many of them are read once. */
static size_t parse_reference(struct str text, struct str *name)
{
    size_t at = 2;

    if (!str_starts(text, STR("{{")))
        return 0;
    while (at < text.len && (is_name_char(text.at[at]) || ascii_is_blank(text.at[at])))
        at++;
    *name = str_trim(str_n(text.at + 2, at - 2));
    return str_starts(str_skip(text, at), STR("}}")) && scenario_values_is_name(*name) ? at + 2
                                                                                       : 0;
}

bool scenario_values_next_reference(struct str *text, struct str *name)
{
    while (text->len) {
        size_t used = parse_reference(*text, name);

        *text = str_skip(*text, used ? used : 1);
        if (used)
            return true;
    }
    return false;
}

/* Appends the text of a value inside a string. */
static void add_inside(struct buf *to, struct str json)
{
    struct buf quoted;

    if (json.at[0] == '"') {
        buf_add(to, str_n(json.at + 1, json.len - 2));
        return;
    }
    buf_init(&quoted, to->max);
    json_write_str(&quoted, json);
    if (!quoted.full)
        buf_add(to, str_n(quoted.at + 1, quoted.len - 2));
    to->full = to->full || quoted.full;
    buf_release(&quoted);
}

/* Returns whether the reference at `at` is a whole string, and no key. JSON has "{{" only
 * inside strings, so a quote in front of it that is not escaped begins the string. */
static bool is_whole_string(struct str json, size_t at, size_t used)
{
    size_t escapes = 0, end = at + used;

    if (!at || json.at[at - 1] != '"' || end >= json.len || json.at[end] != '"')
        return false;
    while (escapes + 2 <= at && json.at[at - 2 - escapes] == '\\')
        escapes++;
    return escapes % 2 == 0 && (end + 1 == json.len || json.at[end + 1] != ':');
}

void scenario_values_fill(const struct scenario_values *v, struct str json, struct buf *to)
{
    size_t at = 0, used;

    while (at < json.len && !to->full) {
        struct str name;
        const struct str *value;

        used = parse_reference(str_skip(json, at), &name);
        value = used ? map_get(&v->by_name, name) : NULL;
        if (!value) {
            buf_add_ch(to, json.at[at++]);
        } else if (is_whole_string(json, at, used)) {
            to->len -= to->full ? 0 : 1; /* the quote */
            buf_add(to, *value);
            at += used + 1;
        } else {
            add_inside(to, *value);
            at += used;
        }
    }
}

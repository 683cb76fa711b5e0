#include "index/id-offset.h"

/* Positive: counted from the front. Negative: counted from the end. */
int8_t id_offset_of(struct json_val message, struct json_val id)
{
    size_t front = json_offset(id) - json_offset(message), back = json_raw(message).len - front;

    if (!json_exists(id))
        return 0;
    if (front <= INT8_MAX)
        return (int8_t)front;
    return back <= INT8_MAX ? (int8_t) - (int)back : 0;
}

static struct str trim_end(struct str s)
{
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Whether the text before a value ends with the key "id" and a colon. */
static bool follows_id_key(struct str before)
{
    before = trim_end(before);
    if (!before.len || before.at[before.len - 1] != ':')
        return false;
    before.len--;
    return str_ends(trim_end(before), STR("\"id\""));
}

static size_t string_len(struct str s)
{
    size_t i = 1;

    while (i < s.len && s.at[i] != '"')
        i += s.at[i] == '\\' ? 2 : 1;
    return i < s.len ? i + 1 : 0;
}

static size_t number_len(struct str s)
{
    static const bool of_number[256] = { ['0' ... '9'] = true, ['+'] = true, ['-'] = true,
                                         ['.'] = true,         ['e'] = true, ['E'] = true };
    size_t i = 0;

    while (i < s.len && of_number[(unsigned char)s.at[i]])
        i++;
    return i;
}

bool id_offset_find(struct str text, int8_t place, struct str *id)
{
    size_t at = place > 0 ? (size_t)place : text.len - (size_t)-place;
    struct str from;

    if (!place || at >= text.len || !follows_id_key(str_n(text.at, at)))
        return false;
    from = str_skip(text, at);
    *id = str_n(from.at, from.at[0] == '"' ? string_len(from) : number_len(from));
    return id->len > 0;
}

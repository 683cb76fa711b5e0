#include "engine/id-place.h"

/* Counted from the front if it is positive, from behind the end if it is negative. */
int8_t id_place_of(struct json_val message, struct json_val id)
{
    size_t front = json_at(id) - json_at(message), back = json_raw(message).len - front;

    if (!json_exists(id))
        return 0;
    if (front <= INT8_MAX)
        return (int8_t)front;
    return back <= INT8_MAX ? (int8_t) - (int)back : 0;
}

static struct str without_blanks_behind(struct str s)
{
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Whether what stands before a value makes it that of "id". */
static bool names_id(struct str before)
{
    before = without_blanks_behind(before);
    if (!before.len || before.at[before.len - 1] != ':')
        return false;
    before.len--;
    return str_ends(without_blanks_behind(before), STR("\"id\""));
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

bool id_place_find(struct str text, int8_t place, struct str *id)
{
    size_t at = place > 0 ? (size_t)place : text.len - (size_t)-place;
    struct str from;

    if (!place || at >= text.len || !names_id(str_n(text.at, at)))
        return false;
    from = str_skip(text, at);
    *id = str_n(from.at, from.at[0] == '"' ? string_len(from) : number_len(from));
    return id->len > 0;
}

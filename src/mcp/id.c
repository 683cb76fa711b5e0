#include "mcp/id.h"

#include "base/ascii.h"
#include "json/number.h"

enum { PLAIN_DIGITS = 18 };

/* Nothing but digits, as few as there can be, and surely an integer that fits. */
static bool is_plain(struct str number)
{
    for (size_t i = 0; i < number.len; i++)
        if (!ascii_is_digit(number.at[i]))
            return false;
    return number.len <= PLAIN_DIGITS && (number.len == 1 || number.at[0] != '0');
}

/* An integer that fits is its digits; every other number has an exponent in its
 * normal form, so the two cannot be confused. */
static void add_number(struct buf *to, struct json_val id)
{
    int64_t n;

    buf_add_ch(to, 'n');
    if (is_plain(json_raw(id)))
        buf_add(to, json_raw(id));
    else if (json_int(id, &n))
        buf_add_int(to, n);
    else
        json_number_normal(json_raw(id), to);
}

static void add_string(struct buf *to, struct json_val id)
{
    struct arena a = { 0 };

    buf_add_ch(to, 's');
    buf_add(to, json_text(id, &a));
    arena_release(&a);
}

void mcp_id_add(struct buf *to, struct json_val id)
{
    if (json_type(id) == JSON_STRING)
        add_string(to, id);
    else if (json_type(id) == JSON_NUMBER)
        add_number(to, id);
}

struct str mcp_id_key(struct json_val id, struct arena *a)
{
    struct buf key;
    struct str kept;

    buf_init(&key, JSON_MAX_TEXT);
    mcp_id_add(&key, id);
    kept = key.len ? arena_str(a, buf_str(&key)) : STR_NONE;
    buf_release(&key);
    return kept;
}

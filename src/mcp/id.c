#include "mcp/id.h"

#include "base/ascii.h"
#include "json/number.h"

enum { PLAIN_DIGITS = 18 };

/* True for digits only, without leading zeros, and few enough to fit an int64_t. */
static bool is_plain_integer(struct str number)
{
    for (size_t i = 0; i < number.len; i++)
        if (!ascii_is_digit(number.at[i]))
            return false;
    return number.len <= PLAIN_DIGITS && (number.len == 1 || number.at[0] != '0');
}

/* Writes an integer that fits as its digits. Every other number has an exponent in its normal
 * form, so the two never collide. */
static void add_number(struct buf *to, struct json_val id)
{
    int64_t n;

    buf_add_ch(to, 'n');
    if (is_plain_integer(json_raw(id)))
        buf_add(to, json_raw(id));
    else if (json_int(id, &n))
        buf_add_int(to, n);
    else
        json_number_normalize(json_raw(id), to);
}

static void add_string(struct buf *to, struct json_val id)
{
    struct arena a = { 0 };

    buf_add_ch(to, 's');
    buf_add(to, json_text(id, &a));
    arena_release(&a);
}

void mcp_id_add_key(struct buf *to, struct json_val id)
{
    if (json_type(id) == JSON_STRING)
        add_string(to, id);
    else if (json_type(id) == JSON_NUMBER)
        add_number(to, id);
}

void mcp_id_add_text_key(struct buf *to, struct json_val id)
{
    if (json_type(id) == JSON_STRING) {
        add_string(to, id);
    } else if (json_type(id) == JSON_NUMBER) {
        buf_add_ch(to, 's');
        buf_add(to, json_raw(id));
    }
}

struct str mcp_id_key(struct json_val id, struct arena *a)
{
    struct buf key;
    struct str kept;

    buf_init(&key, JSON_MAX_TEXT);
    mcp_id_add_key(&key, id);
    kept = key.len ? arena_str(a, buf_str(&key)) : STR_NONE;
    buf_release(&key);
    return kept;
}

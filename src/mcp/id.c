#include "mcp/id.h"

#include "json/number.h"

/* An integer that fits is its digits; every other number has an exponent in its
 * normal form, so the two cannot be confused. */
static void add_number(struct buf *to, struct json_val id)
{
    int64_t n;

    buf_add_ch(to, 'n');
    if (json_int(id, &n))
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

#include "mcp/id.h"

#include "base/buf.h"
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

struct str mcp_id_key(struct json_val id, struct arena *a)
{
    struct buf key;
    struct str kept;

    buf_init(&key, JSON_MAX_TEXT);
    switch (json_type(id)) {
    case JSON_STRING:
        buf_add_ch(&key, 's');
        buf_add(&key, json_text(id, a));
        break;
    case JSON_NUMBER:
        add_number(&key, id);
        break;
    default:
        return STR_NONE;
    }
    kept = arena_str(a, buf_str(&key));
    buf_release(&key);
    return kept;
}

#include "engine/http-relist.h"

#include "mcp/code.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/write.h"

enum { PAGES = 64, CURSOR_MAX = 64 << 10, STATUS_BAD_REQUEST = 400 };

void http_relist_init(struct http_relist *r)
{
    *r = (struct http_relist){ 0 };
    buf_init(&r->cursor, CURSOR_MAX);
}

void http_relist_release(struct http_relist *r)
{
    buf_release(&r->cursor);
}

bool http_relist_is_reason(unsigned status, const struct mcp_message *answer)
{
    return status == STATUS_BAD_REQUEST && mcp_error_is(answer, MCP_HEADER_MISMATCH);
}

void http_relist_begin(struct http_relist *r)
{
    r->pages = 0;
    buf_clear(&r->cursor);
}

/* What every request has to say of its sender, and no more: a token is for one request. */
static void add_meta(struct json_out *o, struct json_val params)
{
    const struct str names[] = { MCP_META_VERSION, MCP_META_CLIENT_INFO,
                                 MCP_META_CLIENT_CAPABILITIES };

    json_out_key(o, MCP_META_KEY);
    json_out_object(o);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct json_val value = mcp_meta(params, names[i]);

        if (json_exists(value))
            json_out_key_raw(o, names[i], json_raw(value));
    }
    json_out_end_object(o);
}

struct str http_relist_request(struct http_relist *r, struct json_val params, struct arena *a)
{
    struct buf text;
    struct json_out o = json_out_to(&text);
    struct str request;

    buf_init(&text, LIMIT_LINE);
    json_out_object(&o);
    json_out_key_str(&o, STR("jsonrpc"), STR("2.0"));
    json_out_key_str(&o, STR("id"),
                     arena_printf(a, "mcpreel-tools-%llu", (unsigned long long)++r->asked));
    json_out_key_str(&o, STR("method"), STR("tools/list"));
    json_out_key(&o, STR("params"));
    json_out_object(&o);
    if (r->cursor.len)
        json_out_key_raw(&o, STR("cursor"), buf_str(&r->cursor));
    add_meta(&o, params);
    json_out_end_object(&o);
    json_out_end_object(&o);
    request = arena_str(a, buf_str(&text));
    buf_release(&text);
    r->pages++;
    r->heard = false;
    buf_clear(&r->cursor);
    return request;
}

void http_relist_hear(struct http_relist *r, const struct mcp_message *answer)
{
    struct json_val cursor = json_get(answer->result, STR("nextCursor"));

    r->heard = true;
    buf_clear(&r->cursor);
    if (answer->kind == MCP_RESULT && json_type(cursor) == JSON_STRING &&
        json_raw(cursor).len <= CURSOR_MAX)
        buf_add(&r->cursor, json_raw(cursor));
}

bool http_relist_goes_on(const struct http_relist *r)
{
    return r->heard && r->cursor.len && r->pages < PAGES;
}

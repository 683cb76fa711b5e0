#include "mcphttp/client-schemas.h"

#include "mcp/error-code.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/write.h"

enum { PAGES_MAX = 64, CURSOR_MAX = 64 << 10, STATUS_BAD_REQUEST = 400 };

void client_schemas_init(struct client_schemas *r)
{
    *r = (struct client_schemas){ 0 };
    buf_init(&r->cursor, CURSOR_MAX);
}

void client_schemas_release(struct client_schemas *r)
{
    buf_release(&r->cursor);
}

bool client_schemas_is_needed(unsigned status, const struct mcp_message *response)
{
    return status == STATUS_BAD_REQUEST && mcp_error_has_code(response, MCP_HEADER_MISMATCH);
}

void client_schemas_start(struct client_schemas *r)
{
    r->pages = 0;
    buf_clear(&r->cursor);
}

/* Copies the members of _meta that every request needs. A progress token belongs to one request
 * and is not copied. */
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

struct str client_schemas_request(struct client_schemas *r, struct json_val params,
                                  struct arena *a)
{
    struct buf text;
    struct json_out o = json_out_to(&text);
    struct str request;

    buf_init(&text, LIMIT_LINE);
    json_out_object(&o);
    json_out_key_str(&o, STR("jsonrpc"), STR("2.0"));
    json_out_key_str(
        &o, STR("id"),
        arena_printf(a, "mcpreel-tools-%llu", (unsigned long long)++r->requests_sent));
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
    r->page_received = false;
    buf_clear(&r->cursor);
    return request;
}

void client_schemas_read_page(struct client_schemas *r, const struct mcp_message *response)
{
    struct json_val cursor = json_get(response->result, STR("nextCursor"));

    r->page_received = true;
    buf_clear(&r->cursor);
    if (response->kind == MCP_RESULT && json_type(cursor) == JSON_STRING &&
        json_raw(cursor).len <= CURSOR_MAX)
        buf_add(&r->cursor, json_raw(cursor));
}

bool client_schemas_has_more(const struct client_schemas *r)
{
    return r->page_received && r->cursor.len && r->pages < PAGES_MAX;
}

#include "trace/recording-info.h"

#include "mcp/meta.h"

enum { INFO_MAX = 64 << 10 }; /* longer values are not kept */

void recording_info_init(struct recording_info *f)
{
    *f = (struct recording_info){ 0 };
    buf_init(&f->protocol, INFO_MAX);
    buf_init(&f->client_info, INFO_MAX);
    buf_init(&f->server_info, INFO_MAX);
}

void recording_info_release(struct recording_info *f)
{
    buf_release(&f->protocol);
    buf_release(&f->client_info);
    buf_release(&f->server_info);
}

static void set_text(struct buf *to, struct str text)
{
    if (!text.len || text.len > INFO_MAX || str_eq(buf_str(to), text))
        return;
    buf_clear(to);
    buf_add(to, text);
}

static void set_json_text(struct buf *to, struct json_val string)
{
    struct arena a = { 0 };

    set_text(to, json_text(string, &a));
    arena_release(&a);
}

static void set_info(struct buf *to, struct json_val info)
{
    if (json_type(info) == JSON_OBJECT)
        set_text(to, json_raw(info));
}

static void update_from_request(struct recording_info *f, const struct mcp_message *m)
{
    struct json_val meta = json_get(m->params, MCP_META_KEY);

    if (str_eq(m->method, STR("initialize"))) {
        f->sessions++;
        set_info(&f->client_info, json_get(m->params, STR("clientInfo")));
    }
    if (!json_exists(meta))
        return;
    set_info(&f->client_info, json_get(meta, MCP_META_CLIENT_INFO));
    set_json_text(&f->protocol, json_get(meta, MCP_META_VERSION));
}

void recording_info_update(struct recording_info *f, enum record_dir dir,
                           const struct mcp_message *m, struct str request_method)
{
    if (dir == TO_SERVER && m->kind == MCP_REQUEST)
        update_from_request(f, m);
    if (dir == TO_CLIENT && m->kind == MCP_RESULT) {
        if (str_eq(request_method, STR("initialize"))) {
            set_info(&f->server_info, json_get(m->result, STR("serverInfo")));
            set_json_text(&f->protocol, json_get(m->result, STR("protocolVersion")));
        }
        set_info(&f->server_info, mcp_meta(m->result, MCP_META_SERVER_INFO));
    }
}

bool recording_info_is_error(const struct mcp_message *m)
{
    return m->kind == MCP_ERROR ||
           (m->kind == MCP_RESULT &&
            json_type(json_get(m->result, STR("isError"))) == JSON_TRUE);
}

#include "trace/facts.h"

#include "mcp/meta.h"

enum { FACT_MAX = 64 << 10 }; /* longer ones are not kept */

void facts_init(struct facts *f)
{
    *f = (struct facts){ 0 };
    buf_init(&f->protocol, FACT_MAX);
    buf_init(&f->client_info, FACT_MAX);
    buf_init(&f->server_info, FACT_MAX);
}

void facts_release(struct facts *f)
{
    buf_release(&f->protocol);
    buf_release(&f->client_info);
    buf_release(&f->server_info);
}

static void learn(struct buf *to, struct str text)
{
    if (!text.len || text.len > FACT_MAX || str_eq(buf_str(to), text))
        return;
    buf_clear(to);
    buf_add(to, text);
}

static void learn_text(struct buf *to, struct json_val string)
{
    struct arena a = { 0 };

    learn(to, json_text(string, &a));
    arena_release(&a);
}

static void learn_info(struct buf *to, struct json_val info)
{
    if (json_type(info) == JSON_OBJECT)
        learn(to, json_raw(info));
}

static void see_request(struct facts *f, const struct mcp_message *m)
{
    struct json_val meta = json_get(m->params, MCP_META_KEY);

    if (str_eq(m->method, STR("initialize"))) {
        f->sessions++;
        learn_info(&f->client_info, json_get(m->params, STR("clientInfo")));
    }
    if (!json_exists(meta))
        return;
    learn_info(&f->client_info, json_get(meta, MCP_META_CLIENT_INFO));
    learn_text(&f->protocol, json_get(meta, MCP_META_VERSION));
}

void facts_see(struct facts *f, enum record_dir dir, const struct mcp_message *m,
               struct str asked)
{
    if (dir == TO_SERVER && m->kind == MCP_REQUEST)
        see_request(f, m);
    if (dir == TO_CLIENT && m->kind == MCP_RESULT) {
        if (str_eq(asked, STR("initialize"))) {
            learn_info(&f->server_info, json_get(m->result, STR("serverInfo")));
            learn_text(&f->protocol, json_get(m->result, STR("protocolVersion")));
        }
        learn_info(&f->server_info, mcp_meta(m->result, MCP_META_SERVER_INFO));
    }
}

bool facts_is_error(const struct mcp_message *m)
{
    return m->kind == MCP_ERROR ||
           (m->kind == MCP_RESULT &&
            json_type(json_get(m->result, STR("isError"))) == JSON_TRUE);
}

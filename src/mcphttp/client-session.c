#include "mcphttp/client-session.h"

#include "mcp/meta.h"

/* Compressed responses are not supported, and some servers reject requests without User-Agent.
 */
static void add_common_headers(struct headers *to)
{
    headers_add(to, STR("Accept-Encoding"), STR("identity"));
    headers_add(to, STR("User-Agent"), STR("mcpreel/" MCPREEL_VERSION));
}

/* 2025-06-18 is the first version that requires MCP-Protocol-Version. */
static bool needs_version_header(struct str version)
{
    return version.len && str_cmp(version, STR("2025-06-18")) >= 0;
}

static void add_session_headers(struct headers *to, const struct client_negotiated *negotiated)
{
    if (negotiated->session_id.len)
        headers_add(to, STR("Mcp-Session-Id"), negotiated->session_id);
    if (needs_version_header(negotiated->version))
        headers_add(to, STR("MCP-Protocol-Version"), negotiated->version);
}

struct str client_session_message_version(const struct mcp_message *m, struct arena *a)
{
    struct str named = json_text(json_get(m->meta, MCP_META_VERSION), a);

    return named;
}

/* The param that Mcp-Name repeats; absent if the method has none. */
static struct json_val find_name_param(const struct mcp_message *m)
{
    static const struct {
        struct str method, member;
    } named[] = {
        { STR_INIT("tools/call"), STR_INIT("name") },
        { STR_INIT("prompts/get"), STR_INIT("name") },
        { STR_INIT("resources/read"), STR_INIT("uri") },
        { STR_INIT("tasks/get"), STR_INIT("taskId") },
        { STR_INIT("tasks/update"), STR_INIT("taskId") },
        { STR_INIT("tasks/cancel"), STR_INIT("taskId") },
    };

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_eq(m->method, named[i].method))
            return json_get(m->params, named[i].member);
    return JSON_VAL_NONE;
}

/* Leaves out a value that is too long for any server; the server will reject the request. */
static void add_encoded(struct headers *to, struct str name, struct str text, struct arena *a)
{
    struct str value = param_headers_encode(text, a);

    if (value.len <= PARAM_HEADERS_VALUE_MAX)
        headers_add(to, name, value);
}

static void add_stateless_headers(struct headers *to, const struct param_headers *params,
                                  const struct mcp_message *m, struct str version,
                                  struct arena *a)
{
    struct json_val name = find_name_param(m);

    add_encoded(to, STR("MCP-Protocol-Version"), version, a);
    add_encoded(to, STR("Mcp-Method"), m->method, a);
    if (json_type(name) == JSON_STRING)
        add_encoded(to, STR("Mcp-Name"), json_text(name, a), a);
    param_headers_add(params, m, to, a);
}

void client_session_post_headers(struct headers *to, const struct client_negotiated *negotiated,
                                 const struct param_headers *params,
                                 const struct mcp_message *m, struct str version,
                                 struct arena *a)
{
    headers_add(to, STR("Accept"), STR("application/json, text/event-stream"));
    headers_add(to, STR("Content-Type"), STR("application/json"));
    add_common_headers(to);
    if (m && version.len)
        add_stateless_headers(to, params, m, version, a);
    else
        add_session_headers(to, negotiated);
}

void client_session_get_headers(struct headers *to, const struct client_negotiated *negotiated,
                                struct str last_event_id)
{
    headers_add(to, STR("Accept"), STR("text/event-stream"));
    add_common_headers(to);
    add_session_headers(to, negotiated);
    if (last_event_id.len)
        headers_add(to, STR("Last-Event-ID"), last_event_id);
}

void client_session_delete_headers(struct headers *to,
                                   const struct client_negotiated *negotiated)
{
    add_common_headers(to);
    add_session_headers(to, negotiated);
}

enum { TARGET_MAX = 256 << 10, NEGOTIATED_MAX = 16 << 10 };

void client_session_init(struct client_session *p, const struct url *url)
{
    buf_init(&p->target, TARGET_MAX);
    buf_add(&p->target, url->path);
    if (url->query.at)
        buf_printf(&p->target, "?%.*s", STR_ARG(url->query));
    buf_init(&p->sse_endpoint, TARGET_MAX);
    buf_init(&p->session_id, NEGOTIATED_MAX);
    buf_init(&p->version, NEGOTIATED_MAX);
    buf_init(&p->stateless_version, NEGOTIATED_MAX);
    param_headers_init(&p->param_headers);
}

void client_session_release(struct client_session *p)
{
    buf_release(&p->target);
    buf_release(&p->sse_endpoint);
    buf_release(&p->session_id);
    buf_release(&p->version);
    buf_release(&p->stateless_version);
    param_headers_release(&p->param_headers);
}

void client_session_set_value(struct buf *to, struct str value)
{
    buf_clear(to);
    if (headers_is_value(value))
        buf_add(to, value);
}

void client_session_reset(struct client_session *p)
{
    buf_clear(&p->session_id);
    buf_clear(&p->version);
    buf_clear(&p->stateless_version);
}

static struct client_negotiated negotiated_values(const struct client_session *p)
{
    return (struct client_negotiated){ buf_str(&p->session_id), buf_str(&p->version) };
}

void client_session_compose_get(const struct client_session *p, struct str last_event_id,
                                struct action_request *out)
{
    struct client_negotiated negotiated = negotiated_values(p);

    *out = (struct action_request){ .method = STR("GET"), .target = buf_str(&p->target) };
    client_session_get_headers(&out->headers, &negotiated, last_event_id);
}

void client_session_compose_delete(const struct client_session *p, struct action_request *out)
{
    struct client_negotiated negotiated = negotiated_values(p);

    *out = (struct action_request){ .method = STR("DELETE"), .target = buf_str(&p->target) };
    client_session_delete_headers(&out->headers, &negotiated);
}

/* The version of a stateless message; empty: it is stateful. A notification need not name it
 * and has that of the last request. */
static struct str find_stateless_version(struct client_session *p, const struct mcp_message *m,
                                         struct arena *a)
{
    struct str named = m ? client_session_message_version(m, a) : STR_NONE;

    if (named.len && m->kind == MCP_REQUEST)
        client_session_set_value(&p->stateless_version, named);
    if (named.len || !m || m->kind != MCP_NOTIFICATION || p->version.len)
        return named;
    return buf_str(&p->stateless_version);
}

bool client_session_compose_post(struct client_session *p, const struct mcp_message *m,
                                 struct str text, struct arena *a, struct action_request *out)
{
    struct client_negotiated negotiated = negotiated_values(p);
    struct str version = find_stateless_version(p, m, a);

    *out = (struct action_request){ .method = STR("POST"),
                                    .target = buf_str(p->sse_endpoint.len ? &p->sse_endpoint
                                                                          : &p->target),
                                    .body = text };
    client_session_post_headers(&out->headers, &negotiated, &p->param_headers, m, version, a);
    return version.len > 0;
}

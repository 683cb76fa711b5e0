#include "engine/front-ask.h"

#include "engine/front-server.h"

void front_ask_read(struct front_ask *q, const struct event *ev, const struct session_ids *ids,
                    struct json *json, struct arena *a)
{
    const struct step_request *r = ev->request;
    struct str id;

    *q = (struct front_ask){ .exchange = ev->exchange, .message = { .kind = MCP_OTHER } };
    q->call = http_call_of(r);
    q->call.posted = sse_sessions_means(r->method, r->path, r->query);
    id = q->call.posted ? front_server_sse_name(sse_sessions_id(r->query), a)
                        : http_call_header(&q->call, STR("mcp-session-id"));
    q->call.state = session_ids_look(ids, id, &q->session);
    q->opens = q->call.state == SESSION_NONE && str_eq(r->method, STR("GET")) &&
               str_ends(r->path, STR(FRONT_ASK_SSE));
    http_call_read(&q->call, json, r->body, &q->message, a);
    q->id = q->call.message ? json_raw(q->message.id) : STR_NONE;
}

bool front_ask_is_initialize(const struct front_ask *q)
{
    return q->call.message && q->message.kind == MCP_REQUEST &&
           str_eq(q->message.method, STR("initialize"));
}

bool front_ask_is_ours(struct str path)
{
    return !str_starts(path, STR("/.well-known/"));
}

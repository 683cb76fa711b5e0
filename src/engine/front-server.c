#include "engine/front-server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/code.h"

enum { BAD_REQUEST = 400, BAD_GATEWAY = 502, SECOND_US = 1000000 };

#define WHO_WE_ARE "{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"

struct front_server *front_server_new(uint64_t number)
{
    struct front_server *s = mem_new(struct front_server);

    s->number = number;
    buf_init(&s->asked, FRONT_SERVER_ASKED + LIMIT_LINE * 3);
    return s;
}

void front_server_free(struct front_server *s)
{
    if (s->role != SPARE)
        server_link_release(&s->link);
    buf_release(&s->asked);
    unheard_release(&s->unheard);
    free(s);
}

struct unheard_item *front_server_excess(struct front_server *s)
{
    bool much = s->unheard.count >= UNHEARD_MAX || s->unheard.bytes > FRONT_SERVER_UNHEARD;

    return much ? unheard_take(&s->unheard) : NULL;
}

struct str front_server_sse_name(struct str id, struct arena *a)
{
    return arena_printf(a, "\n%.*s", STR_ARG(id));
}

void front_server_open_sse(struct front_server *s, struct sse_sessions *sse, uint64_t exchange,
                           struct session_ids *ids)
{
    struct arena a = { 0 };
    struct str name;
    bool minted;

    s->sse = sse_sessions_open(sse, exchange);
    s->sse->user = s;
    name = front_server_sse_name(str_z(s->sse->id), &a);
    memcpy(s->id, name.at, name.len + 1);
    s->session = session_ids_named(ids, name, &minted);
    arena_release(&a);
}

void front_server_fail(struct front_server *s, struct http_turns *t, struct sse_sessions *sse,
                       const struct http_verdict *v)
{
    while (s->link.first) {
        struct server_call *c = s->link.first;
        struct http_turn *x = http_turns_find(t, c->exchange);

        if (s->sse && !c->cancelled)
            sse_sessions_send(sse, s->sse, http_answer_error(&t->answer, v, c->id));
        else if (x && x->stream && !c->cancelled)
            http_turns_answer(t, x, http_answer_error(&t->answer, v, c->id));
        else if (x)
            http_turns_refuse(t, x, v, x->batch || c->cancelled ? STR_NONE : c->id);
        server_link_done(&s->link, c);
    }
}

static bool somebody_waits(const struct front_server *s, const struct http_turns *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->open, e));) {
        const struct http_turn *x = e->value;

        if (x->of == s && !x->gone)
            return true;
    }
    return s->sse != NULL;
}

struct front_server *front_server_idle(const struct map *servers, const struct http_turns *t)
{
    struct front_server *idle = NULL;

    for (struct map_entry *e = NULL; (e = map_next(servers, e));) {
        struct front_server *s = e->value;

        if (!s->ending && (!idle || s->used_us < idle->used_us) && !somebody_waits(s, t))
            idle = s;
    }
    return idle;
}

/* The oldest request that something can be said to; `*more`: there is another one. */
static struct http_turn *find_open(const struct front_server *s, const struct http_turns *t,
                                   bool gone, bool *more)
{
    struct http_turn *found = NULL;

    *more = false;
    for (const struct server_call *c = s->link.first; c && !*more; c = c->after) {
        struct http_turn *x = http_turns_find(t, c->exchange);

        if (!x || x == found || x->gone != gone || !http_turns_can_say(x))
            continue;
        *more = found != NULL;
        found = found ? found : x;
    }
    return found;
}

struct http_turn *front_server_whom(const struct front_server *s, const struct http_turns *t,
                                    bool apart)
{
    bool more, others;
    struct http_turn *ear = s->ear && !s->ear->gone ? s->ear : NULL,
                     *open = find_open(s, t, false, &more);

    if (apart && s->ear)
        return s->ear;
    if (ear && (more || !open))
        return ear;
    if (open)
        return open;
    open = find_open(s, t, true, &others);
    return s->ear && (others || !open) ? s->ear : open;
}

/* `replied_us` is the time at which the next response would be due at one for each second. */
bool front_server_may_reply(struct front_server *s, int64_t now_us)
{
    int64_t burst = (int64_t)FRONT_SERVER_REPLIES * SECOND_US;

    if (s->replied_us < now_us)
        s->replied_us = now_us;
    if (s->replied_us + SECOND_US > now_us + burst)
        return false;
    s->replied_us += SECOND_US;
    return true;
}

struct str front_server_hello(const struct front_server *s)
{
    if (s->role == SHARED_LEGACY)
        return STR("{\"jsonrpc\":\"2.0\",\"id\":" FRONT_SERVER_HELLO_ID
                   ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" WHO_WE_ARE "}}");
    return STR("{\"jsonrpc\":\"2.0\",\"id\":" FRONT_SERVER_HELLO_ID
               ",\"method\":\"server/discover\",\"params\":{\"_meta\":{"
               "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
               "\"io.modelcontextprotocol/clientInfo\":" WHO_WE_ARE
               ",\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
}

bool front_server_wants_other(const struct mcp_message *m)
{
    int64_t code;

    return m->kind == MCP_ERROR && json_int(json_get(m->error, STR("code")), &code) &&
           code == MCP_UNSUPPORTED_VERSION;
}

static bool names_modern(struct json_val versions, struct arena *a)
{
    struct json_iter it = json_each(versions);

    while (json_type(versions) == JSON_ARRAY && json_next(&it))
        if (mcp_version_era(mcp_version_parse(json_text(it.value, a))) == MCP_ERA_MODERN)
            return true;
    return false;
}

static bool is_modern(const struct mcp_message *m, struct str *versions, struct arena *a)
{
    bool refused = front_server_wants_other(m);
    struct json_val named = refused
                                ? json_get(json_get(m->error, STR("data")), STR("supported"))
                                : json_get(m->result, STR("supportedVersions"));

    *versions = json_type(named) == JSON_ARRAY ? json_raw(named) : STR(FRONT_SERVER_MODERN);
    return refused || names_modern(named, a);
}

bool front_server_greeted(const struct front_server *s, const struct mcp_message *m,
                          struct str *versions, struct http_verdict *v, struct arena *a)
{
    *v = (struct http_verdict){ .status = BAD_REQUEST,
                                .code = MCP_SERVER_ERROR,
                                .text = STR("Bad Request: Server not initialized") };
    if (s->role == SHARED_MODERN)
        return is_modern(m, versions, a);
    v->status = BAD_GATEWAY;
    v->text = STR("the server refuses to be initialized");
    if (front_server_wants_other(m))
        *v = (struct http_verdict){ .status = BAD_REQUEST,
                                    .code = MCP_UNSUPPORTED_VERSION,
                                    .text = STR("Unsupported protocol version"),
                                    .data = json_raw(json_get(m->error, STR("data"))) };
    return m->kind == MCP_RESULT;
}

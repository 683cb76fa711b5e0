#include "mcphttp/legacy-sse.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

enum { ACCEPTED = 202 };

#define QUERY_PREFIX "sessionId="

void legacy_sse_init(struct legacy_sse *s, struct action_sink *out,
                     void (*fill_random)(void *to, size_t size))
{
    *s = (struct legacy_sse){ .out = out, .fill_random = fill_random };
    map_init(&s->by_id);
    map_init(&s->by_exchange);
    http_response_init(&s->response, out);
    buf_init(&s->text, LIMIT_LINE * 3);
}

void legacy_sse_release(struct legacy_sse *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_id, e));)
        free(e->value);
    map_release(&s->by_id);
    map_release(&s->by_exchange);
    http_response_release(&s->response);
    buf_release(&s->text);
}

static void put_action(struct legacy_sse *s, enum action_kind kind, uint64_t exchange,
                       struct str text)
{
    struct action a = { .kind = kind, .route = { .exchange = exchange }, .text = text };

    s->out->put(s->out, &a);
}

static void send_event(struct legacy_sse *s, const struct legacy_sse_session *x,
                       struct str event, struct str data)
{
    struct sse_item item = SSE_ITEM_NONE;
    struct err e = ERR_NONE;

    item.event = event;
    item.data = data;
    buf_clear(&s->text);
    BUG_IF(!sse_writer_add(&s->text, &item, &e));
    put_action(s, ACTION_STREAM_WRITE, x->exchange, buf_str(&s->text));
}

struct legacy_sse_session *legacy_sse_open(struct legacy_sse *s, uint64_t exchange)
{
    struct legacy_sse_session *x = mem_new(struct legacy_sse_session);
    struct arena a = { 0 };

    x->exchange = exchange;
    session_ids_generate(x->id, s->fill_random);
    map_put(&s->by_id, str_z(x->id), x);
    map_put(&s->by_exchange, map_number_key(&x->exchange), x);
    http_response_open_stream(&s->response, exchange, STR_NONE);
    send_event(s, x, STR("endpoint"),
               arena_printf(&a, "%s?%s%s", LEGACY_SSE_PATH, QUERY_PREFIX, x->id));
    arena_release(&a);
    return x;
}

bool legacy_sse_is_message(struct str method, struct str path, struct str query)
{
    return str_eq(method, STR("POST")) && str_eq(path, STR(LEGACY_SSE_PATH)) &&
           str_starts(query, STR(QUERY_PREFIX));
}

struct str legacy_sse_session_id(struct str query)
{
    return str_starts(query, STR(QUERY_PREFIX)) ? str_skip(query, sizeof QUERY_PREFIX - 1)
                                                : STR_NONE;
}

struct legacy_sse_session *legacy_sse_find(const struct legacy_sse *s, struct str query)
{
    return map_get(&s->by_id, legacy_sse_session_id(query));
}

struct legacy_sse_session *legacy_sse_find_exchange(const struct legacy_sse *s,
                                                    uint64_t exchange)
{
    return map_get(&s->by_exchange, map_number_key(&exchange));
}

void legacy_sse_accept(struct legacy_sse *s, uint64_t exchange)
{
    http_response_start(&s->response, STR("text/plain"), STR_NONE);
    http_response_send(&s->response, exchange, ACCEPTED, STR("Accepted"));
}

void legacy_sse_send(struct legacy_sse *s, const struct legacy_sse_session *x,
                     struct str message)
{
    send_event(s, x, STR("message"), message);
}

void legacy_sse_remove(struct legacy_sse *s, struct legacy_sse_session *x)
{
    map_remove(&s->by_id, str_z(x->id));
    map_remove(&s->by_exchange, map_number_key(&x->exchange));
    free(x);
}

void legacy_sse_end(struct legacy_sse *s, struct legacy_sse_session *x)
{
    put_action(s, ACTION_STREAM_END, x->exchange, STR_NONE);
    legacy_sse_remove(s, x);
}

#include "engine/sse-sessions.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

enum { ACCEPTED = 202 };

#define NAME "sessionId="

void sse_sessions_init(struct sse_sessions *s, struct action_sink *out,
                       void (*random)(void *to, size_t size))
{
    *s = (struct sse_sessions){ .out = out, .random = random };
    map_init(&s->by_id);
    map_init(&s->by_exchange);
    http_answer_init(&s->answer, out);
    buf_init(&s->text, LIMIT_LINE * 3);
}

void sse_sessions_release(struct sse_sessions *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_id, e));)
        free(e->value);
    map_release(&s->by_id);
    map_release(&s->by_exchange);
    http_answer_release(&s->answer);
    buf_release(&s->text);
}

static void act(struct sse_sessions *s, enum action_kind kind, uint64_t exchange,
                struct str text)
{
    struct action a = { .kind = kind, .way = { .exchange = exchange }, .text = text };

    s->out->put(s->out, &a);
}

static void send_event(struct sse_sessions *s, const struct sse_session *x, struct str event,
                       struct str data)
{
    struct sse_item item = SSE_ITEM_NONE;
    struct err e = ERR_NONE;

    item.event = event;
    item.data = data;
    buf_clear(&s->text);
    BUG_IF(!sse_writer_add(&s->text, &item, &e));
    act(s, ACTION_WRITE, x->exchange, buf_str(&s->text));
}

struct sse_session *sse_sessions_open(struct sse_sessions *s, uint64_t exchange)
{
    struct sse_session *x = mem_new(struct sse_session);
    struct arena a = { 0 };

    x->exchange = exchange;
    session_ids_make(x->id, s->random);
    map_put(&s->by_id, str_z(x->id), x);
    map_put(&s->by_exchange, map_number(&x->exchange), x);
    http_answer_open(&s->answer, exchange, STR_NONE);
    send_event(s, x, STR("endpoint"),
               arena_printf(&a, "%s?%s%s", SSE_SESSIONS_PATH, NAME, x->id));
    arena_release(&a);
    return x;
}

bool sse_sessions_means(struct str method, struct str path, struct str query)
{
    return str_eq(method, STR("POST")) && str_eq(path, STR(SSE_SESSIONS_PATH)) &&
           str_starts(query, STR(NAME));
}

struct str sse_sessions_id(struct str query)
{
    return str_starts(query, STR(NAME)) ? str_skip(query, sizeof NAME - 1) : STR_NONE;
}

struct sse_session *sse_sessions_find(const struct sse_sessions *s, struct str query)
{
    return map_get(&s->by_id, sse_sessions_id(query));
}

struct sse_session *sse_sessions_on(const struct sse_sessions *s, uint64_t exchange)
{
    return map_get(&s->by_exchange, map_number(&exchange));
}

void sse_sessions_accept(struct sse_sessions *s, uint64_t exchange)
{
    http_answer_start(&s->answer, STR("text/plain"), STR_NONE);
    http_answer_send(&s->answer, exchange, ACCEPTED, STR("Accepted"));
}

void sse_sessions_send(struct sse_sessions *s, const struct sse_session *x, struct str message)
{
    send_event(s, x, STR("message"), message);
}

void sse_sessions_gone(struct sse_sessions *s, struct sse_session *x)
{
    map_remove(&s->by_id, str_z(x->id));
    map_remove(&s->by_exchange, map_number(&x->exchange));
    free(x);
}

void sse_sessions_end(struct sse_sessions *s, struct sse_session *x)
{
    act(s, ACTION_END, x->exchange, STR_NONE);
    sse_sessions_gone(s, x);
}

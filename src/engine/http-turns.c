#include "engine/http-turns.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

enum { OK = 200 };

void http_turns_init(struct http_turns *t, struct action_sink *out)
{
    map_init(&t->open);
    map_init(&t->moved);
    http_streams_init(&t->streams, out);
    http_answer_init(&t->answer, out);
}

static void free_turn(struct http_turn *x)
{
    buf_release(&x->answers);
    free(x);
}

void http_turns_release(struct http_turns *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->open, e));)
        free_turn(e->value);
    map_release(&t->open);
    map_release(&t->moved);
    http_streams_release(&t->streams);
    http_answer_release(&t->answer);
}

struct http_turn *http_turns_new(struct http_turns *t, uint64_t exchange,
                                 const struct media_accept *accept, void *of)
{
    struct http_turn *x = mem_new(struct http_turn);

    x->name = exchange;
    x->of = of;
    x->takes_json = accept->of[MEDIA_JSON].q > 0;
    x->takes_sse = accept->of[MEDIA_SSE].q > 0;
    buf_init(&x->answers, LIMIT_LINE * 3);
    map_put(&t->open, map_number(&x->name), x);
    return x;
}

struct http_turn *http_turns_find(const struct http_turns *t, uint64_t name)
{
    return map_get(&t->open, map_number(&name));
}

/* The exchange on which it is now; 0: none. */
static uint64_t exchange_of(const struct http_turn *x)
{
    if (x->gone)
        return 0;
    return x->stream ? x->stream->exchange : x->name;
}

static void forget(struct http_turns *t, struct http_turn *x)
{
    uint64_t exchange = exchange_of(x);

    map_remove(&t->moved, map_number(&exchange));
    map_remove(&t->open, map_number(&x->name));
    free_turn(x);
}

static void begin_stream(struct http_turns *t, struct http_turn *x)
{
    uint64_t exchange = exchange_of(x);

    if (exchange)
        http_answer_open(&t->answer, exchange, x->session_id);
    x->stream = http_streams_new(&t->streams, x->session, exchange, x->has_ids);
    if (x->has_ids && x->primes)
        http_streams_prime(&t->streams, x->stream, -1);
}

bool http_turns_can_say(const struct http_turn *x)
{
    return x->stream || (x->takes_sse && !x->gone);
}

void http_turns_say(struct http_turns *t, struct http_turn *x, struct str message)
{
    if (!x->stream)
        begin_stream(t, x);
    http_streams_send(&t->streams, x->stream, message);
}

void http_turns_listen(struct http_turns *t, struct http_turn *x)
{
    begin_stream(t, x);
}

static void answer_json(struct http_turns *t, struct http_turn *x, struct str message)
{
    unsigned status = x->batch ? OK : http_rules_status_of(x->modern, message);
    uint64_t exchange = exchange_of(x);

    if ((x->batch && !http_answer_collect(&x->answers, x->owed, &message)) || !exchange)
        return;
    http_answer_start(&t->answer, STR("application/json"), x->session_id);
    http_answer_send(&t->answer, exchange, status, message);
}

void http_turns_answer(struct http_turns *t, struct http_turn *x, struct str message)
{
    struct http_stream *stream;

    BUG_IF(!x->owed);
    if (x->stream || !x->takes_json)
        http_turns_say(t, x, message);
    else
        answer_json(t, x, message);
    if (--x->owed)
        return;
    stream = x->stream;
    forget(t, x);
    if (stream)
        http_streams_finish(&t->streams, stream);
}

static struct http_turn *of_stream(const struct http_turns *t, const struct http_stream *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->open, e));) {
        struct http_turn *x = e->value;

        if (x->stream == s)
            return x;
    }
    return NULL;
}

static void move(struct http_turns *t, struct http_turn *x, uint64_t exchange, uint64_t after)
{
    uint64_t before = exchange_of(x);

    map_remove(&t->moved, map_number(&before));
    map_put(&t->moved, map_number(&exchange), x);
    x->gone = false;
    http_streams_resume(&t->streams, x->stream, exchange, after);
}

struct http_turn *http_turns_resume(struct http_turns *t, uint64_t session, struct str event,
                                    uint64_t exchange, struct str session_id, bool *over)
{
    uint64_t after;
    struct http_stream *s = http_streams_find(&t->streams, session, event, &after);
    struct http_turn *x;

    *over = s && s->over;
    if (!s)
        return NULL;
    http_answer_open(&t->answer, exchange, session_id);
    if (*over) {
        http_streams_resume(&t->streams, s, exchange, after);
        return NULL;
    }
    x = of_stream(t, s);
    BUG_IF(!x); /* those without one are over */
    move(t, x, exchange, after);
    return x;
}

void http_turns_rejoin(struct http_turns *t, struct http_turn *x, uint64_t exchange)
{
    BUG_IF(!x->gone || !x->stream);
    http_answer_open(&t->answer, exchange, x->session_id);
    move(t, x, exchange, x->cut);
}

struct http_turn *http_turns_gone(struct http_turns *t, uint64_t exchange)
{
    struct http_turn *x = map_remove(&t->moved, map_number(&exchange));

    if (!x)
        x = http_turns_find(t, exchange);
    if (!x || exchange_of(x) != exchange)
        return NULL;
    x->gone = true;
    if (x->stream) {
        x->stream->exchange = 0;
        x->cut = x->stream->events;
    }
    return x;
}

void http_turns_refuse(struct http_turns *t, struct http_turn *x, const struct http_verdict *v,
                       struct str id)
{
    if (!x->stream && !x->gone)
        http_answer_refuse(&t->answer, x->name, v, id);
    http_turns_drop(t, x);
}

void http_turns_drop(struct http_turns *t, struct http_turn *x)
{
    struct http_stream *stream = x->stream;

    forget(t, x);
    if (!stream)
        return;
    http_streams_hang_up(&t->streams, stream);
    http_streams_drop(&t->streams, stream);
}

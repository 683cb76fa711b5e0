#include "engine/http-streams.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

struct http_event {
    struct http_event *next;
    uint64_t n;
    size_t len;
    unsigned cuts; /* how often whoever comes to its end is still to be sent away */
    char text[];
};

void http_streams_init(struct http_streams *s, struct action_sink *out)
{
    *s = (struct http_streams){ .out = out };
    map_init(&s->open);
    buf_init(&s->text, LIMIT_LINE * 3);
}

static void forget(struct http_streams *s, struct http_stream *x)
{
    struct http_event *e = x->first;

    x->first = e->next;
    x->kept -= e->len;
    s->kept -= e->len;
    if (!x->first)
        x->last = NULL;
    free(e);
}

static void free_stream(struct http_streams *s, struct http_stream *x)
{
    while (x->first)
        forget(s, x);
    free(x);
}

void http_streams_release(struct http_streams *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->open, e));)
        free_stream(s, e->value);
    map_release(&s->open);
    buf_release(&s->text);
}

struct http_stream *http_streams_new(struct http_streams *s, uint64_t session,
                                     uint64_t exchange, bool has_ids)
{
    struct http_stream *x = mem_new(struct http_stream);

    x->number = ++s->count;
    x->session = session;
    x->exchange = exchange;
    x->has_ids = has_ids;
    map_put(&s->open, map_number(&x->number), x);
    return x;
}

static void leave_over(struct http_streams *s, struct http_stream *x)
{
    *(x->before ? &x->before->after : &s->oldest) = x->after;
    *(x->after ? &x->after->before : &s->latest) = x->before;
    s->over--;
}

void http_streams_drop(struct http_streams *s, struct http_stream *x)
{
    if (x->over)
        leave_over(s, x);
    map_remove(&s->open, map_number(&x->number));
    free_stream(s, x);
}

static void act(struct http_streams *s, enum action_kind kind, uint64_t exchange,
                struct str text)
{
    struct action a = { .kind = kind, .way = { .exchange = exchange }, .text = text };

    s->out->put(s->out, &a);
}

/* Of what is kept of all streams, those go first that are over. */
static void make_room(struct http_streams *s, struct http_stream *x)
{
    while (x->kept > HTTP_STREAM_KEPT && x->first != x->last)
        forget(s, x);
    while (s->kept > HTTP_STREAMS_KEPT && s->oldest)
        http_streams_drop(s, s->oldest);
    while (s->kept > HTTP_STREAMS_KEPT && x->first != x->last)
        forget(s, x);
}

static void keep(struct http_streams *s, struct http_stream *x, struct str text)
{
    struct http_event *e = mem_alloc(sizeof *e + text.len);

    e->n = x->events;
    e->len = text.len;
    e->cuts = 0;
    memcpy(e->text, text.at, text.len);
    *(x->last ? &x->last->next : &x->first) = e;
    x->last = e;
    x->kept += e->len;
    s->kept += e->len;
    make_room(s, x);
}

static void send_event(struct http_streams *s, struct http_stream *x, struct sse_item *item)
{
    struct err e = ERR_NONE;
    char id[48];
    int len;

    x->events++;
    if (x->has_ids) {
        len = snprintf(id, sizeof id, "%llu-%llu", (unsigned long long)x->number,
                       (unsigned long long)x->events);
        item->id = str_n(id, (size_t)len);
    }
    buf_clear(&s->text);
    BUG_IF(!sse_writer_add(&s->text, item, &e));
    if (x->has_ids)
        keep(s, x, buf_str(&s->text));
    if (x->exchange)
        act(s, ACTION_WRITE, x->exchange, buf_str(&s->text));
}

void http_streams_prime(struct http_streams *s, struct http_stream *x, int64_t retry_ms)
{
    struct sse_item item = SSE_ITEM_NONE;

    item.data = STR("");
    item.retry = retry_ms;
    send_event(s, x, &item);
}

void http_streams_tell(struct http_streams *s, struct http_stream *x, struct str message,
                       struct str name, int64_t retry_ms)
{
    struct sse_item item = SSE_ITEM_NONE;

    item.event = name;
    item.data = message;
    item.retry = retry_ms;
    x->messages++;
    send_event(s, x, &item);
}

void http_streams_send(struct http_streams *s, struct http_stream *x, struct str message)
{
    http_streams_tell(s, x, message, STR("message"), -1);
}

void http_streams_hang_up(struct http_streams *s, struct http_stream *x)
{
    if (x->exchange)
        act(s, ACTION_END, x->exchange, STR_NONE);
    x->exchange = 0;
}

void http_streams_cut(struct http_streams *s, struct http_stream *x)
{
    if (x->exchange && x->last)
        http_streams_hang_up(s, x);
    else if (x->last)
        x->last->cuts++;
}

void http_streams_finish(struct http_streams *s, struct http_stream *x)
{
    http_streams_hang_up(s, x);
    if (!x->has_ids) {
        http_streams_drop(s, x);
        return;
    }
    x->over = true;
    x->before = s->latest;
    *(s->latest ? &s->latest->after : &s->oldest) = x;
    s->latest = x;
    if (++s->over > HTTP_STREAMS_OVER)
        http_streams_drop(s, s->oldest);
}

struct http_stream *http_streams_find(const struct http_streams *s, uint64_t session,
                                      struct str id, uint64_t *n)
{
    struct str rest = id, head = str_cut(&rest, '-');
    struct http_stream *x;
    uint64_t number;

    if (!str_u64(head, &number) || !str_u64(rest, n))
        return NULL;
    x = map_get(&s->open, map_number(&number));
    return x && x->session == session && x->has_ids && *n <= x->events ? x : NULL;
}

void http_streams_resume(struct http_streams *s, struct http_stream *x, uint64_t exchange,
                         uint64_t after)
{
    http_streams_hang_up(s, x);
    x->exchange = exchange;
    for (struct http_event *e = x->first; e && x->exchange; e = e->next) {
        if (e->n > after)
            act(s, ACTION_WRITE, exchange, str_n(e->text, e->len));
        if (e->n >= after && e->cuts) {
            e->cuts--;
            http_streams_hang_up(s, x);
        }
    }
    if (x->over)
        http_streams_hang_up(s, x);
}

#include "mcphttp/event-streams.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

struct sent_event {
    struct sent_event *next;
    uint64_t number;
    size_t len;
    unsigned disconnects_left; /* a client that resumes to here is disconnected so often */
    char text[];
};

void event_streams_init(struct event_streams *s, struct action_sink *out)
{
    *s = (struct event_streams){ .out = out };
    map_init(&s->by_number);
    buf_init(&s->text, LIMIT_LINE * 3);
}

static void drop_first_event(struct event_streams *s, struct event_stream *x)
{
    struct sent_event *e = x->first_kept;

    x->first_kept = e->next;
    x->kept_bytes -= e->len;
    s->kept_bytes -= e->len;
    if (!x->first_kept)
        x->last_kept = NULL;
    free(e);
}

static void free_stream(struct event_streams *s, struct event_stream *x)
{
    while (x->first_kept)
        drop_first_event(s, x);
    free(x);
}

void event_streams_release(struct event_streams *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_number, e));)
        free_stream(s, e->value);
    map_release(&s->by_number);
    buf_release(&s->text);
}

struct event_stream *event_streams_add(struct event_streams *s, uint64_t session,
                                       uint64_t exchange, bool has_ids)
{
    struct event_stream *x = mem_new(struct event_stream);

    x->number = ++s->created;
    x->session = session;
    x->exchange = exchange;
    x->has_ids = has_ids;
    map_put(&s->by_number, map_number_key(&x->number), x);
    return x;
}

static void unlink_ended(struct event_streams *s, struct event_stream *x)
{
    *(x->ended_before ? &x->ended_before->ended_after : &s->oldest_ended) = x->ended_after;
    *(x->ended_after ? &x->ended_after->ended_before : &s->latest_ended) = x->ended_before;
    s->ended_count--;
}

void event_streams_remove(struct event_streams *s, struct event_stream *x)
{
    if (x->ended)
        unlink_ended(s, x);
    map_remove(&s->by_number, map_number_key(&x->number));
    free_stream(s, x);
}

static void put_action(struct event_streams *s, enum action_kind kind, uint64_t exchange,
                       struct str text)
{
    struct action a = { .kind = kind, .route = { .exchange = exchange }, .text = text };

    s->out->put(s->out, &a);
}

/* Frees kept events above the limits: those of ended streams first. */
static void trim_kept(struct event_streams *s, struct event_stream *x)
{
    while (x->kept_bytes > EVENT_STREAM_KEPT_MAX && x->first_kept != x->last_kept)
        drop_first_event(s, x);
    while (s->kept_bytes > EVENT_STREAMS_KEPT_MAX && s->oldest_ended)
        event_streams_remove(s, s->oldest_ended);
    while (s->kept_bytes > EVENT_STREAMS_KEPT_MAX && x->first_kept != x->last_kept)
        drop_first_event(s, x);
}

static void keep_event(struct event_streams *s, struct event_stream *x, struct str text)
{
    struct sent_event *e = mem_alloc(sizeof *e + text.len);

    e->number = x->event_count;
    e->len = text.len;
    e->disconnects_left = 0;
    memcpy(e->text, text.at, text.len);
    *(x->last_kept ? &x->last_kept->next : &x->first_kept) = e;
    x->last_kept = e;
    x->kept_bytes += e->len;
    s->kept_bytes += e->len;
    trim_kept(s, x);
}

static void send_event(struct event_streams *s, struct event_stream *x, struct sse_item *item)
{
    struct err e = ERR_NONE;
    char id[48];
    int len;

    x->event_count++;
    if (x->has_ids) {
        len = snprintf(id, sizeof id, "%llu-%llu", (unsigned long long)x->number,
                       (unsigned long long)x->event_count);
        item->id = str_n(id, (size_t)len);
    }
    buf_clear(&s->text);
    BUG_IF(!sse_writer_add(&s->text, item, &e));
    if (x->has_ids)
        keep_event(s, x, buf_str(&s->text));
    if (x->exchange)
        put_action(s, ACTION_STREAM_WRITE, x->exchange, buf_str(&s->text));
}

void event_streams_send_priming(struct event_streams *s, struct event_stream *x,
                                int64_t retry_ms)
{
    struct sse_item item = SSE_ITEM_NONE;

    item.data = STR("");
    item.retry = retry_ms;
    send_event(s, x, &item);
}

void event_streams_send_named(struct event_streams *s, struct event_stream *x,
                              struct str message, struct str name, int64_t retry_ms)
{
    struct sse_item item = SSE_ITEM_NONE;

    item.event = name;
    item.data = message;
    item.retry = retry_ms;
    x->message_count++;
    send_event(s, x, &item);
}

void event_streams_send(struct event_streams *s, struct event_stream *x, struct str message)
{
    event_streams_send_named(s, x, message, STR("message"), -1);
}

void event_streams_close_exchange(struct event_streams *s, struct event_stream *x)
{
    if (x->exchange)
        put_action(s, ACTION_STREAM_END, x->exchange, STR_NONE);
    x->exchange = 0;
}

void event_streams_disconnect(struct event_streams *s, struct event_stream *x)
{
    if (x->exchange && x->last_kept)
        event_streams_close_exchange(s, x);
    else if (x->last_kept)
        x->last_kept->disconnects_left++;
}

void event_streams_end(struct event_streams *s, struct event_stream *x)
{
    event_streams_close_exchange(s, x);
    if (!x->has_ids) {
        event_streams_remove(s, x);
        return;
    }
    x->ended = true;
    x->ended_before = s->latest_ended;
    *(s->latest_ended ? &s->latest_ended->ended_after : &s->oldest_ended) = x;
    s->latest_ended = x;
    if (++s->ended_count > EVENT_STREAMS_ENDED_MAX)
        event_streams_remove(s, s->oldest_ended);
}

struct event_stream *event_streams_find(const struct event_streams *s, uint64_t session,
                                        struct str id, uint64_t *n)
{
    struct str rest = id, head = str_cut(&rest, '-');
    struct event_stream *x;
    uint64_t number;

    if (!str_parse_u64(head, &number) || !str_parse_u64(rest, n))
        return NULL;
    x = map_get(&s->by_number, map_number_key(&number));
    return x && x->session == session && x->has_ids && *n <= x->event_count ? x : NULL;
}

void event_streams_resume(struct event_streams *s, struct event_stream *x, uint64_t exchange,
                          uint64_t after)
{
    event_streams_close_exchange(s, x);
    x->exchange = exchange;
    for (struct sent_event *e = x->first_kept; e && x->exchange; e = e->next) {
        if (e->number > after)
            put_action(s, ACTION_STREAM_WRITE, exchange, str_n(e->text, e->len));
        if (e->number >= after && e->disconnects_left) {
            e->disconnects_left--;
            event_streams_close_exchange(s, x);
        }
    }
    if (x->ended)
        event_streams_close_exchange(s, x);
}

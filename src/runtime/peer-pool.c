#include "runtime/peer-pool.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "trace/limits.h"
#include "trace/parse-messages.h"

struct peer_pool_member {
    struct sink records;
    struct peer_pool_member *next; /* in `exited` */
    struct peer_pool *pool;
    uint64_t number;
    struct peer *peer;
    struct message_parser parser;
};

static void free_exited(void *to)
{
    struct peer_pool *s = to;

    while (s->exited) {
        struct peer_pool_member *one = s->exited;

        s->exited = one->next;
        peer_free(one->peer);
        message_parser_release(&one->parser);
        free(one);
    }
}

void peer_pool_init(struct peer_pool *s, struct loop *l, struct driver *driver,
                    const struct peer_target *target, const struct peer_pool_observer *observer,
                    void *to)
{
    *s = (struct peer_pool){ .driver = driver,
                             .loop = l,
                             .target = *target,
                             .observer = observer,
                             .to = to,
                             .queue_max = LIMIT_LINE };
    map_init(&s->by_number);
    s->free_timer = timer_new(l, free_exited, s);
}

void peer_pool_release(struct peer_pool *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_number, e));) {
        struct peer_pool_member *one = e->value;

        one->next = s->exited;
        s->exited = one;
    }
    map_release(&s->by_number);
    free_exited(s);
    timer_close(s->free_timer);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct peer_pool_member *one = (struct peer_pool_member *)self;
    struct peer_pool *s = one->pool;

    (void)e;
    if (r->kind == RECORD_RAW)
        s->observer->non_message(s->to, one->number, r->bytes.bytes, r->bytes.why);
    else
        driver_dispatch(s->driver, (struct event){ .kind = EVENT_UPSTREAM_RECORD,
                                                   .server = one->number,
                                                   .record = r });
    return true;
}

static void on_message(void *to, struct str message)
{
    struct peer_pool_member *one = to;
    struct err e = ERR_NONE;

    if (!message_parser_line(&one->parser, TO_CLIENT, message, &one->records, &e))
        BUG("an engine takes every record");
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct peer_pool_member *one = to;

    (void)bytes;
    peer_stop(one->peer, STR("sent a line that is too long"));
}

static void on_stderr(void *to, struct str text)
{
    struct peer_pool_member *one = to;

    one->pool->observer->stderr_text(one->pool->to, one->number, text);
}

static void check_all_exited(struct peer_pool *s)
{
    if (s->finishing && !s->by_number.count)
        s->observer->all_exited(s->to);
}

static void on_exited(void *to)
{
    struct peer_pool_member *one = to;
    struct peer_pool *s = one->pool;
    const struct peer_outcome *how = &one->peer->outcome;

    s->observer->exited(s->to, one->number, how);
    map_remove(&s->by_number, map_number_key(&one->number));
    one->next = s->exited;
    s->exited = one;
    timer_set(s->free_timer, 0);
    driver_dispatch(s->driver,
                    (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                    .server = one->number,
                                    .why = buf_str(how->stop_reason.len ? &how->stop_reason
                                                                        : &how->exit_text) });
    check_all_exited(s);
}

static const struct peer_events member_events = {
    .message = on_message,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .exited = on_exited,
};

bool peer_pool_start(struct peer_pool *s, uint64_t number, int *errnum, struct err *e)
{
    struct peer_pool_member *one = mem_new(struct peer_pool_member);
    struct peer_owner owner = { .loop = s->loop,
                                .app = s->driver->app,
                                .events = &member_events,
                                .to = one,
                                .in_engine = true };

    one->records = (struct sink){ put_record };
    one->pool = s;
    one->number = number;
    if (!peer_start(&one->peer, &s->target, &owner, errnum, e)) {
        free(one);
        return false;
    }
    message_parser_init(&one->parser);
    map_put(&s->by_number, map_number_key(&number), one);
    s->observer->started(s->to, number);
    return true;
}

void peer_pool_send(struct peer_pool *s, uint64_t number, struct str message)
{
    struct peer_pool_member *one = map_get(&s->by_number, map_number_key(&number));

    if (!one)
        return; /* the engine will get EVENT_UPSTREAM_CLOSED */
    peer_send(one->peer, message);
    if (peer_queued(one->peer) > s->queue_max + message.len)
        peer_stop(one->peer, STR("does not read its stdin"));
}

void peer_pool_end(struct peer_pool *s, uint64_t number)
{
    struct peer_pool_member *one = map_get(&s->by_number, map_number_key(&number));

    if (one)
        peer_end(one->peer, false);
}

void peer_pool_finish(struct peer_pool *s)
{
    s->finishing = true;
    check_all_exited(s);
}

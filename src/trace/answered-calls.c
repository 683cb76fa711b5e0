#include "trace/answered-calls.h"

enum exchange_state { EXCHANGE_OPEN = 1, EXCHANGE_REJECTED, EXCHANGE_FAILED };

enum { HTTP_SERVER_ERROR = 500 };

static enum exchange_state get_state(const struct answered_calls *a, uint64_t exchange)
{
    return (enum exchange_state)(uintptr_t)map_get(&a->open_exchanges,
                                                   map_number_key(&exchange));
}

static void set_state(struct answered_calls *a, uint64_t exchange, enum exchange_state state)
{
    map_put(&a->open_exchanges, map_number_key(&exchange), (void *)(uintptr_t)state);
}

static void add_request(struct answered_calls *a, const struct record *r,
                        const struct mcp_message *m)
{
    pairing_add_request(&a->pairing, r, m, r->message.seq);
    map_put(&a->open_seqs, map_number_key(&r->message.seq),
            (void *)(uintptr_t)(r->has & HAS_EXCHANGE ? r->exchange + 1 : 1));
    if (r->has & HAS_EXCHANGE)
        set_state(a, r->exchange, EXCHANGE_OPEN);
}

static void add_response(struct answered_calls *a, const struct record *r,
                         const struct mcp_message *m)
{
    const struct pairing_request *asked = pairing_match_response(&a->pairing, r, m);
    uint64_t exchange;

    if (!asked)
        return;
    exchange = (uintptr_t)map_get(&a->open_seqs, map_number_key(&asked->tag));
    map_remove(&a->open_seqs, map_number_key(&asked->tag));
    if (exchange-- > 1)
        map_remove(&a->open_exchanges, map_number_key(&exchange));
    a->count += !str_eq(asked->method, STR("initialize"));
}

static void note_end(struct answered_calls *a, const struct record *r)
{
    const struct record_http *h = &r->http;
    bool by_mcpreel = str_eq(h->by, STR("mcpreel"));

    if (!(r->has & HAS_EXCHANGE) || get_state(a, r->exchange) != EXCHANGE_OPEN)
        return;
    if (r->kind == RECORD_HTTP_RESPONSE && by_mcpreel && h->status < HTTP_SERVER_ERROR)
        set_state(a, r->exchange, EXCHANGE_REJECTED);
    else if (r->kind == RECORD_HTTP_END && (by_mcpreel || str_eq(h->by, STR("error"))) &&
             !str_eq(h->why, STR(RECORD_WHY_STOPPED)))
        set_state(a, r->exchange, EXCHANGE_FAILED);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct answered_calls *a = (struct answered_calls *)self;
    struct mcp_message m;

    (void)e;
    scope_track(&a->pairing.tracker, r);
    if (r->kind == RECORD_HTTP_RESPONSE || r->kind == RECORD_HTTP_END)
        note_end(a, r);
    if (r->kind != RECORD_MESSAGE || r->has & HAS_REDELIVERS)
        return true;
    m = r->message.parsed ? *r->message.parsed : mcp_classify(r->message.msg, &a->arena);
    if (r->message.dir == TO_SERVER && m.kind == MCP_REQUEST)
        add_request(a, r, &m);
    else if (r->message.dir == TO_CLIENT && mcp_is_response(&m))
        add_response(a, r, &m);
    arena_clear(&a->arena);
    return true;
}

void answered_calls_init(struct answered_calls *a)
{
    *a = (struct answered_calls){ .sink = { put_record } };
    pairing_init(&a->pairing);
    map_init(&a->open_seqs);
    map_init(&a->open_exchanges);
}

void answered_calls_release(struct answered_calls *a)
{
    pairing_release(&a->pairing);
    map_release(&a->open_seqs);
    map_release(&a->open_exchanges);
    arena_release(&a->arena);
}

bool answered_calls_any_failed(const struct answered_calls *a)
{
    for (struct map_entry *e = NULL; (e = map_next(&a->open_exchanges, e));)
        if ((uintptr_t)e->value == EXCHANGE_FAILED)
            return true;
    return false;
}

bool answered_calls_has(const struct answered_calls *a, const struct record *r)
{
    if (r->has & HAS_EXCHANGE && map_get(&a->open_exchanges, map_number_key(&r->exchange)))
        return false;
    return r->kind != RECORD_MESSAGE ||
           !map_get(&a->open_seqs, map_number_key(&r->message.seq));
}

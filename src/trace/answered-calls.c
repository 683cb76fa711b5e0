#include "trace/answered-calls.h"

static void add_request(struct answered_calls *a, const struct record *r,
                        const struct mcp_message *m)
{
    pairing_add_request(&a->pairing, r, m, r->message.seq);
    map_put(&a->open_seqs, map_number_key(&r->message.seq), a);
    if (r->has & HAS_EXCHANGE)
        map_put(&a->open_exchanges, map_number_key(&r->exchange), a);
}

static void add_response(struct answered_calls *a, const struct record *r,
                         const struct mcp_message *m)
{
    const struct pairing_request *asked = pairing_match_response(&a->pairing, r, m);

    if (!asked)
        return;
    map_remove(&a->open_seqs, map_number_key(&asked->tag));
    if (r->has & HAS_EXCHANGE)
        map_remove(&a->open_exchanges, map_number_key(&r->exchange));
    a->count += !str_eq(asked->method, STR("initialize"));
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct answered_calls *a = (struct answered_calls *)self;
    struct mcp_message m;

    (void)e;
    scope_track(&a->pairing.tracker, r);
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

bool answered_calls_has(const struct answered_calls *a, const struct record *r)
{
    if (r->has & HAS_EXCHANGE && map_get(&a->open_exchanges, map_number_key(&r->exchange)))
        return false;
    return r->kind != RECORD_MESSAGE ||
           !map_get(&a->open_seqs, map_number_key(&r->message.seq));
}

#include "index/order.h"

#include <stdlib.h>

#include "base/big-array.h"
#include "base/mem.h"

void index_order_init(struct index_order *o)
{
    *o = (struct index_order){ .count = 1 }; /* 0 means none */
    o->items = big_array_reserve(o->items, &o->cap, 1, sizeof *o->items);
    o->items[0] = (struct index_order_item){ 0 };
}

void index_order_release(struct index_order *o)
{
    big_array_release(o->items, o->cap, sizeof *o->items);
    free(o->sessions);
}

static struct index_order_session *session_at(struct index_order *o, uint32_t session)
{
    if (session >= o->session_count) {
        o->sessions =
            mem_reserve(o->sessions, &o->session_cap, (size_t)session + 1, sizeof *o->sessions);
        while (o->session_count <= session)
            o->sessions[o->session_count++] = (struct index_order_session){ 0 };
    }
    return &o->sessions[session];
}

void index_order_add(struct index_order *o, uint32_t session, enum index_order_kind kind,
                     uint32_t number, uint32_t line)
{
    struct index_order_session *of = session_at(o, session);
    uint32_t item = (uint32_t)o->count;

    o->items = big_array_reserve(o->items, &o->cap, o->count + 1, sizeof *o->items);
    o->items[o->count++] =
        (struct index_order_item){ .number = number, .line = line, .kind = kind };
    if (of->last)
        o->items[of->last].next = item;
    else
        of->first = item;
    of->last = item;
}

uint32_t index_order_first(const struct index_order *o, uint32_t session)
{
    return session < o->session_count ? o->sessions[session].first : 0;
}

void index_order_note_http(struct index_order *o, uint32_t session)
{
    session_at(o, session)->over_http = true;
}

void index_order_note_get(struct index_order *o, uint32_t session)
{
    session_at(o, session)->had_get = true;
}

bool index_order_is_over_http(const struct index_order *o, uint32_t session)
{
    return session < o->session_count && o->sessions[session].over_http;
}

bool index_order_wants_get(const struct index_order *o, uint32_t session)
{
    return !index_order_is_over_http(o, session) || o->sessions[session].had_get || o->had_get;
}

/* trace/id-scope.h - the scopes in which the JSON-RPC ids of a record are valid.
 *
 * On stdio an id is valid on one connection. Over HTTP it is valid in the exchange it was sent
 * in, in the exchanges that resume its stream, and in the session. Without a session, values
 * that the server created are valid for all clients, values of a client only in its exchange.
 *
 * Bounded: only the latest LIMIT_STREAMS streams can be resumed. */
#ifndef TRACE_ID_SCOPE_H
#define TRACE_ID_SCOPE_H

#include "base/buf.h"
#include "base/recent-keys.h"
#include "trace/record.h"

enum scope_kind {
    SCOPE_EXCHANGE, /* numbered by the first exchange of a resumed stream */
    SCOPE_SESSION,
    SCOPE_CONN,
    SCOPE_SERVER, /* HTTP without a session: all clients of the server */
};

struct scope_ref {
    enum scope_kind kind;
    uint64_t number;
};

enum { SCOPE_LEVELS = 2 };

struct scope_chain {
    struct scope_ref levels[SCOPE_LEVELS]; /* narrowest first */
    size_t count;
};

struct scope_tracker {
    struct recent_keys stream_origin;   /* stream -> the first exchange it was on */
    struct recent_keys exchange_origin; /* resuming exchange -> the first one */
    struct json json;
};

void scope_tracker_init(struct scope_tracker *s);
void scope_tracker_release(struct scope_tracker *s);

/* Call for every record, before scope_of(): learns which exchanges resume a stream. */
void scope_track(struct scope_tracker *s, const struct record *r);

/* The scopes of a record, narrowest first. */
struct scope_chain scope_of(const struct scope_tracker *s, const struct record *r);

static inline struct scope_ref scope_widest(const struct scope_chain *p)
{
    return p->levels[p->count - 1];
}

static inline bool scope_in_exchange(const struct scope_chain *p)
{
    return p->levels[0].kind == SCOPE_EXCHANGE;
}

/* Appends SCOPE_KEY_LEN bytes that are unique to a scope and direction. */
enum { SCOPE_KEY_LEN = 2 + sizeof(uint64_t) };
void scope_add_key(struct buf *to, struct scope_ref scope, enum record_dir dir);

#endif

/* trace/scope.h - where a record stands, and how far the ids in it reach.
 *
 * On stdio an id is good for one connection. On HTTP it is good for the exchange it was
 * sent in and for all exchanges that resume its stream, and beyond that for the session.
 * Clients without a session share nothing but the server: what it minted is good for all
 * of them, what they minted is not.
 *
 * Bounded: of streams the latest LIMIT_STREAMS can be resumed. */
#ifndef TRACE_SCOPE_H
#define TRACE_SCOPE_H

#include "base/buf.h"
#include "trace/recall.h"
#include "trace/record.h"

enum scope_kind {
    SCOPE_EXCHANGE, /* by the first of the exchanges that resume each other */
    SCOPE_SESSION,
    SCOPE_CONN,
    SCOPE_SERVER, /* HTTP without a session: everybody who talks to the server */
};

struct scope_reach {
    enum scope_kind kind;
    uint64_t number;
};

enum { SCOPE_LEVELS = 2 };

struct scope_place {
    struct scope_reach at[SCOPE_LEVELS]; /* the narrowest first */
    size_t count;
};

struct scope {
    struct recall streams;   /* stream to the first exchange it was on */
    struct recall exchanges; /* one that resumes to the first */
    struct json json;
};

void scope_init(struct scope *s);
void scope_release(struct scope *s);

/* Every record of a recording with HTTP in it passes here, before scope_of(). */
void scope_see(struct scope *s, const struct record *r);

struct scope_place scope_of(const struct scope *s, const struct record *r);

static inline struct scope_reach scope_widest(const struct scope_place *p)
{
    return p->at[p->count - 1];
}

static inline bool scope_in_exchange(const struct scope_place *p)
{
    return p->at[0].kind == SCOPE_EXCHANGE;
}

/* Appends SCOPE_KEY bytes that no other reach and direction has. */
enum { SCOPE_KEY = 2 + sizeof(uint64_t) };
void scope_key(struct buf *to, struct scope_reach reach, enum record_dir dir);

#endif

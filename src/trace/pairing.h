/* trace/pairing.h - which request an answer belongs to.
 *
 * Ids of the two directions and of different connections are separate; of several
 * open requests with the same id the oldest is answered first. What waits is bounded
 * (LIMIT_OPEN_REQUESTS, LIMIT_OPEN_TEXT): beyond that the oldest counts as never
 * answered. */
#ifndef TRACE_PAIRING_H
#define TRACE_PAIRING_H

#include "base/map.h"
#include "mcp/message.h"
#include "trace/record.h"

/* A request that waits, or has just been answered. */
struct pairing_request {
    uint64_t tag; /* the caller's: what to find again */
    int64_t us;   /* when it was sent */
    enum record_dir dir;
    struct str method, subject;            /* tool, URI, …; empty if it names none */
    struct pairing_request *older, *newer; /* among all that wait */
    struct pairing_request *same, *last;   /* next with the same id; of the first, the last */
    struct str key;
};

struct pairing {
    struct map open; /* id key to the oldest request with it */
    struct pairing_request *oldest, *newest, *answered;
    size_t count, text;
    struct arena scratch;
};

void pairing_init(struct pairing *p);
void pairing_release(struct pairing *p);

/* A request passed. False: another with its id waits already. */
bool pairing_ask(struct pairing *p, const struct record *r, const struct mcp_message *m,
                 uint64_t tag);

/* An answer passed: its request, which no longer waits; valid until the next call.
 * NULL if nobody asked. */
const struct pairing_request *pairing_answer(struct pairing *p, const struct record *r,
                                             const struct mcp_message *m);

/* The request that waits under an id, without answering it; NULL if none does. Its
 * tag may be changed. */
struct pairing_request *pairing_peek(struct pairing *p, enum record_dir dir, uint64_t conn,
                                     struct json_val id);

/* What tells a request from all others: direction, connection and id, as bytes; the
 * `key` of its pairing_request. Valid until the next call. */
struct str pairing_key(struct pairing *p, enum record_dir dir, uint64_t conn,
                       struct json_val id);

#endif

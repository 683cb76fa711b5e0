/* trace/pairing.h - which request an answer belongs to.
 *
 * Ids of the two directions are separate, and each is good as far as trace/scope.h says:
 * on stdio for its connection; on HTTP an answer belongs to the request of its exchange
 * or of the stream it resumes, else to one of its session. Without a session a client's
 * answer belongs to what the server asked, if only one such id waits. Of several open
 * requests with the same id the oldest is answered first. What waits is bounded
 * (LIMIT_OPEN_REQUESTS, LIMIT_OPEN_TEXT): beyond that the oldest counts as never answered.
 *
 * Whoever has records of HTTP shows all of them to scope_see() first. */
#ifndef TRACE_PAIRING_H
#define TRACE_PAIRING_H

#include "base/map.h"
#include "mcp/message.h"
#include "trace/claim.h"
#include "trace/scope.h"

struct pairing_place;

/* A request that waits, or has just been answered. */
struct pairing_request {
    uint64_t tag; /* the caller's: what to find again */
    int64_t us;   /* when it was sent */
    enum record_dir dir;
    struct str method, subject;            /* tool, URI, …; empty if it names none */
    struct pairing_request *older, *newer; /* among all that wait */
    struct str key;                        /* as pairing_key() has it */
    struct str id;                         /* as mcp_id_key() has it */
    bool parked;                           /* see pairing_park() */
    size_t count;
    struct pairing_stay {
        struct claim claim; /* of the answer; its owner is the request */
        struct pairing_place *place;
        struct pairing_stay *before, *after; /* in its lane of that place */
    } at[];                                  /* one for each level of its scope */
};

struct pairing {
    struct scope scope;
    struct claims open;
    struct map places;
    struct pairing_place *latest;
    struct pairing_request *oldest, *newest, *answered;
    size_t count, text;
    struct buf key;

    /* If set: a request that is given up for want of room; it is gone on return. */
    void (*evicted)(struct pairing *p, struct pairing_request *q);
};

void pairing_init(struct pairing *p);
void pairing_release(struct pairing *p);

/* A request passed; it is `newest` now. False: another with its id waits already. */
bool pairing_ask(struct pairing *p, const struct record *r, const struct mcp_message *m,
                 uint64_t tag);

/* An answer passed: its request, which no longer waits; valid until the next call.
 * NULL if nobody asked. */
const struct pairing_request *pairing_answer(struct pairing *p, const struct record *r,
                                             const struct mcp_message *m);

/* The request of a direction that waits under an id where `r` stands, without answering
 * it; NULL if none does. Its tag may be changed. `*sure` (may be NULL) is false if all
 * that speaks for it is that nobody else who talks to the server uses the id. */
struct pairing_request *pairing_peek(struct pairing *p, const struct record *r,
                                     enum record_dir dir, struct json_val id, bool *sure);

/* What tells a request from all others: direction, scope and id, as bytes; the `key` of
 * its pairing_request. Valid until the next call. */
struct str pairing_key(struct pairing *p, const struct record *r, enum record_dir dir,
                       struct json_val id);

/* Whoever asked does not wait for it any longer, or never did: it can still be answered,
 * but is not in flight. */
void pairing_park(struct pairing_request *q);

/* It will not be answered any more. */
void pairing_forget(struct pairing *p, struct pairing_request *q);

/* The first request of a direction that waits in a place, and the one after it: those in
 * flight, then the parked ones. */
struct pairing_request *pairing_first(const struct pairing *p, struct scope_reach place,
                                      enum record_dir dir);
struct pairing_request *pairing_next(const struct pairing_request *q, struct scope_reach place);

/* The only request in flight there; NULL if there is none or more than one. */
struct pairing_request *pairing_sole(const struct pairing *p, struct scope_reach place,
                                     enum record_dir dir);

#endif

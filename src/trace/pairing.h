/* trace/pairing.h - finds the request that a response belongs to.
 *
 * Ids of the two directions are separate, and valid in the scopes of trace/id-scope.h: on stdio
 * the connection; over HTTP the exchange or the stream it resumes, then the session. Without a
 * session, a client's response belongs to a server request if only one open request has its
 * id. Several open requests with one id are answered oldest first. Bounded by
 * LIMIT_OPEN_REQUESTS and LIMIT_OPEN_TEXT: beyond them the oldest request counts as never
 * answered.
 *
 * Callers with HTTP records pass all of them to pairing_track() first. */
#ifndef TRACE_PAIRING_H
#define TRACE_PAIRING_H

#include "base/map.h"
#include "base/multimap.h"
#include "mcp/message.h"
#include "mcp/method.h"
#include "trace/id-scope.h"

struct pairing_scope;

/* A request that is open, or was answered last. */
struct pairing_request {
    uint64_t tag;    /* of the caller */
    int64_t sent_us; /* `us` of its record */
    enum record_dir dir;
    struct str method, subject;            /* subject: tool, URI, …; may be empty */
    const struct mcp_method *known;        /* NULL: in no version of MCP */
    struct pairing_request *older, *newer; /* in the list of all open requests */
    struct str key;                        /* see pairing_key() */
    struct str id;                         /* see mcp_id_key() */
    bool detached;                         /* see pairing_detach() */
    bool stateless, accepted; /* set by the caller, for trace/message-owner.h: it is
                                 of the stateless protocol; its HTTP status was 202,
                                 so its messages come on other streams */
    size_t level_count;
    struct pairing_entry {
        struct multimap_entry node; /* by key; its value is the request */
        struct pairing_scope *scope;
        struct pairing_entry *prev, *next; /* in a list of that scope */
    } entries[];                           /* one for each of its scopes */
};

struct pairing {
    struct scope_tracker tracker;
    struct multimap open_ids;
    struct map by_scope;
    struct pairing_scope *latest_scope;
    struct pairing_request *oldest, *newest, *last_answered;
    size_t count, text_bytes;
    struct buf key;

    /* If set: called for a request that is evicted for lack of room; freed on return. */
    void (*on_evict)(struct pairing *p, struct pairing_request *q);
};

void pairing_init(struct pairing *p);
void pairing_release(struct pairing *p);

/* Learns the scopes of a record; see scope_track(). */
static inline void pairing_track(struct pairing *p, const struct record *r)
{
    scope_track(&p->tracker, r);
}

/* Returns the scopes of a record; see scope_of(). */
static inline struct scope_chain pairing_scopes(const struct pairing *p, const struct record *r)
{
    return scope_of(&p->tracker, r);
}

/* Forgets the scopes, for the next recording. */
static inline void pairing_reset_scopes(struct pairing *p)
{
    scope_tracker_release(&p->tracker);
    scope_tracker_init(&p->tracker);
}

/* Adds a request, as `newest`. Returns false if another open request has its id. */
bool pairing_add_request(struct pairing *p, const struct record *r, const struct mcp_message *m,
                         uint64_t tag);

/* Finds the request of a response and removes it from the open ones; valid until the next call.
 * NULL: there is none. */
const struct pairing_request *pairing_match_response(struct pairing *p, const struct record *r,
                                                     const struct mcp_message *m);

/* Finds an open request by direction and id in the scopes of `r`; it stays open. NULL: there is
 * none. Its tag may be changed. `*sure` (may be NULL) is false if it was found only because no
 * other client of the server uses the id. */
struct pairing_request *pairing_find(struct pairing *p, const struct record *r,
                                     enum record_dir dir, struct json_val id, bool *sure);

/* Direction, narrowest scope and id as bytes, unique among open requests: the `key` of a
 * pairing_request. Valid until the next call. */
struct str pairing_key(struct pairing *p, const struct record *r, enum record_dir dir,
                       struct json_val id);

/* The requester does not wait for the response (cancelled, subscription): the request can still
 * be answered, but is not in flight. */
void pairing_detach(struct pairing_request *q);

/* Removes and frees a request that will not be answered. */
void pairing_remove(struct pairing *p, struct pairing_request *q);

/* Iterates over the open requests of a direction in a scope: those in flight, then the detached
 * ones. */
struct pairing_request *pairing_first(const struct pairing *p, struct scope_ref scope,
                                      enum record_dir dir);
struct pairing_request *pairing_next(const struct pairing_request *q, struct scope_ref scope);

/* The only request in flight in a scope; NULL: none or more than one. */
struct pairing_request *pairing_only_in_flight(const struct pairing *p, struct scope_ref scope,
                                               enum record_dir dir);

#endif

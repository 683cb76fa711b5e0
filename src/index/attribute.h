/* index/attribute.h - attributes server messages to client requests while an index is built.
 *
 * A response names its request; every other server message is attributed to a request that is
 * open in its scope: on stdio that of its connection, over HTTP that of its stream. The stream
 * of a GET or of a subscription belongs to the whole session, so there all open requests of the
 * session count; without sessions, all of the same protocol on the server.
 *
 * At most ATTRIBUTE_MAX open requests are looked at. Owns only the deferred server requests
 * (struct unattributed). */
#ifndef INDEX_ATTRIBUTE_H
#define INDEX_ATTRIBUTE_H

#include "index/index.h"
#include "trace/id-scope.h"

enum { ATTRIBUTE_MAX = 256 };

/* The call of a client request: its number is the tag of the pairing. */
static inline uint32_t attribute_call_of(const struct pairing_request *q)
{
    return (uint32_t)q->tag;
}

struct attribution {
    struct scope_ref scope; /* where open requests were looked for */
    bool stateless;         /* only stateless requests count, else only stateful ones */
    bool any_open;          /* a request was open */
    uint32_t only_call; /* the call of the only open request; 0: there are several, or none */
};

/* Finds the requests that are open where a server message was sent. `stateless`: the message
 * belongs to the stateless protocol. */
struct attribution attribute_message(const struct index *s, const struct pairing *pairs,
                                     const struct record *r, bool stateless);

/* The calls that can own a server request. */
struct possible_owners {
    uint32_t oldest_call; /* 0: none */
    bool is_only;
};

/* Finds the calls that can own a server request. `task`: the task it is about; may be empty. */
struct possible_owners attribute_server_request(const struct index *s,
                                                const struct pairing *pairs,
                                                const struct attribution *u, struct str task);

/* Server requests that several open requests can own.
 *
 * Nothing in a server request names the client request it belongs to; later messages tell. A
 * server continues a request when its server request was answered: the first of the candidates
 * that gets its response after that is the owner. A server request that follows such an answer,
 * before any candidate has its response, has the same owner and joins the group.
 *
 * Until then the server request and its response are steps of no call. At the end of the
 * recording a group goes to the oldest candidate. If there are more than ATTRIBUTE_DEFERRED_MAX
 * groups, the oldest goes behind the message that was sent before it. */
enum { ATTRIBUTE_DEFERRED_MAX = 64 };

struct unattributed {
    struct unattributed_group *first; /* the oldest */
    size_t count;
    uint64_t last_number;    /* of a group */
    uint64_t response_count; /* client responses so far */
};

/* Adds a server request, a step of no call, to a group. `oldest` is the first call that may own
 * it, `previous` the call of the message before it. Returns the number of the group, for
 * attribute_defer_response(). */
uint64_t attribute_defer_request(struct unattributed *u, struct index *s,
                                 struct scope_ref scope, uint32_t step, uint32_t oldest,
                                 uint32_t previous);

/* Adds the client's response, a step of no call, to its group. Does nothing if the group was
 * flushed. */
void attribute_defer_response(struct unattributed *u, uint64_t number, uint32_t step);

/* To be called before the response of `call` is added. Moves the group that this response
 * resolves, if any, into the call. */
void attribute_resolve(struct unattributed *u, struct index *s, struct scope_ref scope,
                       uint32_t call);

/* To be called at the end of the recording. Moves every group into its oldest candidate. */
void attribute_resolve_rest(struct unattributed *u, struct index *s);

#endif

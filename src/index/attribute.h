/* index/attribute.h - attributes server messages to calls while an index is built.
 *
 * A response names its request; for every other server message trace/message-owner.h decides
 * which open request it belongs to. Server requests that several open requests can own are kept
 * until later messages tell (struct unattributed); owns only these. */
#ifndef INDEX_ATTRIBUTE_H
#define INDEX_ATTRIBUTE_H

#include "index/index.h"
#include "trace/id-scope.h"
#include "trace/message-owner.h"

/* The call of a client request: its number is the tag of the pairing. */
static inline uint32_t attribute_call_of(const struct pairing_request *q)
{
    return (uint32_t)q->tag;
}

/* Finds the call whose replay sends this server message: that of its owner
 * (trace/message-owner.h). Without one if the owner was cancelled, or is a ping or
 * server/discover, because replay does not send these from the recording. For a message on the
 * stream of a subscription, the owner is looked for among the open requests of the session. */
struct message_owner attribute_message(const struct pairing *pairs, const struct record *r,
                                       bool is_request, struct str task);

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

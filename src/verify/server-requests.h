/* verify/server-requests.h - finds the response to a request of the live server.
 *
 * Looks for a recorded server request of the same session with the same method and params: an
 * unused one of an open call, then one of any call, then one that was used. The rules of the
 * user decide whether params are the same (judge_request()); among several, one with equal
 * params is preferred. If no open call has an unused request of that method, the owner may give
 * the result. */
#ifndef VERIFY_SERVER_REQUESTS_H
#define VERIFY_SERVER_REQUESTS_H

#include "base/map.h"
#include "index/index.h"
#include "mcp/message.h"
#include "verify/judge.h"

struct server_requests {
    const struct index *index;       /* borrowed */
    const struct index_order *order; /* borrowed */
    struct judge *judge;             /* borrowed */
    uint32_t session;
    /* Returns the result of a request that the recording does not have; empty: there is none.
       NULL: there are none. */
    struct str (*answer)(void *arg, struct str method);
    void *answer_arg;
    struct map used; /* step to itself */
    struct index_message request, response;
};

struct server_request_reply {
    struct str result, error; /* JSON; one of them is set */
    bool changed;             /* none fits, but an open call has an unused one of this method */
    struct finding difference; /* if `changed`: path and values of the first difference from it,
                                  valid until judge_clear() */
};

void server_requests_init(struct server_requests *s, const struct index *index,
                          const struct index_order *order, uint32_t session,
                          struct judge *judge);
void server_requests_release(struct server_requests *s);

/* Finds the response to `live`. `is_open` says whether a call is open. Returns false if no
 * recorded request fits, or none has a response. The values of `*reply` are valid until the
 * next call. */
bool server_requests_find(struct server_requests *s, const struct mcp_message *live,
                          bool (*is_open)(void *arg, uint32_t call), void *arg,
                          struct server_request_reply *reply);

#endif

/* verify/server-requests.h - finds the recorded client's response to a request of the live
 * server.
 *
 * Looks for a recorded server request of the same session with equal method and params: an
 * unused one of an open call, then one of any call, then one that was used. If there is none, a
 * request of an open call with the same method and other params is taken, and reported as
 * different. */
#ifndef VERIFY_SERVER_REQUESTS_H
#define VERIFY_SERVER_REQUESTS_H

#include "base/map.h"
#include "index/index.h"
#include "mcp/message.h"

struct server_requests {
    const struct index *index;       /* borrowed */
    const struct index_order *order; /* borrowed */
    uint32_t session;
    struct map used; /* step to itself */
    struct index_message request, response;
};

struct server_request_reply {
    uint32_t call;            /* of the recorded request */
    bool differs;             /* its params are not equal */
    struct json_val recorded; /* the recorded request */
    struct json_val response; /* the recorded client's response */
};

void server_requests_init(struct server_requests *s, const struct index *index,
                          const struct index_order *order, uint32_t session);
void server_requests_release(struct server_requests *s);

/* Finds the response to `live`. `is_open` says whether a call is open. Returns false if no
 * recorded request fits, or none has a response. The values of `*reply` are valid until the
 * next call. */
bool server_requests_find(struct server_requests *s, const struct mcp_message *live,
                          bool (*is_open)(void *arg, uint32_t call), void *arg,
                          struct server_request_reply *reply);

#endif

/* engine/front-ask.h - a request to an HTTP front: of which session it is, and what it wants
 * there.
 *
 * Whether it may be asked, and of which server, is for others to know. */
#ifndef ENGINE_FRONT_ASK_H
#define ENGINE_FRONT_ASK_H

#include "engine/http-call.h"
#include "engine/step.h"

/* Who GETs a path that ends so without a session speaks HTTP+SSE, and opens one. */
#define FRONT_ASK_SSE "/sse"

/* Not to be copied: `call` points to the message. */
struct front_ask {
    uint64_t exchange;
    struct http_call call;
    struct mcp_message message;
    uint64_t session; /* as it is numbered; 0: none that there is or was */
    struct str id;    /* of the request, as JSON; empty: none, or of several */
    bool opens;       /* a session of HTTP+SSE */
};

/* Reads `ev`, an EVENT_REQUEST, and scans its body into `json`; borrows from all of them. */
void front_ask_read(struct front_ask *q, const struct event *ev, const struct session_ids *ids,
                    struct json *json, struct arena *a);

bool front_ask_is_initialize(const struct front_ask *q);

/* What is asked of that path is for MCP, not for what else clients look for. */
bool front_ask_is_ours(struct str path);

#endif

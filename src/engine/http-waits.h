/* engine/http-waits.h - requests of a client's that wait for their answers, and what brought
 * each of them to the server.
 *
 * Two may have the same id, if the client is sloppy: an answer is then to the one that its own
 * bringer brought, else to the oldest. */
#ifndef ENGINE_HTTP_WAITS_H
#define ENGINE_HTTP_WAITS_H

#include "mcp/message.h"

enum http_wait_for {
    HTTP_WAIT_ANY,
    HTTP_WAIT_GREETING, /* the answer to an initialize */
    HTTP_WAIT_TOOLS,    /* the list of them */
    HTTP_WAIT_NEWS,     /* a subscription: it may never be answered */
};

struct http_wait {
    struct http_wait *next;
    const void *by; /* what brought it; only compared */
    enum http_wait_for what;
    bool given_up; /* the client has: it need not be told of a failure */
    struct str id; /* as the client wrote it, JSON */
    struct str key, method;
};

struct http_waits {
    struct http_wait *first, *last; /* the oldest, and the youngest */
};

void http_waits_release(struct http_waits *w);

void http_waits_add(struct http_waits *w, const struct mcp_message *request, const void *by);

/* All requests of a batch. */
void http_waits_add_all(struct http_waits *w, struct json_val batch, const void *by);

/* NULL: nobody waits for that. */
struct http_wait *http_waits_find(const struct http_waits *w, struct json_val id,
                                  const void *by);

/* The only one of its bringer's; NULL: there are more, or none. */
struct http_wait *http_waits_only(const struct http_waits *w, const void *by);

/* The first that one brought; NULL: none (any more). */
struct http_wait *http_waits_of(const struct http_waits *w, const void *by);

void http_waits_remove(struct http_waits *w, struct http_wait *at);

void http_waits_forget(struct http_waits *w, const void *by); /* all that one brought */

/* What one brought counts as brought by another. */
void http_waits_pass(struct http_waits *w, const void *from, const void *to);

/* Somebody waits who can expect an answer. */
bool http_waits_any(const struct http_waits *w);

#endif

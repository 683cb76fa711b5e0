/* mcphttp/client-pending.h - the client's requests that await a response, and its lines that
 * were not sent yet.
 *
 * A carrier is the exchange that took a request to the server; it is only compared. Two pending
 * requests may have the same id if the client is sloppy: a response then belongs to the one of
 * its own carrier, else to the oldest. */
#ifndef MCPHTTP_CLIENT_PENDING_H
#define MCPHTTP_CLIENT_PENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/message.h"

enum client_pending_kind {
    CLIENT_PENDING_OTHER,
    CLIENT_PENDING_INITIALIZE,
    CLIENT_PENDING_TOOLS_LIST,
    CLIENT_PENDING_SUBSCRIPTION, /* may never get a response */
};

struct client_pending_request {
    struct client_pending_request *next;
    const void *carrier; /* NULL: it was not sent */
    enum client_pending_kind kind;
    bool cancelled; /* set by notifications/cancelled: no error is sent if it fails */
    struct str id;  /* as the client wrote it, JSON */
    struct str id_key, method;
};

struct client_pending {
    struct client_pending_request *first, *last; /* the oldest, and the youngest */
};

void client_pending_release(struct client_pending *w);

void client_pending_add(struct client_pending *w, const struct mcp_message *request,
                        const void *carrier);

/* Adds all requests of a batch. */
void client_pending_add_batch(struct client_pending *w, struct json_val batch,
                              const void *carrier);

/* The request that a response with this id on `carrier` belongs to; NULL: none. */
struct client_pending_request *client_pending_find(const struct client_pending *w,
                                                   struct json_val id, const void *carrier);

/* The only request of a carrier; NULL: it has none, or several. */
struct client_pending_request *client_pending_find_only(const struct client_pending *w,
                                                        const void *carrier);

/* The oldest request of a carrier; NULL: none. */
struct client_pending_request *client_pending_find_first(const struct client_pending *w,
                                                         const void *carrier);

void client_pending_remove(struct client_pending *w, struct client_pending_request *request);

/* Removes all requests of a carrier. */
void client_pending_remove_all(struct client_pending *w, const void *carrier);

/* Gives the requests of one carrier to another. */
void client_pending_reassign(struct client_pending *w, const void *from, const void *to);

/* True if there is a request that is neither cancelled nor a subscription. */
bool client_pending_has_any(const struct client_pending *w);

/* A line of the client that must not be sent yet. */
struct client_queue_line {
    struct client_queue_line *next;
    bool is_response; /* to a server request */
    struct str text;
};

struct client_queue {
    struct client_queue_line *first, *last; /* the oldest, and the youngest */
    size_t bytes;                           /* total */
};

void client_queue_release(struct client_queue *s);

/* Appends a copy of the line. */
void client_queue_add(struct client_queue *s, struct str text, bool is_response);

/* Removes the first line. There must be one. */
void client_queue_pop(struct client_queue *s);

/* Empties the queue and adds its requests to `to`, with carrier NULL: they will not be sent. */
void client_queue_move_to_pending(struct client_queue *s, struct client_pending *to);

#endif

/* bridge/id-map.h - maps the requests of HTTP clients onto one stdio server, and routes the
 * server's messages back to the exchange they belong to.
 *
 * A map for one client changes nothing in a message but line breaks. A shared map serves any
 * number of clients that may use the same ids: each request goes to the server with a number as
 * id and progress token, and the client's own values are put back into responses, progress,
 * cancellations and subscriptions. Clients of a shared map cannot receive server requests, and
 * their cancellations are not forwarded; a client cancels by closing its connection.
 *
 * Does no I/O and reads no clock. Returned text is valid until the next call. */
#ifndef BRIDGE_ID_MAP_H
#define BRIDGE_ID_MAP_H

#include "base/buf.h"
#include "base/map.h"
#include "mcp/message.h"

/* A request without a response so far. */
struct id_map_request {
    struct id_map_request *prev, *next;
    uint64_t number; /* its id at the server, if the map is shared */
    uint64_t exchange;
    struct str id;                /* the client's, as JSON */
    struct str token;             /* progress token, as JSON; empty: none */
    struct str id_key, token_key; /* keys for comparison (mcp/id.h) */
    struct str method;
    bool sets_log_level; /* its _meta has a log level */
    bool cancelled;      /* set when its client cancels it */
};

struct id_map {
    bool shared;
    struct id_map_request *first, *last; /* oldest first */
    size_t count;
    struct map by_number; /* number to request, if shared */
    uint64_t last_number; /* of the latest request */
    struct buf text;
    struct arena arena; /* for one message */
};

void id_map_init(struct id_map *l, bool shared);
void id_map_release(struct id_map *l);

/* Adds a client's request and returns the line for the server. */
struct str id_map_add_request(struct id_map *l, uint64_t exchange, const struct mcp_message *m);

/* Counts the requests in `body`, a message or a batch. */
size_t id_map_count_requests(struct json_val body, struct arena *a);

/* Returns whether every JSON parser finds the same ids and tokens in `body`, a message or a
 * batch: no duplicate and no unknown members. Otherwise a response could reach another
 * client. */
bool id_map_is_unambiguous(struct json_val body, struct arena *a);

/* Returns the line for the server for any other client message; empty: it is not forwarded. */
struct str id_map_forward(struct id_map *l, const struct mcp_message *m);

enum id_map_destination {
    ID_MAP_TO_NONE,
    ID_MAP_TO_REQUEST, /* it belongs to `request` */
    ID_MAP_TO_CLIENT,  /* for the only client; never if shared */
    ID_MAP_TO_SERVER,  /* `text` is the response to a server request */
};

struct id_map_routed {
    enum id_map_destination destination;
    struct id_map_request *request;
    struct str text;
    bool is_final;     /* the last message of the request: the caller calls id_map_remove() */
    bool is_request;   /* it is a server request */
    bool other_stream; /* it belongs to no request, even if one is open */
};

/* Routes a message of the server. */
struct id_map_routed id_map_route(struct id_map *l, const struct mcp_message *m);

void id_map_remove(struct id_map *l, struct id_map_request *c);

/* Removes one request of an exchange that has no client any more, and returns the cancellation
 * for the server; empty: there was none left. */
struct str id_map_cancel(struct id_map *l, uint64_t exchange);

#endif

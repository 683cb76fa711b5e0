/* index/order.h - the order of each recorded session as its client saw it: what it sent, and
 * which responses it had by then.
 *
 * For a client that sends a recording again (verify). An index that has an order (`order` of
 * struct index) adds to it while it is built, and stores the client's notifications, too, which
 * replay does not need. 16 bytes for each item. */
#ifndef INDEX_ORDER_H
#define INDEX_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum index_order_kind {
    ORDER_REQUEST,      /* the client sent the request of call `number` */
    ORDER_NOTIFICATION, /* it sent the notification that is step `number` of the index */
    ORDER_RESPONSE,     /* it got the response to call `number` */
    ORDER_HTTP_REQUEST, /* it sent the HTTP request GET or DELETE that is step `number` */
};

struct index_order_item {
    uint32_t number;
    uint32_t next; /* of the same session; 0: none */
    uint32_t line; /* of the message in the file; 0: unknown */
    enum index_order_kind kind;
};

struct index_order {
    struct index_order_item *items; /* numbered from 1 */
    size_t count, cap;
    struct index_order_session {
        uint32_t first, last; /* items; 0: none */
        bool over_http;       /* it was recorded over HTTP */
        bool had_get;         /* and its client opened a GET stream */
    } * sessions;             /* by index of the session; the rest have none */
    size_t session_count, session_cap;
    bool had_get; /* a client without a session id opened a GET stream: any session's */
};

void index_order_init(struct index_order *o);
void index_order_release(struct index_order *o);

void index_order_add(struct index_order *o, uint32_t session, enum index_order_kind kind,
                     uint32_t number, uint32_t line);

/* Note that a session was recorded over HTTP, and that its client opened a GET stream. */
void index_order_note_http(struct index_order *o, uint32_t session);
void index_order_note_get(struct index_order *o, uint32_t session);

bool index_order_is_over_http(const struct index_order *o, uint32_t session);

/* Returns whether a client that sends the session again over HTTP should open a GET stream: the
 * recorded one had it, or was not on HTTP. */
bool index_order_wants_get(const struct index_order *o, uint32_t session);

/* Returns the first item of a session; 0: it has none. */
uint32_t index_order_first(const struct index_order *o, uint32_t session);

#endif

/* transport/http-exchange.h - one HTTP request and its response, server side.
 *
 * The owner says what to respond; how it is sent (chunks, a length, until the connection ends,
 * no body for HEAD) is decided here, by the request and the version of the client. Knows no
 * sockets, no JSON and no MCP.
 *
 * Course: `request`, then `data` and `request_complete` while the body comes. The owner
 * responds at any time, also before the body is complete: http_exchange_send_head(),
 * http_exchange_write() any number of times, http_exchange_end(). Everything is sent in the
 * same turn of the loop; bytes that the client does not take are queued. An owner that forwards
 * data stops its source while http_exchange_queued() is high and resumes at `drained`.
 *
 * The exchange is over, and must not be used again, after the first of http_exchange_end(),
 * http_exchange_abort() and the `aborted` event. Both functions may be called in every event.
 * No event of the exchange comes later. */
#ifndef TRANSPORT_HTTP_EXCHANGE_H
#define TRANSPORT_HTTP_EXCHANGE_H

#include "wire/origin.h"
#include "wire/request-read.h"

struct http_exchange;

/* Why a client gets no response, or an incomplete one. */
enum http_exchange_failure_kind {
    HTTP_EXCHANGE_CLIENT_CLOSED,   /* the client closed the connection, or it broke */
    HTTP_EXCHANGE_INVALID_REQUEST, /* see wire/reject-reason.h */
    HTTP_EXCHANGE_TIMEOUT,         /* the client was too slow to send the request or to read the
                                      response */
    HTTP_EXCHANGE_OVERLOAD,        /* too many connections */
    HTTP_EXCHANGE_SHUTDOWN,        /* the server stopped, and the grace time is over */
};

struct http_exchange_failure {
    enum http_exchange_failure_kind kind;
    unsigned status;  /* sent to the client; 0: none, or a response had begun */
    const char *text; /* for the log: "a line that ends in LF alone"; static */
};

struct http_exchange_events {
    /* A valid head was read. Nothing else was checked, such as access. */
    void (*request)(void *to, struct http_exchange *x);
    /* A part of the body; borrowed. */
    void (*data)(void *to, struct http_exchange *x, struct str bytes);
    /* The body is complete; comes for requests without a body, too. */
    void (*request_complete)(void *to, struct http_exchange *x);
    /* The body will not be completed: it is too slow, or the client has closed its side and may
     * still wait for a response. Unless the owner ends or aborts the exchange here, `aborted`
     * follows. May be NULL. */
    void (*request_incomplete)(void *to, struct http_exchange *x);
    /* The queue is empty again. */
    void (*drained)(void *to, struct http_exchange *x);
    /* The exchange is over before the response was complete. A client that closes its side
     * while it waits cancels its request by that. Never comes inside a call by the owner. */
    void (*aborted)(void *to, struct http_exchange *x, const struct http_exchange_failure *why);
    /* A client was rejected before there was an exchange; for the log. */
    void (*rejected)(void *to, uint64_t connection, const struct http_exchange_failure *why);
    /* A connection is closed; all its exchanges are over. May be NULL. */
    void (*conn_closed)(void *to, uint64_t connection);
};

/* The body of a response. After HEAD and with 204 and 304 no body is sent: written bytes are
 * dropped, and `length` is that of the body that GET would get. */
enum http_exchange_body {
    HTTP_EXCHANGE_EMPTY,  /* no bytes */
    HTTP_EXCHANGE_SIZED,  /* `length` bytes; ending earlier aborts */
    HTTP_EXCHANGE_STREAM, /* until http_exchange_end() */
};

struct http_exchange_response {
    unsigned status;        /* 200 to 599 */
    struct str phrase;      /* the reason phrase; empty: the usual one */
    struct headers headers; /* borrowed; none for which response_is_reserved_header() */
    enum http_exchange_body body;
    uint64_t length;
    bool close; /* close the connection after it */
};

/* Functions of the connection that the exchange calls. */
struct http_exchange_io {
    void (*write)(void *at, struct str bytes);
    struct buf *(*compose_buf)(
        void *at); /* an empty buffer to compose in; valid until the next call */
    void (*read)(void *at, bool on);
    void (*response_begun)(void *at); /* the head of the request is not used any more */
    void (*ended)(void *at);
    /* `unframed`: the end of the connection would look like a complete response, so reset it.
     */
    void (*aborted)(void *at, bool unframed);
    size_t (*queued)(const void *at);
};

enum { HTTP_EXCHANGE_ID_MAX = 256 };

struct http_exchange {
    /* For the owner to set. */
    void *user;
    struct str rpc_id; /* for an error response: id of the JSON-RPC request, as JSON; borrowed
                        * until the response begins. null is sent if it is empty or longer
                        * than HTTP_EXCHANGE_ID_MAX */

    /* For the owner to read. */
    const struct request_head *head; /* NULL once the response has begun */
    enum origin_kind host, origin;   /* classes of its Host and Origin */
    uint64_t connection;             /* number of the connection, from 1 */
    bool request_complete;           /* the event of that name has come */

    /* Private. */
    const struct http_exchange_io *io;
    void *io_arg;
    bool awaits_continue; /* the client waits for 100 Continue; cleared when it is sent or data
                             comes */
    bool response_begun;  /* the head was sent */
    bool done;
    bool close_after;        /* the connection closes after this exchange */
    bool is_http10, no_body; /* of the request; no body follows the head of the response */
    bool chunked, sized;     /* how the body is sent; neither: until the connection ends */
    uint64_t remaining;      /* bytes of a sized body not written yet */
};

/* Sends 100 Continue if the client waits for it. An owner that responds without it gets no body
 * from such a client. */
void http_exchange_send_continue(struct http_exchange *x);

/* Turns reading of the body on or off; it is on at first. Data already read may still come
 * after it is turned off. */
void http_exchange_read(struct http_exchange *x, bool on);

/* Sends the head of the response. ERR_INPUT, with nothing sent, if a header or the phrase is
 * invalid; the owner may then send another head. */
bool http_exchange_send_head(struct http_exchange *x, const struct http_exchange_response *a,
                             struct err *e) MUST_CHECK;

/* Sends a part of the body. Writing more than the length in the head is a bug of the caller,
 * also if it forwards a response. */
void http_exchange_write(struct http_exchange *x, struct str bytes);

/* Ends the response. Aborts if less was written than the length in the head. */
void http_exchange_end(struct http_exchange *x);

/* Ends the response as incomplete, so that the client notices. Queued bytes are still sent. */
void http_exchange_abort(struct http_exchange *x);

/* Returns the bytes that the client has not taken yet. */
size_t http_exchange_queued(const struct http_exchange *x);

/* Sends a complete response with `body` and ends the exchange; ignores the body and length of
 * `a`. ERR_INPUT as http_exchange_send_head(). */
bool http_exchange_respond(struct http_exchange *x, const struct http_exchange_response *a,
                           struct str body, struct err *e) MUST_CHECK;

/* Sends a complete error response with a JSON-RPC error as its body and ends the exchange.
 * `text` is its message: no quotes, backslashes and control characters. `headers` (such as
 * Allow) must be valid; may be NULL. */
void http_exchange_send_error(struct http_exchange *x, unsigned status,
                              const struct headers *headers, struct str text);

/* For the connection: starts an exchange; composes an error response without one. */
void http_exchange_init(struct http_exchange *x, const struct request_head *head,
                        const struct http_exchange_io *io, void *io_arg);
void http_exchange_write_error(struct buf *to, unsigned status, struct str id, struct str text);

#endif

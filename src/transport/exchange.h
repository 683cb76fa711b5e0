/* transport/exchange.h - one HTTP request and its answer, as whoever answers sees them.
 *
 * Knows neither sockets nor JSON nor MCP. What the owner says is what is meant; how it is
 * said (chunks, lengths, the end of the connection, nothing at all to HEAD) is decided
 * here, by whom it is said to.
 *
 * The course of it: `request`, then `data` and `whole` while the body comes. The owner
 * answers when it likes, before the body is whole, too: exchange_head(), exchange_write()
 * as often as it likes, exchange_end(). Everything goes out in the same turn of the loop; what
 * the client does not take is queued, and exchange_queued() tells how much: whoever has a
 * source stops it while that is high and goes on at `drained`.
 *
 * It is over, and not to be touched again, after exchange_end(), exchange_abort() or the
 * `gone` event, whichever is first: there is just one of them. They may be called from
 * inside every event. No event comes after it is over. */
#ifndef TRANSPORT_EXCHANGE_H
#define TRANSPORT_EXCHANGE_H

#include "wire/place.h"
#include "wire/request.h"

struct exchange;

/* Why a client gets no answer, or not all of it. */
enum exchange_fault_kind {
    EXCHANGE_LEFT,    /* it closed the connection, or broke it */
    EXCHANGE_INVALID, /* what it sent cannot be read in one way only */
    EXCHANGE_SLOW,    /* it took too long to send its request, or to take the answer */
    EXCHANGE_CROWD,   /* there are too many of them */
    EXCHANGE_STOPPED, /* we are ending, and it was not done in time */
};

struct exchange_fault {
    enum exchange_fault_kind kind;
    unsigned status;  /* what it was answered; 0: nothing, or an answer had begun */
    const char *text; /* for a log: "a line that ends in LF alone"; static */
};

struct exchange_events {
    /* A head is there and can be trusted to mean one thing; nothing else was checked. */
    void (*request)(void *to, struct exchange *x);
    /* Some of the body; borrowed. */
    void (*data)(void *to, struct exchange *x, struct str bytes);
    /* All of the body was handed over; comes for requests without one, too. */
    void (*whole)(void *to, struct exchange *x);
    /* The body will not be whole: it comes too slowly, or the client has closed its side, and
     * may wait for an answer all the same. Who gives none here has lost it: it is `gone`. May
     * be NULL. */
    void (*cut)(void *to, struct exchange *x);
    /* All that was queued has been taken. */
    void (*drained)(void *to, struct exchange *x);
    /* It is over before the answer was whole. A client that closes its side while it is
     * owed something counts as gone: that is how one cancels. Never from inside a call of
     * the owner's. */
    void (*gone)(void *to, struct exchange *x, const struct exchange_fault *why);
    /* Somebody was refused before there was an exchange; for the log. */
    void (*refused)(void *to, uint64_t connection, const struct exchange_fault *why);
    /* A connection has ended; all of its exchanges are over. May be NULL. */
    void (*left)(void *to, uint64_t connection);
};

/* How much follows the head of an answer. To HEAD, and with 204 and 304, nothing ever
 * does: what is written is dropped, and a length is that of what would follow otherwise. */
enum exchange_body {
    EXCHANGE_EMPTY,  /* nothing */
    EXCHANGE_SIZED,  /* `length` bytes; to end before is to abort */
    EXCHANGE_STREAM, /* until exchange_end() */
};

struct answer {
    unsigned status;      /* 200 to 599 */
    struct str phrase;    /* empty: the usual one */
    struct fields fields; /* in this order; borrowed; none that response_owns() */
    enum exchange_body body;
    uint64_t length;
    bool last; /* the connection is to end with it, whatever the client likes */
};

/* What the exchange makes happen; given by the connection that it is on. */
struct exchange_port {
    void (*write)(void *at, struct str bytes);
    struct buf *(*desk)(void *at); /* an empty one, to compose what is written next */
    void (*read)(void *at, bool on);
    void (*begun)(void *at); /* its request is looked at no more */
    void (*ended)(void *at);
    /* `unframed`: if the connection just ended, the answer would seem to be whole. */
    void (*aborted)(void *at, bool unframed);
    size_t (*queued)(const void *at);
};

enum { EXCHANGE_ID_MAX = 256 };

struct exchange {
    void *user;    /* the owner's */
    struct str id; /* so is this: what a refusal is for, as JSON, good until the answer has
                    * begun; empty, or of more than EXCHANGE_ID_MAX bytes: null */

    /* For the owner to read. */
    const struct request *head; /* NULL once the answer has begun */
    enum place host, origin;    /* whom it is for, and whose page sent it */
    uint64_t connection;        /* which one of ours, from 1 */
    bool whole;                 /* its body was all handed over */

    /* The rest is not for the owner. */
    const struct exchange_port *port;
    void *at;
    bool waiting; /* the client waits for 100 Continue */
    bool begun;   /* the head was sent */
    bool over;
    bool last;           /* no other request can follow on the connection */
    bool old, mute;      /* it speaks HTTP/1.0; nothing follows the head */
    bool chunked, sized; /* how the body goes out; neither: until the connection ends */
    uint64_t left;       /* of `sized` */
};

/* The client may send its body: tells it so if it waits for that, and is harmless
 * otherwise. Who never says so and answers at once gets no body. */
void exchange_go_on(struct exchange *x);

/* Whether to go on reading the body. On, to begin with. What was read before it was turned off
 * still comes. */
void exchange_read(struct exchange *x, bool on);

/* The head of the answer. ERR_INPUT, and nothing sent, if a field or the phrase holds what
 * must not stand there; another answer can be given then. */
bool exchange_head(struct exchange *x, const struct answer *a, struct err *e) MUST_CHECK;

/* Some of its body. More than was promised is a mistake of the caller's, also if it only
 * passes on what somebody else has promised. */
void exchange_write(struct exchange *x, struct str bytes);

/* The answer is whole. If less was written than was promised, it is aborted. */
void exchange_end(struct exchange *x);

/* It will never be whole, and the client has to notice. What was written still goes out. */
void exchange_abort(struct exchange *x);

/* Bytes the client has yet to take. */
size_t exchange_queued(const struct exchange *x);

/* A whole answer at once, and the end; its body is `body`, whatever `a` says of it. ERR_INPUT,
 * and nothing sent, as exchange_head(). */
bool exchange_answer(struct exchange *x, const struct answer *a, struct str body,
                     struct err *e) MUST_CHECK;

/* A whole answer that says no, as MCP servers do: a JSON-RPC error. `text` is
 * for people, without quotes, backslashes and control characters. `fields` (of ours; an Allow
 * or so) may be NULL. */
void exchange_refuse(struct exchange *x, unsigned status, const struct fields *fields,
                     struct str text);

/* For the connection: a new one, and what those are told who get none. */
void exchange_init(struct exchange *x, const struct request *head,
                   const struct exchange_port *port, void *at);
void exchange_compose_refusal(struct buf *to, unsigned status, struct str id, struct str text);

#endif

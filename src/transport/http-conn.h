/* transport/http-conn.h - one HTTP/1.1 client's connection, without its socket.
 *
 * In go bytes, the end, the time and what the owner of an exchange does; out go bytes and
 * wishes through the port, and events to the owner. However the bytes are cut, the same
 * comes of them.
 *
 * One exchange at a time: what is sent before the answer is whole waits, so much and no
 * more; who sends more than that loses it, and the connection with the answer. So there is
 * always somebody reading, who notices that the client goes, unless the owner itself has
 * stopped a body. Nor is a client asked what else it wants that does not take what it was
 * given.
 *
 * After a refusal, or an answer to a request of which not all was read, the client is told
 * that nothing more comes, and is read for a while to no purpose: if we just closed, what
 * we told it could get lost.
 *
 * A client may close its side once its request is whole, and still wait for the answer; who
 * has given up looks the same. What tells them apart is whether it still takes what it is
 * sent, so it is sent 100 Continue, which means nothing to who waits, and has a connection
 * that nobody holds any more reset. Where that cannot be sent, to HTTP/1.0 or after the answer
 * has begun, it counts as gone, as it does with others' servers; but for an answer of known
 * length, which goes on until it is whole or refused. Who waits and then gives up, too, is
 * noticed with the next thing it is sent.
 *
 * While an answer is under way nothing is kept of its request. The memory that requests are
 * read into is shared by all, however many: one that comes again may find itself there
 * (wire/request.h). */
#ifndef TRANSPORT_HTTP_CONN_H
#define TRANSPORT_HTTP_CONN_H

#include "base/buf.h"
#include "transport/exchange.h"

enum {
    HTTP_CONN_AHEAD_MAX = 64 << 10,  /* bytes of the requests after this one */
    HTTP_CONN_DESK_MAX = 1 << 20,    /* bytes of a head that we compose */
    HTTP_CONN_OWED_MAX = 256 << 10,  /* bytes untaken, before another request is looked at */
    HTTP_CONN_LINGER_MAX = 16 << 20, /* bytes read to no purpose */
    HTTP_CONN_SPARES = 8,            /* requests whose memory is kept for others */
};

/* How long others may take, in milliseconds. */
struct http_patience {
    unsigned head_ms;   /* for a head, and for its first byte after they connected */
    unsigned idle_ms;   /* between requests */
    unsigned body_ms;   /* a body may fall so far behind `body_rate` */
    unsigned body_rate; /* bytes per second */
    unsigned take_ms;   /* without taking a byte of an answer that is there for them */
    unsigned linger_ms; /* to hang up once they have been told everything */
};

extern const struct http_patience http_conn_patience; /* the usual one */

/* What the connection makes happen. None of it may call back before it returns. */
struct http_conn_port {
    void (*write)(void *at, struct str bytes);
    void (*read)(void *at, bool on);
    void (*finish)(void *at); /* nothing more is written: after it the client sees the end */
    void (*close)(void *at, bool reset); /* it is over; nothing else comes after this */
    void (*soon)(void *at);              /* http_conn_go_on(), but not now */
    size_t (*queued)(const void *at);    /* bytes the client has yet to take */
    void (*watch)(void *at); /* whether it breaks, which reading would tell otherwise */
};

/* What the connections of a server share. */
struct http_conn_house {
    const struct http_conn_port *port;
    const struct exchange_events *events;
    void *to;
    const struct url_authority *self; /* what we listen on */
    const struct http_patience *patience;
    struct http_conn_intake *spare[HTTP_CONN_SPARES]; /* memory for the next ones who need it */
    struct buf desk; /* where answers are composed; to begin: empty, HTTP_CONN_DESK_MAX */
};

void http_conn_house_release(struct http_conn_house *h);

enum http_conn_state {
    HTTP_CONN_HEAD,   /* between requests, or in the head of one */
    HTTP_CONN_BODY,   /* there is an exchange, and its body is coming */
    HTTP_CONN_ANSWER, /* there is an exchange, and its body was all there */
    HTTP_CONN_FLUSH,  /* what was written goes out, then it is broken */
    HTTP_CONN_LINGER, /* it has been told everything */
    HTTP_CONN_OVER,
};

/* What is limited in time. */
enum http_conn_wait {
    HTTP_CONN_FOR_NOTHING,
    HTTP_CONN_FOR_HEAD,
    HTTP_CONN_FOR_REQUEST,
    HTTP_CONN_FOR_BODY,
    HTTP_CONN_FOR_TAKING,  /* what was written is still queued */
    HTTP_CONN_FOR_GOODBYE, /* it is for the client to hang up */
};

/* For the owner of the socket to read: `state`, `number`. */
struct http_conn {
    struct http_conn_house *house;
    void *at; /* for the port */
    uint64_t number;
    enum http_conn_state state;
    bool feeding;  /* the bytes are being looked at */
    bool used;     /* there was a request before */
    bool paused;   /* the owner does not want more of the body now */
    bool deaf;     /* what comes is dropped; when lingering: nothing will come */
    bool ended;    /* the client has closed its side */
    bool doubted;  /* it was, and seems to be there still */
    bool stopping; /* no other request is taken */
    struct http_conn_intake *intake; /* the request that is being read */
    struct exchange exchange;
    struct buf ahead; /* what came too early */
    uint64_t dropped; /* bytes read to no purpose */
    uint64_t written; /* bytes in all */
    uint64_t got;     /* bytes of the body */

    enum http_conn_wait wait; /* as of the last look, as are these: */
    uint64_t progress;        /* how far it was */
    int64_t since_ms;         /* how long it has been so; -1: not looked yet */
};

void http_conn_init(struct http_conn *c, struct http_conn_house *h, void *at, uint64_t number);
void http_conn_release(struct http_conn *c);

/* Instead of being fed: there are too many, and this one is told so. */
void http_conn_turn_away(struct http_conn *c);

void http_conn_feed(struct http_conn *c, struct str bytes);
void http_conn_go_on(struct http_conn *c); /* as was asked for by `soon` */
void http_conn_drained(struct http_conn *c);
void http_conn_ended(struct http_conn *c); /* the client has closed its side */

/* The same, but it is not being read, so that there may be more to come before. */
void http_conn_abandoned(struct http_conn *c);
void http_conn_lost(struct http_conn *c); /* nothing more can be read or written */

/* What time it is, now and then: several times in what it has patience for. */
void http_conn_tick(struct http_conn *c, int64_t now_ms);

/* No other request; ends at once if there is none. */
void http_conn_stop(struct http_conn *c);

/* Whatever is under way is aborted; the second time also what is being told of that. */
void http_conn_abort(struct http_conn *c);

#endif

/* transport/http-relay.h - HTTP clients and the server they want, with us in between.
 *
 * The sibling of the relay of stdio: requests and answers pass as they come, header lines
 * in their order, bodies and streams piece by piece, each side read only as fast as the
 * other takes. Of everything the owner gets a copy, and time to keep it, before it goes on;
 * so what ends a message (the last byte of a body, the blank line of an event) is never with
 * its reader before it was with the owner. Knows no JSON and writes no file.
 *
 * - '/' and the target's own path are the target, also in another spelling (wire/same-path.h),
 *   which is passed on as it is; other paths are those of its origin. With `base`, a path whose
 *   last segment is 'mcp' or 'sse' is the target, too: it is appended to `base`, unless the
 *   target ends with it ('/mcp' for '/v1/mcp').
 *   The query is kept; one that the target has comes first.
 * - The server gets its own Host, or the client's with `keep_host`.
 * - Who is not let in gets an answer of ours, as does everybody while the server cannot be
 *   reached: 502, 504 if it takes too long to connect, 503 if we have no descriptor for it.
 *   Whom the server fails is heard out first, up to LIMIT_MESSAGE bytes, or for as long as any
 *   body may take; who is not let in is not.
 * - A client that leaves ends its request at the server, and the other way round: an answer
 *   that the server breaks off is broken off. Nothing is ever asked twice.
 * - Of the ways to pack an answer the server is offered those that the owner can unpack.
 * - 'Expect: 100-continue' is answered here. Redirects are passed on.
 * - What passes may be changed by somebody who has to, such as addresses in a login: see
 *   `struct http_relay_changes`. Of a stream the owner may let other bytes go on than came. */
#ifndef TRANSPORT_HTTP_RELAY_H
#define TRANSPORT_HTTP_RELAY_H

#include "base/arena.h"
#include "base/buf.h"
#include "transport/http-client.h"
#include "transport/http-gate.h"
#include "transport/http-server.h"

struct http_relay;

/* One request and its answer, on their way. */
struct http_passage {
    void *user;          /* the owner's */
    uint64_t number;     /* from 1 */
    uint64_t connection; /* of the client, from 1 */
    enum place host, origin;
    bool endpoint;                    /* it is for the target itself, or `posted` */
    struct http_gate_verdict verdict; /* what the gate said of it */

    /* For the owner to set: */
    bool unpacked; /* in `request`: the answer is not to be packed */
    bool edited;   /* in `head`: the owner says what goes on of it */
};

enum http_relay_by {
    HTTP_RELAY_SERVER, /* its answer is whole, or broken off */
    HTTP_RELAY_CLIENT, /* it left */
    HTTP_RELAY_FAULT,  /* the server was not there, or could not be understood */
    HTTP_RELAY_SELF,   /* we did not let it in, lost patience, or are ending */
};

struct http_relay_end {
    enum http_relay_by by;
    bool clean;       /* the answer is whole */
    const char *text; /* if it is not, why; for people; borrowed */
};

struct http_relay_events {
    /* Whether a request is for MCP, wherever it goes: its target is kept as it is then. May be
     * NULL: no other is than those for the target. */
    bool (*posted)(void *to, const struct request *r);
    /* A request; `r` is borrowed for the event. */
    void (*request)(void *to, struct http_passage *p, const struct request *r);
    void (*body)(void *to, struct http_passage *p, struct str bytes);
    /* It was all there. Returns the id of what it asks, as JSON, for an answer of ours; empty:
     * it asks nothing, or too much. Good until there is the head of an answer. */
    struct str (*asked)(void *to, struct http_passage *p);
    /* The head of the server's answer, and that of the request once more; borrowed. */
    void (*head)(void *to, struct http_passage *p, const struct request *asked,
                 const struct reply *r);
    void (*answer)(void *to, struct http_passage *p, struct str bytes);
    /* What goes on in place of these bytes, which were told, of an answer that is `edited`;
     * borrowed until the next call. `last`: no others follow. False: it is broken off behind
     * them, and `*why` says why, for people. Never of an answer that has a length. */
    bool (*edit)(void *to, struct http_passage *p, struct str *bytes, bool last,
                 const char **why);
    /* Instead of `head`: an answer of ours, with a JSON-RPC error; `text` is its message. */
    void (*own)(void *to, struct http_passage *p, unsigned status, const char *text);
    /* Nothing more comes of it. Once for each request, and last; before its reader knows. */
    void (*end)(void *to, struct http_passage *p, const struct http_relay_end *end);
    /* What was told since the last of these goes on now: who keeps it must have done so when
     * this returns. */
    void (*settle)(void *to);
    /* Somebody on a connection was refused who sent no request; for a log. */
    void (*refused)(void *to, uint64_t connection, const struct exchange_fault *why);
};

enum { HTTP_RELAY_HELD_MAX = 256 << 10 };

/* Who changes what passes. Its owner is told of everything as it came; what is said here is
 * what goes on. Texts may be put into the arena, which lives as long as the head does. `r` is
 * the request, of which the body may not have come. */
struct http_relay_changes {
    /* Where the client is to go instead, with a 302 of ours: adds that; nothing: it is served
     * here. */
    void (*detour)(void *to, const struct http_passage *p, const struct request *r,
                   struct buf *location);
    /* The head that goes to the server: its target and fields may be changed. True: its body
     * is to be whole before anything goes. */
    bool (*ask)(void *to, const struct http_passage *p, const struct request *r, struct ask *a,
                struct arena *text);
    /* The head that goes to the client: its fields may be changed. True: as above. */
    bool (*answer)(void *to, const struct http_passage *p, const struct request *r,
                   struct answer *a, struct arena *text);
    /* Such a body, whole: adds what goes on instead; nothing: it goes on as it is. A body of
     * more than HTTP_RELAY_HELD_MAX bytes is not waited for and not told here. */
    void (*ask_body)(void *to, const struct http_passage *p, const struct request *r,
                     struct str body, struct buf *out);
    void (*answer_body)(void *to, const struct http_passage *p, const struct request *r,
                        struct str body, struct buf *out);
};

struct http_relay_config {
    const struct http_relay_changes *changes; /* borrowed; may be NULL */
    void *changes_to;
    struct http_server_config listen;
    struct http_client_config server; /* the URL is the target */
    const struct http_gate *gate;     /* borrowed for the relay's life */
    bool keep_host;                   /* send the server the client's Host */
    const char *base;                 /* see above; borrowed for the relay's life; or NULL */
};

/* Listens from now on. ERR_USAGE: the URL, a header or the address cannot be used; ERR_IO:
 * the address is not to be had. */
bool http_relay_open(struct http_relay **out, struct loop *l,
                     const struct http_relay_config *config,
                     const struct http_relay_events *events, void *to,
                     struct err *e) MUST_CHECK;

const struct url_authority *http_relay_at(const struct http_relay *r); /* borrowed */
size_t http_relay_open_count(const struct http_relay *r);              /* requests under way */

/* Takes no more requests; what is under way has `grace_ms`. Calls `done` once nobody is
 * left, not before this returns. */
void http_relay_stop(struct http_relay *r, uint64_t grace_ms, void (*done)(void *to), void *to);

/* Now. What is under way has its `end` event; no other comes. NULL is fine. */
void http_relay_close(struct http_relay *r);

#endif

/* engine/server-link.h - a server on stdio and those who ask it over HTTP: what it was asked
 * in which exchange, and in which of them what it says belongs.
 *
 * The server has one stream for everything, its clients have one for each request. A link of
 * one client changes nothing in a message but line breaks. A shared one serves any number of
 * clients who know nothing of each other and may use the same ids: each request goes to the
 * server under a number of ours, its progress, cancellation and subscription with it, and what
 * comes back has the client's own again. Such clients cannot be asked anything, nor can one of
 * them take back what may be another's request: who leaves has done so.
 *
 * Does no I/O and has no time. What is handed out as text lives until the next call. */
#ifndef ENGINE_SERVER_LINK_H
#define ENGINE_SERVER_LINK_H

#include "base/buf.h"
#include "base/map.h"
#include "mcp/message.h"

/* A request that the server has not answered. */
struct server_call {
    struct server_call *before, *after;
    uint64_t number; /* under which it is asked, if the link is shared */
    uint64_t exchange;
    struct str id;                /* the client's, as JSON */
    struct str token;             /* its progress token, as JSON; empty: none */
    struct str id_key, token_key; /* what makes both the same as others */
    struct str method;
    bool logs;      /* it says which log messages it wants */
    bool cancelled; /* by its client, who may not want to hear of it any more */
};

struct server_link {
    bool shared;
    struct server_call *first, *last; /* the oldest first */
    size_t count;
    struct map numbers; /* to the calls of a shared link */
    uint64_t asked;     /* ever */
    struct buf text;
    struct arena arena; /* for one message */
};

void server_link_init(struct server_link *l, bool shared);
void server_link_release(struct server_link *l);

/* A request of a client's; what is to be sent for it. */
struct str server_link_ask(struct server_link *l, uint64_t exchange,
                           const struct mcp_message *m);

/* How many requests there are in `body`, a message or an array of them. */
size_t server_link_asks(struct json_val body, struct arena *a);

/* Whether all who read `body`, a message or an array of them, read the same ids and tokens in
 * it: what a parser may take for another id would be answered to somebody else. */
bool server_link_is_clear(struct json_val body, struct arena *a);

/* Anything else that a client says; empty: it is not for the server. */
struct str server_link_tell(struct server_link *l, const struct mcp_message *m);

enum server_said_to {
    SAID_TO_NOBODY,
    SAID_TO_CALL,   /* it belongs to `call` */
    SAID_TO_CLIENT, /* it is for the one client; of a link that is not shared */
    SAID_TO_US,     /* `text` is what the server is to be answered */
};

struct server_said {
    enum server_said_to to;
    struct server_call *call;
    struct str text;
    bool last;  /* nothing more comes for the call: server_link_done() is due */
    bool asks;  /* the client has to answer it */
    bool apart; /* it is about no request in particular, whatever is open */
};

/* Something that the server says. */
struct server_said server_link_hear(struct server_link *l, const struct mcp_message *m);

void server_link_done(struct server_link *l, struct server_call *c);

/* Nobody waits any longer for what was asked in an exchange. Drops one call; the cancellation
 * for the server, which is empty when none is left. */
struct str server_link_cancel(struct server_link *l, uint64_t exchange);

#endif

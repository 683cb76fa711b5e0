/* transport/http-client.h - requests to the one server we were told of, over HTTP/1.1.
 *
 * What is asked goes out as it is given and what is answered comes in as it is said:
 * header lines in their order, duplicates and spelling kept; nothing is followed, decoded,
 * remembered or added but what is named here. A server may be silent for as long as it
 * likes; only connecting to it has a limit.
 *
 * No request is ever sent twice: a connection that the server drops without an answer is
 * an error, and the caller's to tell. A connection is used again only for the lane it was
 * made for, so that what one client of ours left on it never reaches another; one that was
 * idle for longer than servers usually wait is not used again but closed.
 *
 * Knows no MCP and no client of ours. */
#ifndef TRANSPORT_HTTP_CLIENT_H
#define TRANSPORT_HTTP_CLIENT_H

#include "loop/loop.h"
#include "transport/dial.h"
#include "wire/ask.h"
#include "wire/reply.h"
#include "wire/url.h"

struct http_client;
struct http_transfer;

struct http_client_config {
    struct str url;      /* of the server: where to connect to; its path is not looked at */
    struct fields extra; /* sent with every request, instead of those of the same name */
    struct str cacert;   /* a file of certificates to trust instead of the system's; or none */
    unsigned connect_ms; /* how long connecting may take; 0: the usual 30 s */
};

/* Connects to nobody yet; everything is copied. Proxies are those of the environment. What
 * stands before '@' in the URL is sent as Authorization, unless `extra` has that. ERR_USAGE
 * for a URL or header that cannot be used; a file of certificates is read when somebody is
 * connected to. */
bool http_client_new(struct http_client **out, struct loop *l,
                     const struct http_client_config *config, struct err *e) MUST_CHECK;

/* Every transfer must be closed; NULL is fine. */
void http_client_free(struct http_client *c);

const struct url *http_client_url(const struct http_client *c); /* borrowed */

/* Why there is no answer, or not all of it. */
enum http_fault {
    HTTP_UNKNOWN_HOST = DIAL_UNKNOWN_HOST,
    HTTP_UNREACHABLE = DIAL_UNREACHABLE,
    HTTP_REFUSED = DIAL_REFUSED,
    HTTP_TIMEOUT = DIAL_TIMEOUT,
    HTTP_TLS = DIAL_TLS,
    HTTP_PROXY = DIAL_PROXY,
    HTTP_SCARCE = DIAL_SCARCE,
    HTTP_CLOSED = DIAL_FAULTS, /* it closed the connection without an answer */
    HTTP_CUT,                  /* the answer has begun, and is not whole */
    HTTP_INVALID,              /* what it says is not HTTP */
};

struct http_events {
    /* The head of the answer, borrowed for the event; 1xx are not told. `body` is all of its
     * body, if that has a length and came along: no `data` comes then. Else it is empty. */
    void (*head)(void *to, const struct reply *head, struct str body);
    void (*data)(void *to, struct str bytes); /* some of the answer's body; borrowed */
    /* All that was queued has been taken. May be NULL. */
    void (*drained)(void *to);
    /* The answer is whole; what of the body was not sent yet is not wanted. Once, last. */
    void (*whole)(void *to);
    /* It will never be; `why` is for people. Once, last, never before
     * http_transfer_start() returns. */
    void (*failed)(void *to, enum http_fault fault, const struct err *why);
};

/* Asks. `lane` says for whom: only transfers of the same one share connections. Everything
 * is copied but `events`. The target is a path with its query, or '*'; a request without a
 * Host gets the server's own. A transfer may be closed in any event. */
struct http_transfer *http_transfer_start(struct http_client *c, uint64_t lane,
                                          const struct ask *ask,
                                          const struct http_events *events, void *to);

/* Some of the body, exactly as much as the plan says in all; what the server does not take
 * is queued, before there is a connection, too. What is sent after the end is dropped. */
void http_transfer_send(struct http_transfer *t, struct str bytes);
void http_transfer_finish(
    struct http_transfer *t); /* that was all; without a body not needed */

size_t http_transfer_queued(const struct http_transfer *t); /* bytes yet to be taken */

/* Whether to go on reading the answer. On, to begin with. */
void http_transfer_read(struct http_transfer *t, bool on);

/* No event comes after this. One that is not over is aborted: the server sees the end of
 * its connection now. NULL is fine. */
void http_transfer_close(struct http_transfer *t);

/* A lane has ended: what it left idle is closed. Transfers of it may go on. */
void http_client_leave(struct http_client *c, uint64_t lane);

#endif

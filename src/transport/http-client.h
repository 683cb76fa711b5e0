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
#include "wire/body.h"
#include "wire/fields.h"
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
 * for a URL or header that cannot be used, ERR_INPUT for a file without certificates. */
bool http_client_new(struct http_client **out, struct loop *l,
                     const struct http_client_config *config, struct err *e) MUST_CHECK;

/* Every transfer must be closed; NULL is fine. */
void http_client_free(struct http_client *c);

const struct url *http_client_url(const struct http_client *c); /* borrowed */

struct http_ask {
    struct str method; /* a token */
    struct str target; /* '/path?query', or '*' */
    /* All that the client of ours sent: what is between neighbours only (Connection and
     * what it names, Expect, Transfer-Encoding, Content-Length and the like) is left out.
     * Without a Host it is the server's own. */
    struct fields fields;
    struct body_plan body;
};

/* The head of an answer; borrowed for the event. 1xx are not told. */
struct http_answer {
    unsigned status;
    struct str phrase;           /* may be empty */
    const struct fields *fields; /* all of them */
    /* What is to come. BODY_LENGTH with the answer to HEAD, or 304, is what the head says;
     * `none` tells that nothing comes all the same. `until_close`: as much as there is. */
    struct body_plan body;
    bool none, until_close;
};

/* Why there is no answer, or not all of it. */
enum http_fault {
    HTTP_UNKNOWN_HOST, /* its name has no address */
    HTTP_UNREACHABLE,  /* nobody there, or no way to it */
    HTTP_REFUSED,      /* somebody there, but not on this port */
    HTTP_TIMEOUT,      /* connecting took too long */
    HTTP_TLS,          /* no secure connection, or not to whom we want */
    HTTP_PROXY,        /* the proxy does not let us */
    HTTP_CLOSED,       /* it closed the connection without an answer */
    HTTP_CUT,          /* the answer has begun, and is not whole */
    HTTP_INVALID,      /* what it says is not HTTP */
};

struct http_events {
    void (*head)(void *to, const struct http_answer *a);
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
 * is copied but `events`. A transfer may be closed in any event. */
struct http_transfer *http_transfer_start(struct http_client *c, uint64_t lane,
                                          const struct http_ask *ask,
                                          const struct http_events *events, void *to);

/* Some of the body, exactly as much as the plan says in all; what the server does not take
 * is queued, before there is a connection, too. What is sent after the end is dropped. */
void http_transfer_send(struct http_transfer *t, struct str bytes);
void http_transfer_finish(struct http_transfer *t); /* that was all; without a body not needed */

size_t http_transfer_queued(const struct http_transfer *t); /* bytes yet to be taken */

/* Whether to go on reading the answer. On, to begin with. */
void http_transfer_read(struct http_transfer *t, bool on);

/* No event comes after this. One that is not over is aborted: the server sees the end of
 * its connection now. NULL is fine. */
void http_transfer_close(struct http_transfer *t);

/* A lane has ended: what it left idle is closed. Transfers of it may go on. */
void http_client_leave(struct http_client *c, uint64_t lane);

#endif

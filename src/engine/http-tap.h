/* engine/http-tap.h - what passes over HTTP, as records.
 *
 * Takes the heads and bodies of exchanges as they pass, each piece before it is passed on,
 * and makes of them the lines that a replay can rebuild the server from: who asked what in
 * which session, how it was answered, every event of every stream with its number, and how
 * it ended. Messages go through a tap, which numbers and times them. Does no I/O.
 *
 * Of HTTP+SSE a session is the stream of a GET: it begins with the event that tells where
 * messages to it are posted, and what is posted there belongs to it.
 *
 * What is compressed is unpacked for the copy. What is not on the MCP endpoint (logins) has
 * its head recorded, never a body or a query. Bodies and events of more than `max` bytes
 * are not kept; a gap stands in their place.
 *
 * That a record could not be kept is remembered and no reason to stop: http_tap_trouble()
 * tells. */
#ifndef ENGINE_HTTP_TAP_H
#define ENGINE_HTTP_TAP_H

#include "engine/endpoints.h"
#include "engine/http-secrets.h"
#include "engine/tap.h"
#include "wire/place.h"

struct http_tap {
    struct tap *tap; /* borrowed */
    size_t max;
    struct buf spare;         /* memory for the next body */
    struct learnt *learnt;    /* secrets that pass are told to it; borrowed */
    struct learnt_grip own;   /* those of the server's own address */
    bool hides_addresses;     /* so are those of other addresses */
    const struct url *server; /* borrowed; NULL: no stream tells where to post */
    struct session_ids sessions;
    struct endpoints endpoints;
    struct recall events; /* session and id of an event: where it was, and its message */
    struct buf headers;   /* of the head that is being looked at, as JSON */
    uint64_t exchanges, streams;
    uint64_t too_long; /* bodies and events that were, for us */
    bool failed;       /* a record was not kept; */
    struct err why;    /* the first time */
    struct err
        packed; /* ERR_OK, or why a packed answer could not be unpacked, the first time */
};

/* `learnt` is that of the redactor on the way to the file: without it secrets that are
 * repeated reach that. NULL: there is no file. */
void http_tap_init(struct http_tap *t, struct tap *tap, size_t max, struct learnt *learnt);
void http_tap_release(struct http_tap *t);

/* What is secret of addresses is hidden, of the server's own and of those that are asked for.
 * That of a session's always is. */
void http_tap_hide_addresses(struct http_tap *t, struct str server);

/* Whether everything was kept since the last time; else `*e` says why not. */
bool http_tap_trouble(struct http_tap *t, struct err *e);

struct http_tap_request {
    uint64_t conn;
    struct str method, path, query; /* `query.at` NULL: none */
    const struct fields *fields;
    enum place host, origin;
    bool endpoint; /* it is for the MCP endpoint */
    bool body;     /* its head says that one follows */
};

/* Whether a request is a message to a session of HTTP+SSE, be it one that has ended. */
bool http_tap_is_posted(const struct http_tap *t, struct str method, struct str path,
                        struct str query);

/* One request and its answer. Lives until http_tap_end(). */
struct http_seen;

struct http_seen *http_tap_begin(struct http_tap *t, const struct http_tap_request *q);

/* Of the request: a piece of its body, and that it is whole. An answer may begin before that:
 * what was sent stands behind its head then, as far as it went. */
void http_tap_sent(struct http_seen *x, struct str bytes);
void http_tap_sent_all(struct http_seen *x, struct tap_time now);

/* The id of the request that it sent, as JSON; empty: it sent none, or others with it.
 * Borrowed until its answer begins. */
struct str http_tap_asks(const struct http_seen *x);

enum http_tap_by { BY_SERVER, BY_CLIENT, BY_ERROR, BY_MCPREEL };

/* The head of the answer: BY_SERVER or BY_MCPREEL. */
void http_tap_answer(struct http_seen *x, unsigned status, const struct fields *fields,
                     enum http_tap_by by, struct tap_time now);
void http_tap_answered(struct http_seen *x, struct str bytes, struct tap_time now);

/* The answer is whole. Need not be said, but to have what it says told before its end is. */
void http_tap_answered_all(struct http_seen *x, struct tap_time now);

/* It is over. `clean`: the answer was whole; `why` says what went wrong, if something did.
 * Gives `x` back. */
void http_tap_end(struct http_seen *x, enum http_tap_by by, bool clean, struct str why,
                  struct tap_time now);

#endif

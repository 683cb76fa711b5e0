/* engine/http-heard.h - the answer to one of our requests over HTTP, taken in as it comes:
 * one body, or a stream of events that may break off and be gone on with.
 *
 * Where a stream can be gone on with, and when, and what has come of it, is remembered across
 * answers. Knows nothing of what was asked. */
#ifndef ENGINE_HTTP_HEARD_H
#define ENGINE_HTTP_HEARD_H

#include "base/buf.h"
#include "engine/http-seen.h"
#include "wire/fields.h"
#include "wire/media.h"
#include "wire/sse-reader.h"
#include "wire/url.h"

struct http_heard {
    unsigned status; /* 0: there is no answer yet */
    enum media media;
    bool packed;          /* although nobody asked for that: it cannot be read */
    struct buf body;      /* of an answer that is no stream */
    struct buf elsewhere; /* where it says that the server is instead, for people; or empty */
    struct buf login;     /* what it says about the login it wants, for people; or empty */
    bool names_issuer;    /* and it says where to ask who gives one */
    struct sse_reader *sse;
    bool goes_on;  /* with an answer that broke off */
    uint64_t news; /* so many of its events, so far, had data, and a new place for it */
    bool moved;    /* it has told a place to go on from that is another */

    /* Across answers: */
    struct buf last_event; /* the id of the last event that had one that can be told */
    int64_t retry_ms;      /* how long to wait before going on; -1: not said */
    struct http_seen seen;
};

/* An event with data; `name` is "message" if it has no other. `repeated`: an answer that broke
 * off had it already, with this data. */
typedef void http_heard_fn(void *to, struct str name, struct str data, bool repeated);

void http_heard_init(struct http_heard *h);
void http_heard_release(struct http_heard *h);

void http_heard_again(struct http_heard *h); /* there will be another answer */

/* `server` is where it was asked for; it has a path. */
void http_heard_head(struct http_heard *h, unsigned status, const struct fields *fields,
                     const struct url *server);

/* `h` has to outlive the call, whatever `fn` does. */
void http_heard_data(struct http_heard *h, struct str bytes, http_heard_fn *fn, void *to);

static inline bool http_heard_is_stream(const struct http_heard *h)
{
    return h->sse != NULL;
}

static inline bool http_heard_is_fine(const struct http_heard *h)
{
    return h->status >= 200 && h->status < 300;
}

/* Something long is being received, of which as much is there as takes its time. */
bool http_heard_is_long(const struct http_heard *h);

/* Why it is no answer to anything, for people. */
void http_heard_complain(const struct http_heard *h, struct buf *to);

#endif

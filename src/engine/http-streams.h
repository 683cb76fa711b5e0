/* engine/http-streams.h - streams of events to clients on HTTP, which may break off and be
 * gone on with.
 *
 * A stream belongs to a session and goes out on one exchange at a time, or on none while its
 * client has not come back. If its events have ids, what was sent is kept for a while, also
 * when it is over, so that a client that lost some can have them again: of one stream
 * HTTP_STREAM_KEPT bytes, of all HTTP_STREAMS_KEPT, and of those that are over only the
 * latest HTTP_STREAMS_OVER. */
#ifndef ENGINE_HTTP_STREAMS_H
#define ENGINE_HTTP_STREAMS_H

#include "base/buf.h"
#include "base/map.h"
#include "engine/step.h"

#define HTTP_STREAM_KEPT ((size_t)1 << 20)
#define HTTP_STREAMS_KEPT ((size_t)64 << 20)
#define HTTP_STREAMS_OVER ((size_t)256)

struct http_stream {
    uint64_t number;   /* in the ids of its events */
    uint64_t session;  /* whose it is; 0: nobody's in particular */
    uint64_t exchange; /* on which it goes out; 0: none */
    bool has_ids;
    bool for_all; /* it is of no call; who makes it says so */
    bool over;    /* nothing more will come */
    uint64_t events;
    size_t messages;
    struct http_event *first, *last; /* that are kept */
    size_t kept;
    struct http_stream *before, *after; /* among those that are over */
};

struct http_streams {
    struct action_sink *out;             /* borrowed */
    struct map open;                     /* number to struct http_stream */
    uint64_t count;                      /* ever */
    struct http_stream *oldest, *latest; /* that are over */
    size_t over;
    size_t kept; /* bytes, of all */
    struct buf text;
};

void http_streams_init(struct http_streams *s, struct action_sink *out);
void http_streams_release(struct http_streams *s);

/* The exchange has been opened for it. */
struct http_stream *http_streams_new(struct http_streams *s, uint64_t session,
                                     uint64_t exchange, bool has_ids);
void http_streams_drop(struct http_streams *s, struct http_stream *x);

/* An event without a message, by whose id the client can come back. */
void http_streams_prime(struct http_streams *s, struct http_stream *x, int64_t retry_ms);
void http_streams_send(struct http_streams *s, struct http_stream *x, struct str message);

/* The same, as an event of another name, which tells when to come again (-1: it does not). */
void http_streams_tell(struct http_streams *s, struct http_stream *x, struct str message,
                       struct str name, int64_t retry_ms);

/* Ends the exchange it goes out on, but not the stream. */
void http_streams_hang_up(struct http_streams *s, struct http_stream *x);

/* The same, for the client to come back; so that one who is away, and comes too late for it, is
 * sent away here once all the same. Nothing happens before the first event: nobody could come
 * back to that. */
void http_streams_cut(struct http_streams *s, struct http_stream *x);

/* Nothing more will come. The caller forgets it: if it has no ids, it is gone. */
void http_streams_finish(struct http_streams *s, struct http_stream *x);

/* The stream and the number of an event, by its id, if it is of that session. */
struct http_stream *http_streams_find(const struct http_streams *s, uint64_t session,
                                      struct str id, uint64_t *n);

/* Goes on after an event, on another exchange that has been opened for it; which is over at
 * once if the stream is, or was to be cut. */
void http_streams_resume(struct http_streams *s, struct http_stream *x, uint64_t exchange,
                         uint64_t after);

#endif

/* mcphttp/event-streams.h - SSE streams to HTTP clients, which can be resumed.
 *
 * A stream belongs to a session and is sent on one exchange at a time, or on none while its
 * client is disconnected. If its events have ids, sent events are kept for Last-Event-ID, also
 * after the stream ended.
 *
 * Limits: EVENT_STREAM_KEPT_MAX bytes per stream, EVENT_STREAMS_KEPT_MAX in all, and the latest
 * EVENT_STREAMS_ENDED_MAX streams that ended. */
#ifndef MCPHTTP_EVENT_STREAMS_H
#define MCPHTTP_EVENT_STREAMS_H

#include "base/buf.h"
#include "base/map.h"
#include "engine/engine.h"

#define EVENT_STREAM_KEPT_MAX ((size_t)1 << 20)
#define EVENT_STREAMS_KEPT_MAX ((size_t)64 << 20)
#define EVENT_STREAMS_ENDED_MAX ((size_t)256)

struct event_stream {
    uint64_t number;        /* first part of its event ids */
    uint64_t session;       /* 0: none */
    uint64_t exchange;      /* sent on it now; 0: disconnected */
    bool has_ids;           /* events have ids and are kept */
    bool is_session_stream; /* it belongs to no call; set by the caller */
    bool ended;             /* nothing more will be sent */
    uint64_t event_count;   /* second part of the last event id */
    size_t message_count;
    struct sent_event *first_kept, *last_kept;
    size_t kept_bytes;
    struct event_stream *ended_before, *ended_after; /* list of ended streams */
};

struct event_streams {
    struct action_sink *out;                          /* borrowed */
    struct map by_number;                             /* number to struct event_stream */
    uint64_t created;                                 /* number of the last stream */
    struct event_stream *oldest_ended, *latest_ended; /* list of ended streams */
    size_t ended_count;
    size_t kept_bytes; /* of all streams */
    struct buf text;   /* the event being composed */
};

void event_streams_init(struct event_streams *s, struct action_sink *out);
void event_streams_release(struct event_streams *s);

/* Adds a stream on `exchange`, which the caller has opened. */
struct event_stream *event_streams_add(struct event_streams *s, uint64_t session,
                                       uint64_t exchange, bool has_ids);
void event_streams_remove(struct event_streams *s, struct event_stream *x);

/* Sends an event without data, whose id lets the client resume. `retry_ms` -1: none. */
void event_streams_send_priming(struct event_streams *s, struct event_stream *x,
                                int64_t retry_ms);

/* Sends an event with a message: named "message" without `retry`, or as given. */
void event_streams_send(struct event_streams *s, struct event_stream *x, struct str message);
void event_streams_send_named(struct event_streams *s, struct event_stream *x,
                              struct str message, struct str name, int64_t retry_ms);

/* Ends the exchange, but not the stream. */
void event_streams_close_exchange(struct event_streams *s, struct event_stream *x);

/* Ends the exchange so that the client reconnects. If the client is disconnected now, it will
 * be disconnected once at this point when it resumes. Does nothing before the first event,
 * because the client could not resume. */
void event_streams_disconnect(struct event_streams *s, struct event_stream *x);

/* Ends the stream and its exchange. The caller must not use `x` any more: without ids it is
 * freed. */
void event_streams_end(struct event_streams *s, struct event_stream *x);

/* Finds the stream of an event id and sets `*n` to the number of the event. NULL: unknown, or
 * of another session. */
struct event_stream *event_streams_find(const struct event_streams *s, uint64_t session,
                                        struct str id, uint64_t *n);

/* Sends the events after event `after` on `exchange`, which the caller has opened, and
 * continues there. Ends the exchange if the stream has ended, or at a recorded disconnect. */
void event_streams_resume(struct event_streams *s, struct event_stream *x, uint64_t exchange,
                          uint64_t after);

#endif

/* replay/http-replay.h - replays a recording as an HTTP server for any number of clients.
 *
 * An engine: HTTP requests go in, HTTP responses and SSE streams come out. A client that
 * initializes gets a session of its own if the recorded server had sessions or was not recorded
 * over HTTP; all others share one session. replay/session.h decides what is answered; this
 * module decides how: as JSON or SSE as recorded, unless the client does not accept that; with
 * which status; with priming events and closed streams if the client's version has them; and on
 * which stream other messages go.
 *
 * A GET without session id at HTTP_INDEX_SSE_PATH, or at the recorded HTTP+SSE path, opens an
 * HTTP+SSE stream (mcphttp/legacy-sse.h). A POST to the recorded path is rejected if the
 * recorded server did so.
 *
 * With `options.replay.mcp_recorder_errors`, session ids are assigned but neither required nor
 * checked, and every DELETE gets 200.
 *
 * At most HTTP_REPLAY_CLIENTS_MAX sessions: a new one ends the oldest, whose client then has to
 * initialize again. The path of a request does not matter, except below /.well-known/.
 *
 * Does no I/O. Owns sessions, calls and streams; borrows both indexes and `out`. */
#ifndef REPLAY_HTTP_REPLAY_H
#define REPLAY_HTTP_REPLAY_H

#include "base/line-queue.h"
#include "index/http-index.h"
#include "index/index.h"
#include "mcphttp/event-streams.h"
#include "mcphttp/http-response.h"
#include "mcphttp/legacy-sse.h"
#include "replay/replay.h"

#define HTTP_REPLAY_CLIENTS_MAX ((size_t)32768)

struct http_replay_options {
    struct replay_options replay;
    void (*random)(void *to, size_t size); /* unpredictable bytes, for session ids */
};

/* A client with a session, or all clients that share one. */
struct http_replay_client {
    uint64_t session_number; /* 0: the shared one */
    struct replay_client *replay_client;
    struct session *session;
    char id[SESSION_ID_LEN + 2];
    struct event_stream *get_stream; /* for messages that belong to no call; NULL: none */
    struct message_queue undelivered;
    struct legacy_sse_session *sse_session; /* of an HTTP+SSE client; else NULL */
};

/* An HTTP exchange that has not ended. */
struct http_replay_call {
    uint64_t exchange;
    struct http_replay_client *client;
    struct event_stream *stream; /* NULL: not begun */
    const struct response_shape *shape;
    const struct http_stream_event *next_stream_event; /* NULL: none is left */
    size_t pending;                                    /* responses to send; 0: a GET */
    bool is_get;
    bool stateless, batch;
    bool accepts_json, accepts_sse;
    bool client_closed;         /* set when the client closes the exchange */
    enum mcp_version version;   /* protocol version of its client */
    struct buf batch_responses; /* collected responses of a batch */
};

struct http_replay {
    struct action_sink sink; /* gets the actions of the sessions */
    struct action_sink *out; /* borrowed */
    struct http_replay_options options;
    const struct http_index *http_index; /* borrowed */
    struct request_rules rules;
    struct replay replay;
    struct session_ids session_ids;
    struct map clients; /* session to struct http_replay_client */
    struct http_replay_client *shared_client;
    struct http_replay_client *current_client; /* set while its session is called; NULL: none */
    struct http_replay_client *last_passthrough_client; /* of the last one forwarded */
    uint64_t unaskable_exchange;          /* its client cannot get a server request; 0: none */
    struct map calls;                     /* exchange to struct http_replay_call */
    struct http_replay_call *newest_call; /* NULL: it has ended */
    struct map timers;                    /* timer to session + 1 */
    struct event_streams streams;
    struct legacy_sse sse_sessions; /* `user` is a struct http_replay_client */
    struct json json;               /* the current request */
    struct arena arena;             /* for the current request */
    struct arena lifetime_arena;    /* freed with the replay */
    struct http_response response;
    uint64_t rejected;  /* invalid requests that were rejected */
    uint64_t anomalies; /* requests that got a recorded anomaly */
    int64_t now_us;
};

/* `http_index` was the sink before `idx` when the recording was read. */
void http_replay_init(struct http_replay *m, const struct index *idx,
                      const struct http_index *http, struct fuzzy *fuzzy,
                      const struct http_replay_options *options, struct action_sink *out);
void http_replay_release(struct http_replay *m);

/* Takes EVENT_HTTP_REQUEST, EVENT_CLIENT_CLOSED, EVENT_TIMER and EVENT_UPSTREAM_…;
 * EVENT_INPUT_CLOSED ends the replay. */
void http_replay_step(struct http_replay *m, const struct event *ev);

/* GET streams: for messages that belong to no call. Each client has one, the first that it
 * opened; of clients that share a session one gets them. Without a stream, messages wait in a
 * bounded queue (base/line-queue.h). Used by http-replay.c; declared here for its tests. */

/* Begins the GET stream of a call. */
void http_replay_add_get_stream(struct http_replay *m, struct http_replay_call *call);

/* `as`: the recorded SSE event. A message that had to wait is sent with the default event. */
void http_replay_send_on_get_stream(struct http_replay *m, struct http_replay_client *c,
                                    struct str text, const struct index_sse_event *as);

/* To be called when the client has closed the stream. A stream with ids is kept, so that the
 * client can resume it. */
void http_replay_leave_stream(struct http_replay *m, struct http_replay_client *c,
                              struct event_stream *x);

#endif

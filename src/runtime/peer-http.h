/* runtime/peer-http.h - connects to an MCP server at a URL, for a caller that sends and
 * receives JSON-RPC messages.
 *
 * Runs the engine mcphttp/client and executes its HTTP requests. With an http_recorder, every
 * piece is recorded before it is sent or delivered. */
#ifndef RUNTIME_PEER_HTTP_H
#define RUNTIME_PEER_HTTP_H

#include "loop/timer.h"
#include "mcphttp/client.h"
#include "record/http-recorder.h"
#include "runtime/driver.h"
#include "runtime/remote-config.h"
#include "transport/http-client.h"

struct peer_http_events {
    void (*message)(void *to, struct str message); /* without newline */
    void (*commit_record)(
        void *to); /* a piece was recorded and is about to go on; may be NULL */
    /* A message got no response. Its sender has its error already. May be NULL. */
    void (*lost)(void *to, struct str why);
    void (*done)(void *to); /* after peer_http_end() or _stop(), once all is done; once, last */
};

struct peer_http {
    struct driver driver;
    struct mcp_client mcp_client;
    struct http_client *http_client;
    struct map exchanges; /* number to struct peer_http_exchange */
    struct peer_http_exchange
        *ended_exchange; /* set while the engine handles its end; else NULL */
    const struct peer_http_events *events;
    void *to;
    struct http_recorder *recorder; /* borrowed; NULL: nothing is recorded */
    struct recorder_time (*now)(void *to);
    struct str unreachable_reason; /* set while the engine handles the failure of a message
                                      without a response; else empty */
    bool reading_paused;           /* set by peer_http_read(false) */
};

/* Opens no connection yet. ERR_USAGE for an invalid URL or header. */
bool peer_http_open(struct peer_http *s, const struct app *app, struct loop *l,
                    const struct remote_config *remote, const struct peer_http_events *events,
                    void *to, struct err *e) MUST_CHECK;

/* Records all exchanges. Call it before the first message. `now` returns the time of a
 * record. */
void peer_http_set_recorder(struct peer_http *s, struct http_recorder *recorder,
                            struct recorder_time (*now)(void *to));

void peer_http_release(struct peer_http *s); /* aborts open exchanges */

void peer_http_send(struct peer_http *s, struct str line);

/* The first sends nothing more but waits for responses. The second does not wait: the client
 * does not want them or, with a reason in `why`, cannot get them. */
void peer_http_end(struct peer_http *s);
void peer_http_stop(struct peer_http *s, struct str why);

size_t peer_http_queued(const struct peer_http *s); /* bytes not sent yet */
void peer_http_read(struct peer_http *s, bool on);  /* pauses or resumes reading responses */

/* An HTTP server as the upstream of an engine: its messages become events like those of a stdio
 * server (runtime/peer-stdio.h).
 *
 * It never closes by itself: a request without a response is answered with an error. If a
 * message gets no response, or the server ends the session, the engine gets EVENT_UPSTREAM_LOST
 * and starts a new session with its next request. The log has these failures only with -v,
 * because the engine reports them once. */

struct peer_http_lines {
    struct driver_lines lines;
    struct app app; /* the engine's, with another log */
    struct log log;
    struct peer_http peer;
    struct timer *send_timer;  /* fires when the engine has handled its event */
    struct buf send_queue;     /* lines to be sent then */
    void (*stopped)(void *to); /* called once after peer_http_lines_stop() */
    void *to;
    bool started;
    bool session_ended; /* the server has ended the session, and the engine knows */
    bool loss_reported; /* the engine knows that the latest message was lost */
};

/* Messages become events of the kind `kind`. */
void peer_http_lines_init(struct peer_http_lines *s, struct driver *driver,
                          enum event_kind kind, void (*stopped)(void *to), void *to);
void peer_http_lines_release(struct peer_http_lines *s);

/* Call it once at most. `remote` is borrowed during the call. */
bool peer_http_lines_start(struct peer_http_lines *s, struct loop *l,
                           const struct remote_config *remote, struct err *e) MUST_CHECK;

/* Queues a message; may be called from the engine's step. Dropped if not started. */
void peer_http_lines_send(struct peer_http_lines *s, struct str message);

/* Sends nothing more and waits for nothing. False if not started; else `stopped` will be
 * called. */
bool peer_http_lines_stop(struct peer_http_lines *s);

#endif

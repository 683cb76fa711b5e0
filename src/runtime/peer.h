/* runtime/peer.h - an MCP server that mcpreel talks to as its client, over any transport.
 *
 * The server is a process that speaks on stdio, or an HTTP server at a URL. Each transport is
 * one function table (runtime/peer-stdio.h, runtime/peer-http.h); peer_start() chooses it, and
 * the caller does not need to know which one it is. */
#ifndef RUNTIME_PEER_H
#define RUNTIME_PEER_H

#include "base/buf.h"
#include "loop/loop.h"
#include "runtime/app.h"
#include "runtime/remote-config.h"
#include "runtime/traffic-recorder.h"

/* Where the server is: exactly one of `argv` and `remote`. Borrowed as long as the peer. */
struct peer_target {
    char *const *argv;                  /* the command */
    char *const *env;                   /* its environment; NULL: ours */
    const char *cwd;                    /* its folder; NULL: ours */
    const struct remote_config *remote; /* the URL */
};

/* Returns the command's name or the URL, for messages. */
const char *peer_target_name(const struct peer_target *target);

enum { PEER_STDERR_MAX = 4096 }; /* bytes of `last_stderr` */

/* How the server behaves and ends; up to date at any time. */
struct peer_outcome {
    /* A process. The first three are valid once it has exited: */
    int exit_code, signum;  /* as of struct stdio_server */
    struct buf exit_text;   /* the same as a sentence */
    struct buf stop_reason; /* why mcpreel terminated it, as a sentence; else empty */
    struct buf last_stderr; /* the last line of its stderr so far */

    /* HTTP: */
    bool unanswered;        /* requests were sent, and none of them got an HTTP response */
    struct buf lost_reason; /* why the latest undelivered message was lost; else empty */
    struct buf redirect;    /* where the latest message was redirected to, as a sentence; else
                             * empty */
    unsigned error_status;  /* HTTP status of the latest failure, if it was one of 400 or more;
                             * 0: there was no failure, or it was no HTTP response
                             */
};

struct peer_events {
    void (*message)(void *to, struct str message);  /* a line without newline; any text */
    void (*too_long)(void *to, uint64_t bytes);     /* a line over LIMIT_MESSAGE was dropped */
    void (*stderr_text)(void *to, struct str text); /* complete lines of a process's stderr */
    /* A message could not be delivered, or the server ended the session. The error response of
     * a request that is affected follows. A process does not lose messages. */
    void (*lost)(void *to, struct str why);
    void (*progress)(void *to); /* an HTTP exchange went on: peer_queued() may have changed */
    void (*closed)(void *to);   /* no `message` follows; once */
    void (*exited)(void *to);   /* after `closed`; once, last */
};

/* The owner of a peer. All pointers are borrowed as long as the peer; of the events only
 * `message` and `exited` must be there. */
struct peer_owner {
    struct loop *loop;
    const struct app *app;
    const struct peer_events *events;
    void *to;
    /* The owner runs an engine and calls peer_send() and peer_end() while that handles an
     * event: no `message` comes before they return. It reports failures itself, so that the
     * log has them only with -v. */
    bool in_engine;
    bool no_get_stream;        /* open no GET stream over Streamable HTTP */
    struct str reconnect_hint; /* how to get a new HTTP session; empty: initialize again */
    /* Records all traffic, under the connection number `conn`: a message before it is sent or
     * delivered, with HTTP its exchange, with a process also its start, exit and stderr. The
     * header must have been written before peer_start() of a process. NULL: nothing is
     * recorded. */
    struct traffic_recorder *recorder;
    uint64_t conn;
};

struct peer {
    const struct peer_transport *transport;
    struct peer_owner owner;
    struct peer_outcome outcome;
};

/* Starts the process; opens no HTTP connection yet. ERR_PEER if the process cannot be started,
 * with the errno in `*errnum`; ERR_USAGE for an invalid URL or header, with 0. */
bool peer_start(struct peer **out, const struct peer_target *target,
                const struct peer_owner *owner, int *errnum, struct err *e) MUST_CHECK;

/* Kills the process and aborts open exchanges. Not allowed in an event. NULL is fine. */
void peer_free(struct peer *p);

void peer_send(struct peer *p, struct str message); /* dropped after the end */

/* Sends nothing more after what is queued; `exited` will come. Closes the stdin of a process,
 * which has some time to exit. With `await`, open HTTP requests are awaited, else they are
 * aborted and queued ones dropped; then the HTTP session is deleted. */
void peer_end(struct peer *p, bool await);

/* Ends it at once; `exited` will come. Terminates a process: `why`, if not empty, goes on from
 * its name and becomes the `stop_reason`. Aborts HTTP requests: `why`, if not empty, is the
 * error of those that are open. */
void peer_stop(struct peer *p, struct str why);

size_t peer_queued(const struct peer *p); /* bytes not sent yet */
void peer_read(struct peer *p, bool on);  /* pauses or resumes reading; a process is always
                                           * read (transport/stdio-server.h)
                                           */

/* The functions of a transport, as above. `read` may be NULL. */
struct peer_transport {
    void (*free)(struct peer *p);
    void (*send)(struct peer *p, struct str message);
    void (*end)(struct peer *p, bool await);
    void (*stop)(struct peer *p, struct str why);
    size_t (*queued)(const struct peer *p);
    void (*read)(struct peer *p, bool on);
};

/* For transports: the common part of a peer. */
void peer_init(struct peer *p, const struct peer_transport *transport,
               const struct peer_owner *owner);
void peer_release(struct peer *p);

/* For transports: call the owner, if it wants to know. */
void peer_report_lost(struct peer *p, struct str why);
void peer_report_closed(struct peer *p);

#endif

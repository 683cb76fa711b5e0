/* runtime/peer-stdio.h - runs MCP servers as child processes on stdio: one as the upstream of
 * an engine, or a pool of them by number. */
#ifndef RUNTIME_PEER_STDIO_H
#define RUNTIME_PEER_STDIO_H

#include "base/buf.h"
#include "base/map.h"
#include "runtime/driver.h"

/* One server. Its messages become events of the engine; its stderr goes to the log. */

struct peer_stdio_events {
    void (*closed)(void *to); /* it closed its stdout; once. May be NULL */
    /* It exited; once, last. `why` is a sentence with the last line of its stderr, valid until
     * peer_stdio_release(). */
    void (*exited)(void *to, struct str why);
};

struct peer_stdio {
    struct driver_lines lines;
    enum log_level stderr_level; /* level at which its stderr is logged */
    const struct peer_stdio_events *events;
    void *to;
    const char *name;
    struct stdio_server *child;
    struct buf exit_reason;
    bool exited;

    /* Valid once `exited`: */
    int exit_code, signum;  /* as of struct stdio_server */
    struct buf last_stderr; /* the last line of its stderr */
};

/* Messages become events of the kind `kind`. */
void peer_stdio_init(struct peer_stdio *s, struct driver *driver, enum event_kind kind,
                     enum log_level level, const struct peer_stdio_events *events, void *to);
void peer_stdio_release(struct peer_stdio *s); /* kills a running server */

/* Call it once at most. ERR_PEER if the server cannot be started. `argv` is borrowed. */
bool peer_stdio_start(struct peer_stdio *s, struct loop *l, char *const *argv,
                      struct err *e) MUST_CHECK;

void peer_stdio_send(struct peer_stdio *s, struct str message); /* dropped if it does not run */

/* The first closes its stdin; false if it does not run, else it will exit. The second
 * terminates it at once; it must be running. */
bool peer_stdio_end(struct peer_stdio *s);
void peer_stdio_stop(struct peer_stdio *s); /* its end is wanted now; it runs */

struct peer_stdio_observer {
    void (*started)(void *to, uint64_t number);
    void (*non_message)(void *to, uint64_t number, struct str bytes, struct str why);
    void (*stderr_text)(void *to, uint64_t number, struct str text);
    /* `why` is empty if it exited by itself. */
    void (*exited)(void *to, uint64_t number, int code, int signum, struct str why);
    void (*all_exited)(void *to); /* after peer_stdio_pool_finish(), when none is left */
};

struct peer_stdio_pool {
    struct driver *driver;
    struct loop *loop;
    char *const *argv; /* borrowed */
    const struct peer_stdio_observer *observer;
    void *to;
    struct map by_number; /* to struct peer_stdio_child */
    struct peer_stdio_child *exited;
    struct timer *free_timer;
    size_t queue_max; /* limit of unread bytes for one server */
    bool finishing;
};

void peer_stdio_pool_init(struct peer_stdio_pool *s, struct loop *l, struct driver *driver,
                          char *const *argv, const struct peer_stdio_observer *observer,
                          void *to);
void peer_stdio_pool_release(struct peer_stdio_pool *s); /* kills those that run */

/* ERR_PEER if it cannot be started; `*errnum` is the reason then. */
bool peer_stdio_pool_start(struct peer_stdio_pool *s, uint64_t number, int *errnum,
                           struct err *e) MUST_CHECK;

void peer_stdio_pool_send(struct peer_stdio_pool *s, uint64_t number, struct str message);
void peer_stdio_pool_end(struct peer_stdio_pool *s, uint64_t number);

/* Calls `all_exited` when the last server has exited, at once if there is none. */
void peer_stdio_pool_finish(struct peer_stdio_pool *s);

#endif

/* cmd/as-client.h - an engine as the client of a server that we start, from its
 * start to its end.
 *
 * What the server sends goes into the engine as events, what the engine wants goes
 * to the server; what it reports goes to the log, as does, at debug level, the
 * server's stderr. The session ends when the engine finishes, when the server does,
 * or when it takes too long. */
#ifndef CMD_AS_CLIENT_H
#define CMD_AS_CLIENT_H

#include "base/buf.h"
#include "cmd/alarms.h"
#include "cmd/app.h"
#include "engine/step.h"
#include "trace/intake.h"

typedef void as_client_step_fn(void *engine, const struct event *ev);

struct as_client {
    struct action_sink actions; /* what the engine is to be given as its sink */
    struct sink records;
    const struct app *app;
    as_client_step_fn *step;
    void *engine; /* borrowed */
    struct loop *loop;
    struct stdio_child *server;
    struct intake intake;
    struct alarms alarms;
    bool late;

    /* How it went: */
    int exit_code;                  /* the engine's; 0 unless it finished with another */
    int server_code, server_signal; /* as stdio_child has them */
    struct buf last_words;          /* the last line of the server's stderr */
};

void as_client_init(struct as_client *c, const struct app *app, as_client_step_fn *step,
                    void *engine);
void as_client_release(struct as_client *c);

/* Runs one session. ERR_PEER if the server cannot be started, or if the session is
 * not over after `limit_ms`. `argv` is borrowed. */
bool as_client_run(struct as_client *c, char *const *argv, uint64_t limit_ms,
                   struct err *e) MUST_CHECK;

#endif

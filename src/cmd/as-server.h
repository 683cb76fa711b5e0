/* cmd/as-server.h - an engine as the server on our own standard input and output.
 *
 * What the client sends goes into the engine as events, what the engine wants goes
 * out; what it reports goes to the log. Ends when the engine finishes and its client
 * has read all; a signal that asks us to end is to the engine a client that has gone,
 * a second one ends it at once. */
#ifndef CMD_AS_SERVER_H
#define CMD_AS_SERVER_H

#include "cmd/alarms.h"
#include "cmd/app.h"
#include "cmd/behind.h"
#include "engine/step.h"
#include "trace/intake.h"

typedef void as_server_step_fn(void *engine, const struct event *ev);

struct as_server {
    struct action_sink actions; /* what the engine is to be given as its sink */
    struct sink records;
    const struct app *app;
    as_server_step_fn *step;
    void *engine; /* borrowed */
    struct loop *loop;
    struct stdio *client;
    struct intake intake;
    struct alarms alarms;
    struct behind behind; /* the server that the engine may ask for */
    bool asked_to_end;    /* by a signal */
    bool stepping;        /* the engine is at work */
    bool client_gone;     /* which it has to be told when it is done */
    bool finished;        /* the engine has */
    struct err lost;      /* ERR_OK, or why standard output cannot be written */
    int exit_code;
};

/* `upstream` is the command of the server behind the engine, borrowed; NULL: none. */
void as_server_init(struct as_server *s, const struct app *app, as_server_step_fn *step,
                    void *engine, char *const *upstream);

/* Runs the session and gives everything back; the engine's exit code, or ours if
 * `*e` says why there was no session or why what was said in it got lost. */
int as_server_run(struct as_server *s, struct err *e);

#endif

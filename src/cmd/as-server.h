/* cmd/as-server.h - an engine as a server: on our own standard input and output, or over
 * HTTP.
 *
 * Ends when the engine finishes and its clients have read all; a signal that asks us to end
 * is to the engine a client that has gone, and is in a hurry; a second one ends it at once. */
#ifndef CMD_AS_SERVER_H
#define CMD_AS_SERVER_H

#include "cmd/far-server.h"
#include "cmd/http-side.h"
#include "cmd/listening.h"
#include "cmd/server.h"

/* Where clients come to over HTTP. */
struct as_server_listen {
    struct listen at;
    const struct listening_args *args; /* how it is told; borrowed */
    struct str path;                   /* that is told with it; empty: the usual one */
};

/* The server behind the engine, if it asks for one: at most one of both; borrowed. */
struct as_server_upstream {
    char *const *argv;          /* its command */
    const struct remote *where; /* or where it is */
};

struct as_server {
    struct drive drive; /* its `actions` are what the engine is to be given as its sink */
    struct hearing hearing;
    struct loop *loop;
    struct stdio *client;
    const struct as_server_listen *listen; /* borrowed; NULL: on standard input and output */
    struct http_side http;
    struct as_server_upstream behind;
    struct server upstream; /* the server behind the engine, when it has asked for it; */
    struct far_server far;  /* or this one */
    bool upstream_dismissed;
    struct err no_upstream; /* why there is none */
    bool asked_to_end;      /* by a signal */
    struct err lost;        /* ERR_OK, or why standard output cannot be written */
};

/* `upstream` and `listen` may be NULL. */
void as_server_init(struct as_server *s, const struct app *app, drive_step_fn *step,
                    void *engine, const struct as_server_upstream *upstream,
                    const struct as_server_listen *listen);

/* Runs the session and gives everything back; the engine's exit code, or ours if
 * `*e` says why there was no session or why what was said in it got lost. */
int as_server_run(struct as_server *s, struct err *e);

#endif

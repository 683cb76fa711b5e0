/* runtime/record-session.h - the common part of the four kinds of recording sessions: file,
 * signals and loop.
 *
 * Without a file there is no session; afterwards a problem with the recording never stops the
 * session. A kind starts the connections, gives their traffic to `output.recorder` and stops
 * the loop when the session is over. */
#ifndef RUNTIME_RECORD_SESSION_H
#define RUNTIME_RECORD_SESSION_H

#include "loop/loop.h"
#include "runtime/record-output.h"

/* The functions of a kind; `to` is that of the session. */
struct record_session_kind {
    /* Starts the connections. Returns 0, or an exit code with `*e` set. May be NULL. */
    int (*start)(void *to, struct err *e);
    /* Announces our address, when there is a file. May be NULL. */
    bool (*announce)(void *to, struct err *e);
    void (*started)(void *to); /* the header was written; may be NULL */
    /* A signal came: the session is to end. A second signal stops the loop, unless
     * `forwards_signals`. */
    void (*stop)(void *to, int signum);
    /* Closes the connections, after a failed start, too. Returns the exit code of the session,
     * and may set `*e`; both are ignored after a failed start. */
    int (*end)(void *to, struct err *e);

    struct str transport; /* of the server */
    /* `start` starts the server: an old file, which is to be replaced, is not touched before
     * that has succeeded. */
    bool starts_server;
    bool listens;          /* for clients: SIGINT ends it even if it was ignored */
    bool forwards_signals; /* `stop` gets every signal */
};

struct record_session {
    struct record_output output;
    const struct record_session_kind *kind; /* borrowed */
    void *to;
    struct loop *loop;
    struct signals *signals;     /* NULL while only the disk is waited for */
    bool stop_requested;         /* set by the first signal */
    bool end_with_stdin;         /* set by the kind: the end of standard input is as a signal */
    struct stdin_end *stdin_end; /* NULL: not watched */
    const char *note;            /* set by the kind: added to the result line; may be NULL */
};

void record_session_init(struct record_session *s, const struct app *app,
                         struct record_path *target, const struct record_settings *settings,
                         const struct record_session_kind *kind, void *to);
void record_session_release(struct record_session *s);

/* Runs until the kind stops the loop. Returns the exit code of the session, that of `*e` if
 * there was no session, or RECORD_OUTPUT_FAILED. */
int record_session_run(struct record_session *s, struct err *e);

#endif

/* replay/replay.h - replays a recording as a server.
 *
 * An engine for one client on stdio: its messages go in, the recorded server's come out
 * (replay/session.h). Ends when the client has closed its input and no response is delayed, or
 * with the first miss, as `on_miss` says; then logs the calls that were never used. Waits for
 * an open call of the upstream for 60 s, or 1 s if it is to end soon. For several clients the
 * caller adds one replay_client each and calls their sessions.
 *
 * Does no I/O: acts through `out`. Owns sessions, matcher and report; borrows index and
 * fuzzy. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "replay/session.h"

struct replay_options {
    struct match_options match; /* `exhausted` is used only if `exhausted_given` */
    bool exhausted_given;
    bool shared_session; /* clients cannot be distinguished: one session for all */
    enum session_on_miss on_miss;
    bool fail_at_end;         /* a miss does not end it, but sets exit code 1 */
    double pace;              /* factor for recorded delays; 0: no delays */
    bool strict_unused;       /* unused calls set exit code 1 */
    bool mcp_recorder_errors; /* error texts like those of mcp-recorder */
    bool is_remote;           /* the upstream is not started by us */
    bool hide_details;        /* LOG_DEBUG is not shown: saves time for lines of each match */
};

struct replay_client {
    struct replay_client *next, **prev_next;
    struct session session;
};

struct replay {
    const struct index *index; /* borrowed */
    struct replay_options options;
    struct actions actions;
    struct matcher matcher;
    struct replay_report report;
    struct passthrough passthrough;
    struct replay_shared shared;
    struct replay_client *clients;
    struct session *main_session; /* the client of replay_step() */
    uint64_t past_responses;      /* responses sent to clients that have closed */
    uint64_t upstream_wait_timer; /* limits the wait for the upstream; 0: none */
    bool ending_soon;             /* set by replay_end_soon(): the wait is short */
    bool input_closed;            /* no more messages are handled */
    bool finished;                /* no more responses are sent */
    int exit_code;                /* if `finished` */
};

/* Borrows `idx`, and `fuzzy` in fuzzy mode, the observer with which the index was built. */
void replay_init(struct replay *m, const struct index *idx, struct fuzzy *fuzzy,
                 const struct replay_options *options, struct action_sink *out);
void replay_release(struct replay *m);

void replay_step(struct replay *m, const struct event *ev);

/* Adds a client. The caller calls its session. */
struct replay_client *replay_add_client(struct replay *m);
void replay_remove_client(struct replay *m, struct replay_client *c);

/* Ends the replay soon: ignores further messages, and gives the upstream 1 s to respond. The
 * caller closes the sessions. */
void replay_end_soon(struct replay *m);

/* To be called after each call of a session. Ends the replay if nothing is left to send. */
void replay_finish_if_done(struct replay *m);

static inline bool replay_has_finished(const struct replay *m)
{
    return m->finished;
}

/* Whether a miss or a read error ended the replay. */
static inline bool replay_was_stopped(const struct replay *m)
{
    return m->shared.must_end;
}

/* Replaces the exit code of the report: that of the program may differ from the engine's. */
static inline void replay_set_exit_code(struct replay *m, int code)
{
    m->exit_code = code;
}

/* Writes the report as a JSON object: up to now, if it has not finished. */
void replay_write_report(const struct replay *m, struct buf *to);

#endif

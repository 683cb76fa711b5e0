/* engine/mock.h - a server made of a recording.
 *
 * A stepper for one client: what it sends goes in, what the server would have sent comes
 * out (engine/session.h says how). Ends when the client has closed its end and waits for
 * nothing any more, or with the first miss if that is asked for; then tells what was
 * never asked for. For a server behind it that owes an answer a minute is waited then, or a
 * second in a hurry. Whoever has more clients than that gets a session for each, and tells
 * it what they do. */
#ifndef ENGINE_MOCK_H
#define ENGINE_MOCK_H

#include "engine/session.h"

struct mock_options {
    struct match_options match; /* `exhausted` counts only if `exhausted_given`, and for all */
    bool exhausted_given;
    bool shared; /* nothing tells its clients apart: all of them have one session */
    enum session_on_miss on_miss;
    bool fail_at_end;   /* a miss does not end it, but makes the exit code 1 */
    double pace;        /* recorded delays times this; 0: none */
    bool strict_unused; /* recorded requests that nobody asked for are findings, too */
    bool recorder;      /* errors in the words of mcp-recorder */
    bool far;           /* the server behind the recording is not one that is started */
};

struct mock_client {
    struct mock_client *next, **at;
    struct session session;
};

struct mock {
    const struct script *script; /* borrowed */
    struct mock_options options;
    struct say say;
    struct matcher matcher;
    struct review review;
    struct upstream upstream;
    struct session_host host;
    struct mock_client *clients;
    struct session *first; /* the client that mock_step() is about */
    uint64_t answered;     /* of clients that are gone */
    uint64_t last_wait;    /* timer: who has closed its end waits for the server; 0: not */
    bool hurried;          /* and it has no time but a moment */
    bool closed;           /* nothing more is listened to */
    bool finished;         /* nothing more is answered */
    int exit_code;         /* when finished */
};

/* `fuzzy` is what the script was written with, in fuzzy mode; both are borrowed. */
void mock_init(struct mock *m, const struct script *script, struct fuzzy *fuzzy,
               const struct mock_options *options, struct action_sink *out);
void mock_release(struct mock *m);

void mock_step(struct mock *m, const struct event *ev);

/* Another client, whose session is told by its owner what it does. */
struct mock_client *mock_add_client(struct mock *m);
void mock_drop_client(struct mock *m, struct mock_client *c);

/* It is to end, and soon: nothing more is listened to, and the server behind it has a moment
 * for what it owes. The sessions are closed by those who have them. */
void mock_hurry(struct mock *m);

/* To be called when something was told to a session: it may have been the last. */
void mock_settle(struct mock *m);

/* How it went, as a JSON object; while it has not finished, up to now. */
void mock_report(const struct mock *m, struct buf *to);

#endif

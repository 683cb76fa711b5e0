#include "cmd/record-session.h"

#include <errno.h>

#include "loop/signals.h"
#include "transport/relay.h"

/* The relay's events go through the tap into the file. */
struct session {
    struct reel reel;
    struct loop *loop;
    struct relay *relay;
    struct signals *signals;
    int exit_code;
    bool hurried; /* the server had to be told to end */
};

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct session *s = to;
    struct reel *r = &s->reel;

    reel_check(r, tap_line(&r->tap, dir, line, reel_now(r), &r->why));
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct session *s = to;
    struct reel *r = &s->reel;

    r->too_long++;
    reel_check(r, tap_too_long(&r->tap, dir, bytes, reel_now(r), &r->why));
}

static void on_stderr(void *to, struct str bytes)
{
    struct session *s = to;
    struct reel *r = &s->reel;

    reel_check(r, tap_stderr(&r->tap, bytes, reel_now(r), &r->why));
}

static void on_hurried(void *to)
{
    struct session *s = to;

    s->hurried = true;
}

#define OUTLIVED "the server outlived its client for 0.8 s and got SIGTERM"

static void on_exited(void *to, int code, int signum)
{
    struct session *s = to;
    struct reel *r = &s->reel;
    struct str why = s->hurried ? STR(OUTLIVED) : STR_NONE;

    s->exit_code = signum ? 128 + signum : code;
    reel_check(r, tap_exited(&r->tap, code, signum, why, reel_now(r), &r->why));
}

static void on_done(void *to)
{
    struct session *s = to;

    loop_stop(s->loop);
}

static const struct relay_events session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .hurried = on_hurried,
    .exited = on_exited,
    .done = on_done,
};

static void on_signal(void *to, int signum)
{
    struct session *s = to;

    relay_signal(s->relay, signum);
}

static void begin(struct session *s)
{
    struct reel *r = &s->reel;

    reel_begin(r, STR("stdio"));
    reel_check(r, tap_started(&r->tap, reel_now(r), &r->why));
}

int record_session_start_failure(int errnum, const struct err *e)
{
    switch (errnum) {
    case 0:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return app_exit_code(e);
    case ENOENT:
        return 127;
    default:
        return 126;
    }
}

/* The server has ended, and only the disk is waited for: whoever is tired of that may end
 * us as any other program. */
static void on_waits(void *to)
{
    struct session *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

/* A new file is made before the server starts: there is no session if it cannot be.
 * An old one is only replaced once there is something to replace it with. */
static int start(struct session *s, struct err *e)
{
    const struct record_settings *how = s->reel.how;
    struct relay_config config = { how->server, 0, 1, 2, how->max_message };
    bool later = s->reel.place->force;
    int errnum = 0;

    if (!reel_settle(&s->reel, !later, e))
        return app_exit_code(e);
    if (!relay_start(&s->relay, s->loop, &config, &session_events, s, &errnum, e)) {
        if (!later)
            reel_abandon(&s->reel);
        return record_session_start_failure(errnum, e);
    }
    if (later && !reel_settle(&s->reel, true, e)) {
        relay_close(s->relay);
        return app_exit_code(e);
    }
    return 0;
}

static int run(struct session *s, struct err *e)
{
    int code;

    s->signals = signals_watch(s->loop, on_signal, s);
    code = start(s, e);
    if (!code) {
        begin(s);
        loop_run(s->loop);
        code = reel_end(&s->reel, s->exit_code, s->hurried ? OUTLIVED : NULL);
        relay_close(s->relay);
    }
    signals_close(s->signals);
    return code;
}

int record_session_run(const struct app *app, struct record_place *place,
                       const struct record_settings *how, struct err *e)
{
    /* A server that cannot be killed is left without an exit code. */
    struct session s = { .exit_code = RECORD_SESSION_FAILED };
    int code;

    reel_init(&s.reel, app, place, how, on_waits, &s);
    s.loop = loop_new();
    loop_env(s.loop, how->env);
    code = run(&s, e);
    loop_free(s.loop);
    reel_release(&s.reel);
    return code;
}

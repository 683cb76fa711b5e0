#include "runtime/record-stdio.h"

#include <errno.h>

#include "runtime/record-session.h"
#include "transport/stdio-relay.h"

enum { CONN = 1 }; /* one process, one connection */

/* Records the events of the relay. */
struct stdio_recording {
    struct record_session session;
    struct stdio_relay *relay;
    int exit_code;
};

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct stdio_recording *s = to;

    traffic_recorder_add_line(&s->session.output.recorder, CONN, dir, line);
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct stdio_recording *s = to;

    traffic_recorder_add_too_long(&s->session.output.recorder, CONN, dir, bytes);
}

static void on_stderr(void *to, struct str bytes)
{
    struct stdio_recording *s = to;

    traffic_recorder_add_stderr(&s->session.output.recorder, CONN, bytes);
}

static void on_sigterm_sent(void *to)
{
    struct stdio_recording *s = to;

    s->session.note =
        "the server did not exit within 0.8 s after the client closed; mcpreel sent SIGTERM";
}

static void on_exited(void *to, int code, int signum)
{
    struct stdio_recording *s = to;

    s->exit_code = signum ? 128 + signum : code;
    traffic_recorder_add_exit(&s->session.output.recorder, CONN, code, signum,
                              str_z(s->session.note));
}

static void on_done(void *to)
{
    struct stdio_recording *s = to;

    loop_stop(s->session.loop);
}

static const struct stdio_relay_events session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .sigterm_sent = on_sigterm_sent,
    .exited = on_exited,
    .done = on_done,
};

int record_stdio_start_exit_code(int errnum, const struct err *e)
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

static int start(void *to, struct err *e)
{
    struct stdio_recording *s = to;
    const struct record_settings *settings = s->session.output.settings;
    struct stdio_relay_config config = { settings->server_argv, 0, 1, 2,
                                         settings->max_message };
    int errnum = 0;

    if (!stdio_relay_start(&s->relay, s->session.loop, &config, &session_events, s, &errnum, e))
        return record_stdio_start_exit_code(errnum, e);
    return 0;
}

static void started(void *to)
{
    struct stdio_recording *s = to;

    traffic_recorder_add_start(&s->session.output.recorder, CONN);
}

static void stop(void *to, int signum)
{
    struct stdio_recording *s = to;

    stdio_relay_signal(s->relay, signum);
}

static int end(void *to, struct err *e)
{
    struct stdio_recording *s = to;

    (void)e;
    return s->exit_code;
}

static const struct record_session_kind session_kind = {
    .transport = STR_INIT("stdio"),
    .starts_server = true,
    .forwards_signals = true,
    .start = start,
    .started = started,
    .stop = stop,
    .end = end,
};

int record_stdio_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings, struct err *e)
{
    /* A server that cannot be killed has no exit code. */
    struct stdio_recording s = { .exit_code = RECORD_OUTPUT_FAILED };
    int code;

    record_session_init(&s.session, app, target, settings, &session_kind, &s);
    loop_set_env(s.session.loop, settings->server_env);
    code = record_session_run(&s.session, e);
    stdio_relay_close(s.relay);
    record_session_release(&s.session);
    return code;
}

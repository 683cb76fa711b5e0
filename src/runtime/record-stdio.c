#include "runtime/record-stdio.h"

#include <errno.h>

#include "loop/signals.h"
#include "transport/stdio-relay.h"

/* Records the events of the relay. */
struct stdio_recording {
    struct record_output output;
    struct loop *loop;
    struct stdio_relay *relay;
    struct signals *signals;
    int exit_code;
    bool server_terminated; /* set when the server got SIGTERM */
};

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct stdio_recording *s = to;
    struct record_output *r = &s->output;

    record_output_report_errors(
        r, recorder_add_line(&r->recorder, dir, line, record_output_now(r), &r->error));
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct stdio_recording *s = to;
    struct record_output *r = &s->output;

    r->too_long++;
    record_output_report_errors(
        r, recorder_add_too_long(&r->recorder, dir, bytes, record_output_now(r), &r->error));
}

static void on_stderr(void *to, struct str bytes)
{
    struct stdio_recording *s = to;
    struct record_output *r = &s->output;

    record_output_report_errors(
        r, recorder_add_stderr(&r->recorder, bytes, record_output_now(r), &r->error));
}

static void on_hurried(void *to)
{
    struct stdio_recording *s = to;

    s->server_terminated = true;
}

#define SERVER_TERMINATED                                                                      \
    "the server did not exit within 0.8 s after the client closed; mcpreel sent SIGTERM"

static void on_exited(void *to, int code, int signum)
{
    struct stdio_recording *s = to;
    struct record_output *r = &s->output;
    struct str why = s->server_terminated ? STR(SERVER_TERMINATED) : STR_NONE;

    s->exit_code = signum ? 128 + signum : code;
    record_output_report_errors(
        r, recorder_add_exit(&r->recorder, code, signum, why, record_output_now(r), &r->error));
}

static void on_done(void *to)
{
    struct stdio_recording *s = to;

    loop_stop(s->loop);
}

static const struct stdio_relay_events session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .sigterm_sent = on_hurried,
    .exited = on_exited,
    .done = on_done,
};

static void on_signal(void *to, int signum)
{
    struct stdio_recording *s = to;

    stdio_relay_signal(s->relay, signum);
}

static void write_start(struct stdio_recording *s)
{
    struct record_output *r = &s->output;

    record_output_write_header(r, STR("stdio"));
    record_output_report_errors(
        r, recorder_add_start(&r->recorder, record_output_now(r), &r->error));
}

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

/* Restores default signal handling: the server has exited, and only the disk is waited for. */
static void on_disk_wait(void *to)
{
    struct stdio_recording *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

/* Creates a new file before the server starts: without a file there is no session. Replaces an
 * old file only once there is something to replace it with. */
static int start(struct stdio_recording *s, struct err *e)
{
    const struct record_settings *settings = s->output.settings;
    struct stdio_relay_config config = { settings->server_argv, 0, 1, 2,
                                         settings->max_message };
    bool later = s->output.target->force;
    int errnum = 0;

    if (!record_output_open(&s->output, !later, e))
        return app_exit_code(e);
    if (!stdio_relay_start(&s->relay, s->loop, &config, &session_events, s, &errnum, e)) {
        if (!later)
            record_output_remove(&s->output);
        return record_stdio_start_exit_code(errnum, e);
    }
    if (later && !record_output_open(&s->output, true, e)) {
        stdio_relay_close(s->relay);
        return app_exit_code(e);
    }
    return 0;
}

static int run(struct stdio_recording *s, struct err *e)
{
    int code;

    s->signals = signals_watch(s->loop, on_signal, s);
    code = start(s, e);
    if (!code) {
        write_start(s);
        loop_run(s->loop);
        code = record_output_finish(&s->output, s->exit_code,
                                    s->server_terminated ? SERVER_TERMINATED : NULL);
        stdio_relay_close(s->relay);
    }
    signals_close(s->signals);
    return code;
}

int record_stdio_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings, struct err *e)
{
    /* A server that cannot be killed has no exit code. */
    struct stdio_recording s = { .exit_code = RECORD_OUTPUT_FAILED };
    int code;

    record_output_init(&s.output, app, target, settings, on_disk_wait, &s);
    s.loop = loop_new();
    loop_set_env(s.loop, settings->server_env);
    code = run(&s, e);
    loop_free(s.loop);
    record_output_release(&s.output);
    return code;
}

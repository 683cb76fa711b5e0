#include "runtime/record-session.h"

#include <signal.h>

#include "loop/signals.h"
#include "loop/stdin-end.h"

/* Restores default signal handling while only the disk is waited for. */
static void on_disk_wait(void *to)
{
    struct record_session *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

static void on_signal(void *to, int signum)
{
    struct record_session *s = to;
    bool again = s->stop_requested;

    s->stop_requested = true;
    if (again && !s->kind->forwards_signals)
        loop_stop(s->loop);
    else
        s->kind->stop(s->to, signum);
}

static void on_stdin_end(void *to)
{
    struct record_session *s = to;

    if (!s->stop_requested) /* it is no second signal */
        on_signal(s, SIGTERM);
}

void record_session_init(struct record_session *s, const struct app *app,
                         struct record_path *target, const struct record_settings *settings,
                         const struct record_session_kind *kind, void *to)
{
    *s = (struct record_session){ .kind = kind, .to = to, .loop = loop_new() };
    record_output_init(&s->output, app, target, settings, on_disk_wait, s);
}

void record_session_release(struct record_session *s)
{
    signals_close(s->signals);
    loop_free(s->loop);
    record_output_release(&s->output);
}

/* Starts the connections. `*opened`: the file was created. */
static int start(struct record_session *s, bool *opened, struct err *e)
{
    const struct record_session_kind *kind = s->kind;
    bool later = kind->starts_server && s->output.target->force;
    int code = 0;

    if (!record_output_open(&s->output, !later, e))
        return app_exit_code(e);
    *opened = !later;
    if (kind->start)
        code = kind->start(s->to, e);
    if (code)
        return code;
    if (later && !record_output_open(&s->output, true, e))
        return app_exit_code(e);
    *opened = true;
    if (s->end_with_stdin && !stdin_end_watch(&s->stdin_end, s->loop, on_stdin_end, s, e))
        return app_exit_code(e);
    return kind->announce && !kind->announce(s->to, e) ? app_exit_code(e) : 0;
}

int record_session_run(struct record_session *s, struct err *e)
{
    bool opened = false;
    int code, session_code;

    s->signals = s->kind->listens ? signals_watch_listener(s->loop, on_signal, s)
                                  : signals_watch(s->loop, on_signal, s);
    code = start(s, &opened, e);
    if (!code) {
        record_output_write_header(&s->output, s->kind->transport);
        if (s->kind->started)
            s->kind->started(s->to);
        loop_run(s->loop);
    } else if (opened) {
        record_output_remove(&s->output);
    }
    stdin_end_close(s->stdin_end); /* before `end`: there is nothing to stop from now on */
    if (code) {
        struct err ignored = ERR_NONE;

        s->kind->end(s->to, &ignored);
        return code;
    }
    session_code = s->kind->end(s->to, e);
    s->output.session_failed = session_code && !s->stop_requested && !s->note;
    return record_output_finish(&s->output, session_code, s->note);
}

#include "runtime/peer-lines.h"

enum { EXIT_REASON_MAX = 4 * PEER_STDERR_MAX };

/* Keeps the beginning of the first line that cannot be a message. */
static void keep_noise(struct buf *first, struct str line)
{
    line = str_trim(line);
    if (first->len || !line.len || line.at[0] == '{' || line.at[0] == '[')
        return;
    buf_add(first,
            str_n(line.at, line.len < PEER_LINES_NOISE_MAX ? line.len : PEER_LINES_NOISE_MAX));
}

static void on_message(void *to, struct str message)
{
    struct peer_lines *s = to;

    keep_noise(&s->first_noise, message);
    driver_lines_add(&s->lines, message);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct peer_lines *s = to;

    driver_lines_add_too_long(&s->lines, bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct peer_lines *s = to;

    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (line.len)
            log_printf(s->lines.driver->app->log, s->stderr_level, "server: %.*s",
                       STR_ARG(line));
    }
}

static void on_lost(void *to, struct str why)
{
    struct peer_lines *s = to;

    driver_dispatch(s->lines.driver, (struct event){ .kind = EVENT_UPSTREAM_LOST, .why = why });
}

static void on_closed(void *to)
{
    struct peer_lines *s = to;

    if (s->events->closed)
        s->events->closed(s->to);
}

static void on_exited(void *to)
{
    struct peer_lines *s = to;
    struct peer_outcome *how = &s->peer->outcome;

    s->exited = true;
    buf_add(&s->exit_reason, buf_str(&how->exit_text));
    if (how->last_stderr.len)
        buf_printf(&s->exit_reason, ": %s", buf_z(&how->last_stderr));
    s->events->exited(s->to, buf_str(&s->exit_reason));
}

static const struct peer_events peer_events = {
    .message = on_message,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .lost = on_lost,
    .closed = on_closed,
    .exited = on_exited,
};

void peer_lines_init(struct peer_lines *s, struct driver *driver, enum event_kind kind,
                     enum log_level level, const struct peer_lines_events *events, void *to)
{
    *s = (struct peer_lines){ .stderr_level = level, .events = events, .to = to };
    driver_lines_init(&s->lines, driver, kind, TO_CLIENT);
    buf_init(&s->exit_reason, EXIT_REASON_MAX);
    buf_init(&s->first_noise, PEER_LINES_NOISE_MAX);
}

void peer_lines_release(struct peer_lines *s)
{
    peer_free(s->peer);
    driver_lines_release(&s->lines);
    buf_release(&s->exit_reason);
    buf_release(&s->first_noise);
}

bool peer_lines_start(struct peer_lines *s, struct loop *l, const struct peer_target *target,
                      struct err *e)
{
    struct peer_owner owner = { .loop = l,
                                .app = s->lines.driver->app,
                                .events = &peer_events,
                                .to = s,
                                .in_engine = true,
                                .no_get_stream = s->no_get_stream,
                                .reconnect_hint = s->reconnect_hint,
                                .recorder = s->recorder,
                                .conn = s->conn };
    int errnum;

    BUG_IF(s->peer);
    return peer_start(&s->peer, target, &owner, &errnum, e);
}

static bool is_running(const struct peer_lines *s)
{
    return s->peer && !s->exited;
}

void peer_lines_send(struct peer_lines *s, struct str message)
{
    if (is_running(s))
        peer_send(s->peer, message);
}

bool peer_lines_end(struct peer_lines *s, bool await)
{
    if (!is_running(s))
        return false;
    peer_end(s->peer, await);
    return true;
}

void peer_lines_stop(struct peer_lines *s)
{
    if (is_running(s))
        peer_stop(s->peer, STR_NONE);
}

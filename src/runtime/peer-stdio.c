#include "runtime/peer-stdio.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "transport/stdio-server.h"

struct peer_stdio {
    struct peer peer;
    const char *name;
    struct stdio_server *child;
    bool end_requested; /* set by peer_end() */
    bool stdout_closed; /* it closed stdout without being asked to end */
    bool terminated;    /* mcpreel terminates it; its signal is not taken for another's */
    bool exited;
};

static struct peer_stdio *self_of(struct peer *p)
{
    return (struct peer_stdio *)p;
}

static void on_line(void *to, struct str line)
{
    struct peer_owner *owner = &((struct peer_stdio *)to)->peer.owner;

    if (owner->recorder)
        traffic_recorder_add_line(owner->recorder, owner->conn, TO_CLIENT, line);
    owner->events->message(owner->to, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct peer_owner *owner = &((struct peer_stdio *)to)->peer.owner;

    if (owner->recorder)
        traffic_recorder_add_too_long(owner->recorder, owner->conn, TO_CLIENT, bytes);
    if (owner->events->too_long)
        owner->events->too_long(owner->to, bytes);
}

static void keep_last_stderr(struct buf *last, struct str text)
{
    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (!line.len)
            continue;
        buf_clear(last);
        buf_add(last, line.len > PEER_STDERR_MAX ? str_n(line.at, PEER_STDERR_MAX) : line);
    }
}

static void on_stderr(void *to, struct str text)
{
    struct peer *p = to;

    keep_last_stderr(&p->outcome.last_stderr, text);
    if (p->owner.recorder)
        traffic_recorder_add_stderr(p->owner.recorder, p->owner.conn, text);
    if (p->owner.events->stderr_text)
        p->owner.events->stderr_text(p->owner.to, text);
}

/* Closes its stdin, and waits for its exit. */
static void on_closed(void *to)
{
    struct peer_stdio *s = to;

    s->stdout_closed = !s->end_requested;
    peer_report_closed(&s->peer);
    stdio_server_end(s->child);
}

static void note_termination(struct peer_stdio *s, struct str why)
{
    s->terminated = true;
    if (why.len)
        buf_printf(&s->peer.outcome.stop_reason, "'%s' %.*s; mcpreel ended it", s->name,
                   STR_ARG(why));
}

static void on_sigterm_sent(void *to)
{
    struct peer_stdio *s = to;

    if (!s->terminated)
        note_termination(s, s->stdout_closed ? STR("closed stdout but did not exit")
                                             : STR("did not exit after its stdin was closed"));
}

static void on_done(void *to, int code, int signum)
{
    struct peer_stdio *s = to;
    struct peer_outcome *how = &s->peer.outcome;

    s->exited = true;
    how->exit_code = code;
    how->signum = signum;
    if (signum)
        buf_printf(&how->exit_text, "'%s' was ended by signal %d", s->name, signum);
    else
        buf_printf(&how->exit_text, "'%s' ended with exit code %d", s->name, code);
    if (s->peer.owner.recorder)
        traffic_recorder_add_exit(s->peer.owner.recorder, s->peer.owner.conn, code, signum,
                                  buf_str(&how->stop_reason));
    s->peer.owner.events->exited(s->peer.owner.to);
}

static const struct stdio_server_events child_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .output_closed = on_closed,
    .sigterm_sent = on_sigterm_sent,
    .done = on_done,
};

static void free_stdio(struct peer *p)
{
    stdio_server_close(self_of(p)->child);
    peer_release(p);
    free(p);
}

static void send_stdio(struct peer *p, struct str message)
{
    if (self_of(p)->exited)
        return;
    if (p->owner.recorder)
        traffic_recorder_add_line(p->owner.recorder, p->owner.conn, TO_SERVER, message);
    stdio_server_send(self_of(p)->child, message);
}

static void end_stdio(struct peer *p, bool await)
{
    struct peer_stdio *s = self_of(p);

    (void)await; /* the server decides whether it answers */
    s->end_requested = true;
    if (!s->exited)
        stdio_server_end(s->child);
}

static void stop_stdio(struct peer *p, struct str why)
{
    struct peer_stdio *s = self_of(p);

    if (s->exited || s->terminated)
        return;
    note_termination(s, why);
    stdio_server_stop(s->child);
}

static size_t queued_stdio(const struct peer *p)
{
    return stdio_server_queued(((const struct peer_stdio *)p)->child);
}

static const struct peer_transport stdio_transport = {
    .free = free_stdio,
    .send = send_stdio,
    .end = end_stdio,
    .stop = stop_stdio,
    .queued = queued_stdio,
};

bool peer_stdio_start(struct peer **out, const struct peer_target *target,
                      const struct peer_owner *owner, int *errnum, struct err *e)
{
    struct peer_stdio *s = mem_new(struct peer_stdio);

    peer_init(&s->peer, &stdio_transport, owner);
    s->name = target->argv[0];
    loop_set_env(owner->loop, target->env);
    loop_set_cwd(owner->loop, target->cwd);
    if (!stdio_server_start(&s->child, owner->loop, target->argv, LIMIT_MESSAGE, &child_events,
                            s, errnum, e)) {
        peer_free(&s->peer);
        return false;
    }
    if (owner->recorder)
        traffic_recorder_add_start(owner->recorder, owner->conn);
    *out = &s->peer;
    return true;
}

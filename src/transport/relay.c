#include "transport/relay.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/child.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "wire/lines.h"

enum {
    QUIET_MS = 800, /* after the client's end, how long a silent server may take */
    TERM_MS = 500,  /* from SIGTERM to SIGKILL, and for pipes that outlive their server */
    HIGH_WATER = 1 << 20,
    TALK_HELD = 64 << 10, /* of an unfinished line on stderr */
    TALK_MOST = 1 << 20,  /* that, and whatever one read may add */
};

enum relay_state { RUNNING, CLOSING, ASKED, KILLED, DRAINING, DONE };

/* One of the three ways bytes take: client to server, server to client, and the
 * server's stderr to ours. */
struct pipe {
    struct relay *relay;
    struct stream *from, *into;
    struct lines lines;
    bool ended; /* nothing more comes out of `from` */
};

struct relay {
    struct loop *loop;
    const struct relay_events *events;
    void *to;
    struct child *child;
    struct timer *patience;
    struct pipe up, down, talk;
    struct buf talk_held; /* the unfinished line of the server's stderr */
    enum relay_state state;
    int ask_with; /* the signal that asks the server to end */
};

static void hand_rest_over(struct pipe *p, enum record_dir dir)
{
    const struct relay_events *ev = p->relay->events;
    uint64_t skipped;
    struct str line;

    switch (lines_end(&p->lines, &line, &skipped)) {
    case LINES_LINE:
        ev->line(p->relay->to, dir, line);
        break;
    case LINES_TOO_LONG:
        ev->too_long(p->relay->to, dir, skipped);
        break;
    case LINES_MORE:
        break;
    }
}

static void flush_talk(struct relay *r)
{
    if (r->talk_held.len)
        r->events->stderr_text(r->to, buf_str(&r->talk_held));
    buf_clear(&r->talk_held);
}

static void enter(struct relay *r, enum relay_state state)
{
    if (r->state == DONE)
        return;
    r->state = state;
    switch (state) {
    case CLOSING:
        timer_set(r->patience, QUIET_MS);
        break;
    case ASKED:
        child_kill_group(r->child, r->ask_with);
        timer_set(r->patience, TERM_MS);
        break;
    case KILLED:
        child_kill_group(r->child, SIGKILL);
        timer_set(r->patience, TERM_MS);
        break;
    case DRAINING:
        timer_set(r->patience, TERM_MS);
        break;
    case DONE:
        timer_stop(r->patience);
        /* Half a line has been passed on, too. */
        hand_rest_over(&r->up, TO_SERVER);
        hand_rest_over(&r->down, TO_CLIENT);
        flush_talk(r);
        /* Whoever is left of the server's family must not outlive the session. */
        child_kill_group(r->child, SIGKILL);
        r->events->done(r->to);
        break;
    case RUNNING:
        BUG("a relay does not start twice");
    }
}

static bool is_drained(const struct pipe *p)
{
    return p->ended && (!p->into || !stream_queued(p->into));
}

static void finish_if_drained(struct relay *r)
{
    if (r->state == DRAINING && is_drained(&r->down) && is_drained(&r->talk))
        enter(r, DONE);
}

static void patience_over(void *to)
{
    struct relay *r = to;

    if (r->state == CLOSING)
        enter(r, ASKED);
    else if (r->state == ASKED)
        enter(r, KILLED);
    else if (r->state == DRAINING && stream_queued(r->down.into))
        enter(r, DRAINING); /* it is the client that takes its time */
    else if (r->state == KILLED || r->state == DRAINING)
        enter(r, DONE);
}

static void server_exited(void *to, int code, int signum)
{
    struct relay *r = to;

    r->events->exited(r->to, code, signum);
    enter(r, DRAINING);
    finish_if_drained(r);
}

static void hand_lines_over(struct pipe *p, enum record_dir dir, struct str bytes)
{
    const struct relay_events *ev = p->relay->events;
    enum lines_next next;
    uint64_t skipped;
    struct str line;

    lines_feed(&p->lines, bytes);
    while ((next = lines_next(&p->lines, &line, &skipped)) != LINES_MORE) {
        if (next == LINES_LINE)
            ev->line(p->relay->to, dir, line);
        else
            ev->too_long(p->relay->to, dir, skipped);
    }
}

static void pass_on(struct pipe *p, struct str bytes)
{
    if (!p->into)
        return;
    stream_write(p->into, bytes);
    if (p->from && stream_queued(p->into) > HIGH_WATER)
        stream_read(p->from, false);
}

static void drained(struct pipe *p)
{
    if (!p->ended)
        stream_read(p->from, true);
}

static void up_data(void *to, struct str bytes)
{
    struct relay *r = to;

    hand_lines_over(&r->up, TO_SERVER, bytes);
    pass_on(&r->up, bytes);
}

static void close_server_stdin(struct relay *r)
{
    stream_close(r->up.into);
    r->up.into = NULL;
}

/* The client has said all it will say. The server sees the end of its stdin once
 * it has been given what came before. */
static void begin_closing(struct relay *r)
{
    r->up.ended = true;
    if (r->up.into && !stream_queued(r->up.into))
        close_server_stdin(r);
    if (r->state == RUNNING)
        enter(r, CLOSING);
}

static void up_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why; /* a client that broke off and one that closed are both gone */
    hand_rest_over(&r->up, TO_SERVER);
    begin_closing(r);
}

static void up_drained(void *to)
{
    struct relay *r = to;

    drained(&r->up);
    if (r->up.ended && r->up.into)
        close_server_stdin(r);
}

/* A server that listens no more may live on: its client is still read, or its end
 * would not be seen. */
static void server_deaf(void *to, const struct err *why)
{
    (void)why;
    up_drained(to);
}

/* A server that talks after its stdin has ended is still at work. */
static void renew_patience(struct relay *r)
{
    if (r->state == CLOSING)
        timer_set(r->patience, QUIET_MS);
}

static void down_data(void *to, struct str bytes)
{
    struct relay *r = to;

    renew_patience(r);
    hand_lines_over(&r->down, TO_CLIENT, bytes);
    pass_on(&r->down, bytes);
}

static void down_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    hand_rest_over(&r->down, TO_CLIENT);
    r->down.ended = true;
    finish_if_drained(r);
}

static void down_drained(void *to)
{
    struct relay *r = to;

    drained(&r->down);
    finish_if_drained(r);
}

static void client_lost(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    begin_closing(r);
    if (r->down.ended)
        return;
    /* To the server it is as if the client itself had held the pipe. */
    stream_close(r->down.from);
    r->down.from = NULL;
    down_end(r, NULL);
}

/* Some programs write stderr byte by byte: what is handed over are whole lines, as
 * many as there are, unless one is longer than anybody would read. */
static void hand_talk_over(struct relay *r, struct str bytes)
{
    struct str text;

    buf_add(&r->talk_held, bytes);
    text = buf_str(&r->talk_held);
    while (text.len && text.at[text.len - 1] != '\n')
        text.len--;
    if (text.len)
        r->events->stderr_text(r->to, text);
    buf_drop_front(&r->talk_held, text.len);
    if (r->talk_held.len > TALK_HELD)
        flush_talk(r);
}

static void talk_data(void *to, struct str bytes)
{
    struct relay *r = to;

    renew_patience(r);
    hand_talk_over(r, bytes);
    pass_on(&r->talk, bytes);
}

static void talk_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    flush_talk(r);
    r->talk.ended = true;
    finish_if_drained(r);
}

static void talk_drained(void *to)
{
    struct relay *r = to;

    drained(&r->talk);
    finish_if_drained(r);
}

static void errors_lost(void *to, const struct err *why)
{
    (void)why;
    talk_drained(to);
}

static const struct stream_events client_in_events = { .data = up_data, .end = up_end };
static const struct stream_events server_in_events = { .drained = up_drained,
                                                       .broken = server_deaf };
static const struct stream_events server_out_events = { .data = down_data, .end = down_end };
static const struct stream_events client_out_events = { .drained = down_drained,
                                                        .broken = client_lost };
static const struct stream_events server_err_events = { .data = talk_data, .end = talk_end };
static const struct stream_events errors_events = { .drained = talk_drained,
                                                    .broken = errors_lost };

static bool open_client(struct relay *r, const struct relay_config *config, struct err *e)
{
    struct loop *l = r->loop;
    struct err ignored = ERR_NONE;

    if (!stream_open(&r->up.from, l, config->client_in, &client_in_events, r, e) ||
        !stream_open(&r->down.into, l, config->client_out, &client_out_events, r, e))
        return false;
    /* A client may have closed our stderr; the server's is then only recorded. */
    if (!stream_open(&r->talk.into, l, config->errors, &errors_events, r, &ignored))
        r->talk.into = NULL;
    return true;
}

static bool start_server(struct relay *r, const struct relay_config *config, int *errnum,
                         struct err *e)
{
    struct loop *l = r->loop;
    struct child_fds fds;
    bool ok;

    if (!child_start(&r->child, l, config->argv, &fds, server_exited, r, errnum, e))
        return false;
    ok = stream_open(&r->up.into, l, fds.in, &server_in_events, r, e) &&
         stream_open(&r->down.from, l, fds.out, &server_out_events, r, e) &&
         stream_open(&r->talk.from, l, fds.err, &server_err_events, r, e);
    BUG_IF(!ok); /* pipes that were made just now */
    return true;
}

bool relay_start(struct relay **out, struct loop *l, const struct relay_config *config,
                 const struct relay_events *events, void *to, int *errnum, struct err *e)
{
    struct relay *r = mem_new(struct relay);

    *r = (struct relay){ .loop = l, .events = events, .to = to, .ask_with = SIGTERM };
    r->up.relay = r->down.relay = r->talk.relay = r;
    lines_init(&r->up.lines, config->max_line);
    lines_init(&r->down.lines, config->max_line);
    lines_init(&r->talk.lines, 0);
    buf_init(&r->talk_held, TALK_MOST);
    r->patience = timer_new(l, patience_over, r);
    *errnum = 0;
    if (!open_client(r, config, e) || !start_server(r, config, errnum, e)) {
        relay_close(r);
        return false;
    }
    stream_read(r->up.from, true);
    stream_read(r->down.from, true);
    stream_read(r->talk.from, true);
    *out = r;
    return true;
}

void relay_signal(struct relay *r, int signum)
{
    r->ask_with = signum;
    if (r->state == RUNNING || r->state == CLOSING)
        enter(r, ASKED);
    else if (r->state == DRAINING)
        enter(r, DONE);
}

static void close_pipe(struct pipe *p)
{
    stream_close(p->from);
    stream_close(p->into);
    lines_release(&p->lines);
}

void relay_close(struct relay *r)
{
    if (!r)
        return;
    close_pipe(&r->up);
    close_pipe(&r->down);
    close_pipe(&r->talk);
    buf_release(&r->talk_held);
    timer_close(r->patience);
    child_close(r->child);
    free(r);
}

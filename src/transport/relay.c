#include "transport/relay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/process.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "transport/inlet.h"
#include "wire/talk.h"

enum {
    HIGH_WATER = 1 << 20,
    LOOK_MS = 250,  /* how often a client that is not read is looked after */
    HUSH_MS = 250,  /* from the end of the server's stdout to that of ours, if it lives on */
    IDLE_LOOKS = 4, /* at what a server that is gone has left, until nobody will take it */
};

/* One of the three ways bytes take: client to server, server to client, and the
 * server's stderr to ours. */
struct pipe {
    struct stream *from, *into;
    bool ended;  /* nothing more comes out of `from` */
    bool paused; /* `from` is not read, as `into` has enough to take */
};

struct relay {
    struct loop *loop;
    const struct relay_events *events;
    void *to;
    struct process *server;
    struct pipe up, down, talk;
    /* The copies, on their way to be handed over. */
    struct inlet from_client, from_server;
    struct talk said;
    struct timer *look, *hush;
    size_t untaken;      /* of `up`, when the server was last looked at */
    uint64_t down_bytes; /* all that the server said */
    uint64_t taken;      /* of these, when its client was last looked at */
    int idle_looks;      /* at which there was no difference */
    bool exited;         /* the server */
};

static void tell_up(void *to, struct str line)
{
    struct relay *r = to;

    r->events->line(r->to, TO_SERVER, line);
}

static void tell_down(void *to, struct str line)
{
    struct relay *r = to;

    r->events->line(r->to, TO_CLIENT, line);
}

static void tell_up_too_long(void *to, uint64_t bytes)
{
    struct relay *r = to;

    r->events->too_long(r->to, TO_SERVER, bytes);
}

static void tell_down_too_long(void *to, uint64_t bytes)
{
    struct relay *r = to;

    r->events->too_long(r->to, TO_CLIENT, bytes);
}

static const struct inlet_events up_events = { .line = tell_up, .too_long = tell_up_too_long };
static const struct inlet_events down_events = { .line = tell_down,
                                                 .too_long = tell_down_too_long };

static bool is_drained(const struct pipe *p)
{
    return p->ended && (!p->into || !stream_queued(p->into));
}

static void finish_if_drained(struct relay *r)
{
    if (is_drained(&r->down) && is_drained(&r->talk))
        process_drained(r->server);
}

static void hand_talk_over(void *to, struct str bytes)
{
    struct relay *r = to;

    r->events->stderr_text(r->to, bytes);
}

static void server_exited(void *to, int code, int signum)
{
    struct relay *r = to;

    r->exited = true;
    r->events->exited(r->to, code, signum);
}

static size_t untaken(const struct relay *r)
{
    return r->up.into ? stream_queued(r->up.into) : 0;
}

static size_t unread(const struct relay *r)
{
    return r->down.into ? stream_queued(r->down.into) : 0;
}

/* Whether the client has yet to take something, and may. One that has said all it will say
 * is not waited for without end. */
static bool is_client_slow(struct relay *r)
{
    uint64_t before = r->taken;

    r->taken = r->down_bytes - unread(r);
    if (!unread(r))
        return false;
    if (r->taken > before || !r->up.ended) {
        r->idle_looks = 0;
        return true;
    }
    return r->exited && ++r->idle_looks < IDLE_LOOKS;
}

static bool is_held_up(void *to)
{
    struct relay *r = to;
    size_t before = r->untaken;
    bool slow = is_client_slow(r);

    r->untaken = untaken(r);
    return r->untaken < before || slow;
}

static void server_done(void *to)
{
    struct relay *r = to;

    /* Half a line has been passed on, too. */
    inlet_end(&r->from_client);
    inlet_end(&r->from_server);
    talk_end(&r->said, hand_talk_over, r);
    r->events->done(r->to);
}

static void server_hurried(void *to)
{
    struct relay *r = to;

    if (r->events->hurried)
        r->events->hurried(r->to);
}

static const struct process_events server_events = {
    .exited = server_exited, .hurried = server_hurried, .busy = is_held_up, .done = server_done
};

static void pass_on(struct pipe *p, struct str bytes)
{
    if (!p->into)
        return;
    stream_write(p->into, bytes);
    if (!p->from || stream_queued(p->into) <= HIGH_WATER)
        return;
    stream_read(p->from, false);
    p->paused = true;
}

static void drained(struct pipe *p)
{
    p->paused = false;
    if (!p->ended)
        stream_read(p->from, true);
}

static void up_data(void *to, struct str bytes)
{
    struct relay *r = to;

    inlet_feed(&r->from_client, bytes);
    pass_on(&r->up, bytes);
    if (r->up.paused)
        timer_set(r->look, LOOK_MS);
}

static void let_go(struct relay *r)
{
    r->untaken = untaken(r);
    r->taken = r->down_bytes - unread(r);
    process_let_go(r->server);
}

/* A server that reads nothing must not keep us from seeing that its client is gone. */
static void look_after_client(void *to)
{
    struct relay *r = to;

    if (!r->up.paused)
        return;
    if (stream_abandoned(r->up.from))
        let_go(r);
    else
        timer_set(r->look, LOOK_MS);
}

static void close_server_stdin(struct relay *r)
{
    stream_close(r->up.into);
    r->up.into = NULL;
    process_heard(r->server); /* its time begins now */
}

/* The client has said all it will say. The server sees the end of its stdin once
 * it has been given what came before. */
static void begin_closing(struct relay *r)
{
    r->up.ended = true;
    if (r->up.into && !stream_queued(r->up.into))
        close_server_stdin(r);
    let_go(r);
}

static void up_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why; /* a client that broke off and one that closed are both gone */
    inlet_end(&r->from_client);
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

static void down_data(void *to, struct str bytes)
{
    struct relay *r = to;

    if (!unread(r)) /* else nobody may be listening */
        process_heard(r->server);
    r->down_bytes += bytes.len;
    inlet_feed(&r->from_server, bytes);
    pass_on(&r->down, bytes);
}

/* The server will say nothing more, and the client has all it said. If that is because the
 * server has ended, so do we, and nothing needs to be done. */
static void hush(void *to)
{
    struct relay *r = to;

    stream_hang_up(r->down.into);
    r->down.into = NULL;
}

static void down_is_over(struct relay *r)
{
    if (is_drained(&r->down))
        timer_set(r->hush, HUSH_MS);
    finish_if_drained(r);
}

static void down_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    inlet_end(&r->from_server);
    r->down.ended = true;
    down_is_over(r);
}

static void down_drained(void *to)
{
    struct relay *r = to;

    drained(&r->down);
    down_is_over(r);
}

static void client_lost(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    begin_closing(r);
    process_unread(r->server);
    if (r->down.ended)
        return;
    /* To the server it is as if the client itself had held the pipe. */
    stream_close(r->down.from);
    r->down.from = NULL;
    down_end(r, NULL);
}

static void err_data(void *to, struct str bytes)
{
    struct relay *r = to;

    talk_feed(&r->said, bytes, hand_talk_over, r);
    pass_on(&r->talk, bytes);
}

static void err_end(void *to, const struct err *why)
{
    struct relay *r = to;

    (void)why;
    talk_end(&r->said, hand_talk_over, r);
    r->talk.ended = true;
    finish_if_drained(r);
}

static void err_drained(void *to)
{
    struct relay *r = to;

    drained(&r->talk);
    finish_if_drained(r);
}

static void errors_lost(void *to, const struct err *why)
{
    (void)why;
    err_drained(to);
}

static const struct stream_events client_in_events = { .data = up_data, .end = up_end };
static const struct stream_events server_in_events = { .drained = up_drained,
                                                       .broken = server_deaf };
static const struct stream_events server_out_events = { .data = down_data, .end = down_end };
static const struct stream_events client_out_events = { .drained = down_drained,
                                                        .broken = client_lost };
static const struct stream_events server_err_events = { .data = err_data, .end = err_end };
static const struct stream_events errors_events = { .drained = err_drained,
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

    if (!process_start(&r->server, l, config->argv, &fds, &server_events, r, errnum, e))
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

    *r = (struct relay){ .loop = l, .events = events, .to = to };
    inlet_init(&r->from_client, config->max_line, &up_events, r);
    inlet_init(&r->from_server, config->max_line, &down_events, r);
    talk_init(&r->said);
    *errnum = 0;
    if (!open_client(r, config, e) || !start_server(r, config, errnum, e)) {
        relay_close(r);
        return false;
    }
    r->look = timer_new(l, look_after_client, r);
    r->hush = timer_new(l, hush, r);
    stream_read(r->up.from, true);
    stream_read(r->down.from, true);
    stream_read(r->talk.from, true);
    *out = r;
    return true;
}

void relay_signal(struct relay *r, int signum)
{
    process_ask(r->server, signum);
}

static void close_pipe(struct pipe *p)
{
    stream_close(p->from);
    stream_close(p->into);
}

void relay_close(struct relay *r)
{
    if (!r)
        return;
    close_pipe(&r->up);
    close_pipe(&r->down);
    close_pipe(&r->talk);
    inlet_release(&r->from_client);
    inlet_release(&r->from_server);
    talk_release(&r->said);
    timer_close(r->look);
    timer_close(r->hush);
    process_close(r->server);
    free(r);
}

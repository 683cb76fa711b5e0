#include "transport/dial.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "loop/reach.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "transport/far.h"

struct dial {
    struct dialer *dialer;
    const struct dial_events *events;
    void *to;
    /* How it is connected: one of the two. */
    struct stream *near;
    struct far *far;
    struct reach *reach;      /* while a near one is being connected */
    struct timer *patience;   /* as long */
    struct buf held;          /* what was written in this turn, or before it is connected */
    struct dial *prev, *next; /* among those with something held */
    struct dial *todo;        /* the next one, while it is sent */
    unsigned inside;          /* calls of ours that are under way */
    bool connected, listed;
    bool reading;
    bool over, closed;
};

struct dialer {
    struct loop *loop;
    struct arena text; /* what this is in */
    const char *url;
    struct reach_address addresses[2];
    size_t address_count; /* 0: it is far away */
    int port;
    unsigned connect_ms;
    struct far_house *far;
    struct dial *holding;
    struct buf spare; /* memory for the next who holds something */
    struct timer *turn;
};

static void enter(struct dial *d)
{
    d->inside++;
}

static void leave(struct dial *d)
{
    if (--d->inside || !d->closed)
        return;
    buf_release(&d->held);
    free(d);
}

static void unlist(struct dial *d)
{
    if (!d->listed)
        return;
    d->listed = false;
    if (d->prev)
        d->prev->next = d->next;
    else
        d->dialer->holding = d->next;
    if (d->next)
        d->next->prev = d->prev;
    d->prev = d->next = NULL;
}

static void list(struct dial *d)
{
    if (d->listed)
        return;
    if (!d->dialer->holding)
        timer_set(d->dialer->turn, 0);
    d->listed = true;
    d->next = d->dialer->holding;
    if (d->next)
        d->next->prev = d;
    d->dialer->holding = d;
}

static size_t untaken(const struct dial *d)
{
    return d->near ? stream_queued(d->near) : d->far ? far_queued(d->far) : 0;
}

static void push(struct dial *d)
{
    if (!d->connected || d->over || !d->held.len)
        return;
    unlist(d);
    if (d->near)
        stream_write(d->near, buf_str(&d->held));
    else
        far_write(d->far, buf_str(&d->held));
    buf_give_back(&d->held, &d->dialer->spare); /* many are idle for long */
}

static void tell_drained(void *to)
{
    struct dial *d = to;

    enter(d);
    d->events->drained(d->to);
    leave(d);
}

/* For those who are inside: it may be closed by what it tells. */
static void push_and_tell(struct dial *d)
{
    bool had = d->held.len > 0;

    push(d);
    if (had && !untaken(d) && !d->over)
        d->events->drained(d->to);
}

static void push_what_is_held(void *to)
{
    struct dialer *dialer = to;
    struct dial *d, *todo = NULL;

    /* What is written meanwhile is for the next turn. */
    while ((d = dialer->holding)) {
        unlist(d);
        d->todo = todo;
        todo = d;
        enter(d);
    }
    while ((d = todo)) {
        todo = d->todo;
        if (!d->closed)
            push_and_tell(d);
        leave(d);
    }
}

static void be_connected(void *to)
{
    struct dial *d = to;

    enter(d);
    d->connected = true;
    push_and_tell(d);
    leave(d);
}

static void tell_data(void *to, struct str bytes)
{
    struct dial *d = to;

    enter(d);
    d->events->data(d->to, bytes);
    leave(d);
}

static void tell_end(void *to, bool clean)
{
    struct dial *d = to;

    enter(d);
    d->over = true;
    d->events->end(d->to, clean);
    leave(d);
}

static void tell_failed(void *to, enum dial_fault fault, const struct err *why)
{
    struct dial *d = to;

    enter(d);
    d->over = true;
    d->events->failed(d->to, fault, why);
    leave(d);
}

static const struct far_events far_events = { .connected = be_connected,
                                              .failed = tell_failed,
                                              .data = tell_data,
                                              .end = tell_end,
                                              .drained = tell_drained };

static void near_end(void *to, const struct err *why)
{
    tell_end(to, !why);
}

/* What cannot be sent is dropped; reading tells the rest. */
static const struct stream_events near_events = { .data = tell_data,
                                                  .end = near_end,
                                                  .drained = tell_drained };

static void stop_reaching(struct dial *d)
{
    reach_close(d->reach);
    d->reach = NULL;
    timer_close(d->patience);
    d->patience = NULL;
}

static void fail_near(struct dial *d, enum dial_fault fault, const char *text)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_PEER, "cannot connect to '%s': %s", d->dialer->url, text);
    if (fault == DIAL_REFUSED)
        err_hint(&e, "is the server running there?");
    tell_failed(d, fault, &e);
}

static void took_too_long(void *to)
{
    struct dial *d = to;

    stop_reaching(d);
    fail_near(d, DIAL_TIMEOUT, "it took too long");
}

static void reached(void *to, int fd, enum reach_fault why)
{
    static const struct {
        enum dial_fault fault;
        const char *text;
    } faults[] = {
        [REACH_REFUSED] = { DIAL_REFUSED, "connection refused" },
        [REACH_NO_WAY] = { DIAL_UNREACHABLE, "there is no way to it" },
        [REACH_SCARCE] = { DIAL_SCARCE, "no file descriptor is left" },
    };
    struct dial *d = to;
    struct err e = ERR_NONE;

    d->reach = NULL;
    stop_reaching(d);
    if (fd < 0) {
        fail_near(d, faults[why].fault, faults[why].text);
        return;
    }
    if (!stream_open(&d->near, d->dialer->loop, fd, &near_events, d, &e))
        BUG("a socket that was made just now");
    stream_read(d->near, d->reading);
    be_connected(d);
}

/* The addresses of a server that is connected to directly. */
static void find_near(struct dialer *d, const struct url *url)
{
    static const struct reach_address v6 = { .v6 = true, .at = { [15] = 1 } };
    static const struct reach_address v4 = { .at = { [12] = 127, [15] = 1 } };
    const struct url_authority *a = &url->authority;

    if (url->https || !url_is_loopback(a))
        return;
    if (a->ip.kind == IP_NONE) { /* localhost */
        d->addresses[0] = v6;
        d->addresses[1] = v4;
        d->address_count = 2;
        return;
    }
    d->addresses[0].v6 = a->ip.kind == IP_V6;
    memcpy(d->addresses[0].at, a->ip.at, sizeof a->ip.at);
    d->address_count = 1;
}

static bool open_far(struct dialer *d, const struct dialer_config *config, struct err *e)
{
    struct far_config far = { .url = d->url,
                              .here = url_is_loopback(&config->url->authority),
                              .connect_ms = config->connect_ms };

    if (config->cacert.len)
        far.cacert = arena_z(&d->text, config->cacert);
    return far_house_new(&d->far, d->loop, &far, &far_events, e);
}

bool dialer_new(struct dialer **out, struct loop *l, const struct dialer_config *config,
                struct err *e)
{
    struct dialer *d = mem_new(struct dialer);
    const struct url_authority *a = &config->url->authority;
    bool bracketed = a->ip.kind == IP_V6;

    d->loop = l;
    d->port = url_port(config->url);
    d->connect_ms = config->connect_ms;
    d->url = arena_printf(&d->text, "%s://%s%.*s%s:%d", config->url->https ? "https" : "http",
                          bracketed ? "[" : "", STR_ARG(a->host), bracketed ? "]" : "", d->port)
                 .at;
    d->turn = timer_new(l, push_what_is_held, d);
    find_near(d, config->url);
    if (!d->address_count && !open_far(d, config, e)) {
        dialer_free(d);
        return false;
    }
    *out = d;
    return true;
}

void dialer_free(struct dialer *d)
{
    if (!d)
        return;
    BUG_IF(d->holding);
    far_house_free(d->far);
    timer_close(d->turn);
    buf_release(&d->spare);
    arena_release(&d->text);
    free(d);
}

struct dial *dial_open(struct dialer *dialer, const struct dial_events *events, void *to)
{
    struct dial *d = mem_new(struct dial);

    *d = (struct dial){ .dialer = dialer, .events = events, .to = to, .reading = true };
    buf_init(&d->held, SIZE_MAX);
    if (!dialer->address_count) {
        d->far = far_open(dialer->far, d);
        return d;
    }
    d->reach = reach_start(dialer->loop, dialer->addresses, dialer->address_count, dialer->port,
                           reached, d);
    d->patience = timer_new(dialer->loop, took_too_long, d);
    timer_set(d->patience, dialer->connect_ms);
    return d;
}

void dial_write(struct dial *d, struct str bytes)
{
    if (d->over || !bytes.len)
        return;
    buf_borrow(&d->held, &d->dialer->spare);
    buf_add(&d->held, bytes);
    if (d->connected)
        list(d);
}

void dial_flush(struct dial *d)
{
    push(d);
}

size_t dial_queued(const struct dial *d)
{
    return d->over ? 0 : d->held.len + untaken(d);
}

void dial_read(struct dial *d, bool on)
{
    d->reading = on;
    if (d->near)
        stream_read(d->near, on);
    else if (d->far)
        far_read(d->far, on);
}

void dial_close(struct dial *d)
{
    if (!d || d->closed)
        return;
    enter(d);
    unlist(d);
    stop_reaching(d);
    stream_close(d->near);
    far_close(d->far);
    d->closed = d->over = true;
    leave(d);
}

#include "transport/upstream-conn.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "loop/connect.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "transport/curl-conn.h"

struct upstream_conn {
    struct upstream_connector *connector;
    const struct upstream_conn_events *events;
    void *to;
    /* Direct, or with libcurl: one of them. */
    struct stream *stream;
    struct curl_conn *curl;
    struct connect_attempt *connect; /* while connecting directly */
    struct timer *connect_timer;     /* for the same time */
    struct buf pending;              /* bytes written in this turn, or before it is connected */
    struct upstream_conn *prev, *next;   /* in the list of those with pending bytes */
    struct upstream_conn *next_to_flush; /* list of flush_all() */
    unsigned call_depth; /* calls on the stack: it is freed when the last one returns */
    bool connected, is_pending;
    bool reading;
    bool done, closed;
};

struct upstream_connector {
    struct loop *loop;
    struct arena text; /* texts of the other members */
    const char *url;
    struct connect_address addresses[2];
    size_t address_count; /* 0: connect with libcurl */
    int port;
    unsigned connect_ms;
    struct curl_conn_shared *curl;
    struct upstream_conn *pending;
    struct buf spare; /* memory for the next connection with pending bytes */
    struct timer *flush_timer;
};

static void enter(struct upstream_conn *d)
{
    d->call_depth++;
}

static void leave(struct upstream_conn *d)
{
    if (--d->call_depth || !d->closed)
        return;
    buf_release(&d->pending);
    free(d);
}

static void remove_pending(struct upstream_conn *d)
{
    if (!d->is_pending)
        return;
    d->is_pending = false;
    if (d->prev)
        d->prev->next = d->next;
    else
        d->connector->pending = d->next;
    if (d->next)
        d->next->prev = d->prev;
    d->prev = d->next = NULL;
}

static void add_pending(struct upstream_conn *d)
{
    if (d->is_pending)
        return;
    if (!d->connector->pending)
        timer_set(d->connector->flush_timer, 0);
    d->is_pending = true;
    d->next = d->connector->pending;
    if (d->next)
        d->next->prev = d;
    d->connector->pending = d;
}

static size_t unsent_bytes(const struct upstream_conn *d)
{
    return d->stream ? stream_queued(d->stream) : d->curl ? curl_conn_queued(d->curl) : 0;
}

static void flush_pending(struct upstream_conn *d)
{
    if (!d->connected || d->done || !d->pending.len)
        return;
    remove_pending(d);
    if (d->stream)
        stream_write(d->stream, buf_str(&d->pending));
    else
        curl_conn_write(d->curl, buf_str(&d->pending));
    buf_return_spare(&d->pending, &d->connector->spare); /* idle connections keep no memory */
}

static void on_drained(void *to)
{
    struct upstream_conn *d = to;

    enter(d);
    d->events->drained(d->to);
    leave(d);
}

/* Only inside enter() and leave(): the event may close the connection. */
static void flush_and_notify(struct upstream_conn *d)
{
    bool had = d->pending.len > 0;

    flush_pending(d);
    if (had && !unsent_bytes(d) && !d->done)
        d->events->drained(d->to);
}

static void flush_all(void *to)
{
    struct upstream_connector *dialer = to;
    struct upstream_conn *d, *flush_list = NULL;

    /* Bytes written by the events are sent in the next turn. */
    while ((d = dialer->pending)) {
        remove_pending(d);
        d->next_to_flush = flush_list;
        flush_list = d;
        enter(d);
    }
    while ((d = flush_list)) {
        flush_list = d->next_to_flush;
        if (!d->closed)
            flush_and_notify(d);
        leave(d);
    }
}

static void on_connected(void *to)
{
    struct upstream_conn *d = to;

    enter(d);
    d->connected = true;
    flush_and_notify(d);
    leave(d);
}

static void on_data(void *to, struct str bytes)
{
    struct upstream_conn *d = to;

    enter(d);
    d->events->data(d->to, bytes);
    leave(d);
}

static void on_end(void *to, bool clean)
{
    struct upstream_conn *d = to;

    enter(d);
    d->done = true;
    d->events->end(d->to, clean);
    leave(d);
}

static void on_failed(void *to, enum upstream_conn_error fault, const struct err *why)
{
    struct upstream_conn *d = to;

    enter(d);
    d->done = true;
    d->events->failed(d->to, fault, why);
    leave(d);
}

static const struct curl_conn_events curl_events = { .connected = on_connected,
                                                     .failed = on_failed,
                                                     .data = on_data,
                                                     .end = on_end,
                                                     .drained = on_drained };

static void on_direct_end(void *to, const struct err *why)
{
    on_end(to, !why);
}

/* No `broken`: bytes that cannot be sent are dropped, and reading reports the end. */
static const struct stream_events direct_events = { .data = on_data,
                                                    .end = on_direct_end,
                                                    .drained = on_drained };

static void stop_connecting(struct upstream_conn *d)
{
    connect_close(d->connect);
    d->connect = NULL;
    timer_close(d->connect_timer);
    d->connect_timer = NULL;
}

static void fail_direct(struct upstream_conn *d, enum upstream_conn_error fault,
                        const char *text)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_PEER, "cannot connect to '%s': %s", d->connector->url, text);
    if (fault == UPSTREAM_CONN_REFUSED)
        err_hint(&e, "is the server running there?");
    on_failed(d, fault, &e);
}

static void on_connect_timeout(void *to)
{
    struct upstream_conn *d = to;

    stop_connecting(d);
    fail_direct(d, UPSTREAM_CONN_TIMEOUT, "timed out");
}

static void on_connect_result(void *to, int fd, enum connect_error why)
{
    static const struct {
        enum upstream_conn_error fault;
        const char *text;
    } faults[] = {
        [CONNECT_REFUSED] = { UPSTREAM_CONN_REFUSED, "connection refused" },
        [CONNECT_UNREACHABLE] = { UPSTREAM_CONN_UNREACHABLE, "host unreachable" },
        [CONNECT_NO_FD] = { UPSTREAM_CONN_NO_FDS, "no file descriptor is free" },
    };
    struct upstream_conn *d = to;
    struct err e = ERR_NONE;

    d->connect = NULL;
    stop_connecting(d);
    if (fd < 0) {
        fail_direct(d, faults[why].fault, faults[why].text);
        return;
    }
    if (!stream_open(&d->stream, d->connector->loop, fd, &direct_events, d, &e))
        BUG("cannot open a stream for a new socket");
    stream_read(d->stream, d->reading);
    on_connected(d);
}

/* Sets the addresses of a server to connect to directly; none: use libcurl. */
static void set_direct_addresses(struct upstream_connector *d, const struct url *url)
{
    static const struct connect_address v6 = { .v6 = true, .bytes = { [15] = 1 } };
    static const struct connect_address v4 = { .bytes = { [12] = 127, [15] = 1 } };
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
    memcpy(d->addresses[0].bytes, a->ip.bytes, sizeof a->ip.bytes);
    d->address_count = 1;
}

static bool open_curl(struct upstream_connector *d,
                      const struct upstream_connector_config *config, struct err *e)
{
    struct curl_conn_config far = { .url = d->url,
                                    .is_loopback = url_is_loopback(&config->url->authority),
                                    .connect_ms = config->connect_ms };

    if (config->cacert.len)
        far.cacert = arena_z(&d->text, config->cacert);
    return curl_conn_shared_new(&d->curl, d->loop, &far, &curl_events, e);
}

bool upstream_connector_new(struct upstream_connector **out, struct loop *l,
                            const struct upstream_connector_config *config, struct err *e)
{
    struct upstream_connector *d = mem_new(struct upstream_connector);
    const struct url_authority *a = &config->url->authority;
    bool bracketed = a->ip.kind == IP_V6;

    d->loop = l;
    d->port = url_port(config->url);
    d->connect_ms = config->connect_ms;
    d->url = arena_printf(&d->text, "%s://%s%.*s%s:%d", config->url->https ? "https" : "http",
                          bracketed ? "[" : "", STR_ARG(a->host), bracketed ? "]" : "", d->port)
                 .at;
    d->flush_timer = timer_new(l, flush_all, d);
    set_direct_addresses(d, config->url);
    if (!d->address_count && !open_curl(d, config, e)) {
        upstream_connector_free(d);
        return false;
    }
    *out = d;
    return true;
}

void upstream_connector_free(struct upstream_connector *d)
{
    if (!d)
        return;
    BUG_IF(d->pending);
    curl_conn_shared_free(d->curl);
    timer_close(d->flush_timer);
    buf_release(&d->spare);
    arena_release(&d->text);
    free(d);
}

struct upstream_conn *upstream_conn_open(struct upstream_connector *dialer,
                                         const struct upstream_conn_events *events, void *to)
{
    struct upstream_conn *d = mem_new(struct upstream_conn);

    *d = (struct upstream_conn){
        .connector = dialer, .events = events, .to = to, .reading = true
    };
    buf_init(&d->pending, SIZE_MAX);
    if (!dialer->address_count) {
        d->curl = curl_conn_open(dialer->curl, d);
        return d;
    }
    d->connect = connect_start(dialer->loop, dialer->addresses, dialer->address_count,
                               dialer->port, on_connect_result, d);
    d->connect_timer = timer_new(dialer->loop, on_connect_timeout, d);
    timer_set(d->connect_timer, dialer->connect_ms);
    return d;
}

void upstream_conn_write(struct upstream_conn *d, struct str bytes)
{
    if (d->done || !bytes.len)
        return;
    buf_take_spare(&d->pending, &d->connector->spare);
    buf_add(&d->pending, bytes);
    if (d->connected)
        add_pending(d);
}

void upstream_conn_flush(struct upstream_conn *d)
{
    flush_pending(d);
}

size_t upstream_conn_queued(const struct upstream_conn *d)
{
    return d->done ? 0 : d->pending.len + unsent_bytes(d);
}

void upstream_conn_read(struct upstream_conn *d, bool on)
{
    d->reading = on;
    if (d->stream)
        stream_read(d->stream, on);
    else if (d->curl)
        curl_conn_read(d->curl, on);
}

void upstream_conn_close(struct upstream_conn *d)
{
    if (!d || d->closed)
        return;
    enter(d);
    remove_pending(d);
    stop_connecting(d);
    stream_close(d->stream);
    curl_conn_close(d->curl);
    d->closed = d->done = true;
    leave(d);
}

#include "transport/http-server.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/fd-limit.h"
#include "loop/listener.h"
#include "loop/timer.h"
#include "transport/http-conn.h"

enum {
    /* Connections that are rejected with 503 at the same time; others wait to be accepted. They
     * take descriptors, too: fewer if the limit is low. */
    REJECT_MAX = 32,
    REJECT_MAX_FEW = 8,
    CLOSE_POLL_MS = 20, /* interval to check whether clients that are not read have closed */
    DRAIN_MS = 200,     /* for clients to read an aborted response and to close, at shutdown */
    SILENT_MS = 250, /* age from which a connection without a byte may be closed for another */
    ACCEPT_RETRY_MS = 50, /* interval to look for those while accepting is paused */
    TICK_MIN_MS = 5,
    TICK_MAX_MS = 1000,
};

/* A client. It is removed from the lists and freed only by a timer of the loop, so that events
 * may be called while a list is walked. */
struct client_conn {
    struct client_conn *next, **back; /* list of all */
    struct client_conn *next_paused,
        **back_paused; /* those not read; `back_paused` NULL: not in it */
    struct client_conn *next_silent,
        **back_silent; /* see `silent`; `back_silent` NULL: not in it */
    struct client_conn *next_pending;
    int64_t connected_ms; /* monotonic time */
    struct http_server *server;
    struct stream *stream; /* NULL once closed */
    bool is_pending, lost;
    bool rejected;    /* it only gets 503: there are too many */
    bool half_closed; /* it closed its side; there may be unread input */
    struct http_conn conn;
};

struct http_server {
    struct loop *loop;
    struct listener *listener; /* NULL while stopping */
    struct timer *tick_timer, *poll_timer, *work_timer, *grace_timer, *accept_timer;
    struct http_conn_shared shared;
    struct url_authority address;
    char host[LISTENER_HOST_SIZE + 256];
    struct client_conn *clients, *read_paused, *pending;
    /* Connections that have not sent a byte, the oldest first. From SILENT_MS on they are
     * closed if there is no room for another one. */
    struct client_conn *silent, **silent_end;
    size_t count, max;
    size_t rejected; /* of `count`, those that get 503 */
    size_t accepted; /* of the others, those that are open */
    uint64_t last_number;
    unsigned tick_ms;
    bool accept_paused; /* too many are being rejected: no further one is accepted */
    bool stopping;
    void (*done)(void *to);
    void *done_to;
};

/* Has on_work_timer() look at the client: it may free it, unlike the caller. */
static void schedule_work(struct client_conn *g)
{
    struct http_server *s = g->server;

    if (g->is_pending)
        return;
    if (!s->pending)
        timer_set(s->work_timer, 0);
    g->is_pending = true;
    g->next_pending = s->pending;
    s->pending = g;
}

/* Functions for the connection. */

static void set_read_paused(struct client_conn *g, bool paused)
{
    struct http_server *s = g->server;

    if (paused == (g->back_paused != NULL))
        return;
    if (paused) {
        if (!s->read_paused)
            timer_set(s->poll_timer, CLOSE_POLL_MS);
        g->next_paused = s->read_paused;
        g->back_paused = &s->read_paused;
        if (s->read_paused)
            s->read_paused->back_paused = &g->next_paused;
        s->read_paused = g;
        return;
    }
    *g->back_paused = g->next_paused;
    if (g->next_paused)
        g->next_paused->back_paused = g->back_paused;
    g->back_paused = NULL;
}

static void add_silent(struct client_conn *g)
{
    struct http_server *s = g->server;

    g->next_silent = NULL;
    g->back_silent = s->silent_end;
    *s->silent_end = g;
    s->silent_end = &g->next_silent;
}

static void remove_silent(struct client_conn *g)
{
    if (!g->back_silent)
        return;
    *g->back_silent = g->next_silent;
    if (g->next_silent)
        g->next_silent->back_silent = g->back_silent;
    else
        g->server->silent_end = g->back_silent;
    g->back_silent = NULL;
}

static void do_write(void *at, struct str bytes)
{
    struct client_conn *g = at;

    stream_write(g->stream, bytes);
}

static void do_read(void *at, bool on)
{
    struct client_conn *g = at;

    stream_read(g->stream, on);
    set_read_paused(g, !on || g->conn.input_closed);
}

/* The reset may have come already. */
static void do_watch_reset(void *at)
{
    struct client_conn *g = at;

    set_read_paused(g, true);
    schedule_work(g);
}

static void do_finish(void *at)
{
    struct client_conn *g = at;

    stream_shutdown(g->stream);
}

static void do_close(void *at, bool reset)
{
    struct client_conn *g = at;

    if (reset)
        stream_reset(g->stream);
    else
        stream_close(g->stream);
    g->stream = NULL;
    g->server->accepted -= !g->rejected;
    set_read_paused(g, false);
    remove_silent(g);
    schedule_work(g);
}

static void do_resume_later(void *at)
{
    schedule_work(at);
}

static size_t get_queued(const void *at)
{
    const struct client_conn *g = at;

    return g->stream ? stream_queued(g->stream) : 0;
}

static const struct http_conn_io conn_io = {
    .write = do_write,
    .read = do_read,
    .finish = do_finish,
    .close = do_close,
    .resume_later = do_resume_later,
    .queued = get_queued,
    .watch_reset = do_watch_reset,
};

/* Events of the socket. */

static void on_data(void *to, struct str bytes)
{
    struct client_conn *g = to;

    remove_silent(g);
    http_conn_feed(&g->conn, bytes);
}

static void on_end(void *to, const struct err *why)
{
    struct client_conn *g = to;

    if (why)
        http_conn_lost(&g->conn);
    else
        http_conn_input_closed(&g->conn);
}

static void on_drained(void *to)
{
    struct client_conn *g = to;

    http_conn_drained(&g->conn);
}

/* May come while the owner is writing. */
static void on_broken(void *to, const struct err *why)
{
    struct client_conn *g = to;

    (void)why;
    g->lost = true;
    schedule_work(g);
}

/* Connections. */

static size_t reject_max(const struct http_server *s)
{
    return s->max > 2 * REJECT_MAX ? REJECT_MAX : REJECT_MAX_FEW;
}

/* Returns the oldest silent connection that may be closed: one with unread input may not. */
static struct client_conn *find_silent(const struct http_server *s, bool rejected)
{
    int64_t before = clock_mono_us() / 1000 - SILENT_MS;

    for (struct client_conn *g = s->silent; g && g->connected_ms <= before; g = g->next_silent)
        if (g->rejected == rejected && !stream_has_input(g->stream))
            return g;
    return NULL;
}

/* Closes one silent connection to make room for another. */
static bool close_silent(struct http_server *s, bool rejected)
{
    struct client_conn *g = find_silent(s, rejected);

    if (g)
        http_conn_lost(&g->conn);
    return g;
}

static void on_accept_timer(void *to)
{
    struct http_server *s = to;

    while (s->accept_paused && close_silent(s, true))
        ; /* each is freed by the timer, which resumes accepting */
    if (s->accept_paused)
        timer_set(s->accept_timer, ACCEPT_RETRY_MS);
}

static void free_client(struct client_conn *g)
{
    struct http_server *s = g->server;

    remove_silent(g);
    *g->back = g->next;
    if (g->next)
        g->next->back = g->back;
    s->rejected -= g->rejected;
    http_conn_release(&g->conn);
    free(g);
    if (--s->count == 0)
        timer_stop(s->tick_timer);
    if (s->accept_paused && s->rejected < reject_max(s)) {
        s->accept_paused = false;
        if (s->listener)
            listener_pause(s->listener, false);
    }
}

static void end_client(struct client_conn *g)
{
    const struct http_conn_shared *h = &g->server->shared;

    if (h->events->conn_closed)
        h->events->conn_closed(h->to, g->conn.number);
    free_client(g);
}

static void on_connection(void *to, struct stream *stream, bool scarce)
{
    struct http_server *s = to;
    struct client_conn *g;

    g = mem_new(struct client_conn);
    g->server = s;
    g->stream = stream;
    g->next = s->clients;
    g->back = &s->clients;
    if (s->clients)
        s->clients->back = &g->next;
    s->clients = g;
    if (s->count++ == 0)
        timer_set(s->tick_timer, s->tick_ms);
    stream_set_receiver(stream, g);
    stream_batch_writes(stream);
    stream_read(stream, true);
    http_conn_init(&g->conn, &s->shared, g, ++s->last_number);
    g->connected_ms = clock_mono_us() / 1000;
    g->rejected = (scarce || s->accepted >= s->max) && !close_silent(s, false);
    add_silent(g);
    if (g->rejected) {
        s->rejected++;
        http_conn_reject_overload(&g->conn);
    } else {
        s->accepted++;
    }
    if (s->rejected >= reject_max(s)) {
        s->accept_paused = true;
        listener_pause(s->listener, true);
        timer_set(s->accept_timer, ACCEPT_RETRY_MS);
    }
}

static const struct listener_events listener_events = {
    .connection = on_connection,
    .stream = { .data = on_data, .end = on_end, .drained = on_drained, .broken = on_broken },
};

static void on_work_timer(void *to)
{
    struct http_server *s = to;
    struct client_conn *due = s->pending;

    s->pending = NULL;
    while (due) {
        struct client_conn *g = due;

        due = g->next_pending;
        g->is_pending = false;
        if (!g->stream)
            end_client(g);
        else if (g->lost || stream_is_broken(g->stream))
            http_conn_lost(&g->conn);
        else if (g->half_closed && !g->conn.half_closed)
            http_conn_closed_unread(&g->conn);
        else
            http_conn_resume(&g->conn);
    }
    if (s->stopping && !s->count && s->done) {
        void (*done)(void *) = s->done;

        s->done = NULL;
        timer_stop(s->grace_timer);
        done(s->done_to);
    }
}

static void on_poll_timer(void *to)
{
    struct http_server *s = to;

    for (struct client_conn *g = s->read_paused; g; g = g->next_paused) {
        g->lost = g->lost || stream_is_broken(g->stream);
        g->half_closed = stream_is_peer_closed(g->stream);
        if (g->lost || (g->half_closed && !g->conn.half_closed))
            schedule_work(g);
    }
    if (s->read_paused)
        timer_set(s->poll_timer, CLOSE_POLL_MS);
}

static void on_tick_timer(void *to)
{
    struct http_server *s = to;
    int64_t now = clock_mono_us() / 1000;

    for (struct client_conn *g = s->clients; g; g = g->next)
        http_conn_tick(&g->conn, now);
    timer_set(s->tick_timer, s->tick_ms);
}

/* Returns a quarter of the shortest timeout. */
static unsigned tick_interval(const struct http_conn_timeouts *p)
{
    const unsigned all[] = { p->head_ms, p->idle_ms, p->body_ms, p->write_ms, p->linger_ms };
    unsigned ms = 4 * TICK_MAX_MS;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ms = all[i] < ms ? all[i] : ms;
    return ms / 4 > TICK_MIN_MS ? ms / 4 : TICK_MIN_MS;
}

/* Keeps a name as the address: clients use the name in Host, too. */
static void set_address(struct http_server *s, struct str host)
{
    bool named = host.len && host.len < sizeof s->host && ip_parse(host).kind == IP_NONE &&
                 !str_eq(host, STR("*")) && !str_eq(host, STR("localhost"));

    snprintf(s->host, sizeof s->host, "%.*s",
             STR_ARG(named ? host : str_z(listener_host(s->listener))));
    s->address.host = str_z(s->host);
    s->address.ip = ip_parse(s->address.host);
    s->address.port = listener_port(s->listener);
}

bool http_server_open(struct http_server **out, struct loop *l,
                      const struct http_server_config *config,
                      const struct http_exchange_events *events, void *to, struct err *e)
{
    struct http_server *s = mem_new(struct http_server);

    if (!listener_open(&s->listener, l, config->host, config->port, &listener_events, s, e)) {
        free(s);
        return false;
    }
    s->loop = l;
    s->max = config->max_connections ? config->max_connections
                                     : fd_limit_capacity(1 + config->fds_per_client);
    s->shared = (struct http_conn_shared){
        .io = &conn_io,
        .events = events,
        .to = to,
        .self = &s->address,
        .timeouts = config->timeouts ? config->timeouts : &http_conn_default_timeouts,
    };
    buf_init(&s->shared.compose_buf, HTTP_CONN_COMPOSE_MAX);
    s->tick_ms = tick_interval(s->shared.timeouts);
    s->tick_timer = timer_new(l, on_tick_timer, s);
    s->poll_timer = timer_new(l, on_poll_timer, s);
    s->work_timer = timer_new(l, on_work_timer, s);
    s->accept_timer = timer_new(l, on_accept_timer, s);
    s->silent_end = &s->silent;
    set_address(s, config->host);
    *out = s;
    return true;
}

const struct url_authority *http_server_address(const struct http_server *s)
{
    return &s->address;
}

size_t http_server_connections(const struct http_server *s)
{
    return s->count;
}

/* First aborts the exchanges, then the connections of clients that do not close. */
static void on_grace_timer(void *to)
{
    struct http_server *s = to;

    for (struct client_conn *g = s->clients; g; g = g->next)
        http_conn_abort(&g->conn);
    timer_set(s->grace_timer, DRAIN_MS);
}

void http_server_stop(struct http_server *s, uint64_t grace_ms, void (*done)(void *to),
                      void *to)
{
    BUG_IF(s->stopping);
    s->stopping = true;
    s->done = done;
    s->done_to = to;
    listener_close(s->listener);
    s->listener = NULL;
    s->grace_timer = timer_new(s->loop, on_grace_timer, s);
    timer_set(s->grace_timer, grace_ms);
    timer_set(s->work_timer, 0);
    for (struct client_conn *g = s->clients; g; g = g->next)
        http_conn_stop(&g->conn);
}

void http_server_close(struct http_server *s)
{
    if (!s)
        return;
    listener_close(s->listener);
    while (s->clients) {
        stream_reset(s->clients->stream);
        free_client(s->clients);
    }
    timer_close(s->tick_timer);
    timer_close(s->poll_timer);
    timer_close(s->work_timer);
    timer_close(s->grace_timer);
    timer_close(s->accept_timer);
    http_conn_shared_release(&s->shared);
    free(s);
}

#include "transport/http-server.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/descriptors.h"
#include "loop/listener.h"
#include "loop/timer.h"
#include "transport/http-conn.h"

enum {
    /* Who are told that there are too many, at once; the others wait. They take descriptors,
     * too: fewer where there are few. */
    AWAY_MAX = 32,
    AWAY_FEW = 8,
    LOOK_MS = 20,      /* between looks whether those who are not read are still there */
    FAREWELL_MS = 200, /* for those who have been told that we end */
    SILENT_MS = 250,   /* after that a connection without a byte may be closed for another */
    RELIEF_MS = 50,    /* between looks for these, while no client is accepted */
    TICK_MIN_MS = 5,
    TICK_MAX_MS = 1000,
};

/* A client. It is taken off the lists and freed from the loop only: so whoever walks a list
 * may call others meanwhile. */
struct guest {
    struct guest *next, **back;               /* all of them */
    struct guest *next_deaf, **back_deaf;     /* who are not read; `back_deaf` NULL: is */
    struct guest *next_silent, **back_silent; /* see `silent`; `back_silent` NULL: it is not */
    struct guest *next_due;
    int64_t since_ms; /* when it came */
    struct http_server *server;
    struct stream *stream; /* NULL once it is closed */
    bool due, lost;
    bool away; /* it is only told that there are too many */
    bool left; /* it has closed its side, though more may have to be read */
    struct http_conn conn;
};

struct http_server {
    struct loop *loop;
    struct listener *listener; /* NULL once we are stopping */
    struct timer *tick, *look, *soon, *grace, *relief;
    struct http_conn_house house;
    struct url_authority self;
    char host[LISTENER_ADDRESS + 256];
    struct guest *guests, *deaf, *due;
    /* The connections that have not sent a byte, the oldest first. Where there is no room for
     * another one they are closed, once they are SILENT_MS old. */
    struct guest *silent, **silent_end;
    size_t count, max;
    size_t away;   /* of `count`, those who take nobody's place */
    size_t inside; /* the others, as far as they are open */
    uint64_t last_number;
    unsigned tick_ms;
    bool full; /* nobody else is taken, not even to be told so */
    bool stopping;
    void (*done)(void *to);
    void *done_to;
};

/* What has to be done, but not by whoever notices. */
static void make_due(struct guest *g)
{
    struct http_server *s = g->server;

    if (g->due)
        return;
    if (!s->due)
        timer_set(s->soon, 0);
    g->due = true;
    g->next_due = s->due;
    s->due = g;
}

/* What the connection wants of its socket. */

static void set_deaf(struct guest *g, bool deaf)
{
    struct http_server *s = g->server;

    if (deaf == (g->back_deaf != NULL))
        return;
    if (deaf) {
        if (!s->deaf)
            timer_set(s->look, LOOK_MS);
        g->next_deaf = s->deaf;
        g->back_deaf = &s->deaf;
        if (s->deaf)
            s->deaf->back_deaf = &g->next_deaf;
        s->deaf = g;
        return;
    }
    *g->back_deaf = g->next_deaf;
    if (g->next_deaf)
        g->next_deaf->back_deaf = g->back_deaf;
    g->back_deaf = NULL;
}

static void add_silent(struct guest *g)
{
    struct http_server *s = g->server;

    g->next_silent = NULL;
    g->back_silent = s->silent_end;
    *s->silent_end = g;
    s->silent_end = &g->next_silent;
}

static void end_silence(struct guest *g)
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
    struct guest *g = at;

    stream_write(g->stream, bytes);
}

static void do_read(void *at, bool on)
{
    struct guest *g = at;

    stream_read(g->stream, on);
    set_deaf(g, !on || g->conn.ended);
}

/* What it was sent may have come back already. */
static void do_watch(void *at)
{
    struct guest *g = at;

    set_deaf(g, true);
    make_due(g);
}

static void do_finish(void *at)
{
    struct guest *g = at;

    stream_finish(g->stream);
}

static void do_close(void *at, bool reset)
{
    struct guest *g = at;

    if (reset)
        stream_reset(g->stream);
    else
        stream_close(g->stream);
    g->stream = NULL;
    g->server->inside -= !g->away;
    set_deaf(g, false);
    end_silence(g);
    make_due(g);
}

static void do_soon(void *at)
{
    make_due(at);
}

static size_t get_queued(const void *at)
{
    const struct guest *g = at;

    return g->stream ? stream_queued(g->stream) : 0;
}

static const struct http_conn_port port = {
    .write = do_write,
    .read = do_read,
    .finish = do_finish,
    .close = do_close,
    .soon = do_soon,
    .queued = get_queued,
    .watch = do_watch,
};

/* What its socket tells. */

static void on_data(void *to, struct str bytes)
{
    struct guest *g = to;

    end_silence(g);
    http_conn_feed(&g->conn, bytes);
}

static void on_end(void *to, const struct err *why)
{
    struct guest *g = to;

    if (why)
        http_conn_lost(&g->conn);
    else
        http_conn_ended(&g->conn);
}

static void on_drained(void *to)
{
    struct guest *g = to;

    http_conn_drained(&g->conn);
}

/* Maybe in the middle of what the owner is just writing. */
static void on_broken(void *to, const struct err *why)
{
    struct guest *g = to;

    (void)why;
    g->lost = true;
    make_due(g);
}

/* Coming and going. */

static size_t away_max(const struct http_server *s)
{
    return s->max > 2 * AWAY_MAX ? AWAY_MAX : AWAY_FEW;
}

/* The connection that was silent longest, if it may be closed. One whose bytes have come, and
 * were not read yet, may not. */
static struct guest *find_silent(const struct http_server *s, bool away)
{
    int64_t before = clock_mono_us() / 1000 - SILENT_MS;

    for (struct guest *g = s->silent; g && g->since_ms <= before; g = g->next_silent)
        if (g->away == away && !stream_pending(g->stream))
            return g;
    return NULL;
}

/* Closes one connection, so that another one has its place. */
static bool close_silent(struct http_server *s, bool away)
{
    struct guest *g = find_silent(s, away);

    if (g)
        http_conn_lost(&g->conn);
    return g;
}

static void on_relief(void *to)
{
    struct http_server *s = to;

    while (s->full && close_silent(s, true))
        ; /* each is freed from the loop, which takes others then */
    if (s->full)
        timer_set(s->relief, RELIEF_MS);
}

static void free_guest(struct guest *g)
{
    struct http_server *s = g->server;

    end_silence(g);
    *g->back = g->next;
    if (g->next)
        g->next->back = g->back;
    s->away -= g->away;
    http_conn_release(&g->conn);
    free(g);
    if (--s->count == 0)
        timer_stop(s->tick);
    if (s->full && s->away < away_max(s)) {
        s->full = false;
        if (s->listener)
            listener_pause(s->listener, false);
    }
}

static void say_goodbye(struct guest *g)
{
    const struct http_conn_house *h = &g->server->house;

    if (h->events->left)
        h->events->left(h->to, g->conn.number);
    free_guest(g);
}

static void on_connection(void *to, struct stream *stream, bool scarce)
{
    struct http_server *s = to;
    struct guest *g;

    g = mem_new(struct guest);
    g->server = s;
    g->stream = stream;
    g->next = s->guests;
    g->back = &s->guests;
    if (s->guests)
        s->guests->back = &g->next;
    s->guests = g;
    if (s->count++ == 0)
        timer_set(s->tick, s->tick_ms);
    stream_tell(stream, g);
    stream_hold(stream);
    stream_read(stream, true);
    http_conn_init(&g->conn, &s->house, g, ++s->last_number);
    g->since_ms = clock_mono_us() / 1000;
    g->away = (scarce || s->inside >= s->max) && !close_silent(s, false);
    add_silent(g);
    if (g->away) {
        s->away++;
        http_conn_turn_away(&g->conn);
    } else {
        s->inside++;
    }
    if (s->away >= away_max(s)) {
        s->full = true;
        listener_pause(s->listener, true);
        timer_set(s->relief, RELIEF_MS);
    }
}

static const struct listener_events listener_events = {
    .connection = on_connection,
    .stream = { .data = on_data, .end = on_end, .drained = on_drained, .broken = on_broken },
};

static void on_soon(void *to)
{
    struct http_server *s = to;
    struct guest *due = s->due;

    s->due = NULL;
    while (due) {
        struct guest *g = due;

        due = g->next_due;
        g->due = false;
        if (!g->stream)
            say_goodbye(g);
        else if (g->lost || stream_severed(g->stream))
            http_conn_lost(&g->conn);
        else if (g->left && !g->conn.doubted)
            http_conn_abandoned(&g->conn);
        else
            http_conn_go_on(&g->conn);
    }
    if (s->stopping && !s->count && s->done) {
        void (*done)(void *) = s->done;

        s->done = NULL;
        timer_stop(s->grace);
        done(s->done_to);
    }
}

static void on_look(void *to)
{
    struct http_server *s = to;

    for (struct guest *g = s->deaf; g; g = g->next_deaf) {
        g->lost = g->lost || stream_severed(g->stream);
        g->left = stream_abandoned(g->stream);
        if (g->lost || (g->left && !g->conn.doubted))
            make_due(g);
    }
    if (s->deaf)
        timer_set(s->look, LOOK_MS);
}

static void on_tick(void *to)
{
    struct http_server *s = to;
    int64_t now = clock_mono_us() / 1000;

    for (struct guest *g = s->guests; g; g = g->next)
        http_conn_tick(&g->conn, now);
    timer_set(s->tick, s->tick_ms);
}

/* Several looks in the shortest time that anybody has. */
static unsigned tick_of(const struct http_patience *p)
{
    const unsigned all[] = { p->head_ms, p->idle_ms, p->body_ms, p->take_ms, p->linger_ms };
    unsigned ms = 4 * TICK_MAX_MS;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ms = all[i] < ms ? all[i] : ms;
    return ms / 4 > TICK_MIN_MS ? ms / 4 : TICK_MIN_MS;
}

/* A name stays a name: it is what clients will write, too. */
static void learn_self(struct http_server *s, struct str host)
{
    bool named = host.len && host.len < sizeof s->host && ip_parse(host).kind == IP_NONE &&
                 !str_eq(host, STR("*")) && !str_eq(host, STR("localhost"));

    snprintf(s->host, sizeof s->host, "%.*s",
             STR_ARG(named ? host : str_z(listener_host(s->listener))));
    s->self.host = str_z(s->host);
    s->self.ip = ip_parse(s->self.host);
    s->self.port = listener_port(s->listener);
}

bool http_server_open(struct http_server **out, struct loop *l,
                      const struct http_server_config *config,
                      const struct exchange_events *events, void *to, struct err *e)
{
    struct http_server *s = mem_new(struct http_server);

    if (!listener_open(&s->listener, l, config->host, config->port, &listener_events, s, e)) {
        free(s);
        return false;
    }
    s->loop = l;
    s->max = config->max_connections ? config->max_connections
                                     : descriptors_room(1 + config->descriptors);
    s->house = (struct http_conn_house){
        .port = &port,
        .events = events,
        .to = to,
        .self = &s->self,
        .patience = config->patience ? config->patience : &http_conn_patience,
    };
    buf_init(&s->house.desk, HTTP_CONN_DESK_MAX);
    s->tick_ms = tick_of(s->house.patience);
    s->tick = timer_new(l, on_tick, s);
    s->look = timer_new(l, on_look, s);
    s->soon = timer_new(l, on_soon, s);
    s->relief = timer_new(l, on_relief, s);
    s->silent_end = &s->silent;
    learn_self(s, config->host);
    *out = s;
    return true;
}

const struct url_authority *http_server_at(const struct http_server *s)
{
    return &s->self;
}

size_t http_server_connections(const struct http_server *s)
{
    return s->count;
}

/* First what is under way is aborted, then whoever does not take that, or not hang up. */
static void on_grace(void *to)
{
    struct http_server *s = to;

    for (struct guest *g = s->guests; g; g = g->next)
        http_conn_abort(&g->conn);
    timer_set(s->grace, FAREWELL_MS);
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
    s->grace = timer_new(s->loop, on_grace, s);
    timer_set(s->grace, grace_ms);
    timer_set(s->soon, 0);
    for (struct guest *g = s->guests; g; g = g->next)
        http_conn_stop(&g->conn);
}

void http_server_close(struct http_server *s)
{
    if (!s)
        return;
    listener_close(s->listener);
    while (s->guests) {
        stream_reset(s->guests->stream);
        free_guest(s->guests);
    }
    timer_close(s->tick);
    timer_close(s->look);
    timer_close(s->soon);
    timer_close(s->grace);
    timer_close(s->relief);
    http_conn_house_release(&s->house);
    free(s);
}

#include "cmd/record-front.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "cmd/http-side.h"
#include "cmd/record-session.h"
#include "cmd/servers.h"
#include "engine/front-ask.h"
#include "engine/http-front.h"
#include "engine/http-tap.h"
#include "loop/child.h"
#include "loop/signals.h"

struct sessions {
    struct reel reel;
    struct http_tap tap;
    struct loop *loop;
    struct drive drive;
    struct http_front front;
    struct http_side http;
    struct url here;
    struct servers servers;
    struct signals *signals;
    bool begun;  /* the recording has its header */
    bool ending; /* somebody wants us to */
    bool clients_gone, servers_gone;
    int no_server;  /* why the first could not be started: the exit code */
    struct err why; /* that, or why a later one could not */
};

/* An exchange, as far as it was seen. */
struct seen {
    struct http_seen *x;
    bool own; /* the last word was ours, not a server's */
};

static void check(struct sessions *s)
{
    reel_check(&s->reel, http_tap_trouble(&s->tap, &s->reel.why));
}

static void *on_asked(void *to, const struct exchange *x)
{
    struct sessions *s = to;
    struct http_tap_request q = {
        .conn = x->connection,
        .method = x->head->method,
        .path = x->head->path,
        .query = x->head->query,
        .fields = &x->head->fields,
        .host = x->host,
        .origin = x->origin,
        .endpoint = front_ask_is_ours(x->head->path),
        .body = !x->whole,
    };
    struct seen *seen = mem_new(struct seen);

    reel_log_request(&s->reel, x->head);
    seen->x = http_tap_begin(&s->tap, &q);
    return seen;
}

static void on_sent(void *to, void *seen, struct str bytes)
{
    (void)to;
    http_tap_sent(((struct seen *)seen)->x, bytes);
}

static void on_sent_all(void *to, void *seen)
{
    struct sessions *s = to;

    http_tap_sent_all(((struct seen *)seen)->x, reel_now(&s->reel));
    check(s);
}

static void end(struct sessions *s, struct seen *seen, enum http_tap_by by, bool clean,
                struct str why)
{
    http_tap_end(seen->x, by, clean, why, reel_now(&s->reel));
    check(s);
    free(seen);
}

/* What we say in a server's place is not told as if it had said it, but why we do. */
static void on_answered(void *to, void *at, const struct action *a)
{
    struct sessions *s = to;
    struct seen *seen = at;
    struct tap_time now = reel_now(&s->reel);

    seen->own |= a->own;
    if (a->kind == ACTION_ANSWER || a->kind == ACTION_OPEN)
        reel_log_response(&s->reel, a->status, a->fields);
    if (a->kind == ACTION_ANSWER || a->kind == ACTION_OPEN)
        http_tap_answer(seen->x, a->status, a->fields, a->own ? BY_MCPREEL : BY_SERVER, now);
    if (!a->own && a->text.len)
        http_tap_answered(seen->x, a->text, now);
    if (a->kind == ACTION_ANSWER || a->kind == ACTION_END)
        end(s, seen, seen->own ? BY_MCPREEL : BY_SERVER, !seen->own || a->kind == ACTION_ANSWER,
            a->why);
    else
        check(s);
}

static void on_refused(void *to, void *at, unsigned status, const char *text)
{
    static const struct fields none = { .at = NULL };
    struct sessions *s = to;
    struct seen *seen = at;

    http_tap_answer(seen->x, status, &none, BY_MCPREEL, reel_now(&s->reel));
    log_say(s->reel.app->log, LOG_DEBUG, "answered %u: %s", status, text);
    end(s, seen, BY_MCPREEL, true, str_z(text));
}

static void on_gone(void *to, void *seen, const struct exchange_fault *why)
{
    end(to, seen, why->kind == EXCHANGE_STOPPED ? BY_MCPREEL : BY_CLIENT, false,
        str_z(why->text));
}

static const struct http_side_watch http_watch = {
    .asked = on_asked,
    .sent = on_sent,
    .sent_all = on_sent_all,
    .answered = on_answered,
    .refused = on_refused,
    .gone = on_gone,
};

/* A line about a server. */
static void put_around(struct sessions *s, uint64_t number, struct record *r)
{
    uint64_t session = http_front_session(&s->front, number);
    struct tap_place at = { .has = HAS_CONN | (session ? HAS_SESSION : 0u),
                            .conn = number,
                            .session = session };
    struct reel *reel = &s->reel;

    reel_check(reel, tap_around(&reel->tap, &at, r, reel_now(reel), &reel->why));
}

static void on_started(void *to, uint64_t number)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("start") } };
    struct sessions *s = to;

    if (s->begun)
        put_around(s, number, &r);
}

static void put_raw(struct sessions *s, uint64_t number, struct str bytes, struct str why)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .from_to = TO_CLIENT, .bytes = bytes, .why = why };
    put_around(s, number, &r);
}

/* A message between mcpreel itself and a server. */
static void put_own(struct sessions *s, const struct action *a, enum record_dir dir)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .from_to = dir, .bytes = a->text, .by = STR("mcpreel") };
    put_around(s, a->server, &r);
}

static void send(struct sessions *s, const struct action *a)
{
    if (a->own)
        put_own(s, a, TO_SERVER);
    servers_send(&s->servers, a->server, a->text);
}

static void put_unheard(struct sessions *s, const struct action *a)
{
    if (a->own)
        put_own(s, a, TO_CLIENT);
    else
        put_raw(s, a->server, a->text, STR("for nobody"));
}

static void on_noise(void *to, uint64_t number, struct str bytes, struct str why)
{
    put_raw(to, number, bytes, why);
}

static void on_stderr(void *to, uint64_t number, struct str text)
{
    struct record r = { .kind = RECORD_STDERR, .bytes = { .bytes = text } };
    struct sessions *s = to;

    put_around(s, number, &r);
    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (line.len)
            log_say(s->reel.app->log, LOG_INFO, "server %llu: %.*s", (unsigned long long)number,
                    STR_ARG(line));
    }
}

static void on_exited(void *to, uint64_t number, int code, int signum, struct str why)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("exit"), .why = why } };

    r.has = signum ? HAS_SIGNAL : HAS_EXIT_CODE;
    r.proc.exit_code = code;
    r.proc.signal = signum;
    put_around(to, number, &r);
}

static void check_done(struct sessions *s)
{
    if (s->clients_gone && s->servers_gone)
        loop_stop(s->loop);
}

static void on_servers_gone(void *to)
{
    struct sessions *s = to;

    s->servers_gone = true;
    check_done(s);
}

static void on_clients_gone(void *to)
{
    struct sessions *s = to;

    s->clients_gone = true;
    check_done(s);
}

static const struct servers_watch servers_watch = {
    .started = on_started,
    .noise = on_noise,
    .stderr_text = on_stderr,
    .exited = on_exited,
    .all_gone = on_servers_gone,
};

/* If that was the first there is nothing to go on with. */
static void start_server(struct sessions *s, uint64_t number)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("failed") } };
    int errnum = 0;

    s->why = (struct err)ERR_NONE;
    if (servers_start(&s->servers, number, &errnum, &s->why))
        return;
    if (!s->begun) {
        s->no_server = record_session_start_failure(errnum, &s->why);
        return;
    }
    r.proc.why = str_z(s->why.msg);
    put_around(s, number, &r);
    drive_tell(&s->drive, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                          .server = number,
                                          .why = str_z(s->why.msg) });
}

static void act(void *to, const struct action *a)
{
    struct sessions *s = to;

    if (a->kind == ACTION_START_UPSTREAM)
        start_server(s, a->server);
    else if (a->kind == ACTION_SEND_UPSTREAM)
        send(s, a);
    else if (a->kind == ACTION_END_UPSTREAM)
        servers_end(&s->servers, a->server);
    else if (a->kind == ACTION_UNHEARD)
        put_unheard(s, a);
    else if (a->kind != ACTION_FINISH)
        http_side_act(&s->http, a);
    if (a->kind != ACTION_FINISH)
        return;
    servers_finish(&s->servers);
    http_side_finish(&s->http, on_clients_gone, s);
}

static void step(void *engine, const struct event *ev)
{
    http_front_step(engine, ev);
}

static void on_signal(void *to, int signum)
{
    struct sessions *s = to;

    (void)signum;
    if (s->ending)
        loop_stop(s->loop); /* who asks twice does not want to wait */
    s->ending = true;
    drive_tell(&s->drive, (struct event){ .kind = EVENT_CLOSED });
}

/* Only the disk is waited for: whoever is tired of that may end us as any other program. */
static void on_waits(void *to)
{
    struct sessions *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

/* A new file is made before the first server starts: there is no session if it cannot be. An
 * old one is only replaced once there is something to replace it with. */
static int begin(struct sessions *s, const struct record_front_settings *front, struct err *e)
{
    bool later = s->reel.place->force;

    if (!reel_settle(&s->reel, !later, e))
        return app_exit_code(e);
    if (front->listening->ready_fd)
        child_withhold((int)front->listening->ready_fd);
    drive_tell(&s->drive, (struct event){ .kind = EVENT_OPENED });
    if (s->no_server)
        *e = s->why;
    if ((!s->no_server && later && !reel_settle(&s->reel, true, e)) || s->no_server) {
        if (!later)
            reel_abandon(&s->reel);
        return s->no_server ? s->no_server : app_exit_code(e);
    }
    if (!listening_tell(s->reel.app, front->listening, http_server_at(s->http.server),
                        STR("/mcp"), e)) {
        reel_abandon(&s->reel);
        return app_exit_code(e);
    }
    reel_begin(&s->reel, STR("stdio"));
    s->begun = true;
    on_started(s, 1);
    return 0;
}

/* Streams of HTTP+SSE tell where to post: here. */
static void tell_tap(struct sessions *s)
{
    struct url_authority at = *http_server_at(s->http.server);

    s->here = (struct url){ .authority = at, .path = STR("/") };
    s->tap.server = &s->here;
}

static int run(struct sessions *s, const struct record_front_settings *front, struct err *e)
{
    int code;

    if (!http_side_open(&s->http, s->loop, &s->drive, &front->at, e))
        return app_exit_code(e);
    s->http.gate = listening_gate(front->listening, &front->at);
    tell_tap(s);
    s->http.watch = &http_watch;
    s->http.to = s;
    s->signals = signals_watch_listener(s->loop, on_signal, s);
    code = begin(s, front, e);
    if (!code)
        loop_run(s->loop);
    http_side_close(&s->http);
    return code;
}

int record_front_run(const struct app *app, struct record_place *place,
                     const struct record_settings *how,
                     const struct record_front_settings *front, struct err *e)
{
    struct http_front_options options = { .max_servers = front->max_servers,
                                          .random = random_bytes,
                                          .seed = front->seed };
    struct sessions s = { .no_server = 0 };
    int code;

    reel_init(&s.reel, app, place, how, on_waits, &s);
    s.reel.together = true;
    http_tap_init(&s.tap, &s.reel.tap, how->max_message, redaction_learnt(how->redaction));
    if (!how->redaction->redactor.keep_url)
        http_tap_hide_addresses(&s.tap, STR_NONE);
    s.loop = loop_new();
    loop_env(s.loop, how->env);
    drive_init(&s.drive, app, s.loop, step, &s.front, act, &s);
    http_front_init(&s.front, &options, &s.drive.actions);
    servers_init(&s.servers, s.loop, &s.drive, how->server, &servers_watch, &s);
    code = run(&s, front, e);
    servers_release(&s.servers);
    if (!code) {
        s.reel.too_long = s.tap.too_long;
        code = reel_end(&s.reel, 0, NULL);
    }
    signals_close(s.signals);
    http_front_release(&s.front);
    drive_release(&s.drive);
    loop_free(s.loop);
    http_tap_release(&s.tap);
    reel_release(&s.reel);
    return code;
}

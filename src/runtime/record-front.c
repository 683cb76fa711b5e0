#include "runtime/record-front.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "bridge/http-to-stdio.h"
#include "loop/child.h"
#include "runtime/http-clients.h"
#include "runtime/peer-pool.h"
#include "runtime/record-session.h"
#include "runtime/record-stdio.h"

struct front_recording {
    struct record_session session;
    const struct record_front_settings *settings;
    struct driver driver;
    struct http_to_stdio bridge;
    struct http_clients clients;
    struct url own_url;
    struct peer_pool servers;
    bool header_written; /* set when the header was written */
    bool clients_gone, servers_exited;
    int start_exit_code;    /* exit code if the first server could not be started */
    struct err start_error; /* the latest start failure */
};

/* An exchange being recorded. */
struct front_exchange {
    struct http_recorder_exchange *recorded;
    bool by_mcpreel; /* mcpreel itself sent a part of the response */
};

static struct traffic_recorder *recorder_of(struct front_recording *s)
{
    return &s->session.output.recorder;
}

static struct recorder_time now(struct front_recording *s)
{
    return traffic_recorder_now(recorder_of(s));
}

static void *on_request(void *to, const struct http_exchange *x)
{
    struct front_recording *s = to;
    struct http_recorder_request q = {
        .conn = x->connection,
        .method = x->head->method,
        .path = x->head->path,
        .query = x->head->query,
        .headers = &x->head->headers,
        .host = x->host,
        .origin = x->origin,
        .is_endpoint = http_to_stdio_is_mcp_path(x->head->path),
        .has_body = !x->request_complete,
    };
    struct front_exchange *seen = mem_new(struct front_exchange);

    record_output_log_request(&s->session.output, x->head);
    seen->recorded = http_recorder_begin(&recorder_of(s)->http, &q);
    return seen;
}

static void on_request_data(void *to, void *seen, struct str bytes)
{
    (void)to;
    http_recorder_request_data(((struct front_exchange *)seen)->recorded, bytes);
}

static void on_request_end(void *to, void *seen)
{
    struct front_recording *s = to;

    http_recorder_request_end(((struct front_exchange *)seen)->recorded, now(s));
    traffic_recorder_commit(recorder_of(s));
}

static void end_exchange(struct front_recording *s, struct front_exchange *seen,
                         enum http_recorder_by by, bool clean, struct str why)
{
    http_recorder_end(seen->recorded, by, clean, why, now(s));
    traffic_recorder_commit(recorder_of(s));
    free(seen);
}

/* Records mcpreel's own responses with their reason instead of their body. */
static void on_response(void *to, void *at, const struct action *a)
{
    struct front_recording *s = to;
    struct front_exchange *seen = at;
    struct recorder_time when = now(s);

    seen->by_mcpreel |= a->by_mcpreel;
    if (a->kind == ACTION_HTTP_RESPONSE || a->kind == ACTION_STREAM_OPEN)
        record_output_log_response(&s->session.output, a->status, a->headers);
    if (a->kind == ACTION_HTTP_RESPONSE || a->kind == ACTION_STREAM_OPEN)
        http_recorder_response(
            seen->recorded, a->status, a->headers,
            a->by_mcpreel ? HTTP_RECORDER_BY_MCPREEL : HTTP_RECORDER_BY_SERVER, when);
    if (!a->by_mcpreel && a->text.len)
        http_recorder_response_data(seen->recorded, a->text, when);
    if (a->kind == ACTION_HTTP_RESPONSE || a->kind == ACTION_STREAM_END)
        end_exchange(s, seen,
                     seen->by_mcpreel ? HTTP_RECORDER_BY_MCPREEL : HTTP_RECORDER_BY_SERVER,
                     !seen->by_mcpreel || a->kind == ACTION_HTTP_RESPONSE, a->why);
    else
        traffic_recorder_commit(recorder_of(s));
}

static void on_rejected(void *to, void *at, unsigned status, const char *text)
{
    static const struct headers none = { .at = NULL };
    struct front_recording *s = to;
    struct front_exchange *seen = at;

    http_recorder_response(seen->recorded, status, &none, HTTP_RECORDER_BY_MCPREEL, now(s));
    log_printf(s->session.output.app->log, LOG_DEBUG, "rejected an HTTP request with %u: %s",
               status, text);
    end_exchange(s, seen, HTTP_RECORDER_BY_MCPREEL, true, str_z(text));
}

static void on_closed(void *to, void *seen, const struct http_exchange_failure *why)
{
    end_exchange(to, seen,
                 why->kind == HTTP_EXCHANGE_SHUTDOWN ? HTTP_RECORDER_BY_MCPREEL
                                                     : HTTP_RECORDER_BY_CLIENT,
                 false, str_z(why->text));
}

static const struct http_clients_observer clients_observer = {
    .request = on_request,
    .request_data = on_request_data,
    .request_end = on_request_end,
    .response = on_response,
    .rejected = on_rejected,
    .closed = on_closed,
};

/* Puts a record about a server. */
static void put_server_record(struct front_recording *s, uint64_t number, struct record *r)
{
    uint64_t session = http_to_stdio_session(&s->bridge, number);
    struct recorder_context at = { .has = HAS_CONN | (session ? HAS_SESSION : 0u),
                                   .conn = number,
                                   .session = session };

    traffic_recorder_add_record(recorder_of(s), &at, r);
}

static void on_started(void *to, uint64_t number)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("start") } };
    struct front_recording *s = to;

    if (s->header_written)
        put_server_record(s, number, &r);
}

static void put_raw(struct front_recording *s, uint64_t number, struct str bytes,
                    struct str why)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .dir = TO_CLIENT, .bytes = bytes, .why = why };
    put_server_record(s, number, &r);
}

/* A message between mcpreel itself and a server. */
static void put_mcpreel_message(struct front_recording *s, const struct action *a,
                                enum record_dir dir)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .dir = dir, .bytes = a->text, .by = STR("mcpreel") };
    put_server_record(s, a->server, &r);
}

static void send_upstream(struct front_recording *s, const struct action *a)
{
    if (a->by_mcpreel)
        put_mcpreel_message(s, a, TO_SERVER);
    peer_pool_send(&s->servers, a->server, a->text);
}

static void put_undelivered(struct front_recording *s, const struct action *a)
{
    if (a->by_mcpreel)
        put_mcpreel_message(s, a, TO_CLIENT);
    else
        put_raw(s, a->server, a->text, STR("not delivered to a client"));
}

static void on_non_message(void *to, uint64_t number, struct str bytes, struct str why)
{
    put_raw(to, number, bytes, why);
}

static void on_stderr(void *to, uint64_t number, struct str text)
{
    struct record r = { .kind = RECORD_STDERR, .bytes = { .bytes = text } };
    struct front_recording *s = to;

    put_server_record(s, number, &r);
    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (line.len)
            log_printf(s->session.output.app->log, LOG_INFO, "server %llu: %.*s",
                       (unsigned long long)number, STR_ARG(line));
    }
}

static void on_exited(void *to, uint64_t number, const struct peer_outcome *how)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("exit") } };

    r.has = how->signum ? HAS_SIGNAL : HAS_EXIT_CODE;
    r.proc.exit_code = how->exit_code;
    r.proc.signal = how->signum;
    r.proc.why = buf_str(&how->stop_reason);
    put_server_record(to, number, &r);
}

static void check_done(struct front_recording *s)
{
    if (s->clients_gone && s->servers_exited)
        loop_stop(s->session.loop);
}

static void on_servers_exited(void *to)
{
    struct front_recording *s = to;

    s->servers_exited = true;
    check_done(s);
}

static void on_clients_gone(void *to)
{
    struct front_recording *s = to;

    s->clients_gone = true;
    check_done(s);
}

static const struct peer_pool_observer servers_observer = {
    .started = on_started,
    .non_message = on_non_message,
    .stderr_text = on_stderr,
    .exited = on_exited,
    .all_exited = on_servers_exited,
};

/* Starts a server. A failure of the first one ends the recording. */
static void start_server(struct front_recording *s, uint64_t number)
{
    struct record r = { .kind = RECORD_PROC, .proc = { .event = STR("failed") } };
    int errnum = 0;

    s->start_error = (struct err)ERR_NONE;
    if (peer_pool_start(&s->servers, number, &errnum, &s->start_error))
        return;
    if (!s->header_written) {
        s->start_exit_code = record_stdio_start_exit_code(errnum, &s->start_error);
        return;
    }
    r.proc.why = str_z(s->start_error.msg);
    put_server_record(s, number, &r);
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                                .server = number,
                                                .why = str_z(s->start_error.msg) });
}

static void act(void *to, const struct action *a)
{
    struct front_recording *s = to;

    if (a->kind == ACTION_START_UPSTREAM)
        start_server(s, a->server);
    else if (a->kind == ACTION_SEND_UPSTREAM)
        send_upstream(s, a);
    else if (a->kind == ACTION_END_UPSTREAM)
        peer_pool_end(&s->servers, a->server);
    else if (a->kind == ACTION_UNDELIVERED)
        put_undelivered(s, a);
    else if (a->kind != ACTION_FINISH)
        http_clients_act(&s->clients, a);
    if (a->kind != ACTION_FINISH)
        return;
    peer_pool_finish(&s->servers);
    http_clients_finish(&s->clients, on_clients_gone, s);
}

static void step(void *engine, const struct event *ev)
{
    http_to_stdio_step(engine, ev);
}

/* Starts the first server. */
static int start(void *to, struct err *e)
{
    struct front_recording *s = to;

    if (s->settings->listening->ready_fd)
        child_set_cloexec((int)s->settings->listening->ready_fd);
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_OPENED });
    if (s->start_exit_code)
        *e = s->start_error;
    return s->start_exit_code;
}

static bool announce(void *to, struct err *e)
{
    struct front_recording *s = to;

    return listen_config_announce(s->session.output.app, s->settings->listening,
                                  http_server_address(s->clients.server), STR("/mcp"), e);
}

static void started(void *to)
{
    struct front_recording *s = to;

    s->header_written = true;
    on_started(s, 1);
}

static void stop(void *to, int signum)
{
    struct front_recording *s = to;

    (void)signum;
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_INPUT_CLOSED });
}

static int end(void *to, struct err *e)
{
    struct front_recording *s = to;

    (void)e;
    http_clients_close(&s->clients);
    peer_pool_release(&s->servers);
    return EXIT_OK;
}

static const struct record_session_kind session_kind = {
    .transport = STR_INIT("stdio"),
    .starts_server = true,
    .listens = true,
    .start = start,
    .announce = announce,
    .started = started,
    .stop = stop,
    .end = end,
};

/* Endpoint events of HTTP+SSE streams point to mcpreel itself. */
static void set_own_url(struct front_recording *s)
{
    struct url_authority at = *http_server_address(s->clients.server);

    s->own_url = (struct url){ .authority = at, .path = STR("/") };
    traffic_recorder_set_server(recorder_of(s), &s->own_url, STR_NONE);
}

static int run(struct front_recording *s, struct err *e)
{
    const struct record_front_settings *front = s->settings;

    if (!http_clients_open(&s->clients, s->session.loop, &s->driver, &front->address, e)) {
        peer_pool_release(&s->servers);
        return app_exit_code(e);
    }
    s->clients.access_rules = listen_config_access(front->listening, &front->address);
    set_own_url(s);
    s->clients.observer = &clients_observer;
    s->clients.to = s;
    return record_session_run(&s->session, e);
}

int record_front_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings,
                     const struct record_front_settings *front, struct err *e)
{
    struct http_to_stdio_options options = { .max_servers = front->max_servers,
                                             .random = random_bytes,
                                             .mcp_recorder_compat =
                                                 front->mcp_recorder_compat };
    struct peer_target server = { .argv = settings->server_argv, .env = settings->server_env };
    struct front_recording s = { .settings = front };
    int code;

    record_session_init(&s.session, app, target, settings, &session_kind, &s);
    s.session.end_with_stdin = front->listening->end_with_stdin;
    s.session.output.batch_writes = true;
    driver_init(&s.driver, app, s.session.loop, step, &s.bridge, act, &s);
    http_to_stdio_init(&s.bridge, &options, &s.driver.actions);
    peer_pool_init(&s.servers, s.session.loop, &s.driver, &server, &servers_observer, &s);
    code = run(&s, e);
    http_to_stdio_release(&s.bridge);
    driver_release(&s.driver);
    record_session_release(&s.session);
    return code;
}

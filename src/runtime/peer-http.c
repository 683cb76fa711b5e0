#include "runtime/peer-http.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

enum { LANE = 1, UNREACHABLE = 502, GATEWAY_TIMEOUT = 504 };

/* An HTTP request in progress. */
struct peer_http_exchange {
    struct peer_http *peer;
    uint64_t number;
    struct http_transfer *transfer;
    struct http_recorder_exchange *recorded; /* NULL: nothing is recorded */
    bool is_message;                         /* it has a body */
    bool response_started;                   /* set by the response headers */
};

static void commit_record(const struct peer_http *s)
{
    if (s->events->commit_record)
        s->events->commit_record(s->to);
}

static void dispatch(struct peer_http_exchange *p, struct event ev)
{
    ev.exchange = p->number;
    driver_dispatch(&p->peer->driver, ev);
}

static void unlink_exchange(struct peer_http_exchange *p)
{
    map_remove(&p->peer->exchanges, map_number_key(&p->number));
    http_transfer_close(p->transfer);
}

static void free_exchange(struct peer_http_exchange *p)
{
    unlink_exchange(p);
    free(p);
}

static void record_end(struct peer_http_exchange *p, enum http_recorder_by by, bool clean,
                       struct str why)
{
    if (!p->recorded)
        return;
    http_recorder_end(p->recorded, by, clean, why, p->peer->now(p->peer->to));
    p->recorded = NULL;
    commit_record(p->peer);
}

static void on_data(void *to, struct str bytes)
{
    struct peer_http_exchange *p = to;

    if (p->recorded)
        http_recorder_response_data(p->recorded, bytes, p->peer->now(p->peer->to));
    commit_record(p->peer);
    dispatch(p, (struct event){ .kind = EVENT_RESPONSE_DATA, .text = bytes });
}

static void on_head(void *to, const struct response_head *r, struct str body)
{
    struct peer_http_exchange *p = to;
    struct peer_http *s = p->peer;
    uint64_t number = p->number;

    p->response_started = true;
    if (p->recorded)
        http_recorder_response(p->recorded, r->status, &r->headers, HTTP_RECORDER_BY_SERVER,
                               s->now(s->to));
    commit_record(s);
    dispatch(p, (struct event){
                    .kind = EVENT_RESPONSE_HEAD, .status = r->status, .headers = &r->headers });
    if (body.len && map_get(&s->exchanges, map_number_key(&number)))
        on_data(p, body);
}

/* The exchange is unlinked first: the engine may start another one on the same connection. The
 * body is recorded before the engine gets it, the end when the engine has accepted it. */
static void on_whole(void *to)
{
    struct peer_http_exchange *p = to;
    struct peer_http *s = p->peer;

    if (p->recorded)
        http_recorder_response_end(p->recorded, s->now(s->to));
    commit_record(s);
    unlink_exchange(p);
    s->ended_exchange = p;
    dispatch(p, (struct event){ .kind = EVENT_RESPONSE_END });
    s->ended_exchange = NULL;
    record_end(p, HTTP_RECORDER_BY_SERVER, true, STR_NONE);
    free(p);
}

static void on_failed(void *to, enum http_client_error fault, const struct err *why)
{
    static const struct headers none = { .at = NULL };
    struct peer_http_exchange *p = to;
    struct peer_http *s = p->peer;
    struct event ev = { .kind = EVENT_REQUEST_FAILED,
                        .exchange = p->number,
                        .why = str_z(why->msg) };
    bool lost = p->is_message && !p->response_started;

    if (p->recorded && !p->response_started)
        http_recorder_response(p->recorded,
                               fault == HTTP_CLIENT_TIMEOUT ? GATEWAY_TIMEOUT : UNREACHABLE,
                               &none, HTTP_RECORDER_BY_MCPREEL, s->now(s->to));
    record_end(
        p, fault == HTTP_CLIENT_TRUNCATED ? HTTP_RECORDER_BY_SERVER : HTTP_RECORDER_BY_ERROR,
        !p->response_started, str_z(why->msg));
    free_exchange(p);
    s->unreachable_reason = lost ? ev.why : STR_NONE;
    driver_dispatch(&s->driver, ev);
    s->unreachable_reason = STR_NONE;
    if (lost && s->events->lost)
        s->events->lost(s->to, str_z(why->msg));
}

static void on_drained(void *to)
{
    dispatch(to, (struct event){ .kind = EVENT_REQUEST_SENT });
}

static const struct http_transfer_events transfer_events = { .head = on_head,
                                                             .data = on_data,
                                                             .drained = on_drained,
                                                             .complete = on_whole,
                                                             .failed = on_failed };

/* Records the request as if the client had sent it to mcpreel: without the query of the server
 * URL, but with the query of an endpoint event's URL. */
static void record_request(struct peer_http_exchange *p, const struct action_request *request)
{
    struct peer_http *s = p->peer;
    size_t mark = str_find(request->target, '?');
    bool own = str_eq(request->target, buf_str(&s->mcp_client.session.target));
    struct http_recorder_request q = {
        .conn = LANE,
        .method = request->method,
        .path = str_n(request->target.at, mark),
        .query = own ? STR_NONE : str_skip(request->target, mark + 1),
        .headers = &request->headers,
        .host = ORIGIN_SELF,
        .origin = ORIGIN_NONE,
        .is_endpoint = true,
    };

    p->recorded = http_recorder_begin(s->recorder, &q);
    if (request->body.len)
        http_recorder_request_data(p->recorded, request->body);
    http_recorder_request_end(p->recorded, s->now(s->to));
    commit_record(s);
}

static void start_exchange(struct peer_http *s, uint64_t number,
                           const struct action_request *request)
{
    struct peer_http_exchange *p = mem_new(struct peer_http_exchange);
    struct outgoing_request a = { .method = request->method,
                                  .target = request->target,
                                  .headers = request->headers };

    *p = (struct peer_http_exchange){ .peer = s,
                                      .number = number,
                                      .is_message = request->body.at };
    map_put(&s->exchanges, map_number_key(&p->number), p);
    if (s->recorder)
        record_request(p, request);
    if (request->body.at)
        a.body = (struct body_framing){ .kind = BODY_LENGTH, .length = request->body.len };
    p->transfer = http_transfer_start(s->http_client, LANE, &a, &transfer_events, p);
    http_transfer_send(p->transfer, request->body);
    http_transfer_finish(p->transfer);
    if (s->reading_paused)
        http_transfer_read(p->transfer, false);
    if (!http_transfer_queued(p->transfer))
        on_drained(p);
}

static void abort_exchange(struct peer_http *s, uint64_t number, struct str why)
{
    struct peer_http_exchange *p = map_get(&s->exchanges, map_number_key(&number));

    record_end(p, why.len ? HTTP_RECORDER_BY_MCPREEL : HTTP_RECORDER_BY_CLIENT, false, why);
    free_exchange(p);
}

static void record_invalid_response(struct peer_http *s, uint64_t number, struct str why)
{
    BUG_IF(!s->ended_exchange || s->ended_exchange->number != number);
    record_end(s->ended_exchange, HTTP_RECORDER_BY_SERVER, true, why);
}

static void act(void *to, const struct action *a)
{
    struct peer_http *s = to;

    if (a->kind == ACTION_SEND)
        s->events->message(s->to, a->text);
    else if (a->kind == ACTION_HTTP_REQUEST)
        start_exchange(s, a->route.exchange, a->request);
    else if (a->kind == ACTION_HTTP_ABORT)
        abort_exchange(s, a->route.exchange, a->text);
    else if (a->kind == ACTION_INVALID_RESPONSE)
        record_invalid_response(s, a->route.exchange, a->text);
    else if (a->kind == ACTION_FINISH)
        s->events->done(s->to);
    else
        BUG("mcphttp/client has no other action");
}

static void step(void *engine, const struct event *ev)
{
    mcp_client_step(engine, ev);
}

bool peer_http_open(struct peer_http *s, const struct app *app, struct loop *l,
                    const struct remote_config *remote, const struct peer_http_events *events,
                    void *to, struct err *e)
{
    struct http_client_config config = { .url = str_z(remote->url),
                                         .extra_headers = remote->headers,
                                         .cacert = str_z(remote->cacert) };
    struct http_client *client;

    if (!http_client_new(&client, l, &config, e))
        return false;
    *s = (struct peer_http){ .http_client = client, .events = events, .to = to };
    map_init(&s->exchanges);
    driver_init(&s->driver, app, l, step, &s->mcp_client, act, s);
    mcp_client_init(&s->mcp_client, http_client_url(client), &s->driver.actions);
    return true;
}

void peer_http_set_recorder(struct peer_http *s, struct http_recorder *recorder,
                            struct recorder_time (*now)(void *to))
{
    s->recorder = recorder;
    s->recorder->server_url = http_client_url(s->http_client);
    s->now = now;
}

void peer_http_release(struct peer_http *s)
{
    struct map_entry *e;

    while ((e = map_next(&s->exchanges, NULL)))
        abort_exchange(s, ((struct peer_http_exchange *)e->value)->number,
                       STR(RECORD_WHY_STOPPED));
    map_release(&s->exchanges);
    mcp_client_release(&s->mcp_client);
    driver_release(&s->driver);
    http_client_free(s->http_client);
}

void peer_http_send(struct peer_http *s, struct str line)
{
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_CLIENT_LINE, .text = line });
}

void peer_http_end(struct peer_http *s)
{
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_INPUT_CLOSED });
}

void peer_http_stop(struct peer_http *s, struct str why)
{
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_CLIENT_CLOSED, .why = why });
}

size_t peer_http_queued(const struct peer_http *s)
{
    size_t bytes = s->mcp_client.send_queue.bytes;

    for (struct map_entry *e = NULL; (e = map_next(&s->exchanges, e));)
        bytes += http_transfer_queued(((struct peer_http_exchange *)e->value)->transfer);
    return bytes;
}

void peer_http_read(struct peer_http *s, bool on)
{
    if (s->reading_paused == !on)
        return;
    s->reading_paused = !on;
    for (struct map_entry *e = NULL; (e = map_next(&s->exchanges, e));)
        http_transfer_read(((struct peer_http_exchange *)e->value)->transfer, on);
}

#define NEXT "the next request starts a new one"

static void dispatch_lost(struct peer_http_lines *s, struct str why)
{
    driver_dispatch(s->lines.driver, (struct event){ .kind = EVENT_UPSTREAM_LOST, .why = why });
}

/* Dispatches a loss before the error response that it causes. */
static void on_message(void *to, struct str message)
{
    struct peer_http_lines *s = to;
    bool ended = s->peer.mcp_client.session_ended && !s->session_ended;

    s->session_ended = s->peer.mcp_client.session_ended;
    if (ended)
        dispatch_lost(s, STR("the server ended the session; " NEXT));
    if (s->peer.unreachable_reason.len && !s->loss_reported) {
        s->loss_reported = true;
        dispatch_lost(s, s->peer.unreachable_reason);
    }
    driver_lines_add(&s->lines, message);
}

static void on_lost(void *to, struct str why)
{
    struct peer_http_lines *s = to;

    if (!s->loss_reported)
        dispatch_lost(s, why);
    s->loss_reported = false;
}

static void on_done(void *to)
{
    struct peer_http_lines *s = to;

    s->stopped(s->to);
}

static const struct peer_http_events lines_events = { .message = on_message,
                                                      .lost = on_lost,
                                                      .done = on_done };

/* Sends queued lines when the engine has finished its step: a response may come at once. */
static void send_queued(void *to)
{
    struct peer_http_lines *s = to;
    struct buf now = s->send_queue;
    struct str rest = buf_str(&now);

    buf_init(&s->send_queue, now.max);
    while (rest.len)
        peer_http_send(&s->peer, str_cut(&rest, '\n'));
    buf_release(&now);
}

void peer_http_lines_init(struct peer_http_lines *s, struct driver *driver,
                          enum event_kind kind, void (*stopped)(void *to), void *to)
{
    *s = (struct peer_http_lines){ .stopped = stopped, .to = to };
    driver_lines_init(&s->lines, driver, kind, TO_CLIENT);
    buf_init(&s->send_queue, LIMIT_LINE);
}

void peer_http_lines_release(struct peer_http_lines *s)
{
    if (s->started) {
        timer_close(s->send_timer);
        peer_http_release(&s->peer);
    }
    buf_release(&s->send_queue);
    driver_lines_release(&s->lines);
}

bool peer_http_lines_start(struct peer_http_lines *s, struct loop *l,
                           const struct remote_config *remote, struct err *e)
{
    BUG_IF(s->started);
    s->app = *s->lines.driver->app;
    s->log = *s->app.log;
    s->log.level = s->log.level < LOG_DEBUG ? LOG_ERROR : s->log.level;
    s->app.log = &s->log;
    if (!peer_http_open(&s->peer, &s->app, l, remote, &lines_events, s, e))
        return false;
    s->peer.mcp_client.reconnect_hint = STR(NEXT);
    s->send_timer = timer_new(l, send_queued, s);
    s->started = true;
    return true;
}

void peer_http_lines_send(struct peer_http_lines *s, struct str message)
{
    if (!s->started)
        return;
    if (!s->send_queue.len)
        timer_set(s->send_timer, 0);
    buf_add(&s->send_queue, message);
    buf_add_ch(&s->send_queue, '\n');
}

bool peer_http_lines_stop(struct peer_http_lines *s)
{
    if (!s->started)
        return false;
    timer_stop(s->send_timer);
    peer_http_stop(&s->peer, STR_NONE);
    return true;
}

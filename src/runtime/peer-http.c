#include "runtime/peer-http.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "mcphttp/client-response.h"
#include "mcphttp/client.h"
#include "mcphttp/url-rewrite.h"
#include "runtime/driver.h"
#include "trace/limits.h"
#include "transport/http-client.h"

enum { REUSE_KEY = 1, ERROR_STATUS = 400, UNREACHABLE = 502, GATEWAY_TIMEOUT = 504 };

struct peer_http {
    struct peer peer;
    struct app app; /* the owner's, maybe with another log */
    struct log log;
    struct driver driver;
    struct mcp_client mcp_client;
    struct http_client *http_client;
    struct map exchanges; /* number to struct peer_http_exchange */
    struct peer_http_exchange
        *ended_exchange;           /* set while the engine handles its end; else NULL */
    struct str unreachable_reason; /* set while the engine handles the failure of a message
                                      without a response; else empty */
    bool answered;                 /* set by the first HTTP response */
    bool reading_paused;           /* set by peer_read(false) */
    bool session_ended;            /* the owner knows that the server has ended the session */
    bool loss_reported;            /* the owner knows that the latest message was lost */

    /* Only if the owner is `in_engine`: */
    struct timer *send_timer; /* fires when the owner's engine has handled its event */
    struct buf send_queue;    /* lines to be sent then */
    bool end_after_queue;     /* peer_end() was called meanwhile */
};

/* An HTTP request in progress. */
struct peer_http_exchange {
    struct peer_http *peer;
    uint64_t number;
    struct http_transfer *transfer;
    struct http_recorder_exchange *recorded; /* NULL: nothing is recorded */
    bool is_message;                         /* it has a body */
    bool response_started;                   /* set by the response headers */
};

static struct peer_http *self_of(struct peer *p)
{
    return (struct peer_http *)p;
}

static struct recorder_time now(const struct peer_http *s)
{
    return traffic_recorder_now(s->peer.owner.recorder);
}

/* A piece was recorded and is about to go on. */
static void commit_record(const struct peer_http *s)
{
    const struct peer_owner *owner = &s->peer.owner;

    if (owner->recorder)
        traffic_recorder_commit(owner->recorder);
    if (owner->events->progress)
        owner->events->progress(owner->to);
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
    http_recorder_end(p->recorded, by, clean, why, now(p->peer));
    p->recorded = NULL;
    commit_record(p->peer);
}

static void on_data(void *to, struct str bytes)
{
    struct peer_http_exchange *p = to;

    if (p->recorded)
        http_recorder_response_data(p->recorded, bytes, now(p->peer));
    commit_record(p->peer);
    dispatch(p, (struct event){ .kind = EVENT_RESPONSE_DATA, .text = bytes });
}

/* Notes where a message was redirected to, or that it was not. */
static void note_redirect(struct peer_http *s, const struct response_head *r)
{
    struct buf *redirect = &s->peer.outcome.redirect;
    struct arena a = { 0 };

    buf_clear(redirect);
    if (client_response_is_redirect(r->status))
        buf_add(redirect, url_rewrite_describe_redirect(r->status, &r->headers,
                                                        http_client_url(s->http_client), &a));
    arena_release(&a);
}

static void on_head(void *to, const struct response_head *r, struct str body)
{
    struct peer_http_exchange *p = to;
    struct peer_http *s = p->peer;
    uint64_t number = p->number;

    p->response_started = true;
    s->answered = true;
    s->peer.outcome.unanswered = false;
    if (p->is_message && r->status >= ERROR_STATUS)
        s->peer.outcome.error_status = r->status;
    if (p->is_message)
        note_redirect(s, r);
    if (p->recorded)
        http_recorder_response(p->recorded, r->status, &r->headers, HTTP_RECORDER_BY_SERVER,
                               now(s));
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
        http_recorder_response_end(p->recorded, now(s));
    commit_record(s);
    unlink_exchange(p);
    s->ended_exchange = p;
    dispatch(p, (struct event){ .kind = EVENT_RESPONSE_END });
    s->ended_exchange = NULL;
    record_end(p, HTTP_RECORDER_BY_SERVER, true, STR_NONE);
    free(p);
}

static void note_lost(struct peer_http *s, struct str why)
{
    buf_clear(&s->peer.outcome.lost_reason);
    buf_add(&s->peer.outcome.lost_reason, why);
    s->peer.outcome.error_status = 0;
    buf_clear(&s->peer.outcome.redirect);
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
                               &none, HTTP_RECORDER_BY_MCPREEL, now(s));
    record_end(
        p, fault == HTTP_CLIENT_TRUNCATED ? HTTP_RECORDER_BY_SERVER : HTTP_RECORDER_BY_ERROR,
        !p->response_started, str_z(why->msg));
    free_exchange(p);
    if (lost)
        note_lost(s, ev.why);
    s->unreachable_reason = lost ? ev.why : STR_NONE;
    driver_dispatch(&s->driver, ev);
    s->unreachable_reason = STR_NONE;
    if (lost && !s->loss_reported)
        peer_report_lost(&s->peer, str_z(why->msg));
    s->loss_reported = false;
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
        .conn = s->peer.owner.conn,
        .method = request->method,
        .path = str_n(request->target.at, mark),
        .query = own ? STR_NONE : str_skip(request->target, mark + 1),
        .headers = &request->headers,
        .host = ORIGIN_SELF,
        .origin = ORIGIN_NONE,
        .is_endpoint = true,
    };

    p->recorded = http_recorder_begin(&s->peer.owner.recorder->http, &q);
    if (request->body.len)
        http_recorder_request_data(p->recorded, request->body);
    http_recorder_request_end(p->recorded, now(s));
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
    s->peer.outcome.unanswered = !s->answered;
    if (s->peer.owner.recorder)
        record_request(p, request);
    if (request->body.at)
        a.body = (struct body_framing){ .kind = BODY_LENGTH, .length = request->body.len };
    p->transfer = http_transfer_start(s->http_client, REUSE_KEY, &a, &transfer_events, p);
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

static void report_session_ended(struct peer_http *s)
{
    char why[128];

    snprintf(why, sizeof why, "the server ended the session; %.*s",
             STR_ARG(s->mcp_client.reconnect_hint));
    peer_report_lost(&s->peer, str_z(why));
}

/* Reports a loss before the error response that it causes. */
static void deliver(struct peer_http *s, struct str message)
{
    bool ended = s->mcp_client.session_ended && !s->session_ended;

    s->session_ended = s->mcp_client.session_ended;
    if (ended)
        report_session_ended(s);
    if (s->unreachable_reason.len && !s->loss_reported) {
        s->loss_reported = true;
        peer_report_lost(&s->peer, s->unreachable_reason);
    }
    s->peer.owner.events->message(s->peer.owner.to, message);
}

static void act(void *to, const struct action *a)
{
    struct peer_http *s = to;

    if (a->kind == ACTION_SEND) {
        deliver(s, a->text);
    } else if (a->kind == ACTION_HTTP_REQUEST) {
        start_exchange(s, a->route.exchange, a->request);
    } else if (a->kind == ACTION_HTTP_ABORT) {
        abort_exchange(s, a->route.exchange, a->text);
    } else if (a->kind == ACTION_INVALID_RESPONSE) {
        record_invalid_response(s, a->route.exchange, a->text);
    } else if (a->kind == ACTION_FINISH) {
        peer_report_closed(&s->peer);
        s->peer.owner.events->exited(s->peer.owner.to);
    } else {
        BUG("mcphttp/client has no other action");
    }
}

static void step(void *engine, const struct event *ev)
{
    mcp_client_step(engine, ev);
}

static void dispatch_line(struct peer_http *s, struct str line)
{
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_CLIENT_LINE, .text = line });
}

static void dispatch_end(struct peer_http *s)
{
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_INPUT_CLOSED });
}

/* Sends queued lines when the owner's engine has finished its step: a response may come at
 * once. */
static void send_queued(void *to)
{
    struct peer_http *s = to;
    struct buf queue = s->send_queue;
    struct str rest = buf_str(&queue);

    buf_init(&s->send_queue, queue.max);
    while (rest.len)
        dispatch_line(s, str_cut(&rest, '\n'));
    buf_release(&queue);
    if (s->end_after_queue)
        dispatch_end(s);
}

static void send_http(struct peer *p, struct str message)
{
    struct peer_http *s = self_of(p);

    if (!p->owner.in_engine) {
        dispatch_line(s, message);
        return;
    }
    if (!s->send_queue.len)
        timer_set(s->send_timer, 0);
    buf_add(&s->send_queue, message);
    buf_add_ch(&s->send_queue, '\n');
}

static void stop_http(struct peer *p, struct str why)
{
    struct peer_http *s = self_of(p);

    if (p->owner.in_engine)
        timer_stop(s->send_timer);
    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_CLIENT_CLOSED, .why = why });
}

static void end_http(struct peer *p, bool await)
{
    struct peer_http *s = self_of(p);

    if (!await)
        stop_http(p, STR_NONE);
    else if (s->send_queue.len)
        s->end_after_queue = true;
    else
        dispatch_end(s);
}

static size_t queued_http(const struct peer *p)
{
    const struct peer_http *s = (const struct peer_http *)p;
    size_t bytes = s->send_queue.len + s->mcp_client.send_queue.bytes;

    for (struct map_entry *e = NULL; (e = map_next(&s->exchanges, e));)
        bytes += http_transfer_queued(((struct peer_http_exchange *)e->value)->transfer);
    return bytes;
}

static void read_http(struct peer *p, bool on)
{
    struct peer_http *s = self_of(p);

    if (s->reading_paused == !on)
        return;
    s->reading_paused = !on;
    for (struct map_entry *e = NULL; (e = map_next(&s->exchanges, e));)
        http_transfer_read(((struct peer_http_exchange *)e->value)->transfer, on);
}

static void free_http(struct peer *p)
{
    struct peer_http *s = self_of(p);
    struct map_entry *e;

    while ((e = map_next(&s->exchanges, NULL)))
        abort_exchange(s, ((struct peer_http_exchange *)e->value)->number,
                       STR(RECORD_WHY_STOPPED));
    map_release(&s->exchanges);
    mcp_client_release(&s->mcp_client);
    driver_release(&s->driver);
    http_client_free(s->http_client);
    timer_close(s->send_timer);
    buf_release(&s->send_queue);
    peer_release(p);
    free(s);
}

static const struct peer_transport http_transport = {
    .free = free_http,
    .send = send_http,
    .end = end_http,
    .stop = stop_http,
    .queued = queued_http,
    .read = read_http,
};

/* Leaves the report of failures to the owner's engine. */
static void quiet_log(struct peer_http *s)
{
    s->log = *s->app.log;
    s->log.level = s->log.level < LOG_DEBUG ? LOG_ERROR : s->log.level;
    s->app.log = &s->log;
}

bool peer_http_start(struct peer **out, const struct remote_config *remote,
                     const struct peer_owner *owner, struct err *e)
{
    struct http_client_config config = { .url = str_z(remote->url),
                                         .extra_headers = remote->headers,
                                         .cacert = str_z(remote->cacert) };
    struct http_client *client;
    struct peer_http *s;

    if (!http_client_new(&client, owner->loop, &config, e))
        return false;
    s = mem_new(struct peer_http);
    peer_init(&s->peer, &http_transport, owner);
    s->http_client = client;
    s->app = *owner->app;
    map_init(&s->exchanges);
    buf_init(&s->send_queue, LIMIT_LINE);
    if (owner->in_engine) {
        quiet_log(s);
        s->send_timer = timer_new(owner->loop, send_queued, s);
    }
    driver_init(&s->driver, &s->app, owner->loop, step, &s->mcp_client, act, s);
    mcp_client_init(&s->mcp_client, http_client_url(client), &s->driver.actions);
    s->mcp_client.no_get_stream = owner->no_get_stream;
    if (owner->reconnect_hint.len)
        s->mcp_client.reconnect_hint = owner->reconnect_hint;
    if (owner->recorder)
        traffic_recorder_set_server(owner->recorder, http_client_url(client),
                                    str_z(remote->url));
    *out = &s->peer;
    return true;
}

#include "mcphttp/client.h"

#include "mcp/error-code.h"
#include "mcphttp/url-rewrite.h"

enum {
    NOTIFICATION_S = 2,    /* for a notification's response, before the next message */
    ENDPOINT_S = 30,       /* for the endpoint event */
    SILENCE_S = 10,        /* without activity, after EVENT_INPUT_CLOSED */
    INPUT_CLOSED_S = 3600, /* in all, after EVENT_INPUT_CLOSED */
    DELETE_S = 2,
    LINGER_S = 5, /* for the end of a stream after its response */
    SECOND_US = 1000000,
    ERROR_TEXT_MAX = 64 << 10,

    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
};

#define SESSION_ENDED_TEXT "the server has ended the session"

void mcp_client_init(struct mcp_client *s, const struct url *url, struct action_sink *out)
{
    *s = (struct mcp_client){ .url = url };
    s->reconnect_hint = STR("the client has to initialize again");
    actions_init(&s->actions, out);
    client_session_init(&s->session, url);
    client_deliver_init(&s->deliver, &s->actions, &s->session, &s->arena);
    json_init(&s->json);
    buf_init(&s->error_text, ERROR_TEXT_MAX);
    buf_init(&s->sse_probe_error, ERROR_TEXT_MAX);
    client_schemas_init(&s->schemas);
}

void mcp_client_release(struct mcp_client *s)
{
    client_queue_release(&s->send_queue);
    client_exchange_release_all(&s->exchanges);
    client_deliver_release(&s->deliver);
    client_session_release(&s->session);
    json_release(&s->json);
    arena_release(&s->arena);
    buf_release(&s->error_text);
    buf_release(&s->sse_probe_error);
    client_schemas_release(&s->schemas);
    actions_release(&s->actions);
}

static uint64_t set_timer(struct mcp_client *s, int64_t delay_us)
{
    actions_set_timer(&s->actions, ++s->timer_count, delay_us);
    return s->timer_count;
}

static void send_http_request(struct mcp_client *s, struct client_exchange *t,
                              struct action_request *ask)
{
    s->requests_sent++;
    client_exchange_send(&s->exchanges, t, &s->actions, ask, s->now_us);
    headers_release(&ask->headers);
}

static void send_get(struct mcp_client *s, struct client_exchange *t)
{
    struct action_request a;

    client_session_compose_get(&s->session, buf_str(&t->response.last_event_id), &a);
    send_http_request(s, t, &a);
}

static void send_delete(struct mcp_client *s)
{
    struct action_request a;

    client_session_compose_delete(&s->session, &a);
    send_http_request(s, client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_DELETE), &a);
}

/* Sends a POST; `m` is NULL for a batch. */
static void send_post(struct mcp_client *s, struct client_exchange *t,
                      const struct mcp_message *m, struct str text)
{
    struct action_request a;

    t->stateless = client_session_compose_post(&s->session, m, text, &s->arena, &a);
    if (t->stateless && str_eq(m->method, STR("tools/call"))) {
        client_exchange_keep_body(t, text);
        buf_clear(&t->param_headers);
        param_headers_to_text(&s->session.param_headers, m, &t->param_headers, &s->arena);
    }
    send_http_request(s, t, &a);
}

/* True if the stream of an HTTP+SSE session is gone: no response can come. */
static bool sse_stream_lost(const struct mcp_client *s)
{
    return s->transport == MCP_CLIENT_SSE && (!s->get_stream || s->get_stream->finished);
}

/* Statuses with which HTTP+SSE servers reject a POST to their stream URL. */
static bool is_sse_hint_status(unsigned status)
{
    return status == BAD_REQUEST || status == NOT_FOUND || status == NOT_ALLOWED;
}

/* Writes to `error_text` why there is no response, and returns it. */
static struct str describe_failure(struct mcp_client *s, const struct client_exchange *t,
                                   struct str why)
{
    if (!why.len && sse_stream_lost(s) && client_response_is_ok(&t->response))
        why = STR(SESSION_ENDED_TEXT);
    else if (!why.len && is_sse_hint_status(t->response.status))
        why = buf_str(&s->sse_probe_error);
    buf_clear(&s->error_text);
    client_exchange_describe_failure(t, s->session_ended ? s->reconnect_hint : STR_NONE, why,
                                     &s->error_text);
    return buf_str(&s->error_text);
}

/* Reports that the complete response that just ended was invalid, so that a recording has it.
 */
static void report_invalid_response(struct mcp_client *s, struct str why)
{
    struct action a = { .kind = ACTION_INVALID_RESPONSE,
                        .text = why,
                        .route = { .exchange = s->ended_exchange } };

    if (s->ended_exchange)
        actions_put(&s->actions, &a);
    s->ended_exchange = 0;
}

static void handle_text(struct mcp_client *s, struct client_exchange *t, struct str text)
{
    client_deliver_text(&s->deliver, t, text);
    /* All responses are there: the stream should end now. Wait for that only a while. */
    if (t->kind == CLIENT_EXCHANGE_POST && t->exchange && !t->timer &&
        (t == s->schema_request ? s->schemas.page_received
                                : !client_pending_find_first(&s->deliver.pending, t)))
        t->timer = set_timer(s, (int64_t)LINGER_S * SECOND_US);
}

static void drop_get_stream(struct mcp_client *s, struct str why)
{
    if (s->get_stream)
        client_exchange_abort(s->get_stream, &s->actions, why);
    s->get_stream = NULL;
}

/* Opens the GET stream of HTTP+SSE. `initialize` is sent when the endpoint event came. */
static void probe_http_sse(struct mcp_client *s, struct client_exchange *initialize)
{
    s->transport = MCP_CLIENT_SSE_PROBE;
    s->pending_initialize = initialize;
    s->get_stream = client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_GET);
    send_get(s, s->get_stream);
    s->get_stream->timer = set_timer(s, (int64_t)ENDPOINT_S * SECOND_US);
}

/* It is no HTTP+SSE server, or its endpoint is unusable: fails the pending initialize. */
static void abort_http_sse_probe(struct mcp_client *s, struct str why)
{
    const struct client_exchange *of =
        s->pending_initialize->response.status ? s->pending_initialize : s->get_stream;
    struct str reason = describe_failure(s, of, why);

    s->transport = MCP_CLIENT_STREAMABLE;
    buf_add(&s->sse_probe_error, why);
    buf_clear(&s->session.sse_endpoint);
    drop_get_stream(s, why);
    client_deliver_fail(&s->deliver, s->pending_initialize, of->response.status, reason);
    s->pending_initialize->finished = true;
}

/* Parses the copy of a message. Valid until the next call. */
static struct mcp_message parse_kept(struct mcp_client *s, struct str text)
{
    struct json_fault fault;

    if (!json_scan(&s->json, text, &fault))
        BUG("a stored message is not valid JSON");
    return mcp_classify(json_root(&s->json), &s->arena);
}

/* Sends the copy of the message of an exchange once more. */
static void resend_post(struct mcp_client *s, struct client_exchange *t)
{
    struct str text = str_n(t->body, t->body_len);
    struct mcp_message m = parse_kept(s, text);

    send_post(s, t, &m, text);
}

static void handle_endpoint(struct mcp_client *s, struct str endpoint)
{
    struct err e = ERR_NONE;

    if (s->transport != MCP_CLIENT_SSE_PROBE)
        return;
    if (!url_rewrite_parse_endpoint(&s->session.sse_endpoint, endpoint, s->url, &s->arena,
                                    &e)) {
        abort_http_sse_probe(s, str_z(e.msg));
        return;
    }
    actions_report(&s->actions, LOG_INFO, "the server speaks legacy HTTP+SSE (2024-11-05)");
    s->transport = MCP_CLIENT_SSE;
    s->get_stream->timer = 0;
    resend_post(s, s->pending_initialize);
}

static void open_get_stream(struct mcp_client *s)
{
    if (s->no_get_stream || s->get_stream || s->transport != MCP_CLIENT_STREAMABLE ||
        s->state != MCP_CLIENT_OPEN)
        return;
    s->get_stream = client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_GET);
    send_get(s, s->get_stream);
}

static void note_session_ended(struct mcp_client *s)
{
    if (!s->session_ended)
        actions_report(&s->actions, LOG_WARN, SESSION_ENDED_TEXT ": %.*s",
                       STR_ARG(s->reconnect_hint));
    s->session_ended = true;
}

static void handle_response_head(struct mcp_client *s, struct client_exchange *t,
                                 const struct event *ev)
{
    const struct header *id = headers_next(ev->headers, STR("mcp-session-id"), NULL);

    s->responses_received++;
    client_response_head(&t->response, ev->status, ev->headers, s->url);
    if (ev->status == NOT_FOUND && s->session.session_id.len && !t->stateless &&
        t->kind != CLIENT_EXCHANGE_DELETE)
        note_session_ended(s);
    if (!client_response_is_ok(&t->response))
        return;
    if (t->has_initialize && id && s->transport == MCP_CLIENT_STREAMABLE)
        client_session_set_value(&s->session.session_id, id->value);
    if (t->has_initialized)
        open_get_stream(s);
}

static void handle_sse_event(void *to, struct str name, struct str data, bool repeated)
{
    struct mcp_client *s = to;
    struct client_exchange *t = s->current;

    if (t->finished || repeated)
        return;
    if (t == s->get_stream && str_eq(name, STR("endpoint")))
        handle_endpoint(s, data);
    else if (str_eq(name, STR("message")))
        handle_text(s, t, data);
}

static void handle_response_data(struct mcp_client *s, struct client_exchange *t,
                                 struct str bytes)
{
    uint64_t new_events = t->response.new_events;

    s->current = t;
    client_response_data(&t->response, bytes, handle_sse_event, s);
    s->activity_since_timer |=
        t->response.new_events > new_events || client_response_is_large(&t->response);
}

/* True if the response to initialize may be that of an HTTP+SSE server. */
static bool may_be_http_sse(const struct mcp_client *s, const struct client_exchange *t)
{
    return t->has_initialize && s->transport == MCP_CLIENT_STREAMABLE &&
           client_pending_find_first(&s->deliver.pending, t) &&
           is_sse_hint_status(t->response.status);
}

/* Requests the next page of tools for a held call. */
static void request_schemas(struct mcp_client *s, const struct client_exchange *held)
{
    struct mcp_message call = parse_kept(s, str_n(held->body, held->body_len)), m;
    struct str text = client_schemas_request(&s->schemas, call.params, &s->arena);

    m = parse_kept(s, text);
    s->schema_request = client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_POST);
    s->schema_request->schemas = &s->schemas;
    send_post(s, s->schema_request, &m, text);
}

/* Holds a call that was rejected for missing headers, and fetches the schemas. False: it is not
 * such a call, or was held before. */
static bool hold_call(struct mcp_client *s, struct client_exchange *t)
{
    struct mcp_message m = client_deliver_message(&s->deliver);

    if (!t->stateless || !t->body || t->was_held ||
        !client_schemas_is_needed(t->response.status, &m))
        return false;
    actions_report(
        &s->actions, LOG_INFO,
        "tools/call rejected: missing Mcp-Param headers; fetching tools/list to build them");
    t->was_held = t->held = true;
    if (!s->schema_request) {
        client_schemas_start(&s->schemas);
        request_schemas(s, t);
    }
    return true;
}

/* Handles the complete body of a response that is no stream. False: the exchange goes on. */
static bool handle_body(struct mcp_client *s, struct client_exchange *t)
{
    enum parse_kind kind;

    if (s->transport == MCP_CLIENT_SSE && client_response_is_ok(&t->response)) {
        if (!sse_stream_lost(s)) /* the responses come on the stream */
            client_pending_reassign(&s->deliver.pending, t, s->get_stream);
        return true;
    }
    kind = client_deliver_classify(
        &s->deliver, t->response.compressed ? STR_NONE : buf_str(&t->response.body));
    if (may_be_http_sse(s, t) &&
        !(kind == PARSE_MESSAGE && client_deliver_is_response(&s->deliver, t))) {
        probe_http_sse(s, t);
        return false;
    }
    if (kind == PARSE_MESSAGE && hold_call(s, t))
        return false;
    if (kind == PARSE_MESSAGE || kind == PARSE_BATCH)
        client_deliver_classified(&s->deliver, t);
    return true;
}

static void end_post(struct mcp_client *s, struct client_exchange *t, struct str why)
{
    bool ok = client_response_is_ok(&t->response);
    struct str reason;

    if (t->resuming || client_response_is_stream(&t->response))
        client_exchange_count_try(t, s->now_us);
    if (client_pending_find_first(&s->deliver.pending, t) &&
        s->transport == MCP_CLIENT_STREAMABLE && client_exchange_can_resume(t)) {
        t->resuming = true;
        t->timer = set_timer(s, client_exchange_retry_delay_us(t));
        return;
    }
    reason = describe_failure(s, t, why);
    if (client_pending_find_first(&s->deliver.pending, t) || (t->has_no_request && !ok))
        report_invalid_response(s, reason);
    if (t->has_no_request && (!ok || why.len))
        actions_report(&s->actions, LOG_WARN,
                       "a notification may not have been delivered: %.*s", STR_ARG(reason));
    client_deliver_fail(&s->deliver, t, t->response.status, reason);
    t->finished = true;
}

/* Sends a held call again if its headers have changed; else delivers the rejection, unless
 * `more` pages follow. */
static void release_held_call(struct mcp_client *s, struct client_exchange *t, bool more)
{
    struct mcp_message m = parse_kept(s, str_n(t->body, t->body_len));
    struct buf lines;
    bool same;

    buf_init(&lines, t->param_headers.max);
    param_headers_to_text(&s->session.param_headers, &m, &lines, &s->arena);
    same = str_eq(buf_str(&lines), buf_str(&t->param_headers));
    buf_release(&lines);
    if (same && more)
        return;
    t->held = false;
    if (!same) {
        resend_post(s, t);
        return;
    }
    handle_text(s, t, buf_str(&t->response.body));
    end_post(s, t, STR_NONE);
}

static void end_schema_request(struct mcp_client *s, struct str why)
{
    struct client_exchange *list = s->schema_request;

    if (!s->schemas.page_received)
        report_invalid_response(s, describe_failure(s, list, why));
    s->ended_exchange = 0;
    list->finished = true;
    s->schema_request = NULL;
    for (struct client_exchange *t = s->exchanges.first; t; t = t->next)
        if (t->held)
            release_held_call(s, t, client_schemas_has_more(&s->schemas));
    if (client_exchange_find_held(&s->exchanges))
        request_schemas(s, client_exchange_find_held(&s->exchanges));
}

/* The stream ended before the endpoint event. If there was no stream, the response to
 * initialize is the better error. */
static void end_sse_probe(struct mcp_client *s, struct client_exchange *t, struct str why)
{
    if (client_response_is_stream(&t->response) && !why.len) {
        why = STR("the SSE stream ended before its 'endpoint' event");
        report_invalid_response(s, why);
    } else if (s->pending_initialize->response.status) {
        why = STR_NONE;
    }
    abort_http_sse_probe(s, why);
}

static void end_sse_stream(struct mcp_client *s, struct client_exchange *t, struct str why)
{
    struct str reason = why.len ? why : STR(SESSION_ENDED_TEXT);

    s->deliver.initializing = false;
    if (client_pending_find_first(&s->deliver.pending, t))
        report_invalid_response(s, reason);
    client_deliver_fail(&s->deliver, t, 0, reason);
    t->finished = true;
}

static void end_get_stream(struct mcp_client *s, struct client_exchange *t, struct str why)
{
    bool refused = t->response.status && t->response.status < 500 &&
                   !client_response_is_stream(&t->response);

    if (s->transport == MCP_CLIENT_SSE_PROBE) {
        end_sse_probe(s, t, why);
        return;
    }
    if (s->transport == MCP_CLIENT_SSE) {
        end_sse_stream(s, t, why);
        return;
    }
    client_exchange_count_try(t, s->now_us);
    t->finished = refused || s->session_ended || s->state != MCP_CLIENT_OPEN;
    if (refused)
        actions_report(&s->actions, LOG_DEBUG,
                       "the server offers no GET event stream (status %u)", t->response.status);
    if (!t->finished)
        t->timer = set_timer(s, client_exchange_retry_delay_us(t));
}

/* Handles the end of a response; `why` is empty if it is complete. */
static void handle_response_end(struct mcp_client *s, struct client_exchange *t, struct str why)
{
    t->exchange = t->timer = 0;
    if (t->kind == CLIENT_EXCHANGE_DELETE)
        t->finished = true;
    else if (t->kind == CLIENT_EXCHANGE_GET)
        end_get_stream(s, t, why);
    else if (why.len || client_response_is_stream(&t->response) || handle_body(s, t))
        t == s->schema_request ? end_schema_request(s, why) : end_post(s, t, why);
}

static void begin_session(struct mcp_client *s)
{
    if (s->session.session_id.len && !s->session_ended)
        send_delete(s);
    if (s->get_stream)
        client_deliver_fail(&s->deliver, s->get_stream, 0,
                            STR("the client started another session"));
    drop_get_stream(s, STR_NONE);
    client_session_reset(&s->session);
    buf_clear(&s->sse_probe_error);
    s->session_ended = false;
    s->deliver.initializing = true;
}

static void send_initialize(struct mcp_client *s, const struct mcp_message *m, struct str text)
{
    struct client_exchange *t;

    begin_session(s);
    t = client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_POST);
    t->has_initialize = true;
    client_exchange_keep_body(t, text);
    client_pending_add(&s->deliver.pending, m, t);
    if (s->transport == MCP_CLIENT_SSE)
        probe_http_sse(s, t);
    else
        send_post(s, t, m, text);
}

/* Handles notifications/cancelled. True: it must not be sent, because the request was stateless
 * and is cancelled by aborting its exchange. */
static bool cancel_request(struct mcp_client *s, const struct mcp_message *m)
{
    struct client_pending_request *w =
        client_pending_find(&s->deliver.pending, json_get(m->params, STR("requestId")), NULL);
    struct client_exchange *t = s->exchanges.first;

    while (w && t && t != w->carrier)
        t = t->next;
    if (!w || !t || !t->stateless) {
        if (w)
            w->cancelled = true;
        return false;
    }
    client_pending_remove_all(&s->deliver.pending, t);
    client_exchange_abort(t, &s->actions, STR_NONE);
    return true;
}

/* Rejects a message because the session is gone; `m` is NULL for a batch. */
static void reject_unsent(struct mcp_client *s, const struct mcp_message *m)
{
    if (!m)
        client_pending_add_batch(&s->deliver.pending, json_root(&s->json), NULL);
    else if (m->kind == MCP_REQUEST)
        client_pending_add(&s->deliver.pending, m, NULL);
    else if (m->kind == MCP_NOTIFICATION)
        actions_report(&s->actions, LOG_WARN,
                       "a notification was not sent: " SESSION_ENDED_TEXT);
    client_deliver_fail(&s->deliver, NULL, 0, STR(SESSION_ENDED_TEXT));
}

/* Sends a message of the client; `m` is NULL for a batch. */
static void send_message(struct mcp_client *s, const struct mcp_message *m, struct str text)
{
    struct client_exchange *t;

    if (m && m->kind == MCP_REQUEST && str_eq(m->method, STR("initialize"))) {
        send_initialize(s, m, text);
        return;
    }
    if (m && m->kind == MCP_NOTIFICATION && str_eq(m->method, STR("notifications/cancelled")) &&
        cancel_request(s, m))
        return;
    if (sse_stream_lost(s)) {
        reject_unsent(s, m);
        return;
    }
    t = client_exchange_add(&s->exchanges, CLIENT_EXCHANGE_POST);
    t->has_initialized =
        m && m->kind == MCP_NOTIFICATION && str_eq(m->method, STR("notifications/initialized"));
    if (m && m->kind == MCP_REQUEST)
        client_pending_add(&s->deliver.pending, m, t);
    if (!m)
        client_pending_add_batch(&s->deliver.pending, json_root(&s->json), t);
    t->has_no_request = !client_pending_find_first(&s->deliver.pending, t);
    if (!m || !mcp_is_response(m)) {
        s->send_barrier = t;
        s->barrier_timer =
            t->has_no_request ? set_timer(s, (int64_t)NOTIFICATION_S * SECOND_US) : 0;
    }
    send_post(s, t, m, text);
}

static bool is_barrier_open(struct mcp_client *s)
{
    const struct client_exchange *g = s->send_barrier;

    if (g && (g->finished || g->response.status || (g->request_sent && !g->has_no_request)))
        s->send_barrier = NULL;
    return !s->send_barrier;
}

/* Responses of the client do not wait for the barrier: the server is waiting for them. */
static bool may_send(struct mcp_client *s, bool is_response)
{
    if (s->transport == MCP_CLIENT_SSE_PROBE)
        return false;
    return is_response || (!s->deliver.initializing && is_barrier_open(s) &&
                           client_exchange_count_open(&s->exchanges) < MCP_CLIENT_REQUESTS_MAX);
}

static void reject_line(struct mcp_client *s, bool json)
{
    actions_send_error(&s->actions, STR_NONE, json ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR,
                       json ? STR("not a JSON-RPC message") : STR("not valid JSON"), STR_NONE);
}

static void handle_client_line(struct mcp_client *s, struct str text)
{
    struct json_fault fault;
    struct mcp_message m;
    bool batch, is_response;

    text = str_trim(text);
    if (!text.len)
        return;
    if (!json_scan(&s->json, text, &fault)) {
        reject_line(s, false);
        return;
    }
    m = mcp_classify(json_root(&s->json), &s->arena);
    batch = m.kind == MCP_BATCH && json_count(m.root);
    is_response = mcp_is_response(&m);
    if (m.kind == MCP_OTHER || (m.kind == MCP_BATCH && !batch))
        reject_line(s, true);
    else if ((s->send_queue.first && !is_response) || !may_send(s, is_response))
        client_queue_add(&s->send_queue, text, is_response);
    else
        send_message(s, batch ? NULL : &m, text);
}

/* Sends queued lines as far as possible. */
static void send_queued(struct mcp_client *s)
{
    while (s->send_queue.first && may_send(s, s->send_queue.first->is_response)) {
        struct str text = s->send_queue.first->text;
        struct mcp_message m = parse_kept(s, text);

        send_message(s, m.kind == MCP_BATCH ? NULL : &m, text);
        client_queue_pop(&s->send_queue);
    }
}

static void finish(struct mcp_client *s)
{
    s->state = MCP_CLIENT_DONE;
    actions_finish(&s->actions, 0);
}

/* Aborts all exchanges and deletes the session. Pending requests get the error `why`, if that
 * is not empty. */
static void end_client(struct mcp_client *s, struct str why)
{
    s->state = MCP_CLIENT_ENDING;
    client_exchange_abort_all(&s->exchanges, &s->actions, why);
    if (why.len) {
        client_queue_move_to_pending(&s->send_queue, &s->deliver.pending);
        client_deliver_fail_all(&s->deliver, why);
    }
    client_queue_release(&s->send_queue);
    client_pending_release(&s->deliver.pending);
    if (!s->session.session_id.len || s->session_ended)
        return;
    send_delete(s);
    s->shutdown_timer = set_timer(s, (int64_t)DELETE_S * SECOND_US);
}

static void handle_input_closed(struct mcp_client *s)
{
    if (s->state != MCP_CLIENT_OPEN)
        return;
    s->state = MCP_CLIENT_INPUT_CLOSED;
    s->input_closed_us = s->now_us;
    s->activity_since_timer = false;
    s->shutdown_timer = set_timer(s, (int64_t)SILENCE_S * SECOND_US);
}

/* True if a line is queued, a request is pending, or a notification is on its way. */
static bool is_busy(const struct mcp_client *s)
{
    return s->send_queue.first || client_pending_has_any(&s->deliver.pending) ||
           client_exchange_has_notification(&s->exchanges);
}

static void handle_shutdown_timer(struct mcp_client *s)
{
    s->shutdown_timer = 0;
    if (s->state == MCP_CLIENT_ENDING) { /* no response to DELETE: do not wait any longer */
        client_exchange_abort_all(&s->exchanges, &s->actions, STR_NONE);
    } else if (!s->activity_since_timer) {
        end_client(s,
                   STR("the server sent nothing for 10 s after the client closed its input"));
    } else if (s->now_us - s->input_closed_us >= (int64_t)INPUT_CLOSED_S * SECOND_US) {
        end_client(
            s,
            STR("the server did not respond within an hour after the client closed its input"));
    } else {
        s->activity_since_timer = false;
        s->shutdown_timer = set_timer(s, (int64_t)SILENCE_S * SECOND_US);
    }
}

static void handle_timer(struct mcp_client *s, uint64_t timer)
{
    struct client_exchange *t = client_exchange_find_timer(&s->exchanges, timer);

    if (timer == s->shutdown_timer) {
        handle_shutdown_timer(s);
    } else if (timer == s->barrier_timer) {
        s->send_barrier = NULL;
    } else if (t && t->kind == CLIENT_EXCHANGE_GET && t->exchange) {
        abort_http_sse_probe(s, STR("the server sent no 'endpoint' event"));
    } else if (t && t->exchange) {
        client_exchange_abort(t, &s->actions, STR_NONE);
        if (t == s->schema_request)
            end_schema_request(s, STR_NONE);
    } else if (t) {
        send_get(s, t);
    }
}

/* True if an event shows progress of a POST. Streams and resumed responses may go on for ever:
 * there only new events count (handle_response_data). */
static bool is_activity(const struct client_exchange *t, enum event_kind kind)
{
    bool all = kind == EVENT_RESPONSE_END && !client_response_is_stream(&t->response);

    return t->kind == CLIENT_EXCHANGE_POST && !t->resuming &&
           (kind == EVENT_REQUEST_SENT || kind == EVENT_RESPONSE_HEAD || all);
}

static void handle_response_event(struct mcp_client *s, const struct event *ev)
{
    struct client_exchange *t =
        ev->exchange ? client_exchange_find(&s->exchanges, ev->exchange) : NULL;

    if (!t)
        return;
    s->activity_since_timer |= is_activity(t, ev->kind);
    if (ev->kind == EVENT_REQUEST_SENT)
        t->request_sent = true;
    else if (ev->kind == EVENT_RESPONSE_HEAD)
        handle_response_head(s, t, ev);
    else if (ev->kind == EVENT_RESPONSE_DATA)
        handle_response_data(s, t, ev->text);
    else
        handle_response_end(s, t, ev->kind == EVENT_REQUEST_FAILED ? ev->why : STR_NONE);
}

static void handle_event(struct mcp_client *s, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_CLIENT_LINE:
        if (s->state == MCP_CLIENT_OPEN)
            handle_client_line(s, ev->text);
        break;
    case EVENT_REQUEST_SENT:
    case EVENT_RESPONSE_HEAD:
    case EVENT_RESPONSE_DATA:
    case EVENT_RESPONSE_END:
    case EVENT_REQUEST_FAILED:
        handle_response_event(s, ev);
        break;
    case EVENT_TIMER:
        handle_timer(s, ev->timer);
        break;
    case EVENT_INPUT_CLOSED:
        handle_input_closed(s);
        break;
    case EVENT_CLIENT_CLOSED:
        if (s->state < MCP_CLIENT_ENDING)
            end_client(s, ev->why);
        break;
    default:
        break;
    }
}

static void free_finished(struct mcp_client *s)
{
    if (s->get_stream && s->get_stream->finished)
        s->get_stream = NULL;
    if (s->send_barrier && s->send_barrier->finished)
        s->send_barrier = NULL;
    if (s->schema_request && s->schema_request->finished)
        s->schema_request = NULL;
    client_exchange_free_finished(&s->exchanges);
}

void mcp_client_step(struct mcp_client *s, const struct event *ev)
{
    if (s->state == MCP_CLIENT_DONE)
        return;
    s->now_us = ev->now_us;
    s->ended_exchange = ev->kind == EVENT_RESPONSE_END ? ev->exchange : 0;
    arena_clear(&s->arena);
    handle_event(s, ev);
    if (s->state < MCP_CLIENT_ENDING)
        send_queued(s);
    if (s->state == MCP_CLIENT_INPUT_CLOSED && !is_busy(s))
        end_client(s, STR_NONE);
    free_finished(s);
    if (s->state == MCP_CLIENT_ENDING && !s->exchanges.first)
        finish(s);
}

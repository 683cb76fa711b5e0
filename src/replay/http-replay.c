#include "replay/http-replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"
#include "replay/anomaly-response.h"
#include "replay/discover.h"
#include "trace/limits.h"

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    CONFLICT = 409,
    UNAVAILABLE = 503,
};

static void handle_action(struct action_sink *self, const struct action *a);

static void init_shared_client(struct http_replay *m)
{
    m->shared_client = mem_new(struct http_replay_client);
    m->shared_client->session = m->replay.main_session;
    m->shared_client->session->is_shared = true;
}

void http_replay_init(struct http_replay *m, const struct index *idx,
                      const struct http_index *http, struct fuzzy *fuzzy,
                      const struct http_replay_options *options, struct action_sink *out)
{
    *m = (struct http_replay){
        .sink = { handle_action }, .out = out, .options = *options, .http_index = http
    };
    m->rules = http->rules;
    m->rules.stateless = idx->has_stateless;
    m->rules.stateful = idx->has_stateful || !idx->has_stateless;
    m->rules.uses_session_ids = http->rules.uses_session_ids && m->rules.stateful;
    m->rules.any_session_id = options->replay.mcp_recorder_errors;
    m->rules.versions = discover_versions(idx, &m->lifetime_arena);
    m->options.replay.shared_session = !m->rules.uses_session_ids;
    replay_init(&m->replay, idx, fuzzy, &m->options.replay, &m->sink);
    session_ids_init(&m->session_ids);
    map_init(&m->clients);
    map_init(&m->calls);
    map_init(&m->timers);
    event_streams_init(&m->streams, out);
    legacy_sse_init(&m->sse_sessions, out, options->random);
    http_response_init(&m->response, out);
    json_init(&m->json);
    init_shared_client(m);
}

static void free_client(struct http_replay_client *c)
{
    message_queue_release(&c->undelivered);
    free(c);
}

static void free_call(struct http_replay_call *c)
{
    buf_release(&c->batch_responses);
    free(c);
}

void http_replay_release(struct http_replay *m)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));)
        free_call(e->value);
    for (struct map_entry *e = NULL; (e = map_next(&m->clients, e));)
        free_client(e->value);
    free_client(m->shared_client);
    map_release(&m->calls);
    map_release(&m->clients);
    map_release(&m->timers);
    event_streams_release(&m->streams);
    legacy_sse_release(&m->sse_sessions);
    session_ids_release(&m->session_ids);
    json_release(&m->json);
    arena_release(&m->arena);
    arena_release(&m->lifetime_arena);
    http_response_release(&m->response);
    replay_release(&m->replay);
}

static struct str session_id_of(const struct http_replay_client *c)
{
    return c->session_number ? str_z(c->id) : STR_NONE;
}

static void reject(struct http_replay *m, uint64_t exchange, const struct http_rejection *v,
                   struct str id)
{
    http_response_reject(&m->response, exchange, v, id);
    m->rejected++;
}

static void reject_with_text(struct http_replay *m, uint64_t exchange, unsigned status,
                             struct str text)
{
    struct http_rejection v = { .status = status, .code = MCP_SERVER_ERROR, .text = text };

    reject(m, exchange, &v, STR_NONE);
}

/* Most calls are answered before the next one comes. */
static struct http_replay_call *find_call(const struct http_replay *m, uint64_t exchange)
{
    if (m->newest_call && m->newest_call->exchange == exchange)
        return m->newest_call;
    return exchange ? map_get(&m->calls, map_number_key(&exchange)) : NULL;
}

static void drop_call(struct http_replay *m, struct http_replay_call *c)
{
    if (m->newest_call == c)
        m->newest_call = NULL;
    map_remove(&m->calls, map_number_key(&c->exchange));
    free_call(c);
}

/* Closes the stream as the recorded server did, so that the client resumes it. */
static void cut_stream(struct http_replay *m, struct http_replay_call *c)
{
    struct http_replay_call *on = find_call(m, c->stream->exchange);

    event_streams_disconnect(&m->streams, c->stream);
    if (c->stream->exchange || !on)
        return;
    if (on == c)
        c->client_closed = true;
    else
        drop_call(m, on);
}

/* Repeats the events of the recorded stream beside its messages, if the recorded server would
 * have sent them to this client. */
static void replay_stream_events(struct http_replay *m, struct http_replay_call *c)
{
    struct event_stream *x = c->stream;
    bool primes = c->shape && http_index_supports_priming(c->version, c->shape->version);

    while (c->next_stream_event && c->next_stream_event->after_messages <= x->message_count) {
        const struct http_stream_event *b = c->next_stream_event;

        c->next_stream_event = b->next;
        if (!x->has_ids || !primes)
            continue;
        if (b->closes_stream)
            cut_stream(m, c);
        else
            event_streams_send_priming(&m->streams, x, b->retry_ms);
    }
}

/* Makes the response an SSE stream. */
static void open_stream(struct http_replay *m, struct http_replay_call *c)
{
    const struct response_shape *f = c->shape;
    bool has_ids = f && f->has_ids && !c->stateless;

    if (!c->client_closed)
        http_response_open_stream(&m->response, c->exchange, session_id_of(c->client));
    c->stream = event_streams_add(&m->streams, c->client->session_number,
                                  c->client_closed ? 0 : c->exchange, has_ids);
    replay_stream_events(m, c);
}

static void begin_call(struct http_replay *m, const struct route *way)
{
    struct http_replay_call *c = find_call(m, way->exchange);

    if (!c || c->shape)
        return;
    c->shape = http_index_shape(m->http_index, way->seq);
    c->next_stream_event = c->shape ? c->shape->stream_events : NULL;
    if (c->shape && c->shape->sse && c->accepts_sse && !c->stream)
        open_stream(m, c);
}

static unsigned response_status(const struct http_replay_call *c, struct str text)
{
    if (c->shape && c->shape->status && c->shape->has_response)
        return c->shape->status;
    return http_response_status(c->stateless, text);
}

static void send_json(struct http_replay *m, struct http_replay_call *c, struct str text)
{
    if ((c->batch && !http_response_add_to_batch(&c->batch_responses, c->pending, &text)) ||
        c->client_closed)
        return;
    http_response_start(&m->response, STR("application/json"), session_id_of(c->client));
    http_response_send(&m->response, c->exchange, c->batch ? OK : response_status(c, text),
                       text);
}

/* Ends a call that has all its responses. Its stream may have been resumed on another
 * exchange. */
static void finish_call(struct http_replay *m, struct http_replay_call *c)
{
    uint64_t on = c->stream ? c->stream->exchange : 0;
    struct http_replay_call *listener = on != c->exchange ? find_call(m, on) : NULL;

    if (c->stream)
        event_streams_end(&m->streams, c->stream);
    if (listener)
        drop_call(m, listener);
    drop_call(m, c);
}

static void send_on_call(struct http_replay *m, struct http_replay_call *c,
                         const struct action *a)
{
    const struct index_sse_event *as = index_sse_event(m->replay.index, a->route.step);
    bool last = a->route.is_final;
    bool as_stream = c->stream || (c->accepts_sse && (!last || (c->shape && c->shape->sse))) ||
                     !c->accepts_json;

    if (!last && !c->stream && (!c->accepts_sse || (c->shape && c->shape->json))) {
        http_replay_send_on_get_stream(m, c->client, a->text, as);
        return;
    }
    if (!as_stream) {
        send_json(m, c, a->text);
    } else {
        if (!c->stream)
            open_stream(m, c);
        event_streams_send_named(&m->streams, c->stream, a->text, as->name, as->retry_ms);
        if (!last)
            replay_stream_events(m, c);
    }
    if (last && !--c->pending)
        finish_call(m, c);
}

static void set_timer(struct http_replay *m, const struct action *a)
{
    uint64_t of = m->current_client ? m->current_client->session_number + 1 : 0;

    if (of)
        map_put(&m->timers, map_number_key(&a->timer), (void *)(uintptr_t)of);
    m->out->put(m->out, a);
}

/* A client of HTTP+SSE gets all messages on its one stream. */
static void send_http_sse(struct http_replay *m, struct http_replay_client *to,
                          struct http_replay_call *c, const struct action *a)
{
    legacy_sse_send(&m->sse_sessions, to->sse_session, a->text);
    if (c && a->route.is_final && !--c->pending)
        drop_call(m, c);
}

/* Sends a message where it was recorded. If the client has no GET stream, a message for that
 * goes on the SSE stream of its call; a server request opens one. A client that accepts no SSE
 * is not sent server requests. */
static void send_message(struct http_replay *m, const struct action *a)
{
    struct http_replay_call *c = find_call(m, a->route.exchange);
    struct http_replay_client *to = c ? c->client : m->current_client;
    bool on_call_stream = c && !c->client->get_stream && (a->route.is_request || c->stream);

    if (to && to->sse_session) {
        send_http_sse(m, to, c, a);
        return;
    }
    if (on_call_stream && !c->stream && !c->accepts_sse) {
        m->unaskable_exchange = c->exchange;
        return;
    }
    if (on_call_stream && !c->stream)
        open_stream(m, c);
    if (c && (!a->route.other_stream || on_call_stream))
        send_on_call(m, c, a);
    else if (m->current_client && !a->route.is_final)
        http_replay_send_on_get_stream(m, m->current_client, a->text,
                                       index_sse_event(m->replay.index, a->route.step));
}

static void end_http_sse(struct http_replay *m, struct http_replay_client *c)
{
    if (c->sse_session)
        legacy_sse_end(&m->sse_sessions, c->sse_session);
    c->sse_session = NULL;
}

/* Ends all exchanges and streams. */
static void end_all(struct http_replay *m)
{
    struct map_entry *e;

    while ((e = map_next(&m->calls, NULL))) {
        struct http_replay_call *c = e->value;

        if (!c->stream && !c->client_closed)
            reject_with_text(m, c->exchange, UNAVAILABLE, STR("the replay has ended"));
        drop_call(m, c);
    }
    for (e = NULL; (e = map_next(&m->streams.by_number, e));)
        event_streams_close_exchange(&m->streams, e->value);
    for (e = NULL; (e = map_next(&m->clients, e));)
        end_http_sse(m, e->value);
}

/* Ends a call whose client has cancelled it by a notification: no response follows. */
static void cancel_response(struct http_replay *m, uint64_t exchange)
{
    struct http_replay_call *c = find_call(m, exchange);

    if (!c || --c->pending)
        return;
    if (!c->stream && !c->client_closed && !c->client->sse_session) {
        http_response_start(&m->response, STR_NONE, STR_NONE);
        http_response_send(&m->response, c->exchange, ACCEPTED, STR_NONE);
    }
    finish_call(m, c);
}

static void handle_action(struct action_sink *self, const struct action *a)
{
    struct http_replay *m = (struct http_replay *)self;

    switch (a->kind) {
    case ACTION_SEND:
        send_message(m, a);
        break;
    case ACTION_CALL_STARTED:
        begin_call(m, &a->route);
        break;
    case ACTION_CANCELLED:
        cancel_response(m, a->route.exchange);
        break;
    case ACTION_SET_TIMER:
        set_timer(m, a);
        break;
    case ACTION_SEND_UPSTREAM:
        m->last_passthrough_client =
            m->current_client ? m->current_client : m->last_passthrough_client;
        m->out->put(m->out, a);
        break;
    case ACTION_FINISH:
        end_all(m);
        m->out->put(m->out, a);
        break;
    default:
        m->out->put(m->out, a);
    }
}

/* Ends a session with all its calls and streams. */
static void drop_client(struct http_replay *m, struct http_replay_client *c)
{
    struct http_rejection over = http_rejection_no_session();

    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        struct http_replay_call *call = e->value;

        if (call->client != c)
            continue;
        if (!call->stream && !call->client_closed)
            reject(m, call->exchange, &over, STR_NONE);
        drop_call(m, call);
        e = NULL; /* the map has changed */
    }
    for (struct map_entry *e = NULL; (e = map_next(&m->streams.by_number, e));) {
        struct event_stream *x = e->value;

        if (x->session != c->session_number)
            continue;
        event_streams_close_exchange(&m->streams, x);
        event_streams_remove(&m->streams, x);
        e = NULL;
    }
    end_http_sse(m, c);
    if (m->last_passthrough_client == c)
        m->last_passthrough_client = NULL;
    session_ids_end(&m->session_ids, str_z(c->id));
    map_remove(&m->clients, map_number_key(&c->session_number));
    replay_remove_client(&m->replay, c->replay_client);
    free_client(c);
}

/* `exchange` opens an HTTP+SSE stream; 0: Streamable HTTP. Ids of HTTP+SSE sessions begin with
 * a line break, so that no header can name one. */
static struct http_replay_client *new_client(struct http_replay *m, uint64_t exchange)
{
    struct http_replay_client *c;
    bool minted;

    if (m->clients.count >= HTTP_REPLAY_CLIENTS_MAX)
        drop_client(m, map_next(&m->clients, NULL)->value);
    c = mem_new(struct http_replay_client);
    if (exchange) {
        c->sse_session = legacy_sse_open(&m->sse_sessions, exchange);
        c->sse_session->owner = c;
        snprintf(c->id, sizeof c->id, "\n%s", c->sse_session->id);
    } else {
        session_ids_generate(c->id, m->options.random);
    }
    c->session_number = session_ids_add(&m->session_ids, str_z(c->id), &minted);
    c->replay_client = replay_add_client(&m->replay);
    c->session = &c->replay_client->session;
    map_put(&m->clients, map_number_key(&c->session_number), c);
    m->current_client = c;
    session_open(c->session, m->now_us);
    m->current_client = NULL;
    return c;
}

static struct http_replay_client *find_client(const struct http_replay *m, uint64_t number)
{
    return number ? map_get(&m->clients, map_number_key(&number)) : m->shared_client;
}

/* Returns the client of a session. If ids are not checked, all clients without a live session
 * share one. */
static struct http_replay_client *session_client(const struct http_replay *m, uint64_t number)
{
    struct http_replay_client *c = find_client(m, number);

    return c || !m->rules.any_session_id ? c : m->shared_client;
}

/* A valid HTTP request. */
struct http_replay_request {
    uint64_t exchange;
    const struct http_request *call;
    uint64_t session;
    struct str path;
    bool opens_sse; /* it opens an HTTP+SSE stream */
};

static struct http_replay_call *new_call(struct http_replay *m,
                                         const struct http_replay_request *q,
                                         struct http_replay_client *client)
{
    struct http_replay_call *c = mem_new(struct http_replay_call);
    enum mcp_version agreed =
        client->session_number ? client->session->player.version : MCP_VERSION_UNKNOWN;

    c->exchange = q->exchange;
    c->client = client;
    c->accepts_json = q->call->accept.types[MEDIA_JSON].q > 0 && !client->sse_session;
    c->accepts_sse = q->call->accept.types[MEDIA_SSE].q > 0 && !client->sse_session;
    c->version = http_request_client_version(q->call, agreed, &m->arena);
    buf_init(&c->batch_responses, LIMIT_LINE * 3);
    map_put(&m->calls, map_number_key(&c->exchange), c);
    m->newest_call = c;
    return c;
}

static struct http_replay_client *
client_for(struct http_replay *m, const struct http_replay_request *q, bool stateless)
{
    const struct mcp_message *msg = q->call->message;

    if (stateless || !m->rules.uses_session_ids)
        return m->shared_client;
    if (q->session)
        return session_client(m, q->session);
    if (msg && str_eq(msg->method, STR("initialize")))
        return new_client(m, 0);
    BUG_IF(!m->rules.any_session_id); /* by http_request_validate() */
    return m->shared_client;
}

static void handle_batch(struct http_replay *m, struct http_replay_client *c, uint64_t exchange,
                         struct json_val batch)
{
    struct json_iter it = json_each(batch);

    while (json_next(&it)) {
        struct mcp_message as = mcp_classify(it.value, &m->arena);

        session_handle_message(c->session, exchange, it.value, &as, m->now_us);
    }
}

/* Requests are answered when the session does; notifications and responses get 202 at once. */
static void handle_body(struct http_replay *m, const struct http_replay_request *q,
                        struct http_replay_client *c, bool stateless)
{
    struct json_val root = json_root(&m->json);
    bool batch = q->call->body_kind == PARSE_BATCH;
    struct http_replay_call *call;
    size_t pending = http_request_response_count(q->call, root, &m->arena);

    if (pending) {
        call = new_call(m, q, c);
        call->pending = pending;
        call->stateless = stateless;
        call->batch = batch;
        call->client_closed = c->sse_session != NULL; /* it got 202 already */
    }
    m->current_client = c;
    if (batch)
        handle_batch(m, c, q->exchange, root);
    else
        session_handle_message(c->session, q->exchange, root, q->call->message, m->now_us);
    m->current_client = NULL;
    if (pending || c->sse_session)
        return;
    http_response_start(&m->response, STR_NONE, STR_NONE);
    http_response_send(&m->response, q->exchange, ACCEPTED, STR_NONE);
}

static void handle_post(struct http_replay *m, const struct http_replay_request *q)
{
    bool stateless = http_request_is_stateless(q->call, &m->arena);

    handle_body(m, q, client_for(m, q, stateless), stateless);
}

/* Marks the call of a resumed stream as attached again. Drops an earlier GET of that stream. */
static void reattach_call(struct http_replay *m, struct event_stream *x, uint64_t exchange)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        struct http_replay_call *c = e->value;

        if (c->stream != x || c->exchange == exchange)
            continue;
        c->client_closed = false;
        if (c->is_get) {
            drop_call(m, c);
            return;
        }
    }
}

static void handle_get(struct http_replay *m, const struct http_replay_request *q)
{
    struct http_replay_client *c = session_client(m, q->session);
    struct str last = http_request_header(q->call, STR("last-event-id"));
    struct event_stream *x;
    struct http_replay_call *call;
    uint64_t after;

    x = last.len ? event_streams_find(&m->streams, c->session_number, last, &after) : NULL;
    if (!x && c->session_number && c->get_stream && c->get_stream->exchange) {
        reject_with_text(m, q->exchange, CONFLICT,
                         STR("Conflict: Only one SSE stream is allowed per session"));
        return;
    }
    http_response_open_stream(&m->response, q->exchange, session_id_of(c));
    call = new_call(m, q, c);
    call->is_get = true;
    if (!x) {
        http_replay_add_get_stream(m, call);
        return;
    }
    call->stream = x;
    reattach_call(m, x, q->exchange);
    event_streams_resume(&m->streams, x, q->exchange, after);
    if (!x->exchange)
        drop_call(m, call);
}

static void handle_delete(struct http_replay *m, const struct http_replay_request *q)
{
    struct http_replay_client *c = session_client(m, q->session);
    unsigned status = m->http_index->delete_status && !m->rules.any_session_id
                          ? m->http_index->delete_status
                          : OK;

    if (status < BAD_REQUEST && c != m->shared_client)
        drop_client(m, c);
    http_response_start(&m->response, STR_NONE, STR_NONE);
    if (status == NOT_ALLOWED)
        http_response_header(&m->response, STR("Allow"), STR("GET, POST"));
    http_response_send(&m->response, q->exchange, status, STR_NONE);
}

static void handle_sse_post(struct http_replay *m, const struct http_replay_request *q)
{
    struct http_rejection over = http_rejection_no_session();

    if (q->call->session_state != SESSION_LIVE) {
        reject(m, q->exchange, &over, STR_NONE);
        return;
    }
    legacy_sse_accept(&m->sse_sessions, q->exchange);
    handle_body(m, q, find_client(m, q->session), false);
}

static void handle_valid_request(struct http_replay *m, const struct http_replay_request *q)
{
    if (q->call->to_sse_endpoint)
        handle_sse_post(m, q);
    else if (q->opens_sse)
        new_client(m, q->exchange);
    else if (str_eq(q->call->method, STR("POST")))
        handle_post(m, q);
    else if (str_eq(q->call->method, STR("GET")))
        handle_get(m, q);
    else
        handle_delete(m, q);
}

/* Finds the anomaly that answers a request. Not for a client that resumes a stream of this
 * replay, nor for one that opens HTTP+SSE: the recorded request only looks the same. */
static const struct http_anomaly *find_anomaly(struct http_replay *m,
                                               const struct http_replay_request *q)
{
    const struct http_anomaly *anomaly =
        q->opens_sse || (m->rules.any_session_id && str_eq(q->call->method, STR("DELETE")))
            ? NULL
            : http_index_find_anomaly(m->http_index, q->call, q->path, &m->arena);
    struct str last = anomaly ? http_request_header(q->call, STR("last-event-id")) : STR_NONE;
    uint64_t n;

    if (anomaly && !anomaly->invalid_request && last.len &&
        event_streams_find(&m->streams, q->session, last, &n))
        return NULL;
    return anomaly;
}

/* Finds the session of a request, and whether it opens an HTTP+SSE stream. */
static void resolve_session(struct http_replay *m, const struct event_request *r,
                            struct http_replay_request *q, struct http_request *call)
{
    struct str id = http_request_header(call, STR("mcp-session-id"));

    call->to_sse_endpoint = legacy_sse_is_message(r->method, r->path, r->query);
    if (call->to_sse_endpoint)
        id = arena_printf(&m->arena, "\n%.*s", STR_ARG(legacy_sse_session_id(r->query)));
    call->session_state = session_ids_find(&m->session_ids, id, &q->session);
    q->opens_sse = m->rules.stateful && http_index_opens_sse(m->http_index, call, r->path);
}

static void note_protocol(struct http_replay *m, const struct http_request *call, bool refused)
{
    version_bridge_check_request(&m->replay.shared.version_bridge, &m->replay.actions,
                                 m->replay.index, &m->rules, call, refused, &m->arena);
}

static void handle_request(struct http_replay *m, const struct event *ev)
{
    const struct event_request *r = ev->request;
    struct mcp_message msg = { .kind = MCP_OTHER };
    struct http_request call = http_request_from_event(r);
    struct http_replay_request q = { .exchange = ev->exchange, .call = &call, .path = r->path };
    struct request_rules rules = m->rules;
    const struct http_anomaly *anomaly;
    struct http_rejection v;
    struct str id;

    resolve_session(m, r, &q, &call);
    http_request_parse_body(&call, &m->json, r->body, &msg, &m->arena);
    id = call.message ? json_raw(msg.id) : STR_NONE;
    if (str_starts(r->path, STR("/.well-known/"))) {
        reject_with_text(m, ev->exchange, NOT_FOUND, STR("Not Found"));
        return;
    }
    anomaly = find_anomaly(m, &q);
    if (anomaly) {
        m->anomalies++;
        note_protocol(m, &call, anomaly->status >= BAD_REQUEST);
        anomaly_response_send(&m->response, &m->streams, m->http_index, anomaly, ev->exchange,
                              id);
        return;
    }
    if (call.to_sse_endpoint || q.opens_sse) /* such a session is not named in a header */
        rules.uses_session_ids = false,
        rules.has_get_stream = rules.get_accepts_wildcard = true;
    v = http_request_validate(&rules, &call, &m->arena);
    note_protocol(m, &call, v.status);
    if (v.status)
        reject(m, ev->exchange, &v, id);
    else
        handle_valid_request(m, &q);
}

static void close_http_sse(struct http_replay *m, struct legacy_sse_session *session)
{
    struct http_replay_client *c = session->owner;

    legacy_sse_remove(&m->sse_sessions, session);
    c->sse_session = NULL;
    drop_client(m, c);
}

/* In the stateless protocol, closing the exchange cancels the request. In the stateful one the
 * client may resume it. */
static void handle_client_closed(struct http_replay *m, uint64_t exchange)
{
    struct http_replay_call *c = find_call(m, exchange);
    struct event_stream *x = c ? c->stream : NULL;
    struct http_replay_client *client = c ? c->client : NULL;
    struct legacy_sse_session *session = legacy_sse_find_exchange(&m->sse_sessions, exchange);

    if (session)
        close_http_sse(m, session);
    if (!c)
        return;
    c->client_closed = true;
    if (x && x->exchange == exchange)
        x->exchange = 0;
    if (!c->stateless && !c->is_get)
        return;
    if (c->stateless) {
        m->current_client = client;
        session_handle_exchange_closed(client->session, exchange, m->now_us);
        m->current_client = NULL;
    }
    drop_call(m, c);
    if (x)
        http_replay_leave_stream(m, client, x);
}

static void handle_timer(struct http_replay *m, const struct event *ev)
{
    uint64_t of = (uint64_t)(uintptr_t)map_remove(&m->timers, map_number_key(&ev->timer));
    struct http_replay_client *c = of ? find_client(m, of - 1) : NULL;

    if (!of) {
        replay_step(&m->replay, ev);
        return;
    }
    if (passthrough_handle_timer(&m->replay.passthrough, ev->timer))
        return;
    m->current_client = c;
    if (c)
        session_handle_timer(c->session, ev->timer, ev->now_us);
    m->current_client = NULL;
}

static void close_client(struct http_replay *m, struct http_replay_client *c)
{
    m->current_client = c;
    session_close(c->session, true, m->now_us);
    m->current_client = NULL;
}

static void handle_closed(struct http_replay *m)
{
    replay_end_soon(&m->replay);
    version_bridge_finish(&m->replay.shared.version_bridge, &m->replay.actions,
                          m->replay.index);
    close_client(m, m->shared_client);
    for (struct map_entry *e = NULL; (e = map_next(&m->clients, e));)
        close_client(m, e->value);
}

/* Continues the calls whose client cannot get a server request without its response. */
static void skip_unaskable(struct http_replay *m)
{
    while (m->unaskable_exchange) {
        const struct http_replay_call *c = find_call(m, m->unaskable_exchange);

        m->unaskable_exchange = 0;
        if (!c)
            return;
        m->current_client = c->client;
        session_handle_unaskable(c->client->session, c->exchange, m->now_us);
        m->current_client = NULL;
    }
}

void http_replay_step(struct http_replay *m, const struct event *ev)
{
    arena_clear(&m->arena);
    m->now_us = ev->now_us;
    switch (ev->kind) {
    case EVENT_HTTP_REQUEST:
        if (m->replay.input_closed)
            reject_with_text(m, ev->exchange, UNAVAILABLE, STR("the replay has ended"));
        else
            handle_request(m, ev);
        break;
    case EVENT_CLIENT_CLOSED:
        handle_client_closed(m, ev->exchange);
        break;
    case EVENT_TIMER:
        handle_timer(m, ev);
        break;
    case EVENT_INPUT_CLOSED:
        handle_closed(m);
        break;
    case EVENT_UPSTREAM_RECORD:
    case EVENT_UPSTREAM_CLOSED:
    case EVENT_UPSTREAM_LOST:
        m->current_client = m->last_passthrough_client;
        replay_step(&m->replay, ev);
        m->current_client = NULL;
        break;
    default:
        break;
    }
    skip_unaskable(m);
    replay_finish_if_done(&m->replay);
}

/* Whether a call will get its response on a stream. */
static bool has_pending_call(const struct http_replay *m, const struct event_stream *x)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        const struct http_replay_call *c = e->value;

        if (c->stream == x && !c->is_get)
            return true;
    }
    return false;
}

/* Returns the next GET stream of clients that share a session. A GET that resumed the stream of
 * a call is none. */
static struct event_stream *next_get_stream(const struct http_replay *m,
                                            const struct http_replay_client *c,
                                            const struct event_stream *but)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        const struct http_replay_call *call = e->value;

        if (call->client == c && call->is_get && call->stream->is_session_stream &&
            call->stream != but && !call->client_closed)
            return call->stream;
    }
    return NULL;
}

void http_replay_leave_stream(struct http_replay *m, struct http_replay_client *c,
                              struct event_stream *x)
{
    if (has_pending_call(m, x) || (c->get_stream == x && x->has_ids))
        return;
    if (c->get_stream == x)
        c->get_stream = next_get_stream(m, c, x);
    event_streams_end(&m->streams, x);
}

void http_replay_add_get_stream(struct http_replay *m, struct http_replay_call *call)
{
    struct http_replay_client *c = call->client;
    struct message_queue_item *item;

    call->stream = event_streams_add(&m->streams, c->session_number, call->exchange,
                                     m->http_index->stream_has_ids);
    call->stream->is_session_stream = true;
    if (m->http_index->stream_primed &&
        http_index_supports_priming(call->version, m->http_index->primed_version))
        event_streams_send_priming(&m->streams, call->stream, m->http_index->stream_retry_ms);
    if (c->get_stream && c->get_stream->exchange)
        return; /* clients that share a session: the first stream gets the messages */
    if (c->get_stream)
        event_streams_remove(&m->streams, c->get_stream);
    c->get_stream = call->stream;
    while ((item = message_queue_pop(&c->undelivered))) {
        event_streams_send(&m->streams, c->get_stream, str_n(item->text, item->len));
        free(item);
    }
}

void http_replay_send_on_get_stream(struct http_replay *m, struct http_replay_client *c,
                                    struct str text, const struct index_sse_event *as)
{
    if (c->get_stream)
        event_streams_send_named(&m->streams, c->get_stream, text, as->name, as->retry_ms);
    else if (c->session_number)
        message_queue_push(&c->undelivered, text);
}

#include "bridge/http-to-stdio.h"

#include <stdlib.h>

#include "bridge/backends.h"
#include "mcp/error-code.h"
#include "trace/limits.h"

void http_to_stdio_parse_request(struct http_to_stdio_request *q, const struct event *ev,
                                 const struct session_ids *ids, struct json *json,
                                 struct arena *a)
{
    const struct event_request *r = ev->request;
    struct str id;

    *q = (struct http_to_stdio_request){ .exchange = ev->exchange,
                                         .message = { .kind = MCP_OTHER } };
    q->http = http_request_from_event(r);
    q->http.to_sse_endpoint = legacy_sse_is_message(r->method, r->path, r->query);
    id = q->http.to_sse_endpoint ? backend_sse_session_id(legacy_sse_session_id(r->query), a)
                                 : http_request_header(&q->http, STR("mcp-session-id"));
    q->http.session_state = session_ids_find(ids, id, &q->session);
    q->opens_sse = q->http.session_state == SESSION_NONE && str_eq(r->method, STR("GET")) &&
                   str_ends(r->path, STR(HTTP_TO_STDIO_SSE_PATH));
    http_request_parse_body(&q->http, json, r->body, &q->message, a);
    q->request_id = q->http.message ? json_raw(q->message.id) : STR_NONE;
}

bool http_to_stdio_is_initialize(const struct http_to_stdio_request *q)
{
    return q->http.message && q->message.kind == MCP_REQUEST &&
           str_eq(q->message.method, STR("initialize"));
}

bool http_to_stdio_is_mcp_path(struct str path)
{
    return !str_starts(path, STR("/.well-known/"));
}

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    CONFLICT = 409,
    BAD_GATEWAY = 502,
    UNAVAILABLE = 503,
};

static void put_client_action(struct action_sink *self, const struct action *a)
{
    struct http_to_stdio *f = (struct http_to_stdio *)self;
    struct action marked = *a;

    marked.by_mcpreel = f->mcpreel_reason.len > 0;
    marked.why = f->mcpreel_reason;
    f->out->put(f->out, &marked);
}

void http_to_stdio_init(struct http_to_stdio *f, const struct http_to_stdio_options *options,
                        struct action_sink *out)
{
    *f = (struct http_to_stdio){ .client_actions = { put_client_action },
                                 .out = out,
                                 .options = *options };
    pending_init(&f->responses, &f->client_actions);
    legacy_sse_init(&f->sse, &f->client_actions, options->random);
    backends_init(&f->backends, options->max_servers, out);
    buf_init(&f->versions, LIMIT_LINE);
    buf_add(&f->versions, STR(BACKEND_STATELESS_VERSIONS));
    param_headers_init(&f->param_headers);
    json_init(&f->json);
}

void http_to_stdio_release(struct http_to_stdio *f)
{
    pending_release(&f->responses);
    legacy_sse_release(&f->sse);
    backends_release(&f->backends);
    buf_release(&f->versions);
    param_headers_release(&f->param_headers);
    json_release(&f->json);
    arena_release(&f->arena);
}

uint64_t http_to_stdio_session(const struct http_to_stdio *f, uint64_t server)
{
    const struct backend *s = backends_find(&f->backends, server);

    return s ? s->session : 0;
}

static void report(struct http_to_stdio *f, enum log_level level, struct str text)
{
    struct action a = { .kind = ACTION_REPORT, .level = level, .text = text };

    f->out->put(f->out, &a);
}

static void reject_request(struct http_to_stdio *f, uint64_t exchange,
                           const struct http_rejection *v, struct str id)
{
    f->mcpreel_reason = v->text;
    http_response_reject(pending_http_response(&f->responses), exchange, v, id);
    f->mcpreel_reason = STR_NONE;
}

static struct http_rejection server_error(unsigned status, struct str text)
{
    return (struct http_rejection){ .status = status, .code = MCP_SERVER_ERROR, .text = text };
}

/* Ends all pending responses of a backend. Open requests get an error; streams that a client
 * has ended with its session end like a server would end them. */
static void fail_clients(struct http_to_stdio *f, struct backend *s,
                         const struct http_rejection *v)
{
    struct pending_response *x;

    f->mcpreel_reason = v->text;
    backend_fail_requests(s, &f->responses, &f->sse, v);
    if (v->status < BAD_GATEWAY)
        f->mcpreel_reason = STR_NONE;
    if (s->sse)
        legacy_sse_end(&f->sse, s->sse);
    s->sse = NULL;
    while ((x = pending_find_owned(&f->responses, s)))
        pending_remove(&f->responses, x);
    f->mcpreel_reason = STR_NONE;
}

/* May free `s`: a backend without a process is removed at once. */
static void end_backend(struct http_to_stdio *f, struct backend *s,
                        const struct http_rejection *v)
{
    fail_clients(f, s, v);
    backends_retire(&f->backends, s);
    if (s->start_deferred)
        backends_remove(&f->backends, s);
    else
        backends_put_action(&f->backends, ACTION_END_UPSTREAM, s, STR_NONE);
}

/* Ends the session that has been idle longest if there is no room. False: none is idle. */
static bool make_room(struct http_to_stdio *f)
{
    enum backends_capacity room = backends_room(&f->backends);
    struct http_rejection v = http_rejection_no_session();
    struct backend *idle;

    if (room != BACKENDS_ROOM_IF_ONE_RETIRES)
        return room == BACKENDS_ROOM;
    idle = backend_find_idle(&f->backends.all, &f->responses);
    if (!idle)
        return false;
    report(f, LOG_INFO, STR("closed the longest-idle session to free a server"));
    end_backend(f, idle, &v);
    return true;
}

static struct backend *assign_backend(struct http_to_stdio *f, enum backend_role role)
{
    if (!f->backends.spare && !make_room(f))
        return NULL;
    return backends_assign(&f->backends, role, f->now_us);
}

/* Returns the shared backend. The stateless one needs a handshake only the first time. */
static struct backend *share_backend(struct http_to_stdio *f, bool stateless)
{
    struct backend *s = f->backends.shared[stateless];

    if (s)
        return s;
    s = assign_backend(f, stateless ? BACKEND_SHARED_STATELESS : BACKEND_SHARED_STATEFUL);
    if (s && (!stateless || f->stateless == HTTP_TO_STDIO_STATELESS_UNKNOWN))
        backends_start_handshake(&f->backends, s);
    return s;
}

/* The session gets its id with the first response headers, so that sessions are numbered in the
 * order in which clients see them. */
static void set_session_id(struct http_to_stdio *f, struct backend *s,
                           struct pending_response *x)
{
    bool minted;

    if (s->role != BACKEND_SESSION)
        return;
    if (!s->session) {
        session_ids_generate(s->id, f->options.random);
        s->session = session_ids_add(&f->backends.ids, str_z(s->id), &minted);
        backends_add_session(&f->backends, s);
    }
    x->session = s->session;
    x->session_id = str_z(s->id);
}

static void send_on_response(struct http_to_stdio *f, struct backend *s,
                             struct pending_response *x, struct str text)
{
    set_session_id(f, s, x);
    pending_send(&f->responses, x, text);
}

static void send_to_client(struct http_to_stdio *f, struct backend *s,
                           const struct id_map_routed *routed)
{
    struct pending_response *x = backend_find_stream(s, &f->responses, routed->other_stream);

    if (x)
        send_on_response(f, s, x, routed->text);
    else
        backends_keep_undelivered(&f->backends, s, routed->text);
}

static void note_response(struct http_to_stdio *f, struct backend *s,
                          const struct id_map_request *c, const struct mcp_message *m)
{
    struct json_val version = json_get(m->result, STR("protocolVersion"));

    if (str_eq(c->method, STR("tools/list")) && s->role == BACKEND_SHARED_STATELESS)
        param_headers_update(&f->param_headers, m->result);
    if (str_eq(c->method, STR("initialize")) && json_exists(version))
        s->version = mcp_version_parse(json_text(version, &f->arena));
}

/* A failed initialize creates no session. */
static void reject_session(struct http_to_stdio *f, struct backend *s,
                           struct pending_response *x, const struct id_map_routed *routed,
                           const struct mcp_message *m)
{
    struct http_rejection v = http_rejection_no_session();

    x->stateless = backend_is_version_error(m);
    id_map_remove(&s->ids, routed->request);
    pending_respond(&f->responses, x, routed->text);
    end_backend(f, s, &v);
}

/* Cancels the requests of an exchange that has no client any more. */
static void cancel_requests(struct http_to_stdio *f, struct backend *s, uint64_t exchange)
{
    struct str cancel;

    while ((cancel = id_map_cancel(&s->ids, exchange)).len)
        backends_send(&f->backends, s, cancel, true);
}

/* The server has cancelled the request: it sends nothing more for it, nor for others of the
 * same batch. */
static void end_cancelled_request(struct http_to_stdio *f, struct backend *s,
                                  struct pending_response *x,
                                  const struct id_map_routed *routed)
{
    struct http_rejection v =
        server_error(BAD_GATEWAY, STR("the server has cancelled the request"));
    struct id_map_request *c = routed->request;
    uint64_t exchange = c->exchange;

    if (pending_can_stream(x))
        send_on_response(f, s, x, routed->text);
    f->mcpreel_reason = x->stream ? STR_NONE : v.text;
    pending_reject(&f->responses, x, &v, c->id);
    f->mcpreel_reason = STR_NONE;
    id_map_remove(&s->ids, c);
    cancel_requests(f, s, exchange);
}

static void send_final(struct http_to_stdio *f, struct backend *s, struct pending_response *x,
                       const struct id_map_routed *routed, const struct mcp_message *m)
{
    if (s->role == BACKEND_SESSION && !s->version && m->kind == MCP_ERROR &&
        str_eq(routed->request->method, STR("initialize"))) {
        reject_session(f, s, x, routed, m);
        return;
    }
    note_response(f, s, routed->request, m);
    id_map_remove(&s->ids, routed->request);
    if (x->disconnected && !x->stream)
        backends_put_action(&f->backends, ACTION_UNDELIVERED, s, routed->text);
    set_session_id(f, s, x);
    pending_respond(&f->responses, x, routed->text);
}

static void send_to_request(struct http_to_stdio *f, struct backend *s,
                            const struct id_map_routed *routed, const struct mcp_message *m)
{
    struct pending_response *x = pending_find(&f->responses, routed->request->exchange);

    BUG_IF(!x); /* a closed exchange has no requests */
    if (routed->is_final && m->kind == MCP_NOTIFICATION)
        end_cancelled_request(f, s, x, routed);
    else if (routed->is_final)
        send_final(f, s, x, routed, m);
    else if (pending_can_stream(x))
        send_on_response(f, s, x, routed->text);
    else if (s->role == BACKEND_SESSION)
        send_to_client(f, s, routed);
    else
        backends_put_action(&f->backends, ACTION_UNDELIVERED, s, routed->text);
}

static void handle_handshake(struct http_to_stdio *f, struct backend *s,
                             const struct mcp_message *m)
{
    bool stateless = s->role == BACKEND_SHARED_STATELESS;
    struct str versions = STR_NONE;
    struct http_rejection v;

    backends_put_mcpreel_action(&f->backends, ACTION_UNDELIVERED, s, json_raw(m->root));
    backends_stop_handshake_timer(&f->backends, s);
    if (stateless)
        f->stateless = HTTP_TO_STDIO_STATELESS_NO;
    if (!backend_check_handshake(s, m, &versions, &v, &f->arena)) {
        end_backend(f, s, &v);
        return;
    }
    if (stateless) {
        f->stateless = HTTP_TO_STDIO_STATELESS_YES;
        buf_clear(&f->versions);
        buf_add(&f->versions, versions);
    } else {
        backends_put_mcpreel_action(
            &f->backends, ACTION_SEND_UPSTREAM, s,
            STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    }
    backends_flush_queue(&f->backends, s);
}

/* In HTTP+SSE there is one stream for everything. */
static void send_on_sse(struct http_to_stdio *f, struct backend *s,
                        const struct id_map_routed *routed)
{
    legacy_sse_send(&f->sse, s->sse, routed->text);
    if (routed->is_final)
        id_map_remove(&s->ids, routed->request);
}

/* Responds to a request of a server that several clients share. */
static void respond_to_server(struct http_to_stdio *f, struct backend *s,
                              const struct id_map_routed *routed, const struct record *r)
{
    backends_put_mcpreel_action(&f->backends, ACTION_UNDELIVERED, s, json_raw(r->message.msg));
    if (backend_may_respond(s, f->now_us))
        backends_put_mcpreel_action(&f->backends, ACTION_SEND_UPSTREAM, s, routed->text);
}

static void handle_server_message(struct http_to_stdio *f, const struct event *ev)
{
    struct backend *s = backends_find(&f->backends, ev->server);
    const struct record *r = ev->record;
    struct id_map_routed routed;
    struct mcp_message m;

    if (!s || r->kind != RECORD_MESSAGE)
        return; /* a non-message is recorded only */
    if (s->ending || s->role == BACKEND_SPARE) {
        backends_put_action(&f->backends, ACTION_UNDELIVERED, s, json_raw(r->message.msg));
        return;
    }
    m = mcp_classify(r->message.msg, &f->arena);
    if (s->in_handshake && mcp_is_response(&m) &&
        str_eq(json_raw(m.id), STR(BACKEND_HANDSHAKE_ID))) {
        handle_handshake(f, s, &m);
        return;
    }
    routed = id_map_route(&s->ids, &m);
    if (s->sse)
        send_on_sse(f, s, &routed);
    else if (routed.destination == ID_MAP_TO_REQUEST)
        send_to_request(f, s, &routed, &m);
    else if (routed.destination == ID_MAP_TO_CLIENT)
        send_to_client(f, s, &routed);
    else if (routed.destination == ID_MAP_TO_SERVER)
        respond_to_server(f, s, &routed, r);
    else
        backends_put_action(&f->backends, ACTION_UNDELIVERED, s, routed.text);
}

static void handle_server_exit(struct http_to_stdio *f, uint64_t number, struct str why)
{
    struct backend *s = backends_find(&f->backends, number);
    struct http_rejection v = server_error(BAD_GATEWAY, STR_NONE);

    if (!s)
        return;
    if (!s->ending) {
        v.text = arena_printf(&f->arena, "server %llu ended: %.*s", (unsigned long long)number,
                              STR_ARG(why));
        report(f, LOG_WARN, v.text);
        fail_clients(f, s, &v);
        backends_retire(&f->backends, s);
    }
    backends_remove(&f->backends, s);
}

static void handle_timer(struct http_to_stdio *f, uint64_t timer)
{
    struct backend *s = backends_take_timer(&f->backends, timer);
    struct http_rejection v =
        server_error(BAD_GATEWAY, STR("the server did not complete the handshake"));

    if (!s)
        return;
    report(f, LOG_WARN, STR("a server did not complete the handshake"));
    end_backend(f, s, &v);
}

static struct pending_response *new_response(struct http_to_stdio *f, struct backend *s,
                                             const struct http_to_stdio_request *q)
{
    struct pending_response *x = pending_add(&f->responses, q->exchange, &q->http.accept, s);

    x->has_ids = s->role == BACKEND_SESSION;
    x->supports_priming =
        http_request_client_version(&q->http, s->version, &f->arena) >= MCP_2025_11_25;
    x->stateless = s->role == BACKEND_SHARED_STATELESS;
    return x;
}

static void forward_message(struct http_to_stdio *f, struct backend *s, uint64_t exchange,
                            struct json_val v)
{
    struct mcp_message m = mcp_classify(v, &f->arena);

    if (m.kind == MCP_REQUEST)
        backends_send(&f->backends, s, id_map_add_request(&s->ids, exchange, &m), false);
    else
        backends_send(&f->backends, s, id_map_forward(&s->ids, &m), false);
}

static void forward_messages(struct http_to_stdio *f, struct backend *s, uint64_t exchange)
{
    struct json_val root = json_root(&f->json);
    struct json_iter it = json_each(root);

    if (json_type(root) != JSON_ARRAY)
        forward_message(f, s, exchange, root);
    else
        while (json_next(&it))
            forward_message(f, s, exchange, it.value);
}

static void send_accepted(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    http_response_start(pending_http_response(&f->responses), STR_NONE, STR_NONE);
    http_response_send(pending_http_response(&f->responses), q->exchange, ACCEPTED, STR_NONE);
}

/* Requests are answered later; notifications and responses get 202 at once. Each element of a
 * batch is sent as its own line, which every server understands. */
static void forward_body(struct http_to_stdio *f, struct backend *s,
                         const struct http_to_stdio_request *q)
{
    struct json_val root = json_root(&f->json);
    size_t pending = id_map_count_requests(root, &f->arena);
    struct pending_response *x;

    if (pending) {
        x = new_response(f, s, q);
        x->responses_left = pending;
        x->is_batch = json_type(root) == JSON_ARRAY;
    }
    forward_messages(f, s, q->exchange);
    if (!pending)
        send_accepted(f, q);
}

static struct backend *backend_for(struct http_to_stdio *f,
                                   const struct http_to_stdio_request *q)
{
    if (http_request_is_stateless(&q->http, &f->arena))
        return share_backend(f, true);
    if (q->session)
        return backends_find_session(&f->backends, q->session);
    return http_to_stdio_is_initialize(q) ? assign_backend(f, BACKEND_SESSION)
                                          : share_backend(f, false);
}

/* Returns whether a message other than a request is for a shared backend that does not
 * exist. */
static bool has_no_receiver(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    const struct mcp_message *m = q->http.message;

    return m && m->kind != MCP_REQUEST && !q->session &&
           !f->backends.shared[http_request_is_stateless(&q->http, &f->arena)];
}

static void reject_overload(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    struct http_rejection v =
        server_error(UNAVAILABLE, STR("all servers are in use: see --max-servers"));

    v.retry_after = STR("5");
    report(f, LOG_WARN, STR("rejected a client with 503: --max-servers reached"));
    reject_request(f, q->exchange, &v, q->request_id);
}

static void handle_post(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    static const struct http_rejection unclear = {
        .status = BAD_REQUEST,
        .code = MCP_INVALID_REQUEST,
        .text = STR_INIT("duplicate or unknown member in the JSON-RPC message"),
    };
    struct http_rejection dead =
        server_error(BAD_GATEWAY, STR("Transport error: the server has ended"));
    struct backend *s;

    if (has_no_receiver(f, q)) {
        if (f->options.mcp_recorder_compat && !f->backends.active)
            reject_request(f, q->exchange, &dead, STR_NONE);
        else
            send_accepted(f, q);
        return;
    }
    s = backend_for(f, q);
    if (!s || s->send_queue.len > BACKEND_SEND_QUEUE_MAX) {
        reject_overload(f, q);
        return;
    }
    if (s->role != BACKEND_SESSION && !id_map_is_unambiguous(json_root(&f->json), &f->arena)) {
        reject_request(f, q->exchange, &unclear, q->request_id);
        return;
    }
    s->last_used_us = f->now_us;
    forward_body(f, s, q);
}

static void open_get_stream(struct http_to_stdio *f, struct backend *s,
                            const struct http_to_stdio_request *q)
{
    struct pending_response *x = new_response(f, s, q);

    set_session_id(f, s, x);
    pending_open_stream(&f->responses, x);
    s->get_stream = x;
    for (struct message_queue_item *item; (item = message_queue_pop(&s->undelivered));) {
        pending_send(&f->responses, x, str_n(item->text, item->len));
        free(item);
    }
}

static void handle_get(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    struct backend *s = backends_find_session(&f->backends, q->session);
    struct str last = http_request_header(&q->http, STR("last-event-id"));
    struct http_rejection v =
        server_error(CONFLICT, STR("Conflict: Only one SSE stream is allowed per session"));
    bool over;

    s->last_used_us = f->now_us;
    if (last.len &&
        (pending_resume(&f->responses, s->session, last, q->exchange, str_z(s->id), &over) ||
         over))
        return;
    if (s->get_stream && !s->get_stream->disconnected)
        reject_request(f, q->exchange, &v, STR_NONE);
    else if (s->get_stream)
        pending_rejoin(&f->responses, s->get_stream, q->exchange);
    else
        open_get_stream(f, s, q);
}

/* Opens an HTTP+SSE session on this exchange. */
static void open_sse_session(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    struct backend *s = assign_backend(f, BACKEND_SESSION);

    if (!s) {
        reject_overload(f, q);
        return;
    }
    backend_open_sse(s, &f->sse, q->exchange, &f->backends.ids);
    backends_add_session(&f->backends, s);
}

static void handle_sse_post(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    struct backend *s = q->session ? backends_find_session(&f->backends, q->session) : NULL;
    struct http_rejection v = http_rejection_no_session();

    if (!s) {
        reject_request(f, q->exchange, &v, q->request_id);
        return;
    }
    if (s->send_queue.len > BACKEND_SEND_QUEUE_MAX) {
        reject_overload(f, q);
        return;
    }
    legacy_sse_accept(&f->sse, q->exchange);
    forward_messages(f, s, s->sse->exchange);
}

/* Has no session only with `mcp_recorder_compat`. */
static void handle_delete(struct http_to_stdio *f, const struct http_to_stdio_request *q)
{
    struct http_rejection v = http_rejection_no_session();

    if (q->session)
        end_backend(f, backends_find_session(&f->backends, q->session), &v);
    http_response_start(pending_http_response(&f->responses), STR_NONE, STR_NONE);
    http_response_send(pending_http_response(&f->responses), q->exchange, OK, STR_NONE);
}

/* A POST needs no session; a GET or DELETE does. */
static struct http_rejection validate_request(struct http_to_stdio *f,
                                              const struct http_to_stdio_request *q)
{
    bool sse = q->http.to_sse_endpoint || q->opens_sse;
    struct request_rules rules = {
        .stateful = true,
        .stateless = f->stateless != HTTP_TO_STDIO_STATELESS_NO,
        .uses_session_ids = !sse && (q->http.session_state != SESSION_NONE ||
                                     !str_eq(q->http.method, STR("POST"))),
        .has_get_stream = true,
        .get_accepts_wildcard = sse,
        .versions = buf_str(&f->versions),
        .param_headers = &f->param_headers,
    };

    return http_request_validate(&rules, &q->http, &f->arena);
}

static bool is_delete_without_session(const struct http_to_stdio_request *q)
{
    return q->http.session_state == SESSION_NONE && str_eq(q->http.method, STR("DELETE"));
}

static void handle_request(struct http_to_stdio *f, const struct event *ev)
{
    struct http_rejection v = server_error(NOT_FOUND, STR("Not Found"));
    struct http_to_stdio_request q;

    http_to_stdio_parse_request(&q, ev, &f->backends.ids, &f->json, &f->arena);
    if (f->closed)
        v = server_error(UNAVAILABLE, STR(RECORD_WHY_STOPPED));
    else if (f->options.mcp_recorder_compat && is_delete_without_session(&q))
        v.status = 0;
    else if (http_to_stdio_is_mcp_path(ev->request->path))
        v = validate_request(f, &q);
    if (v.status)
        reject_request(f, q.exchange, &v, q.request_id);
    else if (q.http.to_sse_endpoint)
        handle_sse_post(f, &q);
    else if (q.opens_sse)
        open_sse_session(f, &q);
    else if (str_eq(q.http.method, STR("POST")))
        handle_post(f, &q);
    else if (str_eq(q.http.method, STR("GET")))
        handle_get(f, &q);
    else
        handle_delete(f, &q);
}

/* An HTTP+SSE session ends with its stream. */
static void end_sse_session(struct http_to_stdio *f, struct legacy_sse_session *session)
{
    struct http_rejection v = http_rejection_no_session();
    struct backend *s = session->owner;

    s->sse = NULL;
    legacy_sse_remove(&f->sse, session);
    end_backend(f, s, &v);
}

/* A client with a session may resume; one without has cancelled its requests. */
static void handle_client_closed(struct http_to_stdio *f, uint64_t exchange)
{
    struct legacy_sse_session *session = legacy_sse_find_exchange(&f->sse, exchange);
    struct pending_response *x = pending_disconnect(&f->responses, exchange);
    struct backend *s = x ? x->owner : NULL;

    if (session)
        end_sse_session(f, session);
    if (!x)
        return;
    s->last_used_us = f->now_us;
    if (s->role == BACKEND_SESSION)
        return;
    cancel_requests(f, s, x->request_exchange);
    pending_remove(&f->responses, x);
}

static void handle_shutdown(struct http_to_stdio *f)
{
    struct http_rejection v = server_error(UNAVAILABLE, STR(RECORD_WHY_STOPPED));
    struct action finish = { .kind = ACTION_FINISH };

    if (f->closed)
        return;
    f->closed = true;
    for (struct map_entry *e = NULL; (e = map_next(&f->backends.all, e));) {
        struct backend *s = e->value;

        if (s->ending)
            continue;
        end_backend(f, s, &v);
        e = NULL; /* the map may have changed */
    }
    f->out->put(f->out, &finish);
}

void http_to_stdio_step(struct http_to_stdio *f, const struct event *ev)
{
    arena_clear(&f->arena);
    f->now_us = ev->now_us;
    switch (ev->kind) {
    case EVENT_OPENED:
        backends_start_spare(&f->backends, ev->now_us);
        break;
    case EVENT_HTTP_REQUEST:
        handle_request(f, ev);
        break;
    case EVENT_CLIENT_CLOSED:
        handle_client_closed(f, ev->exchange);
        break;
    case EVENT_TIMER:
        handle_timer(f, ev->timer);
        break;
    case EVENT_UPSTREAM_RECORD:
        handle_server_message(f, ev);
        break;
    case EVENT_UPSTREAM_CLOSED:
        handle_server_exit(f, ev->server, ev->why);
        break;
    case EVENT_INPUT_CLOSED:
        handle_shutdown(f);
        break;
    default:
        break; /* this engine does not get others */
    }
}

#include "transport/http-relay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "trace/record.h"
#include "wire/cors.h"
#include "wire/media-type.h"
#include "wire/response-write.h"

enum {
    HIGH_WATER = 256 << 10,
    TARGET_MAX = 64 << 10,
    TEXT_MAX = 512,
    FOUND = 302,
    FORBIDDEN = 403,
    REWRITTEN_MAX = 4 * HTTP_RELAY_BUFFERED_MAX, /* bytes of a body */
};

/* A body that is held until it is complete; of a response, with its head. */
struct buffered_body {
    struct buf body;
    struct http_exchange_response response;
    struct arena text;
};

/* An error response that is sent when the request is complete. */
struct deferred_error {
    unsigned status;
    struct err why;
};

/* The owner sees the first member. */
struct relayed_exchange {
    struct http_relay_exchange info;
    struct http_relay *relay;
    struct http_exchange *exchange; /* NULL once the response was sent completely */
    struct http_transfer *transfer;
    struct buffered_body
        *held_request; /* set while the request is held; there is no transfer yet */
    struct buffered_body
        *held_response; /* set while the response is held; nothing of it was sent */
    struct deferred_error
        *deferred_error; /* set when the server has failed; there is no transfer any more */
    struct relayed_exchange *prev, *next;
    bool response_begun;  /* the head of the response has come */
    bool sized;           /* the response has a length; `remaining` is valid */
    bool to_sse_endpoint; /* its target is forwarded unchanged */
    bool end_reported;    /* the owner got the `end` event */
    uint64_t remaining;
    uint64_t request_bytes; /* of its body, so far */
};

struct http_relay {
    struct http_server *server;
    struct http_client *client;
    const struct http_access *access;
    const struct http_relay_events *events;
    void *to;
    const struct http_relay_rewriter *rewriter; /* may be NULL */
    void *rewriter_to;
    struct relayed_exchange *exchanges;
    size_t count;
    uint64_t last_number;
    bool keep_host;
    const char *base_path;
};

static void commit_record(const struct relayed_exchange *p)
{
    p->relay->events->commit_records(p->relay->to);
}

static void report_end(struct relayed_exchange *p, enum http_relay_cause by, bool clean,
                       const char *text)
{
    struct http_relay_end end = { .cause = by, .complete = clean, .text = text };

    if (p->end_reported)
        return;
    p->end_reported = true;
    p->relay->events->end(p->relay->to, &p->info, &end);
    commit_record(p);
}

static struct relayed_exchange *relayed_exchange_new(struct http_relay *r,
                                                     struct http_exchange *x)
{
    struct relayed_exchange *p = mem_new(struct relayed_exchange);

    p->relay = r;
    p->exchange = x;
    p->info.number = ++r->last_number;
    p->info.connection = x->connection;
    p->info.host = x->host;
    p->info.origin = x->origin;
    p->next = r->exchanges;
    if (p->next)
        p->next->prev = p;
    r->exchanges = p;
    r->count++;
    x->user = p;
    return p;
}

static struct buffered_body *buffered_body_new(void)
{
    struct buffered_body *h = mem_new(struct buffered_body);

    *h = (struct buffered_body){ .response = { .status = 0 } };
    buf_init(&h->body, HTTP_RELAY_BUFFERED_MAX);
    return h;
}

static void buffered_body_free(struct buffered_body *h)
{
    if (!h)
        return;
    headers_release(&h->response.headers);
    arena_release(&h->text);
    buf_release(&h->body);
    free(h);
}

static bool buffered_body_has_room(const struct buffered_body *h, struct str bytes)
{
    return bytes.len <= HTTP_RELAY_BUFFERED_MAX - h->body.len;
}

static void relayed_exchange_free(struct relayed_exchange *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        p->relay->exchanges = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->relay->count--;
    http_transfer_close(p->transfer);
    buffered_body_free(p->held_request);
    buffered_body_free(p->held_response);
    free(p->deferred_error);
    free(p);
}

/* Sends an error response with CORS headers, unless the origin itself was rejected. Replaces
 * characters of the text that JSON would escape: it may come from libcurl. Frees `p`. */
static void send_local_error(struct relayed_exchange *p, enum http_relay_cause by,
                             unsigned status, const char *text)
{
    struct headers shared = { .at = NULL };
    struct http_exchange *x = p->exchange;
    char plain[TEXT_MAX];
    struct buf id;
    size_t n = 0;

    buf_init(&id, HTTP_EXCHANGE_ID_MAX);
    buf_add(&id, x->rpc_id);
    x->rpc_id = buf_str(&id);
    for (; text[n] && n < sizeof plain - 1; n++)
        plain[n] = (unsigned char)text[n] < 0x20 || text[n] == '\\' ? ' '
                   : text[n] == '"'                                 ? '\''
                                                                    : text[n];
    plain[n] = '\0';
    p->relay->events->local_response(p->relay->to, &p->info, status, plain);
    report_end(p, by, true, NULL);
    relayed_exchange_free(p);
    if (status != FORBIDDEN)
        cors_add_headers(&shared, &x->head->headers);
    http_access_add_headers(&shared, status);
    http_exchange_send_error(x, status, &shared, str_z(plain));
    buf_release(&id);
    headers_release(&shared);
}

/* Returns the head for the client; the caller releases its headers. */
static struct http_exchange_response response_to_client(const struct response_head *r)
{
    struct http_exchange_response a = { .status = r->status,
                                        .phrase = r->phrase,
                                        .length = r->body.length };

    a.body = r->body.kind == BODY_LENGTH                      ? HTTP_EXCHANGE_SIZED
             : r->body.kind == BODY_CHUNKED || r->until_close ? HTTP_EXCHANGE_STREAM
                                                              : HTTP_EXCHANGE_EMPTY;
    for (size_t i = 0; i < r->headers.count; i++) {
        const struct header *f = &r->headers.at[i];

        if (!headers_is_hop_by_hop(&r->headers, f->name) &&
            !response_is_reserved_header(f->name))
            headers_add(&a.headers, f->name, f->value);
    }
    return a;
}

/* Sends the response with its complete body; `held`: the rewriter may change the body. */
static void send_full_response(struct relayed_exchange *p,
                               const struct http_exchange_response *a, struct str body,
                               bool held)
{
    const struct http_relay *r = p->relay;
    struct http_exchange *x = p->exchange;
    struct err e = ERR_NONE;
    struct buf changed;
    bool ok;

    buf_init(&changed, REWRITTEN_MAX);
    if (held)
        r->rewriter->response_body(r->rewriter_to, &p->info, x->head, body, &changed);
    p->exchange = NULL;
    ok = http_exchange_respond(x, a, changed.len ? buf_str(&changed) : body, &e);
    BUG_IF(!ok); /* the parser checks the same rules */
    buf_release(&changed);
}

static void send_response_head(struct relayed_exchange *p,
                               const struct http_exchange_response *a)
{
    struct err e = ERR_NONE;
    bool ok = http_exchange_send_head(p->exchange, a, &e);

    BUG_IF(!ok);
}

/* Copies the head: it is sent with the body. */
static void buffer_response(struct relayed_exchange *p, const struct http_exchange_response *a)
{
    struct buffered_body *h = buffered_body_new();

    h->response = *a;
    h->response.phrase = arena_str(&h->text, a->phrase);
    h->response.headers = (struct headers){ .at = NULL };
    for (size_t i = 0; i < a->headers.count; i++)
        headers_add(&h->response.headers, arena_str(&h->text, a->headers.at[i].name),
                    arena_str(&h->text, a->headers.at[i].value));
    p->held_response = h;
}

/* Forwards a held response unchanged: it is too long, or will not be complete. */
static void send_buffered_response(struct relayed_exchange *p)
{
    if (!p->held_response)
        return;
    send_response_head(p, &p->held_response->response);
    http_exchange_write(p->exchange, buf_str(&p->held_response->body));
    buffered_body_free(p->held_response);
    p->held_response = NULL;
}

static void server_head(void *to, const struct response_head *r, struct str body)
{
    struct relayed_exchange *p = to;
    const struct http_relay *relay = p->relay;
    struct http_exchange_response a = response_to_client(r);
    struct arena text = { .blocks = NULL };
    bool wanted =
        relay->rewriter &&
        relay->rewriter->response(relay->rewriter_to, &p->info, p->exchange->head, &a, &text) &&
        !r->bodiless;

    p->response_begun = true;
    p->exchange->rpc_id = STR_NONE;
    p->sized = !r->bodiless && r->body.kind == BODY_LENGTH;
    p->remaining = r->body.length;
    relay->events->response_head(relay->to, &p->info, p->exchange->head, r);
    if (body.len) {
        relay->events->response_body(relay->to, &p->info, body);
        report_end(p, HTTP_RELAY_BY_SERVER, true, NULL);
        send_full_response(p, &a, body, wanted && body.len <= HTTP_RELAY_BUFFERED_MAX);
    } else {
        commit_record(p);
        if (wanted)
            buffer_response(p, &a);
        else
            send_response_head(p, &a);
    }
    headers_release(&a.headers);
    arena_release(&text);
}

/* Has the owner rewrite bytes. False: the response was aborted and `p` freed. */
static bool rewrite_bytes(struct relayed_exchange *p, struct str *bytes, bool last)
{
    struct http_exchange *x = p->exchange;
    const char *why = NULL;

    if (!p->info.is_rewritten || p->sized ||
        p->relay->events->rewrite_stream(p->relay->to, &p->info, bytes, last, &why))
        return true;
    commit_record(p);
    http_exchange_write(x, *bytes);
    report_end(p, HTTP_RELAY_BY_RELAY, false, why);
    relayed_exchange_free(p);
    http_exchange_abort(x);
    return false;
}

static void server_data(void *to, struct str bytes)
{
    struct relayed_exchange *p = to;

    p->relay->events->response_body(p->relay->to, &p->info, bytes);
    if (!rewrite_bytes(p, &bytes, false))
        return;
    p->remaining -= p->sized ? bytes.len : 0;
    if (p->sized && p->remaining == 0) /* these are the last bytes */
        report_end(p, HTTP_RELAY_BY_SERVER, true, NULL);
    else
        commit_record(p);
    if (p->held_response && buffered_body_has_room(p->held_response, bytes)) {
        buf_add(&p->held_response->body, bytes);
        return;
    }
    send_buffered_response(p);
    http_exchange_write(p->exchange, bytes);
    if (http_exchange_queued(p->exchange) > HIGH_WATER)
        http_transfer_read(p->transfer, false);
}

static void server_complete(void *to)
{
    struct relayed_exchange *p = to;
    struct str rest = STR_NONE;
    struct http_exchange *x;

    if (!rewrite_bytes(p, &rest, true))
        return;
    if (rest.len)
        http_exchange_write(p->exchange, rest);
    report_end(p, HTTP_RELAY_BY_SERVER, true, NULL);
    if (p->held_response)
        send_full_response(p, &p->held_response->response, buf_str(&p->held_response->body),
                           true);
    x = p->exchange;
    relayed_exchange_free(p);
    if (x)
        http_exchange_end(x);
}

static unsigned status_of(enum http_client_error fault)
{
    return fault == HTTP_CLIENT_NO_FDS ? 503 : fault == HTTP_CLIENT_TIMEOUT ? 504 : 502;
}

static void send_deferred_error(struct relayed_exchange *p)
{
    send_local_error(p, HTTP_RELAY_BY_SERVER_ERROR, p->deferred_error->status,
                     p->deferred_error->why.msg);
}

/* Reads the rest of the request before the error is sent, so that the request is recorded. */
static void defer_error(struct relayed_exchange *p, unsigned status, const struct err *why)
{
    p->deferred_error = mem_new(struct deferred_error);
    *p->deferred_error = (struct deferred_error){ .status = status, .why = *why };
    http_transfer_close(p->transfer);
    p->transfer = NULL;
    if (p->exchange->request_complete || p->request_bytes > LIMIT_MESSAGE)
        send_deferred_error(p);
    else
        http_exchange_read(p->exchange, true);
}

static void server_failed(void *to, enum http_client_error fault, const struct err *why)
{
    struct relayed_exchange *p = to;
    struct http_exchange *x = p->exchange;

    if (!p->response_begun) {
        defer_error(p, status_of(fault), why);
        return;
    }
    report_end(
        p, fault == HTTP_CLIENT_TRUNCATED ? HTTP_RELAY_BY_SERVER : HTTP_RELAY_BY_SERVER_ERROR,
        false, why->msg);
    send_buffered_response(p);
    relayed_exchange_free(p);
    http_exchange_abort(x);
}

static void server_drained(void *to)
{
    struct relayed_exchange *p = to;

    if (!p->exchange->request_complete)
        http_exchange_read(p->exchange, true);
}

static const struct http_transfer_events server_events = { .head = server_head,
                                                           .data = server_data,
                                                           .drained = server_drained,
                                                           .complete = server_complete,
                                                           .failed = server_failed };

static void add_query(struct buf *to, struct str query)
{
    if (!query.len)
        return;
    buf_add_ch(to, str_find(buf_str(to), '?') < to->len ? '&' : '?');
    buf_add(to, query);
}

/* Returns whether a path is appended to the base: its last segment is that of an MCP endpoint.
 */
static bool is_appended(const struct http_relay *relay, const struct url *url, struct str path)
{
    while (path.len && path.at[path.len - 1] == '/')
        path.len--;
    return relay->base_path && !url_same_path(path, url->path) &&
           (str_ends(path, STR("/mcp")) || str_ends(path, STR("/sse")));
}

static void append_path(struct buf *to, const char *base, const struct url *url,
                        struct str path)
{
    struct str before = str_z(base);

    while (before.len && before.at[before.len - 1] == '/')
        before.len--;
    if (str_ends(url->path, path) && str_ends(before, path)) {
        buf_add(to, url->path);
        return;
    }
    buf_add(to, before);
    buf_add(to, path);
}

/* Adds the target of the request to the server. */
static void map_target(struct buf *to, const struct http_relay *relay, const struct url *url,
                       const struct request_head *r, bool endpoint)
{
    if (!endpoint) {
        buf_add(to, r->path);
        add_query(to, r->query);
        return;
    }
    if (str_eq(r->path, STR("/")))
        buf_add(to, url->path.len ? url->path : STR("/"));
    else if (is_appended(relay, url, r->path))
        append_path(to, relay->base_path, url, r->path);
    else
        buf_add(to, r->path); /* in its spelling: the server may distinguish them */
    add_query(to, url->query);
    if (!str_eq(r->query, url->query))
        add_query(to, r->query);
}

static bool is_endpoint(const struct http_relay *relay, const struct url *url, struct str path)
{
    return str_eq(path, STR("/")) || url_same_path(path, url->path) ||
           is_appended(relay, url, path);
}

static bool is_to_sse_endpoint(const struct http_relay *r, const struct request_head *head)
{
    return r->events->is_to_sse_endpoint && r->events->is_to_sse_endpoint(r->to, head);
}

static struct str supported_encodings(struct arena *a, const struct relayed_exchange *p,
                                      struct str codings)
{
    struct buf text;
    struct str left;

    if (p->info.no_compression)
        return STR("identity");
    buf_init(&text, TARGET_MAX);
    media_type_supported_encodings(&text, codings);
    left = arena_str(a, buf_str(&text));
    buf_release(&text);
    return left;
}

/* Composes the head for the server, before the rewriter changes it. */
static void compose_request(struct relayed_exchange *p, const struct request_head *r,
                            struct outgoing_request *a, struct arena *text)
{
    const struct url *url = http_client_url(p->relay->client);
    struct buf target;

    *a = (struct outgoing_request){ .method = r->method, .body = r->body };
    buf_init(&target, TARGET_MAX);
    map_target(&target, p->relay, url, r, p->info.is_endpoint && !p->to_sse_endpoint);
    a->target = arena_str(text, buf_str(&target));
    buf_release(&target);
    for (size_t i = 0; i < r->headers.count; i++) {
        const struct header *f = &r->headers.at[i];

        if (p->info.is_endpoint && headers_equal_nocase(f->name, STR("accept-encoding")))
            headers_add(&a->headers, f->name, supported_encodings(text, p, f->value));
        else if (p->relay->keep_host || !headers_equal_nocase(f->name, STR("host")))
            headers_add(&a->headers, f->name, f->value);
    }
}

/* Sends the request, or starts to hold it if the rewriter wants the body. `body`: the held part
 * of the body, or NULL; `whole`: it is complete. */
static void send_to_server(struct relayed_exchange *p, const struct request_head *r,
                           const struct buffered_body *body, bool whole)
{
    const struct http_relay *relay = p->relay;
    struct arena text = { .blocks = NULL };
    struct buf changed;
    struct outgoing_request a;
    bool wanted;

    compose_request(p, r, &a, &text);
    wanted = relay->rewriter &&
             relay->rewriter->request(relay->rewriter_to, &p->info, r, &a, &text) &&
             r->body.kind != BODY_NONE;
    buf_init(&changed, REWRITTEN_MAX);
    if (wanted && whole)
        relay->rewriter->request_body(relay->rewriter_to, &p->info, r, buf_str(&body->body),
                                      &changed);
    if (changed.len && a.body.kind == BODY_LENGTH)
        a.body.length = changed.len;
    if (wanted && !body)
        p->held_request = buffered_body_new();
    else
        p->transfer =
            http_transfer_start(relay->client, p->info.connection, &a, &server_events, p);
    if (body)
        http_transfer_send(p->transfer, changed.len ? buf_str(&changed) : buf_str(&body->body));
    buf_release(&changed);
    headers_release(&a.headers);
    arena_release(&text);
}

/* Sends the held request, rewritten if it is complete. */
static void send_buffered_request(struct relayed_exchange *p, const struct request_head *r,
                                  bool whole)
{
    struct buffered_body *h = p->held_request;

    if (!h)
        return;
    p->held_request = NULL;
    send_to_server(p, r, h, whole);
    buffered_body_free(h);
}

/* Redirects the client if the rewriter wants that; returns true and frees `p` then. */
static bool redirect_client(struct relayed_exchange *p, const struct request_head *head)
{
    const struct http_relay *r = p->relay;
    struct http_exchange_response a = { .status = FOUND };
    struct http_exchange *x = p->exchange;
    struct err e = ERR_NONE;
    struct buf location;
    bool ok;

    buf_init(&location, TARGET_MAX);
    if (r->rewriter)
        r->rewriter->redirect(r->rewriter_to, &p->info, head, &location);
    if (location.len) {
        headers_add(&a.headers, STR("Location"), buf_str(&location));
        r->events->local_response(r->to, &p->info, FOUND,
                                  "redirected to the server's own address");
        report_end(p, HTTP_RELAY_BY_RELAY, true, NULL);
        relayed_exchange_free(p);
        ok = http_exchange_respond(x, &a, STR_NONE, &e);
        BUG_IF(!ok); /* it is made of parsed texts */
        headers_release(&a.headers);
    }
    ok = location.len > 0;
    buf_release(&location);
    return ok;
}

static void client_request(void *to, struct http_exchange *x)
{
    struct http_relay *r = to;
    struct relayed_exchange *p = relayed_exchange_new(r, x);
    struct http_access_decision v;

    p->to_sse_endpoint = is_to_sse_endpoint(r, x->head);
    p->info.is_endpoint =
        p->to_sse_endpoint || is_endpoint(r, http_client_url(r->client), x->head->path);
    v = http_access_check(r->access, x->head, x->host, x->origin, p->info.is_endpoint);
    p->info.access = v;
    r->events->request(r->to, &p->info, x->head);
    if (v.status) {
        send_local_error(p, HTTP_RELAY_BY_RELAY, v.status, v.text);
        return;
    }
    if (redirect_client(p, x->head))
        return;
    commit_record(p);
    send_to_server(p, x->head, NULL, false);
    http_exchange_send_continue(x);
}

static void client_data(void *to, struct http_exchange *x, struct str bytes)
{
    struct http_relay *r = to;
    struct relayed_exchange *p = x->user;

    p->request_bytes += bytes.len;
    r->events->request_body(r->to, &p->info, bytes);
    commit_record(p);
    if (p->deferred_error) {
        if (p->request_bytes > LIMIT_MESSAGE)
            send_deferred_error(p);
        return;
    }
    if (p->held_request && buffered_body_has_room(p->held_request, bytes)) {
        buf_add(&p->held_request->body, bytes);
        return;
    }
    send_buffered_request(p, x->head, false);
    http_transfer_send(p->transfer, bytes);
    if (http_transfer_queued(p->transfer) > HIGH_WATER)
        http_exchange_read(x, false);
}

static void client_complete(void *to, struct http_exchange *x)
{
    struct http_relay *r = to;
    struct relayed_exchange *p = x->user;

    x->rpc_id = r->events->request_complete(r->to, &p->info);
    commit_record(p);
    if (p->deferred_error) {
        send_deferred_error(p);
        return;
    }
    send_buffered_request(p, x->head, true);
    http_transfer_finish(p->transfer);
}

static void client_incomplete(void *to, struct http_exchange *x)
{
    struct relayed_exchange *p = x->user;

    (void)to;
    if (p->deferred_error)
        send_deferred_error(p);
}

static void client_drained(void *to, struct http_exchange *x)
{
    struct relayed_exchange *p = x->user;

    (void)to;
    if (p->transfer)
        http_transfer_read(p->transfer, true);
}

static void client_aborted(void *to, struct http_exchange *x,
                           const struct http_exchange_failure *why)
{
    struct relayed_exchange *p = x->user;

    (void)to;
    report_end(p,
               why->kind == HTTP_EXCHANGE_CLIENT_CLOSED ? HTTP_RELAY_BY_CLIENT
                                                        : HTTP_RELAY_BY_RELAY,
               false, why->text);
    relayed_exchange_free(p);
}

/* Its idle connections to the server are not reused for other clients. */
static void client_conn_closed(void *to, uint64_t connection)
{
    struct http_relay *r = to;

    http_client_close_idle(r->client, connection);
}

static void client_rejected(void *to, uint64_t connection,
                            const struct http_exchange_failure *why)
{
    struct http_relay *r = to;

    r->events->rejected(r->to, connection, why);
}

static const struct http_exchange_events client_events = {
    .request = client_request,
    .data = client_data,
    .request_complete = client_complete,
    .request_incomplete = client_incomplete,
    .drained = client_drained,
    .aborted = client_aborted,
    .rejected = client_rejected,
    .conn_closed = client_conn_closed,
};

bool http_relay_open(struct http_relay **out, struct loop *l,
                     const struct http_relay_config *config,
                     const struct http_relay_events *events, void *to, struct err *e)
{
    struct http_relay *r = mem_new(struct http_relay);
    struct http_server_config listen = config->listen;

    listen.fds_per_client = 1; /* each client has its own connection to the server */
    *r = (struct http_relay){
        .access = config->access,
        .keep_host = config->keep_host,
        .base_path = config->base_path,
        .events = events,
        .to = to,
        .rewriter = config->rewriter,
        .rewriter_to = config->rewriter_to,
    };
    if (!http_client_new(&r->client, l, &config->server, e) ||
        !http_server_open(&r->server, l, &listen, &client_events, r, e)) {
        http_relay_close(r);
        return false;
    }
    *out = r;
    return true;
}

const struct url_authority *http_relay_address(const struct http_relay *r)
{
    return http_server_address(r->server);
}

size_t http_relay_active_count(const struct http_relay *r)
{
    return r->count;
}

void http_relay_stop(struct http_relay *r, uint64_t grace_ms, void (*done)(void *to), void *to)
{
    http_server_stop(r->server, grace_ms, done, to);
}

void http_relay_close(struct http_relay *r)
{
    if (!r)
        return;
    http_server_close(r->server);
    while (r->exchanges) {
        report_end(r->exchanges, HTTP_RELAY_BY_RELAY, false, RECORD_WHY_STOPPED);
        relayed_exchange_free(r->exchanges);
    }
    http_client_free(r->client);
    free(r);
}

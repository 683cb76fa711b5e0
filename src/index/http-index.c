#include "index/http-index.h"

#include <stdlib.h>

#include "base/big-array.h"
#include "base/mem.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "trace/limits.h"
#include "wire/url-resolve.h"

enum { STATUS_FAILED = 400, STATUS_UNAUTHORIZED = 401, STATUS_NOT_ALLOWED = 405 };

/* Progress of a response stream, over all exchanges that carry it. */
struct stream_progress {
    struct str request_id; /* of its request, as JSON; empty: there is none, or several */
    uint32_t first_shape, shape_count; /* shapes of its requests */
    uint32_t message_count;            /* server messages so far */
    struct http_stream_event *last_event;
};

/* An HTTP exchange that has not ended. */
struct open_exchange {
    struct arena arena;
    struct headers headers;
    struct http_request call;
    uint64_t key;
    uint64_t session;                               /* 0: none */
    enum mcp_version version;                       /* protocol version of its client */
    bool is_initialize;                             /* its message is an initialize */
    struct stream_progress *progress, own_progress; /* `progress` points to `own_progress`, or
                                                       to that of the stream it resumes */
    struct http_anomaly *anomaly;                   /* set if the exchange is kept whole */
    bool checked; /* set by check_request(), with `is_anomaly` */
    bool is_anomaly;
    bool by_mcpreel;             /* mcpreel sent the response */
    bool has_response;           /* response headers were seen */
    bool rejected;               /* with a status of 400 or above */
    bool is_http_sse;            /* an HTTP+SSE stream; set by its endpoint event */
    bool early_response;         /* the response began before the request was complete */
    struct record_http response; /* if `early_response`: the response headers, in the arena */
    struct str path;             /* of its HTTP request */
    uint64_t event_count;
};

static bool put_record(struct sink *self, const struct record *r, struct err *e);

void http_index_init(struct http_index *h, struct sink *to, struct message_store *store)
{
    *h = (struct http_index){ .sink = { put_record }, .index_sink = to, .store = store };
    map_init(&h->anomalies);
    map_init(&h->ok_requests);
    param_headers_init(&h->params);
    map_init(&h->open_exchanges);
    map_init(&h->resumable_streams);
    map_init(&h->agreed_versions);
    h->primed_version = MCP_2025_11_25;
    /* While a recording is read, every request is allowed that some server allows, except for
     * sessions: see check_request(). */
    h->stream_retry_ms = -1;
    h->rules = (struct request_rules){ .stateful = true,
                                       .stateless = true,
                                       .has_get_stream = true,
                                       .get_accepts_wildcard = true,
                                       .versions = STR("[]"),
                                       .param_headers = &h->params };
}

static void free_exchange(struct open_exchange *p)
{
    headers_release(&p->headers);
    arena_release(&p->arena);
    free(p);
}

static void free_exchanges(struct http_index *h)
{
    for (struct map_entry *e = NULL; (e = map_next(&h->open_exchanges, e));)
        free_exchange(e->value);
    map_release(&h->open_exchanges);
    map_init(&h->open_exchanges);
    map_release(&h->resumable_streams);
    map_init(&h->resumable_streams);
}

void http_index_release(struct http_index *h)
{
    free_exchanges(h);
    map_release(&h->open_exchanges);
    map_release(&h->resumable_streams);
    map_release(&h->agreed_versions);
    map_release(&h->anomalies);
    map_release(&h->ok_requests);
    param_headers_release(&h->params);
    big_array_release(h->shapes, h->shape_cap, sizeof *h->shapes);
    arena_release(&h->arena);
    arena_release(&h->scratch);
}

/* Drops an anomaly whose request was answered normally another time. */
static void drop_transient_anomaly(struct http_index *h, struct str key)
{
    const struct http_anomaly *anomaly = map_get(&h->anomalies, key);

    if (anomaly && !anomaly->invalid_request)
        map_remove(&h->anomalies, key);
}

static void drop_transient_anomalies(struct http_index *h)
{
    for (size_t i = 0; i < h->shape_count; i++)
        if (h->shapes[i].has_response)
            drop_transient_anomaly(h, map_number_key(&h->shapes[i].exchange_key));
    for (struct map_entry *e = NULL; (e = map_next(&h->ok_requests, e));)
        drop_transient_anomaly(h, e->key);
}

/* Takes out an anomaly that is a rejected POST to the HTTP+SSE path; NULL: there is none left.
 * Only clients of that path get it. */
static const struct http_anomaly *take_rejected_post(struct http_index *h)
{
    for (struct map_entry *e = NULL; h->sse_path.len && (e = map_next(&h->anomalies, e));) {
        const struct http_anomaly *anomaly = e->value;

        if (anomaly->post && str_eq(anomaly->path, h->sse_path)) {
            map_remove(&h->anomalies, e->key);
            return anomaly;
        }
    }
    return NULL;
}

/* A recording of stdio or HTTP+SSE tells nothing about Streamable HTTP. Such a server gets
 * sessions and a GET stream, as most servers have. */
void http_index_finish(struct http_index *h)
{
    const struct http_anomaly *anomaly;

    free_exchanges(h);
    drop_transient_anomalies(h);
    while ((anomaly = take_rejected_post(h)))
        h->rejected_post =
            h->rejected_post && !h->rejected_post->invalid_request ? h->rejected_post : anomaly;
    if (!h->seen_http || h->sse_path.len)
        h->rules.uses_session_ids = true;
    h->rules.has_get_stream = !h->no_get_stream;
    h->rules.get_accepts_wildcard = h->accept_optional;
}

static struct open_exchange *find_exchange(const struct http_index *h, const struct record *r)
{
    return r->has & HAS_EXCHANGE ? map_get(&h->open_exchanges, map_number_key(&r->exchange))
                                 : NULL;
}

static enum origin_kind origin_by_name(struct str name)
{
    enum origin_kind p = ORIGIN_NONE;

    while (p <= ORIGIN_NULL && !str_eq(name, str_z(origin_kind_name(p))))
        p++;
    return p <= ORIGIN_NULL ? p : ORIGIN_NONE;
}

static enum session_state session_state_by_name(struct str name)
{
    enum session_state s = SESSION_NONE;

    while (s <= SESSION_UNKNOWN && !str_eq(name, str_z(session_state_name(s))))
        s++;
    return s <= SESSION_UNKNOWN ? s : SESSION_NONE;
}

/* Reads [[name,value],…]. Headers whose value was not recorded are left out. */
static void read_headers(struct headers *f, struct str headers, struct arena *a)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    if (headers.len && json_scan(&j, headers, &fault)) {
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (json_type(json_item(it.value, 1)) == JSON_STRING)
                headers_add(f, arena_str(a, json_text(json_item(it.value, 0), a)),
                            arena_str(a, json_text(json_item(it.value, 1), a)));
    }
    json_release(&j);
}

static enum mcp_version agreed_version(const struct http_index *h, uint64_t session)
{
    return (enum mcp_version)(uintptr_t)map_get(&h->agreed_versions, map_number_key(&session));
}

static void add_http_request(struct http_index *h, const struct record *r)
{
    struct open_exchange *p;

    if (!(r->has & HAS_EXCHANGE) || find_exchange(h, r))
        return;
    h->seen_http = true;
    p = mem_new(struct open_exchange);
    p->progress = &p->own_progress;
    read_headers(&p->headers, r->http.headers, &p->arena);
    p->call = (struct http_request){
        .method = arena_str(&p->arena, r->http.method),
        .headers = &p->headers,
        .accept = media_type_accept(&p->headers),
        .host = origin_by_name(r->http.host),
        .origin = origin_by_name(r->http.origin),
        .session_state = session_state_by_name(r->http.state),
        .body_kind = PARSE_EMPTY,
    };
    p->session = r->has & HAS_SESSION ? r->session : 0;
    p->version =
        http_request_client_version(&p->call, agreed_version(h, p->session), &h->scratch);
    p->path = arena_str(&p->arena, r->http.path);
    p->call.to_sse_endpoint = h->post_path.len && str_eq(p->path, h->post_path) &&
                              p->call.session_state != SESSION_NONE;
    if (str_eq(r->http.body, STR("batch")))
        p->call.body_kind = PARSE_BATCH;
    p->early_response = str_eq(r->http.body, STR("late"));
    map_put(&h->open_exchanges, map_number_key(&r->exchange), p);
}

/* Checks, once the request is complete, whether a correct server would reject it. Host and
 * Origin count as allowed: the recorder itself rejected all others. */
static void check_request(struct http_index *h, struct open_exchange *p)
{
    struct http_request call = p->call;

    if (p->checked)
        return;
    p->checked = true;
    p->key = http_request_hash(&p->call, &h->scratch);
    call.host = origin_if_allowed(call.host);
    call.origin = origin_if_allowed(call.origin);
    p->is_anomaly = p->key && http_request_validate(&h->rules, &call, &h->scratch).status != 0;
    p->call.message = NULL;
    p->call.raw = STR_NONE;
}

static struct response_shape *shape_at(struct http_index *h, const struct stream_progress *t,
                                       uint32_t i)
{
    return &h->shapes[t->first_shape + i];
}

static void add_shape(struct http_index *h, struct open_exchange *p, uint64_t seq)
{
    h->shapes =
        big_array_reserve(h->shapes, &h->shape_cap, h->shape_count + 1, sizeof *h->shapes);
    h->shapes[h->shape_count] = (struct response_shape){ .seq = (uint32_t)seq,
                                                         .exchange_key = p->key,
                                                         .version = (uint8_t)p->version };
    if (!p->progress->shape_count)
        p->progress->first_shape = (uint32_t)h->shape_count;
    p->progress->shape_count = (uint32_t)(h->shape_count++ - p->progress->first_shape + 1);
}

static bool add_client_message(struct http_index *h, struct open_exchange *p,
                               const struct record *r, struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &h->scratch);

    if (p->early_response && r->message.batch.len)
        p->call.body_kind = PARSE_BATCH;
    if (p->call.body_kind != PARSE_BATCH && !p->checked) {
        p->call.body_kind = PARSE_MESSAGE;
        p->call.message = &m;
        p->progress->request_id = arena_str(&p->arena, json_raw(m.id));
        p->is_initialize = m.kind == MCP_REQUEST && str_eq(m.method, STR("initialize"));
        p->version = http_request_client_version(&p->call, p->version, &h->scratch);
    }
    check_request(h, p);
    /* Redaction can make headers and body differ that were equal. */
    p->is_anomaly = p->is_anomaly && !r->message.redacted.len;
    if (p->is_anomaly)
        return true;
    if (m.kind == MCP_REQUEST && r->has & HAS_SEQ && r->message.seq <= UINT32_MAX)
        add_shape(h, p, r->message.seq);
    return h->index_sink->put(h->index_sink, r, e);
}

static struct str copy_header(struct http_index *h, const struct headers *f, struct str name)
{
    return arena_str(&h->arena, headers_value(f, name));
}

static void add_anomaly(struct http_index *h, struct open_exchange *p,
                        const struct record_http *head)
{
    struct headers f = { .at = NULL };
    struct http_anomaly *anomaly;

    if (map_get(&h->anomalies, map_number_key(&p->key)))
        return; /* the first one is kept */
    read_headers(&f, head->headers, &h->scratch);
    anomaly = arena_new(&h->arena, struct http_anomaly);
    *anomaly = (struct http_anomaly){
        .status = (unsigned)head->status,
        .sse = str_eq(head->media, STR("sse")),
        .invalid_request = p->is_anomaly,
        .post = str_eq(p->call.method, STR("POST")) && !p->call.to_sse_endpoint,
        .path = arena_str(&h->arena, p->path),
        .id = arena_str(&h->arena, p->progress->request_id),
        .content_type = copy_header(h, &f, STR("content-type")),
        .allow = copy_header(h, &f, STR("allow")),
        .www_authenticate = copy_header(h, &f, STR("www-authenticate")),
        .retry_after = copy_header(h, &f, STR("retry-after")),
    };
    headers_release(&f);
    p->anomaly = anomaly;
    map_put(&h->anomalies, map_number_key(&p->key), anomaly);
}

/* Learns the rules of the server from its responses to valid requests. */
static void learn_server_rules(struct http_index *h, const struct open_exchange *p,
                               const struct record *r)
{
    bool get = str_eq(p->call.method, STR("GET"));

    if (r->http.mints_session)
        h->rules.uses_session_ids = true;
    if (get && p->call.session_state == SESSION_LIVE && r->http.status == STATUS_NOT_ALLOWED)
        h->no_get_stream = true;
    if (get && !h->rules.uses_session_ids && r->http.status == STATUS_NOT_ALLOWED)
        h->no_get_stream = true;
    if (get && str_eq(r->http.media, STR("sse")) && !p->call.accept.types[MEDIA_SSE].named)
        h->accept_optional = true;
    if (str_eq(p->call.method, STR("DELETE")) && p->call.session_state == SESSION_LIVE &&
        !h->delete_status)
        h->delete_status = (unsigned)r->http.status;
}

/* Notes how a complete request was answered. */
static void note_response_shape(struct http_index *h, struct open_exchange *p,
                                const struct record_http *head)
{
    check_request(h, p);
    for (uint32_t i = 0; i < p->progress->shape_count; i++) {
        struct response_shape *f = shape_at(h, p->progress, i);

        f->status = (uint16_t)head->status;
        f->json = str_eq(head->media, STR("json"));
        f->sse = str_eq(head->media, STR("sse"));
    }
    if (p->is_anomaly ||
        (p->key && head->status >= STATUS_FAILED && head->status != STATUS_UNAUTHORIZED))
        add_anomaly(h, p, head);
    else if (p->key && p->call.body_kind == PARSE_EMPTY)
        map_put(&h->ok_requests, map_number_key(&p->key), h);
    else if (p->key && !p->progress->shape_count)
        drop_transient_anomaly(h, map_number_key(&p->key));
}

/* If the response resumes a stream, its messages belong to the request that opened the
 * stream. */
static void resume_stream(struct http_index *h, struct open_exchange *p, const struct record *r)
{
    uint64_t stream = r->stream;
    struct stream_progress *told;
    struct json_fault fault;
    int64_t number;
    struct json j;

    if (!(r->has & HAS_STREAM) || !h->resumable_streams.count || p->is_anomaly)
        return;
    json_init(&j);
    if (r->http.resumes.len && json_scan(&j, r->http.resumes, &fault) &&
        json_int(json_get(json_root(&j), STR("stream")), &number))
        stream = (uint64_t)number;
    json_release(&j);
    told = map_get(&h->resumable_streams, map_number_key(&stream));
    if (told)
        p->progress = told;
}

static void add_http_response(struct http_index *h, struct open_exchange *p,
                              const struct record *r)
{
    p->by_mcpreel = str_eq(r->http.by, STR("mcpreel"));
    if (p->by_mcpreel)
        return;
    p->has_response = true;
    p->rejected = r->http.status >= STATUS_FAILED;
    learn_server_rules(h, p, r);
    if (!p->early_response) {
        note_response_shape(h, p, &r->http);
        resume_stream(h, p, r);
        return;
    }
    p->response = (struct record_http){ .status = r->http.status,
                                        .media = arena_str(&p->arena, r->http.media),
                                        .headers = arena_str(&p->arena, r->http.headers) };
}

static bool add_anomaly_part(struct http_index *h, struct http_anomaly *anomaly,
                             struct json_val msg, struct str text, struct err *e)
{
    struct http_anomaly_part *part = arena_new(&h->arena, struct http_anomaly_part);

    if (json_exists(msg)) {
        if (!h->store->add_message(h->store, json_raw(msg), &part->place, e))
            return false;
    } else {
        part->text = arena_str(&h->arena, text);
    }
    *(anomaly->last ? &anomaly->last->next : &anomaly->first) = part;
    anomaly->last = part;
    return true;
}

/* Notes that a request has a JSON-RPC response, so that the index plays it. A rejection that
 * only names the reason (header mismatch, or an error without the request's id) is none. */
static void note_response(struct http_index *h, struct open_exchange *p,
                          const struct mcp_message *m)
{
    bool same = str_eq(json_raw(m->id), p->progress->request_id);

    if (p->rejected && (!same || mcp_error_has_code(m, MCP_HEADER_MISMATCH)))
        return;
    for (uint32_t i = 0; i < p->progress->shape_count; i++)
        shape_at(h, p->progress, i)->has_response = true;
    if (p->anomaly && same) {
        map_remove(&h->anomalies, map_number_key(&p->key));
        p->anomaly = NULL;
    }
}

static void note_agreed_version(struct http_index *h, uint64_t session, struct json_val version)
{
    enum mcp_version v = mcp_version_parse(json_text(version, &h->scratch));

    if (v != MCP_VERSION_UNKNOWN)
        map_put(&h->agreed_versions, map_number_key(&session), (void *)(uintptr_t)v);
}

/* Forwards a record to the index. A message on an HTTP+SSE stream belongs to the session, not
 * to the GET that opened the stream. */
static bool forward_record(struct http_index *h, const struct open_exchange *p,
                           const struct record *r, struct err *e)
{
    struct record alone = *r;

    if (p->is_http_sse && r->has & HAS_SESSION)
        alone.has &= ~((unsigned)HAS_EXCHANGE | HAS_STREAM);
    return h->index_sink->put(h->index_sink, &alone, e);
}

static bool add_server_message(struct http_index *h, struct open_exchange *p,
                               const struct record *r, struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &h->scratch);

    if (p->by_mcpreel)
        return true;
    if (!(r->has & HAS_REDELIVERS))
        p->progress->message_count++;
    p->event_count++;
    if (p->is_anomaly)
        return !p->anomaly || add_anomaly_part(h, p->anomaly, r->message.msg, STR_NONE, e);
    if (m.kind == MCP_RESULT)
        param_headers_update(&h->params, json_get(m.root, STR("result")));
    if (p->is_initialize && m.kind == MCP_RESULT && r->has & HAS_SESSION)
        note_agreed_version(h, r->session, json_get(m.result, STR("protocolVersion")));
    if (mcp_is_response(&m) && p->progress->request_id.len)
        note_response(h, p, &m);
    if (p->anomaly && !add_anomaly_part(h, p->anomaly, r->message.msg, STR_NONE, e))
        return false;
    return forward_record(h, p, r, e);
}

static bool add_raw(struct http_index *h, struct open_exchange *p, const struct record *r,
                    struct err *e)
{
    if (r->bytes.dir == TO_CLIENT)
        return !p->anomaly || add_anomaly_part(h, p->anomaly, JSON_VAL_NONE, r->bytes.bytes, e);
    if (p->call.body_kind == PARSE_EMPTY) {
        p->call.body_kind = PARSE_OTHER;
        p->call.raw = r->bytes.bytes;
        check_request(h, p);
    }
    return true;
}

/* Notes the POST path that an HTTP+SSE stream announces. The first one is used for all clients
 * of a replay. */
static void note_endpoint(struct http_index *h, struct open_exchange *p, struct str said)
{
    struct url base = { .path = p->path, .authority = { .host = STR("localhost") } }, meant;
    struct err e = ERR_NONE;
    bool named;

    p->is_http_sse = true;
    p->is_anomaly = false; /* it begins a session, so it needs none */
    if (p->anomaly)
        map_remove(&h->anomalies, map_number_key(&p->key));
    p->anomaly = NULL;
    if (h->sse_path.len || !url_resolve(&meant, &named, said, &base, &h->scratch, &e))
        return;
    h->sse_path = arena_str(&h->arena, p->path);
    h->post_path = arena_str(&h->arena, meant.path);
}

static void add_stream_event(struct http_index *h, struct stream_progress *t, bool cut,
                             int64_t retry_ms)
{
    struct http_stream_event *b = arena_new(&h->arena, struct http_stream_event);

    *b = (struct http_stream_event){ .after_messages = t->message_count,
                                     .closes_stream = cut,
                                     .retry_ms = retry_ms };
    if (t->last_event)
        t->last_event->next = b;
    else
        for (uint32_t i = 0; i < t->shape_count; i++)
            shape_at(h, t, i)->stream_events = b;
    t->last_event = b;
}

/* Notes an SSE event without a message. An id lets the client resume; the first event of a
 * stream with an id primes it. */
static void note_sse_event(struct http_index *h, struct open_exchange *p,
                           const struct record *r)
{
    bool names_place = r->sse.id.len && !str_trim(r->sse.data).len;
    bool primes = names_place && !p->event_count;

    if (!(r->has & HAS_N))
        return;
    if (str_eq(r->sse.event, STR("endpoint")))
        note_endpoint(h, p, r->sse.data);
    p->event_count++;
    for (uint32_t i = 0; i < p->progress->shape_count; i++)
        shape_at(h, p->progress, i)->has_ids |= r->sse.id.len > 0;
    if (p->progress->shape_count && names_place)
        add_stream_event(h, p->progress, false,
                         r->has & HAS_RETRY ? (int64_t)r->sse.retry : -1);
    if (!str_eq(p->call.method, STR("GET")) || !primes || p->progress->shape_count)
        return;
    h->stream_primed = h->stream_has_ids = true;
    if (p->version != MCP_VERSION_UNKNOWN && p->version < h->primed_version)
        h->primed_version = p->version;
    if (r->has & HAS_RETRY)
        h->stream_retry_ms = (int64_t)r->sse.retry;
}

/* Notes that events with messages have ids. A GET can resume the stream of a call. */
static void note_event_id(struct http_index *h, const struct open_exchange *p,
                          const struct record *r)
{
    struct json_fault fault;
    struct json j;

    if (!r->message.event.len)
        return;
    json_init(&j);
    if (json_scan(&j, r->message.event, &fault) &&
        json_exists(json_get(json_root(&j), STR("id")))) {
        for (uint32_t i = 0; i < p->progress->shape_count; i++)
            shape_at(h, p->progress, i)->has_ids = true;
        h->stream_has_ids |= !p->progress->shape_count && str_eq(p->call.method, STR("GET"));
    }
    json_release(&j);
}

/* A stream that the server closed before the response is meant to be resumed. */
static void note_stream_closed(struct http_index *h, struct open_exchange *p,
                               const struct record *r)
{
    struct stream_progress *t = p->progress;
    const struct response_shape *f = t->shape_count ? shape_at(h, t, 0) : NULL;

    if (!f || !f->sse || f->has_response || !f->has_ids || !str_eq(r->http.by, STR("server")))
        return;
    add_stream_event(h, t, true, -1);
    if (!(r->has & HAS_STREAM))
        return;
    if (t == &p->own_progress) {
        t = arena_new(&h->arena, struct stream_progress);
        *t = p->own_progress;
        t->request_id = arena_str(&h->arena, t->request_id);
    }
    map_put(&h->resumable_streams, map_number_key(&r->stream), t);
}

static void end_exchange(struct http_index *h, struct open_exchange *p, const struct record *r)
{
    if (p->early_response && p->has_response &&
        !p->checked) /* the request had no message after all */
        note_response_shape(h, p, &p->response);
    note_stream_closed(h, p, r);
    map_remove(&h->open_exchanges, map_number_key(&r->exchange));
    free_exchange(p);
}

static bool add_content(struct http_index *h, struct open_exchange *p, const struct record *r,
                        struct err *e)
{
    if (r->kind == RECORD_RAW)
        return add_raw(h, p, r, e);
    note_event_id(h, p, r);
    return r->message.dir == TO_SERVER ? add_client_message(h, p, r, e)
                                       : add_server_message(h, p, r, e);
}

static bool is_from_client(const struct record *r)
{
    return (r->kind == RECORD_RAW ? r->bytes.dir : r->message.dir) == TO_SERVER;
}

static bool put_in_exchange(struct http_index *h, struct open_exchange *p,
                            const struct record *r, struct err *e)
{
    bool anomaly, ok;

    switch (r->kind) {
    case RECORD_MESSAGE:
    case RECORD_RAW:
        ok = add_content(h, p, r, e);
        if (p->early_response && p->has_response && is_from_client(r))
            note_response_shape(h, p, &p->response);
        return ok;
    case RECORD_HTTP_RESPONSE:
        add_http_response(h, p, r);
        break;
    case RECORD_SSE:
        note_sse_event(h, p, r);
        break;
    default:
        break;
    }
    anomaly = p->is_anomaly;
    if (r->kind == RECORD_HTTP_END)
        end_exchange(h, p, r);
    return anomaly || h->index_sink->put(h->index_sink, r, e);
}

static void add_headerless_shape(struct http_index *h, const struct record_http *http)
{
    if (h->shape_count && h->shapes[h->shape_count - 1].seq >= h->headerless_seq)
        return; /* shapes are sorted by seq */
    h->shapes =
        big_array_reserve(h->shapes, &h->shape_cap, h->shape_count + 1, sizeof *h->shapes);
    h->shapes[h->shape_count++] =
        (struct response_shape){ .seq = (uint32_t)h->headerless_seq,
                                 .status = (uint16_t)http->status,
                                 .json = str_eq(http->media, STR("json")),
                                 .sse = str_eq(http->media, STR("sse")) };
}

/* Notes a record of an exchange whose HTTP request was not recorded, as in cassettes. */
static void note_headerless(struct http_index *h, const struct record *r)
{
    struct response_shape *last = h->shape_count ? &h->shapes[h->shape_count - 1] : NULL;
    bool same = h->headerless_seq && r->exchange == h->headerless_exchange;

    if (!(r->has & HAS_EXCHANGE))
        return;
    if (r->kind == RECORD_MESSAGE && r->message.dir == TO_SERVER) {
        h->headerless_exchange = r->exchange;
        h->headerless_seq =
            r->has & HAS_SEQ && r->message.seq <= UINT32_MAX ? r->message.seq : 0;
    } else if (r->kind == RECORD_HTTP_RESPONSE && same) {
        add_headerless_shape(h, &r->http);
    } else if (r->kind == RECORD_MESSAGE && same && last && last->seq == h->headerless_seq) {
        last->has_response = true;
    }
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct http_index *h = (struct http_index *)self;
    struct open_exchange *p;

    arena_clear(&h->scratch);
    if (r->kind == RECORD_HTTP_REQUEST)
        add_http_request(h, r);
    p = find_exchange(h, r);
    if (p)
        return put_in_exchange(h, p, r, e);
    note_headerless(h, r);
    return h->index_sink->put(h->index_sink, r, e);
}

const struct response_shape *http_index_shape(const struct http_index *h, uint32_t seq)
{
    size_t low = 0, high = h->shape_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (h->shapes[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->shape_count && h->shapes[low].seq == seq ? &h->shapes[low] : NULL;
}

bool http_index_supports_priming(enum mcp_version live, enum mcp_version recorded)
{
    return live >= MCP_2025_11_25 || (recorded != MCP_VERSION_UNKNOWN && live >= recorded);
}

/* Whether it is the path of the recorded HTTP+SSE streams. A redacted segment of that path
 * matches any segment. */
static bool is_sse_path(const struct http_index *h, struct str path)
{
    struct str recorded = h->sse_path;
    bool fits = recorded.len > 0;

    while (fits && (recorded.len || path.len)) {
        struct str part = str_cut(&recorded, '/'), live = str_cut(&path, '/');

        fits = str_eq(part, live) || (live.len && str_starts(part, STR("[REDACTED")));
    }
    return fits;
}

const struct http_anomaly *http_index_find_anomaly(const struct http_index *h,
                                                   const struct http_request *c,
                                                   struct str path, struct arena *a)
{
    uint64_t key;

    if (h->rejected_post && str_eq(c->method, STR("POST")) && !c->to_sse_endpoint &&
        is_sse_path(h, path))
        return h->rejected_post;
    key = h->anomalies.count ? http_request_hash(c, a) : 0;
    return key ? map_get(&h->anomalies, map_number_key(&key)) : NULL;
}

/* A recorded path with redacted segments cannot be requested. */
struct str http_index_sse_path(const struct http_index *h)
{
    bool told = str_find(h->sse_path, '[') == h->sse_path.len;

    return told ? h->sse_path : STR(HTTP_INDEX_SSE_PATH);
}

bool http_index_opens_sse(const struct http_index *h, const struct http_request *c,
                          struct str path)
{
    return str_eq(c->method, STR("GET")) && !headers_count(c->headers, STR("mcp-session-id")) &&
           !headers_count(c->headers, STR("last-event-id")) &&
           (str_eq(path, STR(HTTP_INDEX_SSE_PATH)) || is_sse_path(h, path));
}

#include "record/http-recorder.h"

#include <stdlib.h>

#include "base/compress.h"
#include "base/mem.h"
#include "mcphttp/header-policy.h"
#include "record/sse-rewrite.h"
#include "trace/limits.h"
#include "wire/media-type.h"
#include "wire/sse-reader.h"
#include "json/write.h"

enum {
    DECOMPRESS_CHUNK = 16 << 10,
    STATUS_OK = 200,
    STATUS_REDIRECT = 300,
    STATUS_NOT_FOUND = 404,
    EVENT_N_BITS = 32, /* of the position of an event: stream and number */
};

/* The record of a request, until it is written. */
struct unwritten_request {
    struct arena arena;
    struct record_http http;
    struct str session_id, last_event_id;
    struct str request_id; /* JSON-RPC id, as JSON; empty: it has none */
    bool is_delete;
    bool may_open_sse;                /* the response may be an HTTP+SSE stream */
    struct url_rewrite_client client; /* of that stream */
    bool opened_sse;                  /* set by its first valid endpoint event */
};

/* The recorded part of a body. */
struct body_copy {
    struct buf text;
    uint64_t bytes; /* its size, recorded or not */
};

struct http_recorder_exchange {
    struct http_recorder *http_recorder;
    struct unwritten_request
        *request; /* until the response starts; for a possible HTTP+SSE stream until the end */
    struct seen_secrets_refs secrets; /* the secrets in its headers and URLs */
    uint64_t number, conn;
    uint64_t session;     /* 0: none, or not known yet */
    uint64_t stream;      /* 0: the response is no stream */
    uint64_t event_count; /* in the stream, so far */
    bool request_written; /* the record of the request was written */
    bool response_started;
    bool response_written; /* the response body was recorded */
    bool is_endpoint;
    bool has_body;      /* the request announces one */
    bool body_complete; /* set by http_recorder_request_end() */
    bool is_resumed;    /* it has a Last-Event-ID, so events may be redelivered */
    bool undecodable;   /* the response has an unknown or damaged compression */
    enum media_type media;
    struct body_copy request_body, response_body; /* the latter unless it is a stream */
    struct decompressor *decompressor;
    struct sse_reader *sse_reader;
};

void http_recorder_init(struct http_recorder *t, struct recorder *recorder, size_t max,
                        struct seen_secrets *seen_secrets)
{
    *t = (struct http_recorder){ .recorder = recorder,
                                 .max_body = max,
                                 .seen_secrets = seen_secrets };
    session_ids_init(&t->sessions);
    sse_endpoints_init(&t->sse_endpoints, &t->sessions);
    recent_keys_init(&t->recent_events, LIMIT_EVENTS);
    buf_init(&t->headers, LIMIT_LINE);
    buf_init(&t->spare_body, max);
}

void http_recorder_release(struct http_recorder *t)
{
    session_ids_release(&t->sessions);
    sse_endpoints_release(&t->sse_endpoints);
    recent_keys_release(&t->recent_events);
    buf_release(&t->headers);
    buf_release(&t->spare_body);
    if (t->seen_secrets)
        seen_secrets_unref(t->seen_secrets, &t->server_secrets);
}

void http_recorder_redact_urls(struct http_recorder *t, struct str server)
{
    t->redacts_urls = true;
    if (t->seen_secrets)
        header_secrets_learn_url(t->seen_secrets, &t->server_secrets, 0, server);
}

bool http_recorder_check(struct http_recorder *t, struct err *e)
{
    bool fine = !t->failed;

    if (!fine)
        *e = t->error;
    t->failed = false;
    return fine;
}

static void note_error(struct http_recorder *t, bool kept, const struct err *why)
{
    if (!kept && !t->failed)
        t->error = *why;
    t->failed |= !kept;
}

static struct recorder_context context_of(const struct http_recorder_exchange *x)
{
    return (struct recorder_context){
        .has = HAS_CONN | HAS_EXCHANGE | (x->session ? HAS_SESSION : 0u) |
               (x->stream ? HAS_STREAM : 0u),
        .conn = x->conn,
        .session = x->session,
        .exchange = x->number,
        .stream = x->stream,
    };
}

static void put_record(struct http_recorder_exchange *x, struct record *r,
                       struct recorder_time now)
{
    struct recorder_context at = context_of(x);
    struct err e = ERR_NONE;

    note_error(x->http_recorder,
               recorder_add_record(x->http_recorder->recorder, &at, r, now, &e), &e);
}

static void put_text(struct http_recorder_exchange *x, const struct recorder_context *at,
                     enum record_dir dir, struct str text, struct recorder_time now)
{
    struct err e = ERR_NONE;

    note_error(x->http_recorder,
               recorder_add_text(x->http_recorder->recorder, at, dir, text, now, &e), &e);
}

/* Records an incomplete body, even an empty one. */
static void put_truncated(struct http_recorder_exchange *x, enum record_dir dir,
                          struct str bytes, struct recorder_time now)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .dir = dir,
                                     .bytes = bytes.len ? bytes : STR(""),
                                     .why = STR("cut off") };
    put_record(x, &r, now);
}

static void put_gap(struct http_recorder_exchange *x, enum record_dir dir, uint64_t bytes,
                    const char *why, struct recorder_time now)
{
    struct record r = { .kind = RECORD_GAP, .has = HAS_FROM | HAS_TOTALS };

    r.gap = (struct record_gap){ dir, 1, bytes, str_z(why) };
    put_record(x, &r, now);
}

static void put_too_long(struct http_recorder_exchange *x, enum record_dir dir, uint64_t bytes,
                         struct recorder_time now)
{
    x->http_recorder->too_long++;
    put_gap(x, dir, bytes, "too long to be kept", now);
}

/* The result is valid until the next call. */
static struct str headers_json(struct http_recorder *t, const struct headers *f)
{
    buf_clear(&t->headers);
    header_policy_write(&t->headers, f);
    return buf_str(&t->headers);
}

/* Must precede every record that may repeat the secrets. */
static void learn_headers(struct http_recorder_exchange *x, const struct headers *f)
{
    if (x->http_recorder->seen_secrets)
        header_secrets_learn(x->http_recorder->seen_secrets, &x->secrets, f);
}

static void learn_session(struct http_recorder_exchange *x, struct str id)
{
    if (x->http_recorder->seen_secrets)
        header_secrets_learn_session(x->http_recorder->seen_secrets, &x->secrets, x->session,
                                     id);
}

/* Learns the secrets of the URL. That of an HTTP+SSE session is a secret like its id, even if
 * other URLs are not redacted. */
static void learn_target(struct http_recorder_exchange *x,
                         const struct http_recorder_request *q)
{
    bool is_sse_post = !x->request->session_id.len && x->session;

    if (x->http_recorder->seen_secrets && (is_sse_post || x->http_recorder->redacts_urls))
        header_secrets_learn_target(x->http_recorder->seen_secrets, &x->secrets,
                                    is_sse_post ? x->session : 0, q->path, q->query);
}

static void learn_endpoint(struct http_recorder_exchange *x, struct str url, bool names_session)
{
    if (x->http_recorder->seen_secrets)
        header_secrets_learn_url(x->http_recorder->seen_secrets, &x->secrets,
                                 names_session ? x->session : 0, url);
}

bool http_recorder_is_sse_post(const struct http_recorder *t, struct str method,
                               struct str path, struct str query)
{
    uint64_t session;

    return str_eq(method, STR("POST")) &&
           sse_endpoints_find(&t->sse_endpoints, path, query, &session) != SESSION_NONE;
}

/* Finds the session of a request, and sets the path and query that are recorded. */
static enum session_state find_session(struct http_recorder_exchange *x,
                                       const struct http_recorder_request *q)
{
    struct unwritten_request *request = x->request;
    struct arena *a = &request->arena;
    struct sse_endpoints *known = &x->http_recorder->sse_endpoints;

    request->http.path = arena_str(a, q->path);
    if (q->query.at && q->is_endpoint)
        request->http.query = arena_str(a, q->query);
    request->session_id = arena_str(a, headers_value(q->headers, STR("mcp-session-id")));
    if (!request->session_id.len &&
        http_recorder_is_sse_post(x->http_recorder, q->method, q->path, q->query)) {
        request->http.path = sse_endpoints_mask(q->path, a);
        request->http.query = sse_endpoints_mask_query(q->query, a);
        return sse_endpoints_find(known, q->path, q->query, &x->session);
    }
    return session_ids_find(&x->http_recorder->sessions, request->session_id, &x->session);
}

struct http_recorder_exchange *http_recorder_begin(struct http_recorder *t,
                                                   const struct http_recorder_request *q)
{
    struct http_recorder_exchange *x = mem_new(struct http_recorder_exchange);
    struct unwritten_request *request = mem_new(struct unwritten_request);
    struct arena *a = &request->arena;

    *x = (struct http_recorder_exchange){
        .http_recorder = t, .request = request, .conn = q->conn, .media = MEDIA_NONE
    };
    x->number = ++t->exchange_count;
    x->is_endpoint = q->is_endpoint;
    x->has_body = q->has_body;
    buf_init(&x->request_body.text, t->max_body);
    buf_init(&x->response_body.text, t->max_body);
    request->last_event_id = arena_str(a, headers_value(q->headers, STR("last-event-id")));
    request->is_delete = str_eq(q->method, STR("DELETE"));
    request->http.state = str_z(session_state_name(find_session(x, q)));
    learn_headers(x, q->headers);
    learn_session(x, request->session_id);
    learn_target(x, q);
    request->http.method = arena_str(a, q->method);
    request->http.host = str_z(origin_kind_name(q->host));
    request->http.origin = str_z(origin_kind_name(q->origin));
    request->http.headers = arena_str(a, headers_json(t, q->headers));
    request->http.auth = headers_count(q->headers, STR("authorization")) > 0;
    request->may_open_sse =
        t->server_url && q->is_endpoint && sse_rewrite_may_apply(q->method, q->headers);
    if (request->may_open_sse)
        request->client = (struct url_rewrite_client){
            .host = arena_str(a, headers_value(q->headers, STR("host"))),
            .path = arena_str(a, q->path),
        };
    return x;
}

/* Uses the spare memory: most bodies are short-lived. */
static void keep_body(struct http_recorder_exchange *x, struct body_copy *c, struct str bytes)
{
    c->bytes += bytes.len;
    if (!x->is_endpoint)
        return;
    buf_take_spare(&c->text, &x->http_recorder->spare_body);
    buf_add(&c->text, bytes);
}

static void release_body(struct http_recorder_exchange *x, struct body_copy *c)
{
    buf_return_spare(&c->text, &x->http_recorder->spare_body);
}

/* Returns whether the announced body has not arrived completely. */
static bool is_body_incomplete(const struct http_recorder_exchange *x)
{
    return x->has_body && !x->body_complete;
}

/* `late`: the response starts before its end. */
static struct str body_kind(struct http_recorder_exchange *x, bool late)
{
    static const char *const names[] = {
        [PARSE_EMPTY] = "empty",
        [PARSE_MESSAGE] = "message",
        [PARSE_BATCH] = "batch",
        [PARSE_OTHER] = "raw",
    };

    if (late)
        return STR("late");
    if (!x->request_body.bytes && !is_body_incomplete(x))
        return STR("empty");
    if (!x->body_complete || !x->is_endpoint || x->request_body.text.full)
        return STR("raw");
    return str_z(
        names[recorder_classify(x->http_recorder->recorder, buf_str(&x->request_body.text))]);
}

/* Writes the record of the request, once. */
static void put_request(struct http_recorder_exchange *x, bool late, struct recorder_time now)
{
    struct record r = { .kind = RECORD_HTTP_REQUEST };

    if (x->request_written)
        return;
    x->request_written = true;
    r.http = x->request->http;
    r.http.body = body_kind(x, late);
    put_record(x, &r, now);
}

/* Records the request body. It does not belong to the stream that the response may have
 * started. `classified`: the body was just classified for the record of the request. */
static void put_request_body(struct http_recorder_exchange *x, bool classified,
                             struct recorder_time now)
{
    struct recorder_context at = context_of(x);
    struct str text = buf_str(&x->request_body.text);
    struct err e = ERR_NONE;

    at.has &= ~(unsigned)HAS_STREAM;
    if (x->request_body.text.full)
        put_too_long(x, TO_SERVER, x->request_body.bytes, now);
    else if (is_body_incomplete(x) && x->is_endpoint) /* even if it is empty */
        put_truncated(x, TO_SERVER, text, now);
    else if (text.len && classified)
        note_error(x->http_recorder,
                   recorder_add_classified(x->http_recorder->recorder, &at, TO_SERVER, now, &e),
                   &e);
    else
        put_text(x, &at, TO_SERVER, text, now);
    if (x->request && x->body_complete && !x->request_body.text.full)
        x->request->request_id =
            arena_str(&x->request->arena, x->http_recorder->recorder->request_id);
    release_body(x, &x->request_body);
}

void http_recorder_request_data(struct http_recorder_exchange *x, struct str bytes)
{
    keep_body(x, &x->request_body, bytes);
}

void http_recorder_request_end(struct http_recorder_exchange *x, struct recorder_time now)
{
    bool classified = !x->request_written;

    x->body_complete = true;
    put_request(x, false, now);
    put_request_body(x, classified, now);
}

struct str http_recorder_request_id(const struct http_recorder_exchange *x)
{
    return x->request ? x->request->request_id : STR_NONE;
}

/* Notes a session that the server creates or ends. Returns whether it is new. */
static bool note_session(struct http_recorder_exchange *x, unsigned status,
                         const struct headers *f)
{
    struct session_ids *ids = &x->http_recorder->sessions;
    struct str named = headers_value(f, STR("mcp-session-id"));
    bool minted = false;

    if (status < STATUS_REDIRECT && named.len && !x->request->is_delete)
        x->session = session_ids_add(ids, named, &minted);
    learn_session(x, named);
    if (status == STATUS_NOT_FOUND ||
        (x->request->is_delete && status >= STATUS_OK && status < STATUS_REDIRECT))
        session_ids_end(ids, x->request->session_id);
    return minted;
}

/* Event ids are unique within a session. */
static struct str event_key(const struct http_recorder_exchange *x, struct str id,
                            struct buf *key)
{
    buf_clear(key);
    buf_add(key, str_n((const char *)&x->session, sizeof x->session));
    buf_add(key, id);
    return buf_str(key);
}

static const struct recent_keys_entry *find_event(const struct http_recorder_exchange *x,
                                                  struct str id)
{
    const struct recent_keys_entry *found;
    struct buf key;

    buf_init(&key, LIMIT_LINE);
    found = recent_keys_find(&x->http_recorder->recent_events, event_key(x, id, &key));
    buf_release(&key);
    return found;
}

static struct str resumed_json(struct http_recorder_exchange *x, struct arena *a)
{
    const struct recent_keys_entry *last =
        x->request->last_event_id.len ? find_event(x, x->request->last_event_id) : NULL;

    if (!last)
        return STR_NONE;
    return arena_printf(a, "{\"stream\":%llu,\"after\":%llu}",
                        (unsigned long long)(last->value >> EVENT_N_BITS),
                        (unsigned long long)(last->value & UINT32_MAX));
}

static void note_decompress_error(struct http_recorder *t, const struct err *why)
{
    if (t->decompress_error.kind == ERR_OK)
        t->decompress_error = *why;
}

static void start_decompressing(struct http_recorder_exchange *x, const struct headers *f)
{
    struct str coding = headers_value(f, STR("content-encoding"));
    enum compress_kind kind = COMPRESS_NONE;
    struct err e = ERR_NONE;

    if (!coding.len || headers_equal_nocase(coding, STR("identity")) || !x->is_endpoint)
        return;
    if (headers_equal_nocase(coding, STR("gzip")) ||
        headers_equal_nocase(coding, STR("x-gzip")))
        kind = COMPRESS_GZIP;
    else if (headers_equal_nocase(coding, STR("zstd")))
        kind = COMPRESS_ZSTD;
    if (kind != COMPRESS_NONE) {
        x->decompressor = decompressor_new(kind);
        return;
    }
    x->undecodable = true;
    err_set(&e, ERR_INPUT, "'%.*s' is an unsupported Content-Encoding", STR_ARG(coding));
    note_decompress_error(x->http_recorder, &e);
}

static void start_response(struct http_recorder_exchange *x, const struct headers *f)
{
    x->response_started = true;
    x->is_resumed = x->request->last_event_id.len > 0;
    x->media = media_type_of_headers(f);
    if (x->media == MEDIA_SSE && x->is_endpoint) {
        x->stream = ++x->http_recorder->stream_count;
        x->sse_reader = mem_new(struct sse_reader);
        sse_reader_init(x->sse_reader, x->http_recorder->max_body);
    }
    start_decompressing(x, f);
}

static void free_request(struct http_recorder_exchange *x)
{
    if (x->request)
        arena_release(&x->request->arena);
    free(x->request);
    x->request = NULL;
}

void http_recorder_response(struct http_recorder_exchange *x, unsigned status,
                            const struct headers *fields, enum http_recorder_by by,
                            struct recorder_time now)
{
    static const char *const media[] = { [MEDIA_JSON] = "json",
                                         [MEDIA_SSE] = "sse",
                                         [MEDIA_NONE] = "none",
                                         [MEDIA_OTHER] = "other" };
    struct record r = { .kind = RECORD_HTTP_RESPONSE, .has = HAS_STATUS };
    struct arena a = { NULL, 0 };

    put_request(x, is_body_incomplete(x), now);
    learn_headers(x, fields);
    r.http.mints_session = note_session(x, status, fields);
    start_response(x, fields);
    r.http.status = status;
    r.http.by = by == HTTP_RECORDER_BY_SERVER ? STR("server") : STR("mcpreel");
    r.http.media = str_z(media[x->media]);
    r.http.resumes = x->stream ? resumed_json(x, &a) : STR_NONE;
    r.http.headers = headers_json(x->http_recorder, fields);
    put_record(x, &r, now);
    arena_release(&a);
    if (!x->stream || !x->request->may_open_sse)
        free_request(x);
}

static struct str event_json(const struct sse_item *item, uint64_t n, struct arena *a)
{
    struct buf text;
    struct json_out o = json_out_to(&text);
    struct str json;

    buf_init(&text, LIMIT_LINE);
    json_out_object(&o);
    json_out_key_int(&o, STR("n"), (int64_t)n);
    if (item->id.at)
        json_out_key_str(&o, STR("id"), item->id);
    if (item->event.at)
        json_out_key_str(&o, STR("event"), item->event);
    if (item->retry >= 0)
        json_out_key_int(&o, STR("retry"), item->retry);
    json_out_end_object(&o);
    json = arena_str(a, buf_str(&text));
    buf_release(&text);
    return json;
}

/* Records an event without a message: priming, endpoint or comment. */
static void put_sse_event(struct http_recorder_exchange *x, const struct sse_item *item,
                          struct recorder_time now)
{
    struct record r = { .kind = RECORD_SSE };
    struct recorder_context at = context_of(x);
    struct err e = ERR_NONE;

    if (!item->comment.at)
        r.has |= HAS_N;
    if (item->retry >= 0)
        r.has |= HAS_RETRY;
    r.sse = (struct record_sse){
        .n = x->event_count,
        .retry = item->retry >= 0 ? (uint64_t)item->retry : 0,
        .id = item->id,
        .event = item->event,
        .data = item->data,
        .comment = item->comment,
    };
    at.has &= ~((unsigned)HAS_CONN | HAS_SESSION);
    note_error(x->http_recorder,
               recorder_add_record(x->http_recorder->recorder, &at, &r, now, &e), &e);
}

/* Records an endpoint event. The first one starts a session, unless it points to another
 * server. */
static void put_endpoint_event(struct http_recorder_exchange *x, const struct sse_item *item,
                               struct recorder_time now)
{
    struct unwritten_request *request = x->request;
    struct arena a = { NULL, 0 };
    struct sse_item masked = *item;
    struct err e = ERR_NONE;
    struct sse_endpoints_event found;

    if (request && sse_endpoints_parse(&found, item->data, x->http_recorder->server_url,
                                       &request->client, &a, &e)) {
        x->session = sse_endpoints_add(&x->http_recorder->sse_endpoints, found.target,
                                       request->opened_sse ? x->session : 0);
        request->opened_sse = true;
    }
    learn_endpoint(x, item->data, request && request->opened_sse);
    masked.data = sse_endpoints_mask(item->data, &a);
    put_sse_event(x, &masked, now);
    arena_release(&a);
}

static void remember_event(struct http_recorder_exchange *x, struct str id, uint64_t seq)
{
    struct buf key;

    buf_init(&key, LIMIT_LINE);
    recent_keys_add(&x->http_recorder->recent_events, event_key(x, id, &key),
                    x->stream << EVENT_N_BITS | (x->event_count & UINT32_MAX), seq);
    buf_release(&key);
}

static void record_event(struct http_recorder_exchange *x, const struct sse_item *item,
                         struct recorder_time now)
{
    struct recorder_context at = context_of(x);
    const struct recent_keys_entry *before = NULL;
    struct arena a = { NULL, 0 };
    uint64_t first = x->http_recorder->recorder->seq;

    x->event_count++;
    if (item->too_long) {
        put_too_long(x, TO_CLIENT, item->bytes, now);
        return;
    }
    if (item->id.len && x->is_resumed)
        before = find_event(x, item->id);
    if (!str_trim(item->data).len) {
        put_sse_event(x, item, now);
    } else if (item->event.at && str_eq(item->event, STR("endpoint"))) {
        put_endpoint_event(x, item, now);
    } else {
        at.event = event_json(item, x->event_count, &a);
        if (before && before->extra) {
            at.has |= HAS_REDELIVERS;
            at.redelivers = before->extra;
        }
        put_text(x, &at, TO_CLIENT, item->data, now);
        arena_release(&a);
    }
    if (item->id.len && !before)
        remember_event(x, item->id,
                       x->http_recorder->recorder->seq > first ? x->http_recorder->recorder->seq
                                                               : 0);
}

static void record_events(struct http_recorder_exchange *x, struct str bytes,
                          struct recorder_time now)
{
    struct sse_item item = SSE_ITEM_NONE;
    enum sse_next next;

    sse_reader_feed(x->sse_reader, bytes);
    while ((next = sse_reader_next(x->sse_reader, &item)) != SSE_MORE) {
        if (next == SSE_EVENT)
            record_event(x, &item, now);
        else
            put_sse_event(x, &item, now);
    }
}

static void record_data(struct http_recorder_exchange *x, struct str bytes,
                        struct recorder_time now)
{
    if (x->sse_reader)
        record_events(x, bytes, now);
    else
        keep_body(x, &x->response_body, bytes);
}

static void record_compressed(struct http_recorder_exchange *x, struct str bytes,
                              struct recorder_time now)
{
    char piece[DECOMPRESS_CHUNK];
    struct err e = ERR_NONE;
    size_t got;

    do {
        x->undecodable =
            !decompressor_feed(x->decompressor, &bytes, piece, sizeof piece, &got, &e);
        record_data(x, str_n(piece, got), now);
    } while (!x->undecodable && (bytes.len || got));
    if (x->undecodable)
        note_decompress_error(x->http_recorder, &e);
}

void http_recorder_response_data(struct http_recorder_exchange *x, struct str bytes,
                                 struct recorder_time now)
{
    if (x->undecodable)
        x->response_body.bytes += bytes.len;
    else if (x->decompressor)
        record_compressed(x, bytes, now);
    else
        record_data(x, bytes, now);
}

static void put_rest(struct http_recorder_exchange *x, struct str bytes,
                     struct recorder_time now)
{
    if (bytes.len)
        put_truncated(x, TO_CLIENT, bytes, now);
}

/* Records the body of a response, or the incomplete rest of a stream. */
static void put_response_body(struct http_recorder_exchange *x, bool clean,
                              struct recorder_time now)
{
    struct recorder_context at = context_of(x);
    struct sse_item item = SSE_ITEM_NONE;

    if (!x->is_endpoint || x->response_written)
        return;
    x->response_written = true;
    if (x->undecodable)
        put_gap(x, TO_CLIENT, x->response_body.bytes, "cannot be decompressed", now);
    else if (x->response_body.text.full)
        put_too_long(x, TO_CLIENT, x->response_body.bytes, now);
    else if (x->sse_reader)
        while (sse_reader_end(x->sse_reader, &item) == SSE_EVENT)
            put_rest(x, item.data, now);
    else if (!clean)
        put_rest(x, buf_str(&x->response_body.text), now);
    else
        put_text(x, &at, TO_CLIENT, buf_str(&x->response_body.text), now);
}

void http_recorder_response_end(struct http_recorder_exchange *x, struct recorder_time now)
{
    put_response_body(x, true, now);
}

void http_recorder_end(struct http_recorder_exchange *x, enum http_recorder_by by, bool clean,
                       struct str why, struct recorder_time now)
{
    static const char *const names[] = { [HTTP_RECORDER_BY_SERVER] = "server",
                                         [HTTP_RECORDER_BY_CLIENT] = "client",
                                         [HTTP_RECORDER_BY_ERROR] = "error",
                                         [HTTP_RECORDER_BY_MCPREEL] = "mcpreel" };
    struct record r = { .kind = RECORD_HTTP_END };

    put_request(x, false, now);
    if (!x->body_complete)
        put_request_body(x, false, now);
    if (x->response_started)
        put_response_body(x, clean, now);
    r.http.by = str_z(names[by]);
    r.http.clean = clean;
    r.http.why = why;
    put_record(x, &r, now);
    if (x->request && x->request->opened_sse)
        sse_endpoints_end_session(&x->http_recorder->sse_endpoints, x->session);
    free_request(x);
    if (x->http_recorder->seen_secrets)
        seen_secrets_unref(x->http_recorder->seen_secrets, &x->secrets);
    if (x->sse_reader)
        sse_reader_release(x->sse_reader);
    free(x->sse_reader);
    decompressor_free(x->decompressor);
    release_body(x, &x->request_body);
    release_body(x, &x->response_body);
    free(x);
}

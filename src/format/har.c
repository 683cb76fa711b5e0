/* format/har.c - HAR 1.2: the log of HTTP requests of a browser or proxy, as one document.
 *
 * Reads the MCP messages in it (format/har-read.h), and writes recordings (format/har-write.h).
 * The whole document is checked before the first record is returned. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "format/har-read.h"
#include "format/har-write.h"
#include "format/ndjson.h"
#include "trace/pairing.h"

struct har {
    struct json document, message;
    struct arena arena;
    struct har_document read;
    struct map sessions;  /* their numbers */
    struct pairing pairs; /* of a file that does not have the latencies */
    uint64_t exchanges, streams, session_count;
    size_t next; /* step */
    bool has_read;
};

static enum probe_rank har_probe(struct str head)
{
    head = str_trim(head);
    return ndjson_starts_with(&head, STR("{\"log\":{\"")) ? PROBE_SURE : PROBE_NONE;
}

static void *har_open(void)
{
    struct har *s = mem_new(struct har);

    json_init(&s->document);
    json_init(&s->message);
    map_init(&s->sessions);
    pairing_init(&s->pairs);
    return s;
}

static void har_close(void *state)
{
    struct har *s = state;
    struct map_entry *n = NULL;

    while ((n = map_next(&s->sessions, n)))
        free(n->value);
    map_release(&s->sessions);
    pairing_release(&s->pairs);
    har_read_release(&s->read);
    json_release(&s->document);
    json_release(&s->message);
    arena_release(&s->arena);
    free(s);
}

static enum next_result read_document(struct har *s, const struct window *w, struct record *r,
                                      struct err *e)
{
    struct json_fault fault;

    if (!json_scan(&s->document, w->bytes, &fault)) {
        if (fault.kind == JSON_FAULT_TRUNCATED)
            return format_error(w, fault.at, e, "the HAR is cut off");
        return format_error(w, fault.at, e, "not valid JSON: %s", fault.what);
    }
    if (!har_read(w, json_root(&s->document), &s->arena, &s->read, e))
        return NEXT_ERROR;
    s->has_read = true;
    *r = s->read.header;
    r->unread_values = s->read.left_out;
    return NEXT_RECORD;
}

/* Sessions get numbers in the order in which they appear. */
static void set_session(struct har *s, struct record *r, struct str id)
{
    uint64_t *number = map_get(&s->sessions, id);

    if (!number) {
        number = mem_new(uint64_t);
        *number = ++s->session_count;
        map_put(&s->sessions, id, number);
    }
    r->has |= HAS_SESSION;
    r->session = *number;
}

/* Sets the members that all records of an exchange have. */
static void set_exchange(struct har *s, struct record *r, const struct har_step *step)
{
    struct har_exchange *x = step->exchange;
    bool is_request = step->kind <= HAR_STEP_SENT;

    if (!x->number)
        x->number = ++s->exchanges;
    if (!is_request && x->is_stream && x->status && !x->stream)
        x->stream = ++s->streams;
    r->has |= HAS_EXCHANGE;
    r->exchange = x->number;
    if (x->session.at && !(is_request && x->mints_session) && step->kind != HAR_STEP_EVENT)
        set_session(s, r, x->session);
    if (x->stream && !is_request) {
        r->has |= HAS_STREAM;
        r->stream = x->stream;
    }
}

static void make_message(struct har *s, struct record *r, const struct har_step *step)
{
    struct json_fault fault;

    if (!json_scan(&s->message, step->message, &fault))
        BUG("a message that was read is not JSON");
    r->kind = RECORD_MESSAGE;
    r->has |= step->has & (HAS_WALL | HAS_LATENCY | HAS_CONN);
    r->message = (struct record_message){
        .dir = step->kind == HAR_STEP_SENT ? TO_SERVER : TO_CLIENT,
        .msg = json_root(&s->message),
        .batch = step->batch,
        .redacted = step->redacted,
        .event = s->read.is_stdio ? STR_NONE : step->event,
        .latency_ms = step->latency_ms,
    };
}

static void make_bytes(struct record *r, const struct har_step *step)
{
    r->kind = RECORD_RAW;
    r->has |= HAS_FROM | (step->has & (HAS_WALL | HAS_CONN));
    r->bytes =
        (struct record_bytes){ .dir = step->kind == HAR_STEP_SENT ? TO_SERVER : TO_CLIENT,
                               .bytes = step->bytes,
                               .why = step->why };
}

static void make_response(struct record *r, const struct har_exchange *x)
{
    r->kind = RECORD_HTTP_RESPONSE;
    r->has |= HAS_STATUS;
    r->http.status = x->status;
    r->http.media = x->media;
    r->http.by = x->response_by;
    r->http.mints_session = x->mints_session;
}

/* HTTP records have no date: in a recording they have `us` only. */
static void make_record(struct har *s, struct record *r, const struct har_step *step)
{
    const struct har_exchange *x = step->exchange;

    *r = (struct record){
        .has = step->has & HAS_US, .us = step->us, .wall_us = step->wall_us, .conn = step->conn
    };
    if (!s->read.is_stdio)
        set_exchange(s, r, step);
    switch (step->kind) {
    case HAR_STEP_HEADER:
        *r = *step->header;
        break;
    case HAR_STEP_REQUEST:
        r->kind = RECORD_HTTP_REQUEST;
        r->has |= step->has & HAS_CONN;
        r->http.method = x->method;
        r->http.path = x->path;
        r->http.body = x->body;
        break;
    case HAR_STEP_SENT:
    case HAR_STEP_RECEIVED:
        if (step->bytes.at)
            make_bytes(r, step);
        else
            make_message(s, r, step);
        break;
    case HAR_STEP_RESPONSE:
        make_response(r, x);
        break;
    case HAR_STEP_EVENT:
        r->kind = RECORD_SSE;
        r->has |= step->has & (HAS_N | HAS_RETRY);
        r->sse = step->sse;
        break;
    case HAR_STEP_END:
        r->kind = RECORD_HTTP_END;
        r->http.by = x->end_by;
        r->http.clean = x->clean;
        r->http.why = x->why;
        break;
    }
}

/* Sets the latency of a response from the times of the entries. */
static void set_latency(struct har *s, struct record *r)
{
    const struct pairing_request *q;
    struct mcp_message m;

    pairing_track(&s->pairs, r);
    if (s->read.is_restored || r->kind != RECORD_MESSAGE || !(r->has & HAS_US))
        return;
    m = mcp_classify(r->message.msg, &s->arena);
    if (m.kind == MCP_REQUEST)
        pairing_add_request(&s->pairs, r, &m, 0);
    q = mcp_is_response(&m) ? pairing_match_response(&s->pairs, r, &m) : NULL;
    if (!q)
        return;
    r->has |= HAS_LATENCY;
    r->message.latency_ms = (uint64_t)(r->us - q->sent_us) / 1000;
}

static bool is_of_http(enum har_step_kind kind)
{
    return kind != HAR_STEP_HEADER && kind != HAR_STEP_SENT && kind != HAR_STEP_RECEIVED;
}

/* The document stays in the window until the end. */
static enum next_result har_next(void *state, const struct window *w, struct consumed *t,
                                 struct record *r, struct err *e)
{
    struct har *s = state;

    if (!w->last) {
        t->want = SIZE_MAX;
        return NEXT_MORE;
    }
    if (!s->has_read)
        return read_document(s, w, r, e);
    while (s->next < s->read.step_count) {
        const struct har_step *step = &s->read.steps[s->next++];

        if (s->read.is_stdio && is_of_http(step->kind))
            continue;
        make_record(s, r, step);
        set_latency(s, r);
        return NEXT_RECORD;
    }
    t->bytes = w->bytes.len;
    return NEXT_END;
}

static void *har_begin(const struct format_options *o)
{
    (void)o;
    return har_write_new();
}

static void har_put(void *state, struct buf *to, const struct record *r)
{
    har_write_put(state, to, r);
}

static bool har_is_empty(void *state)
{
    return har_write_is_empty(state);
}

static void har_end(void *state, struct buf *to)
{
    har_write_end(state, to);
}

const struct format har_format = {
    .name = "har",
    .about = "HAR 1.2: the HTTP log of browsers and proxies",
    .ext = { ".har" },
    .keeps = FEATURE_BYTES | FEATURE_TIME | FEATURE_LATENCY | FEATURE_SERVER_MESSAGES |
             FEATURE_UNPAIRED | FEATURE_NAME | FEATURE_TAGS | FEATURE_COMMAND |
             FEATURE_REDACTED | FEATURE_DIRECTION | FEATURE_ORDER | FEATURE_MICROSECONDS |
             FEATURE_CONN | FEATURE_URL,
    .probe = har_probe,
    .open = har_open,
    .next = har_next,
    .close = har_close,
    .begin = har_begin,
    .put = har_put,
    .end = har_end,
    .messages_in_strings = true,
    .is_empty = har_is_empty,
};

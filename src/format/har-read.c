#include "format/har-read.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/limits.h"
#include "trace/parse-messages.h"
#include "wire/headers.h"
#include "wire/media-type.h"
#include "wire/sse-reader.h"
#include "wire/url.h"
#include "json/write.h"

enum { EVENT_JSON_MAX = 1 << 20, NUMBER_MAX = 40 };

#define TOOK_MAX_MS (366 * 86400e3)

/* The parts of an entry. */
struct har_entry {
    struct json_val value, request, response, content, extra;
    size_t number; /* from 1 */
    struct str method;
    struct str url;            /* without query and fragment */
    struct str target;         /* path and query; empty if the URL is invalid */
    struct str sent, received; /* bodies */
    bool is_stream, has_messages;
    int64_t start_ms, end_ms; /* valid if `has_time` */
    bool has_time;
    size_t first_step, last_step; /* of a kept entry: steps [first_step, last_step) */
};

struct har_reading {
    struct sink messages; /* receives those of a body */
    const struct window *w;
    struct arena *arena;
    struct har_document *out;
    struct message_parser parser;
    struct har_entry *entries;
    size_t count, cap;
    struct map endpoints; /* URLs of entries with messages, and addresses of legacy streams */
    struct har_exchange *exchange; /* of the current entry */
    struct str event;              /* JSON: of the messages being parsed */
    bool all_messages;             /* the text being parsed has nothing but messages so far */
    bool keeps_bytes;              /* what is no message becomes a step, too */
    uint64_t no_body;              /* responses of MCP whose body is not in the file */
    uint64_t in_files;             /* bodies that are in other files */
};

static bool report(const struct har_reading *h, const struct har_entry *n, struct json_val at,
                   const char *what, struct err *e)
{
    format_error(h->w, json_offset(at), e, "entry %zu: %s", n->number, what);
    return false;
}

static struct str text_of(const struct har_reading *h, struct json_val object, struct str name)
{
    return json_text(json_get(object, name), h->arena);
}

static struct str copied(const struct har_reading *h, struct str text)
{
    return text.at ? arena_str(h->arena, text) : text;
}

/* The value of a number, limited to what fits in a time; 0 if it is none. */
static double number_of(struct json_val v)
{
    static const double most = 1e14;
    char text[NUMBER_MAX];
    struct str raw = json_raw(v);
    double n;

    if (json_type(v) != JSON_NUMBER || raw.len >= sizeof text)
        return 0;
    memcpy(text, raw.at, raw.len);
    text[raw.len] = 0;
    n = strtod(text, NULL);
    return n < most ? n : most;
}

/* Steps. */

static struct har_step *add_step(struct har_reading *h, enum har_step_kind kind)
{
    struct har_document *d = h->out;
    struct har_step *s;

    d->steps = mem_reserve(d->steps, &d->step_cap, d->step_count + 1, sizeof *d->steps);
    s = &d->steps[d->step_count];
    *s = (struct har_step){ .kind = kind, .exchange = h->exchange, .place = d->step_count };
    d->step_count++;
    return s;
}

static bool put_message(struct sink *self, const struct record *r, struct err *e)
{
    struct har_reading *h = (struct har_reading *)self;
    struct har_step *s;

    (void)e;
    h->all_messages = h->all_messages && r->kind == RECORD_MESSAGE;
    if (r->kind == RECORD_RAW && h->keeps_bytes) {
        s = add_step(h, r->bytes.dir == TO_SERVER ? HAR_STEP_SENT : HAR_STEP_RECEIVED);
        s->bytes = copied(h, r->bytes.bytes);
        s->why = copied(h, r->bytes.why);
    }
    if (r->kind != RECORD_MESSAGE || !(h->all_messages || h->keeps_bytes))
        return true;
    s = add_step(h, r->message.dir == TO_SERVER ? HAR_STEP_SENT : HAR_STEP_RECEIVED);
    s->message = arena_str(h->arena, json_raw(r->message.msg));
    s->event = h->event;
    s->batch = copied(h, r->message.batch);
    return true;
}

static void parse_text(struct har_reading *h, enum record_dir dir, struct str text)
{
    struct err e = ERR_NONE;

    h->all_messages = true;
    if (!message_parser_text(&h->parser, dir, text, &h->messages, &e))
        BUG("the sink rejected a record");
}

/* Adds a step for each message of a body, and for what is none. */
static void add_body(struct har_reading *h, enum record_dir dir, struct str text)
{
    h->keeps_bytes = true;
    parse_text(h, dir, text);
    h->keeps_bytes = false;
}

/* Adds a step for each message of a text. Returns false, and adds none, if it has anything
 * else. */
static bool add_messages(struct har_reading *h, enum record_dir dir, struct str text)
{
    size_t before = h->out->step_count;

    parse_text(h, dir, text);
    if (!h->all_messages)
        h->out->step_count = before;
    return h->out->step_count > before;
}

static struct str event_json(const struct har_reading *h, uint64_t n,
                             const struct sse_item *item)
{
    struct buf text;
    struct json_out o;
    struct str made;

    buf_init(&text, EVENT_JSON_MAX);
    o = json_out_to(&text);
    json_out_object(&o);
    json_out_key_int(&o, STR("n"), (int64_t)n);
    if (item->id.at)
        json_out_key_str(&o, STR("id"), item->id);
    if (item->event.at)
        json_out_key_str(&o, STR("event"), item->event);
    if (item->retry >= 0)
        json_out_key_int(&o, STR("retry"), item->retry);
    json_out_end_object(&o);
    made = text.full ? STR_NONE : arena_str(h->arena, buf_str(&text));
    buf_release(&text);
    return made;
}

static struct str without_query(struct str address)
{
    return str_n(address.at, str_find(address, '?'));
}

/* The address in an `endpoint` event may have the session id in its query. */
static void add_event(struct har_reading *h, uint64_t n, const struct sse_item *item)
{
    bool is_endpoint = str_eq(item->event, STR("endpoint"));
    struct har_step *s;

    h->event = event_json(h, n, item);
    if (!is_endpoint && item->data.len && add_messages(h, TO_CLIENT, item->data))
        return;
    s = add_step(h, HAR_STEP_EVENT);
    s->has = HAS_N | (item->retry >= 0 ? (unsigned)HAS_RETRY : 0);
    s->sse.n = n;
    s->sse.retry = item->retry >= 0 ? (uint64_t)item->retry : 0;
    s->sse.id = copied(h, item->id);
    s->sse.event = copied(h, item->event);
    s->sse.data = copied(h, is_endpoint ? without_query(item->data) : item->data);
}

static void add_stream(struct har_reading *h, struct str text)
{
    struct sse_reader r;
    struct sse_item item;
    enum sse_next next;
    uint64_t n = 0;

    sse_reader_init(&r, LIMIT_MESSAGE);
    sse_reader_feed(&r, text);
    while ((next = sse_reader_next(&r, &item)) != SSE_MORE)
        if (next == SSE_EVENT)
            add_event(h, ++n, &item);
        else
            add_step(h, HAR_STEP_EVENT)->sse.comment = copied(h, item.comment);
    sse_reader_release(&r);
    h->event = STR_NONE;
}

static struct json_val listed_events(const struct har_entry *n)
{
    return json_get(n->value, STR("_eventSourceMessages"));
}

/* Chromium lists the events of an EventSource, and leaves the body out. */
static void add_listed_events(struct har_reading *h, const struct har_entry *n)
{
    struct json_iter it = json_each(listed_events(n));
    uint64_t count = 0;

    while (json_next(&it)) {
        struct sse_item item = SSE_ITEM_NONE;
        struct str id = text_of(h, it.value, STR("eventId"));
        struct str event = text_of(h, it.value, STR("eventName"));

        item.id = id.len ? id : STR_NONE;
        item.event = event.len ? event : STR_NONE;
        item.data = text_of(h, it.value, STR("data"));
        add_event(h, ++count, &item);
    }
    h->event = STR_NONE;
}

/* Entries. */

/* The address that a legacy stream (2024-11-05) names in its first event; empty: none. */
static struct str legacy_address(const struct har_reading *h, const struct har_entry *n)
{
    struct str address = STR_NONE;
    struct sse_reader r;
    struct sse_item item;

    if (!n->is_stream)
        return address;
    sse_reader_init(&r, LIMIT_MESSAGE);
    sse_reader_feed(&r, n->received);
    if (sse_reader_next(&r, &item) == SSE_EVENT && str_eq(item.event, STR("endpoint")))
        address = copied(h, item.data);
    sse_reader_release(&r);
    return address;
}

static struct str header_of(const struct har_reading *h, struct json_val message,
                            struct str name)
{
    struct json_iter it = json_each(json_get(message, STR("headers")));

    while (json_next(&it))
        if (headers_equal_nocase(text_of(h, it.value, STR("name")), name))
            return text_of(h, it.value, STR("value"));
    return STR_NONE;
}

/* JSON of other services may look like a message, but has no `jsonrpc`. */
static bool is_json_rpc(struct har_reading *h, struct str text)
{
    enum parse_kind kind = message_parser_peek(&h->parser, text);
    struct json_val v = json_root(&h->parser.json);

    if (kind == PARSE_BATCH)
        v = json_item(v, 0);
    return (kind == PARSE_MESSAGE || kind == PARSE_BATCH) &&
           json_exists(json_get(v, STR("jsonrpc")));
}

static bool has_messages(struct har_reading *h, const struct har_entry *n)
{
    static const struct str mark = STR_INIT("\"jsonrpc\"");
    struct json_iter it = json_each(listed_events(n));

    if (json_exists(n->extra) || is_json_rpc(h, n->sent))
        return true;
    while (json_next(&it))
        if (str_contains(text_of(h, it.value, STR("data")), mark))
            return true;
    if (n->is_stream)
        return legacy_address(h, n).len || str_contains(n->received, mark);
    return str_eq(n->method, STR("POST")) && is_json_rpc(h, n->received);
}

/* Splits the URL. An invalid one has no path, but may still be compared. */
static void read_url(const struct har_reading *h, struct har_entry *n)
{
    struct str url = text_of(h, n->request, STR("url"));
    struct err ignored = ERR_NONE;
    struct url u;

    url = str_n(url.at, str_find(url, '#'));
    n->url = without_query(url);
    if (!url_parse(&u, url, &ignored))
        return;
    n->target =
        u.path.len ? str_n(u.path.at, (size_t)(url.at + url.len - u.path.at)) : STR("/");
}

static bool read_body(struct har_reading *h, struct har_entry *n, struct err *e)
{
    struct json_val text = json_get(n->content, STR("text"));

    n->received = json_text(text, h->arena);
    if (!json_is(json_get(n->content, STR("encoding")), STR("base64")) ||
        base64_decode(n->received, h->arena, &n->received))
        return true;
    return report(h, n, text, "the response is not valid base64", e);
}

static bool is_in_file(struct json_val body)
{
    return json_exists(json_get(body, STR("_file"))) &&
           !json_exists(json_get(body, STR("text")));
}

static bool open_entry(struct har_reading *h, struct json_val v, struct har_entry *n,
                       struct err *e)
{
    struct json_val body;

    *n = (struct har_entry){ .value = v, .number = h->count + 1 };
    if (json_type(v) != JSON_OBJECT)
        return report(h, n, v, "not an object", e);
    n->request = json_get(v, STR("request"));
    n->response = json_get(v, STR("response"));
    n->content = json_get(n->response, STR("content"));
    n->extra = json_get(v, STR(HAR_EXTRA));
    n->method = text_of(h, n->request, STR("method"));
    body = json_get(n->request, STR("postData"));
    n->sent = text_of(h, body, STR("text"));
    n->is_stream = media_type_parse(text_of(h, n->content, STR("mimeType"))) == MEDIA_SSE;
    h->in_files += is_in_file(body) || is_in_file(n->content);
    read_url(h, n);
    if (!read_body(h, n, e))
        return false;
    n->has_messages = has_messages(h, n);
    return true;
}

static bool open_entries(struct har_reading *h, struct json_val entries, struct err *e)
{
    struct json_iter it = json_each(entries);

    while (json_next(&it)) {
        struct har_entry *n;
        struct str address;

        h->entries = mem_reserve(h->entries, &h->cap, h->count + 1, sizeof *h->entries);
        n = &h->entries[h->count];
        if (!open_entry(h, it.value, n, e))
            return false;
        h->count++;
        if (n->has_messages && n->url.len)
            map_put(&h->endpoints, n->url, h);
        address = legacy_address(h, n);
        if (address.len)
            map_put(&h->endpoints, address, h);
    }
    return true;
}

/* An event stream, or the end of a session, on a URL that has messages. */
static bool is_of_endpoint(const struct har_reading *h, const struct har_entry *n)
{
    if (!n->url.len || !map_get(&h->endpoints, n->url))
        return false;
    return str_eq(n->method, STR("DELETE")) || (str_eq(n->method, STR("GET")) && n->is_stream);
}

/* The time 1970-01-01 stands for an unknown one, and the duration -1. */
static bool read_time(const struct har_reading *h, struct har_entry *n, struct err *e)
{
    struct json_val v = json_get(n->value, STR("startedDateTime"));
    struct json_val time = json_get(n->value, STR("time"));
    double took = number_of(time);
    int64_t us;

    if (took > TOOK_MAX_MS || (took < 0 && !str_eq(json_raw(time), STR("-1"))))
        return report(h, n, time, "'time' must be milliseconds, from 0 to a year", e);

    if (json_type(v) != JSON_STRING || !clock_parse(json_text(v, h->arena), &us))
        return report(h, n, json_exists(v) ? v : n->value,
                      "'startedDateTime' must be a date and time like 2026-05-12T23:00:00.000Z",
                      e);
    n->has_time = us > 0;
    n->start_ms = us / 1000;
    n->end_ms = n->start_ms + (took > 0 ? (int64_t)took : 0);
    return true;
}

static void find_session(const struct har_reading *h, const struct har_entry *n,
                         struct har_exchange *x)
{
    int64_t number;

    if (json_exists(n->extra)) {
        if (json_int(json_get(n->extra, STR("session")), &number))
            x->session = arena_printf(h->arena, "%lld", (long long)number);
        x->mints_session = json_type(json_get(n->extra, STR("mints_session"))) == JSON_TRUE;
        return;
    }
    x->session = header_of(h, n->request, STR("mcp-session-id"));
    if (x->session.len)
        return;
    x->session = header_of(h, n->response, STR("mcp-session-id"));
    if (!x->session.len)
        x->session = legacy_address(h, n);
    x->mints_session = x->session.len > 0;
    /* A legacy session is identified by the address for its messages. */
    if (!x->session.len)
        x->session = n->target.len && map_get(&h->endpoints, n->target) ? n->target : STR_NONE;
}

static struct str media_of(const struct har_reading *h, const struct har_entry *n)
{
    if (n->is_stream)
        return STR("sse");
    if (!n->received.len)
        return STR("none");
    return media_type_parse(text_of(h, n->content, STR("mimeType"))) == MEDIA_JSON
               ? STR("json")
               : STR("other");
}

static struct str text_or(const struct har_reading *h, struct json_val v, struct str other)
{
    return json_type(v) == JSON_STRING ? json_text(v, h->arena) : other;
}

/* mcpreel writes some path into every URL, and the recorded one beside it. */
static struct str path_of(const struct har_reading *h, const struct har_entry *n)
{
    struct json_val request = json_get(n->extra, STR("request"));

    if (json_exists(n->extra))
        return text_or(h, json_get(request, STR("path")), STR_NONE);
    return n->target.len ? without_query(n->target) : STR_NONE;
}

static void begin_exchange(struct har_reading *h, const struct har_entry *n)
{
    struct har_exchange *x = arena_new(h->arena, struct har_exchange);
    struct json_val response = json_get(n->extra, STR("response"));
    struct json_val end = json_get(n->extra, STR("end"));
    int64_t status = 0;

    if (!json_int(json_get(n->response, STR("status")), &status) ||
        status < RECORD_STATUS_MIN || status > RECORD_STATUS_MAX)
        status = 0;
    *x = (struct har_exchange){ .method = n->method,
                                .path = path_of(h, n),
                                .is_stream = n->is_stream,
                                .status = (uint64_t)status,
                                .clean = status != 0 };
    find_session(h, n, x);
    x->media = text_or(h, json_get(response, STR("media")), media_of(h, n));
    x->response_by = text_or(h, json_get(response, STR("by")), STR("server"));
    x->end_by = text_or(h, json_get(end, STR("by")), status ? STR("server") : STR("error"));
    x->why = text_or(h, json_get(end, STR("why")), STR_NONE);
    if (json_exists(json_get(end, STR("clean"))))
        x->clean = json_type(json_get(end, STR("clean"))) == JSON_TRUE;
    h->exchange = x;
}

static struct str kind_of_body(struct har_reading *h, struct str text)
{
    switch (message_parser_peek(&h->parser, text)) {
    case PARSE_EMPTY:
        return STR("empty");
    case PARSE_MESSAGE:
        return STR("message");
    case PARSE_BATCH:
        return STR("batch");
    default:
        return STR("raw");
    }
}

/* Whether the step was recorded; always, if another program wrote the file. */
static bool has_step(const struct har_entry *n, struct str name)
{
    return !json_exists(n->extra) || json_exists(json_get(n->extra, name));
}

/* Whether the response must have had a body that is not in the file. */
static bool lacks_body(const struct har_entry *n, uint64_t status)
{
    return str_eq(n->method, STR("POST")) && status == 200 && !n->received.len &&
           !json_exists(n->extra) && !json_exists(listed_events(n));
}

/* Sets what mcpreel wrote about a header. */
static void restore_header(const struct har_reading *h, struct json_val extra, struct record *r)
{
    struct json_val tags = json_get(extra, STR("tags"));
    struct json_val command = json_get(extra, STR("command"));

    r->kind = RECORD_HEADER;
    if (clock_parse(text_of(h, extra, STR("recorded_at")), &r->wall_us))
        r->has |= HAS_WALL;
    if (json_int(json_get(extra, STR("us")), &r->us))
        r->has |= HAS_US;
    r->header.name = text_or(h, json_get(extra, STR("name")), STR_NONE);
    r->header.upstream = text_or(h, json_get(extra, STR("upstream")), STR_NONE);
    r->header.transport = text_or(h, json_get(extra, STR("transport")), STR_NONE);
    if (json_type(tags) == JSON_ARRAY)
        r->header.tags = json_raw(tags);
    if (json_type(command) == JSON_ARRAY)
        r->header.command = json_raw(command);
}

static void add_header(struct har_reading *h, struct json_val extra)
{
    struct record *r = arena_new(h->arena, struct record);

    restore_header(h, extra, r);
    add_step(h, HAR_STEP_HEADER)->header = r;
}

static void add_steps(struct har_reading *h, struct har_entry *n)
{
    struct json_val header = json_get(n->extra, STR("header"));

    n->first_step = h->out->step_count;
    if (json_exists(header))
        add_header(h, header);
    h->exchange->body = text_or(h, json_get(json_get(n->extra, STR("request")), STR("body")),
                                kind_of_body(h, n->sent));
    if (has_step(n, STR("request")))
        add_step(h, HAR_STEP_REQUEST);
    add_body(h, TO_SERVER, n->sent);
    if (h->exchange->status && has_step(n, STR("response")))
        add_step(h, HAR_STEP_RESPONSE);
    if (!n->received.len)
        add_listed_events(h, n);
    else if (n->is_stream)
        add_stream(h, n->received);
    else
        add_body(h, TO_CLIENT, n->received);
    if (has_step(n, STR("end")))
        add_step(h, HAR_STEP_END);
    n->last_step = h->out->step_count;
    h->no_body += lacks_body(n, h->exchange->status);
}

/* Order and times. */

/* Gives a step the values that mcpreel wrote for it; false: there are none. */
static bool restore_step(const struct har_reading *h, struct har_step *s, struct json_val v)
{
    struct json_val time = json_get(v, STR("time"));
    int64_t n;

    if (!json_int(json_get(v, STR("n")), &s->order))
        return false;
    if (json_int(json_get(v, STR("us")), &s->us))
        s->has |= HAS_US;
    if (json_type(time) == JSON_STRING && clock_parse(json_text(time, h->arena), &s->wall_us))
        s->has |= HAS_WALL;
    if (json_int(json_get(v, STR("conn")), &n) && n >= 0) {
        s->has |= HAS_CONN;
        s->conn = (uint64_t)n;
    }
    if (json_int(json_get(v, STR("latency_ms")), &n) && n >= 0) {
        s->has |= HAS_LATENCY;
        s->latency_ms = (uint64_t)n;
    }
    s->batch = json_raw(json_get(v, STR("batch")));
    s->redacted = json_raw(json_get(v, STR("redacted")));
    return true;
}

/* Returns false if the file was edited, so that the steps do not fit. */
static bool restore_steps(const struct har_reading *h, const struct har_entry *n)
{
    struct json_iter sent = json_each(json_get(n->extra, STR("sent")));
    struct json_iter received = json_each(json_get(n->extra, STR("received")));
    bool ok = json_exists(n->extra);

    for (size_t i = n->first_step; ok && i < n->last_step; i++) {
        struct har_step *s = &h->out->steps[i];
        struct json_val v = JSON_VAL_NONE;

        if (s->kind == HAR_STEP_HEADER)
            v = json_get(n->extra, STR("header"));
        else if (s->kind == HAR_STEP_REQUEST)
            v = json_get(n->extra, STR("request"));
        else if (s->kind == HAR_STEP_RESPONSE)
            v = json_get(n->extra, STR("response"));
        else if (s->kind == HAR_STEP_END)
            v = json_get(n->extra, STR("end"));
        else if (json_next(s->kind == HAR_STEP_SENT ? &sent : &received))
            v = s->kind == HAR_STEP_SENT ? sent.value : received.value;
        ok = restore_step(h, s, v);
    }
    return ok;
}

/* The request is at the start of the entry, the response at its end, or at the times of its
 * events (in seconds since 1970). Within an entry times never decrease. */
static void set_times(const struct har_reading *h, const struct har_entry *n, int64_t earliest)
{
    struct json_iter events = json_each(listed_events(n));
    int64_t now = n->start_ms;

    for (size_t i = n->first_step; i < n->last_step; i++) {
        struct har_step *s = &h->out->steps[i];
        int64_t at = s->kind <= HAR_STEP_SENT ? n->start_ms : n->end_ms;

        s->has &= HAS_N | HAS_RETRY;
        if (s->kind == HAR_STEP_RESPONSE && json_exists(listed_events(n)))
            at = n->start_ms;
        if ((s->kind == HAR_STEP_RECEIVED || s->has & HAS_N) && json_next(&events))
            at = (int64_t)(number_of(json_get(events.value, STR("time"))) * 1000);
        at = at < n->end_ms ? at : n->end_ms;
        now = at > now ? at : now;
        s->order = now;
        if (!n->has_time)
            continue;
        s->has |= HAS_WALL | HAS_US;
        s->wall_us = clock_ms_to_us((uint64_t)now);
        s->us = clock_ms_to_us((uint64_t)(now - earliest));
    }
}

static void set_all_times(const struct har_reading *h)
{
    int64_t earliest = INT64_MAX;

    for (size_t i = 0; i < h->count; i++)
        if (h->entries[i].last_step && h->entries[i].has_time &&
            h->entries[i].start_ms < earliest)
            earliest = h->entries[i].start_ms;
    for (size_t i = 0; i < h->count; i++)
        if (h->entries[i].last_step)
            set_times(h, &h->entries[i], earliest);
    if (earliest < INT64_MAX) {
        h->out->header.has |= HAS_WALL | HAS_US;
        h->out->header.wall_us = clock_ms_to_us((uint64_t)earliest);
    }
}

static int by_order(const void *a, const void *b)
{
    const struct har_step *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The document. */

static bool keep_entries(struct har_reading *h, struct err *e)
{
    for (size_t i = 0; i < h->count; i++) {
        struct har_entry *n = &h->entries[i];

        if (!n->has_messages && !is_of_endpoint(h, n)) {
            h->out->left_out++;
            continue;
        }
        if (!read_time(h, n, e))
            return false;
        begin_exchange(h, n);
        add_steps(h, n);
        h->out->is_restored = restore_steps(h, n) && h->out->is_restored;
    }
    return true;
}

/* The server of another program's file is the first one with messages. */
static void compose_header(const struct har_reading *h)
{
    struct record_header *to = &h->out->header.header;
    struct err ignored = ERR_NONE;
    struct url u;

    to->transport = STR("http");
    for (size_t i = 0; i < h->count && !to->upstream.at; i++)
        if (h->entries[i].has_messages && url_parse(&u, h->entries[i].url, &ignored) &&
            !u.authority.userinfo.at)
            to->upstream = h->entries[i].url;
}

static bool check_log(const struct har_reading *h, struct json_val log, struct err *e)
{
    struct json_val version = json_get(log, STR("version"));
    struct json_val entries = json_get(log, STR("entries"));

    if (json_type(version) == JSON_STRING &&
        !str_starts(json_text(version, h->arena), STR("1."))) {
        format_error(h->w, json_offset(version), e,
                     "a HAR of version %.*s; this program reads version 1",
                     STR_ARG(json_text(version, h->arena)));
        return false;
    }
    if (json_type(entries) == JSON_ARRAY)
        return true;
    format_error(h->w, json_offset(json_exists(entries) ? entries : log), e,
                 "'log' must have an array 'entries'");
    return false;
}

/* An empty file is a session without messages; the file of a recording has its header. */
static bool check_has_mcp(const struct har_reading *h, struct json_val log, struct err *e)
{
    size_t at = json_offset(json_get(log, STR("entries")));

    if (!h->count || h->out->left_out < h->count || json_exists(json_get(log, STR(HAR_EXTRA))))
        return true;
    format_error(h->w, at, e, "the HAR has no MCP traffic; entries: %zu", h->count);
    return err_hint(e, "an entry is read if the body of its request or response has JSON-RPC");
}

static void note_what_is_missing(const struct har_reading *h, struct json_val entries)
{
    size_t at = json_offset(entries);

    if (h->out->left_out)
        format_note(h->w, at, "entries that are not MCP, dropped: %llu of %zu",
                    (unsigned long long)h->out->left_out, h->count);
    if (h->in_files)
        format_note(h->w, at,
                    "entries whose body is in another file, which is not read: %llu; export "
                    "the HAR with the bodies in it (Playwright: content 'embed')",
                    (unsigned long long)h->in_files);
    else if (h->no_body)
        format_note(h->w, at,
                    "responses without a body, because the browser did not keep it: %llu",
                    (unsigned long long)h->no_body);
}

static bool read_log(struct har_reading *h, struct json_val log, struct err *e)
{
    struct json_val entries = json_get(log, STR("entries"));
    struct json_val extra = json_get(log, STR(HAR_EXTRA));

    if (!check_log(h, log, e) || !open_entries(h, entries, e) || !keep_entries(h, e) ||
        !check_has_mcp(h, log, e))
        return false;
    if (json_type(extra) == JSON_OBJECT) {
        restore_header(h, extra, &h->out->header);
        h->out->is_stdio = !str_eq(h->out->header.header.transport, STR("http"));
    } else
        compose_header(h);
    if (!h->out->is_restored)
        set_all_times(h);
    if (h->out->step_count)
        qsort(h->out->steps, h->out->step_count, sizeof *h->out->steps, by_order);
    note_what_is_missing(h, entries);
    return true;
}

bool har_read(const struct window *w, struct json_val root, struct arena *a,
              struct har_document *out, struct err *e)
{
    struct har_reading h = { .messages = { put_message }, .w = w, .arena = a, .out = out };
    bool ok;

    *out = (struct har_document){ .header = { .kind = RECORD_HEADER }, .is_restored = true };
    message_parser_init(&h.parser);
    map_init(&h.endpoints);
    ok = read_log(&h, json_get(root, STR("log")), e);
    message_parser_release(&h.parser);
    map_release(&h.endpoints);
    free(h.entries);
    return ok;
}

void har_read_release(struct har_document *d)
{
    free(d->steps);
    d->steps = NULL;
}

#include "format/har-write.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "format/har-read.h"
#include "mcp/message.h"
#include "trace/limits.h"
#include "trace/pairing.h"
#include "trace/parse-messages.h"
#include "trace/timestamp.h"
#include "wire/sse-writer.h"
#include "wire/url.h"
#include "json/write.h"

/* For recordings that do not say where the server is. */
#define UNKNOWN_SERVER "http://server.invalid"
#define USUAL_PATH "/mcp"

/* In the number of an exchange that was composed. */
#define COMPOSED (1ull << 63)

enum { STEP_SIZE = 256 }; /* estimate of the text about one record */

struct har_draft {
    uint64_t number;
    struct har_draft *older, *newer; /* in the list of open exchanges */
    size_t held;                     /* counted in `held` of the writer */
    struct buf method, path;
    struct buf sent, received; /* bodies */
    size_t sent_count, received_count;
    bool sent_is_batch, received_is_batch, is_stream;
    bool sent_is_bytes, received_is_bytes;        /* the body is no message */
    struct buf request_headers, response_headers; /* JSON objects */
    struct buf header, request, response, end;    /* JSON of "_mcpreel" */
    struct buf sent_steps, received_steps;        /* the same, of each message */
    uint64_t status, session;
    bool has_session, mints_session;
    bool has_time, has_response_time;
    int64_t start_us, response_us, end_us; /* since 1970 */
};

struct har_write {
    struct buf base, path; /* of the server's URL */
    struct buf header;     /* JSON: a further header, for the next exchange */
    struct arena arena;    /* for one record */
    struct pairing pairs;  /* of composed exchanges; the tag is the number */
    struct map open;
    struct har_draft *oldest, *newest;
    struct timestamp now;
    uint64_t records, composed;
    size_t held;
    bool has_head, has_entry, failed;
};

struct har_write *har_write_new(void)
{
    struct har_write *w = mem_new(struct har_write);

    buf_init(&w->base, LIMIT_LINE);
    buf_init(&w->path, LIMIT_LINE);
    buf_init(&w->header, LIMIT_LINE);
    pairing_init(&w->pairs);
    map_init(&w->open);
    return w;
}

/* Drafts. */

static struct buf *draft_bufs(struct har_draft *d, size_t i)
{
    struct buf *all[] = {
        &d->method,           &d->path,    &d->sent,     &d->received, &d->request_headers,
        &d->response_headers, &d->request, &d->response, &d->end,      &d->sent_steps,
        &d->received_steps,   &d->header
    };

    return i < sizeof all / sizeof all[0] ? all[i] : NULL;
}

static struct har_draft *open_draft(struct har_write *w, uint64_t number)
{
    struct har_draft *d = map_get(&w->open, map_number_key(&number));

    if (d)
        return d;
    d = mem_new(struct har_draft);
    d->number = number;
    for (size_t i = 0; draft_bufs(d, i); i++)
        buf_init(draft_bufs(d, i), LIMIT_LINE);
    buf_add(&d->header, buf_str(&w->header));
    buf_clear(&w->header);
    map_put(&w->open, map_number_key(&number), d);
    d->older = w->newest;
    if (w->newest)
        w->newest->newer = d;
    else
        w->oldest = d;
    w->newest = d;
    return d;
}

static void free_draft(struct har_write *w, struct har_draft *d)
{
    if (d->older)
        d->older->newer = d->newer;
    else
        w->oldest = d->newer;
    if (d->newer)
        d->newer->older = d->older;
    else
        w->newest = d->older;
    map_remove(&w->open, map_number_key(&d->number));
    w->held -= d->held;
    for (size_t i = 0; draft_bufs(d, i); i++)
        buf_release(draft_bufs(d, i));
    free(d);
}

static void hold(struct har_write *w, struct har_draft *d, size_t bytes)
{
    d->held += bytes + STEP_SIZE;
    w->held += bytes + STEP_SIZE;
    w->failed = w->failed || w->held > LIMIT_LINE;
}

static void note_time(const struct har_write *w, struct har_draft *d)
{
    if (!w->now.now_known)
        return;
    if (!d->has_time)
        d->start_us = w->now.now_us;
    d->end_us = w->now.now_us;
    d->has_time = true;
}

/* Entries. */

static void add_headers(struct json_out *o, struct buf *headers)
{
    json_out_key_raw(o, STR("cookies"), STR("[]"));
    json_out_key(o, STR("headers"));
    json_out_array(o);
    if (headers->len)
        json_out_raw(o, buf_str(headers));
    json_out_end_array(o);
}

/* Appends the body as a JSON string: messages of a batch in an array. */
static void add_body(struct json_out *o, const struct buf *body, bool is_array, struct buf *tmp)
{
    if (!is_array) {
        json_out_str(o, buf_str(body));
        return;
    }
    buf_clear(tmp);
    buf_add_ch(tmp, '[');
    buf_add(tmp, buf_str(body));
    buf_add_ch(tmp, ']');
    json_out_str(o, buf_str(tmp));
}

static void add_request(struct har_write *w, struct json_out *o, struct har_draft *d,
                        struct buf *tmp)
{
    json_out_key(o, STR("request"));
    json_out_object(o);
    json_out_key_str(o, STR("method"), d->method.len ? buf_str(&d->method) : STR("POST"));
    buf_clear(tmp);
    buf_add(tmp, w->base.len ? buf_str(&w->base) : STR(UNKNOWN_SERVER));
    if (d->path.len)
        buf_add(tmp, buf_str(&d->path));
    else
        buf_add(tmp, w->path.len ? buf_str(&w->path) : STR(USUAL_PATH));
    json_out_key_str(o, STR("url"), buf_str(tmp));
    json_out_key_str(o, STR("httpVersion"), STR("HTTP/1.1"));
    add_headers(o, &d->request_headers);
    json_out_key_raw(o, STR("queryString"), STR("[]"));
    if (d->sent.len) {
        json_out_key(o, STR("postData"));
        json_out_object(o);
        json_out_key_str(o, STR("mimeType"),
                         d->sent_is_bytes ? STR("x-unknown") : STR("application/json"));
        json_out_key(o, STR("text"));
        add_body(o, &d->sent, d->sent_is_batch || d->sent_count > 1, tmp);
        json_out_end_object(o);
    }
    json_out_key_int(o, STR("headersSize"), -1);
    json_out_key_int(o, STR("bodySize"), -1);
    json_out_end_object(o);
}

static void add_response(struct json_out *o, struct har_draft *d, struct buf *tmp)
{
    bool is_array = !d->is_stream && (d->received_is_batch || d->received_count > 1);
    struct str type = d->received_count ? STR("application/json") : STR("x-unknown");

    json_out_key(o, STR("response"));
    json_out_object(o);
    json_out_key_int(o, STR("status"), (int64_t)d->status);
    json_out_key_str(o, STR("statusText"), STR(""));
    json_out_key_str(o, STR("httpVersion"), STR("HTTP/1.1"));
    add_headers(o, &d->response_headers);
    json_out_key(o, STR("content"));
    json_out_object(o);
    json_out_key_int(o, STR("size"), (int64_t)d->received.len + 2 * is_array);
    json_out_key_str(o, STR("mimeType"), d->is_stream ? STR("text/event-stream") : type);
    if (d->received.len) {
        json_out_key(o, STR("text"));
        add_body(o, &d->received, is_array, tmp);
    }
    json_out_end_object(o);
    json_out_key_str(o, STR("redirectURL"), STR(""));
    json_out_key_int(o, STR("headersSize"), -1);
    json_out_key_int(o, STR("bodySize"), -1);
    json_out_end_object(o);
}

static int64_t span_us(int64_t from, int64_t to)
{
    int64_t us = clock_since(to, from);

    return us > 0 ? us : 0;
}

/* Milliseconds, with a fraction if there is one. */
static void add_ms(struct json_out *o, struct str key, int64_t us, struct buf *tmp)
{
    buf_clear(tmp);
    buf_add_int(tmp, us / 1000);
    if (us % 1000)
        buf_printf(tmp, ".%03d", (int)(us % 1000));
    json_out_key_raw(o, key, buf_str(tmp));
}

static void add_timings(struct json_out *o, const struct har_draft *d, struct buf *tmp)
{
    int64_t total = d->has_time ? span_us(d->start_us, d->end_us) : 0;
    int64_t wait = d->has_response_time ? span_us(d->start_us, d->response_us) : total;

    wait = wait < total ? wait : total;
    json_out_key_raw(o, STR("cache"), STR("{}"));
    json_out_key(o, STR("timings"));
    json_out_object(o);
    json_out_key_int(o, STR("send"), 0);
    add_ms(o, STR("wait"), wait, tmp);
    add_ms(o, STR("receive"), total - wait, tmp);
    json_out_end_object(o);
}

static void add_step_list(struct json_out *o, struct str key, const struct buf *steps)
{
    if (!steps->len)
        return;
    json_out_key(o, key);
    json_out_array(o);
    json_out_raw(o, buf_str(steps));
    json_out_end_array(o);
}

static void add_extra(struct json_out *o, const struct har_draft *d)
{
    json_out_key(o, STR(HAR_EXTRA));
    json_out_object(o);
    if (d->header.len)
        json_out_key_raw(o, STR("header"), buf_str(&d->header));
    if (d->has_session)
        json_out_key_int(o, STR("session"), (int64_t)d->session);
    if (d->mints_session)
        json_out_key_bool(o, STR("mints_session"), true);
    if (d->request.len)
        json_out_key_raw(o, STR("request"), buf_str(&d->request));
    add_step_list(o, STR("sent"), &d->sent_steps);
    if (d->response.len)
        json_out_key_raw(o, STR("response"), buf_str(&d->response));
    add_step_list(o, STR("received"), &d->received_steps);
    if (d->end.len)
        json_out_key_raw(o, STR("end"), buf_str(&d->end));
    json_out_end_object(o);
}

static void add_start(struct json_out *o, const struct har_draft *d, struct buf *tmp)
{
    char date[CLOCK_TEXT_SIZE];

    json_out_key_str(o, STR("startedDateTime"),
                     clock_format(date, d->has_time ? d->start_us : 0));
    add_ms(o, STR("time"), d->has_time ? span_us(d->start_us, d->end_us) : 0, tmp);
}

static bool is_full(struct har_draft *d)
{
    for (size_t i = 0; draft_bufs(d, i); i++)
        if (draft_bufs(d, i)->full)
            return true;
    return false;
}

static void write_entry(struct har_write *w, struct buf *to, struct har_draft *d)
{
    struct json_out o = json_out_to(to);
    struct buf tmp;

    buf_init(&tmp, LIMIT_LINE);
    buf_add(to, w->has_entry ? STR(",\n") : STR("\n"));
    w->has_entry = true;
    json_out_object(&o);
    add_start(&o, d, &tmp);
    add_request(w, &o, d, &tmp);
    add_response(&o, d, &tmp);
    add_timings(&o, d, &tmp);
    add_extra(&o, d);
    json_out_end_object(&o);
    to->full = to->full || tmp.full || is_full(d);
    buf_release(&tmp);
    free_draft(w, d);
}

/* Records. */

/* Begins the text about one record; the caller ends the object. */
static struct json_out begin_step(const struct har_write *w, struct buf *to,
                                  const struct record *r)
{
    char date[CLOCK_TEXT_SIZE];
    struct json_out o = json_out_to(to);

    if (to->len)
        buf_add_ch(to, ',');
    json_out_object(&o);
    json_out_key_int(&o, STR("n"), (int64_t)w->records);
    if (r->has & HAS_US)
        json_out_key_int(&o, STR("us"), r->us);
    if (r->has & HAS_WALL)
        json_out_key_str(&o, STR("time"), clock_format(date, r->wall_us));
    if (r->has & HAS_CONN)
        json_out_key_int(&o, STR("conn"), (int64_t)r->conn);
    return o;
}

static void add_text(struct json_out *o, struct str key, struct str text)
{
    if (text.at)
        json_out_key_str(o, key, text);
}

static void add_json(struct json_out *o, struct str key, struct str json)
{
    if (json.at)
        json_out_key_raw(o, key, json);
}

static void add_message_step(const struct har_write *w, struct buf *to, const struct record *r)
{
    struct json_out o = begin_step(w, to, r);

    if (r->has & HAS_LATENCY)
        json_out_key_int(&o, STR("latency_ms"), (int64_t)r->message.latency_ms);
    add_json(&o, STR("batch"), r->message.batch);
    add_json(&o, STR("redacted"), r->message.redacted);
    json_out_end_object(&o);
}

/* Adds an item of a stream, without event and id if one of them is invalid. */
static void add_item(struct buf *to, struct sse_item item)
{
    struct err e = ERR_NONE;

    if (sse_writer_add(to, &item, &e))
        return;
    item.event = item.id = STR_NONE;
    e = (struct err)ERR_NONE;
    if (!sse_writer_add(to, &item, &e))
        BUG("an event without name and id was rejected");
}

static struct sse_item item_of_message(struct har_write *w, const struct record *r)
{
    struct sse_item item = SSE_ITEM_NONE;
    struct json_fault fault;
    struct json j;
    int64_t retry;

    item.data = json_raw(r->message.msg);
    json_init(&j);
    if (r->message.event.at && json_scan(&j, r->message.event, &fault)) {
        struct json_val id = json_get(json_root(&j), STR("id"));
        struct json_val event = json_get(json_root(&j), STR("event"));

        if (json_type(id) == JSON_STRING)
            item.id = arena_str(&w->arena, json_text(id, &w->arena));
        if (json_type(event) == JSON_STRING)
            item.event = arena_str(&w->arena, json_text(event, &w->arena));
        if (json_int(json_get(json_root(&j), STR("retry")), &retry) && retry >= 0)
            item.retry = retry;
    }
    json_release(&j);
    return item;
}

static void drop_bytes(bool *is_bytes, struct buf *body, struct buf *steps)
{
    if (*is_bytes) {
        buf_clear(body);
        buf_clear(steps);
    }
    *is_bytes = false;
}

static void add_sent(struct har_write *w, struct har_draft *d, const struct record *r)
{
    drop_bytes(&d->sent_is_bytes, &d->sent, &d->sent_steps);
    if (d->sent_count++)
        buf_add_ch(&d->sent, ',');
    d->sent_is_batch |= r->message.batch.at != NULL;
    buf_add(&d->sent, json_raw(r->message.msg));
    add_message_step(w, &d->sent_steps, r);
}

static void add_received(struct har_write *w, struct har_draft *d, const struct record *r)
{
    drop_bytes(&d->received_is_bytes, &d->received, &d->received_steps);
    if (d->is_stream)
        add_item(&d->received, item_of_message(w, r));
    else {
        if (d->received_count)
            buf_add_ch(&d->received, ',');
        buf_add(&d->received, json_raw(r->message.msg));
    }
    d->received_count++;
    d->received_is_batch |= r->message.batch.at != NULL;
    if (!d->status)
        d->status = 200;
    add_message_step(w, &d->received_steps, r);
}

static void add_to_draft(struct har_write *w, struct har_draft *d, const struct record *r)
{
    hold(w, d, json_raw(r->message.msg).len);
    note_time(w, d);
    if (r->has & HAS_SESSION && !d->has_session) {
        d->has_session = true;
        d->session = r->session;
    }
    if (r->message.dir == TO_SERVER)
        add_sent(w, d, r);
    else
        add_received(w, d, r);
}

static struct har_draft *compose_draft(struct har_write *w)
{
    return open_draft(w, COMPOSED | ++w->composed);
}

/* A message of a server that is no response to the client: a stream with one event. */
static struct har_draft *compose_stream(struct har_write *w)
{
    struct har_draft *d = compose_draft(w);

    buf_add(&d->method, STR("GET"));
    d->is_stream = true;
    return d;
}

/* A message that was recorded without HTTP. */
static void put_bare_message(struct har_write *w, struct buf *to, const struct record *r,
                             const struct mcp_message *m)
{
    const struct pairing_request *q = NULL;
    struct har_draft *d;
    uint64_t number;

    if (r->message.dir == TO_SERVER) {
        d = compose_draft(w);
        if (m->kind == MCP_REQUEST)
            pairing_add_request(&w->pairs, r, m, d->number);
        else
            d->status = 202;
        if (mcp_is_response(m))
            pairing_match_response(&w->pairs, r, m);
        add_to_draft(w, d, r);
        if (m->kind != MCP_REQUEST)
            write_entry(w, to, d);
        return;
    }
    if (mcp_is_response(m))
        q = pairing_match_response(&w->pairs, r, m);
    number = q ? q->tag : 0;
    d = q ? map_get(&w->open, map_number_key(&number)) : NULL;
    if (!d)
        d = compose_stream(w);
    add_to_draft(w, d, r);
    write_entry(w, to, d);
}

/* Messages of other formats may be no JSON-RPC. */
static void put_message(struct har_write *w, struct buf *to, const struct record *r)
{
    struct mcp_message m = mcp_classify(r->message.msg, &w->arena);

    if (m.kind == MCP_OTHER || m.kind == MCP_BATCH)
        return;
    if (r->has & HAS_EXCHANGE)
        add_to_draft(w, open_draft(w, r->exchange), r);
    else
        put_bare_message(w, to, r, &m);
}

/* Copies the headers whose values were recorded. */
static void copy_headers(struct buf *to, struct str headers)
{
    struct json_out o = json_out_to(to);
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    it =
        json_each(headers.at && json_scan(&j, headers, &fault) ? json_root(&j) : JSON_VAL_NONE);
    while (json_next(&it)) {
        if (json_type(json_item(it.value, 1)) != JSON_STRING)
            continue;
        json_out_object(&o);
        json_out_key_raw(&o, STR("name"), json_raw(json_item(it.value, 0)));
        json_out_key_raw(&o, STR("value"), json_raw(json_item(it.value, 1)));
        json_out_end_object(&o);
    }
    json_release(&j);
}

static void put_request(struct har_write *w, const struct record *r)
{
    struct har_draft *d = open_draft(w, r->exchange);
    struct json_out o;

    hold(w, d, r->http.headers.len);
    note_time(w, d);
    buf_clear(&d->method);
    buf_add(&d->method, r->http.method);
    buf_clear(&d->path);
    buf_add(&d->path, r->http.path);
    d->has_session = r->has & HAS_SESSION;
    d->session = r->session;
    copy_headers(&d->request_headers, r->http.headers);
    buf_clear(&d->request);
    o = begin_step(w, &d->request, r);
    add_text(&o, STR("path"), r->http.path);
    add_text(&o, STR("body"), r->http.body);
    json_out_end_object(&o);
}

static void put_response(struct har_write *w, const struct record *r)
{
    struct har_draft *d = open_draft(w, r->exchange);
    struct json_out o;

    hold(w, d, r->http.headers.len);
    note_time(w, d);
    d->has_response_time = d->has_time;
    d->response_us = d->end_us;
    d->status = r->has & HAS_STATUS ? r->http.status : 0;
    d->is_stream =
        !d->received_count && (r->has & HAS_STREAM || str_eq(r->http.media, STR("sse")));
    d->mints_session = r->http.mints_session;
    if (r->has & HAS_SESSION) {
        d->has_session = true;
        d->session = r->session;
    }
    copy_headers(&d->response_headers, r->http.headers);
    buf_clear(&d->response);
    o = begin_step(w, &d->response, r);
    add_text(&o, STR("by"), r->http.by);
    add_text(&o, STR("media"), r->http.media);
    json_out_end_object(&o);
}

static void put_event(struct har_write *w, const struct record *r)
{
    struct har_draft *d = open_draft(w, r->exchange);
    struct sse_item item = { .event = r->sse.event,
                             .data = r->sse.data,
                             .id = r->sse.id,
                             .comment = r->sse.comment,
                             .retry = r->has & HAS_RETRY ? (int64_t)r->sse.retry : -1 };
    struct json_out o;

    if (!d->is_stream)
        return;
    hold(w, d, r->sse.data.len + r->sse.comment.len);
    note_time(w, d);
    add_item(&d->received, item);
    o = begin_step(w, &d->received_steps, r);
    json_out_end_object(&o);
}

/* A body that is no message. Only a whole one is kept, and no other than as text. */
static void put_bytes(struct har_write *w, const struct record *r)
{
    struct har_draft *d = open_draft(w, r->exchange);
    bool is_sent = r->bytes.dir == TO_SERVER;
    struct buf *body = is_sent ? &d->sent : &d->received;
    struct buf *steps = is_sent ? &d->sent_steps : &d->received_steps;
    struct json_out o;

    if (body->len || (d->is_stream && !is_sent) || !utf8_valid(r->bytes.bytes))
        return;
    hold(w, d, r->bytes.bytes.len);
    note_time(w, d);
    *(is_sent ? &d->sent_is_bytes : &d->received_is_bytes) = true;
    buf_add(body, r->bytes.bytes);
    o = begin_step(w, steps, r);
    json_out_end_object(&o);
}

static bool is_whole_body(const struct record *r)
{
    return r->kind == RECORD_RAW && !(r->has & HAS_COUNT) &&
           (str_eq(r->bytes.why, STR(PARSE_NOT_JSON)) ||
            str_eq(r->bytes.why, STR(PARSE_NOT_JSON_RPC)));
}

static void put_end(struct har_write *w, struct buf *to, const struct record *r)
{
    struct har_draft *d = open_draft(w, r->exchange);
    struct json_out o;

    note_time(w, d);
    buf_clear(&d->end);
    o = begin_step(w, &d->end, r);
    add_text(&o, STR("by"), r->http.by);
    json_out_key_bool(&o, STR("clean"), r->http.clean);
    add_text(&o, STR("why"), r->http.why);
    json_out_end_object(&o);
    write_entry(w, to, d);
}

static void add_header_members(struct json_out *o, const struct record *header)
{
    const struct record_header *h = &header->header;
    char date[CLOCK_TEXT_SIZE];

    if (header->has & HAS_WALL)
        json_out_key_str(o, STR("recorded_at"), clock_format(date, header->wall_us));
    add_text(o, STR("transport"), h->transport);
    add_text(o, STR("upstream"), h->upstream);
    add_text(o, STR("name"), h->name);
    add_json(o, STR("tags"), h->tags);
    add_json(o, STR("command"), h->command);
}

/* Writes the start of the document. */
static void write_head(struct har_write *w, struct buf *to, const struct record *header)
{
    struct json_out o = json_out_to(to);

    w->has_head = true;
    buf_add(to,
            STR("{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":\"mcpreel\",\"version\":"
                "\"" MCPREEL_VERSION "\"},\"" HAR_EXTRA "\":"));
    json_out_object(&o);
    if (header && header->has & HAS_US)
        json_out_key_int(&o, STR("us"), header->us);
    if (header)
        add_header_members(&o, header);
    json_out_end_object(&o);
    buf_add(to, STR(",\"entries\":["));
}

/* A further header is written with the next exchange. */
static void put_further_header(struct har_write *w, const struct record *r)
{
    struct json_out o;

    buf_clear(&w->header);
    o = begin_step(w, &w->header, r);
    add_header_members(&o, r);
    json_out_end_object(&o);
}

/* The URLs of entries have the server of the first header. */
static void note_server(struct har_write *w, const struct record *r)
{
    struct str upstream = r->header.upstream;
    struct err ignored = ERR_NONE;
    struct url u;

    if (!url_parse(&u, upstream, &ignored) || u.authority.userinfo.at)
        return;
    buf_add(&w->path, u.path);
    buf_add(&w->base, str_n(upstream.at, u.path.len ? (size_t)(u.path.at - upstream.at)
                                                    : str_find(upstream, '?')));
}

static void put_other(struct har_write *w, struct buf *to, const struct record *r)
{
    if (!(r->has & HAS_EXCHANGE))
        return;
    if (r->kind == RECORD_HTTP_REQUEST)
        put_request(w, r);
    else if (r->kind == RECORD_HTTP_RESPONSE)
        put_response(w, r);
    else if (r->kind == RECORD_SSE && !(r->has & HAS_COUNT))
        put_event(w, r);
    else if (is_whole_body(r))
        put_bytes(w, r);
    else if (r->kind == RECORD_HTTP_END)
        put_end(w, to, r);
}

void har_write_put(struct har_write *w, struct buf *to, const struct record *r)
{
    bool is_header = r->kind == RECORD_HEADER;

    arena_clear(&w->arena);
    timestamp_update(&w->now, r);
    w->records++;
    if (is_header && w->has_head)
        put_further_header(w, r);
    else if (is_header)
        note_server(w, r);
    if (!w->has_head)
        write_head(w, to, is_header ? r : NULL);
    if (r->kind == RECORD_MESSAGE)
        put_message(w, to, r);
    else if (!is_header)
        put_other(w, to, r);
    to->full = to->full || w->failed;
}

bool har_write_is_empty(const struct har_write *w)
{
    return !w->has_entry && !w->oldest;
}

void har_write_end(struct har_write *w, struct buf *to)
{
    if (!w->has_head)
        write_head(w, to, NULL);
    while (w->oldest)
        write_entry(w, to, w->oldest);
    buf_add(to, w->has_entry ? STR("\n]}}\n") : STR("]}}\n"));
    to->full = to->full || w->failed;
    buf_release(&w->base);
    buf_release(&w->path);
    buf_release(&w->header);
    arena_release(&w->arena);
    pairing_release(&w->pairs);
    map_release(&w->open);
    free(w);
}

#include "terse.h"

#include <stdlib.h>

#include "format/recording-line.h"
#include "test.h"

struct str terse_json(struct arena *a, const char *text)
{
    char *json = arena_z(a, str_z(text));

    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c == '`' ? '\\' : *c;
    return str_z(json);
}

void terse_check_probe(enum probe_rank (*probe)(struct str head),
                       const struct terse_head *heads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena a = { 0 };

        if ((probe(terse_json(&a, heads[i].text)) != PROBE_NONE) != heads[i].is_own)
            fail_msg("%s", heads[i].text);
        arena_release(&a);
    }
}

struct json_val terse_scan(struct terse_scanned *s, const char *text)
{
    struct json_fault fault;
    struct str json;

    *s = (struct terse_scanned){ .arena = { NULL, 0 } };
    json_init(&s->json);
    json = terse_json(&s->arena, text);
    if (!json_scan(&s->json, json, &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(json));
    return json_root(&s->json);
}

void terse_scanned_release(struct terse_scanned *s)
{
    json_release(&s->json);
    arena_release(&s->arena);
}

/* "NAME123 " off the front of `line`. */
static bool parse_number(struct str *line, struct str name, unsigned long long *number)
{
    struct str word;
    char digits[32];

    if (!str_starts(*line, name))
        return false;
    word = str_skip(str_cut(line, ' '), name.len);
    assert_true(word.len < sizeof digits);
    memcpy(digits, word.at, word.len);
    digits[word.len] = '\0';
    *number = strtoull(digits, NULL, 10);
    return true;
}

/* A number that is present if its bit is set. */
static void parse_mark(struct str *line, struct str name, struct record *r, uint64_t *to,
                       unsigned has)
{
    unsigned long long number;

    if (!parse_number(line, name, &number))
        return;
    *to = number;
    r->has |= has;
}

static void parse_exchange(struct str *line, struct record *r)
{
    uint64_t us = 0;

    parse_mark(line, STR("@"), r, &us, HAS_US);
    r->us = (int64_t)us;
    parse_mark(line, STR("conn="), r, &r->conn, HAS_CONN);
    parse_mark(line, STR("session="), r, &r->session, HAS_SESSION);
    parse_mark(line, STR("x="), r, &r->exchange, HAS_EXCHANGE);
    parse_mark(line, STR("stream="), r, &r->stream, HAS_STREAM);
}

static enum record_dir parse_dir(struct str *line)
{
    struct str word = str_cut(line, ' ');

    if (!str_eq(word, STR("c2s")) && !str_eq(word, STR("s2c")))
        fail_msg("neither c2s nor s2c: %.*s", STR_ARG(word));
    return str_eq(word, STR("c2s")) ? TO_SERVER : TO_CLIENT;
}

/* "batch=1:0/2 " as the recording has it. */
static struct str parse_batch(struct str *line, struct arena *a)
{
    struct str rest, id, index;

    if (!str_starts(*line, STR("batch=")))
        return STR_NONE;
    rest = str_skip(str_cut(line, ' '), 6);
    id = str_cut(&rest, ':');
    index = str_cut(&rest, '/');
    return arena_printf(a, "{\"id\":%.*s,\"index\":%.*s,\"count\":%.*s}", STR_ARG(id),
                        STR_ARG(index), STR_ARG(rest));
}

static void feed_message(struct sink *to, struct record *r, struct str line, uint64_t seq)
{
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;

    r->kind = RECORD_MESSAGE;
    r->has |= HAS_SEQ;
    r->message.seq = seq;
    parse_mark(&line, STR("redelivers="), r, &r->message.redelivers, HAS_REDELIVERS);
    parse_mark(&line, STR("latency="), r, &r->message.latency_ms, HAS_LATENCY);
    r->message.batch = parse_batch(&line, &a);
    r->message.dir = parse_dir(&line);
    json_init(&j);
    if (!json_scan(&j, line, &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(line));
    r->message.msg = json_root(&j);
    assert_true(to->put(to, r, &e));
    json_release(&j);
    arena_release(&a);
}

static void feed_raw(struct sink *to, struct record *r, struct str line)
{
    struct err e = ERR_NONE;

    r->kind = RECORD_RAW;
    r->has |= HAS_FROM;
    r->bytes.dir = parse_dir(&line);
    r->bytes.bytes = line;
    assert_true(to->put(to, r, &e));
}

static void feed_http(struct sink *to, struct record *r, struct str line)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    unsigned long long status = 0;

    if (str_starts(line, STR("end "))) {
        r->kind = RECORD_HTTP_END;
        line = str_skip(line, 4);
        r->http.by = str_cut(&line, ' ');
        r->http.clean = !str_starts(line, STR("cut"));
        r->http.why = r->http.clean ? line : str_skip(line, 4);
    } else {
        r->kind = RECORD_HTTP_RESPONSE;
        r->has |= HAS_STATUS;
        parse_number(&line, STR_NONE, &status);
        r->http.status = status;
        if (str_starts(line, STR("resumes ")))
            r->http.resumes = arena_printf(&a, "{\"stream\":%.*s,\"after\":\"e\"}",
                                           STR_ARG(str_skip(line, 8)));
    }
    assert_true(to->put(to, r, &e));
    arena_release(&a);
}

/* True if it was a message, which `seq` is the number of. */
static bool feed_line(struct sink *to, struct str line, uint64_t seq)
{
    struct record r = { .has = 0 };

    parse_exchange(&line, &r);
    if (str_starts(line, STR("raw ")))
        feed_raw(to, &r, str_skip(line, 4));
    else if (str_starts(line, STR("http ")))
        feed_http(to, &r, str_skip(line, 5));
    else
        feed_message(to, &r, line, seq);
    return r.kind == RECORD_MESSAGE;
}

static void feed_native(struct sink *to, struct str line)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct record r;
    struct json j;
    size_t at;

    json_init(&j);
    if (!json_scan(&j, line, &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(line));
    if (!recording_line_read(json_root(&j), &r, &a, &at, &e))
        fail_msg("%.*s: %s", STR_ARG(line), e.msg);
    assert_true(to->put(to, &r, &e));
    json_release(&j);
    arena_release(&a);
}

void terse_feed_plain(struct sink *to, struct str text)
{
    uint64_t seq = 0;

    while (text.len) {
        struct str line = str_cut(&text, '\n');

        if (str_starts(line, STR("| ")))
            feed_native(to, str_skip(line, 2));
        else if (str_trim(line).len)
            seq += feed_line(to, line, seq + 1);
    }
}

void terse_feed(struct sink *to, const char *text)
{
    struct arena a = { 0 };

    terse_feed_plain(to, terse_json(&a, text));
    arena_release(&a);
}

static const char *dir_name(enum record_dir dir)
{
    return dir == TO_SERVER ? "c2s" : "s2c";
}

static void put_header(struct buf *to, const struct record *r)
{
    const struct record_header *h = &r->header;

    buf_printf(to, "header version=%.*s name=%.*s upstream=%.*s", STR_ARG(h->version),
               STR_ARG(h->name), STR_ARG(h->upstream));
}

static void put_message(struct buf *to, const struct record *r)
{
    const struct record_message *m = &r->message;

    if (r->has & HAS_SEQ)
        buf_printf(to, "#%llu ", (unsigned long long)m->seq);
    if (r->has & HAS_REDELIVERS)
        buf_printf(to, "redelivers=%llu ", (unsigned long long)m->redelivers);
    buf_printf(to, "%s ", dir_name(m->dir));
    buf_add(to, json_raw(m->msg));
    if (r->has & HAS_LATENCY)
        buf_printf(to, " latency=%llu", (unsigned long long)m->latency_ms);
    if (m->batch.len)
        buf_printf(to, " batch=%.*s", STR_ARG(m->batch));
    if (m->event.len)
        buf_printf(to, " event=%.*s", STR_ARG(m->event));
}

static void put_proc(struct buf *to, const struct record *r)
{
    buf_printf(to, "proc %.*s", STR_ARG(r->proc.event));
    if (r->has & HAS_EXIT_CODE)
        buf_printf(to, " code=%lld", (long long)r->proc.exit_code);
    if (r->has & HAS_SIGNAL)
        buf_printf(to, " signal=%lld", (long long)r->proc.signal);
    if (r->proc.why.len)
        buf_printf(to, " (%.*s)", STR_ARG(r->proc.why));
}

static void put_footer(struct buf *to, const struct record *r)
{
    const struct record_footer *f = &r->footer;

    buf_printf(to, "footer messages=%llu+%llu=%llu ms=%llu errors=%llu code=%lld",
               (unsigned long long)f->client_messages, (unsigned long long)f->server_messages,
               (unsigned long long)f->messages, (unsigned long long)f->duration_ms,
               (unsigned long long)f->errors, (long long)f->exit_code);
    buf_printf(to, " protocol=%.*s server=%.*s client=%.*s", STR_ARG(f->protocol),
               STR_ARG(f->server_info), STR_ARG(f->client_info));
}

/* " NAME=text", if there is one. */
static void put_named(struct buf *to, const char *name, struct str text)
{
    if (text.at)
        buf_printf(to, " %s=%.*s", name, STR_ARG(text));
}

static void put_http_request(struct buf *to, const struct record_http *h)
{
    buf_printf(to, "http %.*s %.*s", STR_ARG(h->method), STR_ARG(h->path));
    if (h->query.at)
        buf_printf(to, "?%.*s", STR_ARG(h->query));
    put_named(to, "state", h->state);
    put_named(to, "host", h->host);
    put_named(to, "origin", h->origin);
    put_named(to, "body", h->body);
    buf_add(to, h->auth ? STR(" auth") : STR_NONE);
    put_named(to, "headers", h->headers);
}

static void put_http_response(struct buf *to, const struct record_http *h)
{
    buf_printf(to, "http %llu %.*s", (unsigned long long)h->status, STR_ARG(h->media));
    put_named(to, "by", h->by);
    put_named(to, "resumes", h->resumes);
    buf_add(to, h->mints_session ? STR(" mints") : STR_NONE);
    put_named(to, "headers", h->headers);
}

static void put_sse(struct buf *to, const struct record *r)
{
    buf_add(to, STR("sse"));
    if (r->has & HAS_N)
        buf_printf(to, " n=%llu", (unsigned long long)r->sse.n);
    if (r->has & HAS_RETRY)
        buf_printf(to, " retry=%llu", (unsigned long long)r->sse.retry);
    put_named(to, "id", r->sse.id);
    put_named(to, "event", r->sse.event);
    put_named(to, "data", r->sse.data);
    put_named(to, "comment", r->sse.comment);
}

static void put_body(struct buf *to, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        put_header(to, r);
        break;
    case RECORD_MESSAGE:
        put_message(to, r);
        break;
    case RECORD_RAW:
        buf_printf(to, "raw %s ", dir_name(r->bytes.dir));
        buf_add(to, r->bytes.bytes);
        buf_printf(to, " (%.*s)", STR_ARG(r->bytes.why));
        break;
    case RECORD_STDERR:
        buf_add(to, STR("stderr "));
        buf_add(to, r->bytes.bytes);
        break;
    case RECORD_PROC:
        put_proc(to, r);
        break;
    case RECORD_GAP:
        buf_printf(to, "gap %s messages=%llu bytes=%llu (%.*s)", dir_name(r->gap.dir),
                   (unsigned long long)r->gap.messages, (unsigned long long)r->gap.bytes,
                   STR_ARG(r->gap.why));
        break;
    case RECORD_HTTP_REQUEST:
        put_http_request(to, &r->http);
        break;
    case RECORD_HTTP_RESPONSE:
        put_http_response(to, &r->http);
        break;
    case RECORD_HTTP_END:
        buf_printf(to, "http end %.*s%s", STR_ARG(r->http.by), r->http.clean ? "" : " unclean");
        if (r->http.why.len)
            buf_printf(to, " why=%.*s", STR_ARG(r->http.why));
        break;
    case RECORD_SSE:
        put_sse(to, r);
        break;
    case RECORD_FOOTER:
        put_footer(to, r);
        break;
    default:
        buf_printf(to, "kind %d", (int)r->kind);
    }
}

static void put_mark(struct buf *to, const struct record *r, const char *name, uint64_t value,
                     unsigned has)
{
    if (r->has & has)
        buf_printf(to, "%s=%llu ", name, (unsigned long long)value);
}

static bool terse_put(struct sink *self, const struct record *r, struct err *e)
{
    struct terse *t = (struct terse *)self;
    struct record plain = *r;
    size_t from = t->text.len;

    if (t->fails)
        return err_set(e, ERR_IO, "no room");
    plain.has &= t->no_times ? ~(unsigned)(HAS_US | HAS_LATENCY) : ~0U;
    r = &plain;
    if (r->has & HAS_US)
        buf_printf(&t->text, "@%lld ", (long long)r->us);
    put_mark(&t->text, r, "conn", r->conn, HAS_CONN);
    put_mark(&t->text, r, "session", r->session, HAS_SESSION);
    put_mark(&t->text, r, "x", r->exchange, HAS_EXCHANGE);
    put_mark(&t->text, r, "stream", r->stream, HAS_STREAM);
    put_body(&t->text, r);
    buf_add_ch(&t->text, '\n');
    for (char *c = t->text.at + from; c < t->text.at + t->text.len; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '`' : *c;
    return true;
}

void terse_init(struct terse *t)
{
    *t = (struct terse){ .sink = { terse_put } };
    buf_init(&t->text, (size_t)1 << 26);
}

void terse_release(struct terse *t)
{
    buf_release(&t->text);
}

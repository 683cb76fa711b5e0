#include "engine/http-tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "engine/headers-kept.h"
#include "engine/sse-rewrite.h"
#include "trace/limits.h"
#include "wire/media.h"
#include "wire/sse-reader.h"
#include "json/write.h"

enum {
    UNPACK_PIECE = 16 << 10,
    STATUS_OK = 200,
    STATUS_REDIRECT = 300,
    STATUS_NOT_FOUND = 404,
    EVENT_N_BITS = 32, /* of where an event was: stream and number */
};

/* What the line of a request says, until it is written. */
struct asked {
    struct arena arena;
    struct record_http http;
    struct str session_id, last_event;
    struct str id; /* of its message, as JSON; empty: it has none */
    bool deletes;
    bool may_open;                /* a session of HTTP+SSE: */
    struct address_client client; /* whose it is then; */
    bool opened;                  /* and so it did: it is known where to post */
};

/* What is kept of a body. */
struct copy {
    struct buf text;
    uint64_t bytes; /* of it, kept or not */
};

struct http_seen {
    struct http_tap *tap;
    struct asked *asked;     /* until the answer; of a stream that may be HTTP+SSE to the end */
    struct learnt_grip grip; /* the secrets it carries */
    uint64_t number, conn;
    uint64_t session; /* 0: none, or not known yet */
    uint64_t stream;  /* 0: the answer is none */
    uint64_t events;  /* of the stream, so far */
    bool told;        /* the request has its line */
    bool answered;
    bool over; /* all of the answer was told */
    bool endpoint;
    bool body;       /* the request is to have one */
    bool whole;      /* all of it has come */
    bool resumes;    /* it goes on with a stream, so that events may come once more */
    bool unreadable; /* the answer is compressed in a way nobody here knows, or damaged */
    enum media media;
    struct copy sent, said; /* the request; an answer that is no stream */
    struct unpacker *unpacker;
    struct sse_reader *sse;
};

void http_tap_init(struct http_tap *t, struct tap *tap, size_t max, struct learnt *learnt)
{
    *t = (struct http_tap){ .tap = tap, .max = max, .learnt = learnt };
    session_ids_init(&t->sessions);
    endpoints_init(&t->endpoints, &t->sessions);
    recall_init(&t->events, LIMIT_EVENTS);
    buf_init(&t->headers, LIMIT_LINE);
    buf_init(&t->spare, max);
}

void http_tap_release(struct http_tap *t)
{
    session_ids_release(&t->sessions);
    endpoints_release(&t->endpoints);
    recall_release(&t->events);
    buf_release(&t->headers);
    buf_release(&t->spare);
    if (t->learnt)
        learnt_let_go(t->learnt, &t->own);
}

void http_tap_hide_addresses(struct http_tap *t, struct str server)
{
    t->hides_addresses = true;
    if (t->learnt)
        http_secrets_address(t->learnt, &t->own, 0, server);
}

bool http_tap_trouble(struct http_tap *t, struct err *e)
{
    bool fine = !t->failed;

    if (!fine)
        *e = t->why;
    t->failed = false;
    return fine;
}

static void check(struct http_tap *t, bool kept, const struct err *why)
{
    if (!kept && !t->failed)
        t->why = *why;
    t->failed |= !kept;
}

static struct tap_place place_of(const struct http_seen *x)
{
    return (struct tap_place){
        .has = HAS_CONN | HAS_EXCHANGE | (x->session ? HAS_SESSION : 0u) |
               (x->stream ? HAS_STREAM : 0u),
        .conn = x->conn,
        .session = x->session,
        .exchange = x->number,
        .stream = x->stream,
    };
}

static void put_around(struct http_seen *x, struct record *r, struct tap_time now)
{
    struct tap_place at = place_of(x);
    struct err e = ERR_NONE;

    check(x->tap, tap_around(x->tap->tap, &at, r, now, &e), &e);
}

static void put_text(struct http_seen *x, const struct tap_place *at, enum record_dir dir,
                     struct str text, struct tap_time now)
{
    struct err e = ERR_NONE;

    check(x->tap, tap_text(x->tap->tap, at, dir, text, now, &e), &e);
}

/* What was to go on, as far as it came, which may be nowhere. */
static void put_cut(struct http_seen *x, enum record_dir dir, struct str bytes,
                    struct tap_time now)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .from_to = dir,
                                     .bytes = bytes.len ? bytes : STR(""),
                                     .why = STR("cut off") };
    put_around(x, &r, now);
}

static void put_gap(struct http_seen *x, enum record_dir dir, uint64_t bytes, const char *why,
                    struct tap_time now)
{
    struct record r = { .kind = RECORD_GAP, .has = HAS_FROM | HAS_TOTALS };

    r.gap = (struct record_gap){ dir, 1, bytes, str_z(why) };
    put_around(x, &r, now);
}

static void put_too_long(struct http_seen *x, enum record_dir dir, uint64_t bytes,
                         struct tap_time now)
{
    x->tap->too_long++;
    put_gap(x, dir, bytes, "too long to be kept", now);
}

/* Good until the next one. */
static struct str headers_json(struct http_tap *t, const struct fields *f)
{
    buf_clear(&t->headers);
    headers_kept_write(&t->headers, f);
    return buf_str(&t->headers);
}

/* Before anything is written that may repeat it. */
static void learn_fields(struct http_seen *x, const struct fields *f)
{
    if (x->tap->learnt)
        http_secrets_fields(x->tap->learnt, &x->grip, f);
}

static void learn_session(struct http_seen *x, struct str id)
{
    if (x->tap->learnt)
        http_secrets_session(x->tap->learnt, &x->grip, x->session, id);
}

/* The address of a session is as good as its id, even if other addresses may be told. */
static void learn_target(struct http_seen *x, const struct http_tap_request *q)
{
    bool posted = !x->asked->session_id.len && x->session;

    if (x->tap->learnt && (posted || x->tap->hides_addresses))
        http_secrets_target(x->tap->learnt, &x->grip, posted ? x->session : 0, q->path,
                            q->query);
}

static void learn_endpoint(struct http_seen *x, struct str said, bool names_session)
{
    if (x->tap->learnt)
        http_secrets_address(x->tap->learnt, &x->grip, names_session ? x->session : 0, said);
}

bool http_tap_is_posted(const struct http_tap *t, struct str method, struct str path,
                        struct str query)
{
    uint64_t session;

    return str_eq(method, STR("POST")) &&
           endpoints_look(&t->endpoints, path, query, &session) != SESSION_NONE;
}

/* What of a request tells to which session it belongs, and what of that can be written. */
static enum session_state find_session(struct http_seen *x, const struct http_tap_request *q)
{
    struct asked *asked = x->asked;
    struct arena *a = &asked->arena;
    struct endpoints *known = &x->tap->endpoints;

    asked->http.path = arena_str(a, q->path);
    if (q->query.at && q->endpoint)
        asked->http.query = arena_str(a, q->query);
    asked->session_id = arena_str(a, fields_value(q->fields, STR("mcp-session-id")));
    if (!asked->session_id.len && http_tap_is_posted(x->tap, q->method, q->path, q->query)) {
        asked->http.path = endpoints_masked(q->path, a);
        asked->http.query = endpoints_masked_query(q->query, a);
        return endpoints_look(known, q->path, q->query, &x->session);
    }
    return session_ids_look(&x->tap->sessions, asked->session_id, &x->session);
}

struct http_seen *http_tap_begin(struct http_tap *t, const struct http_tap_request *q)
{
    struct http_seen *x = mem_new(struct http_seen);
    struct asked *asked = mem_new(struct asked);
    struct arena *a = &asked->arena;

    *x = (struct http_seen){ .tap = t, .asked = asked, .conn = q->conn, .media = MEDIA_NONE };
    x->number = ++t->exchanges;
    x->endpoint = q->endpoint;
    x->body = q->body;
    buf_init(&x->sent.text, t->max);
    buf_init(&x->said.text, t->max);
    asked->last_event = arena_str(a, fields_value(q->fields, STR("last-event-id")));
    asked->deletes = str_eq(q->method, STR("DELETE"));
    asked->http.state = str_z(session_state_name(find_session(x, q)));
    learn_fields(x, q->fields);
    learn_session(x, asked->session_id);
    learn_target(x, q);
    asked->http.method = arena_str(a, q->method);
    asked->http.host = str_z(place_name(q->host));
    asked->http.origin = str_z(place_name(q->origin));
    asked->http.headers = arena_str(a, headers_json(t, q->fields));
    asked->http.auth = fields_count(q->fields, STR("authorization")) > 0;
    asked->may_open = t->server && q->endpoint && sse_rewrite_may_be(q->method, q->fields);
    if (asked->may_open)
        asked->client = (struct address_client){
            .host = arena_str(a, fields_value(q->fields, STR("host"))),
            .path = arena_str(a, q->path),
        };
    return x;
}

/* Most bodies come and go in one go: they take turns in the same memory. */
static void keep(struct http_seen *x, struct copy *c, struct str bytes)
{
    c->bytes += bytes.len;
    if (!x->endpoint)
        return;
    buf_borrow(&c->text, &x->tap->spare);
    buf_add(&c->text, bytes);
}

static void forget(struct http_seen *x, struct copy *c)
{
    buf_give_back(&c->text, &x->tap->spare);
}

/* A body was announced, and has not all come. */
static bool is_short(const struct http_seen *x)
{
    return x->body && !x->whole;
}

/* `late`: the answer does not wait for it. */
static struct str body_kind(struct http_seen *x, bool late)
{
    static const char *const names[] = {
        [INTAKE_EMPTY] = "empty",
        [INTAKE_MESSAGE] = "message",
        [INTAKE_BATCH] = "batch",
        [INTAKE_OTHER] = "raw",
    };

    if (late)
        return STR("late");
    if (!x->sent.bytes && !is_short(x))
        return STR("empty");
    if (!x->whole || !x->endpoint || x->sent.text.full)
        return STR("raw");
    return str_z(names[tap_look(x->tap->tap, buf_str(&x->sent.text))]);
}

/* The line of the request; once. */
static void tell_request(struct http_seen *x, bool late, struct tap_time now)
{
    struct record r = { .kind = RECORD_HTTP_REQUEST };

    if (x->told)
        return;
    x->told = true;
    r.http = x->asked->http;
    r.http.body = body_kind(x, late);
    put_around(x, &r, now);
}

/* What it said, and that is all. It is no part of the stream that may have begun. `looked`:
 * its line was written just now, for which it was read. */
static void tell_sent(struct http_seen *x, bool looked, struct tap_time now)
{
    struct tap_place at = place_of(x);
    struct str text = buf_str(&x->sent.text);
    struct err e = ERR_NONE;

    at.has &= ~(unsigned)HAS_STREAM;
    if (x->sent.text.full)
        put_too_long(x, TO_SERVER, x->sent.bytes, now);
    else if (is_short(x) && x->endpoint) /* also if it is nothing */
        put_cut(x, TO_SERVER, text, now);
    else if (text.len && looked)
        check(x->tap, tap_seen(x->tap->tap, &at, TO_SERVER, now, &e), &e);
    else
        put_text(x, &at, TO_SERVER, text, now);
    if (x->asked && x->whole && !x->sent.text.full)
        x->asked->id = arena_str(&x->asked->arena, x->tap->tap->asks);
    forget(x, &x->sent);
}

void http_tap_sent(struct http_seen *x, struct str bytes)
{
    keep(x, &x->sent, bytes);
}

void http_tap_sent_all(struct http_seen *x, struct tap_time now)
{
    bool looked = !x->told;

    x->whole = true;
    tell_request(x, false, now);
    tell_sent(x, looked, now);
}

struct str http_tap_asks(const struct http_seen *x)
{
    return x->asked ? x->asked->id : STR_NONE;
}

/* The server names a session, or takes one back. */
static bool see_session(struct http_seen *x, unsigned status, const struct fields *f)
{
    struct session_ids *ids = &x->tap->sessions;
    struct str named = fields_value(f, STR("mcp-session-id"));
    bool minted = false;

    if (status < STATUS_REDIRECT && named.len && !x->asked->deletes)
        x->session = session_ids_named(ids, named, &minted);
    learn_session(x, named);
    if (status == STATUS_NOT_FOUND ||
        (x->asked->deletes && status >= STATUS_OK && status < STATUS_REDIRECT))
        session_ids_end(ids, x->asked->session_id);
    return minted;
}

/* Ids of events are good within a session. */
static struct str event_key(const struct http_seen *x, struct str id, struct buf *key)
{
    buf_clear(key);
    buf_add(key, str_n((const char *)&x->session, sizeof x->session));
    buf_add(key, id);
    return buf_str(key);
}

static const struct recall_entry *find_event(const struct http_seen *x, struct str id)
{
    const struct recall_entry *found;
    struct buf key;

    buf_init(&key, LIMIT_LINE);
    found = recall_find(&x->tap->events, event_key(x, id, &key));
    buf_release(&key);
    return found;
}

static struct str resumed(struct http_seen *x, struct arena *a)
{
    const struct recall_entry *last =
        x->asked->last_event.len ? find_event(x, x->asked->last_event) : NULL;

    if (!last)
        return STR_NONE;
    return arena_printf(a, "{\"stream\":%llu,\"after\":%llu}",
                        (unsigned long long)(last->what >> EVENT_N_BITS),
                        (unsigned long long)(last->what & UINT32_MAX));
}

static void note_packed(struct http_tap *t, const struct err *why)
{
    if (t->packed.kind == ERR_OK)
        t->packed = *why;
}

static void start_unpacking(struct http_seen *x, const struct fields *f)
{
    struct str coding = fields_value(f, STR("content-encoding"));
    enum pack_kind kind = PACK_NONE;
    struct err e = ERR_NONE;

    if (!coding.len || fields_same(coding, STR("identity")) || !x->endpoint)
        return;
    if (fields_same(coding, STR("gzip")) || fields_same(coding, STR("x-gzip")))
        kind = PACK_GZIP;
    else if (fields_same(coding, STR("zstd")))
        kind = PACK_ZSTD;
    if (kind != PACK_NONE) {
        x->unpacker = unpacker_new(kind);
        return;
    }
    x->unreadable = true;
    err_set(&e, ERR_INPUT, "'%.*s' is not known here", STR_ARG(coding));
    note_packed(x->tap, &e);
}

static void start_answer(struct http_seen *x, const struct fields *f)
{
    x->answered = true;
    x->resumes = x->asked->last_event.len > 0;
    x->media = media_of_fields(f);
    if (x->media == MEDIA_SSE && x->endpoint) {
        x->stream = ++x->tap->streams;
        x->sse = mem_new(struct sse_reader);
        sse_reader_init(x->sse, x->tap->max);
    }
    start_unpacking(x, f);
}

static void forget_asked(struct http_seen *x)
{
    if (x->asked)
        arena_release(&x->asked->arena);
    free(x->asked);
    x->asked = NULL;
}

void http_tap_answer(struct http_seen *x, unsigned status, const struct fields *fields,
                     enum http_tap_by by, struct tap_time now)
{
    static const char *const media[] = { [MEDIA_JSON] = "json",
                                         [MEDIA_SSE] = "sse",
                                         [MEDIA_NONE] = "none",
                                         [MEDIA_OTHER] = "other" };
    struct record r = { .kind = RECORD_HTTP_RESPONSE, .has = HAS_STATUS };
    struct arena a = { NULL, 0 };

    tell_request(x, is_short(x), now);
    learn_fields(x, fields);
    r.http.mints_session = see_session(x, status, fields);
    start_answer(x, fields);
    r.http.status = status;
    r.http.by = by == BY_SERVER ? STR("server") : STR("mcpreel");
    r.http.media = str_z(media[x->media]);
    r.http.resumes = x->stream ? resumed(x, &a) : STR_NONE;
    r.http.headers = headers_json(x->tap, fields);
    put_around(x, &r, now);
    arena_release(&a);
    if (!x->stream || !x->asked->may_open)
        forget_asked(x);
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

/* An event without a message: priming, an endpoint, a comment. */
static void put_sse(struct http_seen *x, const struct sse_item *item, struct tap_time now)
{
    struct record r = { .kind = RECORD_SSE };
    struct tap_place at = place_of(x);
    struct err e = ERR_NONE;

    if (!item->comment.at)
        r.has |= HAS_N;
    if (item->retry >= 0)
        r.has |= HAS_RETRY;
    r.sse = (struct record_sse){
        .n = x->events,
        .retry = item->retry >= 0 ? (uint64_t)item->retry : 0,
        .id = item->id,
        .event = item->event,
        .data = item->data,
        .comment = item->comment,
    };
    at.has &= ~((unsigned)HAS_CONN | HAS_SESSION);
    check(x->tap, tap_around(x->tap->tap, &at, &r, now, &e), &e);
}

/* Where messages are to be posted, and with the first of these a session. One that is named
 * elsewhere is none of this server's. */
static void put_endpoint(struct http_seen *x, const struct sse_item *item, struct tap_time now)
{
    struct asked *asked = x->asked;
    struct arena a = { NULL, 0 };
    struct sse_item told = *item;
    struct err e = ERR_NONE;
    struct endpoint found;

    if (asked && endpoints_read(&found, item->data, x->tap->server, &asked->client, &a, &e)) {
        x->session =
            endpoints_named(&x->tap->endpoints, found.target, asked->opened ? x->session : 0);
        asked->opened = true;
    }
    learn_endpoint(x, item->data, asked && asked->opened);
    told.data = endpoints_masked(item->data, &a);
    put_sse(x, &told, now);
    arena_release(&a);
}

static void remember_event(struct http_seen *x, struct str id, uint64_t seq)
{
    struct buf key;

    buf_init(&key, LIMIT_LINE);
    recall_put(&x->tap->events, event_key(x, id, &key),
               x->stream << EVENT_N_BITS | (x->events & UINT32_MAX), seq);
    buf_release(&key);
}

static void see_event(struct http_seen *x, const struct sse_item *item, struct tap_time now)
{
    struct tap_place at = place_of(x);
    const struct recall_entry *before = NULL;
    struct arena a = { NULL, 0 };
    uint64_t first = x->tap->tap->seq;

    x->events++;
    if (item->too_long) {
        put_too_long(x, TO_CLIENT, item->bytes, now);
        return;
    }
    if (item->id.len && x->resumes)
        before = find_event(x, item->id);
    if (!str_trim(item->data).len) {
        put_sse(x, item, now);
    } else if (item->event.at && str_eq(item->event, STR("endpoint"))) {
        put_endpoint(x, item, now);
    } else {
        at.event = event_json(item, x->events, &a);
        if (before && before->more) {
            at.has |= HAS_REDELIVERS;
            at.redelivers = before->more;
        }
        put_text(x, &at, TO_CLIENT, item->data, now);
        arena_release(&a);
    }
    if (item->id.len && !before)
        remember_event(x, item->id, x->tap->tap->seq > first ? x->tap->tap->seq : 0);
}

static void see_events(struct http_seen *x, struct str bytes, struct tap_time now)
{
    struct sse_item item = SSE_ITEM_NONE;
    enum sse_next next;

    sse_reader_feed(x->sse, bytes);
    while ((next = sse_reader_next(x->sse, &item)) != SSE_MORE) {
        if (next == SSE_EVENT)
            see_event(x, &item, now);
        else
            put_sse(x, &item, now);
    }
}

static void see_plain(struct http_seen *x, struct str bytes, struct tap_time now)
{
    if (x->sse)
        see_events(x, bytes, now);
    else
        keep(x, &x->said, bytes);
}

static void see_packed(struct http_seen *x, struct str bytes, struct tap_time now)
{
    char piece[UNPACK_PIECE];
    struct err e = ERR_NONE;
    size_t got;

    do {
        x->unreadable = !unpacker_feed(x->unpacker, &bytes, piece, sizeof piece, &got, &e);
        see_plain(x, str_n(piece, got), now);
    } while (!x->unreadable && (bytes.len || got));
    if (x->unreadable)
        note_packed(x->tap, &e);
}

void http_tap_answered(struct http_seen *x, struct str bytes, struct tap_time now)
{
    if (x->unreadable)
        x->said.bytes += bytes.len;
    else if (x->unpacker)
        see_packed(x, bytes, now);
    else
        see_plain(x, bytes, now);
}

static void tell_rest(struct http_seen *x, struct str bytes, struct tap_time now)
{
    if (bytes.len)
        put_cut(x, TO_CLIENT, bytes, now);
}

/* What an answer that is no stream said, or a stream did not get to say. */
static void tell_answer(struct http_seen *x, bool clean, struct tap_time now)
{
    struct tap_place at = place_of(x);
    struct sse_item item = SSE_ITEM_NONE;

    if (!x->endpoint || x->over)
        return;
    x->over = true;
    if (x->unreadable)
        put_gap(x, TO_CLIENT, x->said.bytes, "compressed in a way that cannot be read", now);
    else if (x->said.text.full)
        put_too_long(x, TO_CLIENT, x->said.bytes, now);
    else if (x->sse)
        while (sse_reader_end(x->sse, &item) == SSE_EVENT)
            tell_rest(x, item.data, now);
    else if (!clean)
        tell_rest(x, buf_str(&x->said.text), now);
    else
        put_text(x, &at, TO_CLIENT, buf_str(&x->said.text), now);
}

void http_tap_answered_all(struct http_seen *x, struct tap_time now)
{
    tell_answer(x, true, now);
}

void http_tap_end(struct http_seen *x, enum http_tap_by by, bool clean, struct str why,
                  struct tap_time now)
{
    static const char *const names[] = { [BY_SERVER] = "server",
                                         [BY_CLIENT] = "client",
                                         [BY_ERROR] = "error",
                                         [BY_MCPREEL] = "mcpreel" };
    struct record r = { .kind = RECORD_HTTP_END };

    tell_request(x, false, now);
    if (!x->whole)
        tell_sent(x, false, now);
    if (x->answered)
        tell_answer(x, clean, now);
    r.http.by = str_z(names[by]);
    r.http.clean = clean;
    r.http.why = why;
    put_around(x, &r, now);
    if (x->asked && x->asked->opened)
        endpoints_end(&x->tap->endpoints, x->session);
    forget_asked(x);
    if (x->tap->learnt)
        learnt_let_go(x->tap->learnt, &x->grip);
    if (x->sse)
        sse_reader_release(x->sse);
    free(x->sse);
    unpacker_free(x->unpacker);
    forget(x, &x->sent);
    forget(x, &x->said);
    free(x);
}

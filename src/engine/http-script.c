#include "engine/http-script.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vast.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "trace/limits.h"
#include "wire/reference.h"

enum { STATUS_FAILED = 400, STATUS_UNAUTHORIZED = 401, STATUS_NOT_ALLOWED = 405 };

/* How far the stream of an answer is, whatever exchanges it is on. */
struct http_told {
    struct str id;         /* of its request, as JSON; empty: it had none, or several */
    uint32_t first, count; /* facts about its requests */
    uint32_t messages;     /* of the server's */
    struct http_beat *last;
};

/* An exchange that has not ended. */
struct http_pending {
    struct arena arena;
    struct fields fields;
    struct http_call call;
    uint64_t key;
    uint64_t session;            /* 0: none */
    enum mcp_version version;    /* that its client speaks */
    bool begins;                 /* it is an initialize */
    struct http_told *told, own; /* `told`: its own, or that of the stream it goes on with */
    struct http_odd *odd;        /* it is kept whole */
    bool judged;                 /* whether it is odd */
    bool is_odd;
    bool ours;               /* mcpreel answered it */
    bool answered;           /* its head was, */
    bool refused;            /* with a status that says no */
    bool sse;                /* it is a stream of HTTP+SSE */
    bool late;               /* the answer began before all of the request was there: */
    struct record_http head; /* in the arena: how */
    struct str path;         /* of its request */
    uint64_t events;
};

static bool put(struct sink *self, const struct record *r, struct err *e);

void http_script_init(struct http_script *h, struct sink *to, struct shelf *shelf)
{
    *h = (struct http_script){ .sink = { put }, .to = to, .shelf = shelf };
    map_init(&h->odd);
    map_init(&h->fine);
    http_params_init(&h->params);
    map_init(&h->open);
    map_init(&h->cut);
    map_init(&h->agreed);
    h->stream_version = MCP_2025_11_25;
    /* While it is written everything may be, but for sessions: see judge(). */
    h->stream_retry_ms = -1;
    h->rules = (struct http_rules){ .legacy = true,
                                    .modern = true,
                                    .stream = true,
                                    .unnamed = true,
                                    .versions = STR("[]"),
                                    .params = &h->params };
}

static void close_pending(struct http_pending *p)
{
    fields_release(&p->fields);
    arena_release(&p->arena);
    free(p);
}

static void close_all(struct http_script *h)
{
    for (struct map_entry *e = NULL; (e = map_next(&h->open, e));)
        close_pending(e->value);
    map_release(&h->open);
    map_init(&h->open);
    map_release(&h->cut);
    map_init(&h->cut);
}

void http_script_release(struct http_script *h)
{
    close_all(h);
    map_release(&h->open);
    map_release(&h->cut);
    map_release(&h->agreed);
    map_release(&h->odd);
    map_release(&h->fine);
    http_params_release(&h->params);
    vast_release(h->facts, h->fact_cap, sizeof *h->facts);
    arena_release(&h->arena);
    arena_release(&h->scratch);
}

/* What was answered as it should be, at another time, is answered so. */
static void forgive(struct http_script *h, struct str key)
{
    const struct http_odd *odd = map_get(&h->odd, key);

    if (odd && !odd->wrong)
        map_remove(&h->odd, key);
}

static void forgive_all(struct http_script *h)
{
    for (size_t i = 0; i < h->fact_count; i++)
        if (h->facts[i].answered)
            forgive(h, map_number(&h->facts[i].key));
    for (struct map_entry *e = NULL; (e = map_next(&h->fine, e));)
        forgive(h, e->key);
}

/* One that was posted to the path of HTTP+SSE, and so refused; NULL: there is none (any more).
 * To clients elsewhere it says nothing. */
static const struct http_odd *take_no_post(struct http_script *h)
{
    for (struct map_entry *e = NULL; h->sse_path.len && (e = map_next(&h->odd, e));) {
        const struct http_odd *odd = e->value;

        if (odd->post && str_eq(odd->path, h->sse_path)) {
            map_remove(&h->odd, e->key);
            return odd;
        }
    }
    return NULL;
}

/* A recording of stdio or HTTP+SSE says nothing about Streamable HTTP: such a server names
 * sessions and has a stream, as those that speak it mostly do. */
void http_script_finish(struct http_script *h)
{
    const struct http_odd *odd;

    close_all(h);
    forgive_all(h);
    while ((odd = take_no_post(h)))
        h->no_post = h->no_post && !h->no_post->wrong ? h->no_post : odd;
    if (!h->seen || h->sse_path.len)
        h->rules.sessions = true;
    h->rules.stream = !h->no_stream;
    h->rules.unnamed = h->unnamed;
}

static struct http_pending *find_open(const struct http_script *h, const struct record *r)
{
    return r->has & HAS_EXCHANGE ? map_get(&h->open, map_number(&r->exchange)) : NULL;
}

static enum place place_by_name(struct str name)
{
    enum place p = PLACE_NONE;

    while (p <= PLACE_NULL && !str_eq(name, str_z(place_name(p))))
        p++;
    return p <= PLACE_NULL ? p : PLACE_NONE;
}

static enum session_state state_by_name(struct str name)
{
    enum session_state s = SESSION_NONE;

    while (s <= SESSION_UNKNOWN && !str_eq(name, str_z(session_state_name(s))))
        s++;
    return s <= SESSION_UNKNOWN ? s : SESSION_NONE;
}

/* [[name,value],…]; of values that were not kept nothing is known. */
static void read_headers(struct fields *f, struct str headers, struct arena *a)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    if (headers.len && json_scan(&j, headers, &fault)) {
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (json_type(json_item(it.value, 1)) == JSON_STRING)
                fields_add(f, arena_str(a, json_text(json_item(it.value, 0), a)),
                           arena_str(a, json_text(json_item(it.value, 1), a)));
    }
    json_release(&j);
}

static enum mcp_version agreed_version(const struct http_script *h, uint64_t session)
{
    return (enum mcp_version)(uintptr_t)map_get(&h->agreed, map_number(&session));
}

static void see_request(struct http_script *h, const struct record *r)
{
    struct http_pending *p;

    if (!(r->has & HAS_EXCHANGE) || find_open(h, r))
        return;
    h->seen = true;
    p = mem_new(struct http_pending);
    p->told = &p->own;
    read_headers(&p->fields, r->http.headers, &p->arena);
    p->call = (struct http_call){
        .method = arena_str(&p->arena, r->http.method),
        .fields = &p->fields,
        .accept = media_accept(&p->fields),
        .host = place_by_name(r->http.host),
        .origin = place_by_name(r->http.origin),
        .state = state_by_name(r->http.state),
        .kind = INTAKE_EMPTY,
    };
    p->session = r->has & HAS_SESSION ? r->session : 0;
    p->version = http_call_spoken(&p->call, agreed_version(h, p->session), &h->scratch);
    p->path = arena_str(&p->arena, r->http.path);
    p->call.posted =
        h->posts_path.len && str_eq(p->path, h->posts_path) && p->call.state != SESSION_NONE;
    if (str_eq(r->http.body, STR("batch")))
        p->call.kind = INTAKE_BATCH;
    p->late = str_eq(r->http.body, STR("late"));
    map_put(&h->open, map_number(&r->exchange), p);
}

/* All that a request said is known: would a correct server refuse it? Whom the recorder did
 * not let in it answered itself. */
static void judge(struct http_script *h, struct http_pending *p)
{
    struct http_call call = p->call;

    if (p->judged)
        return;
    p->judged = true;
    p->key = http_call_key(&p->call, &h->scratch);
    call.host = place_admitted(call.host);
    call.origin = place_admitted(call.origin);
    p->is_odd = p->key && http_rules_judge(&h->rules, &call, &h->scratch).status != 0;
    p->call.message = NULL;
    p->call.raw = STR_NONE;
}

static struct http_fact *fact_of(struct http_script *h, const struct http_told *t, uint32_t i)
{
    return &h->facts[t->first + i];
}

static void add_fact(struct http_script *h, struct http_pending *p, uint64_t seq)
{
    h->facts = vast_reserve(h->facts, &h->fact_cap, h->fact_count + 1, sizeof *h->facts);
    h->facts[h->fact_count] = (struct http_fact){ .seq = (uint32_t)seq,
                                                  .key = p->key,
                                                  .version = (uint8_t)p->version };
    if (!p->told->count)
        p->told->first = (uint32_t)h->fact_count;
    p->told->count = (uint32_t)(h->fact_count++ - p->told->first + 1);
}

static bool hear_client(struct http_script *h, struct http_pending *p, const struct record *r,
                        struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &h->scratch);

    if (p->late && r->message.batch.len)
        p->call.kind = INTAKE_BATCH;
    if (p->call.kind != INTAKE_BATCH && !p->judged) {
        p->call.kind = INTAKE_MESSAGE;
        p->call.message = &m;
        p->told->id = arena_str(&p->arena, json_raw(m.id));
        p->begins = m.kind == MCP_REQUEST && str_eq(m.method, STR("initialize"));
        p->version = http_call_spoken(&p->call, p->version, &h->scratch);
    }
    judge(h, p);
    /* Where something was redacted, header lines and body need not look the same. */
    p->is_odd = p->is_odd && !r->message.redacted.len;
    if (p->is_odd)
        return true;
    if (m.kind == MCP_REQUEST && r->has & HAS_SEQ && r->message.seq <= UINT32_MAX)
        add_fact(h, p, r->message.seq);
    return h->to->put(h->to, r, e);
}

static struct str kept_header(struct http_script *h, const struct fields *f, struct str name)
{
    return arena_str(&h->arena, fields_value(f, name));
}

static void begin_odd(struct http_script *h, struct http_pending *p,
                      const struct record_http *head)
{
    struct fields f = { .at = NULL };
    struct http_odd *odd;

    if (map_get(&h->odd, map_number(&p->key)))
        return; /* the first of them stands */
    read_headers(&f, head->headers, &h->scratch);
    odd = arena_new(&h->arena, struct http_odd);
    *odd = (struct http_odd){
        .status = (unsigned)head->status,
        .sse = str_eq(head->media, STR("sse")),
        .wrong = p->is_odd,
        .post = str_eq(p->call.method, STR("POST")) && !p->call.posted,
        .path = arena_str(&h->arena, p->path),
        .id = arena_str(&h->arena, p->told->id),
        .type = kept_header(h, &f, STR("content-type")),
        .allow = kept_header(h, &f, STR("allow")),
        .challenge = kept_header(h, &f, STR("www-authenticate")),
        .retry_after = kept_header(h, &f, STR("retry-after")),
    };
    fields_release(&f);
    p->odd = odd;
    map_put(&h->odd, map_number(&p->key), odd);
}

/* What the server is like, by how it answers those who do nothing wrong. */
static void learn(struct http_script *h, const struct http_pending *p, const struct record *r)
{
    bool get = str_eq(p->call.method, STR("GET"));

    if (r->http.mints_session)
        h->rules.sessions = true;
    if (get && p->call.state == SESSION_LIVE && r->http.status == STATUS_NOT_ALLOWED)
        h->no_stream = true;
    if (get && !h->rules.sessions && r->http.status == STATUS_NOT_ALLOWED)
        h->no_stream = true;
    if (get && str_eq(r->http.media, STR("sse")) && !p->call.accept.of[MEDIA_SSE].named)
        h->unnamed = true;
    if (str_eq(p->call.method, STR("DELETE")) && p->call.state == SESSION_LIVE &&
        !h->delete_status)
        h->delete_status = (unsigned)r->http.status;
}

/* It is known what was asked, and how it was answered. */
static void see_both(struct http_script *h, struct http_pending *p,
                     const struct record_http *head)
{
    judge(h, p);
    for (uint32_t i = 0; i < p->told->count; i++) {
        struct http_fact *f = fact_of(h, p->told, i);

        f->status = (uint16_t)head->status;
        f->json = str_eq(head->media, STR("json"));
        f->sse = str_eq(head->media, STR("sse"));
    }
    if (p->is_odd ||
        (p->key && head->status >= STATUS_FAILED && head->status != STATUS_UNAUTHORIZED))
        begin_odd(h, p, head);
    else if (p->key && p->call.kind == INTAKE_EMPTY)
        map_put(&h->fine, map_number(&p->key), h);
    else if (p->key && !p->told->count)
        forgive(h, map_number(&p->key));
}

/* A stream that was cut off goes on: what comes now belongs to what was asked then. */
static void go_on(struct http_script *h, struct http_pending *p, const struct record *r)
{
    uint64_t stream = r->stream;
    struct http_told *told;
    struct json_fault fault;
    int64_t number;
    struct json j;

    if (!(r->has & HAS_STREAM) || !h->cut.count || p->is_odd)
        return;
    json_init(&j);
    if (r->http.resumes.len && json_scan(&j, r->http.resumes, &fault) &&
        json_int(json_get(json_root(&j), STR("stream")), &number))
        stream = (uint64_t)number;
    json_release(&j);
    told = map_get(&h->cut, map_number(&stream));
    if (told)
        p->told = told;
}

static void see_response(struct http_script *h, struct http_pending *p, const struct record *r)
{
    p->ours = str_eq(r->http.by, STR("mcpreel"));
    if (p->ours)
        return;
    p->answered = true;
    p->refused = r->http.status >= STATUS_FAILED;
    learn(h, p, r);
    if (!p->late) {
        see_both(h, p, &r->http);
        go_on(h, p, r);
        return;
    }
    p->head = (struct record_http){ .status = r->http.status,
                                    .media = arena_str(&p->arena, r->http.media),
                                    .headers = arena_str(&p->arena, r->http.headers) };
}

static bool add_part(struct http_script *h, struct http_odd *odd, struct json_val msg,
                     struct str text, struct err *e)
{
    struct http_odd_part *part = arena_new(&h->arena, struct http_odd_part);

    if (json_exists(msg)) {
        if (!h->shelf->keep(h->shelf, json_raw(msg), &part->where, e))
            return false;
    } else {
        part->text = arena_str(&h->arena, text);
    }
    *(odd->last ? &odd->last->next : &odd->first) = part;
    odd->last = part;
    return true;
}

/* A request that was answered after all, be it with an error, is the script's; unless that
 * only says how it was refused, as does an error that names no request. */
static void note_answer(struct http_script *h, struct http_pending *p,
                        const struct mcp_message *m)
{
    bool same = str_eq(json_raw(m->id), p->told->id);

    if (p->refused && (!same || mcp_error_is(m, MCP_HEADER_MISMATCH)))
        return;
    for (uint32_t i = 0; i < p->told->count; i++)
        fact_of(h, p->told, i)->answered = true;
    if (p->odd && same) {
        map_remove(&h->odd, map_number(&p->key));
        p->odd = NULL;
    }
}

static void note_agreed(struct http_script *h, uint64_t session, struct json_val version)
{
    enum mcp_version v = mcp_version_parse(json_text(version, &h->scratch));

    if (v != MCP_VERSION_UNKNOWN)
        map_put(&h->agreed, map_number(&session), (void *)(uintptr_t)v);
}

/* A stream of HTTP+SSE is the session's, and no answer to what opened it. */
static bool put_on(struct http_script *h, const struct http_pending *p, const struct record *r,
                   struct err *e)
{
    struct record alone = *r;

    if (p->sse && r->has & HAS_SESSION)
        alone.has &= ~((unsigned)HAS_EXCHANGE | HAS_STREAM);
    return h->to->put(h->to, &alone, e);
}

static bool hear_server(struct http_script *h, struct http_pending *p, const struct record *r,
                        struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &h->scratch);

    if (p->ours)
        return true;
    if (!(r->has & HAS_REDELIVERS))
        p->told->messages++;
    p->events++;
    if (p->is_odd)
        return !p->odd || add_part(h, p->odd, r->message.msg, STR_NONE, e);
    if (m.kind == MCP_RESULT)
        http_params_learn(&h->params, json_get(m.root, STR("result")));
    if (p->begins && m.kind == MCP_RESULT && r->has & HAS_SESSION)
        note_agreed(h, r->session, json_get(m.result, STR("protocolVersion")));
    if (mcp_is_response(&m) && p->told->id.len)
        note_answer(h, p, &m);
    if (p->odd && !add_part(h, p->odd, r->message.msg, STR_NONE, e))
        return false;
    return put_on(h, p, r, e);
}

static bool hear_raw(struct http_script *h, struct http_pending *p, const struct record *r,
                     struct err *e)
{
    if (r->bytes.from_to == TO_CLIENT)
        return !p->odd || add_part(h, p->odd, JSON_VAL_NONE, r->bytes.bytes, e);
    if (p->call.kind == INTAKE_EMPTY) {
        p->call.kind = INTAKE_OTHER;
        p->call.raw = r->bytes.bytes;
        judge(h, p);
    }
    return true;
}

/* Where a stream of HTTP+SSE says that messages are to be posted. Of several the first is
 * what clients of a replay find. */
static void see_endpoint(struct http_script *h, struct http_pending *p, struct str said)
{
    struct url base = { .path = p->path, .authority = { .host = STR("localhost") } }, meant;
    struct err e = ERR_NONE;
    bool named;

    p->sse = true;
    p->is_odd = false; /* it needed no session: it has begun one */
    if (p->odd)
        map_remove(&h->odd, map_number(&p->key));
    p->odd = NULL;
    if (h->sse_path.len || !reference_resolve(&meant, &named, said, &base, &h->scratch, &e))
        return;
    h->sse_path = arena_str(&h->arena, p->path);
    h->posts_path = arena_str(&h->arena, meant.path);
}

static void add_beat(struct http_script *h, struct http_told *t, bool cut, int64_t retry_ms)
{
    struct http_beat *b = arena_new(&h->arena, struct http_beat);

    *b = (struct http_beat){ .after = t->messages, .cut = cut, .retry_ms = retry_ms };
    if (t->last)
        t->last->next = b;
    else
        for (uint32_t i = 0; i < t->count; i++)
            fact_of(h, t, i)->beats = b;
    t->last = b;
}

/* An event without a message. One with an id is for the client to come back to; if it comes
 * before anything else, it primes it. */
static void see_event(struct http_script *h, struct http_pending *p, const struct record *r)
{
    bool names_place = r->sse.id.len && !str_trim(r->sse.data).len;
    bool primes = names_place && !p->events;

    if (!(r->has & HAS_N))
        return;
    if (str_eq(r->sse.event, STR("endpoint")))
        see_endpoint(h, p, r->sse.data);
    p->events++;
    for (uint32_t i = 0; i < p->told->count; i++)
        fact_of(h, p->told, i)->has_ids |= r->sse.id.len > 0;
    if (p->told->count && names_place)
        add_beat(h, p->told, false, r->has & HAS_RETRY ? (int64_t)r->sse.retry : -1);
    if (!str_eq(p->call.method, STR("GET")) || !primes || p->told->count)
        return;
    h->stream_primed = h->stream_has_ids = true;
    if (p->version != MCP_VERSION_UNKNOWN && p->version < h->stream_version)
        h->stream_version = p->version;
    if (r->has & HAS_RETRY)
        h->stream_retry_ms = (int64_t)r->sse.retry;
}

/* Ids of events that carry messages. A GET may go on with the stream of a call. */
static void see_event_of(struct http_script *h, const struct http_pending *p,
                         const struct record *r)
{
    struct json_fault fault;
    struct json j;

    if (!r->message.event.len)
        return;
    json_init(&j);
    if (json_scan(&j, r->message.event, &fault) &&
        json_exists(json_get(json_root(&j), STR("id")))) {
        for (uint32_t i = 0; i < p->told->count; i++)
            fact_of(h, p->told, i)->has_ids = true;
        h->stream_has_ids |= !p->told->count && str_eq(p->call.method, STR("GET"));
    }
    json_release(&j);
}

/* A stream that the server ended without an answer is to be resumed. */
static void see_cut(struct http_script *h, struct http_pending *p, const struct record *r)
{
    struct http_told *t = p->told;
    const struct http_fact *f = t->count ? fact_of(h, t, 0) : NULL;

    if (!f || !f->sse || f->answered || !f->has_ids || !str_eq(r->http.by, STR("server")))
        return;
    add_beat(h, t, true, -1);
    if (!(r->has & HAS_STREAM))
        return;
    if (t == &p->own) {
        t = arena_new(&h->arena, struct http_told);
        *t = p->own;
        t->id = arena_str(&h->arena, t->id);
    }
    map_put(&h->cut, map_number(&r->stream), t);
}

static void see_end(struct http_script *h, struct http_pending *p, const struct record *r)
{
    if (p->late && p->answered && !p->judged) /* nothing came after all */
        see_both(h, p, &p->head);
    see_cut(h, p, r);
    map_remove(&h->open, map_number(&r->exchange));
    close_pending(p);
}

static bool hear(struct http_script *h, struct http_pending *p, const struct record *r,
                 struct err *e)
{
    if (r->kind == RECORD_RAW)
        return hear_raw(h, p, r, e);
    see_event_of(h, p, r);
    return r->message.dir == TO_SERVER ? hear_client(h, p, r, e) : hear_server(h, p, r, e);
}

static bool is_of_client(const struct record *r)
{
    return (r->kind == RECORD_RAW ? r->bytes.from_to : r->message.dir) == TO_SERVER;
}

static bool put_into(struct http_script *h, struct http_pending *p, const struct record *r,
                     struct err *e)
{
    bool odd, ok;

    switch (r->kind) {
    case RECORD_MESSAGE:
    case RECORD_RAW:
        ok = hear(h, p, r, e);
        if (p->late && p->answered && is_of_client(r))
            see_both(h, p, &p->head);
        return ok;
    case RECORD_HTTP_RESPONSE:
        see_response(h, p, r);
        break;
    case RECORD_SSE:
        see_event(h, p, r);
        break;
    default:
        break;
    }
    odd = p->is_odd;
    if (r->kind == RECORD_HTTP_END)
        see_end(h, p, r);
    return odd || h->to->put(h->to, r, e);
}

static void add_bare_fact(struct http_script *h, const struct record_http *http)
{
    if (h->fact_count && h->facts[h->fact_count - 1].seq >= h->bare_seq)
        return; /* facts are sorted by seq */
    h->facts = vast_reserve(h->facts, &h->fact_cap, h->fact_count + 1, sizeof *h->facts);
    h->facts[h->fact_count++] = (struct http_fact){ .seq = (uint32_t)h->bare_seq,
                                                    .status = (uint16_t)http->status,
                                                    .json = str_eq(http->media, STR("json")),
                                                    .sse = str_eq(http->media, STR("sse")) };
}

/* A record of an exchange whose HTTP request was not recorded. */
static void see_bare(struct http_script *h, const struct record *r)
{
    struct http_fact *last = h->fact_count ? &h->facts[h->fact_count - 1] : NULL;
    bool same = h->bare_seq && r->exchange == h->bare;

    if (!(r->has & HAS_EXCHANGE))
        return;
    if (r->kind == RECORD_MESSAGE && r->message.dir == TO_SERVER) {
        h->bare = r->exchange;
        h->bare_seq = r->has & HAS_SEQ && r->message.seq <= UINT32_MAX ? r->message.seq : 0;
    } else if (r->kind == RECORD_HTTP_RESPONSE && same) {
        add_bare_fact(h, &r->http);
    } else if (r->kind == RECORD_MESSAGE && same && last && last->seq == h->bare_seq) {
        last->answered = true;
    }
}

static bool put(struct sink *self, const struct record *r, struct err *e)
{
    struct http_script *h = (struct http_script *)self;
    struct http_pending *p;

    arena_clear(&h->scratch);
    if (r->kind == RECORD_HTTP_REQUEST)
        see_request(h, r);
    p = find_open(h, r);
    if (p)
        return put_into(h, p, r, e);
    see_bare(h, r);
    return h->to->put(h->to, r, e);
}

const struct http_fact *http_script_fact(const struct http_script *h, uint32_t seq)
{
    size_t low = 0, high = h->fact_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (h->facts[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->fact_count && h->facts[low].seq == seq ? &h->facts[low] : NULL;
}

bool http_script_primes(enum mcp_version live, enum mcp_version recorded)
{
    return live >= MCP_2025_11_25 || (recorded != MCP_VERSION_UNKNOWN && live >= recorded);
}

/* Whether it is the path where the recorded server had streams of HTTP+SSE. Parts of which the
 * recording does not tell what they are may be anything. */
static bool is_sse_path(const struct http_script *h, struct str path)
{
    struct str recorded = h->sse_path;
    bool fits = recorded.len > 0;

    while (fits && (recorded.len || path.len)) {
        struct str part = str_cut(&recorded, '/'), live = str_cut(&path, '/');

        fits = str_eq(part, live) || (live.len && str_starts(part, STR("[REDACTED")));
    }
    return fits;
}

const struct http_odd *http_script_odd(const struct http_script *h, const struct http_call *c,
                                       struct str path, struct arena *a)
{
    uint64_t key;

    if (h->no_post && str_eq(c->method, STR("POST")) && !c->posted && is_sse_path(h, path))
        return h->no_post;
    key = h->odd.count ? http_call_key(c, a) : 0;
    return key ? map_get(&h->odd, map_number(&key)) : NULL;
}

/* A part that is not told is none that a client could ask for. */
struct str http_script_path(const struct http_script *h)
{
    bool told = str_find(h->sse_path, '[') == h->sse_path.len;

    return told ? h->sse_path : STR(HTTP_SCRIPT_SSE_PATH);
}

bool http_script_opens_sse(const struct http_script *h, const struct http_call *c,
                           struct str path)
{
    return str_eq(c->method, STR("GET")) && !fields_count(c->fields, STR("mcp-session-id")) &&
           !fields_count(c->fields, STR("last-event-id")) &&
           (str_eq(path, STR(HTTP_SCRIPT_SSE_PATH)) || is_sse_path(h, path));
}

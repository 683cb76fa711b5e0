#include "format/cassette-gather.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/facts.h"
#include "trace/limits.h"

/* What HTTP says about one exchange of a live recording. */
struct exchange {
    uint64_t number;
    struct str method, path, response; /* owned; the last is JSON */
    enum cassette_type kind;
    bool has_kind, has_us, has_took;
    bool responded, sse;
    bool by_us;   /* the recorder itself responded: the server knows nothing of it */
    bool carried; /* a message of the client's */
    int64_t us;   /* of the request */
    uint64_t status, took_ms;
    uint64_t *tags; /* of its interactions, also of those that are gone */
    size_t count, cap;
};

/* An interaction that waits for its answer or for the end of its exchange. */
struct waiting {
    uint64_t tag;
    struct exchange *exchange;     /* NULL: there is none, or it has ended */
    struct cassette_interaction i; /* its texts are owned */
    bool has_us;
    int64_t us;
};

struct cassette_gather {
    struct cassette_sink *to;
    struct arena arena; /* texts of the metadata */
    struct cassette_metadata meta;
    bool headed, told; /* the metadata is a cassette's */
    struct pairing pairs;
    struct facts facts;

    /* Of a cassette: the interaction at hand. */
    struct arena texts;
    struct cassette_interaction now;
    bool any, typed;
    uint64_t number;

    /* Of anything else. */
    struct map exchanges, open; /* by number and by tag, in order */
    uint64_t tags;
    size_t held; /* bytes of texts in the two maps */
};

struct cassette_gather *cassette_gather_new(struct cassette_sink *to)
{
    struct cassette_gather *g = mem_new(struct cassette_gather);
    struct record unknown = { .kind = RECORD_HEADER };

    g->to = to;
    cassette_model_from_header(&unknown, &g->arena, &g->meta);
    pairing_init(&g->pairs);
    facts_init(&g->facts);
    map_init(&g->exchanges);
    map_init(&g->open);
    return g;
}

static struct str keep(struct cassette_gather *g, struct str s)
{
    char *at = mem_alloc(s.len + 1);

    if (s.len)
        memcpy(at, s.at, s.len);
    g->held += s.len;
    return str_n(at, s.len);
}

static void let_go(struct cassette_gather *g, struct str s)
{
    g->held -= s.len;
    free((char *)s.at);
}

/* What a message tells about client and server, and the request it answers. */
static const struct pairing_request *learn(struct cassette_gather *g, const struct record *r,
                                           const struct mcp_message *m, uint64_t tag)
{
    const struct pairing_request *asked = NULL;

    if (m->kind == MCP_REQUEST)
        pairing_ask(&g->pairs, r, m, tag);
    else if (mcp_is_response(m))
        asked = pairing_answer(&g->pairs, r, m);
    facts_see(&g->facts, r->message.dir, m, asked ? asked->method : STR_NONE);
    return asked;
}

static void end_interaction(struct cassette_gather *g)
{
    if (g->any)
        g->to->put(g->to, &g->now);
    arena_clear(&g->texts);
    g->now = (struct cassette_interaction){ .type = CASSETTE_LIFECYCLE, .status = 200 };
    g->any = g->typed = false;
}

static struct str copy(struct cassette_gather *g, struct str s)
{
    return s.at ? arena_str(&g->texts, s) : STR_NONE;
}

static void take_message(struct cassette_gather *g, const struct record *r)
{
    struct cassette_interaction *i = &g->now;
    struct mcp_message m = mcp_classify(r->message.msg, &g->texts);
    struct str text = copy(g, json_raw(r->message.msg));

    learn(g, r, &m, 0);
    if (r->message.dir == TO_CLIENT) {
        i->response = text;
        if (r->has & HAS_LATENCY)
            i->latency_ms = r->message.latency_ms;
        return;
    }
    i->request = text;
    if (!g->typed)
        i->type = cassette_model_usual_type(r->message.msg, i->method);
}

/* Only a cassette has exchanges that nobody timed. */
static bool is_cassettes(const struct record *r)
{
    return r->has & HAS_EXCHANGE && !(r->has & (HAS_US | HAS_WALL));
}

static void take_literally(struct cassette_gather *g, const struct record *r)
{
    struct cassette_interaction *i = &g->now;

    if (!g->any || r->exchange != g->number)
        end_interaction(g);
    g->any = true;
    g->number = r->exchange;
    if (r->kind == RECORD_HTTP_REQUEST) {
        i->method = copy(g, r->http.method);
        i->path = copy(g, r->http.path);
        i->type = cassette_model_usual_type(JSON_VAL_NONE, i->method);
        g->typed = cassette_model_type(r->http.kind, &i->type);
    } else if (r->kind == RECORD_HTTP_RESPONSE) {
        i->status = r->http.status;
        i->sse = str_eq(r->http.media, STR("sse"));
        if (r->has & HAS_LATENCY)
            i->latency_ms = r->http.took_ms;
    } else if (r->kind == RECORD_MESSAGE) {
        take_message(g, r);
    }
}

static struct exchange *exchange_of(struct cassette_gather *g, const struct record *r)
{
    struct exchange *x;

    if (!(r->has & HAS_EXCHANGE))
        return NULL;
    x = map_get(&g->exchanges, map_number(&r->exchange));
    if (!x) {
        x = mem_new(struct exchange);
        x->number = r->exchange;
        map_put(&g->exchanges, map_number(&x->number), x);
    }
    return x;
}

static void forget_exchange(struct cassette_gather *g, struct exchange *x)
{
    map_remove(&g->exchanges, map_number(&x->number));
    let_go(g, x->method);
    let_go(g, x->path);
    let_go(g, x->response);
    free(x->tags);
    free(x);
}

static void forget(struct cassette_gather *g, struct waiting *q)
{
    map_remove(&g->open, map_number(&q->tag));
    let_go(g, q->i.request);
    let_go(g, q->i.response);
    free(q);
}

static uint64_t ms_between(int64_t from_us, int64_t to_us)
{
    return to_us > from_us ? (uint64_t)(to_us - from_us) / 1000 : 0;
}

/* What the exchange says about its interaction, as far as that is not known better. */
static void learn_response(struct waiting *q, const struct exchange *x)
{
    if (!x->responded)
        return;
    q->i.has_status = true;
    q->i.status = x->status;
    q->i.sse = x->sse;
    if (!q->i.has_latency && x->has_took) {
        q->i.has_latency = true;
        q->i.latency_ms = x->took_ms;
    }
}

static void complete(struct cassette_gather *g, struct waiting *q)
{
    if (q->exchange)
        learn_response(q, q->exchange);
    if (!q->i.has_status) /* as mcp-recorder has it on stdio */
        q->i.status = q->i.response.at ? 200 : 202;
    g->to->put(g->to, &q->i);
    forget(g, q);
}

static void see_http_request(struct cassette_gather *g, const struct record *r)
{
    struct exchange *x = exchange_of(g, r);

    if (!x)
        return;
    let_go(g, x->method);
    let_go(g, x->path);
    x->method = r->http.method.at ? keep(g, r->http.method) : STR_NONE;
    x->path = r->http.path.at ? keep(g, r->http.path) : STR_NONE;
    x->has_kind = cassette_model_type(r->http.kind, &x->kind);
    x->has_us = r->has & HAS_US;
    x->us = r->us;
}

static void see_http_response(struct cassette_gather *g, const struct record *r)
{
    struct exchange *x = exchange_of(g, r);

    if (!x)
        return;
    x->responded = true;
    x->status = r->http.status;
    x->sse = str_eq(r->http.media, STR("sse"));
    x->by_us = str_eq(r->http.by, STR("mcpreel"));
    x->has_took = r->has & HAS_LATENCY || (x->has_us && r->has & HAS_US);
    x->took_ms = r->has & HAS_LATENCY ? r->http.took_ms : ms_between(x->us, r->us);
}

static enum cassette_type type_of_bare(const struct exchange *x)
{
    return x->has_kind ? x->kind : cassette_model_usual_type(JSON_VAL_NONE, x->method);
}

/* An exchange that carried no message: a stream that was opened, a session that was
 * ended, a body that is none. */
static void put_bare_exchange(struct cassette_gather *g, const struct exchange *x)
{
    struct cassette_interaction i = {
        .type = type_of_bare(x),
        .response = x->response,
        .sse = x->sse,
        .status = x->status,
        .latency_ms = x->took_ms,
    };

    if (i.type == CASSETTE_LIFECYCLE) {
        i.method = x->method;
        i.path = x->path;
    }
    g->to->put(g->to, &i);
}

/* A stream may be resumed, and the answer may come on another one. */
static bool may_be_answered(const struct waiting *q, const struct exchange *x)
{
    return q->i.type == CASSETTE_REQUEST && !q->i.response.at && (x->sse || !x->responded);
}

static void end_exchange(struct cassette_gather *g, struct exchange *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct waiting *q = map_get(&g->open, map_number(&x->tags[i]));

        if (!q)
            continue;
        if (x->by_us) {
            forget(g, q);
        } else if (may_be_answered(q, x)) {
            learn_response(q, x);
            q->exchange = NULL;
        } else {
            complete(g, q);
        }
    }
    if (!x->carried && x->responded && !x->by_us)
        put_bare_exchange(g, x);
    forget_exchange(g, x);
}

static struct waiting *add_waiting(struct cassette_gather *g, const struct record *r)
{
    struct waiting *q = mem_new(struct waiting);
    struct exchange *x = exchange_of(g, r);

    q->tag = ++g->tags;
    q->exchange = x;
    q->i.type = cassette_model_usual_type(r->message.msg, STR_NONE);
    q->i.request = keep(g, json_raw(r->message.msg));
    q->has_us = r->has & HAS_US;
    q->us = r->us;
    map_put(&g->open, map_number(&q->tag), q);
    if (x) {
        x->carried = true;
        x->tags = mem_reserve(x->tags, &x->cap, x->count + 1, sizeof *x->tags);
        x->tags[x->count++] = q->tag;
    }
    return q;
}

static void see_client(struct cassette_gather *g, const struct record *r,
                       const struct mcp_message *m)
{
    struct waiting *q;

    if (mcp_is_response(m))
        return;
    q = add_waiting(g, r);
    learn(g, r, m, q->tag);
    if (m->kind != MCP_REQUEST && !q->exchange)
        complete(g, q);
}

/* An error that names no request answers the one that its exchange has. */
static struct waiting *of_exchange(struct cassette_gather *g, const struct exchange *x,
                                   const struct mcp_message *m)
{
    if (!x || !x->count || json_type(m->id) > JSON_NULL)
        return NULL;
    return map_get(&g->open, map_number(&x->tags[x->count - 1]));
}

/* An answer to no request that anybody knows of. On HTTP it may be that to a body which is
 * no message, and has a place as such; otherwise there is none: mcp-recorder would send
 * "nothing" to a server in its stead, and count it as a request in its order. */
static void take_stray_answer(struct cassette_gather *g, const struct record *r,
                              struct exchange *x)
{
    struct cassette_interaction i = { .type = CASSETTE_REQUEST,
                                      .response = json_raw(r->message.msg),
                                      .status = 200 };

    if (x && !x->carried && !x->response.at && type_of_bare(x) == CASSETTE_REQUEST) {
        x->response = keep(g, i.response);
        return;
    }
    if (!(r->has & HAS_EXCHANGE))
        return;
    if (r->has & HAS_LATENCY)
        i.latency_ms = r->message.latency_ms;
    g->to->put(g->to, &i);
}

static void see_server(struct cassette_gather *g, const struct record *r,
                       const struct mcp_message *m)
{
    const struct pairing_request *asked;
    struct exchange *x = NULL;
    struct waiting *q;

    if (!mcp_is_response(m))
        return;
    if (r->has & HAS_EXCHANGE)
        x = map_get(&g->exchanges, map_number(&r->exchange));
    if (x && x->by_us)
        return;
    asked = learn(g, r, m, 0);
    q = asked ? map_get(&g->open, map_number(&asked->tag)) : of_exchange(g, x, m);
    if (!q || q->i.response.at) {
        take_stray_answer(g, r, x);
        return;
    }
    q->i.response = keep(g, json_raw(r->message.msg));
    q->i.has_latency = r->has & HAS_LATENCY || (q->has_us && r->has & HAS_US);
    q->i.latency_ms = r->has & HAS_LATENCY ? r->message.latency_ms : ms_between(q->us, r->us);
    if (asked)
        complete(g, q);
}

static void see_message(struct cassette_gather *g, const struct record *r)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    if (r->message.dir == TO_SERVER)
        see_client(g, r, &m);
    else
        see_server(g, r, &m);
    arena_release(&a);
}

static void see(struct cassette_gather *g, const struct record *r)
{
    struct exchange *x = NULL;

    if (!g->told && !g->meta.recorded_at.at && r->has & HAS_WALL)
        g->meta.recorded_at = cassette_model_date(r->wall_us, &g->arena);
    switch (r->kind) {
    case RECORD_MESSAGE:
        see_message(g, r);
        break;
    case RECORD_HTTP_REQUEST:
        see_http_request(g, r);
        break;
    case RECORD_HTTP_RESPONSE:
        see_http_response(g, r);
        break;
    case RECORD_HTTP_END:
        if (r->has & HAS_EXCHANGE)
            x = map_get(&g->exchanges, map_number(&r->exchange));
        if (x)
            end_exchange(g, x);
        break;
    default:
        break;
    }
}

/* Calls `each` for all values, oldest first; it may remove them. */
static void for_all(struct cassette_gather *g, const struct map *m,
                    void (*each)(struct cassette_gather *g, void *value))
{
    size_t count = m->count, i = 0;
    void **values = mem_alloc((count + 1) * sizeof *values);

    for (struct map_entry *at = NULL; (at = map_next(m, at));)
        values[i++] = at->value;
    for (i = 0; i < count; i++)
        each(g, values[i]);
    free(values);
}

static void end_one_exchange(struct cassette_gather *g, void *value)
{
    end_exchange(g, value);
}

/* Answered by HTTP, though by no message; or never. */
static void end_one_waiting(struct cassette_gather *g, void *value)
{
    struct waiting *q = value;

    if (q->i.has_status)
        complete(g, q);
    else
        forget(g, q);
}

void cassette_gather_end(struct cassette_gather *g)
{
    end_interaction(g);
    for_all(g, &g->exchanges, end_one_exchange);
    for_all(g, &g->open, end_one_waiting);
}

static void take_header(struct cassette_gather *g, const struct record *r)
{
    cassette_gather_end(g);
    if (!g->headed)
        g->told = cassette_model_from_header(r, &g->arena, &g->meta);
    g->headed = true;
}

bool cassette_gather_put(struct cassette_gather *g, const struct record *r)
{
    scope_see(&g->pairs.scope, r);
    if (r->kind == RECORD_HEADER)
        take_header(g, r);
    else if (is_cassettes(r))
        take_literally(g, r);
    else
        see(g, r);
    return g->open.count + g->exchanges.count <= LIMIT_OPEN_REQUESTS && g->held <= LIMIT_LINE;
}

struct cassette_metadata cassette_gather_finish(struct cassette_gather *g)
{
    cassette_gather_end(g);
    if (!g->told && g->facts.protocol.len)
        g->meta.protocol = arena_str(&g->arena, buf_str(&g->facts.protocol));
    if (!g->told && g->facts.server_info.len)
        g->meta.server_info = arena_str(&g->arena, buf_str(&g->facts.server_info));
    return g->meta;
}

static void forget_one_waiting(struct cassette_gather *g, void *value)
{
    forget(g, value);
}

static void forget_one_exchange(struct cassette_gather *g, void *value)
{
    forget_exchange(g, value);
}

void cassette_gather_free(struct cassette_gather *g)
{
    for_all(g, &g->open, forget_one_waiting);
    for_all(g, &g->exchanges, forget_one_exchange);
    map_release(&g->open);
    map_release(&g->exchanges);
    pairing_release(&g->pairs);
    facts_release(&g->facts);
    arena_release(&g->arena);
    arena_release(&g->texts);
    free(g);
}

#include "format/cassette-pair.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "trace/recording-info.h"

/* An HTTP exchange of a live recording. */
struct cassette_exchange {
    uint64_t number;
    struct str method, path, response; /* owned; the last is JSON */
    enum cassette_type kind;
    bool has_kind, has_us, has_took;
    bool has_response, sse;
    bool by_mcpreel;  /* the recorder itself responded, not the server */
    bool has_message; /* set by the first message of the client */
    int64_t us;       /* of the request */
    uint64_t status, took_ms;
    uint64_t *tags; /* of its interactions, completed ones included */
    size_t count, cap;
};

/* An interaction without its response or the end of its exchange. */
struct cassette_pending {
    uint64_t tag;
    struct cassette_exchange *exchange; /* NULL: none, or it has ended */
    struct cassette_interaction i;      /* owns its texts */
    bool has_us;
    int64_t us;
};

struct cassette_pair {
    struct cassette_sink *to;
    struct arena arena; /* texts of the metadata */
    struct cassette_metadata meta;
    bool seen_header, from_cassette; /* from_cassette: `meta` is the original */
    struct pairing pairs;
    struct recording_info info;

    /* For records of a cassette: the current interaction. */
    struct arena texts;
    struct cassette_interaction current;
    bool has_current, has_type;
    uint64_t current_exchange;

    /* For all other records. */
    struct map exchanges, pending; /* by number and by tag, in order */
    uint64_t last_tag;
    size_t held_bytes; /* texts in the two maps */
};

struct cassette_pair *cassette_pair_new(struct cassette_sink *to)
{
    struct cassette_pair *g = mem_new(struct cassette_pair);
    struct record unknown = { .kind = RECORD_HEADER };

    g->to = to;
    cassette_model_from_header(&unknown, &g->arena, &g->meta);
    pairing_init(&g->pairs);
    recording_info_init(&g->info);
    map_init(&g->exchanges);
    map_init(&g->pending);
    return g;
}

static struct str copy_owned(struct cassette_pair *g, struct str s)
{
    char *at = mem_alloc(s.len + 1);

    if (s.len)
        memcpy(at, s.at, s.len);
    g->held_bytes += s.len;
    return str_n(at, s.len);
}

static void free_owned(struct cassette_pair *g, struct str s)
{
    g->held_bytes -= s.len;
    free((char *)s.at);
}

/* Collects client and server info, and returns the request that a response answers. */
static const struct pairing_request *match_message(struct cassette_pair *g,
                                                   const struct record *r,
                                                   const struct mcp_message *m, uint64_t tag)
{
    const struct pairing_request *matched = NULL;

    if (m->kind == MCP_REQUEST)
        pairing_add_request(&g->pairs, r, m, tag);
    else if (mcp_is_response(m))
        matched = pairing_match_response(&g->pairs, r, m);
    recording_info_update(&g->info, r->message.dir, m, matched ? matched->method : STR_NONE);
    return matched;
}

static void end_interaction(struct cassette_pair *g)
{
    if (g->has_current)
        g->to->put(g->to, &g->current);
    arena_clear(&g->texts);
    g->current = (struct cassette_interaction){ .type = CASSETTE_LIFECYCLE, .status = 200 };
    g->has_current = g->has_type = false;
}

static struct str copy_text(struct cassette_pair *g, struct str s)
{
    return s.at ? arena_str(&g->texts, s) : STR_NONE;
}

static void add_message(struct cassette_pair *g, const struct record *r)
{
    struct cassette_interaction *i = &g->current;
    struct mcp_message m = mcp_classify(r->message.msg, &g->texts);
    struct str text = copy_text(g, json_raw(r->message.msg));

    match_message(g, r, &m, 0);
    if (r->message.dir == TO_CLIENT) {
        i->response = text;
        if (r->has & HAS_LATENCY)
            i->latency_ms = r->message.latency_ms;
        return;
    }
    i->request = text;
    if (!g->has_type)
        i->type = cassette_model_default_type(r->message.msg, i->method);
}

/* Only exchanges of a cassette have no times. */
static bool is_from_cassette(const struct record *r)
{
    return r->has & HAS_EXCHANGE && !(r->has & (HAS_US | HAS_WALL));
}

static void add_cassette_record(struct cassette_pair *g, const struct record *r)
{
    struct cassette_interaction *i = &g->current;

    if (!g->has_current || r->exchange != g->current_exchange)
        end_interaction(g);
    g->has_current = true;
    g->current_exchange = r->exchange;
    if (r->kind == RECORD_HTTP_REQUEST) {
        i->method = copy_text(g, r->http.method);
        i->path = copy_text(g, r->http.path);
        i->type = cassette_model_default_type(JSON_VAL_NONE, i->method);
        g->has_type = cassette_model_parse_type(r->http.kind, &i->type);
    } else if (r->kind == RECORD_HTTP_RESPONSE) {
        i->status = r->http.status;
        i->sse = str_eq(r->http.media, STR("sse"));
        if (r->has & HAS_LATENCY)
            i->latency_ms = r->http.took_ms;
    } else if (r->kind == RECORD_MESSAGE) {
        add_message(g, r);
    }
}

static struct cassette_exchange *exchange_of(struct cassette_pair *g, const struct record *r)
{
    struct cassette_exchange *x;

    if (!(r->has & HAS_EXCHANGE))
        return NULL;
    x = map_get(&g->exchanges, map_number_key(&r->exchange));
    if (!x) {
        x = mem_new(struct cassette_exchange);
        x->number = r->exchange;
        map_put(&g->exchanges, map_number_key(&x->number), x);
    }
    return x;
}

static void free_exchange(struct cassette_pair *g, struct cassette_exchange *x)
{
    map_remove(&g->exchanges, map_number_key(&x->number));
    free_owned(g, x->method);
    free_owned(g, x->path);
    free_owned(g, x->response);
    free(x->tags);
    free(x);
}

static void free_pending(struct cassette_pair *g, struct cassette_pending *q)
{
    map_remove(&g->pending, map_number_key(&q->tag));
    free_owned(g, q->i.request);
    free_owned(g, q->i.response);
    free(q);
}

static uint64_t ms_between(int64_t from_us, int64_t to_us)
{
    return to_us > from_us ? (uint64_t)(to_us - from_us) / 1000 : 0;
}

/* Sets what the message itself did not: status, SSE, latency. */
static void set_http_response(struct cassette_pending *q, const struct cassette_exchange *x)
{
    if (!x->has_response)
        return;
    q->i.has_status = true;
    q->i.status = x->status;
    q->i.sse = x->sse;
    if (!q->i.has_latency && x->has_took) {
        q->i.has_latency = true;
        q->i.latency_ms = x->took_ms;
    }
}

static void complete_pending(struct cassette_pair *g, struct cassette_pending *q)
{
    if (q->exchange)
        set_http_response(q, q->exchange);
    if (!q->i.has_status) /* like mcp-recorder on stdio */
        q->i.status = q->i.response.at ? 200 : 202;
    g->to->put(g->to, &q->i);
    free_pending(g, q);
}

static void handle_http_request(struct cassette_pair *g, const struct record *r)
{
    struct cassette_exchange *x = exchange_of(g, r);

    if (!x)
        return;
    free_owned(g, x->method);
    free_owned(g, x->path);
    x->method = r->http.method.at ? copy_owned(g, r->http.method) : STR_NONE;
    x->path = r->http.path.at ? copy_owned(g, r->http.path) : STR_NONE;
    x->has_kind = cassette_model_parse_type(r->http.kind, &x->kind);
    x->has_us = r->has & HAS_US;
    x->us = r->us;
}

static void handle_http_response(struct cassette_pair *g, const struct record *r)
{
    struct cassette_exchange *x = exchange_of(g, r);

    if (!x)
        return;
    x->has_response = true;
    x->status = r->http.status;
    x->sse = str_eq(r->http.media, STR("sse"));
    x->by_mcpreel = str_eq(r->http.by, STR("mcpreel"));
    x->has_took = r->has & HAS_LATENCY || (x->has_us && r->has & HAS_US);
    x->took_ms = r->has & HAS_LATENCY ? r->http.took_ms : ms_between(x->us, r->us);
}

static enum cassette_type type_of_bare(const struct cassette_exchange *x)
{
    return x->has_kind ? x->kind : cassette_model_default_type(JSON_VAL_NONE, x->method);
}

/* Writes an exchange without a message: a stream was opened, a session ended, or the body was
 * no message. */
static void put_bare_exchange(struct cassette_pair *g, const struct cassette_exchange *x)
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

/* A stream may be resumed, so the response may come on another one. */
static bool may_be_answered(const struct cassette_pending *q, const struct cassette_exchange *x)
{
    return q->i.type == CASSETTE_REQUEST && !q->i.response.at && (x->sse || !x->has_response);
}

static void end_exchange(struct cassette_pair *g, struct cassette_exchange *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct cassette_pending *q = map_get(&g->pending, map_number_key(&x->tags[i]));

        if (!q)
            continue;
        if (x->by_mcpreel) {
            free_pending(g, q);
        } else if (may_be_answered(q, x)) {
            set_http_response(q, x);
            q->exchange = NULL;
        } else {
            complete_pending(g, q);
        }
    }
    if (!x->has_message && x->has_response && !x->by_mcpreel)
        put_bare_exchange(g, x);
    free_exchange(g, x);
}

static struct cassette_pending *add_pending(struct cassette_pair *g, const struct record *r)
{
    struct cassette_pending *q = mem_new(struct cassette_pending);
    struct cassette_exchange *x = exchange_of(g, r);

    q->tag = ++g->last_tag;
    q->exchange = x;
    q->i.type = cassette_model_default_type(r->message.msg, STR_NONE);
    q->i.request = copy_owned(g, json_raw(r->message.msg));
    q->has_us = r->has & HAS_US;
    q->us = r->us;
    map_put(&g->pending, map_number_key(&q->tag), q);
    if (x) {
        x->has_message = true;
        x->tags = mem_reserve(x->tags, &x->cap, x->count + 1, sizeof *x->tags);
        x->tags[x->count++] = q->tag;
    }
    return q;
}

static void handle_client_message(struct cassette_pair *g, const struct record *r,
                                  const struct mcp_message *m)
{
    struct cassette_pending *q;

    if (mcp_is_response(m)) { /* the format has no place for it and its exchange */
        struct cassette_exchange *x = exchange_of(g, r);

        if (x)
            x->has_message = true;
        return;
    }
    q = add_pending(g, r);
    match_message(g, r, m, q->tag);
    if (m->kind != MCP_REQUEST && !q->exchange)
        complete_pending(g, q);
}

/* An error without id answers the request of its exchange. */
static struct cassette_pending *pending_of_exchange(struct cassette_pair *g,
                                                    const struct cassette_exchange *x,
                                                    const struct mcp_message *m)
{
    if (!x || !x->count || json_type(m->id) > JSON_NULL)
        return NULL;
    return map_get(&g->pending, map_number_key(&x->tags[x->count - 1]));
}

/* Handles a response without a request. Over HTTP it may answer a body that is no message, and
 * is stored as such. Otherwise it is dropped: mcp-recorder would replay it as an empty request,
 * and count that in its order. */
static void add_unmatched_response(struct cassette_pair *g, const struct record *r,
                                   struct cassette_exchange *x)
{
    struct cassette_interaction i = { .type = CASSETTE_REQUEST,
                                      .response = json_raw(r->message.msg),
                                      .status = 200 };

    if (x && !x->has_message && !x->response.at && type_of_bare(x) == CASSETTE_REQUEST) {
        x->response = copy_owned(g, i.response);
        return;
    }
    if (!(r->has & HAS_EXCHANGE))
        return;
    if (r->has & HAS_LATENCY)
        i.latency_ms = r->message.latency_ms;
    g->to->put(g->to, &i);
}

static void handle_server_message(struct cassette_pair *g, const struct record *r,
                                  const struct mcp_message *m)
{
    const struct pairing_request *matched;
    struct cassette_exchange *x = NULL;
    struct cassette_pending *q;

    if (!mcp_is_response(m))
        return;
    if (r->has & HAS_EXCHANGE)
        x = map_get(&g->exchanges, map_number_key(&r->exchange));
    if (x && x->by_mcpreel)
        return;
    matched = match_message(g, r, m, 0);
    q = matched ? map_get(&g->pending, map_number_key(&matched->tag))
                : pending_of_exchange(g, x, m);
    if (!q || q->i.response.at) {
        add_unmatched_response(g, r, x);
        return;
    }
    q->i.response = copy_owned(g, json_raw(r->message.msg));
    q->i.has_latency = r->has & HAS_LATENCY || (q->has_us && r->has & HAS_US);
    q->i.latency_ms = r->has & HAS_LATENCY ? r->message.latency_ms : ms_between(q->us, r->us);
    if (matched)
        complete_pending(g, q);
}

static void handle_message(struct cassette_pair *g, const struct record *r)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    if (r->message.dir == TO_SERVER)
        handle_client_message(g, r, &m);
    else
        handle_server_message(g, r, &m);
    arena_release(&a);
}

static void handle_record(struct cassette_pair *g, const struct record *r)
{
    struct cassette_exchange *x = NULL;

    if (!g->from_cassette && !g->meta.recorded_at.at && r->has & HAS_WALL)
        g->meta.recorded_at = cassette_model_format_date(r->wall_us, &g->arena);
    switch (r->kind) {
    case RECORD_MESSAGE:
        handle_message(g, r);
        break;
    case RECORD_HTTP_REQUEST:
        handle_http_request(g, r);
        break;
    case RECORD_HTTP_RESPONSE:
        handle_http_response(g, r);
        break;
    case RECORD_HTTP_END:
        if (r->has & HAS_EXCHANGE)
            x = map_get(&g->exchanges, map_number_key(&r->exchange));
        if (x)
            end_exchange(g, x);
        break;
    default:
        break;
    }
}

/* Calls `each` for all values, oldest first; it may remove them. */
static void for_each(struct cassette_pair *g, const struct map *m,
                     void (*each)(struct cassette_pair *g, void *value))
{
    size_t count = m->count, i = 0;
    void **values = mem_alloc((count + 1) * sizeof *values);

    for (struct map_entry *at = NULL; (at = map_next(m, at));)
        values[i++] = at->value;
    for (i = 0; i < count; i++)
        each(g, values[i]);
    free(values);
}

static void end_one_exchange(struct cassette_pair *g, void *value)
{
    end_exchange(g, value);
}

/* Answered by an HTTP status without a message, or never. */
static void end_one_pending(struct cassette_pair *g, void *value)
{
    struct cassette_pending *q = value;

    if (q->i.has_status)
        complete_pending(g, q);
    else
        free_pending(g, q);
}

void cassette_pair_end(struct cassette_pair *g)
{
    end_interaction(g);
    for_each(g, &g->exchanges, end_one_exchange);
    for_each(g, &g->pending, end_one_pending);
}

static void handle_header(struct cassette_pair *g, const struct record *r)
{
    cassette_pair_end(g);
    if (!g->seen_header)
        g->from_cassette = cassette_model_from_header(r, &g->arena, &g->meta);
    g->seen_header = true;
}

bool cassette_pair_put(struct cassette_pair *g, const struct record *r)
{
    pairing_track(&g->pairs, r);
    if (r->kind == RECORD_HEADER)
        handle_header(g, r);
    else if (is_from_cassette(r))
        add_cassette_record(g, r);
    else
        handle_record(g, r);
    return g->pending.count + g->exchanges.count <= LIMIT_OPEN_REQUESTS &&
           g->held_bytes <= LIMIT_LINE;
}

struct cassette_metadata cassette_pair_finish(struct cassette_pair *g)
{
    cassette_pair_end(g);
    if (!g->from_cassette && g->info.protocol.len)
        g->meta.protocol = arena_str(&g->arena, buf_str(&g->info.protocol));
    if (!g->from_cassette && g->info.server_info.len)
        g->meta.server_info = arena_str(&g->arena, buf_str(&g->info.server_info));
    return g->meta;
}

static void free_one_pending(struct cassette_pair *g, void *value)
{
    free_pending(g, value);
}

static void free_one_exchange(struct cassette_pair *g, void *value)
{
    free_exchange(g, value);
}

void cassette_pair_free(struct cassette_pair *g)
{
    for_each(g, &g->pending, free_one_pending);
    for_each(g, &g->exchanges, free_one_exchange);
    map_release(&g->pending);
    map_release(&g->exchanges);
    pairing_release(&g->pairs);
    recording_info_release(&g->info);
    arena_release(&g->arena);
    arena_release(&g->texts);
    free(g);
}

/* format/jsonrpc.c - the format of bare JSON-RPC messages, one per line.
 *
 * Lines have no direction, so it is inferred: from a method that only one side may send, or
 * from the request that a response answers. All other messages count as the client's. A message
 * may have its time as `timestamp_ms` or `timestamp`, in milliseconds. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/ndjson.h"
#include "mcp/method.h"
#include "trace/pairing.h"

struct jsonrpc {
    struct ndjson lines;
    struct arena arena;
    struct pairing pairs;
    uint64_t requests; /* so far */
};

static void *jsonrpc_open(void)
{
    struct jsonrpc *s = mem_new(struct jsonrpc);

    ndjson_init(&s->lines);
    pairing_init(&s->pairs);
    return s;
}

static void jsonrpc_close(void *state)
{
    struct jsonrpc *s = state;

    ndjson_release(&s->lines);
    pairing_release(&s->pairs);
    arena_release(&s->arena);
    free(s);
}

static void jsonrpc_resync(void *state)
{
    struct jsonrpc *s = state;

    ndjson_resync(&s->lines);
}

static bool is_message(struct json_val v, struct arena *a)
{
    enum mcp_kind kind = mcp_classify(v, a).kind;

    return kind != MCP_OTHER && kind != MCP_BATCH;
}

/* For a first message that is longer than the head, truncated or damaged: the members that SDKs
 * and users write first. */
static bool starts_like_message(struct str head)
{
    static const struct str starts[] = {
        STR_INIT("{\"jsonrpc\":\"2.0\""),
        STR_INIT("{\"method\":\""),
        STR_INIT("{\"id\":"),
        STR_INIT("{\"result\":{"),
        STR_INIT("{\"error\":{"),
        STR_INIT("{\"params\":{"),
        STR_INIT("[{\"jsonrpc\":\"2.0\""),
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (ndjson_starts_with(&head, starts[i]))
            return true;
    return false;
}

/* A batch is recognised, too, so that it can be rejected as such. */
static bool is_first_message(struct json_val v, struct arena *a)
{
    return json_exists(json_get(v, STR("jsonrpc"))) && is_message(v, a);
}

static enum probe_rank jsonrpc_probe(struct str head)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    size_t used;
    enum probe_rank rank = PROBE_NONE;

    head = str_trim(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault)) {
        if (is_first_message(json_root(&j), &a))
            rank = PROBE_SURE;
        else if (is_first_message(json_item(json_root(&j), 0), &a))
            rank = PROBE_WEAK;
    } else if (starts_like_message(head)) {
        rank = str_starts(head, STR("[")) ? PROBE_WEAK : PROBE_SURE;
    }
    json_release(&j);
    arena_release(&a);
    return rank;
}

/* Methods that both sides may send, but that nearly always come from the server. */
static bool is_usually_from_server(struct str method)
{
    return str_eq(method, STR("notifications/progress")) ||
           str_eq(method, STR("notifications/tasks/status"));
}

/* The open request of a direction with an id; there is one connection. */
static const struct pairing_request *find_open_request(struct jsonrpc *s, enum record_dir dir,
                                                       struct json_val id)
{
    static const struct record anywhere = { .kind = RECORD_MESSAGE };

    return pairing_find(&s->pairs, &anywhere, dir, id, NULL);
}

static bool has_open_request(struct jsonrpc *s, enum record_dir dir, struct json_val id)
{
    return find_open_request(s, dir, id) != NULL;
}

static enum record_dir dir_of_method(struct jsonrpc *s, const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);
    struct json_val cancelled = json_get(m->params, STR("requestId"));

    if (!known || known->dir == MCP_C2S)
        return TO_SERVER;
    if (known->dir == MCP_S2C || is_usually_from_server(m->method))
        return TO_CLIENT;
    /* Ids are not reused before the response, so this is a request of the other side; and
     * only the requester cancels a request. */
    if (m->kind == MCP_REQUEST)
        return has_open_request(s, TO_SERVER, m->id) ? TO_CLIENT : TO_SERVER;
    return !has_open_request(s, TO_SERVER, cancelled) &&
                   has_open_request(s, TO_CLIENT, cancelled)
               ? TO_CLIENT
               : TO_SERVER;
}

/* A response has the opposite direction of its request. If both sides have an open request with
 * its id (both count from 0), the later one is answered first: a server sends requests while it
 * works on a call. */
static enum record_dir dir_of_response(struct jsonrpc *s, const struct mcp_message *m)
{
    const struct pairing_request *q = find_open_request(s, TO_CLIENT, m->id);
    uint64_t servers = q ? q->tag : 0;

    q = find_open_request(s, TO_SERVER, m->id);
    return servers > (q ? q->tag : 0) ? TO_SERVER : TO_CLIENT;
}

static void set_direction(struct jsonrpc *s, struct record *r, const struct mcp_message *m)
{
    if (mcp_is_response(m)) {
        r->message.dir = dir_of_response(s, m);
        pairing_match_response(&s->pairs, r, m);
        return;
    }
    r->message.dir = dir_of_method(s, m);
    if (m->kind == MCP_REQUEST)
        pairing_add_request(&s->pairs, r, m, ++s->requests);
}

static void read_time(struct record *r, struct json_val msg)
{
    int64_t ms;

    if ((json_int(json_get(msg, STR("timestamp_ms")), &ms) ||
         json_int(json_get(msg, STR("timestamp")), &ms)) &&
        ms > 0 && ms <= INT64_MAX / 1000) {
        r->has |= HAS_WALL;
        r->wall_us = ms * 1000;
    }
}

/* A batch is no damage, but not supported by this format. */
static enum next_result reject_batch(const struct window *w, size_t at, struct err *e)
{
    format_error(w, at, e, "a batch: a line must be one JSON-RPC message");
    err_hint(e, "write its messages on lines of their own: jq -c 'if type == \"array\" then "
                ".[] else . end'");
    return NEXT_ERROR;
}

static enum next_result jsonrpc_next(void *state, const struct window *w, struct consumed *t,
                                     struct record *r, struct err *e)
{
    struct jsonrpc *s = state;
    enum next_result next = ndjson_next(&s->lines, w, t, e);
    struct json_val line = json_root(&s->lines.json);
    struct mcp_message m;

    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    t->fatal = json_type(line) == JSON_ARRAY && json_count(line);
    if (t->fatal)
        return reject_batch(w, json_offset(line), e);
    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_offset(line), e,
                            "a line must be one JSON-RPC message, an object");
    m = mcp_classify(line, &s->arena);
    t->fatal = m.kind == MCP_OTHER && format_is_foreign(w, &jsonrpc_format, line, e);
    if (t->fatal)
        return NEXT_ERROR;
    if (m.kind == MCP_OTHER)
        return format_error(w, json_offset(line), e, "not a JSON-RPC message");
    *r = (struct record){ .kind = RECORD_MESSAGE };
    read_time(r, line);
    set_direction(s, r, &m);
    r->message.msg = line;
    ndjson_set_message(&s->lines, line, t);
    return NEXT_RECORD;
}

/* Messages of other formats may be no JSON-RPC. */
static bool is_writable(struct json_val msg)
{
    struct arena a = { 0 };
    bool ok = is_message(msg, &a);

    arena_release(&a);
    return ok;
}

static void jsonrpc_put(void *state, struct buf *to, const struct record *r)
{
    (void)state;
    if (r->kind != RECORD_MESSAGE || !is_writable(r->message.msg))
        return;
    buf_add(to, json_raw(r->message.msg));
    buf_add_ch(to, '\n');
}

const struct format jsonrpc_format = {
    .name = "jsonrpc",
    .about = "bare JSON-RPC messages, one per line",
    .ext = { ".jsonrpc" },
    .keeps = FEATURE_BYTES | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED | FEATURE_ORDER,
    .line_based = true,
    .probe = jsonrpc_probe,
    .open = jsonrpc_open,
    .next = jsonrpc_next,
    .close = jsonrpc_close,
    .resync = jsonrpc_resync,
    .put = jsonrpc_put,
};

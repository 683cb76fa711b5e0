/* format/jsonrpc.c - bare JSON-RPC messages, one per line.
 *
 * Nothing says who sent a message, so it is told by what it is: a method that only
 * one side may send, an answer to a request that was seen. What is left is taken for
 * the client's. A message may carry its time as `timestamp_ms` or `timestamp`, in
 * milliseconds. */
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

static void jsonrpc_drop(void *state)
{
    struct jsonrpc *s = state;

    ndjson_drop(&s->lines);
}

static bool is_message(struct json_val v, struct arena *a)
{
    enum mcp_kind kind = mcp_classify(v, a).kind;

    return kind != MCP_OTHER && kind != MCP_BATCH;
}

/* For a first message that is longer than the head, torn or broken: the members of an
 * envelope that the SDKs and people put first. */
static bool starts_like_one(struct str head)
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
        if (ndjson_starts(&head, starts[i]))
            return true;
    return false;
}

/* A batch is ours, too, if only to be called that. */
static bool is_first(struct json_val v, struct arena *a)
{
    return json_exists(json_get(v, STR("jsonrpc"))) && is_message(v, a);
}

static bool jsonrpc_probe(struct str head)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ours;

    head = str_trim(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault))
        ours = is_first(json_root(&j), &a) || is_first(json_item(json_root(&j), 0), &a);
    else
        ours = starts_like_one(head);
    json_release(&j);
    arena_release(&a);
    return ours;
}

/* Methods that both sides may send, but that nearly always come from the server: the
 * work they tell about is mostly its own. */
static bool is_mostly_the_servers(struct str method)
{
    return str_eq(method, STR("notifications/progress")) ||
           str_eq(method, STR("notifications/tasks/status"));
}

/* The request of one side that waits under an id; all stand on one connection. */
static const struct pairing_request *waiting(struct jsonrpc *s, enum record_dir dir,
                                             struct json_val id)
{
    static const struct record anywhere = { .kind = RECORD_MESSAGE };

    return pairing_peek(&s->pairs, &anywhere, dir, id, NULL);
}

static bool waits(struct jsonrpc *s, enum record_dir dir, struct json_val id)
{
    return waiting(s, dir, id) != NULL;
}

static enum record_dir side_of_method(struct jsonrpc *s, const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);
    struct json_val cancelled = json_get(m->params, STR("requestId"));

    if (!known || known->dir == MCP_C2S)
        return TO_SERVER;
    if (known->dir == MCP_S2C || is_mostly_the_servers(m->method))
        return TO_CLIENT;
    /* Nobody uses an id again before its answer, so this request is the other side's;
     * and only who asked takes a request back. */
    if (m->kind == MCP_REQUEST)
        return waits(s, TO_SERVER, m->id) ? TO_CLIENT : TO_SERVER;
    return !waits(s, TO_SERVER, cancelled) && waits(s, TO_CLIENT, cancelled) ? TO_CLIENT
                                                                             : TO_SERVER;
}

/* An answer goes the other way than its request. If both sides wait for one with its
 * id (they both count from 0), the later request is answered first: a server asks while
 * it works on a call. */
static enum record_dir side_of_answer(struct jsonrpc *s, const struct mcp_message *m)
{
    const struct pairing_request *q = waiting(s, TO_CLIENT, m->id);
    uint64_t servers = q ? q->tag : 0;

    q = waiting(s, TO_SERVER, m->id);
    return servers > (q ? q->tag : 0) ? TO_SERVER : TO_CLIENT;
}

static void see_message(struct jsonrpc *s, struct record *r, const struct mcp_message *m)
{
    if (mcp_is_response(m)) {
        r->message.dir = side_of_answer(s, m);
        pairing_answer(&s->pairs, r, m);
        return;
    }
    r->message.dir = side_of_method(s, m);
    if (m->kind == MCP_REQUEST)
        pairing_ask(&s->pairs, r, m, ++s->requests);
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

/* It is no damage, but nothing that a line of this format can be. */
static enum next refuse_batch(const struct window *w, size_t at, struct err *e)
{
    format_error(w, at, e, "a batch: a line must be one JSON-RPC message");
    err_hint(e, "write its messages on lines of their own: jq -c 'if type == \"array\" then "
                ".[] else . end'");
    return NEXT_ERROR;
}

static enum next jsonrpc_next(void *state, const struct window *w, struct taken *t,
                              struct record *r, struct err *e)
{
    struct jsonrpc *s = state;
    enum next next = ndjson_next(&s->lines, w, t, e);
    struct json_val line = json_root(&s->lines.json);
    struct mcp_message m;

    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    t->refused = json_type(line) == JSON_ARRAY && json_count(line);
    if (t->refused)
        return refuse_batch(w, json_at(line), e);
    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_at(line), e,
                            "a line must be one JSON-RPC message, an object");
    m = mcp_classify(line, &s->arena);
    t->refused = m.kind == MCP_OTHER && format_is_foreign(w, &jsonrpc_format, line, e);
    if (t->refused)
        return NEXT_ERROR;
    if (m.kind == MCP_OTHER)
        return format_error(w, json_at(line), e, "not a JSON-RPC message");
    *r = (struct record){ .kind = RECORD_MESSAGE };
    read_time(r, line);
    see_message(s, r, &m);
    r->message.msg = line;
    return NEXT_RECORD;
}

/* Other formats call things messages that are none. */
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
    .keeps = PART_BYTES | PART_SERVER | PART_PENDING | PART_ORDER,
    .lines = true,
    .probe = jsonrpc_probe,
    .open = jsonrpc_open,
    .next = jsonrpc_next,
    .close = jsonrpc_close,
    .drop = jsonrpc_drop,
    .put = jsonrpc_put,
};

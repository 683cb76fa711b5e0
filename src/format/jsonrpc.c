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

static bool is_message(struct json_val v, struct arena *a)
{
    enum mcp_kind kind = mcp_classify(v, a).kind;

    return json_exists(json_get(v, STR("jsonrpc"))) && kind != MCP_OTHER && kind != MCP_BATCH;
}

static bool jsonrpc_probe(struct str head)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ours;

    json_init(&j);
    ours = json_scan_first(&j, str_trim(head), &used, &fault) && is_message(json_root(&j), &a);
    json_release(&j);
    arena_release(&a);
    return ours;
}

static enum record_dir side_of_method(const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);

    if (known && known->dir == MCP_S2C)
        return TO_CLIENT;
    /* Both sides may report progress; nearly always it is the server that does. */
    return str_eq(m->method, STR("notifications/progress")) ? TO_CLIENT : TO_SERVER;
}

/* An answer goes the other way than its request; tried both ways, the client's
 * requests first: they are nearly all there are. */
static enum record_dir side_of_answer(struct jsonrpc *s, struct record *r,
                                      const struct mcp_message *m)
{
    r->message.dir = TO_CLIENT;
    if (pairing_answer(&s->pairs, r, m))
        return TO_CLIENT;
    r->message.dir = TO_SERVER;
    return pairing_answer(&s->pairs, r, m) ? TO_SERVER : TO_CLIENT;
}

static void read_time(struct record *r, struct json_val msg)
{
    int64_t ms;

    if ((json_int(json_get(msg, STR("timestamp_ms")), &ms) ||
         json_int(json_get(msg, STR("timestamp")), &ms)) &&
        ms >= 0 && ms <= INT64_MAX / 1000) {
        r->has |= HAS_WALL;
        r->wall_us = ms * 1000;
    }
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
    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_at(line), e,
                            "a line must be one JSON-RPC message, an object");
    m = mcp_classify(line, &s->arena);
    if (m.kind == MCP_OTHER)
        return format_error(w, json_at(line), e, "not a JSON-RPC message");
    *r = (struct record){ .kind = RECORD_MESSAGE };
    read_time(r, line);
    if (mcp_is_response(&m))
        r->message.dir = side_of_answer(s, r, &m);
    else
        r->message.dir = side_of_method(&m);
    if (m.kind == MCP_REQUEST)
        pairing_ask(&s->pairs, r, &m, 0);
    r->message.msg = line;
    return NEXT_RECORD;
}

static void jsonrpc_put(void *state, struct buf *to, const struct record *r)
{
    (void)state;
    if (r->kind != RECORD_MESSAGE)
        return;
    buf_add(to, json_raw(r->message.msg));
    buf_add_ch(to, '\n');
}

const struct format jsonrpc_format = {
    .name = "jsonrpc",
    .about = "bare JSON-RPC messages, one per line",
    .ext = { ".jsonrpc" },
    .keeps = PART_BYTES | PART_SERVER | PART_PENDING,
    .probe = jsonrpc_probe,
    .open = jsonrpc_open,
    .next = jsonrpc_next,
    .close = jsonrpc_close,
    .put = jsonrpc_put,
};

#include "trace/intake.h"

#include "mcp/message.h"

void intake_init(struct intake *in)
{
    *in = (struct intake){ 0 };
    json_init(&in->json);
}

void intake_release(struct intake *in)
{
    json_release(&in->json);
    arena_release(&in->arena);
}

static bool put_raw(enum record_dir dir, struct str bytes, struct str why, struct sink *to,
                    struct err *e)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .from_to = dir, .bytes = bytes, .why = why };
    return to->put(to, &r, e);
}

static bool put_value(struct intake *in, enum record_dir dir, struct json_val v,
                      struct str batch, struct sink *to, struct err *e)
{
    struct mcp_message m = mcp_classify(v, &in->arena);
    struct record r = { .kind = RECORD_MESSAGE };

    if (m.kind == MCP_OTHER || m.kind == MCP_BATCH)
        return put_raw(dir, json_raw(v), STR("not JSON-RPC"), to, e);
    r.message = (struct record_message){ .dir = dir, .msg = v, .batch = batch, .as = &m };
    return to->put(to, &r, e);
}

static bool put_batch(struct intake *in, enum record_dir dir, struct json_val array,
                      struct sink *to, struct err *e)
{
    struct json_iter it = json_each(array);
    size_t count = json_count(array);
    uint64_t id = ++in->batches;
    bool ok = true;

    for (size_t i = 0; json_next(&it); i++) {
        struct str place = arena_printf(&in->arena, "{\"id\":%llu,\"index\":%zu,\"count\":%zu}",
                                        (unsigned long long)id, i, count);
        ok = put_value(in, dir, it.value, place, to, e) && ok;
    }
    return ok;
}

bool intake_line(struct intake *in, enum record_dir dir, struct str line, struct sink *to,
                 struct err *e)
{
    struct json_fault fault;
    struct json_val root;

    if (!str_trim(line).len)
        return true;
    arena_clear(&in->arena);
    if (!json_scan(&in->json, line, &fault))
        return put_raw(dir, line, STR("not JSON"), to, e);
    root = json_root(&in->json);
    if (json_type(root) == JSON_ARRAY && json_count(root))
        return put_batch(in, dir, root, to, e);
    return put_value(in, dir, root, STR_NONE, to, e);
}

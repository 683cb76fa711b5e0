#include "trace/intake.h"

#include "mcp/message.h"
#include "trace/limits.h"

void intake_init(struct intake *in)
{
    *in = (struct intake){ 0 };
    json_init(&in->json);
    buf_init(&in->flat, LIMIT_LINE);
}

void intake_release(struct intake *in)
{
    json_release(&in->json);
    arena_release(&in->arena);
    buf_release(&in->flat);
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
        return put_raw(dir, json_raw(v), STR(INTAKE_NOT_JSON_RPC), to, e);
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

static bool put_scanned(struct intake *in, enum record_dir dir, struct sink *to, struct err *e)
{
    struct json_val root = json_root(&in->json);

    if (json_type(root) == JSON_ARRAY && json_count(root))
        return put_batch(in, dir, root, to, e);
    return put_value(in, dir, root, STR_NONE, to, e);
}

bool intake_line(struct intake *in, enum record_dir dir, struct str line, struct sink *to,
                 struct err *e)
{
    struct json_fault fault;

    in->scanned = false;
    if (!str_trim(line).len)
        return true;
    arena_clear(&in->arena);
    if (!json_scan(&in->json, line, &fault))
        return put_raw(dir, line, STR(INTAKE_NOT_JSON), to, e);
    return put_scanned(in, dir, to, e);
}

static bool has_breaks(struct str text)
{
    return str_find(text, '\n') < text.len || str_find(text, '\r') < text.len;
}

static struct str without_breaks(struct intake *in, struct str text)
{
    buf_clear(&in->flat);
    buf_add(&in->flat, text);
    for (size_t i = 0; i < in->flat.len; i++)
        if (in->flat.at[i] == '\n' || in->flat.at[i] == '\r')
            in->flat.at[i] = ' ';
    return buf_str(&in->flat);
}

bool intake_text(struct intake *in, enum record_dir dir, struct str text, struct sink *to,
                 struct err *e)
{
    struct str trimmed = str_trim(text);
    struct json_fault fault;

    /* Looked at before: what is no JSON with its breaks might be without them. */
    if (!has_breaks(trimmed) || !json_scan(&in->json, trimmed, &fault))
        return intake_line(in, dir, trimmed, to, e);
    return intake_line(in, dir, without_breaks(in, trimmed), to, e);
}

bool intake_seen(struct intake *in, enum record_dir dir, struct sink *to, struct err *e)
{
    if (!in->scanned || has_breaks(str_trim(in->seen)))
        return intake_text(in, dir, in->seen, to, e);
    return put_scanned(in, dir, to, e);
}

enum intake_kind intake_look(struct intake *in, struct str text)
{
    struct json_fault fault;
    enum mcp_kind kind;

    in->seen = text;
    in->scanned = false;
    if (!str_trim(text).len)
        return INTAKE_EMPTY;
    arena_clear(&in->arena);
    in->scanned = json_scan(&in->json, text, &fault);
    if (!in->scanned)
        return INTAKE_OTHER;
    kind = mcp_classify(json_root(&in->json), &in->arena).kind;
    if (kind == MCP_BATCH && json_count(json_root(&in->json)))
        return INTAKE_BATCH;
    return kind == MCP_OTHER || kind == MCP_BATCH ? INTAKE_OTHER : INTAKE_MESSAGE;
}

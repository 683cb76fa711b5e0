#include "trace/parse-messages.h"

#include "mcp/message.h"
#include "trace/limits.h"

void message_parser_init(struct message_parser *in)
{
    *in = (struct message_parser){ 0 };
    json_init(&in->json);
    buf_init(&in->one_line, LIMIT_LINE);
}

void message_parser_release(struct message_parser *in)
{
    json_release(&in->json);
    arena_release(&in->arena);
    buf_release(&in->one_line);
}

static bool put_raw(enum record_dir dir, struct str bytes, struct str why, struct sink *to,
                    struct err *e)
{
    struct record r = { .kind = RECORD_RAW, .has = HAS_FROM };

    r.bytes = (struct record_bytes){ .dir = dir, .bytes = bytes, .why = why };
    return to->put(to, &r, e);
}

static bool put_value(struct message_parser *in, enum record_dir dir, struct json_val v,
                      struct str batch, struct sink *to, struct err *e)
{
    struct mcp_message m = mcp_classify(v, &in->arena);
    struct record r = { .kind = RECORD_MESSAGE };

    if (m.kind == MCP_OTHER || m.kind == MCP_BATCH)
        return put_raw(dir, json_raw(v), STR(PARSE_NOT_JSON_RPC), to, e);
    r.message = (struct record_message){ .dir = dir, .msg = v, .batch = batch, .parsed = &m };
    return to->put(to, &r, e);
}

static bool put_batch(struct message_parser *in, enum record_dir dir, struct json_val array,
                      struct sink *to, struct err *e)
{
    struct json_iter it = json_each(array);
    size_t count = json_count(array);
    uint64_t id = ++in->batch_count;
    bool ok = true;

    for (size_t i = 0; json_next(&it); i++) {
        struct str position =
            arena_printf(&in->arena, "{\"id\":%llu,\"index\":%zu,\"count\":%zu}",
                         (unsigned long long)id, i, count);
        ok = put_value(in, dir, it.value, position, to, e) && ok;
    }
    return ok;
}

static bool put_scanned(struct message_parser *in, enum record_dir dir, struct sink *to,
                        struct err *e)
{
    struct json_val root = json_root(&in->json);

    if (json_type(root) == JSON_ARRAY && json_count(root))
        return put_batch(in, dir, root, to, e);
    return put_value(in, dir, root, STR_NONE, to, e);
}

bool message_parser_line(struct message_parser *in, enum record_dir dir, struct str line,
                         struct sink *to, struct err *e)
{
    struct json_fault fault;

    in->scanned = false;
    if (!str_trim(line).len)
        return true;
    arena_clear(&in->arena);
    if (!json_scan(&in->json, line, &fault))
        return put_raw(dir, line, STR(PARSE_NOT_JSON), to, e);
    return put_scanned(in, dir, to, e);
}

static bool has_breaks(struct str text)
{
    return str_find(text, '\n') < text.len || str_find(text, '\r') < text.len;
}

static struct str without_breaks(struct message_parser *in, struct str text)
{
    buf_clear(&in->one_line);
    buf_add(&in->one_line, text);
    for (size_t i = 0; i < in->one_line.len; i++)
        if (in->one_line.at[i] == '\n' || in->one_line.at[i] == '\r')
            in->one_line.at[i] = ' ';
    return buf_str(&in->one_line);
}

bool message_parser_text(struct message_parser *in, enum record_dir dir, struct str text,
                         struct sink *to, struct err *e)
{
    struct str trimmed = str_trim(text);
    struct json_fault fault;

    /* Scanned with its breaks: invalid JSON could become valid without them. */
    if (!has_breaks(trimmed) || !json_scan(&in->json, trimmed, &fault))
        return message_parser_line(in, dir, trimmed, to, e);
    return message_parser_line(in, dir, without_breaks(in, trimmed), to, e);
}

bool message_parser_peeked(struct message_parser *in, enum record_dir dir, struct sink *to,
                           struct err *e)
{
    if (!in->scanned || has_breaks(str_trim(in->peeked)))
        return message_parser_text(in, dir, in->peeked, to, e);
    return put_scanned(in, dir, to, e);
}

enum parse_kind message_parser_peek(struct message_parser *in, struct str text)
{
    struct json_fault fault;
    enum mcp_kind kind;

    in->peeked = text;
    in->scanned = false;
    if (!str_trim(text).len)
        return PARSE_EMPTY;
    arena_clear(&in->arena);
    in->scanned = json_scan(&in->json, text, &fault);
    if (!in->scanned)
        return PARSE_OTHER;
    kind = mcp_classify(json_root(&in->json), &in->arena).kind;
    if (kind == MCP_BATCH && json_count(json_root(&in->json)))
        return PARSE_BATCH;
    return kind == MCP_OTHER || kind == MCP_BATCH ? PARSE_OTHER : PARSE_MESSAGE;
}

#include "trace/loss.h"

#include "trace/extra.h"

/* What cannot be seen in a record that has it: the format must say that it means it. */
enum {
    IMPLIED = PART_BYTES | PART_TIME | PART_PENDING | PART_SIDE | PART_END | PART_ORDER |
              PART_CLOCK | PART_CONN,
};

static bool loss_put(struct sink *self, const struct record *r, struct err *e);

void loss_init(struct loss *l, unsigned keeps)
{
    *l = (struct loss){ .sink = { loss_put }, .keeps = keeps, .had = ~0u };
    pairing_init(&l->pairs);
}

void loss_release(struct loss *l)
{
    pairing_release(&l->pairs);
    arena_release(&l->arena);
}

static uint64_t *count_of(struct loss *l, enum part p)
{
    return &l->count[__builtin_ctz(p)];
}

/* A request is lost until it is answered, and an answer whose request is not there. What
 * came on an exchange belongs to that. If the client sent anything else until its answer,
 * that loses its place. What the server starts is a part of its own. */
static void see_call(struct loss *l, const struct record *r, unsigned gone)
{
    uint64_t pending = gone & PART_PENDING ? 1 : 0;
    const struct pairing_request *asked;
    struct mcp_message m;

    arena_clear(&l->arena);
    m = mcp_classify(r->message.msg, &l->arena);
    if (mcp_is_response(&m) != (r->message.dir == TO_CLIENT))
        return;
    l->sent += r->message.dir == TO_SERVER;
    if (m.kind == MCP_REQUEST) {
        pairing_ask(&l->pairs, r, &m, l->sent << 1 | pending);
        *count_of(l, PART_PENDING) += pending;
    } else if (mcp_is_response(&m) && (asked = pairing_answer(&l->pairs, r, &m))) {
        *count_of(l, PART_PENDING) -= asked->tag & 1;
        *count_of(l, PART_ORDER) += gone & PART_ORDER && l->sent != asked->tag >> 1;
    } else if (mcp_is_response(&m) && !(r->has & HAS_EXCHANGE)) {
        *count_of(l, PART_PENDING) += pending;
    }
}

static uint64_t count_lines(struct loss *l, struct str text)
{
    uint64_t lines = text.len && !l->in_line;

    for (size_t n; (n = str_find(text, '\n')) < text.len;) {
        text = str_skip(text, n + 1);
        lines += text.len > 0;
        l->in_line = text.len > 0;
    }
    l->in_line |= text.len > 0;
    return lines;
}

static bool came_from(struct str source, struct str format)
{
    struct json_fault fault;
    struct json j;
    bool did;

    json_init(&j);
    did = source.at && format.len && json_scan(&j, source, &fault) &&
          json_is(json_get(json_root(&j), STR("format")), format);
    json_release(&j);
    return did;
}

/* What was in the file that this came from, or follows from it as the totals do. */
static bool is_returned(const struct loss *l, const struct record *r)
{
    if (!l->returns || r->kind == RECORD_HEADER)
        return l->returns;
    if (r->kind == RECORD_FOOTER)
        return !(r->has & HAS_EXIT_CODE);
    return r->has & HAS_EXCHANGE && !(r->has & (HAS_US | HAS_WALL));
}

/* Without times nobody misses a part of them, nor a connection where there is one. */
static unsigned not_missed(struct loss *l, const struct record *r, unsigned lost)
{
    if (r->has & HAS_CONN && !l->connected) {
        l->connected = true;
        l->conn = r->conn;
    }
    return (lost & PART_TIME ? PART_CLOCK : 0u) | (r->conn == l->conn ? PART_CONN : 0u);
}

/* Nobody takes back what was another's. */
static unsigned foreign_members(const struct loss *l, const struct record *r)
{
    return r->extra.at && ~l->keeps & PART_MEMBERS && extra_is_foreign(r->extra, l->name)
               ? PART_MEMBERS
               : 0u;
}

static bool loss_put(struct sink *self, const struct record *r, struct err *e)
{
    struct loss *l = (struct loss *)self;
    unsigned gone = (l->had | ~(unsigned)IMPLIED) & ~l->keeps, lost;

    (void)e;
    scope_see(&l->pairs.scope, r);
    if (r->kind == RECORD_HEADER)
        l->returns = came_from(r->header.source, l->name);
    if (l->same || is_returned(l, r))
        gone = 0;
    l->left_out += r->left_out;
    lost = (gone & part_of(r) & ~(unsigned)PART_MEMBERS) | foreign_members(l, r);
    lost &= ~not_missed(l, r, lost);
    if (r->kind == RECORD_MESSAGE) {
        lost |= gone & (PART_BYTES | PART_SIDE);
        if (gone & (PART_PENDING | PART_ORDER))
            see_call(l, r, gone);
    } else if (r->kind == RECORD_UNKNOWN) {
        l->unknown++;
    }
    for (; lost; lost &= lost - 1) {
        enum part p = lost & -lost;
        *count_of(l, p) += p == PART_STDERR ? count_lines(l, r->bytes.bytes) : 1;
    }
    return true;
}

bool loss_any(const struct loss *l)
{
    bool any = l->unknown > 0 || l->left_out > 0;

    for (size_t i = 0; i < PART_COUNT; i++)
        any |= l->count[i] > 0;
    return any;
}

void loss_add(struct buf *to, const struct loss *l)
{
    const char *comma = "";

    for (size_t i = 0; i < PART_COUNT; i++)
        if (l->count[i]) {
            buf_add(to, str_z(comma));
            part_add(to, 1u << i, l->count[i]);
            comma = ", ";
        }
    if (l->unknown)
        buf_printf(to, "%s%llu line%s of unknown types", comma, (unsigned long long)l->unknown,
                   l->unknown == 1 ? "" : "s");
    comma = l->unknown ? ", " : comma;
    if (l->left_out)
        buf_printf(to, "%s%llu value%s that could not be read", comma,
                   (unsigned long long)l->left_out, l->left_out == 1 ? "" : "s");
}

void loss_json(struct json_out *o, const struct loss *l)
{
    json_out_object(o);
    for (size_t i = 0; i < PART_COUNT; i++)
        if (l->count[i])
            json_out_key_int(o, str_z(part_name(1u << i)), (int64_t)l->count[i]);
    if (l->unknown)
        json_out_key_int(o, STR("unknown"), (int64_t)l->unknown);
    if (l->left_out)
        json_out_key_int(o, STR("unread"), (int64_t)l->left_out);
    json_out_end_object(o);
}

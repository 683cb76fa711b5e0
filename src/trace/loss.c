#include "trace/loss.h"

#include "trace/unknown-members.h"

/* Cannot be seen in a record: lost only if the source format keeps them. */
enum {
    IMPLIED = FEATURE_BYTES | FEATURE_TIME | FEATURE_UNPAIRED | FEATURE_DIRECTION |
              FEATURE_END | FEATURE_ORDER | FEATURE_MICROSECONDS | FEATURE_CONN,
};

static bool loss_put(struct sink *self, const struct record *r, struct err *e);

void loss_init(struct loss *l, unsigned keeps)
{
    *l = (struct loss){ .sink = { loss_put }, .keeps = keeps, .source_keeps = ~0u };
    pairing_init(&l->pairs);
}

void loss_release(struct loss *l)
{
    pairing_release(&l->pairs);
    arena_release(&l->arena);
}

static uint64_t *count_of(struct loss *l, enum feature p)
{
    return &l->count[__builtin_ctz(p)];
}

/* Counts requests without a response and responses without a request; a response in an exchange
 * always has one. Counts the order as lost if the client sent anything between request and
 * response. Server requests are counted as FEATURE_SERVER_MESSAGES. */
static void count_unpaired(struct loss *l, const struct record *r, unsigned not_kept)
{
    uint64_t pending = not_kept & FEATURE_UNPAIRED ? 1 : 0;
    const struct pairing_request *request;
    struct mcp_message m;

    arena_clear(&l->arena);
    m = mcp_classify(r->message.msg, &l->arena);
    if (mcp_is_response(&m) != (r->message.dir == TO_CLIENT))
        return;
    l->client_messages += r->message.dir == TO_SERVER;
    if (m.kind == MCP_REQUEST) {
        pairing_add_request(&l->pairs, r, &m, l->client_messages << 1 | pending);
        *count_of(l, FEATURE_UNPAIRED) += pending;
    } else if (mcp_is_response(&m) && (request = pairing_match_response(&l->pairs, r, &m))) {
        *count_of(l, FEATURE_UNPAIRED) -= request->tag & 1;
        *count_of(l, FEATURE_ORDER) +=
            not_kept & FEATURE_ORDER && l->client_messages != request->tag >> 1;
    } else if (mcp_is_response(&m) && !(r->has & HAS_EXCHANGE)) {
        *count_of(l, FEATURE_UNPAIRED) += pending;
    }
}

static uint64_t count_lines(struct loss *l, struct str text)
{
    uint64_t lines = text.len && !l->stderr_in_line;

    for (size_t n; (n = str_find(text, '\n')) < text.len;) {
        text = str_skip(text, n + 1);
        lines += text.len > 0;
        l->stderr_in_line = text.len > 0;
    }
    l->stderr_in_line |= text.len > 0;
    return lines;
}

static bool is_from_format(struct str source, struct str format)
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

/* Whether a record was in the file that this was converted from, or follows from it like
 * totals. */
static bool is_from_source_file(const struct loss *l, const struct record *r)
{
    if (!l->from_same_format || r->kind == RECORD_HEADER)
        return l->from_same_format;
    if (r->kind == RECORD_FOOTER)
        return !(r->has & HAS_EXIT_CODE);
    return r->has & HAS_EXCHANGE && !(r->has & (HAS_US | HAS_WALL));
}

/* Microseconds are no loss of their own if all times are lost, nor is the only connection. */
static unsigned ignorable_features(struct loss *l, const struct record *r, unsigned lost)
{
    if (r->has & HAS_CONN && !l->has_conn) {
        l->has_conn = true;
        l->first_conn = r->conn;
    }
    return (lost & FEATURE_TIME ? FEATURE_MICROSECONDS : 0u) |
           (r->conn == l->first_conn ? FEATURE_CONN : 0u);
}

/* No format stores the unknown members of another. */
static unsigned foreign_members(const struct loss *l, const struct record *r)
{
    return r->unknown_members.at && ~l->keeps & FEATURE_UNKNOWN_MEMBERS &&
                   unknown_members_has_foreign(r->unknown_members, l->name)
               ? FEATURE_UNKNOWN_MEMBERS
               : 0u;
}

static bool loss_put(struct sink *self, const struct record *r, struct err *e)
{
    struct loss *l = (struct loss *)self;
    unsigned not_kept = (l->source_keeps | ~(unsigned)IMPLIED) & ~l->keeps, lost;

    (void)e;
    scope_track(&l->pairs.tracker, r);
    if (r->kind == RECORD_HEADER)
        l->from_same_format = is_from_format(r->header.source, l->name);
    if (l->same_format || is_from_source_file(l, r))
        not_kept = 0;
    l->unread_values += r->unread_values;
    lost = (not_kept & features_of(r) & ~(unsigned)FEATURE_UNKNOWN_MEMBERS) |
           foreign_members(l, r);
    lost &= ~ignorable_features(l, r, lost);
    if (r->kind == RECORD_MESSAGE) {
        lost |= not_kept & (FEATURE_BYTES | FEATURE_DIRECTION);
        if (not_kept & (FEATURE_UNPAIRED | FEATURE_ORDER))
            count_unpaired(l, r, not_kept);
    } else if (r->kind == RECORD_UNKNOWN) {
        l->unknown_lines++;
    }
    for (; lost; lost &= lost - 1) {
        enum feature p = lost & -lost;
        *count_of(l, p) += p == FEATURE_STDERR ? count_lines(l, r->bytes.bytes) : 1;
    }
    return true;
}

bool loss_is_any(const struct loss *l)
{
    bool any = l->unknown_lines > 0 || l->unread_values > 0;

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        any |= l->count[i] > 0;
    return any;
}

void loss_add_text(struct buf *to, const struct loss *l)
{
    const char *comma = "";

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (l->count[i]) {
            buf_add(to, str_z(comma));
            feature_add_count(to, 1u << i, l->count[i]);
            comma = ", ";
        }
    if (l->unknown_lines)
        buf_printf(to, "%s%llu line%s of unknown types", comma,
                   (unsigned long long)l->unknown_lines, l->unknown_lines == 1 ? "" : "s");
    comma = l->unknown_lines ? ", " : comma;
    if (l->unread_values)
        buf_printf(to, "%s%llu value%s that could not be read", comma,
                   (unsigned long long)l->unread_values, l->unread_values == 1 ? "" : "s");
}

void loss_write_json(struct json_out *o, const struct loss *l)
{
    json_out_object(o);
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (l->count[i])
            json_out_key_int(o, str_z(feature_name(1u << i)), (int64_t)l->count[i]);
    if (l->unknown_lines)
        json_out_key_int(o, STR("unknown-records"), (int64_t)l->unknown_lines);
    if (l->unread_values)
        json_out_key_int(o, STR("unread-values"), (int64_t)l->unread_values);
    json_out_end_object(o);
}

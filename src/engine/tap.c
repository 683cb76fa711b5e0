#include "engine/tap.h"

#include <stdlib.h>

#include "base/mem.h"

enum { STDIO_CONN = 1 }; /* one process, one connection */

enum noise_kind { NOISE_NONE, NOISE_COMMENT, NOISE_FROM_CLIENT, NOISE_FROM_SERVER };

/* The noise of one kind in one place. */
struct tap_noise {
    struct record like; /* its place and direction */
    uint64_t kept;      /* records of their own */
    uint64_t count, bytes;
};

static bool take_in(struct sink *self, const struct record *r, struct err *e);

void tap_init(struct tap *t, struct sink *to)
{
    *t = (struct tap){ .sink = { take_in }, .to = to };
    intake_init(&t->intake);
    pairing_init(&t->pairs);
    facts_init(&t->facts);
    map_init(&t->noise);
}

void tap_release(struct tap *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->noise, e));)
        free(e->value);
    map_release(&t->noise);
    intake_release(&t->intake);
    pairing_release(&t->pairs);
    facts_release(&t->facts);
}

static enum noise_kind noise_kind(const struct record *r)
{
    if (r->kind == RECORD_SSE && r->sse.comment.at)
        return NOISE_COMMENT;
    if (r->kind != RECORD_RAW || r->bytes.by.at ||
        !(str_eq(r->bytes.why, STR(INTAKE_NOT_JSON)) ||
          str_eq(r->bytes.why, STR(INTAKE_NOT_JSON_RPC))))
        return NOISE_NONE;
    return r->bytes.from_to == TO_SERVER ? NOISE_FROM_CLIENT : NOISE_FROM_SERVER;
}

struct noise_key {
    uint64_t kind, on_http, number;
};

static struct noise_key noise_key(const struct record *r, enum noise_kind kind)
{
    bool on_http = r->has & HAS_EXCHANGE;

    return (struct noise_key){ kind, on_http, on_http ? r->exchange : r->conn };
}

static struct str key_text(const struct noise_key *key)
{
    return str_n((const char *)key, sizeof *key);
}

/* One record for what was counted. */
static bool put_counted(struct tap *t, struct tap_noise *n, int64_t us, struct err *e)
{
    struct record r = n->like;

    if (!n->count)
        return true;
    r.us = us;
    r.has |= HAS_COUNT;
    if (r.kind == RECORD_SSE)
        r.sse = (struct record_sse){ .comment = STR(""),
                                     .count = n->count,
                                     .count_bytes = n->bytes };
    else
        r.bytes = (struct record_bytes){ .from_to = r.bytes.from_to,
                                         .bytes = STR(""),
                                         .why = STR("too many to be kept"),
                                         .count = n->count,
                                         .count_bytes = n->bytes };
    n->count = n->bytes = 0;
    return t->to->put(t->to, &r, e);
}

static bool put_noise(struct tap *t, const struct record *r, enum noise_kind kind,
                      struct err *e)
{
    struct noise_key key = noise_key(r, kind);
    struct tap_noise *n = map_get(&t->noise, key_text(&key));

    if (!n) {
        n = mem_new(struct tap_noise);
        map_put(&t->noise, key_text(&key), n);
    }
    if (n->kept < TAP_NOISE_KEPT) {
        n->kept++;
        return t->to->put(t->to, r, e);
    }
    n->like = *r;
    n->count++;
    n->bytes += kind == NOISE_COMMENT ? r->sse.comment.len : r->bytes.bytes.len;
    return n->count < TAP_NOISE_COUNTED || put_counted(t, n, r->us, e);
}

static bool ends_place(const struct record *r)
{
    return r->kind == RECORD_HTTP_END || (r->kind == RECORD_PROC && !(r->has & HAS_EXCHANGE));
}

/* Before a record that has its place in the order of what was counted. */
static bool put_counted_at(struct tap *t, const struct record *r, struct err *e)
{
    bool ok = true;

    if (r->kind == RECORD_STDERR || r->kind == RECORD_GAP || r->kind == RECORD_RAW)
        return true;
    for (enum noise_kind k = NOISE_COMMENT; k <= NOISE_FROM_SERVER; k++) {
        struct noise_key key = noise_key(r, k);
        struct tap_noise *n = map_get(&t->noise, key_text(&key));

        if (!n)
            continue;
        ok = put_counted(t, n, r->us, e) && ok;
        if (ends_place(r))
            free(map_remove(&t->noise, key_text(&key)));
    }
    return ok;
}

/* Every record goes out here, but for the header and the footer. */
static bool put_out(struct tap *t, const struct record *r, struct err *e)
{
    enum noise_kind kind = noise_kind(r);
    bool ok = true;

    if (kind != NOISE_NONE)
        return put_noise(t, r, kind, e);
    if (t->noise.count)
        ok = put_counted_at(t, r, e);
    return t->to->put(t->to, r, e) && ok;
}

static struct record record_at(enum record_kind kind, struct tap_time now)
{
    return (struct record){
        .kind = kind,
        .has = HAS_US | HAS_CONN,
        .us = now.us,
        .wall_us = now.wall_us,
        .conn = STDIO_CONN,
    };
}

bool tap_begin(struct tap *t, const struct record_header *header, struct tap_time now,
               struct err *e)
{
    struct record r = record_at(RECORD_HEADER, now);

    r.has = HAS_US | HAS_WALL;
    r.header = *header;
    return t->to->put(t->to, &r, e);
}

static void add_latency(struct record *r, const struct pairing_request *asked)
{
    int64_t us = r->us - asked->us;

    r->has |= HAS_LATENCY;
    r->message.latency_ms = us > 0 ? (uint64_t)us / 1000 : 0;
}

static void number_message(struct tap *t, struct record *r)
{
    const struct mcp_message *m = r->message.as;
    const struct pairing_request *asked = NULL;

    r->has |= HAS_WALL | HAS_SEQ;
    r->message.seq = ++t->seq;
    t->messages[r->message.dir]++;
    t->errors += facts_is_error(m);
    if (r->has & HAS_REDELIVERS)
        return;
    if (m->kind == MCP_REQUEST)
        pairing_ask(&t->pairs, r, m, r->message.seq);
    else if (mcp_is_response(m))
        asked = pairing_answer(&t->pairs, r, m);
    if (asked)
        add_latency(r, asked);
    facts_see(&t->facts, r->message.dir, m, asked ? asked->method : STR_NONE);
}

static void put_into_place(struct record *r, const struct tap_place *at, struct tap_time now)
{
    r->has |= HAS_US | at->has;
    r->us = now.us;
    r->wall_us = now.wall_us;
    r->conn = at->conn;
    r->session = at->session;
    r->exchange = at->exchange;
    r->stream = at->stream;
}

static bool take_in(struct sink *self, const struct record *bare, struct err *e)
{
    struct tap *t = (struct tap *)self;
    struct record r = *bare;

    put_into_place(&r, &t->at, t->now);
    if (r.kind == RECORD_MESSAGE) {
        r.message.event = t->at.event;
        r.message.redelivers = t->at.redelivers;
        number_message(t, &r);
        if (r.message.as->kind == MCP_REQUEST && !r.message.batch.len)
            t->asks = json_raw(r.message.as->id);
    }
    return put_out(t, &r, e);
}

bool tap_line(struct tap *t, enum record_dir dir, struct str line, struct tap_time now,
              struct err *e)
{
    t->now = now;
    t->at = (struct tap_place){ .has = HAS_CONN, .conn = STDIO_CONN };
    t->asks = STR_NONE;
    return intake_line(&t->intake, dir, line, &t->sink, e);
}

bool tap_text(struct tap *t, const struct tap_place *at, enum record_dir dir, struct str text,
              struct tap_time now, struct err *e)
{
    t->now = now;
    t->at = *at;
    t->asks = STR_NONE;
    return intake_text(&t->intake, dir, text, &t->sink, e);
}

enum intake_kind tap_look(struct tap *t, struct str text)
{
    return intake_look(&t->intake, text);
}

bool tap_seen(struct tap *t, const struct tap_place *at, enum record_dir dir,
              struct tap_time now, struct err *e)
{
    t->now = now;
    t->at = *at;
    t->asks = STR_NONE;
    return intake_seen(&t->intake, dir, &t->sink, e);
}

bool tap_around(struct tap *t, const struct tap_place *at, struct record *r,
                struct tap_time now, struct err *e)
{
    put_into_place(r, at, now);
    scope_see(&t->pairs.scope, r);
    return put_out(t, r, e);
}

bool tap_too_long(struct tap *t, enum record_dir dir, uint64_t bytes, struct tap_time now,
                  struct err *e)
{
    struct record r = record_at(RECORD_GAP, now);

    r.has |= HAS_FROM | HAS_TOTALS;
    r.gap = (struct record_gap){
        .from_to = dir, .messages = 1, .bytes = bytes, .why = STR("too long to be kept")
    };
    return put_out(t, &r, e);
}

bool tap_stderr(struct tap *t, struct str bytes, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_STDERR, now);

    r.bytes.bytes = bytes;
    return put_out(t, &r, e);
}

bool tap_started(struct tap *t, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_PROC, now);

    r.proc.event = STR("start");
    return put_out(t, &r, e);
}

bool tap_exited(struct tap *t, int code, int signum, struct str why, struct tap_time now,
                struct err *e)
{
    struct record r = record_at(RECORD_PROC, now);

    r.proc.event = STR("exit");
    r.proc.why = why;
    if (signum) {
        r.has |= HAS_SIGNAL;
        r.proc.signal = signum;
    } else {
        r.has |= HAS_EXIT_CODE;
        r.proc.exit_code = code;
    }
    return put_out(t, &r, e);
}

static struct str known(const struct buf *fact)
{
    return fact->len ? buf_str(fact) : STR_NONE;
}

bool tap_end(struct tap *t, int exit_code, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_FOOTER, now);
    bool ok = true;

    for (struct map_entry *n = NULL; (n = map_next(&t->noise, n));)
        ok = put_counted(t, n->value, now.us, e) && ok;
    r.has = HAS_US | HAS_TOTALS | HAS_EXIT_CODE | HAS_ERRORS;
    r.footer = (struct record_footer){
        .messages = t->seq,
        .duration_ms = (uint64_t)now.us / 1000,
        .client_messages = t->messages[TO_SERVER],
        .server_messages = t->messages[TO_CLIENT],
        .errors = t->errors,
        .exit_code = exit_code,
        .protocol = known(&t->facts.protocol),
        .server_info = known(&t->facts.server_info),
        .client_info = known(&t->facts.client_info),
    };
    return t->to->put(t->to, &r, e) && ok;
}

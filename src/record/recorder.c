#include "record/recorder.h"

#include <stdlib.h>

#include "base/mem.h"

enum noise_kind { NOISE_NONE, NOISE_COMMENT, NOISE_FROM_CLIENT, NOISE_FROM_SERVER };

/* The noise of one kind in one context. */
struct recorder_noise {
    struct record sample; /* context and direction of its records */
    uint64_t kept;        /* number of those recorded */
    uint64_t count, bytes;
};

static bool put_parsed(struct sink *self, const struct record *r, struct err *e);

void recorder_init(struct recorder *t, struct sink *to)
{
    *t = (struct recorder){ .parsed = { put_parsed }, .output = to };
    message_parser_init(&t->parser);
    pairing_init(&t->pairing);
    recording_info_init(&t->info);
    map_init(&t->noise);
}

void recorder_release(struct recorder *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->noise, e));)
        free(e->value);
    map_release(&t->noise);
    message_parser_release(&t->parser);
    pairing_release(&t->pairing);
    recording_info_release(&t->info);
}

static enum noise_kind noise_kind(const struct record *r)
{
    if (r->kind == RECORD_SSE && r->sse.comment.at)
        return NOISE_COMMENT;
    if (r->kind != RECORD_RAW || r->bytes.by.at ||
        !(str_eq(r->bytes.why, STR(PARSE_NOT_JSON)) ||
          str_eq(r->bytes.why, STR(PARSE_NOT_JSON_RPC))))
        return NOISE_NONE;
    return r->bytes.dir == TO_SERVER ? NOISE_FROM_CLIENT : NOISE_FROM_SERVER;
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

/* Writes one record for the counted noise. */
static bool put_noise_count(struct recorder *t, struct recorder_noise *n, int64_t us,
                            struct err *e)
{
    struct record r = n->sample;

    if (!n->count)
        return true;
    r.us = us;
    r.has |= HAS_COUNT;
    if (r.kind == RECORD_SSE)
        r.sse = (struct record_sse){ .comment = STR(""),
                                     .count = n->count,
                                     .count_bytes = n->bytes };
    else
        r.bytes = (struct record_bytes){ .dir = r.bytes.dir,
                                         .bytes = STR(""),
                                         .why = STR("too many to be kept"),
                                         .count = n->count,
                                         .count_bytes = n->bytes };
    n->count = n->bytes = 0;
    return t->output->put(t->output, &r, e);
}

static bool put_noise(struct recorder *t, const struct record *r, enum noise_kind kind,
                      struct err *e)
{
    struct noise_key key = noise_key(r, kind);
    struct recorder_noise *n = map_get(&t->noise, key_text(&key));

    if (!n) {
        n = mem_new(struct recorder_noise);
        map_put(&t->noise, key_text(&key), n);
    }
    if (n->kept < RECORDER_NOISE_KEPT) {
        n->kept++;
        return t->output->put(t->output, r, e);
    }
    n->sample = *r;
    n->count++;
    n->bytes += kind == NOISE_COMMENT ? r->sse.comment.len : r->bytes.bytes.len;
    return n->count < RECORDER_NOISE_BATCH || put_noise_count(t, n, r->us, e);
}

static bool ends_context(const struct record *r)
{
    return r->kind == RECORD_HTTP_END || (r->kind == RECORD_PROC && !(r->has & HAS_EXCHANGE));
}

/* Writes the counts of a context before a record whose order relative to them matters. */
static bool flush_noise(struct recorder *t, const struct record *r, struct err *e)
{
    bool ok = true;

    if (r->kind == RECORD_STDERR || r->kind == RECORD_GAP || r->kind == RECORD_RAW)
        return true;
    for (enum noise_kind k = NOISE_COMMENT; k <= NOISE_FROM_SERVER; k++) {
        struct noise_key key = noise_key(r, k);
        struct recorder_noise *n = map_get(&t->noise, key_text(&key));

        if (!n)
            continue;
        ok = put_noise_count(t, n, r->us, e) && ok;
        if (ends_context(r))
            free(map_remove(&t->noise, key_text(&key)));
    }
    return ok;
}

/* Writes any record but header and footer. */
static bool put_record(struct recorder *t, const struct record *r, struct err *e)
{
    enum noise_kind kind = noise_kind(r);
    bool ok = true;

    if (kind != NOISE_NONE)
        return put_noise(t, r, kind, e);
    if (t->noise.count)
        ok = flush_noise(t, r, e);
    return t->output->put(t->output, r, e) && ok;
}

static struct record new_record(enum record_kind kind, uint64_t conn, struct recorder_time now)
{
    return (struct record){
        .kind = kind,
        .has = HAS_US | HAS_CONN,
        .us = now.us,
        .wall_us = now.wall_us,
        .conn = conn,
    };
}

bool recorder_write_header(struct recorder *t, const struct record_header *header,
                           struct recorder_time now, struct err *e)
{
    struct record r = new_record(RECORD_HEADER, 0, now);

    r.has = HAS_US | HAS_WALL;
    r.header = *header;
    return t->output->put(t->output, &r, e);
}

static void add_latency(struct record *r, const struct pairing_request *asked)
{
    int64_t us = r->us - asked->sent_us;

    r->has |= HAS_LATENCY;
    r->message.latency_ms = us > 0 ? (uint64_t)us / 1000 : 0;
}

static void number_message(struct recorder *t, struct record *r)
{
    const struct mcp_message *m = r->message.parsed;
    const struct pairing_request *asked = NULL;

    r->has |= HAS_WALL | HAS_SEQ;
    r->message.seq = ++t->seq;
    t->messages[r->message.dir]++;
    t->errors += recording_info_is_error(m);
    if (r->has & HAS_REDELIVERS)
        return;
    if (m->kind == MCP_REQUEST)
        pairing_add_request(&t->pairing, r, m, r->message.seq);
    else if (mcp_is_response(m))
        asked = pairing_match_response(&t->pairing, r, m);
    if (asked)
        add_latency(r, asked);
    recording_info_update(&t->info, r->message.dir, m, asked ? asked->method : STR_NONE);
}

static void set_context(struct record *r, const struct recorder_context *at,
                        struct recorder_time now)
{
    r->has |= HAS_US | at->has;
    r->us = now.us;
    r->wall_us = now.wall_us;
    r->conn = at->conn;
    r->session = at->session;
    r->exchange = at->exchange;
    r->stream = at->stream;
}

static bool put_parsed(struct sink *self, const struct record *bare, struct err *e)
{
    struct recorder *t = (struct recorder *)self;
    struct record r = *bare;

    set_context(&r, &t->context, t->now);
    if (r.kind == RECORD_MESSAGE) {
        r.message.event = t->context.event;
        r.message.redelivers = t->context.redelivers;
        number_message(t, &r);
        if (r.message.parsed->kind == MCP_REQUEST && !r.message.batch.len)
            t->request_id = json_raw(r.message.parsed->id);
    }
    return put_record(t, &r, e);
}

bool recorder_add_line(struct recorder *t, uint64_t conn, enum record_dir dir, struct str line,
                       struct recorder_time now, struct err *e)
{
    t->now = now;
    t->context = (struct recorder_context){ .has = HAS_CONN, .conn = conn };
    t->request_id = STR_NONE;
    return message_parser_line(&t->parser, dir, line, &t->parsed, e);
}

bool recorder_add_text(struct recorder *t, const struct recorder_context *at,
                       enum record_dir dir, struct str text, struct recorder_time now,
                       struct err *e)
{
    t->now = now;
    t->context = *at;
    t->request_id = STR_NONE;
    return message_parser_text(&t->parser, dir, text, &t->parsed, e);
}

enum parse_kind recorder_classify(struct recorder *t, struct str text)
{
    return message_parser_peek(&t->parser, text);
}

bool recorder_add_classified(struct recorder *t, const struct recorder_context *at,
                             enum record_dir dir, struct recorder_time now, struct err *e)
{
    t->now = now;
    t->context = *at;
    t->request_id = STR_NONE;
    return message_parser_peeked(&t->parser, dir, &t->parsed, e);
}

bool recorder_add_record(struct recorder *t, const struct recorder_context *at,
                         struct record *r, struct recorder_time now, struct err *e)
{
    set_context(r, at, now);
    pairing_track(&t->pairing, r);
    return put_record(t, r, e);
}

bool recorder_add_too_long(struct recorder *t, uint64_t conn, enum record_dir dir,
                           uint64_t bytes, struct recorder_time now, struct err *e)
{
    struct record r = new_record(RECORD_GAP, conn, now);

    r.has |= HAS_FROM | HAS_TOTALS;
    r.gap = (struct record_gap){
        .dir = dir, .messages = 1, .bytes = bytes, .why = STR("too long to be kept")
    };
    return put_record(t, &r, e);
}

bool recorder_add_stderr(struct recorder *t, uint64_t conn, struct str bytes,
                         struct recorder_time now, struct err *e)
{
    struct record r = new_record(RECORD_STDERR, conn, now);

    r.bytes.bytes = bytes;
    return put_record(t, &r, e);
}

bool recorder_add_start(struct recorder *t, uint64_t conn, struct recorder_time now,
                        struct err *e)
{
    struct record r = new_record(RECORD_PROC, conn, now);

    r.proc.event = STR("start");
    return put_record(t, &r, e);
}

bool recorder_add_exit(struct recorder *t, uint64_t conn, int code, int signum, struct str why,
                       struct recorder_time now, struct err *e)
{
    struct record r = new_record(RECORD_PROC, conn, now);

    r.proc.event = STR("exit");
    r.proc.why = why;
    if (signum) {
        r.has |= HAS_SIGNAL;
        r.proc.signal = signum;
    } else {
        r.has |= HAS_EXIT_CODE;
        r.proc.exit_code = code;
    }
    return put_record(t, &r, e);
}

static struct str text_or_none(const struct buf *fact)
{
    return fact->len ? buf_str(fact) : STR_NONE;
}

bool recorder_write_footer(struct recorder *t, int exit_code, struct recorder_time now,
                           struct err *e)
{
    struct record r = new_record(RECORD_FOOTER, 0, now);
    bool ok = true;

    for (struct map_entry *n = NULL; (n = map_next(&t->noise, n));)
        ok = put_noise_count(t, n->value, now.us, e) && ok;
    r.has = HAS_US | HAS_TOTALS | HAS_EXIT_CODE | HAS_ERRORS;
    r.footer = (struct record_footer){
        .messages = t->seq,
        .duration_ms = (uint64_t)now.us / 1000,
        .client_messages = t->messages[TO_SERVER],
        .server_messages = t->messages[TO_CLIENT],
        .errors = t->errors,
        .exit_code = exit_code,
        .protocol = text_or_none(&t->info.protocol),
        .server_info = text_or_none(&t->info.server_info),
        .client_info = text_or_none(&t->info.client_info),
    };
    return t->output->put(t->output, &r, e) && ok;
}

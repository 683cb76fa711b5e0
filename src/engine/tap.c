#include "engine/tap.h"

enum { STDIO_CONN = 1 }; /* one process, one connection */

static bool take_in(struct sink *self, const struct record *r, struct err *e);

void tap_init(struct tap *t, struct sink *to)
{
    *t = (struct tap){ .sink = { take_in }, .to = to };
    intake_init(&t->intake);
    pairing_init(&t->pairs);
    facts_init(&t->facts);
}

void tap_release(struct tap *t)
{
    intake_release(&t->intake);
    pairing_release(&t->pairs);
    facts_release(&t->facts);
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
    return t->to->put(t->to, &r, e);
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
    return t->to->put(t->to, r, e);
}

bool tap_too_long(struct tap *t, enum record_dir dir, uint64_t bytes, struct tap_time now,
                  struct err *e)
{
    struct record r = record_at(RECORD_GAP, now);

    r.has |= HAS_FROM | HAS_TOTALS;
    r.gap = (struct record_gap){
        .from_to = dir, .messages = 1, .bytes = bytes, .why = STR("too long to be kept")
    };
    return t->to->put(t->to, &r, e);
}

bool tap_stderr(struct tap *t, struct str bytes, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_STDERR, now);

    r.bytes.bytes = bytes;
    return t->to->put(t->to, &r, e);
}

bool tap_started(struct tap *t, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_PROC, now);

    r.proc.event = STR("start");
    return t->to->put(t->to, &r, e);
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
    return t->to->put(t->to, &r, e);
}

static struct str known(const struct buf *fact)
{
    return fact->len ? buf_str(fact) : STR_NONE;
}

bool tap_end(struct tap *t, int exit_code, struct tap_time now, struct err *e)
{
    struct record r = record_at(RECORD_FOOTER, now);

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
    return t->to->put(t->to, &r, e);
}

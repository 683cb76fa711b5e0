#include "account.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mcp/message.h"
#include "pieces.h"
#include "json/canon.h"

/* Shown only where PART_BYTES is not. */
#define MEANING (1u << 30)

struct account_entry {
    enum record_kind kind;
    unsigned needs; /* is there only where all of these are kept */
    size_t first;   /* of its notes; they end where those of the next entry start */
};

struct account_note {
    unsigned part;
    size_t at, len;
};

/* Makes a note of what was added to the text since `at`. Notes end with a blank, so
 * that a view is just some of them in a row. */
static void add_note(struct account *l, unsigned part, size_t at)
{
    if (l->text.len > at)
        buf_add_ch(&l->text, ' ');
    l->notes = mem_reserve(l->notes, &l->note_cap, l->note_count + 1, sizeof *l->notes);
    l->notes[l->note_count++] = (struct account_note){ part, at, l->text.len - at };
}

PRINTF(3, 4)
static void note(struct account *l, unsigned part, const char *fmt, ...)
{
    size_t at = l->text.len;
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&l->text, fmt, ap);
    va_end(ap);
    add_note(l, part, at);
}

/* NUL bytes, too. */
static void note_bytes(struct account *l, unsigned part, struct str bytes)
{
    size_t at = l->text.len;

    buf_add(&l->text, bytes);
    add_note(l, part, at);
}

static void note_text(struct account *l, unsigned part, const char *name, struct str text)
{
    if (text.at)
        note(l, part, "%s='%.*s'", name, STR_ARG(text));
}

static void note_number(struct account *l, unsigned part, const char *name, bool there,
                        uint64_t n)
{
    if (there)
        note(l, part, "%s=%lld", name, (long long)n);
}

static void note_time(struct account *l, unsigned part, const struct record *r)
{
    bool wall = (r->has & HAS_WALL) && r->wall_us != 0;
    int64_t us = wall ? r->wall_us : l->started_us;
    char text[CLOCK_TEXT];

    if (!wall && r->has & HAS_US)
        us = clock_add(us, r->us);
    else if (!wall && r->kind == RECORD_FOOTER)
        us = clock_add(us, clock_of_ms(r->footer.duration_ms));
    if (wall || (l->dated && (r->has & HAS_US || r->kind == RECORD_FOOTER)))
        note(l, part, "at=%.*s", STR_ARG(clock_format(text, us / 1000 * 1000)));
}

static const char *way(enum record_dir dir)
{
    return dir == TO_SERVER ? "c2s" : "s2c";
}

static void enter_header(struct account *l, const struct record *r)
{
    const struct record_header *h = &r->header;

    l->dated = (r->has & HAS_WALL) && r->wall_us != 0;
    l->started_us = r->wall_us;
    note_time(l, PART_TIME, r);
    note_text(l, PART_NAME, "name", h->name);
    note_text(l, PART_TAGS, "tags", h->tags);
    note_text(l, PART_COMMAND, "command", h->command);
    note_text(l, ACCOUNT_REST, "upstream", h->upstream);
    note_text(l, ACCOUNT_REST, "producer", h->producer);
    note_text(l, ACCOUNT_REST, "transport", h->transport);
    note_text(l, ACCOUNT_REST, "source", h->source);
}

static void note_batch(struct account *l, struct str batch)
{
    struct json_fault fault;
    struct json_val id;
    struct json j;

    json_init(&j);
    BUG_IF(!json_scan(&j, batch, &fault));
    id = json_get(json_root(&j), STR("id"));
    if (!l->batches || !str_eq(json_raw(id), l->batch))
        l->batches++;
    l->batch = arena_str(&l->arena, json_raw(id));
    note(l, PART_BATCH, "batch=%lu:%.*s/%.*s", l->batches,
         STR_ARG(json_raw(json_get(json_root(&j), STR("index")))),
         STR_ARG(json_raw(json_get(json_root(&j), STR("count")))));
    json_release(&j);
}

static void note_latency(struct account *l, const struct record *r)
{
    bool there = r->has & HAS_LATENCY;

    if (there && r->message.latency_ms)
        note_number(l, PART_LATENCY, "latency", true, r->message.latency_ms);
    else if (there)
        add_note(l, PART_LATENCY, l->text.len); /* no more than silence says */
}

/* A request needs PART_PENDING until its answer comes, and so does an answer of the server's
 * to what is not there: some keep it as that of its exchange, but only they. */
static void pair(struct account *l, const struct record *r, const struct mcp_message *m)
{
    const struct pairing_request *asked;

    if (m->kind == MCP_REQUEST) {
        l->entries[l->entry_count - 1].needs |= PART_PENDING;
        pairing_ask(&l->pairs, r, m, l->entry_count - 1);
    } else if (mcp_is_response(m) && (asked = pairing_answer(&l->pairs, r, m))) {
        l->entries[asked->tag].needs &= ~(unsigned)PART_PENDING;
    } else if (mcp_is_response(m) && r->message.dir == TO_CLIENT) {
        l->entries[l->entry_count - 1].needs |= PART_PENDING;
    }
}

static void enter_message(struct account *l, const struct record *r)
{
    const struct json_rules by_value = { .numbers_by_value = true };
    const struct record_message *m = &r->message;
    struct mcp_message rpc = mcp_classify(m->msg, &l->arena);

    if ((m->dir == TO_CLIENT) != mcp_is_response(&rpc))
        l->entries[l->entry_count - 1].needs |= PART_SERVER;
    pair(l, r, &rpc);
    note(l, PART_SIDE, "%s", way(m->dir));
    note_bytes(l, PART_BYTES, json_raw(m->msg));
    l->spread |= str_find(json_raw(m->msg), '\n') < json_raw(m->msg).len;
    note(l, MEANING, "#%016llx", (unsigned long long)json_hash(m->msg, &by_value));
    note_time(l, PART_TIME, r);
    note_latency(l, r);
    if (m->batch.at)
        note_batch(l, m->batch);
    note_text(l, PART_REDACTED, "redacted", m->redacted);
    note_text(l, PART_HTTP, "event", m->event);
    note_number(l, PART_HTTP, "redelivers", r->has & HAS_REDELIVERS, m->redelivers);
    note_number(l, ACCOUNT_REST, "seq", r->has & HAS_SEQ, m->seq);
}

static void enter_bytes(struct account *l, unsigned part, const struct record *r)
{
    note(l, part, "bytes %s", r->has & HAS_FROM ? way(r->bytes.from_to) : "");
    note_bytes(l, part, r->bytes.bytes);
    note_text(l, part == PART_VALUE ? ACCOUNT_REST : part, "why", r->bytes.why);
    if (part == PART_VALUE)
        note_time(l, part, r);
}

static void enter_proc(struct account *l, const struct record *r)
{
    note_text(l, PART_PROCESS, "proc", r->proc.event);
    note_number(l, PART_PROCESS, "exit", r->has & HAS_EXIT_CODE, (uint64_t)r->proc.exit_code);
    note_number(l, PART_PROCESS, "signal", r->has & HAS_SIGNAL, (uint64_t)r->proc.signal);
}

static void enter_http(struct account *l, const struct record *r)
{
    const struct record_http *h = &r->http;

    note(l, PART_HTTP, "http %d%s%s%s", (int)r->kind, h->auth ? " auth" : "",
         h->mints_session ? " mints" : "", h->clean ? " clean" : "");
    note_text(l, PART_HTTP, "method", h->method);
    note_text(l, PART_HTTP, "path", h->path);
    note_text(l, PART_HTTP, "kind", h->kind);
    note_text(l, PART_HTTP, "query", h->query);
    note_text(l, PART_HTTP, "state", h->state);
    note_text(l, PART_HTTP, "host", h->host);
    note_text(l, PART_HTTP, "origin", h->origin);
    note_text(l, PART_HTTP, "body", h->body);
    note_text(l, PART_HTTP, "media", h->media);
    note_text(l, PART_HTTP, "resumes", h->resumes);
    note_text(l, PART_HTTP, "by", h->by);
    note_text(l, PART_HTTP, "headers", h->headers);
    note_number(l, PART_HTTP, "status", r->has & HAS_STATUS, h->status);
    note_number(l, PART_HTTP, "took_ms", r->has & HAS_LATENCY, h->took_ms);
}

static void enter_sse(struct account *l, const struct record *r)
{
    note(l, PART_HTTP, "sse");
    note_number(l, PART_HTTP, "n", r->has & HAS_N, r->sse.n);
    note_number(l, PART_HTTP, "retry", r->has & HAS_RETRY, r->sse.retry);
    note_text(l, PART_HTTP, "id", r->sse.id);
    note_text(l, PART_HTTP, "event", r->sse.event);
    note_text(l, PART_HTTP, "data", r->sse.data);
    note_text(l, PART_HTTP, "comment", r->sse.comment);
}

static void enter_gap(struct account *l, const struct record *r)
{
    note(l, PART_GAP, "gap %s", r->has & HAS_FROM ? way(r->gap.from_to) : "");
    note_number(l, PART_GAP, "messages", true, r->gap.messages);
    note_number(l, PART_GAP, "bytes", true, r->gap.bytes);
    note_text(l, PART_GAP, "why", r->gap.why);
}

static void enter_footer(struct account *l, const struct record *r)
{
    const struct record_footer *f = &r->footer;

    note_time(l, PART_END, r);
    note_number(l, PART_END, "exit", r->has & HAS_EXIT_CODE, (uint64_t)f->exit_code);
    note_number(l, PART_END, "ms", true, f->duration_ms);
    note_number(l, ACCOUNT_REST, "messages", r->has & HAS_TOTALS, f->messages);
    note_number(l, ACCOUNT_REST, "client", r->has & HAS_TOTALS, f->client_messages);
    note_number(l, ACCOUNT_REST, "server", r->has & HAS_TOTALS, f->server_messages);
    note_number(l, ACCOUNT_REST, "errors", r->has & HAS_ERRORS, f->errors);
    note_text(l, ACCOUNT_REST, "protocol", f->protocol);
    note_text(l, ACCOUNT_REST, "server_info", f->server_info);
    note_text(l, ACCOUNT_REST, "client_info", f->client_info);
}

static void enter_body(struct account *l, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        enter_header(l, r);
        break;
    case RECORD_MESSAGE:
        enter_message(l, r);
        break;
    case RECORD_RAW:
        enter_bytes(l, part_is_value(r->bytes.bytes) ? PART_VALUE : PART_RAW, r);
        break;
    case RECORD_STDERR:
        enter_bytes(l, PART_STDERR, r);
        break;
    case RECORD_PROC:
        enter_proc(l, r);
        break;
    case RECORD_HTTP_REQUEST:
    case RECORD_HTTP_RESPONSE:
    case RECORD_HTTP_END:
        enter_http(l, r);
        break;
    case RECORD_SSE:
        enter_sse(l, r);
        break;
    case RECORD_GAP:
        enter_gap(l, r);
        break;
    case RECORD_FOOTER:
        enter_footer(l, r);
        break;
    case RECORD_UNKNOWN: /* no writer has a place for it */
        break;
    }
}

static bool account_put(struct sink *self, const struct record *r, struct err *e)
{
    struct account *l = (struct account *)self;
    bool said = r->kind == RECORD_MESSAGE;

    (void)e;
    l->parts |= part_of(r);
    l->entries = mem_reserve(l->entries, &l->entry_cap, l->entry_count + 1, sizeof *l->entries);
    l->entries[l->entry_count++] = (struct account_entry){ r->kind, 0, l->note_count };
    enter_body(l, r);
    note_number(l, PART_HTTP, "session", r->has & HAS_SESSION, r->session);
    note_number(l, PART_HTTP, "exchange", r->has & HAS_EXCHANGE, r->exchange);
    note_number(l, PART_HTTP, "stream", r->has & HAS_STREAM, r->stream);
    note_number(l, said ? PART_CONN : ACCOUNT_REST, "conn", r->has & HAS_CONN, r->conn);
    note_number(l, said ? PART_CLOCK : ACCOUNT_REST, "us", r->has & HAS_US, (uint64_t)r->us);
    note_text(l, PART_MEMBERS, "extra", r->extra);
    note_number(l, ACCOUNT_REST, "wall", r->has & HAS_WALL, (uint64_t)r->wall_us);
    return true;
}

void account_init(struct account *l)
{
    *l = (struct account){ .sink = { account_put } };
    buf_init(&l->text, (size_t)1 << 30);
    pairing_init(&l->pairs);
}

void account_release(struct account *l)
{
    free(l->entries);
    free(l->notes);
    buf_release(&l->text);
    pairing_release(&l->pairs);
    arena_release(&l->arena);
}

static size_t end_of(const struct account *l, size_t entry)
{
    return entry + 1 < l->entry_count ? l->entries[entry + 1].first : l->note_count;
}

bool account_headed(const struct account *l)
{
    return l->entry_count && l->entries[0].kind == RECORD_HEADER;
}

void account_behead(struct account *l)
{
    BUG_IF(!account_headed(l));
    memmove(l->entries, l->entries + 1, --l->entry_count * sizeof *l->entries);
}

void account_view(const struct account *l, unsigned parts, struct buf *to)
{
    unsigned shown = parts & PART_BYTES ? parts & ~MEANING : parts | MEANING;

    for (size_t i = 0; i < l->entry_count; i++) {
        size_t before = to->len;

        if (l->entries[i].needs & ~parts)
            continue;
        for (size_t n = l->entries[i].first; n < end_of(l, i); n++)
            if (l->notes[n].part & shown)
                buf_add(to, str_n(l->text.at + l->notes[n].at, l->notes[n].len));
        if (to->len > before)
            buf_add_ch(to, '\n');
    }
}

unsigned account_parts(const struct account *l)
{
    unsigned parts = 0,
             nobodys = PART_BYTES | PART_SIDE | PART_PENDING | MEANING | ACCOUNT_REST;

    for (size_t i = 0; i < l->entry_count; i++) {
        unsigned own = l->entries[i].needs;

        for (size_t n = l->entries[i].first; n < end_of(l, i); n++)
            own |= l->notes[n].part;
        /* The time of a header is that of its messages, if there are any. */
        parts |= l->entries[i].kind == RECORD_HEADER ? own & ~(unsigned)PART_TIME : own;
    }
    return parts & ~nobodys;
}

void account_told(struct buf *to, const struct format *f, struct str text, size_t step,
                  unsigned parts)
{
    size_t before = to->len;
    struct account l;
    struct pieces p;

    account_init(&l);
    pieces_read(&p, f, text, step, &l.sink);
    account_view(&l, parts, to);
    buf_add(to, buf_str(&p.remarks));
    buf_printf(to, "%s", p.failed ? p.error.msg : "end");
    for (size_t i = before; i < to->len; i++)
        to->at[i] = to->at[i] == '"' ? '\'' : to->at[i];
    account_release(&l);
    pieces_release(&p);
}

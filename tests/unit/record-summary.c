#include "record-summary.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mcp/message.h"
#include "memory-file.h"
#include "json/equal.h"

/* Shown only where FEATURE_BYTES is not. */
#define MEANING (1u << 30)

struct record_summary_entry {
    enum record_kind kind;
    unsigned needs; /* is there only where all of these are kept */
    size_t first;   /* of its notes; they end where those of the next entry start */
};

struct record_summary_note {
    unsigned part;
    size_t at, len;
};

/* Makes a note of what was added to the text since `at`. Notes end with a blank, so
 * that a view is just some of them in a row. */
static void add_note(struct record_summary *l, unsigned part, size_t at)
{
    if (l->text.len > at)
        buf_add_ch(&l->text, ' ');
    l->notes = mem_reserve(l->notes, &l->note_cap, l->note_count + 1, sizeof *l->notes);
    l->notes[l->note_count++] = (struct record_summary_note){ part, at, l->text.len - at };
}

PRINTF(3, 4)
static void add_note_text(struct record_summary *l, unsigned part, const char *fmt, ...)
{
    size_t at = l->text.len;
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&l->text, fmt, ap);
    va_end(ap);
    add_note(l, part, at);
}

/* NUL bytes, too. */
static void add_bytes(struct record_summary *l, unsigned part, struct str bytes)
{
    size_t at = l->text.len;

    buf_add(&l->text, bytes);
    add_note(l, part, at);
}

static void add_text(struct record_summary *l, unsigned part, const char *name, struct str text)
{
    if (text.at)
        add_note_text(l, part, "%s='%.*s'", name, STR_ARG(text));
}

static void add_number(struct record_summary *l, unsigned part, const char *name, bool there,
                       uint64_t n)
{
    if (there)
        add_note_text(l, part, "%s=%lld", name, (long long)n);
}

static void add_time(struct record_summary *l, unsigned part, const struct record *r)
{
    bool wall = (r->has & HAS_WALL) && r->wall_us != 0;
    int64_t us = wall ? r->wall_us : l->started_us;
    char text[CLOCK_TEXT_SIZE];

    if (!wall && r->has & HAS_US)
        us = clock_add(us, r->us);
    else if (!wall && r->kind == RECORD_FOOTER)
        us = clock_add(us, clock_ms_to_us(r->footer.duration_ms));
    if (wall || (l->has_date && (r->has & HAS_US || r->kind == RECORD_FOOTER)))
        add_note_text(l, part, "at=%.*s", STR_ARG(clock_format(text, us / 1000 * 1000)));
}

static const char *dir_name(enum record_dir dir)
{
    return dir == TO_SERVER ? "c2s" : "s2c";
}

static void add_header(struct record_summary *l, const struct record *r)
{
    const struct record_header *h = &r->header;

    if (l->entry_count > 1)
        l->entries[l->entry_count - 1].needs |= FEATURE_END; /* of the recording before it */
    l->has_date = (r->has & HAS_WALL) && r->wall_us != 0;
    l->started_us = r->wall_us;
    add_time(l, FEATURE_TIME, r);
    add_text(l, FEATURE_NAME, "name", h->name);
    add_text(l, FEATURE_TAGS, "tags", h->tags);
    add_text(l, FEATURE_COMMAND, "command", h->command);
    add_text(l, features_is_url(h->upstream) ? FEATURE_URL : RECORD_SUMMARY_OTHER, "upstream",
             h->upstream);
    add_text(l, RECORD_SUMMARY_OTHER, "producer", h->producer);
    add_text(l, RECORD_SUMMARY_OTHER, "transport", h->transport);
    add_text(l, RECORD_SUMMARY_OTHER, "source", h->source);
}

static void add_batch(struct record_summary *l, struct str batch)
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
    add_note_text(l, FEATURE_BATCH, "batch=%lu:%.*s/%.*s", l->batches,
                  STR_ARG(json_raw(json_get(json_root(&j), STR("index")))),
                  STR_ARG(json_raw(json_get(json_root(&j), STR("count")))));
    json_release(&j);
}

static void add_latency(struct record_summary *l, const struct record *r)
{
    bool there = r->has & HAS_LATENCY;

    if (there && r->message.latency_ms)
        add_number(l, FEATURE_LATENCY, "latency", true, r->message.latency_ms);
    else if (there)
        add_note(l, FEATURE_LATENCY, l->text.len); /* the same as no record */
}

/* A request needs FEATURE_UNPAIRED until its answer comes, and so does an answer of the
 * server's to what is not there: some keep it as that of its exchange, but only they. */
static void pair_message(struct record_summary *l, const struct record *r,
                         const struct mcp_message *m)
{
    const struct pairing_request *request;

    if (m->kind == MCP_REQUEST) {
        l->entries[l->entry_count - 1].needs |= FEATURE_UNPAIRED;
        pairing_add_request(&l->pairs, r, m, l->entry_count - 1);
    } else if (mcp_is_response(m) && (request = pairing_match_response(&l->pairs, r, m))) {
        l->entries[request->tag].needs &= ~(unsigned)FEATURE_UNPAIRED;
    } else if (mcp_is_response(m) && r->message.dir == TO_CLIENT) {
        l->entries[l->entry_count - 1].needs |= FEATURE_UNPAIRED;
    }
}

static void add_message(struct record_summary *l, const struct record *r)
{
    const struct json_rules by_value = { .numbers_by_value = true };
    const struct record_message *m = &r->message;
    struct mcp_message rpc = mcp_classify(m->msg, &l->arena);

    if ((m->dir == TO_CLIENT) != mcp_is_response(&rpc))
        l->entries[l->entry_count - 1].needs |= FEATURE_SERVER_MESSAGES;
    pair_message(l, r, &rpc);
    add_note_text(l, FEATURE_DIRECTION, "%s", dir_name(m->dir));
    add_bytes(l, FEATURE_BYTES, json_raw(m->msg));
    l->has_line_break |= str_find(json_raw(m->msg), '\n') < json_raw(m->msg).len;
    add_note_text(l, MEANING, "#%016llx", (unsigned long long)json_hash(m->msg, &by_value));
    add_time(l, FEATURE_TIME, r);
    add_latency(l, r);
    if (m->batch.at)
        add_batch(l, m->batch);
    add_text(l, FEATURE_REDACTED, "redacted", m->redacted);
    add_text(l, FEATURE_HTTP, "event", m->event);
    add_number(l, FEATURE_HTTP, "redelivers", r->has & HAS_REDELIVERS, m->redelivers);
    add_number(l, RECORD_SUMMARY_OTHER, "seq", r->has & HAS_SEQ, m->seq);
}

static void add_raw(struct record_summary *l, unsigned part, const struct record *r)
{
    add_note_text(l, part, "bytes %s", r->has & HAS_FROM ? dir_name(r->bytes.dir) : "");
    add_bytes(l, part, r->bytes.bytes);
    add_text(l, part == FEATURE_OTHER_JSON ? RECORD_SUMMARY_OTHER : part, "why", r->bytes.why);
    if (part == FEATURE_OTHER_JSON)
        add_time(l, part, r);
}

static void add_proc(struct record_summary *l, const struct record *r)
{
    add_text(l, FEATURE_PROCESS, "proc", r->proc.event);
    add_number(l, FEATURE_PROCESS, "exit", r->has & HAS_EXIT_CODE, (uint64_t)r->proc.exit_code);
    add_number(l, FEATURE_PROCESS, "signal", r->has & HAS_SIGNAL, (uint64_t)r->proc.signal);
}

static void add_http(struct record_summary *l, const struct record *r)
{
    const struct record_http *h = &r->http;

    add_note_text(l, FEATURE_HTTP, "http %d%s%s%s", (int)r->kind, h->auth ? " auth" : "",
                  h->mints_session ? " mints" : "", h->clean ? " clean" : "");
    add_text(l, FEATURE_HTTP, "method", h->method);
    add_text(l, FEATURE_HTTP, "path", h->path);
    add_text(l, FEATURE_HTTP, "kind", h->kind);
    add_text(l, FEATURE_HTTP, "query", h->query);
    add_text(l, FEATURE_HTTP, "state", h->state);
    add_text(l, FEATURE_HTTP, "host", h->host);
    add_text(l, FEATURE_HTTP, "origin", h->origin);
    add_text(l, FEATURE_HTTP, "body", h->body);
    add_text(l, FEATURE_HTTP, "media", h->media);
    add_text(l, FEATURE_HTTP, "resumes", h->resumes);
    add_text(l, FEATURE_HTTP, "by", h->by);
    add_text(l, FEATURE_HTTP, "headers", h->headers);
    add_number(l, FEATURE_HTTP, "status", r->has & HAS_STATUS, h->status);
    add_number(l, FEATURE_HTTP, "took_ms", r->has & HAS_LATENCY, h->took_ms);
}

static void add_sse(struct record_summary *l, const struct record *r)
{
    add_note_text(l, FEATURE_HTTP, "sse");
    add_number(l, FEATURE_HTTP, "n", r->has & HAS_N, r->sse.n);
    add_number(l, FEATURE_HTTP, "retry", r->has & HAS_RETRY, r->sse.retry);
    add_text(l, FEATURE_HTTP, "id", r->sse.id);
    add_text(l, FEATURE_HTTP, "event", r->sse.event);
    add_text(l, FEATURE_HTTP, "data", r->sse.data);
    add_text(l, FEATURE_HTTP, "comment", r->sse.comment);
}

static void add_gap(struct record_summary *l, const struct record *r)
{
    add_note_text(l, FEATURE_GAP, "gap %s", r->has & HAS_FROM ? dir_name(r->gap.dir) : "");
    add_number(l, FEATURE_GAP, "messages", true, r->gap.messages);
    add_number(l, FEATURE_GAP, "bytes", true, r->gap.bytes);
    add_text(l, FEATURE_GAP, "why", r->gap.why);
}

static void add_footer(struct record_summary *l, const struct record *r)
{
    const struct record_footer *f = &r->footer;

    add_time(l, FEATURE_END, r);
    add_number(l, FEATURE_END, "exit", r->has & HAS_EXIT_CODE, (uint64_t)f->exit_code);
    add_number(l, FEATURE_END, "ms", true, f->duration_ms);
    add_number(l, RECORD_SUMMARY_OTHER, "messages", r->has & HAS_TOTALS, f->messages);
    add_number(l, RECORD_SUMMARY_OTHER, "client", r->has & HAS_TOTALS, f->client_messages);
    add_number(l, RECORD_SUMMARY_OTHER, "server", r->has & HAS_TOTALS, f->server_messages);
    add_number(l, RECORD_SUMMARY_OTHER, "errors", r->has & HAS_ERRORS, f->errors);
    add_text(l, RECORD_SUMMARY_OTHER, "protocol", f->protocol);
    add_text(l, RECORD_SUMMARY_OTHER, "server_info", f->server_info);
    add_text(l, RECORD_SUMMARY_OTHER, "client_info", f->client_info);
}

static void add_record(struct record_summary *l, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        add_header(l, r);
        break;
    case RECORD_MESSAGE:
        add_message(l, r);
        break;
    case RECORD_RAW:
        add_raw(l, features_is_other_json(r->bytes.bytes) ? FEATURE_OTHER_JSON : FEATURE_RAW,
                r);
        break;
    case RECORD_STDERR:
        add_raw(l, FEATURE_STDERR, r);
        break;
    case RECORD_PROC:
        add_proc(l, r);
        break;
    case RECORD_HTTP_REQUEST:
    case RECORD_HTTP_RESPONSE:
    case RECORD_HTTP_END:
        add_http(l, r);
        break;
    case RECORD_SSE:
        add_sse(l, r);
        break;
    case RECORD_GAP:
        add_gap(l, r);
        break;
    case RECORD_FOOTER:
        add_footer(l, r);
        break;
    case RECORD_UNKNOWN: /* no writer has a place for it */
        break;
    }
}

static bool record_summary_put(struct sink *self, const struct record *r, struct err *e)
{
    struct record_summary *l = (struct record_summary *)self;
    bool is_message = r->kind == RECORD_MESSAGE;

    (void)e;
    l->features |= features_of(r);
    l->entries = mem_reserve(l->entries, &l->entry_cap, l->entry_count + 1, sizeof *l->entries);
    l->entries[l->entry_count++] = (struct record_summary_entry){ r->kind, 0, l->note_count };
    add_record(l, r);
    add_number(l, FEATURE_HTTP, "session", r->has & HAS_SESSION, r->session);
    add_number(l, FEATURE_HTTP, "exchange", r->has & HAS_EXCHANGE, r->exchange);
    add_number(l, FEATURE_HTTP, "stream", r->has & HAS_STREAM, r->stream);
    add_number(l, is_message ? FEATURE_CONN : RECORD_SUMMARY_OTHER, "conn", r->has & HAS_CONN,
               r->conn);
    add_number(l, is_message ? FEATURE_MICROSECONDS : RECORD_SUMMARY_OTHER, "us",
               r->has & HAS_US, (uint64_t)r->us);
    add_text(l, FEATURE_UNKNOWN_MEMBERS, "extra", r->unknown_members);
    add_number(l, RECORD_SUMMARY_OTHER, "wall", r->has & HAS_WALL, (uint64_t)r->wall_us);
    return true;
}

void record_summary_init(struct record_summary *l)
{
    *l = (struct record_summary){ .sink = { record_summary_put } };
    buf_init(&l->text, (size_t)1 << 30);
    pairing_init(&l->pairs);
}

void record_summary_release(struct record_summary *l)
{
    free(l->entries);
    free(l->notes);
    buf_release(&l->text);
    pairing_release(&l->pairs);
    arena_release(&l->arena);
}

static size_t end_of(const struct record_summary *l, size_t entry)
{
    return entry + 1 < l->entry_count ? l->entries[entry + 1].first : l->note_count;
}

bool record_summary_has_header(const struct record_summary *l)
{
    return l->entry_count && l->entries[0].kind == RECORD_HEADER;
}

void record_summary_drop_header(struct record_summary *l)
{
    BUG_IF(!record_summary_has_header(l));
    memmove(l->entries, l->entries + 1, --l->entry_count * sizeof *l->entries);
}

void record_summary_write(const struct record_summary *l, unsigned parts, struct buf *to)
{
    unsigned shown = parts & FEATURE_BYTES ? parts & ~MEANING : parts | MEANING;

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

unsigned record_summary_features(const struct record_summary *l)
{
    unsigned parts = 0, nobodys = FEATURE_BYTES | FEATURE_DIRECTION | FEATURE_UNPAIRED |
                                  MEANING | RECORD_SUMMARY_OTHER;

    for (size_t i = 0; i < l->entry_count; i++) {
        unsigned own = l->entries[i].needs;

        for (size_t n = l->entries[i].first; n < end_of(l, i); n++)
            own |= l->notes[n].part;
        /* The time of a header is that of its messages, if there are any. */
        if (l->entries[i].kind == RECORD_HEADER)
            own &= ~(unsigned)(FEATURE_TIME | FEATURE_END);
        parts |= own;
    }
    return parts & ~nobodys;
}

void record_summary_of_file(struct buf *to, const struct format *f, struct str text,
                            size_t step, unsigned parts)
{
    size_t before = to->len;
    struct record_summary l;
    struct memory_reader p;

    record_summary_init(&l);
    memory_reader_run(&p, f, text, step, &l.sink);
    record_summary_write(&l, parts, to);
    buf_add(to, buf_str(&p.warnings));
    buf_printf(to, "%s", p.failed ? p.error.msg : "end");
    for (size_t i = before; i < to->len; i++)
        to->at[i] = to->at[i] == '"' ? '\'' : to->at[i];
    record_summary_release(&l);
    memory_reader_release(&p);
}

/* format/recording.c - the native format: JSON objects, one per line. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "format/ndjson.h"
#include "format/recording-line.h"
#include "json/splice.h"

#define UNKNOWN "unknown"

struct recording {
    struct ndjson lines;
    struct arena arena; /* decoded members of the current record */
    bool seen_line, seen_header;
};

static void *recording_open(void)
{
    struct recording *s = mem_new(struct recording);

    ndjson_init(&s->lines);
    return s;
}

static void recording_close(void *state)
{
    struct recording *s = state;

    ndjson_release(&s->lines);
    arena_release(&s->arena);
    free(s);
}

static void recording_resync(void *state)
{
    struct recording *s = state;

    ndjson_resync(&s->lines);
}

static enum probe_rank recording_probe(struct str head)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ours;

    head = str_trim(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault))
        ours =
            recording_line_is_known_type(json_text(json_get(json_root(&j), STR("type")), &a));
    else /* longer than the head, truncated or damaged; recorders write the type first */
        ours = ndjson_starts_with(&head, STR("{\"type\":\"")) &&
               recording_line_is_known_type(str_cut(&head, '"'));
    json_release(&j);
    arena_release(&a);
    return ours ? PROBE_SURE : PROBE_NONE;
}

static void check_header(struct recording *s, const struct window *w, const struct record *r,
                         size_t at)
{
    if (r->kind != RECORD_HEADER) {
        if (!s->seen_line)
            format_note(w, at, "no header line; reading on without one");
        return;
    }
    if (s->seen_header)
        format_note(w, at, "another header line; its recording is taken as a continuation");
    s->seen_header = true;
}

/* Checked first: the required members depend on the version. */
static bool check_version(struct recording *s, const struct window *w, struct json_val line,
                          struct err *e)
{
    struct json_val version = json_get(line, STR("version"));
    struct str text = json_text(version, &s->arena), major = text;

    if (!json_is(json_get(line, STR("type")), STR("header")) ||
        json_type(version) != JSON_STRING || str_eq(str_cut(&major, '.'), STR("1")))
        return true;
    format_error(w, json_offset(line), e,
                 "this is a recording of version %.*s; this program reads version 1",
                 STR_ARG(text));
    return false;
}

/* Removes placeholders: an unknown date is written as 1970, an unknown server as "unknown". */
static void clear_placeholders(struct record *r)
{
    if (r->wall_us == 0)
        r->has &= ~(unsigned)HAS_WALL;
    if (r->kind == RECORD_HEADER && str_eq(r->header.upstream, STR(UNKNOWN)))
        r->header.upstream = STR_NONE;
}

static enum next_result recording_next(void *state, const struct window *w, struct consumed *t,
                                       struct record *r, struct err *e)
{
    struct recording *s = state;
    enum next_result next = ndjson_next(&s->lines, w, t, e);
    struct json_val line = json_root(&s->lines.json);
    struct err
        inner; /* uninitialised: set on failure only, clearing it for each line costs time */
    size_t at;
    bool ok;

    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    t->fatal = !check_version(s, w, line, e);
    if (t->fatal)
        return NEXT_ERROR;
    ok = recording_line_read(line, r, &s->arena, &at, &inner);
    t->fatal =
        (!ok || r->kind == RECORD_UNKNOWN) && format_is_foreign(w, &recording_format, line, e);
    if (t->fatal)
        return NEXT_ERROR;
    if (!ok)
        return format_error(w, at, e, "%s", inner.msg);
    if (r->kind == RECORD_MESSAGE)
        ndjson_set_message(&s->lines, r->message.msg, t);
    check_header(s, w, r, at);
    clear_placeholders(r);
    s->seen_line = true;
    return NEXT_RECORD;
}

/* Fills in values that other formats do not have: message numbers, totals, a header, and the
 * time of the footer. */
struct recording_writer {
    struct record_footer totals;
    int64_t started_us; /* wall clock; 0: unknown */
    int64_t last_us;    /* `us` of the latest line that has it */
    bool header_written;
};

static void *recording_begin(const struct format_options *o)
{
    (void)o;
    return mem_new(struct recording_writer);
}

/* Writes a header with the time of the first record. */
static void write_default_header(struct recording_writer *w, struct buf *to,
                                 const struct record *first)
{
    struct record r = { .kind = RECORD_HEADER, .has = HAS_WALL };

    if (first->has & HAS_WALL)
        r.wall_us = first->wall_us;
    if (first->has & HAS_WALL && first->kind == RECORD_FOOTER)
        r.wall_us = clock_since(r.wall_us, clock_ms_to_us(first->footer.duration_ms));
    w->started_us = r.wall_us;
    r.header =
        (struct record_header){ .version = STR(RECORDING_VERSION),
                                .upstream = STR(UNKNOWN),
                                .thoughtjack_version = STR(RECORDING_THOUGHTJACK_VERSION) };
    recording_line_write(to, &r);
}

static void fill_header(struct recording_writer *w, struct record *r)
{
    w->started_us = r->wall_us;
    r->has |= HAS_WALL;
    r->header.version = STR(RECORDING_VERSION);
    r->header.thoughtjack_version = STR(RECORDING_THOUGHTJACK_VERSION);
    if (!r->header.upstream.at)
        r->header.upstream = STR(UNKNOWN);
}

static void count_message(struct recording_writer *w, enum record_dir dir)
{
    w->totals.messages++;
    if (dir == TO_SERVER)
        w->totals.client_messages++;
    else
        w->totals.server_messages++;
}

static void fill_message(const struct recording_writer *w, struct record *r)
{
    if (!(r->has & HAS_SEQ))
        r->message.seq = w->totals.messages;
    r->has |= HAS_SEQ | HAS_WALL;
}

static void fill_footer(const struct recording_writer *w, struct record *r)
{
    if (r->has & HAS_WALL && !(r->has & HAS_US) && w->started_us) {
        r->has |= HAS_US;
        r->us = clock_since(r->wall_us, w->started_us);
        /* The two clocks drift, and `us` must not decrease. */
        if (r->us < w->last_us)
            r->us = w->last_us;
    }
    if (r->has & HAS_TOTALS)
        return;
    r->has |= HAS_TOTALS;
    r->footer.messages = w->totals.messages;
    r->footer.client_messages = w->totals.client_messages;
    r->footer.server_messages = w->totals.server_messages;
}

static void write_line(struct recording_writer *w, struct buf *to, const struct record *r)
{
    if (r->has & HAS_US)
        w->last_us = r->us;
    recording_line_write(to, r);
}

static void write_filled(struct recording_writer *w, struct buf *to, const struct record *given)
{
    struct record r = *given;

    if (r.kind == RECORD_HEADER)
        fill_header(w, &r);
    else if (r.kind == RECORD_MESSAGE)
        fill_message(w, &r);
    else
        fill_footer(w, &r);
    write_line(w, to, &r);
}

/* Fast path: messages of the recorder are complete. */
static bool is_complete(const struct record *r)
{
    const unsigned all = HAS_SEQ | HAS_WALL;

    return r->kind != RECORD_HEADER && r->kind != RECORD_FOOTER &&
           (r->kind != RECORD_MESSAGE || (r->has & all) == all);
}

static void recording_put(void *state, struct buf *to, const struct record *r)
{
    struct recording_writer *w = state;

    if (r->kind == RECORD_UNKNOWN)
        return;
    if (r->kind != RECORD_HEADER && !w->header_written)
        write_default_header(w, to, r);
    w->header_written = true;
    if (r->kind == RECORD_MESSAGE)
        count_message(w, r->message.dir);
    if (is_complete(r))
        write_line(w, to, r);
    else
        write_filled(w, to, r);
}

static void recording_end(void *state, struct buf *to)
{
    (void)to;
    free(state);
}

static void splice_line(struct buf *to, struct json_val line, struct str message,
                        struct str redacted)
{
    struct json_splice splice;

    json_splice_init(&splice, line);
    json_splice_replace(&splice, json_get(line, STR("msg")), message);
    if (redacted.len || json_exists(json_get(line, STR("redacted"))))
        json_splice_set(&splice, line, STR("redacted"), redacted.len ? redacted : STR("[]"));
    json_splice_apply(&splice, to);
}

/* Before the value may be a byte order mark. */
static bool recording_rewrite_line(struct buf *to, struct str line, struct message_composer *c)
{
    size_t start = str_find(line, '{'), used = 0;
    struct str text = str_skip(line, start), message, redacted;
    struct json_fault fault;
    struct json_val root;
    struct ndjson n;
    bool ok;

    ndjson_init(&n);
    ok = json_scan_first(&n.json, text, &used, &fault);
    root = ok ? json_root(&n.json) : JSON_VAL_NONE;
    ok = json_type(json_get(root, STR("msg"))) == JSON_OBJECT;
    if (ok && c->compose(c, json_raw(json_get(root, STR("redacted"))), &message, &redacted)) {
        buf_add(to, str_n(line.at, start));
        splice_line(to, root, message, redacted);
        buf_add(to, str_skip(text, used));
    } else if (ok) {
        buf_add(to, line);
    }
    ndjson_release(&n);
    return ok;
}

const struct format recording_format = {
    .name = RECORDING_NAME,
    .about = "mcpreel's own: JSON lines with everything that was recorded",
    .ext = { ".jsonl" },
    .keeps = (1u << FEATURE_COUNT) - 1,
    .line_based = true,
    .probe = recording_probe,
    .open = recording_open,
    .next = recording_next,
    .close = recording_close,
    .resync = recording_resync,
    .begin = recording_begin,
    .put = recording_put,
    .end = recording_end,
    .rewrite_line = recording_rewrite_line,
};

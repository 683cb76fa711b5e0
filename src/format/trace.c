/* format/trace.c - the mcp-replay trace, version 1: what mcp-tape writes.
 *
 * JSON lines: "meta", then messages { t, dir, raw }, then "end". A rotated part has
 * no meta, a crash leaves no end. `raw` is whatever stood on a line: a message, an
 * array of them, or any other JSON value. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "format/ndjson.h"
#include "mcp/message.h"
#include "trace/limits.h"
#include "trace/moment.h"
#include "json/write.h"

struct trace {
    struct ndjson lines;
    struct arena arena;     /* decoded members of the current line */
    struct json_iter batch; /* elements still to come out of the current line */
    struct record line;     /* what they have in common */
    size_t index, count;    /* of those elements */
    uint64_t batches;
    bool any, headed;
};

static void *trace_open(void)
{
    struct trace *s = mem_new(struct trace);

    ndjson_init(&s->lines);
    return s;
}

static void trace_close(void *state)
{
    struct trace *s = state;

    ndjson_release(&s->lines);
    arena_release(&s->arena);
    free(s);
}

static bool is_message_line(struct json_val line)
{
    return json_exists(json_get(line, STR("raw"))) && json_exists(json_get(line, STR("t"))) &&
           json_exists(json_get(line, STR("dir")));
}

static bool trace_probe(struct str head)
{
    struct json_fault fault;
    struct json_val line;
    struct json j;
    size_t used;
    bool ours;

    head = str_trim(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault)) {
        line = json_root(&j);
        ours = is_message_line(line) || (json_is(json_get(line, STR("type")), STR("meta")) &&
                                         json_exists(json_get(line, STR("v"))));
    } else { /* longer than the head, torn or broken; producers keep this order */
        ours = str_starts(head, STR("{\"v\":1,\"type\":\"meta\"")) ||
               str_starts(head, STR("{\"t\":\""));
    }
    json_release(&j);
    return ours;
}

/* The member, or an error that says what it must be. */
static bool take_time(struct trace *s, const struct window *w, struct json_val line,
                      struct str name, int64_t *us, struct err *e)
{
    struct json_val v = json_get(line, name);

    if (json_type(v) == JSON_STRING && clock_parse(json_text(v, &s->arena), us))
        return true;
    format_error(w, json_at(json_exists(v) ? v : line), e,
                 "'%.*s' must be a date and time like 2026-05-12T23:00:00.000Z", STR_ARG(name));
    return false;
}

static bool take_number(const struct window *w, struct json_val line, struct str name,
                        int64_t *n, struct err *e)
{
    struct json_val v = json_get(line, name);

    if (json_int(v, n))
        return true;
    format_error(w, json_at(json_exists(v) ? v : line), e, "'%.*s' must be a whole number",
                 STR_ARG(name));
    return false;
}

/* The command as people write it. */
static struct str joined(struct json_val command, struct arena *a)
{
    struct json_iter it = json_each(command);
    struct buf line;
    struct str text;

    buf_init(&line, LIMIT_LINE);
    while (json_next(&it)) {
        if (line.len)
            buf_add_ch(&line, ' ');
        buf_add(&line, json_text(it.value, a));
    }
    text = arena_str(a, buf_str(&line));
    buf_release(&line);
    return text;
}

static enum next read_meta(struct trace *s, const struct window *w, struct json_val line,
                           struct record *r, struct err *e)
{
    struct json_val label = json_get(line, STR("label"));
    struct json_val command = json_get(line, STR("command"));
    int64_t version;

    *r = (struct record){ .kind = RECORD_HEADER, .has = HAS_WALL };
    if (!take_number(w, line, STR("v"), &version, e))
        return NEXT_ERROR;
    if (version != 1)
        return format_error(w, json_at(json_get(line, STR("v"))), e,
                            "this is a trace of version %lld; this program reads version 1",
                            (long long)version);
    if (!take_time(s, w, line, STR("startedAt"), &r->wall_us, e))
        return NEXT_ERROR;
    if (json_type(label) != JSON_STRING)
        return format_error(w, json_at(line), e, "a meta line without 'label'");
    if (json_type(command) != JSON_ARRAY)
        return format_error(w, json_at(line), e, "a meta line without 'command'");
    if (s->headed)
        format_note(w, json_at(line),
                    "another meta line; its trace is taken as a continuation");
    s->headed = true;
    r->header.name = json_text(label, &s->arena);
    if (!r->header.name.at)
        r->header.name = STR("");
    r->header.command = json_raw(command);
    r->header.upstream = joined(command, &s->arena);
    r->header.transport = STR("stdio");
    return NEXT_RECORD;
}

static enum next read_end(struct trace *s, const struct window *w, struct json_val line,
                          struct record *r, struct err *e)
{
    int64_t duration;

    *r = (struct record){ .kind = RECORD_FOOTER, .has = HAS_WALL };
    if (!take_time(s, w, line, STR("t"), &r->wall_us, e) ||
        !take_number(w, line, STR("durationMs"), &duration, e))
        return NEXT_ERROR;
    r->footer.duration_ms = duration > 0 ? (uint64_t)duration : 0;
    /* Producers that record no process leave it out. */
    if (json_exists(json_get(line, STR("exitCode")))) {
        r->has |= HAS_EXIT_CODE;
        if (!take_number(w, line, STR("exitCode"), &r->footer.exit_code, e))
            return NEXT_ERROR;
    }
    return NEXT_RECORD;
}

static void make_record(struct trace *s, struct json_val v, struct str batch, struct record *r)
{
    struct mcp_message m = mcp_classify(v, &s->arena);

    *r = s->line;
    if (m.kind != MCP_OTHER && m.kind != MCP_BATCH) {
        r->message.msg = v;
        r->message.batch = batch;
        return;
    }
    r->kind = RECORD_RAW;
    r->has |= HAS_FROM;
    r->bytes = (struct record_bytes){ .from_to = s->line.message.dir,
                                      .bytes = json_raw(v),
                                      .why = STR("not JSON-RPC") };
}

/* The next element of the array on the current line; false: there is none. */
static bool next_of_batch(struct trace *s, struct record *r)
{
    struct str place;

    if (!json_next(&s->batch))
        return false;
    place = arena_printf(&s->arena, "{\"id\":%llu,\"index\":%zu,\"count\":%zu}",
                         (unsigned long long)s->batches, s->index++, s->count);
    make_record(s, s->batch.value, place, r);
    return true;
}

static enum next read_message(struct trace *s, const struct window *w, struct json_val line,
                              struct record *r, struct err *e)
{
    struct json_val dir = json_get(line, STR("dir")), raw = json_get(line, STR("raw"));

    s->line = (struct record){ .kind = RECORD_MESSAGE, .has = HAS_WALL };
    if (!take_time(s, w, line, STR("t"), &s->line.wall_us, e))
        return NEXT_ERROR;
    if (!json_is(dir, STR("in")) && !json_is(dir, STR("out")))
        return format_error(w, json_at(json_exists(dir) ? dir : line), e,
                            "'dir' must be \"in\" or \"out\"");
    if (!json_exists(raw))
        return format_error(w, json_at(line), e, "a message line without 'raw'");
    s->line.message.dir = json_is(dir, STR("in")) ? TO_SERVER : TO_CLIENT;
    if (json_type(raw) == JSON_ARRAY && json_count(raw)) {
        s->batch = json_each(raw);
        s->index = 0;
        s->count = json_count(raw);
        s->batches++;
        next_of_batch(s, r);
    } else {
        make_record(s, raw, STR_NONE, r);
    }
    return NEXT_RECORD;
}

static enum next read_line(struct trace *s, const struct window *w, struct record *r,
                           struct err *e)
{
    struct json_val line = json_root(&s->lines.json), type = json_get(line, STR("type"));

    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_at(line), e, "a line of a trace must be an object");
    if (!s->any && !json_is(type, STR("meta")))
        format_note(w, json_at(line), "no meta line: a rotated part; reading on without one");
    s->any = true;
    if (json_is(type, STR("meta")))
        return read_meta(s, w, line, r, e);
    if (json_is(type, STR("end")))
        return read_end(s, w, line, r, e);
    if (!json_exists(type))
        return read_message(s, w, line, r, e);
    format_note(w, json_at(type), "a line of an unknown type; passed over");
    return NEXT_SKIP;
}

static enum next trace_next(void *state, const struct window *w, struct taken *t,
                            struct record *r, struct err *e)
{
    struct trace *s = state;
    enum next next;

    if (next_of_batch(s, r))
        return NEXT_RECORD;
    next = ndjson_next(&s->lines, w, t, e);
    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    return read_line(s, w, r, e);
}

/* What is written so far of an array whose elements come one by one, and when. */
struct trace_writer {
    struct buf batch;
    int64_t started_us;
};

static void *trace_begin(void)
{
    struct trace_writer *s = mem_new(struct trace_writer);

    buf_init(&s->batch, LIMIT_LINE);
    return s;
}

static void add_time(struct json_out *o, struct str name, const struct trace_writer *s,
                     const struct record *r)
{
    bool wall = r->has & HAS_WALL;
    int64_t us = wall ? r->wall_us : moment_add(s->started_us, r->has & HAS_US ? r->us : 0);
    char text[CLOCK_TEXT];

    /* The format has milliseconds, no more. */
    json_out_key_str(o, name, clock_format(text, us - us % 1000));
}

static void write_meta(struct trace_writer *s, struct json_out *o, const struct record *r)
{
    const struct record_header *h = &r->header;

    s->started_us = r->wall_us;
    json_out_object(o);
    json_out_key_int(o, STR("v"), 1);
    json_out_key_str(o, STR("type"), STR("meta"));
    add_time(o, STR("startedAt"), s, r);
    json_out_key_str(o, STR("label"), h->name.at ? h->name : STR("mcp"));
    json_out_key(o, STR("command"));
    if (h->command.at) {
        json_out_raw(o, h->command);
    } else {
        json_out_array(o);
        if (h->upstream.len)
            json_out_str(o, h->upstream);
        json_out_end_array(o);
    }
    json_out_end_object(o);
    buf_add_ch(o->to, '\n');
}

static void write_message(struct trace_writer *s, struct json_out *o, const struct record *r,
                          struct str raw)
{
    enum record_dir dir = r->kind == RECORD_RAW ? r->bytes.from_to : r->message.dir;

    json_out_object(o);
    add_time(o, STR("t"), s, r);
    json_out_key_str(o, STR("dir"), dir == TO_SERVER ? STR("in") : STR("out"));
    json_out_key_raw(o, STR("raw"), raw);
    json_out_end_object(o);
    buf_add_ch(o->to, '\n');
}

/* Where in its batch a message stands: its own index and how many there are. */
static bool place_in_batch(struct str batch, int64_t *index, int64_t *count)
{
    struct json_fault fault;
    struct json j;
    bool ok;

    json_init(&j);
    ok = batch.at && json_scan(&j, batch, &fault) &&
         json_int(json_get(json_root(&j), STR("index")), index) &&
         json_int(json_get(json_root(&j), STR("count")), count);
    json_release(&j);
    return ok;
}

static void put_message(struct trace_writer *s, struct json_out *o, const struct record *r)
{
    struct str raw = json_raw(r->message.msg);
    int64_t index, count;

    if (!place_in_batch(r->message.batch, &index, &count)) {
        write_message(s, o, r, raw);
        return;
    }
    if (index == 0)
        buf_clear(&s->batch);
    buf_add_ch(&s->batch, s->batch.len ? ',' : '[');
    buf_add(&s->batch, raw);
    if (index + 1 < count)
        return;
    buf_add_ch(&s->batch, ']');
    write_message(s, o, r, buf_str(&s->batch));
    buf_clear(&s->batch);
}

static void write_end(struct trace_writer *s, struct json_out *o, const struct record *r)
{
    struct record end = *r;

    if (!(r->has & (HAS_WALL | HAS_US)) && r->footer.duration_ms < INT64_MAX / 1000) {
        end.has |= HAS_US;
        end.us = (int64_t)r->footer.duration_ms * 1000;
    }
    json_out_object(o);
    add_time(o, STR("t"), s, &end);
    json_out_key_str(o, STR("type"), STR("end"));
    json_out_key_int(o, STR("exitCode"), r->has & HAS_EXIT_CODE ? r->footer.exit_code : 0);
    json_out_key_int(o, STR("durationMs"), (int64_t)r->footer.duration_ms);
    json_out_end_object(o);
    buf_add_ch(o->to, '\n');
}

static void trace_put(void *state, struct buf *to, const struct record *r)
{
    struct json_out o = json_out_to(to);

    if (r->kind == RECORD_HEADER)
        write_meta(state, &o, r);
    else if (r->kind == RECORD_MESSAGE)
        put_message(state, &o, r);
    else if (r->kind == RECORD_FOOTER)
        write_end(state, &o, r);
}

static void trace_end(void *state, struct buf *to)
{
    struct trace_writer *s = state;

    (void)to;
    buf_release(&s->batch);
    free(s);
}

const struct format trace_format = {
    .name = "trace",
    .about = "mcp-replay trace, version 1 (mcp-tape, mcpreplay.dev)",
    .ext = { ".trace.jsonl" },
    .keeps = PART_BYTES | PART_TIME | PART_SERVER | PART_PENDING | PART_BATCH | PART_NAME |
             PART_COMMAND | PART_SIDE | PART_END,
    .probe = trace_probe,
    .open = trace_open,
    .next = trace_next,
    .close = trace_close,
    .begin = trace_begin,
    .put = trace_put,
    .end = trace_end,
};

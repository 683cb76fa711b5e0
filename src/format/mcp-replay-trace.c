/* format/mcp-replay-trace.c - the mcp-replay trace format, version 1, as written by mcp-tape.
 *
 * JSON lines: "meta", then messages { t, dir, raw }, then "end". A rotated part has no meta, a
 * crash leaves no end. `raw` is any JSON value of a line: a message, a batch, or another value.
 *
 * Required values that are unknown are written as placeholders that the reader recognises: a
 * date of 1970, the label that mcp-tape would give, an empty command. An unknown exit code is
 * left out. */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "format/ndjson.h"
#include "mcp/message.h"
#include "trace/limits.h"
#include "trace/timestamp.h"
#include "trace/unknown-members.h"
#include "json/write.h"

#define NAME "trace"
#define NO_LABEL "mcp"
#define LABELLED "labelled" /* member of mcpreel: false if the label was generated */

/* Number of unknown types that get a note, each once. */
enum { SKIP_NOTES_MAX = 32, LABEL_MAX = 32 };

struct trace {
    struct ndjson lines;
    struct arena arena;     /* decoded members of the current line */
    struct json_iter batch; /* remaining elements of the current line */
    struct record line;     /* members common to its elements */
    size_t index, count;    /* of those elements */
    uint64_t batches;
    struct map noted_types; /* unknown types and directions that got a note */
    bool seen_line, seen_meta;
    bool fatal; /* another version, or another format */
};

static void *trace_open(void)
{
    struct trace *s = mem_new(struct trace);

    ndjson_init(&s->lines);
    map_init(&s->noted_types);
    return s;
}

static void trace_close(void *state)
{
    struct trace *s = state;

    ndjson_release(&s->lines);
    map_release(&s->noted_types);
    arena_release(&s->arena);
    free(s);
}

static bool has(struct json_val line, struct str member)
{
    return json_exists(json_get(line, member));
}

/* The last rotated part may have only the end. */
static bool is_trace_line(struct json_val line)
{
    struct json_val type = json_get(line, STR("type"));

    if (json_is(type, STR("meta")))
        return has(line, STR("v"));
    if (json_is(type, STR("end")))
        return has(line, STR("t")) && has(line, STR("durationMs"));
    return has(line, STR("raw")) && has(line, STR("t")) && has(line, STR("dir"));
}

/* For a first line that is longer than the head, truncated or damaged. */
static bool starts_like_trace(struct str head)
{
    return ndjson_starts_with(&head, STR("{\"v\":1,\"type\":\"meta\"")) ||
           ndjson_starts_with(&head, STR("{\"type\":\"meta\",\"v\":")) ||
           ndjson_starts_with(&head, STR("{\"t\":\""));
}

static void trace_resync(void *state)
{
    struct trace *s = state;

    ndjson_resync(&s->lines);
}

static enum probe_rank trace_probe(struct str head)
{
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ours;

    head = str_trim(head);
    json_init(&j);
    ours = json_scan_first(&j, head, &used, &fault) ? is_trace_line(json_root(&j))
                                                    : starts_like_trace(head);
    json_release(&j);
    return ours ? PROBE_SURE : PROBE_NONE;
}

/* Reads the member; else sets an error with the expected type. */
static bool read_time(struct trace *s, const struct window *w, struct json_val line,
                      struct str name, struct record *r, struct err *e)
{
    struct json_val v = json_get(line, name);

    if (json_type(v) == JSON_STRING && clock_parse(json_text(v, &s->arena), &r->wall_us)) {
        r->has |= r->wall_us != 0 ? (unsigned)HAS_WALL : 0;
        return true;
    }
    format_error(w, json_offset(json_exists(v) ? v : line), e,
                 "'%.*s' must be a date and time like 2026-05-12T23:00:00.000Z", STR_ARG(name));
    return false;
}

static bool read_number(const struct window *w, struct json_val line, struct str name,
                        int64_t *n, struct err *e)
{
    struct json_val v = json_get(line, name);

    if (json_int(v, n))
        return true;
    format_error(w, json_offset(json_exists(v) ? v : line), e, "'%.*s' must be a whole number",
                 STR_ARG(name));
    return false;
}

static bool read_text(struct trace *s, const struct window *w, struct json_val line,
                      struct str name, struct str *text, struct err *e)
{
    struct json_val v = json_get(line, name);

    *text = json_text(v, &s->arena);
    if (!text->at)
        text->at = ""; /* present, and empty */
    if (json_type(v) == JSON_STRING)
        return true;
    format_error(w, json_offset(json_exists(v) ? v : line), e, "'%.*s' must be a string",
                 STR_ARG(name));
    return false;
}

/* The members of each of the three kinds of line, NULL-ended. */
static const char *const meta_members[] = { "v",       "type",   "startedAt", "label",
                                            "command", LABELLED, NULL };
static const char *const message_members[] = { "t", "dir", "raw", NULL };
static const char *const end_members[] = { "t", "type", "exitCode", "durationMs", NULL };

enum { MESSAGE_MEMBERS = sizeof message_members / sizeof message_members[0] - 1 };

static bool is_known_member(const void *self, struct str name)
{
    for (const char *const *member = self; *member; member++)
        if (str_eq(name, str_z(*member)))
            return true;
    return false;
}

static struct str collect_unknown(struct trace *s, struct json_val line,
                                  const char *const *members)
{
    return unknown_members_collect(line, STR(NAME), is_known_member, members, STR_NONE,
                                   &s->arena);
}

/* Letters, digits and dashes, 32 at most. */
static struct str spell_label(struct str word, struct arena *a)
{
    size_t len = word.len < LABEL_MAX ? word.len : LABEL_MAX;
    char *label = arena_alloc(a, len + 1);

    for (size_t i = 0; i < len; i++) {
        char c = word.at[i];

        label[i] = ascii_is_alnum(c) ? ascii_lower(c) : '-';
    }
    return str_n(label, len);
}

static bool is_runner_or_flag(struct str word)
{
    static const struct str runners[] = { STR_INIT("npx"),  STR_INIT("node"), STR_INIT("bun"),
                                          STR_INIT("deno"), STR_INIT("run"),  STR_INIT("") };

    for (size_t i = 0; i < word.len; i++)
        if (word.at[i] == ' ' || (word.at[i] >= '\t' && word.at[i] <= '\r'))
            return true;
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; i++)
        if (str_eq(word, runners[i]))
            return true;
    return word.at[0] == '-';
}

/* The label that mcp-tape generates: the last word of the command that is no runner or flag, in
 * lower case. If that word was redacted, the program. */
static struct str label_of(struct str command, struct arena *a)
{
    static const struct str mark = STR_INIT("[REDACTED");
    struct str label = STR(NO_LABEL), program = STR_NONE, word;
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    it =
        json_each(command.at && json_scan(&j, command, &fault) ? json_root(&j) : JSON_VAL_NONE);
    while (json_next(&it)) {
        word = json_text(it.value, a);
        program = program.at ? program : word;
        if (!is_runner_or_flag(word))
            label = word;
    }
    if (str_contains(label, mark))
        label = str_contains(program, mark) ? STR(NO_LABEL) : program;
    for (size_t i = 0; i < label.len; i++)
        if (label.at[i] == '/' || label.at[i] == '\\') {
            label = str_skip(label, i + 1);
            i = (size_t)-1;
        }
    label = spell_label(label, a);
    json_release(&j);
    return label.len ? label : STR(NO_LABEL);
}

/* Reads the server's argv, and joins it to a command line. */
static bool read_command(struct trace *s, const struct window *w, struct json_val line,
                         struct record_header *h, struct err *e)
{
    struct json_val v = json_get(line, STR("command"));
    struct json_iter it = json_each(v);
    struct json_val wrong = json_exists(v) ? v : line;
    bool ok = json_type(v) == JSON_ARRAY;
    struct buf text;

    buf_init(&text, LIMIT_LINE);
    while (ok && json_next(&it)) {
        ok = json_type(it.value) == JSON_STRING;
        wrong = it.value;
        if (text.len)
            buf_add_ch(&text, ' ');
        buf_add(&text, json_text(it.value, &s->arena));
    }
    if (json_count(v)) {
        h->command = json_raw(v);
        h->upstream = arena_str(&s->arena, buf_str(&text));
    }
    buf_release(&text);
    if (!ok)
        format_error(w, json_offset(wrong), e, "'command' must be an array of strings");
    return ok;
}

/* A writer that knows only the command line writes it as a single word. */
static bool is_one_word(struct str upstream)
{
    for (size_t i = 0; i < upstream.len; i++)
        if (upstream.at[i] == ' ' || str_starts(str_skip(upstream, i), STR("://")))
            return false;
    return true;
}

static enum next_result read_meta(struct trace *s, const struct window *w, struct json_val line,
                                  struct record *r, struct err *e)
{
    struct record_header *h = &r->header;
    int64_t version;

    *r = (struct record){ .kind = RECORD_HEADER,
                          .unknown_members = collect_unknown(s, line, meta_members) };
    if (!read_number(w, line, STR("v"), &version, e))
        return NEXT_ERROR;
    s->fatal = version != 1;
    if (s->fatal)
        return format_error(w, json_offset(json_get(line, STR("v"))), e,
                            "this is a trace of version %lld; this program reads version 1",
                            (long long)version);
    if (!read_time(s, w, line, STR("startedAt"), r, e) ||
        !read_text(s, w, line, STR("label"), &h->name, e) || !read_command(s, w, line, h, e))
        return NEXT_ERROR;
    if (s->seen_meta)
        format_note(w, json_offset(line),
                    "another meta line; its trace is taken as a continuation");
    s->seen_meta = true;
    if (json_count(json_get(line, STR("command"))) == 1 && !is_one_word(h->upstream))
        h->command = STR_NONE;
    if (str_eq(h->name, STR(NO_LABEL)) ||
        json_type(json_get(line, STR(LABELLED))) == JSON_FALSE)
        h->name = STR_NONE;
    h->transport = features_is_url(h->upstream) ? STR("http") : STR("stdio");
    return NEXT_RECORD;
}

static enum next_result read_end(struct trace *s, const struct window *w, struct json_val line,
                                 struct record *r, struct err *e)
{
    int64_t duration;

    *r = (struct record){ .kind = RECORD_FOOTER,
                          .unknown_members = collect_unknown(s, line, end_members) };
    if (!read_time(s, w, line, STR("t"), r, e) ||
        !read_number(w, line, STR("durationMs"), &duration, e))
        return NEXT_ERROR;
    r->footer.duration_ms = duration > 0 ? (uint64_t)duration : 0;
    /* Producers that record no process leave it out. */
    if (has(line, STR("exitCode"))) {
        r->has |= HAS_EXIT_CODE;
        if (!read_number(w, line, STR("exitCode"), &r->footer.exit_code, e))
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
    r->bytes = (struct record_bytes){ .dir = s->line.message.dir,
                                      .bytes = json_raw(v),
                                      .why = STR("not JSON-RPC") };
}

/* The next element of the batch on the current line; false: no more. */
static bool next_in_batch(struct trace *s, struct record *r)
{
    struct str place;

    if (!json_next(&s->batch))
        return false;
    place = arena_printf(&s->arena, "{\"id\":%llu,\"index\":%zu,\"count\":%zu}",
                         (unsigned long long)s->batches, s->index++, s->count);
    make_record(s, s->batch.value, place, r);
    return true;
}

/* Skips a line of an unknown type or direction, with one note for each. */
static enum next_result skip_unknown(struct trace *s, const struct window *w, const char *what,
                                     struct json_val v, struct record *r)
{
    struct str text = json_text(v, &s->arena);
    struct str key = arena_printf(&s->arena, "%s %.*s", what, STR_ARG(text));

    if (s->noted_types.count < SKIP_NOTES_MAX && !map_get(&s->noted_types, key)) {
        map_put(&s->noted_types, key, s);
        format_note(w, json_offset(v), "ignoring lines of an unknown %s, '%.*s'", what,
                    (int)(text.len < 40 ? text.len : 40), text.at ? text.at : "");
    }
    *r = (struct record){ .kind = RECORD_UNKNOWN, .unknown_type = text };
    return NEXT_RECORD;
}

static enum next_result read_message(struct trace *s, const struct window *w,
                                     struct json_val line, struct record *r, struct err *e)
{
    struct json_val dir = json_get(line, STR("dir")), raw = json_get(line, STR("raw"));

    s->line = (struct record){ .kind = RECORD_MESSAGE };
    if (!read_time(s, w, line, STR("t"), &s->line, e))
        return NEXT_ERROR;
    if (json_type(dir) != JSON_STRING)
        return format_error(w, json_offset(json_exists(dir) ? dir : line), e,
                            "'dir' must be \"in\" or \"out\"");
    if (!json_exists(raw))
        return format_error(w, json_offset(line), e, "a message line without 'raw'");
    if (!json_is(dir, STR("in")) && !json_is(dir, STR("out")))
        return skip_unknown(s, w, "direction", dir, r);
    if (json_count(line) > MESSAGE_MEMBERS)
        s->line.unknown_members = collect_unknown(s, line, message_members);
    s->line.message.dir = json_is(dir, STR("in")) ? TO_SERVER : TO_CLIENT;
    if (json_type(raw) == JSON_ARRAY && json_count(raw)) {
        s->batch = json_each(raw);
        s->index = 0;
        s->count = json_count(raw);
        s->batches++;
        next_in_batch(s, r);
        s->line.unknown_members = STR_NONE; /* of the line: kept with the first element */
    } else {
        make_record(s, raw, STR_NONE, r);
    }
    return NEXT_RECORD;
}

static enum next_result read_line(struct trace *s, const struct window *w, struct record *r,
                                  struct err *e)
{
    struct json_val line = json_root(&s->lines.json), type = json_get(line, STR("type"));

    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_offset(line), e, "a line of a trace must be an object");
    if (json_exists(type) && json_type(type) != JSON_STRING)
        return format_error(w, json_offset(type), e, "'type' must be a string");
    if (!s->seen_line && !json_is(type, STR("meta")))
        format_note(w, json_offset(line),
                    "no meta line: a rotated part; reading on without one");
    s->seen_line = true;
    if (json_is(type, STR("meta")))
        return read_meta(s, w, line, r, e);
    if (json_is(type, STR("end")))
        return read_end(s, w, line, r, e);
    s->fatal = !has(line, STR("t")) && format_is_foreign(w, &mcp_replay_trace_format, line, e);
    if (s->fatal)
        return NEXT_ERROR;
    return json_exists(type) ? skip_unknown(s, w, "type", type, r)
                             : read_message(s, w, line, r, e);
}

static enum next_result trace_next(void *state, const struct window *w, struct consumed *t,
                                   struct record *r, struct err *e)
{
    struct trace *s = state;
    enum next_result next = NEXT_RECORD;

    if (!next_in_batch(s, r)) {
        next = ndjson_next(&s->lines, w, t, e);
        if (next != NEXT_RECORD)
            return next;
        arena_clear(&s->arena);
        next = read_line(s, w, r, e);
        t->fatal = s->fatal;
    }
    if (next == NEXT_RECORD && r->kind == RECORD_MESSAGE)
        ndjson_set_message(&s->lines, r->message.msg, t);
    return next;
}

/* The elements of a batch are kept until the last one. */
struct trace_writer {
    struct buf batch;           /* the batch so far, without its end; empty: none is open */
    enum record_dir dir;        /* of the open batch */
    struct str batch_time;      /* its time as text, in `time` */
    struct buf unknown_members; /* of its line */
    char time[CLOCK_TEXT_SIZE];
    int64_t next, count; /* index of the next element; number of all */
    int64_t started_us;
    int64_t exit_code; /* of the last server, if `server_exited` */
    bool meta_written, server_exited;
};

static void *trace_begin(const struct format_options *o)
{
    struct trace_writer *s = mem_new(struct trace_writer);

    (void)o;
    buf_init(&s->batch, LIMIT_LINE);
    buf_init(&s->unknown_members, LIMIT_LINE);
    return s;
}

/* The format has only milliseconds. */
static struct str time_of(const struct trace_writer *s, const struct record *r,
                          char text[CLOCK_TEXT_SIZE])
{
    int64_t us = 0;

    if (r->has & HAS_WALL)
        us = r->wall_us;
    else if (s->started_us && r->has & HAS_US)
        us = clock_add(s->started_us, r->us);
    else if (s->started_us && r->kind == RECORD_FOOTER)
        us = clock_add(s->started_us, clock_ms_to_us(r->footer.duration_ms));
    return clock_format(text, us - us % 1000);
}

static void write_command(struct json_out *o, const struct record_header *h)
{
    json_out_key(o, STR("command"));
    if (h->command.at) {
        json_out_raw(o, h->command);
        return;
    }
    json_out_array(o);
    if (h->upstream.len)
        json_out_str(o, h->upstream);
    json_out_end_array(o);
}

static void write_meta(struct trace_writer *s, struct buf *to, const struct record *r)
{
    struct json_out o = json_out_to(to);
    struct arena a = { 0 };
    struct str label = r->header.name;
    char time[CLOCK_TEXT_SIZE];

    if (!label.at)
        label = label_of(r->header.command, &a);
    s->meta_written = true;
    s->started_us = r->has & HAS_WALL ? r->wall_us : 0;
    json_out_object(&o);
    json_out_key_int(&o, STR("v"), 1);
    json_out_key_str(&o, STR("type"), STR("meta"));
    json_out_key_str(&o, STR("startedAt"), time_of(s, r, time));
    json_out_key_str(&o, STR("label"), label);
    write_command(&o, &r->header);
    if (!r->header.name.at && !str_eq(label, STR(NO_LABEL)))
        json_out_key_bool(&o, STR(LABELLED), false);
    unknown_members_write_own(&o, r->unknown_members, STR(NAME));
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
    arena_release(&a);
}

/* Writes a meta line if there was no header, with the time of the first record. */
static void write_default_meta(struct trace_writer *s, struct buf *to,
                               const struct record *first)
{
    struct record r = { .kind = RECORD_HEADER, .has = first->has & HAS_WALL };

    if (s->meta_written)
        return;
    r.wall_us = first->wall_us;
    if (first->kind == RECORD_FOOTER)
        r.wall_us = clock_since(r.wall_us, clock_ms_to_us(first->footer.duration_ms));
    write_meta(s, to, &r);
}

static void write_message(struct buf *to, struct str time, enum record_dir dir, struct str raw,
                          struct str extra)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_str(&o, STR("t"), time);
    json_out_key_str(&o, STR("dir"), dir == TO_SERVER ? STR("in") : STR("out"));
    json_out_key_raw(&o, STR("raw"), raw);
    unknown_members_write_own(&o, extra, STR(NAME));
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

/* Reads the index of a message in its batch, and the number of elements. */
static bool read_batch_index(struct str batch, int64_t *index, int64_t *count)
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

/* Writes the open batch, complete or not. */
static void close_batch(struct trace_writer *s, struct buf *to)
{
    if (!s->batch.len)
        return;
    buf_add_ch(&s->batch, ']');
    if (s->batch.full)
        to->full = true; /* too long for the reader */
    else
        write_message(to, s->batch_time, s->dir, buf_str(&s->batch),
                      s->unknown_members.len ? buf_str(&s->unknown_members) : STR_NONE);
    buf_clear(&s->batch);
    buf_clear(&s->unknown_members);
}

static void add_to_batch(struct trace_writer *s, struct buf *to, struct str raw)
{
    buf_add_ch(&s->batch, s->batch.len ? ',' : '[');
    buf_add(&s->batch, raw);
    if (++s->next >= s->count)
        close_batch(s, to);
}

static void put_message(struct trace_writer *s, struct buf *to, const struct record *r)
{
    struct str raw = json_raw(r->message.msg);
    int64_t index, count;
    bool goes_on;

    write_default_meta(s, to, r);
    if (!read_batch_index(r->message.batch, &index, &count)) {
        char time[CLOCK_TEXT_SIZE];

        close_batch(s, to);
        write_message(to, time_of(s, r, time), r->message.dir, raw, r->unknown_members);
        return;
    }
    goes_on = s->batch.len && r->message.dir == s->dir && index == s->next && count == s->count;
    if (!goes_on) {
        close_batch(s, to);
        s->dir = r->message.dir;
        s->batch_time = time_of(s, r, s->time);
        s->next = index;
        s->count = count;
        buf_add(&s->unknown_members, r->unknown_members);
    }
    add_to_batch(s, to, raw);
}

/* Other JSON values can be stored, other bytes cannot. */
static void put_raw(struct trace_writer *s, struct buf *to, const struct record *r)
{
    struct str raw = str_trim(r->bytes.bytes);
    char time[CLOCK_TEXT_SIZE];

    if (!features_is_other_json(raw))
        return;
    write_default_meta(s, to, r);
    if (s->batch.len && r->bytes.dir == s->dir) {
        add_to_batch(s, to, raw);
        return;
    }
    close_batch(s, to);
    write_message(to, time_of(s, r, time), r->bytes.dir, raw, r->unknown_members);
}

/* Processes have no line, but the end line has the exit code of the last one. */
static void handle_process(struct trace_writer *s, const struct record *r)
{
    s->server_exited =
        str_eq(r->proc.event, STR("exit")) && r->has & (HAS_EXIT_CODE | HAS_SIGNAL);
    s->exit_code =
        r->has & HAS_EXIT_CODE ? r->proc.exit_code : timestamp_add(128, r->proc.signal);
}

static void write_end(struct trace_writer *s, struct buf *to, const struct record *r)
{
    struct json_out o = json_out_to(to);
    char time[CLOCK_TEXT_SIZE];

    write_default_meta(s, to, r);
    json_out_object(&o);
    json_out_key_str(&o, STR("t"), time_of(s, r, time));
    json_out_key_str(&o, STR("type"), STR("end"));
    if (r->has & HAS_EXIT_CODE || s->server_exited)
        json_out_key_int(&o, STR("exitCode"),
                         r->has & HAS_EXIT_CODE ? r->footer.exit_code : s->exit_code);
    json_out_key_int(&o, STR("durationMs"), (int64_t)r->footer.duration_ms);
    unknown_members_write_own(&o, r->unknown_members, STR(NAME));
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void trace_put(void *state, struct buf *to, const struct record *r)
{
    struct trace_writer *s = state;

    if (r->kind == RECORD_MESSAGE) {
        put_message(s, to, r);
    } else if (r->kind == RECORD_RAW) {
        put_raw(s, to, r);
    } else if (r->kind == RECORD_PROC) {
        handle_process(s, r);
    } else if (r->kind == RECORD_HEADER || r->kind == RECORD_FOOTER) {
        close_batch(s, to);
        (r->kind == RECORD_HEADER ? write_meta : write_end)(s, to, r);
    }
}

static void trace_end(void *state, struct buf *to)
{
    struct trace_writer *s = state;

    close_batch(s, to);
    buf_release(&s->batch);
    buf_release(&s->unknown_members);
    free(s);
}

const struct format mcp_replay_trace_format = {
    .name = NAME,
    .about = "mcp-replay trace, version 1 (mcp-tape, mcpreplay.dev)",
    .ext = { ".trace.jsonl" },
    .keeps = FEATURE_BYTES | FEATURE_TIME | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED |
             FEATURE_BATCH | FEATURE_NAME | FEATURE_COMMAND | FEATURE_DIRECTION | FEATURE_END |
             FEATURE_ORDER | FEATURE_OTHER_JSON | FEATURE_URL,
    .line_based = true,
    .probe = trace_probe,
    .open = trace_open,
    .next = trace_next,
    .close = trace_close,
    .resync = trace_resync,
    .begin = trace_begin,
    .put = trace_put,
    .end = trace_end,
};

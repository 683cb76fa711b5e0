/* cmd/cmd-list.c - the list command: recordings in a directory, newest first.
 *
 * Reads a bounded part of each file: a small one completely, else its head and its footer; the
 * number of calls is then estimated from the head. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/dir.h"
#include "base/file-lock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "cmd/command.h"
#include "format/reader.h"
#include "runtime/record-path.h"
#include "json/write.h"

enum {
    HEAD_BYTES = 64 << 10,    /* bytes of a large file that are read */
    TAIL_BYTES = 64 << 10,    /* at its end, searched for the footer */
    SMALL_FILE_MAX = 1 << 20, /* files up to this size are read whole … */
    READ_BUDGET = 256 << 20,  /* … until this much was read in all */
    TIME_WIDTH = 19,          /* column widths */
    CALLS_WIDTH = 9,
    BYTES_WIDTH = 11,
    SERVER_WIDTH = 28,
    SERVER_TEXT_MAX = 1024, /* bytes of a name that are kept */
    REPORT_MAX = 1 << 30,
};

enum list_state {
    STATE_COMPLETE,
    STATE_RECORDING,  /* a recorder is writing it */
    STATE_UNFINISHED, /* it has no footer */
    STATE_DAMAGED,    /* an error in the middle: see `error` */
    STATE_UNREADABLE, /* `error` */
};

static const char *const state_names[] = {
    [STATE_COMPLETE] = "complete",     [STATE_RECORDING] = "recording",
    [STATE_UNFINISHED] = "unfinished", [STATE_DAMAGED] = "damaged",
    [STATE_UNREADABLE] = "unreadable",
};

struct list_entry {
    const struct dir_file *file;
    int64_t time_us;          /* when it was recorded, or last changed if it does not say */
    bool has_time;            /* `time_us` is from the file itself */
    struct str name, version; /* of the server */
    struct str upstream;      /* its command or address */
    uint64_t calls;
    bool estimated;
    bool has_footer;
    enum list_state state;
    struct str error;
};

struct list_args {
    int64_t count;
};

struct list {
    const struct app *app;
    const char *dir;
    struct arena arena;
    struct dir_file *files;
    struct list_entry *entries;
    size_t file_count, count, other_count;
    uint64_t budget;
    struct buf tail;      /* of the current file */
    struct log error_log; /* no warnings about files */
};

static void read_server_info(struct list *l, struct list_entry *en, struct json_val info)
{
    struct arena *a = &l->arena;

    if (json_type(info) != JSON_OBJECT || en->name.len)
        return;
    en->name = arena_truncated(a, json_text(json_get(info, STR("name")), a), SERVER_TEXT_MAX);
    en->version =
        arena_truncated(a, json_text(json_get(info, STR("version")), a), SERVER_TEXT_MAX);
}

static void read_record(struct list *l, struct list_entry *en, const struct record *r)
{
    if (r->has & HAS_WALL && !en->has_time) {
        en->has_time = true;
        en->time_us = r->wall_us;
    }
    if (r->kind == RECORD_HEADER && !en->upstream.len)
        en->upstream = arena_truncated(&l->arena, r->header.upstream, SERVER_TEXT_MAX);
    en->has_footer = r->kind == RECORD_FOOTER;
    if (r->kind != RECORD_MESSAGE)
        return;
    if (r->message.dir == TO_SERVER)
        en->calls += json_is(json_get(r->message.msg, STR("method")), STR("tools/call"));
    else
        read_server_info(l, en,
                         json_get(json_get(r->message.msg, STR("result")), STR("serverInfo")));
}

/* Reads the footer of a file that was not read to its end. */
static void read_footer(struct list *l, struct list_entry *en, struct reader *r)
{
    size_t len = en->file->size < TAIL_BYTES ? (size_t)en->file->size : TAIL_BYTES;
    struct err ignored = ERR_NONE;
    struct json_fault fault;
    struct str last;
    struct json j;
    char *text;

    buf_clear(&l->tail);
    text = buf_reserve(&l->tail, TAIL_BYTES);
    if (!reader_read_at(r, en->file->size - len, text, len, &ignored))
        return;
    last = str_trim(str_n(text, len));
    for (size_t i = last.len; i-- > 0;)
        if (last.at[i] == '\n') {
            last = str_skip(last, i + 1);
            break;
        }
    json_init(&j);
    if (json_scan(&j, last, &fault)) {
        en->has_footer = json_is(json_get(json_root(&j), STR("type")), STR("footer"));
        if (en->has_footer)
            read_server_info(l, en, json_get(json_root(&j), STR("server_info")));
    }
    json_release(&j);
}

/* Estimates the calls of the whole file from its head. The size of a compressed file is
 * unknown: only the calls of its head count. */
static void estimate_calls(struct list *l, struct list_entry *en, struct reader *r)
{
    uint64_t seen = reader_offset(r), size = reader_size(r);

    en->estimated = true;
    if (!size)
        return;
    en->calls = (uint64_t)((double)en->calls * (double)size / (double)seen);
    if (reader_format(r)->line_based)
        read_footer(l, en, r);
}

static void note_failure(struct list *l, struct list_entry *en, enum list_state state,
                         const struct err *e)
{
    en->state = state;
    en->error = arena_str(&l->arena, str_z(e->msg));
}

static void read_entry(struct list *l, struct list_entry *en)
{
    bool whole = en->file->size <= SMALL_FILE_MAX && en->file->size <= l->budget;
    struct err e = ERR_NONE;
    enum next_result next = NEXT_RECORD;
    struct record rec;
    struct reader *r;

    if (!reader_open(&r, l->app->sys, en->file->path, &l->error_log, &e)) {
        note_failure(l, en, STATE_UNREADABLE, &e);
        return;
    }
    l->budget -= whole ? en->file->size : 0;
    while ((whole || reader_offset(r) < HEAD_BYTES) &&
           (next = reader_next(r, &rec, &e)) == NEXT_RECORD)
        read_record(l, en, &rec);
    if (next == NEXT_RECORD)
        estimate_calls(l, en, r);
    if (file_lock_is_held(l->app->sys, en->file->path))
        en->state = STATE_RECORDING;
    else if (next == NEXT_ERROR)
        note_failure(l, en, STATE_DAMAGED, &e);
    else if (reader_format(r) == &recording_format && !en->has_footer)
        en->state = STATE_UNFINISHED;
    reader_close(r);
}

static int compare_changed(const void *a, const void *b)
{
    const struct dir_file *x = a, *y = b;

    return (x->modified_us < y->modified_us) - (x->modified_us > y->modified_us);
}

static int compare_time(const void *a, const void *b)
{
    const struct list_entry *x = a, *y = b;

    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? 1 : -1;
    return strcmp(y->file->path, x->file->path);
}

/* Lists an unreadable file only if its name is that of a recording. */
static void read_entries(struct list *l)
{
    if (!l->file_count)
        return;
    qsort(l->files, l->file_count, sizeof *l->files, compare_changed);
    l->entries = arena_alloc(&l->arena, l->file_count * sizeof *l->entries);
    for (size_t i = 0; i < l->file_count; i++) {
        struct list_entry *en = &l->entries[l->count];

        *en = (struct list_entry){ .file = &l->files[i], .time_us = l->files[i].modified_us };
        read_entry(l, en);
        if (en->state == STATE_UNREADABLE && !format_is_recording_name(str_z(en->file->path)))
            l->other_count++;
        else
            l->count++;
    }
    qsort(l->entries, l->count, sizeof *l->entries, compare_time);
}

/* "2026-11-15 21:00:05" */
static void add_time(struct buf *to, int64_t us)
{
    char text[CLOCK_TEXT_SIZE];
    struct str full = clock_format(text, us);

    buf_printf(to, "%.10s %.8s", full.at, full.at + 11);
}

static void add_server(struct buf *to, const struct list_entry *en)
{
    struct buf name;

    buf_init(&name, 4 * SERVER_TEXT_MAX);
    buf_add(&name, en->name.len ? en->name : en->upstream);
    if (en->name.len && en->version.len)
        buf_printf(&name, " %.*s", STR_ARG(en->version));
    term_escape_cut(to, buf_str(&name), SERVER_WIDTH);
    buf_release(&name);
}

static void add_state(struct buf *to, const struct list_entry *en)
{
    static const char *const notes[] = {
        [STATE_COMPLETE] = "",
        [STATE_RECORDING] = "  (being recorded)",
        [STATE_UNFINISHED] = "  (no footer)",
        [STATE_DAMAGED] = "  (damaged: ",
        [STATE_UNREADABLE] = "  (unreadable: ",
    };

    buf_add(to, str_z(notes[en->state]));
    if (en->error.len) {
        term_escape(to, en->error, TERM_ONE_LINE);
        buf_add_ch(to, ')');
    }
}

static void add_row(struct buf *to, const struct list_entry *en)
{
    struct buf cell;
    size_t from;

    buf_init(&cell, 64);
    add_time(to, en->time_us);
    if (en->state == STATE_UNREADABLE)
        buf_add(&cell, STR("-"));
    else
        buf_printf(&cell, "%s%llu", en->estimated ? "~" : "", (unsigned long long)en->calls);
    buf_printf(to, "%*.*s", CALLS_WIDTH, STR_ARG(buf_str(&cell)));
    buf_clear(&cell);
    units_write_bytes(&cell, en->file->size);
    buf_printf(to, "%*.*s  ", BYTES_WIDTH, STR_ARG(buf_str(&cell)));
    buf_release(&cell);
    from = to->len;
    add_server(to, en);
    while (text_wrap_columns(str_n(to->at + from, to->len - from)) < SERVER_WIDTH)
        buf_add_ch(to, ' ');
    buf_add(to, STR("  "));
    term_escape(to, str_z(en->file->path), TERM_ONE_LINE);
    add_state(to, en);
    buf_add_ch(to, '\n');
}

static void add_text(struct buf *to, const struct list *l, size_t shown)
{
    if (!shown)
        return;
    term_style(to, l->app->color, TERM_BOLD);
    buf_printf(to, "%-*s%*s%*s  %-*s  %s", TIME_WIDTH, "recorded (UTC)", CALLS_WIDTH, "calls",
               BYTES_WIDTH, "size", SERVER_WIDTH, "server", "file");
    term_style(to, l->app->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
    for (size_t i = 0; i < shown; i++)
        add_row(to, &l->entries[i]);
}

static void add_entry(struct json_out *o, const struct list_entry *en)
{
    char text[CLOCK_TEXT_SIZE];

    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(en->file->path));
    json_out_key_str(o, STR("state"), str_z(state_names[en->state]));
    json_out_key_str_or_null(o, STR("error"), en->error);
    json_out_key_str_or_null(o, STR("recorded_at"),
                             en->has_time ? clock_format(text, en->time_us) : STR_NONE);
    json_out_key_str(o, STR("modified_at"), clock_format(text, en->file->modified_us));
    json_out_key_int(o, STR("bytes"), (int64_t)en->file->size);
    json_out_key_str_or_null(o, STR("upstream"), en->upstream);
    json_out_key_str_or_null(o, STR("server_name"), en->name);
    json_out_key_str_or_null(o, STR("server_version"), en->version);
    json_out_key(o, STR("tool_calls"));
    if (en->state == STATE_UNREADABLE)
        json_out_null(o);
    else
        json_out_int(o, (int64_t)en->calls);
    json_out_key_bool(o, STR("tool_calls_estimated"), en->estimated);
    json_out_end_object(o);
}

static void add_json(struct buf *to, const struct list *l, size_t shown)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("list"));
    json_out_key_str(&o, STR("directory"), str_z(l->dir));
    json_out_key_int(&o, STR("count"), (int64_t)l->count);
    json_out_key_int(&o, STR("other_files"), (int64_t)l->other_count);
    json_out_key(&o, STR("recordings"));
    json_out_array(&o);
    for (size_t i = 0; i < shown; i++)
        add_entry(&o, &l->entries[i]);
    json_out_end_array(&o);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void log_rest(const struct list *l, bool own)
{
    if (l->app->json)
        return;
    if (!l->count)
        log_printf(l->app->log, LOG_INFO, "no recordings in '%s'%s", l->dir,
                   own ? "; 'mcpreel record -- COMMAND' without -o writes them there" : "");
    if (l->other_count)
        log_printf(l->app->log, LOG_INFO, "%zu other %s there", l->other_count,
                   l->other_count == 1 ? "file is" : "files are");
}

/* The default directory may not exist yet. */
static bool list_dir(struct list *l, bool own, size_t most, struct err *e)
{
    struct buf out;
    size_t shown;
    bool ok;

    if ((!own || dir_exists(l->app->sys, l->dir)) &&
        !dir_list_files(l->dir, &l->files, &l->file_count, &l->arena, e))
        return false;
    read_entries(l);
    shown = most && most < l->count ? most : l->count;
    buf_init(&out, REPORT_MAX);
    if (l->app->json)
        add_json(&out, l, shown);
    else
        add_text(&out, l, shown);
    ok = buf_ok(&out, e) && app_write(l->app, buf_str(&out), e);
    buf_release(&out);
    if (ok)
        log_rest(l, own);
    return ok;
}

static int list_run(const struct app *app, const void *args, const struct operands *in,
                    struct err *e)
{
    const struct list_args *a = args;
    struct list l = { .app = app, .budget = READ_BUDGET, .error_log = *app->log };
    bool own = !in->count, ok;

    buf_init(&l.tail, TAIL_BYTES);
    l.error_log.level = LOG_ERROR;
    ok = own ? record_path_default_folder(&l.dir, app, &l.arena, e) : true;
    if (own && !ok)
        err_hint(e, "name a folder, or set MCPREEL_DIR");
    if (!own)
        l.dir = in->at[0];
    ok = ok && list_dir(&l, own, (size_t)a->count, e);
    free(l.files);
    buf_release(&l.tail);
    arena_release(&l.arena);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct option list_options[] = {
    { .key = 'n',
      .name = "count",
      .arg = "COUNT",
      .type = OPTION_INT,
      .min = 1,
      .max = INT32_MAX,
      .offset = offsetof(struct list_args, count),
      .no_env = true,
      .help = "list at most the newest COUNT" },
    { 0 },
};

static const struct command_example list_examples[] = {
    { "mcpreel list", "recordings that were written without -o" },
    { "mcpreel list -n 5 traces", "the newest 5 recordings of another folder" },
    { "mcpreel list --json | jq -r '.recordings[].path'", "as JSON" },
    { 0 },
};

const struct command cmd_list = {
    .name = "list",
    .summary = "list the recordings in a folder, newest first",
    .usage = (const char *const[]){ "[--json] [-n COUNT] [FOLDER]", NULL },
    .about =
        "Lists the recordings in FOLDER, newest first: when each was recorded, how many "
        "tools/call requests it has, its size, its server and its path. Without FOLDER it is "
        "the folder that 'record' without -o writes to: $MCPREEL_DIR, or else "
        "$XDG_STATE_HOME/mcpreel/traces or ~/.local/state/mcpreel/traces.\n\n"
        "Files of up to 1 MiB are read completely, up to 256 MiB in total. From other files "
        "only the beginning and the end are read, and the number of calls is an estimate, "
        "marked with '~'. A file that cannot be read is listed with the reason if it has the "
        "name of a recording.",
    .examples = list_examples,
    .options = list_options,
    .args_size = sizeof(struct list_args),
    .operand = "FOLDER",
    .max = 1,
    .run = list_run,
};

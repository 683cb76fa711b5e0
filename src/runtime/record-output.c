#include "runtime/record-output.h"

#include "base/file.h"
#include "format/recording-line.h"
#include "record/header-secrets.h"
#include "runtime/record-path.h"
#include "runtime/record-report.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
    RESULT_TEXT = 1 << 16,
    LOGGED_PIECE = 3000, /* bytes of a body in one line of the log */
};

/* Returns whether the recording may replace an old file. A client that reaches no server leaves
 * only its own requests. */
static bool recorded_anything(const struct record_output *r)
{
    return r->any_message && r->server_responded;
}

static void note_session(struct record_output *r, const struct record *record)
{
    r->any_message |=
        record->kind == RECORD_MESSAGE || (record->kind == RECORD_GAP && record->gap.messages);
    if (!r->settings->server_argv)
        rejection_log_note(&r->rejection_log, record);
    r->server_responded |=
        record->kind == RECORD_HTTP_RESPONSE && str_eq(record->http.by, STR("server"));
}

/* Returns whether the values of a header are not logged, because they may be credentials. */
static bool is_masked(struct str name)
{
    static const struct str names[] = {
        STR_INIT("authorization"), STR_INIT("proxy-authorization"), STR_INIT("cookie"),
        STR_INIT("set-cookie"),    STR_INIT("mcp-session-id"),      STR_INIT("location"),
        STR_INIT("referer"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (headers_equal_nocase(name, names[i]))
            return true;
    return header_secrets_is_secret_name(name);
}

static void log_headers(const struct record_output *r, char way, const struct headers *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct header *f = &fields->at[i];

        if (is_masked(f->name))
            log_printf(r->app->log, LOG_DEBUG, "%c %.*s: [masked, %zu bytes]", way,
                       STR_ARG(f->name), f->value.len);
        else
            log_printf(r->app->log, LOG_DEBUG, "%c %.*s: %.*s", way, STR_ARG(f->name),
                       STR_ARG(f->value));
    }
}

void record_output_log_request(struct record_output *r, const struct request_head *head)
{
    struct buf path;

    if (!r->settings->log_http)
        return;
    buf_init(&path, REQUEST_HEAD_BYTES_MAX);
    redactor_redact_path(&r->settings->redaction->redactor, head->path, &path);
    log_printf(r->app->log, LOG_DEBUG, "> %.*s %.*s%s", STR_ARG(head->method),
               STR_ARG(buf_str(&path)), head->query.len ? "?…" : "");
    buf_release(&path);
    log_headers(r, '>', &head->headers);
}

void record_output_log_response(const struct record_output *r, unsigned status,
                                const struct headers *fields)
{
    if (!r->settings->log_http)
        return;
    log_printf(r->app->log, LOG_DEBUG, "< HTTP %u", status);
    log_headers(r, '<', fields);
}

void record_output_log_message(const struct log *log, const struct record *record)
{
    bool message = record->kind == RECORD_MESSAGE;
    struct str text = message ? json_raw(record->message.msg) : record->bytes.bytes;
    enum record_dir dir = message ? record->message.dir : record->bytes.dir;

    if (!message && record->kind != RECORD_RAW)
        return;
    while (text.len) {
        struct str piece = str_n(text.at, text.len < LOGGED_PIECE ? text.len : LOGGED_PIECE);

        log_printf(log, LOG_DEBUG, "%c %.*s", dir == TO_SERVER ? '>' : '<', STR_ARG(piece));
        text = str_skip(text, piece.len);
    }
}

static bool put_counted(struct sink *self, const struct record *record, struct err *e)
{
    struct record_output *r =
        (struct record_output *)((char *)self - offsetof(struct record_output, counting_sink));

    note_session(r, record);
    if (r->settings->log_http)
        record_output_log_message(r->app->log, record);
    if (r->target->format != &recording_format && !r->loss.sink.put(&r->loss.sink, record, e))
        return false;
    return r->writer.sink.put(&r->writer.sink, record, e);
}

static void log_write_error(const struct record_output *r, enum appender_problem kind,
                            const struct err *e)
{
    const struct log *log = r->app->log;

    switch (kind) {
    case APPENDER_SLOW:
        log_printf(log, LOG_DEBUG, "%s", e->msg);
        break;
    case APPENDER_STALLED:
    case APPENDER_FAILED:
        log_printf(log, LOG_WARN, "buffering the recording in memory: %s", e->msg);
        break;
    case APPENDER_NOT_ROTATED:
        log_printf(log, LOG_WARN, "the recording continues in the same part: %s", e->msg);
        break;
    case APPENDER_DROPPED:
    case APPENDER_FILE_CHANGED:
        log_printf(log, LOG_ERROR, "the recording is incomplete: %s", e->msg);
        break;
    case APPENDER_UNSYNCED:
        log_printf(log, LOG_ERROR, "the recording may not survive a power cut: %s", e->msg);
        break;
    case APPENDER_OK:
        break;
    }
}

/* Logs the first failure; the next call tries again. */
static void try_replace_old(struct record_output *r)
{
    bool ok = live_writer_replace(&r->writer, &r->error);

    if (!ok && !r->replace_failed)
        log_printf(r->app->log, LOG_WARN, "%s; the recording is in '%s' for now", r->error.msg,
                   live_writer_path(&r->writer));
    r->replace_failed = !ok;
}

/* The file accepts every record or reports its loss itself; a record that does not get there is
 * logged here, once. */
static void log_lost_record(void *to, const struct err *why)
{
    struct record_output *r = to;

    if (!r->incomplete)
        log_write_error(r, APPENDER_DROPPED, why);
    r->incomplete = true;
}

/* Replaces an old file of that name once a message to or from a reachable server was
 * recorded. */
static void flush_and_log(void *to)
{
    struct record_output *r = to;
    enum appender_problem kind;

    live_writer_flush(&r->writer);
    while ((kind = live_writer_next_error(&r->writer, &r->error)) != APPENDER_OK)
        log_write_error(r, kind, &r->error);
    if (recorded_anything(r) && !r->writer.finished)
        try_replace_old(r);
}

void record_output_init(struct record_output *r, const struct app *app,
                        struct record_path *target, const struct record_settings *settings,
                        void (*disk_wait)(void *to), void *to)
{
    *r = (struct record_output){
        .app = app,
        .target = target,
        .settings = settings,
        .counting_sink = { put_counted },
        .server_responded = settings->server_argv != NULL,
        .disk_wait = disk_wait,
        .to = to,
    };
    loss_init(&r->loss, target->format->keeps);
    r->loss.source_keeps = recording_format.keeps;
    r->loss.name = str_z(target->format->name);
    if (!settings->server_argv)
        rejection_log_init(&r->rejection_log, app->log, str_z(settings->server_url));
    traffic_recorder_init(&r->recorder, settings->redaction, settings->max_message,
                          log_lost_record, r);
    traffic_recorder_add_sink(
        &r->recorder, &(struct traffic_recorder_sink){ &r->counting_sink, flush_and_log, r });
    if (settings->calls)
        traffic_recorder_add_sink(
            &r->recorder, &(struct traffic_recorder_sink){ .records = &settings->calls->sink });
}

void record_output_release(struct record_output *r)
{
    traffic_recorder_release(&r->recorder);
    loss_release(&r->loss);
}

static struct str json_strings(struct arena *a, char *const *at, size_t count)
{
    struct buf b;
    struct json_out o = json_out_to(&b);
    struct str list;

    buf_init(&b, LIMIT_MESSAGE);
    json_out_array(&o);
    for (size_t i = 0; i < count; i++)
        json_out_str(&o, str_z(at[i]));
    json_out_end_array(&o);
    list = arena_str(a, buf_str(&b));
    buf_release(&b);
    return list;
}

static struct str command_line(struct arena *a, char *const *argv)
{
    struct buf b;
    struct str line;

    buf_init(&b, LIMIT_MESSAGE);
    for (; *argv; argv++)
        buf_printf(&b, "%s%s", b.len ? " " : "", *argv);
    line = arena_str(a, buf_str(&b));
    buf_release(&b);
    return line;
}

struct record_header record_output_compose_header(const struct record_settings *how,
                                                  struct str transport, struct arena *a)
{
    return (struct record_header){
        .version = STR(RECORDING_VERSION),
        .name = str_z(how->name),
        .tags = how->tags.count ? json_strings(a, (char *const *)how->tags.at, how->tags.count)
                                : STR_NONE,
        .upstream =
            how->server_argv ? command_line(a, how->server_argv) : str_z(how->server_url),
        .thoughtjack_version = STR(RECORDING_THOUGHTJACK_VERSION),
        .producer = STR("{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"),
        .command =
            how->server_argv ? json_strings(a, how->server_argv, how->server_argc) : STR_NONE,
        .transport = transport,
    };
}

static void log_start(const struct record_output *r)
{
    if (r->moved_journal)
        log_printf(
            r->app->log, LOG_WARN,
            "recording to %s; found an unfinished recording: run 'mcpreel check --fix %s'",
            r->target->path, r->moved_journal);
    else
        log_printf(r->app->log, LOG_INFO, "recording to %s", r->target->path);
}

void record_output_write_header(struct record_output *r, struct str transport)
{
    struct arena a = { 0 };
    struct record_header header = record_output_compose_header(r->settings, transport, &a);

    log_start(r);
    traffic_recorder_write_header(&r->recorder, &header);
    arena_release(&a);
}

static bool open_writer(struct record_output *r, struct err *e)
{
    const struct record_path *p = r->target;
    bool journal = record_path_uses_journal(p);
    struct live_writer_config config = {
        .path = p->live_path,
        .format = journal ? &recording_format : p->format,
        .replace = p->force && !journal,
        .messages_only = r->settings->plain && !journal,
        .batch_writes = r->batch_writes,
        .rotate_bytes = r->settings->rotate_bytes,
        .flush_us = r->settings->flush_us,
        .on_wait = r->disk_wait,
        .to = r->to,
    };

    return live_writer_open(&r->writer, r->app->sys, &config, e);
}

static bool make_file(struct record_output *r, struct err *e)
{
    return record_path_move_journal(r->target, r->app->sys, &r->moved_journal, e) &&
           open_writer(r, e);
}

/* Tries further names in a folder. */
bool record_output_open(struct record_output *r, bool open, struct err *e)
{
    const struct sys *sys = r->app->sys;
    struct err why = ERR_NONE;
    unsigned attempt = 0;

    do {
        if (record_path_is_free(r->target, sys, &why) && (!open || make_file(r, &why)))
            return true;
    } while (why.kind == ERR_USAGE && (record_path_avoid_locked(r->target, sys) ||
                                       record_path_next_name(r->target, ++attempt)));
    *e = why;
    return false;
}

void record_output_remove(struct record_output *r)
{
    live_writer_abort(&r->writer);
    live_writer_release(&r->writer);
}

/* Returns whether content was lost, not only times or spelling. */
static bool lost_content(const struct loss *l)
{
    static const unsigned said = FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED | FEATURE_BATCH |
                                 FEATURE_RAW | FEATURE_STDERR | FEATURE_GAP;
    bool any = false;

    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        any |= (said >> i & 1u) && l->count[i];
    return any;
}

/* Adds the number of messages and the file. */
static void add_count(struct buf *text, const struct record_output *r,
                      const struct live_writer_result *end, bool empty)
{
    unsigned long long too_long = traffic_recorder_too_long(&r->recorder),
                       lost = end->lost_messages + too_long,
                       seen = r->recorder.recorder.seq + too_long;
    struct err ignored = ERR_NONE;
    const char *path = r->target->path;

    if (lost)
        buf_printf(text, "recorded only %llu of %llu messages", seen - lost, seen);
    else if (empty)
        buf_printf(text, "nothing was recorded");
    else
        buf_printf(text, "recorded %llu message%s", seen, seen == 1 ? "" : "s");
    if (!empty)
        buf_printf(text, " in %s", path);
    else
        buf_printf(text, "; '%s' was not %s", path,
                   file_can_create(r->app->sys, path, false, &ignored) ? "created" : "changed");
}

/* Logs the result in one line. `empty`: no file was made. */
static void log_result(const struct record_output *r, const struct live_writer_result *end,
                       const char *note, bool empty)
{
    unsigned long long too_long = traffic_recorder_too_long(&r->recorder);
    bool bad = end->lost_messages || too_long || note || r->journal_kept || empty ||
               end->file_replaced;
    struct buf text;

    buf_init(&text, RESULT_TEXT);
    add_count(&text, r, end, empty);
    if (end->parts > 1)
        buf_printf(&text, " and %u further part%s", end->parts - 1, end->parts == 2 ? "" : "s");
    if (end->file_replaced)
        buf_printf(&text, ", which is not complete");
    if (too_long)
        buf_printf(&text, "; %llu %s longer than --max-message", too_long,
                   too_long == 1 ? "was" : "were");
    if (loss_is_any(&r->loss) && !empty) {
        buf_printf(&text, "; lost in '%s': ", r->target->format->name);
        loss_add_text(&text, &r->loss);
    }
    if (note)
        buf_printf(&text, "; %s", note);
    if (r->journal_kept)
        buf_printf(&text, "; everything that was recorded is in %s", r->target->live_path);
    log_printf(r->app->log, bad ? LOG_WARN : LOG_INFO, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* Makes the document from a journal. False: that failed and was logged. `*empty`: there is no
 * interaction. The journal stays if it has anything that the document lacks. */
static bool make_document(struct record_output *r, const struct live_writer_result *end,
                          bool *empty)
{
    struct record_path *p = r->target;
    struct err e = ERR_NONE;

    *empty = p->complete_only && !recorded_anything(r);
    p->old_changed = !*empty && p->old && !file_has_version(r->app->sys, p->path, p->old);
    if (p->old_changed) {
        log_printf(r->app->log, LOG_ERROR,
                   "'%s' was not replaced: another process has changed it; the session is in "
                   "'%s'",
                   p->path, p->live_path);
        return false;
    }
    if (!*empty && !record_path_write_document(r->app, p->live_path, p->path, p->format,
                                               p->force, empty, &e)) {
        err_hint(&e, "everything that was recorded is in '%s'", p->live_path);
        log_err(r->app->log, &e);
        return false;
    }
    p->written = !*empty;
    r->journal_kept = end->write_pending || (r->settings->strict && lost_content(&r->loss));
    if (!r->journal_kept)
        r->app->sys->unlink(r->app->sys, p->live_path);
    return true;
}

/* Returns whether everything recorded was lost. */
static bool is_all_lost(const struct record_output *r, const struct live_writer_result *end)
{
    return end->lost_messages >= r->recorder.recorder.seq &&
           live_writer_path(&r->writer) != r->target->live_path;
}

/* Replaces the old file, if that was not done yet. False: that failed and was logged. On a
 * hanging disk a rename may hang, too. */
static bool replace_old_file(struct record_output *r, const struct live_writer_result *end,
                             bool *empty)
{
    struct err e = ERR_NONE;
    bool ok;

    *empty =
        r->target->force && end->parts == 1 && (!recorded_anything(r) || is_all_lost(r, end));
    if (*empty) {
        live_writer_remove(&r->writer);
        return true;
    }
    ok = end->write_pending ? live_writer_path(&r->writer) == r->target->live_path
                            : live_writer_replace(&r->writer, &e);
    if (!ok)
        log_printf(r->app->log, LOG_ERROR,
                   "'%s' was not replaced%s%s; the recording is in '%s'", r->target->path,
                   e.msg[0] ? ": " : "", e.msg, live_writer_path(&r->writer));
    return ok;
}

/* Logs why a session does not become a recording. */
static void leave_journal(const struct record_output *r, const char *why)
{
    struct err ignored = ERR_NONE;
    const char *path = r->target->path;

    log_printf(r->app->log, LOG_ERROR, "%s; '%s' was not %s, the session is in '%s'", why, path,
               file_can_create(r->app->sys, path, false, &ignored) ? "created" : "changed",
               r->target->live_path);
}

/* Logs that the server failed. The journal is removed if the server answered no call: there is
 * nothing to keep, and each attempt would leave another one. Returns whether it was. */
static bool end_failed_session(struct record_output *r)
{
    const struct answered_calls *calls = r->settings->calls;
    struct err ignored = ERR_NONE;
    const char *path = r->target->path;

    if (!calls || calls->count) {
        leave_journal(r, "the server failed");
        return false;
    }
    live_writer_remove(&r->writer);
    log_printf(r->app->log, LOG_ERROR, "the server failed; '%s' was not %s", path,
               file_can_create(r->app->sys, path, false, &ignored) ? "created" : "changed");
    return true;
}

/* Returns the file with what the recording lacks, or NULL. `made`: the recording was made. */
static const char *rest_of(const struct record_output *r, bool made)
{
    if (made)
        return r->journal_kept ? r->target->live_path : NULL;
    return record_path_uses_journal(r->target) ? r->target->live_path
                                               : live_writer_path(&r->writer);
}

/* Writes the report, before the writer is released. */
static void write_report(const struct record_output *r, const struct live_writer_result *end,
                         struct record_report report)
{
    uint64_t too_long = traffic_recorder_too_long(&r->recorder);
    bool has_file = report.file != NULL;

    if (!r->settings->report)
        return;
    report.format = r->target->format->name;
    report.parts = has_file ? end->parts : 0;
    report.messages = r->recorder.recorder.seq + too_long;
    report.lost = end->lost_messages;
    report.too_long = too_long;
    report.loss = &r->loss;
    record_report_write(&report, r->settings->report);
}

int record_output_finish(struct record_output *r, int code, const char *note)
{
    bool lost, missing, made = false, empty = false, removed = false;
    bool failed = r->settings->must_succeed &&
                  (r->session_failed || answered_calls_any_failed(r->settings->calls));
    struct live_writer_result how;

    traffic_recorder_write_footer(&r->recorder, code);
    live_writer_finish(&r->writer, &how);
    flush_and_log(r);
    rejection_log_end(&r->rejection_log);
    lost = how.incomplete || r->incomplete || traffic_recorder_too_long(&r->recorder);
    missing = lost || how.unsynced || lost_content(&r->loss);
    if (failed)
        removed = end_failed_session(r);
    else if (lost && r->settings->must_succeed)
        leave_journal(r, "the recording is incomplete");
    else
        made = record_path_uses_journal(r->target) ? make_document(r, &how, &empty)
                                                   : replace_old_file(r, &how, &empty);
    if (!failed && (!made || (missing && r->settings->strict)))
        code = RECORD_OUTPUT_FAILED;
    write_report(r, &how,
                 (struct record_report){ .exit_code = code,
                                         .file = made && !empty ? r->target->path : NULL,
                                         .complete = made && !missing && !how.file_replaced,
                                         .rest = removed ? NULL : rest_of(r, made),
                                         .note = note });
    live_writer_release(&r->writer);
    if (made)
        log_result(r, &how, note, empty);
    return code;
}

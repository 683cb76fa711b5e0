#include "runtime/recording-append.h"

#include <errno.h>
#include <string.h>

#include "base/file-lock.h"
#include "base/file.h"
#include "format/file-rewrite.h"
#include "format/reader.h"
#include "format/writer.h"
#include "trace/combine.h"

enum { LOST_TEXT_MAX = 1 << 16, HOLDER_MAX = 512 };

static bool report_locked(const struct sys *sys, const char *path, struct err *e)
{
    struct buf holder;

    buf_init(&holder, HOLDER_MAX);
    file_lock_describe_holder(sys, path, &holder);
    err_set(e, ERR_USAGE, "cannot record to '%s': %s writes to it", path, buf_z(&holder));
    buf_release(&holder);
    return err_hint(e, "wait until it has ended, or use another file");
}

int recording_append_lock(const struct sys *sys, const char *path, struct err *e)
{
    int fd = file_lock_reserve(sys, path);

    if (fd >= 0)
        return fd;
    if (errno == EBUSY)
        report_locked(sys, path, e);
    else if (errno == EINVAL)
        err_set(e, ERR_USAGE, "cannot record to '%s': it is no regular file", path);
    else if (errno == ELOOP)
        err_set(e, ERR_USAGE, "cannot record to '%s': it is a symbolic link, not a file", path);
    else
        err_set(e, ERR_USAGE, "cannot record to '%s': %s", path, strerror(errno));
    return -1;
}

/* Notes format and version of the recording, and whether it can be replaced. */
static bool check_recording(struct recording_append *a, struct err *e)
{
    const char *path = a->options.path;
    struct reader *reader;
    bool ok;

    if (!reader_open(&reader, a->app->sys, path, a->app->log, e))
        return false;
    a->format = reader_format(reader);
    if (!a->format->put)
        ok = err_set(e, ERR_USAGE, "cannot append to '%s': mcpreel only reads '%s'", path,
                     a->format->name);
    else if (a->options.pending)
        ok = file_read_version(reader_file(reader), &a->version, e);
    else
        ok = file_rewrite_check(path, reader_file(reader), &a->version, e);
    reader_close(reader);
    return ok;
}

/* Checks that the pending file can be written. Leaves nothing behind. */
static bool check_pending(const struct recording_append *a, struct err *e)
{
    struct writer w;

    if (!a->options.pending)
        return true;
    if (!writer_open(&w, a->app->sys, a->options.pending, a->options.replace_pending, a->format,
                     NULL, e))
        return false;
    writer_abort(&w);
    return true;
}

/* Removes the session file of a replay that was killed before the server answered a call. */
static void remove_unused_session(const struct recording_append *a)
{
    const struct sys *sys = a->app->sys;
    const char *path = a->session_path.path;
    struct log quiet = *a->app->log;
    struct err ignored = ERR_NONE;
    struct answered_calls calls;

    quiet.level = LOG_ERROR;
    answered_calls_init(&calls);
    if (!file_lock_is_held(sys, path) &&
        reader_read_all(sys, path, &quiet, &calls.sink, &ignored) && !calls.count)
        sys->unlink(sys, path);
    answered_calls_release(&calls);
}

static bool open_session(struct recording_append *a, struct err *e)
{
    char *no_words[] = { "", NULL };
    struct record_path_options wish = { .format = &recording_format, .server_argv = no_words };

    wish.output = arena_printf(&a->arena, "%s.appended.jsonl", a->options.path).at;
    if (!record_path_resolve(&a->session_path, &a->session_app, &wish, e))
        return false;
    a->settings = *a->options.settings;
    a->settings.strict = true;
    remove_unused_session(a);
    record_output_init(&a->session, &a->session_app, &a->session_path, &a->settings, NULL,
                       NULL);
    a->session_open = record_output_open(&a->session, true, e);
    if (a->session_open)
        return true;
    if (e->kind == ERR_USAGE)
        err_hint(e, "it may have the new calls of a replay that was killed: merge it with "
                    "'mcpreel convert', or remove it");
    record_output_release(&a->session);
    return false;
}

bool recording_append_open(struct recording_append *a, const struct app *app,
                           const struct recording_append_options *options, struct err *e)
{
    *a = (struct recording_append){ .app = app, .options = *options, .lock_fd = -1 };
    a->session_log = *app->log;
    if (a->session_log.level > LOG_WARN)
        a->session_log.level = LOG_WARN;
    a->session_app = *app;
    a->session_app.log = &a->session_log;
    a->lock_fd = recording_append_lock(app->sys, options->path, e);
    if (a->lock_fd < 0 || !check_recording(a, e) || !check_pending(a, e) || !open_session(a, e))
        return false;
    record_output_write_header(&a->session,
                               options->settings->server_argv ? STR("stdio") : STR("http"));
    return true;
}

/* Passes on the records of the session that belong to no unanswered request, and counts what
 * the format cannot keep. */
struct session_filter {
    struct sink sink;
    struct sink *next;
    const struct answered_calls *calls;
    struct loss loss;
    bool counts_loss;
};

static bool put_session(struct sink *self, const struct record *r, struct err *e)
{
    struct session_filter *f = (struct session_filter *)self;

    if (!answered_calls_has(f->calls, r))
        return true;
    if (f->counts_loss && !f->loss.sink.put(&f->loss.sink, r, e))
        return false;
    return f->next->put(f->next, r, e);
}

static void log_loss(const struct recording_append *a, const struct loss *loss)
{
    struct buf text;

    if (!loss_is_any(loss))
        return;
    buf_init(&text, LOST_TEXT_MAX);
    loss_add_text(&text, loss);
    log_printf(a->app->log, LOG_INFO, "lost in '%s': %.*s", a->format->name,
               STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* Puts the records of both files into the writer. */
static bool copy_records(const struct recording_append *a, const struct answered_calls *calls,
                         struct writer *w, struct err *e)
{
    const struct app *app = a->app;
    struct session_filter filter = { .sink = { put_session },
                                     .calls = calls,
                                     .counts_loss = a->format != &recording_format };
    struct combine j;
    bool ok;

    combine_init(&j, 2, &w->sink);
    j.add_header_footer = true;
    filter.next = &j.sink;
    loss_init(&filter.loss, a->format->keeps);
    filter.loss.source_keeps = recording_format.keeps;
    filter.loss.name = str_z(a->format->name);
    combine_select_input(&j, 0, a->format->keeps);
    ok = reader_read_all(app->sys, a->options.path, &a->session_log, &j.sink, e);
    combine_select_input(&j, 1, recording_format.keeps);
    ok = ok && reader_read_all(app->sys, a->session_path.path, app->log, &filter.sink, e) &&
         combine_finish(&j, e);
    combine_release(&j);
    if (ok)
        log_loss(a, &filter.loss);
    loss_release(&filter.loss);
    return ok;
}

/* Opens the recording as it is now, and checks that it is the one that was replayed. */
static bool open_unchanged(const struct recording_append *a, struct file *f, struct err *e)
{
    struct file_version now;
    struct err ignored = ERR_NONE;

    if (!file_open(f, a->app->sys, a->options.path, e))
        return false;
    if (file_read_version(f, &now, e) &&
        (file_is_same_version(&now, &a->version) ||
         err_set(e, ERR_INPUT, "cannot append to '%s': another process has changed it",
                 a->options.path)))
        return true;
    file_close(f, &ignored);
    return false;
}

static bool write_new_file(struct recording_append *a, const struct answered_calls *calls,
                           struct err *e)
{
    const char *target = a->options.pending ? a->options.pending : a->options.path;
    bool replace = !a->options.pending || a->options.replace_pending;
    struct err ignored = ERR_NONE;
    struct writer w;
    struct file old;
    bool ok;

    if (!open_unchanged(a, &old, e))
        return false;
    ok = writer_open(&w, a->app->sys, target, replace, a->format, NULL, e);
    if (ok && file_copy_owner_and_mode(&w.file, &old, e) && copy_records(a, calls, &w, e)) {
        ok = writer_finish(&w, e);
    } else if (ok) {
        writer_abort(&w);
        ok = false;
    }
    file_close(&old, &ignored);
    return ok;
}

static void log_result(const struct recording_append *a)
{
    const char *s = a->appended == 1 ? "" : "s";
    unsigned long long n = a->appended;

    if (!n)
        log_printf(a->app->log, LOG_INFO, "no new calls; '%s' is unchanged", a->options.path);
    else if (a->options.pending)
        log_printf(a->app->log, LOG_INFO, "wrote '%s': '%s' with %llu new call%s",
                   a->options.pending, a->options.path, n, s);
    else
        log_printf(a->app->log, LOG_INFO, "appended %llu call%s to '%s'", n, s,
                   a->options.path);
}

bool recording_append_finish(struct recording_append *a, int code, struct err *e)
{
    const struct sys *sys = a->app->sys;
    const char *path = a->session_path.path;
    struct answered_calls calls;
    bool ok;

    code = record_output_finish(&a->session, code, NULL);
    record_output_release(&a->session);
    a->session_open = false;
    if (code == RECORD_OUTPUT_FAILED) {
        err_set(e, ERR_IO, "'%s' is unchanged: the recording of the new calls is incomplete",
                a->options.path);
        return err_hint(e, "the new calls that were recorded are in '%s'", path);
    }
    answered_calls_init(&calls);
    ok = reader_read_all(sys, path, a->app->log, &calls.sink, e) &&
         (!calls.count || write_new_file(a, &calls, e));
    if (ok) {
        a->appended = calls.count;
        sys->unlink(sys, path);
        log_result(a);
    } else {
        err_hint(e, "'%s' is unchanged; the new calls are in '%s'", a->options.path, path);
    }
    answered_calls_release(&calls);
    return ok;
}

void recording_append_close(struct recording_append *a)
{
    if (a->session_open) {
        record_output_remove(&a->session);
        record_output_release(&a->session);
    }
    record_path_release(&a->session_path);
    arena_release(&a->arena);
    if (a->lock_fd >= 0)
        a->app->sys->close(a->app->sys, a->lock_fd);
}

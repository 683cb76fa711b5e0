#include "cmd/record-mode.h"

#include "base/compress.h"
#include "base/dir.h"
#include "base/file-lock.h"
#include "base/file.h"
#include "format/reader.h"
#include "loop/process-self.h"
#include "trace/limits.h"

enum { FLUSH_US = 1000000, MAX_SERVERS = 16 };

const struct option_choice record_mode_choices[] = {
    { .name = "none", .value = RECORD_MODE_NONE },
    { .name = "once", .value = RECORD_MODE_ONCE },
    { .name = "append", .value = RECORD_MODE_APPEND },
    { .name = "rewrite", .value = RECORD_MODE_REWRITE },
    { .name = "new_episodes", .value = RECORD_MODE_APPEND, .is_alias = true },
    { .name = "all", .value = RECORD_MODE_REWRITE, .is_alias = true },
    { 0 },
};

const char *record_mode_name(enum record_mode mode)
{
    return record_mode_choices[mode].name;
}

/* Returns whether there is something at the path, readable or not. */
static bool path_exists(const struct sys *sys, const char *path)
{
    struct err e = ERR_NONE;
    struct file f;

    if (!file_can_create(sys, path, false, &e) && e.kind == ERR_USAGE)
        return true;
    e = (struct err)ERR_NONE;
    if (!file_open(&f, sys, path, &e))
        return false;
    file_close(&f, &e);
    return true;
}

enum record_mode record_mode_choose(const struct record_mode_args *args, const struct app *app,
                                    const char *path)
{
    if (args->mode <= RECORD_MODE_NONE)
        return RECORD_MODE_NONE;
    if (args->mode == RECORD_MODE_REWRITE || !path_exists(app->sys, path))
        return RECORD_MODE_REWRITE;
    return args->mode == RECORD_MODE_APPEND ? RECORD_MODE_APPEND : RECORD_MODE_NONE;
}

/* The caller renames the pending file to the recording: both must be read in the same way. */
static bool check_pending(const struct record_mode_run *m, struct err *e)
{
    const char *pending = m->args->pending;
    struct str stem;

    if (!pending)
        return true;
    if (file_is_same_place(m->app.sys, pending, m->path))
        return err_set(e, ERR_USAGE, "'--pending' names the recording itself");
    if (file_is_stdio(pending) || dir_exists(m->app.sys, pending))
        return err_set(e, ERR_USAGE, "'--pending' needs the name of a file");
    if (compress_by_suffix(str_z(pending), &stem) == compress_by_suffix(str_z(m->path), &stem))
        return true;
    err_set(e, ERR_USAGE, "'--pending %s' would not be compressed like '%s'", pending, m->path);
    return err_hint(e, "give it the same extension");
}

bool record_mode_open(struct record_mode_run *m, const struct app *app, struct err *e)
{
    const struct remote_config *remote = m->server->remote;
    struct redaction_known known = { .words = m->server->argv };
    char **url = arena_alloc(&m->arena, 2 * sizeof *url);

    m->app = *app;
    if (remote) {
        url[0] = (char *)(uintptr_t)remote->display_url;
        known.words = url;
        known.values = &remote->secrets;
    }
    if (!check_pending(m, e) ||
        !redact_options_init(&m->redaction, app, &m->args->redaction, &known, e)) {
        arena_release(&m->arena);
        return false;
    }
    process_self_disable_dumps();
    m->app.log = &m->redaction.log;
    m->redaction.redactor.stderr_in_pieces = true;
    m->settings = (struct record_settings){ .server_argv = m->server->argv,
                                            .server_env = m->server->env,
                                            .max_message = LIMIT_MESSAGE,
                                            .flush_us = FLUSH_US,
                                            .redaction = &m->redaction };
    while (m->server->argv && m->server->argv[m->settings.server_argc])
        m->settings.server_argc++;
    if (remote)
        m->settings.server_url = remote->display_url;
    answered_calls_init(&m->calls);
    return true;
}

void record_mode_close(struct record_mode_run *m)
{
    answered_calls_release(&m->calls);
    redaction_release(&m->redaction);
    arena_release(&m->arena);
}

bool record_mode_open_append(struct record_mode_run *m, struct recording_append *a,
                             struct err *e)
{
    const struct recording_append_options options = { .path = m->path,
                                                      .pending = m->args->pending,
                                                      .replace_pending = m->replace_pending,
                                                      .settings = &m->settings };

    if (!recording_append_open(a, &m->app, &options, e))
        return false;
    redact_options_set_format(&m->redaction, a->format);
    return true;
}

/* Returns the format of the file that is replaced, so that it stays the same; NULL: there is
 * none, or it cannot be read or written. */
static const struct format *format_of_file(const struct record_mode_run *m)
{
    struct log quiet = *m->app.log;
    const struct format *format = NULL;
    struct err ignored = ERR_NONE;
    struct reader *reader;

    quiet.level = LOG_ERROR;
    if (path_exists(m->app.sys, m->path) &&
        reader_open(&reader, m->app.sys, m->path, &quiet, &ignored)) {
        format = reader_format(reader);
        reader_close(reader);
    }
    return format && format->put ? format : NULL;
}

/* Resolves the path of the new file. `replace`: there is an old one. */
static bool resolve(const struct record_mode_run *m, bool replace, struct record_path *target,
                    struct err *e)
{
    char *no_words[] = { "", NULL };
    struct record_path_options wish = { .output = m->args->pending ? m->args->pending : m->path,
                                        .format = format_of_file(m),
                                        .server_argv = no_words,
                                        .force =
                                            m->args->pending ? m->replace_pending : replace,
                                        .complete_only = true };

    if (!wish.format)
        wish.format = m->format ? m->format : format_by_path(str_z(m->path));
    if (dir_exists(m->app.sys, m->path))
        return err_set(e, ERR_USAGE, "cannot record to '%s': it is a folder", m->path);
    if (record_path_resolve(target, &m->app, &wish, e))
        return true;
    if (!wish.format || !format_is_for(wish.format, FORMAT_RECORD))
        err_hint(e, "end its name in '.jsonl' (recording) or '.json' (cassette)");
    return false;
}

/* Maps the exit code of a recording session to one of replay. */
static int exit_code(const struct record_mode_run *m, const struct record_path *target,
                     int code, const struct err *e)
{
    if (e->kind != ERR_OK)
        return app_exit_code(e);
    if (target->written)
        return EXIT_OK;
    if (target->old_changed)
        return EXIT_INPUT;
    if (code == EXIT_OK)
        return answered_calls_any_failed(&m->calls) ? EXIT_SERVER : EXIT_OK;
    return code == RECORD_OUTPUT_FAILED ? EXIT_IO : EXIT_SERVER;
}

static int record_to(struct record_mode_run *m, struct record_path *target,
                     const char **written, struct err *e)
{
    int code, journal = -1;

    if (file_lock_is_held(m->app.sys, target->live_path)) {
        journal = recording_append_lock(m->app.sys, target->live_path, e);
        if (journal < 0)
            return app_exit_code(e);
        m->app.sys->close(m->app.sys, journal);
    }
    redact_options_set_format(&m->redaction, target->format);
    m->settings.must_succeed = true;
    m->settings.calls = &m->calls;
    m->kinds.max_servers = MAX_SERVERS;
    code = record_kinds_run(&m->app, target, &m->settings, &m->kinds, e);
    *written = target->written ? target->path : NULL;
    redaction_redact_err(&m->redaction, e);
    return exit_code(m, target, code, e);
}

/* Locks the file that is replaced, and notes its version. */
static bool open_old(const struct record_mode_run *m, struct file *old,
                     struct file_version *version, struct err *e)
{
    struct err ignored = ERR_NONE;
    const struct sys *sys = m->app.sys;

    *old = (struct file){ sys, m->path, recording_append_lock(sys, m->path, e) };
    if (old->fd < 0)
        return false;
    if (file_read_version(old, version, e))
        return true;
    file_close(old, &ignored);
    return false;
}

int record_mode_record(struct record_mode_run *m, const char **written, struct err *e)
{
    const struct sys *sys = m->app.sys;
    struct record_path target = { 0 };
    struct file old = FILE_CLOSED;
    struct err ignored = ERR_NONE;
    struct file_version version;
    int code;

    *written = NULL;
    if (path_exists(sys, m->path) && !dir_exists(sys, m->path) &&
        !open_old(m, &old, &version, e))
        return app_exit_code(e);
    if (resolve(m, old.fd >= 0, &target, e)) {
        target.old = old.fd >= 0 && !m->args->pending ? &version : NULL;
        code = record_to(m, &target, written, e);
    } else {
        code = app_exit_code(e);
    }
    record_path_release(&target);
    file_close(&old, &ignored);
    return code;
}

#include "runtime/record-path.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/compress.h"
#include "base/dir.h"
#include "base/file-lock.h"
#include "base/file.h"
#include "format/format.h"
#include "format/live-writer.h"
#include "format/reader.h"
#include "format/writer.h"
#include "loop/process-self.h"
#include "trace/combine.h"

static const char suffix[] = ".journal";

const char *record_path_journal_name(struct arena *a, const char *path,
                                     const struct format *format)
{
    return arena_printf(a, "%s.%s%s", path, format->name, suffix).at;
}

bool record_path_parse_journal(const char *path, struct arena *a, const char **target,
                               const struct format **format)
{
    struct str rest = str_z(path), end = str_z(suffix);

    if (!str_ends(rest, end))
        return false;
    rest.len -= end.len;
    for (const struct format *const *f = format_table; *f; f++) {
        struct str name = str_z((*f)->name);

        if (!(*f)->put || rest.len < name.len + 2 || !str_ends(rest, name) ||
            rest.at[rest.len - name.len - 1] != '.')
            continue;
        *target = arena_z(a, str_n(rest.at, rest.len - name.len - 1));
        *format = *f;
        return true;
    }
    return false;
}

static bool copy_records(const struct app *app, const char *journal, struct writer *w,
                         struct err *e)
{
    struct combine j;
    bool ok;

    combine_init(&j, 1, &w->sink);
    j.add_header_footer = true;
    ok = reader_read_all(app->sys, journal, app->log, &j.sink, e) && combine_finish(&j, e);
    combine_release(&j);
    return ok;
}

bool record_path_write_document(const struct app *app, const char *journal, const char *target,
                                const struct format *format, bool replace, bool *empty,
                                struct err *e)
{
    struct writer w;

    if (!writer_open(&w, app->sys, target, replace, format, NULL, e))
        return false;
    if (!copy_records(app, journal, &w, e)) {
        writer_abort(&w);
        return false;
    }
    *empty = writer_is_empty(&w);
    if (!*empty)
        return writer_finish(&w, e);
    writer_abort(&w);
    return true;
}

enum { NAME_TRIES = 100, LABEL_MAX = 40 };

/* Programs that start the actual server. */
static const char *const launchers[] = { "npx",    "bunx", "uvx",     "uv",   "node",    "bun",
                                         "deno",   "pipx", "python",  "pnpm", "python3", "ruby",
                                         "docker", "java", "busybox", "env",  NULL };

/* Their subcommands. */
static const char *const launcher_verbs[] = { "run", "exec", "dlx", "tool", NULL };

static bool is_one_of(struct str word, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(word, str_z(*list)))
            return true;
    return false;
}

static struct str base_name(struct str path)
{
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    for (size_t n; (n = str_find(path, '/')) + 1 < path.len;)
        path = str_skip(path, n + 1);
    return path;
}

/* Returns whether a word is neither an option nor may hold a secret. */
static bool is_server_name(struct str word)
{
    return word.len && word.at[0] != '-' && str_find(word, '=') == word.len &&
           str_find(word, ':') == word.len && !is_one_of(word, launcher_verbs);
}

/* Without the version of a package: "name@1.2". */
static struct str server_name(char *const *server)
{
    struct str word = base_name(str_z(server[0]));

    if (!is_one_of(word, launchers))
        return word;
    for (char *const *w = server + 1; *w; w++)
        if (is_server_name(str_z(*w))) {
            word = base_name(str_z(*w));
            break;
        }
    if (word.len && word.at[0] != '@')
        word.len = str_find(word, '@');
    return word;
}

static bool is_label_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '.';
}

const char *record_path_server_label(struct arena *a, const char *name, char *const *server)
{
    struct str word = name && *name ? str_z(name) : server_name(server);
    char *label = arena_alloc(a, LABEL_MAX + 1);
    size_t len = 0;

    for (size_t i = 0; i < word.len && len < LABEL_MAX; i++)
        if (is_label_char(word.at[i]) && (len || word.at[i] != '.'))
            label[len++] = word.at[i];
        else if (len && label[len - 1] != '-')
            label[len++] = '-';
    while (len && label[len - 1] == '-')
        label[--len] = '\0';
    return len ? label : "server";
}

/* "20261115T100000Z": RFC 3339 without characters that are unusual in file names. */
static struct str time_stamp(struct arena *a)
{
    char text[CLOCK_TEXT_SIZE];
    struct str full = clock_format(text, clock_wall_us());
    char *out = arena_alloc(a, CLOCK_TEXT_SIZE);
    size_t len = 0;

    for (size_t i = 0; i < full.len && full.at[i] != '.'; i++)
        if (full.at[i] != '-' && full.at[i] != ':')
            out[len++] = full.at[i];
    out[len++] = 'Z';
    return str_n(out, len);
}

/* Only absolute paths: the working directory is the client's choice. */
bool record_path_default_folder(const char **out, const struct app *app, struct arena *a,
                                struct err *e)
{
    const char *own = app_env(app, "MCPREEL_DIR"), *state = app_env(app, "XDG_STATE_HOME"),
               *home = app_env(app, "HOME");

    if (own && *own == '/')
        *out = own;
    else if (state && *state == '/')
        *out = arena_printf(a, "%s/mcpreel/traces", state).at;
    else if (home && *home == '/')
        *out = arena_printf(a, "%s/.local/state/mcpreel/traces", home).at;
    else
        return err_set(e, ERR_USAGE,
                       "no folder for recordings: neither XDG_STATE_HOME nor HOME is set");
    return true;
}

static bool use_default_folder(struct record_path *p, const struct app *app, struct err *e)
{
    if (!record_path_default_folder(&p->folder, app, &p->arena, e))
        return err_hint(e, "name a file or a folder with -o, or set MCPREEL_DIR");
    if (!dir_create(app->sys, p->folder, e))
        return false;
    if (p->folder == app_env(app, "MCPREEL_DIR") || !dir_is_world_writable(app->sys, p->folder))
        return true;
    err_set(e, ERR_USAGE, "cannot record to '%s': all users can write to it", p->folder);
    return err_hint(e, "run 'chmod 700' on it, or choose another folder with -o");
}

static void set_path(struct record_path *p, const char *path)
{
    p->path = path;
    p->live_path = p->format->line_based && !p->complete_only
                       ? path
                       : record_path_journal_name(&p->arena, path, p->format);
}

bool record_path_next_name(struct record_path *p, unsigned attempt)
{
    const char *ext = p->format->ext[0], *slash;

    if (!p->folder || attempt >= NAME_TRIES)
        return false;
    slash = str_ends(str_z(p->folder), STR("/")) ? "" : "/";
    if (attempt)
        set_path(p, arena_printf(&p->arena, "%s%s%s-%u%s", p->folder, slash, p->stem,
                                 attempt + 1, ext)
                        .at);
    else
        set_path(p, arena_printf(&p->arena, "%s%s%s%s", p->folder, slash, p->stem, ext).at);
    return true;
}

/* Checks that the name can be that of a live recording. */
static bool check_name(const struct record_path_options *options, struct err *e)
{
    struct str path = str_z(options->output), stem;

    if (str_eq(path, STR("-"))) {
        err_set(e, ERR_USAGE, "cannot record to standard output: it carries the MCP session");
        return err_hint(e, "name a file: mcpreel record -o session.jsonl …");
    }
    if (!options->complete_only && compress_by_suffix(path, &stem) != COMPRESS_NONE) {
        err_set(e, ERR_USAGE, "cannot record to '%s': a live recording cannot be compressed",
                options->output);
        return err_hint(e, "record to '%.*s' and compress it afterwards", STR_ARG(stem));
    }
    return true;
}

/* Returns whether a name ends in a dot and a word, as "x.csv" does and "v1.2" does not. */
static bool has_extension(struct str path)
{
    struct str name = base_name(path), ext = name;

    for (size_t dot; (dot = str_find(ext, '.')) < ext.len;)
        ext = str_skip(ext, dot + 1);
    if (ext.len + 1 >= name.len || !ext.len || ascii_is_digit(ext.at[0]))
        return false;
    for (size_t i = 0; i < ext.len; i++)
        if (!ascii_is_alnum(ext.at[i]))
            return false;
    return true;
}

/* A recording has to be read again. */
static bool reject_format(const struct format *format, struct err *e)
{
    struct buf names;

    err_set(e, ERR_USAGE, "cannot record in format '%s': mcpreel only %s it", format->name,
            format->put ? "writes" : "reads");
    err_hint(e, "choose a format with --format: one of %s%s",
             format_names_for(&names, FORMAT_RECORD),
             format->put ? ";\n'mcpreel convert' writes this one from a recording" : "");
    buf_release(&names);
    return false;
}

/* `file` is the given name, or NULL. Without an extension it is a recording of our own
 * format. */
static bool choose_format(struct record_path *p, const struct record_path_options *options,
                          const char *file, struct err *e)
{
    p->format = options->format;
    if (!p->format && file)
        p->format = format_by_path(str_z(file));
    if (!p->format && file && has_extension(str_z(file))) {
        err_set(e, ERR_USAGE,
                "cannot record to '%s': its name does not say which format to write", file);
        return format_hint_writable(e, "--format", FORMAT_RECORD);
    }
    if (!p->format)
        p->format = &recording_format;
    if (!format_is_for(p->format, FORMAT_RECORD))
        return reject_format(p->format, e);
    if (options->rotate && !p->format->line_based)
        return err_set(e, ERR_USAGE,
                       "'--rotate' cannot be combined with format '%s': it is one document",
                       p->format->name);
    return true;
}

static void name_in_folder(struct record_path *p, const struct record_path_options *options)
{
    struct arena *a = &p->arena;
    const char *label = record_path_server_label(a, options->name, options->server_argv);

    p->stem =
        arena_printf(a, "%.*s-%s-%ld", STR_ARG(time_stamp(a)), label, process_self_pid()).at;
    record_path_next_name(p, 0);
}

static bool make_folder_of(const struct sys *sys, const char *file, struct arena *a,
                           struct err *e)
{
    const char *slash = strrchr(file, '/');

    return !slash || slash == file ||
           dir_create(sys, arena_z(a, str_n(file, (size_t)(slash - file))), e);
}

bool record_path_resolve(struct record_path *p, const struct app *app,
                         const struct record_path_options *options, struct err *e)
{
    const char *file = options->output;

    *p = (struct record_path){ .force = options->force,
                               .rotate = options->rotate,
                               .complete_only = options->complete_only };
    if (file && (str_ends(str_z(file), STR("/")) || dir_exists(app->sys, file))) {
        p->folder = file;
        file = NULL;
    }
    if ((file && !check_name(options, e)) || !choose_format(p, options, file, e))
        return false;
    if (file) {
        set_path(p, file);
        return !options->make_folder || make_folder_of(app->sys, file, &p->arena, e);
    }
    if (!p->folder && !use_default_folder(p, app, e))
        return false;
    name_in_folder(p, options);
    return true;
}

void record_path_release(struct record_path *p)
{
    arena_release(&p->arena);
}

bool record_path_uses_journal(const struct record_path *p)
{
    return p->live_path != p->path;
}

/* A client may start its server twice at the same time. The second recorder must not take the
 * first one's file, nor fail because of the recording. */
bool record_path_avoid_locked(struct record_path *p, const struct sys *sys)
{
    struct arena *a = &p->arena;

    if (p->folder || !p->force || p->complete_only || p->avoided_locked ||
        !(file_lock_is_held(sys, p->path) || file_lock_is_held(sys, p->live_path)))
        return false;
    p->avoided_locked = true;
    set_path(p, live_writer_path_with_mark(a, p->path, p->format,
                                           arena_printf(a, "-%ld", process_self_pid()).at));
    return true;
}

/* A journal that was left behind can be renamed. */
static bool journal_is_free(const struct record_path *p, const struct sys *sys, struct err *e)
{
    int left;

    if (file_can_create(sys, p->live_path, false, e))
        return true;
    left = file_lock_open(sys, p->live_path);
    if (left >= 0) {
        sys->close(sys, left);
        *e = (struct err)ERR_NONE;
        return true;
    }
    if (file_lock_is_held(sys, p->live_path))
        err_hint(e, "another process is recording there");
    return false;
}

static bool rename_journal(struct record_path *p, const struct sys *sys, const char **moved,
                           struct err *e)
{
    for (unsigned n = 2; n < NAME_TRIES; n++) {
        const char *path = live_writer_part_path(&p->arena, p->path, p->format, n);
        const char *name = record_path_journal_name(&p->arena, path, p->format);

        if (file_rename(sys, p->live_path, name, false, e)) {
            *moved = name;
            return true;
        }
        if (e->kind != ERR_USAGE)
            break;
    }
    return false;
}

/* Locks the journal while it is renamed, so that of two recorders only one renames it. */
bool record_path_move_journal(struct record_path *p, const struct sys *sys, const char **moved,
                              struct err *e)
{
    struct err why = ERR_NONE;
    int left;
    bool ok;

    *moved = NULL;
    left = record_path_uses_journal(p) ? file_lock_open(sys, p->live_path) : -1;
    if (left < 0)
        return true; /* creating the new one reports the error */
    ok = rename_journal(p, sys, moved, &why);
    sys->close(sys, left);
    if (!ok)
        *e = why;
    return ok;
}

/* With --rotate the second part must be free, too: then there are no parts of another
 * recording. */
bool record_path_is_free(const struct record_path *p, const struct sys *sys, struct err *e)
{
    if (!file_can_create(sys, p->path, p->force, e))
        return false;
    if (record_path_uses_journal(p))
        return journal_is_free(p, sys, e);
    if (p->rotate && !p->force) {
        struct arena a = { 0 };
        bool ok =
            file_can_create(sys, live_writer_part_path(&a, p->path, p->format, 2), false, e);

        arena_release(&a);
        return ok;
    }
    return true;
}

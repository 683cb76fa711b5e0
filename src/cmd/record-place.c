#include "cmd/record-place.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/lock.h"
#include "base/pack.h"
#include "cmd/journal.h"
#include "cmd/pick-format.h"
#include "format/live.h"
#include "loop/self.h"

enum { NAME_TRIES = 100, LABEL_MAX = 40 };

/* Programs that start another one, which is what people call the server. */
static const char *const launchers[] = { "npx",    "bunx", "uvx",     "uv",   "node",    "bun",
                                         "deno",   "pipx", "python",  "pnpm", "python3", "ruby",
                                         "docker", "java", "busybox", "env",  NULL };

/* Words of theirs that are no options and not what they start, either. */
static const char *const verbs[] = { "run", "exec", "dlx", "tool", NULL };

static bool is_one_of(struct str word, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(word, str_z(*list)))
            return true;
    return false;
}

static struct str last_of_path(struct str path)
{
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    for (size_t n; (n = str_find(path, '/')) + 1 < path.len;)
        path = str_skip(path, n + 1);
    return path;
}

/* Not an option, and nothing that may carry a secret into the name of a file. */
static bool names_a_server(struct str word)
{
    return word.len && word.at[0] != '-' && str_find(word, '=') == word.len &&
           str_find(word, ':') == word.len && !is_one_of(word, verbs);
}

/* Without the version of a package: "name@1.2". */
static struct str server_word(char *const *server)
{
    struct str word = last_of_path(str_z(server[0]));

    if (!is_one_of(word, launchers))
        return word;
    for (char *const *w = server + 1; *w; w++)
        if (names_a_server(str_z(*w))) {
            word = last_of_path(str_z(*w));
            break;
        }
    if (word.len && word.at[0] != '@')
        word.len = str_find(word, '@');
    return word;
}

static bool is_plain(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '.';
}

const char *record_place_label(struct arena *a, const char *name, char *const *server)
{
    struct str word = name && *name ? str_z(name) : server_word(server);
    char *label = arena_alloc(a, LABEL_MAX + 1);
    size_t len = 0;

    for (size_t i = 0; i < word.len && len < LABEL_MAX; i++)
        if (is_plain(word.at[i]) && (len || word.at[i] != '.'))
            label[len++] = word.at[i];
        else if (len && label[len - 1] != '-')
            label[len++] = '-';
    while (len && label[len - 1] == '-')
        label[--len] = '\0';
    return len ? label : "server";
}

/* "20261115T100000Z": RFC 3339 without what file names do not like. */
static struct str time_stamp(struct arena *a)
{
    char text[CLOCK_TEXT];
    struct str full = clock_format(text, clock_wall_us());
    char *out = arena_alloc(a, CLOCK_TEXT);
    size_t len = 0;

    for (size_t i = 0; i < full.len && full.at[i] != '.'; i++)
        if (full.at[i] != '-' && full.at[i] != ':')
            out[len++] = full.at[i];
    out[len++] = 'Z';
    return str_n(out, len);
}

/* Never relative to where a client happened to start us. */
bool record_place_folder(const char **out, const struct app *app, struct arena *a,
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

static bool user_folder(struct record_place *p, const struct app *app, struct err *e)
{
    if (!record_place_folder(&p->folder, app, &p->arena, e))
        return err_hint(e, "name a file or a folder with -o, or set MCPREEL_DIR");
    if (!folder_make(app->sys, p->folder, e))
        return false;
    if (p->folder == app_env(app, "MCPREEL_DIR") || !folder_is_open_to_all(app->sys, p->folder))
        return true;
    err_set(e, ERR_USAGE, "cannot record to '%s': anybody may change what is in it", p->folder);
    return err_hint(e, "close it with 'chmod 700', or name another place with -o");
}

static void set_path(struct record_place *p, const char *path)
{
    p->path = path;
    p->live = p->format->lines ? path : journal_name(&p->arena, path, p->format);
}

bool record_place_next(struct record_place *p, unsigned attempt)
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

/* Whether the name can be that of a live recording. */
static bool check_name(const struct record_wish *wish, struct err *e)
{
    struct str path = str_z(wish->output), stem;

    if (str_eq(path, STR("-"))) {
        err_set(e, ERR_USAGE, "cannot record to standard output: it belongs to the session");
        return err_hint(e, "name a file: mcpreel record -o session.jsonl …");
    }
    if (pack_by_name(path, &stem) != PACK_NONE) {
        err_set(e, ERR_USAGE, "cannot record to '%s': a live recording is not packed",
                wish->output);
        return err_hint(e, "record to '%.*s' and pack it afterwards", STR_ARG(stem));
    }
    return true;
}

/* Whether a name ends in a dot and a word, as "x.csv" does and "v1.2" does not. */
static bool has_extension(struct str path)
{
    struct str name = last_of_path(path), ext = name;

    for (size_t dot; (dot = str_find(ext, '.')) < ext.len;)
        ext = str_skip(ext, dot + 1);
    if (ext.len + 1 >= name.len || !ext.len || ascii_is_digit(ext.at[0]))
        return false;
    for (size_t i = 0; i < ext.len; i++)
        if (!ascii_is_alnum(ext.at[i]))
            return false;
    return true;
}

/* `file`: the name that was given, if one was. One without an extension is that of a recording
 * of our own. */
static bool choose_format(struct record_place *p, const struct record_wish *wish,
                          const char *file, struct err *e)
{
    p->format = wish->format;
    if (!p->format && file)
        p->format = format_by_path(str_z(file));
    if (!p->format && file && has_extension(str_z(file))) {
        err_set(e, ERR_USAGE,
                "cannot record to '%s': its name does not say which format to write", file);
        return pick_format_hint(e, "--format");
    }
    if (!p->format)
        p->format = &recording_format;
    if (!p->format->put) {
        struct buf names;

        err_set(e, ERR_USAGE, "cannot record to '%s': '%s' is only read", file,
                p->format->name);
        err_hint(e, "say what to write with --format: one of %s", pick_format_list(&names));
        buf_release(&names);
        return false;
    }
    if (wish->rotate && !p->format->lines)
        return err_set(e, ERR_USAGE, "'--rotate' does not go with '%s': it is one document",
                       p->format->name);
    return true;
}

static void name_in_folder(struct record_place *p, const struct record_wish *wish)
{
    struct arena *a = &p->arena;
    const char *label = record_place_label(a, wish->name, wish->server);

    p->stem = arena_printf(a, "%.*s-%s-%ld", STR_ARG(time_stamp(a)), label, self_number()).at;
    record_place_next(p, 0);
}

static bool make_folder_of(const struct sys *sys, const char *file, struct arena *a,
                           struct err *e)
{
    const char *slash = strrchr(file, '/');

    return !slash || slash == file ||
           folder_make(sys, arena_z(a, str_n(file, (size_t)(slash - file))), e);
}

bool record_place_find(struct record_place *p, const struct app *app,
                       const struct record_wish *wish, struct err *e)
{
    const char *file = wish->output;

    *p = (struct record_place){ .force = wish->force, .rotate = wish->rotate };
    if (file && (str_ends(str_z(file), STR("/")) || folder_is(app->sys, file))) {
        p->folder = file;
        file = NULL;
    }
    if ((file && !check_name(wish, e)) || !choose_format(p, wish, file, e))
        return false;
    if (file) {
        set_path(p, file);
        return !wish->make_folder || make_folder_of(app->sys, file, &p->arena, e);
    }
    if (!p->folder && !user_folder(p, app, e))
        return false;
    name_in_folder(p, wish);
    return true;
}

void record_place_release(struct record_place *p)
{
    arena_release(&p->arena);
}

bool record_place_is_journal(const struct record_place *p)
{
    return p->live != p->path;
}

/* A client may start its server twice at the same time. Whoever comes second must not take
 * the first one's file away, nor fail for the sake of a recording. */
bool record_place_give_way(struct record_place *p, const struct sys *sys)
{
    struct arena *a = &p->arena;

    if (p->folder || !p->force || p->gave_way ||
        !(lock_is_held(sys, p->path) || lock_is_held(sys, p->live)))
        return false;
    p->gave_way = true;
    set_path(
        p, live_name_beside(a, p->path, p->format, arena_printf(a, "-%ld", self_number()).at));
    return true;
}

/* One that was left behind can be set aside. */
static bool journal_is_free(const struct record_place *p, const struct sys *sys, struct err *e)
{
    int left;

    if (file_may_create(sys, p->live, false, e))
        return true;
    left = lock_hold(sys, p->live);
    if (left >= 0) {
        sys->close(sys, left);
        *e = (struct err)ERR_NONE;
        return true;
    }
    if (lock_is_held(sys, p->live))
        err_hint(e, "another process is recording there");
    return false;
}

static bool rename_journal(struct record_place *p, const struct sys *sys, const char **aside,
                           struct err *e)
{
    for (unsigned n = 2; n < NAME_TRIES; n++) {
        const char *path = live_part_name(&p->arena, p->path, p->format, n);
        const char *name = journal_name(&p->arena, path, p->format);

        if (file_give_name(sys, p->live, name, false, e)) {
            *aside = name;
            return true;
        }
        if (e->kind != ERR_USAGE)
            break;
    }
    return false;
}

/* It is held while its name is changed: of two who do that one finds that it is too late,
 * and nobody takes away the journal of the other. */
bool record_place_set_aside(struct record_place *p, const struct sys *sys, const char **aside,
                            struct err *e)
{
    struct err why = ERR_NONE;
    int left;
    bool ok;

    *aside = NULL;
    left = record_place_is_journal(p) ? lock_hold(sys, p->live) : -1;
    if (left < 0)
        return true; /* whatever stands there is told by making the new one */
    ok = rename_journal(p, sys, aside, &why);
    sys->close(sys, left);
    if (!ok)
        *e = why;
    return ok;
}

/* That the second part may be made says that nobody else's parts lie there. */
bool record_place_is_free(const struct record_place *p, const struct sys *sys, struct err *e)
{
    if (!file_may_create(sys, p->path, p->force, e))
        return false;
    if (record_place_is_journal(p))
        return journal_is_free(p, sys, e);
    if (p->rotate && !p->force) {
        struct arena a = { 0 };
        bool ok = file_may_create(sys, live_part_name(&a, p->path, p->format, 2), false, e);

        arena_release(&a);
        return ok;
    }
    return true;
}

#include "runtime/git-file.h"

#include <string.h>

#include "loop/program.h"

enum { PIECE = 64 << 10, ARGS_MAX = 8 };

/* Directory and name of the file. */
struct git_place {
    char *dir, *name;
};

static struct git_place split_path(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    struct str dir = slash ? str_n(path, (size_t)(slash - path)) : STR(".");

    if (slash == path)
        dir = STR("/");
    return (struct git_place){ .dir = (char *)arena_z(a, dir),
                               .name = (char *)arena_z(a, str_z(slash ? slash + 1 : path)) };
}

/* Runs git in the directory; its output goes to `to`, or nowhere. Returns false on an error;
 * `*code` is the exit code. */
static bool run_git(const struct app *app, const char *dir, const char *const args[],
                    struct file *to, int *code, struct err *e)
{
    char *argv[ARGS_MAX + 4] = { "git", "-C", (char *)dir };
    struct program program;
    char piece[PIECE];
    size_t got, done, count = 3;
    bool ok;

    while (*args)
        argv[count++] = (char *)*args++;
    if (!program_start(&program, argv, app->env, PROGRAM_STDOUT, e))
        return false;
    do {
        ok = program_read(&program, piece, sizeof piece, &got, e) &&
             (!to || !got || file_write(to, str_n(piece, got), &done, e));
    } while (ok && got);
    *code = program_wait(&program);
    return ok;
}

static bool check_repository(const struct app *app, const struct git_place *at,
                             const char *path, struct err *e)
{
    const char *args[] = { "rev-parse", "--is-inside-work-tree", NULL };
    int code;

    if (!run_git(app, at->dir, args, NULL, &code, e))
        return false;
    return !code || err_set(e, ERR_INPUT, "'%s' is not in a git repository", path);
}

static bool check_revision(const struct app *app, const struct git_place *at,
                           const char *revision, struct arena *a, struct err *e)
{
    const char *args[] = { "rev-parse", "--verify", "--quiet",
                           arena_printf(a, "%s^{commit}", revision).at, NULL };
    int code = 1;

    if (revision[0] != '-' && revision[0] && !run_git(app, at->dir, args, NULL, &code, e))
        return false;
    if (!code)
        return true;
    err_set(e, ERR_USAGE, "git has no revision '%s'", revision);
    return err_hint(e, "name a commit, a branch or a tag: HEAD, HEAD~1, main, v1.2.0");
}

static bool copy_content(struct git_file *g, const struct app *app, const struct git_place *at,
                         const char *revision, const char *path, struct err *e)
{
    const char *object = arena_printf(&g->arena, "%s:./%s", revision, at->name).at;
    const char *args[] = { "cat-file", "blob", object, NULL };
    int code;

    if (!run_git(app, at->dir, args, &g->copy, &code, e))
        return false;
    if (!code)
        return true;
    err_set(e, ERR_INPUT, "revision '%s' has no file '%s'", revision, path);
    return err_hint(e, "'git log -- %s' lists the commits that have it", path);
}

bool git_file_open(struct git_file *g, const struct app *app, const char *revision,
                   const char *path, const char *tmp_dir, struct err *e)
{
    struct git_place at;

    *g = (struct git_file){ .copy = FILE_CLOSED };
    at = split_path(path, &g->arena);
    g->name = arena_printf(&g->arena, "%s:%s", revision, path);
    if (!check_repository(app, &at, path, e) ||
        !check_revision(app, &at, revision, &g->arena, e) ||
        !file_create_unnamed(&g->copy, app->sys, tmp_dir, e) ||
        !copy_content(g, app, &at, revision, path, e))
        return false;
    g->path = arena_printf(&g->arena, "/proc/self/fd/%d", g->copy.fd).at;
    return true;
}

void git_file_release(struct git_file *g)
{
    struct err ignored = ERR_NONE;

    file_close(&g->copy, &ignored);
    arena_release(&g->arena);
}

#include "runtime/app.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"

enum { LOG_DRAIN_MS = 200 };

int app_exit_code(const struct err *e)
{
    switch (e->kind) {
    case ERR_OK:
        return EXIT_OK;
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_INPUT:
    case ERR_LIMIT:
        return EXIT_INPUT;
    case ERR_PEER:
        return EXIT_SERVER;
    case ERR_IO:
        return EXIT_IO;
    }
    BUG("an error without a kind");
}

const char *app_env_get(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return (*env)[n + 1] ? *env + n + 1 : NULL;
    return NULL;
}

const char *app_env(const struct app *app, const char *name)
{
    return app_env_get(app->env, name);
}

bool app_write(const struct app *app, struct str bytes, struct err *e)
{
    struct file out = file_stdout(app->sys);
    struct buf shown;
    size_t done;
    bool ok;

    if (!app->json || !app->stdout_is_tty)
        return file_write(&out, bytes, &done, e);
    buf_init(&shown, SIZE_MAX);
    term_escape(&shown, bytes, TERM_JSON);
    ok = file_write(&out, buf_str(&shown), &done, e);
    buf_release(&shown);
    return ok;
}

bool app_write_pipe(const struct app *app, struct str bytes, bool *gone, struct err *e)
{
    struct err why = ERR_NONE;

    errno = 0;
    if (app_write(app, bytes, &why))
        return true;
    *gone = errno == EPIPE;
    if (!*gone)
        *e = why;
    return *gone;
}

const struct app *app_queued_log_begin(struct app_queued_log *u, const struct app *app)
{
    *u = (struct app_queued_log){ .app = *app, .log = *app->log };
    u->app.log = &u->log;
    log_queue_init(&u->queue, &u->log);
    return &u->app;
}

void app_queued_log_end(struct app_queued_log *u)
{
    log_queue_finish(&u->queue, LOG_DRAIN_MS);
}

#include "cmd/app.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "cmd/option.h"

enum { LAST_WORDS_MS = 200 };

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
    BUG("an error of no kind");
}

const char *app_env(const struct app *app, const char *name)
{
    return option_env_get(app->env, name);
}

bool app_env_has(const struct app *app, const char *option, const char *value)
{
    static const char *const prefixes[] = { "MCPREEL_", "THOUGHTJACK_" };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        char name[OPTION_ENV_NAME];
        const char *set = app_env(app, option_env_name(name, prefixes[i], option));

        if (set && strcmp(set, value) == 0)
            return true;
    }
    return false;
}

bool app_write(const struct app *app, struct str bytes, struct err *e)
{
    struct file out = file_standard_output(app->sys);
    struct buf shown;
    size_t done;
    bool ok;

    if (!app->json || !app->tty)
        return file_write(&out, bytes, &done, e);
    buf_init(&shown, SIZE_MAX);
    term_escape(&shown, bytes, TERM_JSON);
    ok = file_write(&out, buf_str(&shown), &done, e);
    buf_release(&shown);
    return ok;
}

bool app_pour(const struct app *app, struct str bytes, bool *gone, struct err *e)
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

const struct app *app_unheld_begin(struct app_unheld *u, const struct app *app)
{
    *u = (struct app_unheld){ .app = *app, .log = *app->log };
    u->app.log = &u->log;
    log_queue_init(&u->queue, &u->log);
    return &u->app;
}

void app_unheld_end(struct app_unheld *u)
{
    log_queue_finish(&u->queue, LAST_WORDS_MS);
}

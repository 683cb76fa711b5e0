/* runtime/app.h - the context of a running command: system interface, environment, log and
 * global options.
 *
 * Standard output is for data (app_write()), standard error for messages (app->log). */
#ifndef RUNTIME_APP_H
#define RUNTIME_APP_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"

enum exit_code {
    EXIT_OK = 0,       /* ran, nothing wrong */
    EXIT_FINDINGS = 1, /* ran, and found something: a difference, a miss */
    EXIT_USAGE = 2,    /* command line or configuration; nothing was done */
    EXIT_INPUT = 3,    /* an input file cannot be used */
    EXIT_SERVER = 4,   /* the server could not be started, reached or understood */
    EXIT_IO = 5,       /* an operating system error; output may be partial */
};

struct app {
    const struct sys *sys;
    const struct command *const *commands; /* NULL-terminated */
    char *const *env;                      /* NULL-terminated NAME=value */
    const char *argv0;                     /* argv[0], for execvp() */
    const struct log *log;
    bool json;   /* data as JSON on standard output, errors as JSON on standard error */
    bool color;  /* colour standard output; the log has its own setting for standard error */
    bool quiet;  /* log only errors; the log has this set already */
    int verbose; /* number of -v; the log shows debug lines from 1 on */
    bool stdout_is_tty; /* standard output is a terminal */
    size_t columns;     /* width of that terminal; 0: it is none */
    bool stderr_is_tty; /* standard error is a terminal */
};

/* Returns the enum exit_code for an error; EXIT_OK for ERR_OK. */
int app_exit_code(const struct err *e);

/* Returns whether a long command may draw its progress on standard error. */
static inline bool app_shows_progress(const struct app *app)
{
    return app->stderr_is_tty && !app->quiet;
}

/* Finds a variable in a NULL-terminated list of NAME=value, or in that of the program. Returns
 * NULL if it is not set or empty. */
const char *app_env_get(char *const *env, const char *name);
const char *app_env(const struct app *app, const char *name);

/* Writes all bytes to standard output. Escapes control characters if JSON is written to a
 * terminal. */
bool app_write(const struct app *app, struct str bytes, struct err *e) MUST_CHECK;

/* The same for long output: a closed pipe (`| head`) is no error; sets `*gone` then. */
bool app_write_pipe(const struct app *app, struct str bytes, bool *gone,
                    struct err *e) MUST_CHECK;

/* An app whose log never blocks, for serving a client that may not read our standard error.
 * base/log.h says which lines are dropped. */
struct app_queued_log {
    struct app app;
    struct log log;
    struct log_queue queue;
};

/* `u` must not move until app_queued_log_end(), which waits briefly for the last lines to be
 * read. */
const struct app *app_queued_log_begin(struct app_queued_log *u, const struct app *app);
void app_queued_log_end(struct app_queued_log *u);

#endif

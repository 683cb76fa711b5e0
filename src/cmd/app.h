/* cmd/app.h - what every command is handed: the world outside, and what the
 * global options decided.
 *
 * Standard output is data, standard error is talk: a command writes data with
 * app_write() and says things with app->log. */
#ifndef CMD_APP_H
#define CMD_APP_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"

enum exit_code {
    EXIT_OK = 0,       /* ran, nothing wrong */
    EXIT_FINDINGS = 1, /* ran, and there is something to see: a difference, a miss */
    EXIT_USAGE = 2,    /* command line or configuration; nothing was done */
    EXIT_INPUT = 3,    /* an input file cannot be used */
    EXIT_SERVER = 4,   /* the server could not be started, reached or spoken to */
    EXIT_IO = 5,       /* the operating system said no; output may be partial */
};

struct app {
    const struct sys *sys;
    const struct command *const *commands; /* NULL-terminated */
    char *const *env;                      /* NULL-terminated NAME=value */
    const char *self;                      /* argv[0]: execvp() finds this program by it */
    const struct log *log;
    bool json;    /* data as JSON on standard output, errors as JSON on standard error */
    bool color;   /* standard output may be coloured; the log knows about standard error */
    bool quiet;   /* say only errors; the log knows */
    int verbose;  /* how often -v was given; from 1 on the log shows debug lines */
    bool watched; /* standard error is a terminal: somebody may like to see progress */
};

/* The enum exit_code an error stands for; EXIT_OK without one. */
int app_exit_code(const struct err *e);

const char *app_env(const struct app *app, const char *name); /* NULL: not set or empty */

/* All of it to standard output. */
bool app_write(const struct app *app, struct str bytes, struct err *e) MUST_CHECK;

#endif

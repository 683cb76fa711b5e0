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
    bool json;      /* data as JSON on standard output, errors as JSON on standard error */
    bool color;     /* standard output may be coloured; the log knows about standard error */
    bool quiet;     /* say only errors; the log knows */
    int verbose;    /* how often -v was given; from 1 on the log shows debug lines */
    bool tty;       /* standard output is a terminal */
    size_t columns; /* of that terminal; 0: it is none */
    bool watched;   /* standard error is a terminal: somebody may like to see progress */
};

/* The enum exit_code an error stands for; EXIT_OK without one. */
int app_exit_code(const struct err *e);

const char *app_env(const struct app *app, const char *name); /* NULL: not set or empty */

/* Whether the environment has that value for an option: what operands on the command line
 * say then comes before it. */
bool app_env_has(const struct app *app, const char *option, const char *value);

/* All of it to standard output. JSON goes to a terminal with the characters escaped that a
 * terminal would obey. */
bool app_write(const struct app *app, struct str bytes, struct err *e) MUST_CHECK;

/* The same for what is long: if nobody reads any more (`| head`), that is no error, and
 * `*gone` is set. */
bool app_pour(const struct app *app, struct str bytes, bool *gone, struct err *e) MUST_CHECK;

/* An app whose log holds nobody up: for those who serve a client that may never read our
 * standard error. See base/log.h for what becomes of the lines. */
struct app_unheld {
    struct app app;
    struct log log;
    struct log_queue queue;
};

/* `u` stays where it is until app_unheld_end(), which waits a moment for the last words to
 * be read. */
const struct app *app_unheld_begin(struct app_unheld *u, const struct app *app);
void app_unheld_end(struct app_unheld *u);

#endif

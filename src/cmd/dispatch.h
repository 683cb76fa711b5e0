/* cmd/dispatch.h - parses a command line and runs its command.
 *
 * Finds the command, parses its options, runs it and reports its error. All access to the
 * system is passed in, so that tests run the whole program without a process. */
#ifndef CMD_DISPATCH_H
#define CMD_DISPATCH_H

#include "cmd/command.h"

struct dispatch {
    const struct sys *sys;
    const struct command *const *commands; /* must have "help" and "version" */
    char *const *env;
    struct log log; /* output of the log; dispatch_run() sets level and colour */
    bool out_is_tty, err_is_tty;
    size_t out_columns; /* width of standard output, if it is a terminal; 0: unknown */
};

/* Runs the program; `argv` as in main(). Returns the exit code. */
int dispatch_run(const struct dispatch *d, int argc, char **argv);

#endif

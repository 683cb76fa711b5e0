/* cmd/dispatch.h - from the words of a command line to an exit code.
 *
 * Finds the command, reads its options, runs it and reports its error. The world
 * is handed in, so a test drives the whole program without a process. */
#ifndef CMD_DISPATCH_H
#define CMD_DISPATCH_H

#include "cmd/command.h"

struct dispatch {
    const struct sys *sys;
    const struct command *const *commands; /* must have "help" and "version" */
    char *const *env;
    struct log log; /* where to talk; level and colour are decided here */
    bool out_is_tty, err_is_tty;
    size_t out_columns; /* of standard output, if it is a terminal and says so */
};

/* `argv` as main() has it, argv[argc] being NULL. */
int dispatch_run(const struct dispatch *d, int argc, char **argv);

#endif

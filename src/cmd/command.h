/* cmd/command.h - what a subcommand is.
 *
 * Command NAME is one file, cmd-NAME, that ends with `const struct command
 * cmd_NAME`, and one row in the table of commands. Parsing, help, man page and
 * completions are made from it. */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "cmd/app.h"
#include "cmd/option.h"

struct command_example {
    const char *line;  /* a whole command line, up to 72 columns; NULL ends the list */
    const char *about; /* what it does: lower case, no full stop, one line */
};

enum { COMMAND_ANY = -1 };

/* What a command's operands are; completions offer them. */
enum command_takes {
    COMMAND_FILES,
    COMMAND_WORDS, /* one of `words`, nothing else */
    COMMAND_NAMES, /* of commands and help topics */
};

struct command {
    const char *name;
    const char *summary;      /* for lists: lower case, no full stop, up to 56 columns */
    const char *const *usage; /* what follows "mcpreel NAME ", NULL-terminated */
    const char *about;        /* whole sentences; paragraphs parted by "\n\n" */
    const struct command_example *examples; /* may be NULL */
    const struct option *options;           /* may be NULL */
    size_t args_size;                       /* of the struct the options fill */

    const char *operand; /* what one is called: "FILE"; NULL: takes none */
    enum command_takes takes;
    const struct option_choice *words;
    int min, max; /* how many operands; max may be COMMAND_ANY */
    bool server;  /* "-- COMMAND ARGS…" may follow; without operands also "COMMAND ARGS…" */
    bool hidden;  /* works, but is in no list */

    /* Returns the exit code: an enum exit_code, or, for a command that stands in
     * for another program, that program's own. Trouble goes into `*e`, and
     * app_exit_code(e) is what to return then; the caller reports it. `args`
     * and `in` live as long as the call. */
    int (*run)(const struct app *app, const void *args, const struct operands *in,
               struct err *e);
};

/* The command of that name; ERR_USAGE with a suggestion if there is none. */
const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct err *e) MUST_CHECK;

/* The name of the command that does what other tools call `name`; NULL if there is none. */
const char *command_alias(const struct command *const *commands, const char *name);

/* How its part of the command line is read. */
enum option_extent command_extent(const struct command *c);

/* Whether the operands are as many and such as the command takes. */
bool command_check(const struct command *c, const struct operands *in,
                   struct err *e) MUST_CHECK;

#endif

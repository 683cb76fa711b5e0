/* cmd/command.h - a subcommand, and the table of all of them.
 *
 * Command NAME is one file, cmd-NAME, that ends with `const struct command
 * cmd_NAME`, and one row in the table of commands. Parsing, help, man page and
 * completions are made from it. */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "cmd/option.h"
#include "runtime/app.h"

struct command_example {
    const char *line;  /* a whole command line, up to 72 columns; NULL ends the list */
    const char *about; /* its purpose: lower case, no full stop, one line */
};

enum { COMMAND_ANY = -1 };

/* Kind of a command's operands, for completions. */
enum command_takes {
    COMMAND_FILES,
    COMMAND_WORDS, /* only one of `words` */
    COMMAND_NAMES, /* commands and help topics */
};

struct command {
    const char *name;
    const char *summary;      /* for lists: lower case, no full stop, up to 56 columns */
    const char *const *usage; /* text after "mcpreel NAME ", NULL-terminated */
    const char *about;        /* whole sentences; paragraphs separated by "\n\n" */
    const struct command_example *examples; /* may be NULL */
    const struct option *options;           /* may be NULL */
    size_t args_size;                       /* of the struct the options fill */

    const char *operand; /* name of an operand: "FILE"; NULL: takes none */
    enum command_takes takes;
    const struct option_choice *words;
    int min, max; /* how many operands; max may be COMMAND_ANY */
    bool server;  /* "-- COMMAND ARGS…" may follow; without operands also "COMMAND ARGS…" */
    bool hidden;  /* works, but is not listed */

    /* Runs the command. Returns the exit code: an enum exit_code, or, for a command that runs
     * another program, that of the program. On an error sets `*e`, which the caller reports,
     * and returns app_exit_code(e). `args` and `in` are valid during the call. */
    int (*run)(const struct app *app, const void *args, const struct operands *in,
               struct err *e);
};

extern const struct command cmd_check;
extern const struct command cmd_completion;
extern const struct command cmd_convert;
extern const struct command cmd_demo;
extern const struct command cmd_diff;
extern const struct command cmd_export;
extern const struct command cmd_formats;
extern const struct command cmd_help;
extern const struct command cmd_import;
extern const struct command cmd_inspect;
extern const struct command cmd_list;
extern const struct command cmd_lock;
extern const struct command cmd_record;
extern const struct command cmd_record_scenarios;
extern const struct command cmd_redact;
extern const struct command cmd_replay;
extern const struct command cmd_run;
extern const struct command cmd_show;
extern const struct command cmd_stats;
extern const struct command cmd_trace;
extern const struct command cmd_verify;
extern const struct command cmd_version;

/* All commands, in the order that help shows them; NULL-terminated. */
extern const struct command *const command_table[];

/* Returns the command of that name; ERR_USAGE with a suggestion if there is none. */
const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct err *e) MUST_CHECK;

/* Returns the command that does what other tools call `name`; NULL if there is none. */
const char *command_alias(const struct command *const *commands, const char *name);

/* Returns how its part of the command line is parsed. */
enum option_extent command_extent(const struct command *c);

/* Checks the number and the kind of the operands. */
bool command_check(const struct command *c, const struct operands *in,
                   struct err *e) MUST_CHECK;

#endif

/* cmd/option.h - options as a table: a row says everything about an option.
 *
 * Parsing, -h, the manual page, completions and environment variables are all made from the
 * rows, so they cannot disagree. A row fills one field of a plain struct; a table ends with a
 * row of zeroes:
 *
 *     struct record_args {
 *         const char *output;
 *         int64_t flush_us;
 *     };
 *
 *     static const struct option record_options[] = {
 *         { .key = 'o', .name = "output", .arg = "FILE", .type = OPTION_PATH,
 *           .offset = offsetof(struct record_args, output),
 *           .help = "write the recording to FILE" },
 *         { .name = "flush-interval", .arg = "TIME", .type = OPTION_DURATION,
 *           .offset = offsetof(struct record_args, flush_us), .preset = "1s",
 *           .help = "sync the file to disk this often" },
 *         { 0 },
 *     };
 *
 * A value comes from the first of these that has one: the command line, MCPREEL_<NAME> in the
 * environment (upper case, '-' as '_'), the preset. */
#ifndef CMD_OPTION_H
#define CMD_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str-list.h"

/* The type of an option is that of the field at `offset`. A field that is not filled stays
 * zero (NULL, 0, false, empty), a choice -1. */
enum option_type {
    OPTION_END,
    OPTION_FLAG,     /* bool; takes no value */
    OPTION_COUNT,    /* int; takes no value, each use adds one */
    OPTION_STRING,   /* const char * */
    OPTION_PATH,     /* const char *; completed with file names */
    OPTION_CHOICE,   /* int: the value of the chosen row of `choices` */
    OPTION_INT,      /* int64_t within min..max */
    OPTION_SIZE,     /* uint64_t bytes: 4096, 64MB (10^6), 64MiB or 64M (2^20) */
    OPTION_DURATION, /* int64_t microseconds: 500ms, 1s, 2.5s, 5min, 1h; a bare 0 */
    OPTION_LIST,     /* struct str_list; may be repeated */
    OPTION_CUSTOM,   /* filled by `parse` */
};

struct option_choice {
    const char *name; /* NULL ends the list */
    int value;        /* not negative */
    bool is_alias;    /* an accepted spelling that help does not mention */
};

enum { OPTION_ALIASES = 4 };

struct option {
    const char *name;                    /* without the dashes; NULL ends the table */
    char key;                            /* one-letter form; 0: none */
    const char *aliases[OPTION_ALIASES]; /* other long names that mean the same */
    const char *arg;                     /* name of the value in help: "FILE" */
    const char *help;                    /* lower case, no full stop */
    const char *group;                   /* heading in help; NULL: "Options" */
    const char *preset;                  /* the default as text; shown in help */
    const char *env;                     /* full name of another variable that sets it */
    const char *implied; /* its value if none is given: then only '=' adds one, --name=VALUE */
    const struct option_choice *choices; /* OPTION_CHOICE; for others: completions */
    bool (*parse)(void *field, const char *text, struct err *e); /* OPTION_CUSTOM */
    int64_t min, max;                                            /* OPTION_INT; both 0: any */
    size_t offset; /* offsetof the field it fills */
    enum option_type type;
    bool negatable;       /* a flag that also has a --no-NAME */
    bool split;           /* a list: every value may be several, separated by commas */
    bool keep_empty;      /* such a list keeps empty values: the command rejects them */
    bool paths;           /* a list of file names; completed as such */
    bool hidden;          /* works, but is not in help and completions */
    bool thoughtjack_env; /* THOUGHTJACK_<NAME> sets it too, `aliases` included */
    bool no_env;          /* no environment variable sets it */
};

/* One table together with the struct its rows fill. */
struct option_set {
    const struct option *rows;
    void *args;
};

/* The words of a command line that are no options. Everything points into argv. */
struct operands {
    char **at; /* in order; "-" is an operand */
    size_t count;
    char **server;       /* words after "--", or from the operand that begins a server's
                          * command (OPTION_SERVER); NULL-terminated; NULL: neither */
    size_t server_count; /* never 0 with a server */
    const struct option_reader *reader; /* that parsed the options; NULL: none */
};

enum { OPTION_SETS = 2 };

/* Parses a command line and the environment into option sets. */
struct option_reader {
    struct option_set sets[OPTION_SETS];
    bool *given[OPTION_SETS]; /* by row: set if the command line had it */
    size_t count;
    const char *command; /* name of the command, for messages; NULL: not known yet */
    char *const *env;    /* NULL-terminated NAME=value */
    struct arena *arena; /* lists and operands live here */
};

void option_reader_init(struct option_reader *r, char *const *env, struct arena *arena);

/* Adds a set and fills in its presets. If several sets have a name, it means the row of the
 * set that was added last. */
void option_reader_add(struct option_reader *r, struct option_set set);

/* How far to parse. */
enum option_extent {
    OPTION_ALL,     /* to the end */
    OPTION_LEADING, /* up to the first word that is no option */
    OPTION_SERVER,  /* up to the first operand, which begins the server's command; an error if a
                     * "--" follows, as that is ambiguous */
};

/* Parses argv[0..argc) and returns how many words were used. Options and operands come in any
 * order; the first "--" ends both. After an error it continues, so that a later --json still
 * counts; `*e` gets the first error, or stays as it was. */
int option_read_line(struct option_reader *r, int argc, char **argv, enum option_extent extent,
                     struct operands *operands, struct err *e);

/* Fills options that the command line did not give from the environment; errors as above. */
void option_read_env(struct option_reader *r, struct err *e);

/* Rejects options that have no effect together with the others: ERR_USAGE for the first row
 * that is unused and on the command line. Variables are not rejected: they may be meant for
 * other commands. The table ends with a row of zeroes. */
struct option_unused {
    const char *name;
    const char *needs; /* as in "'--name' only goes with …" */
    bool is_unused;    /* it has no effect here */
};
bool option_reject_unused(const struct operands *in, const struct option_unused *rows,
                          struct err *e) MUST_CHECK;

/* Returns whether the command line had that option. */
bool option_is_given(const struct operands *in, const char *name);

enum { OPTION_ENV_NAME = 80 };

/* Returns the variable of an option: "MCPREEL_" and "log-file" give "MCPREEL_LOG_FILE". */
const char *option_env_name(char out[OPTION_ENV_NAME], const char *prefix, const char *name);

/* Returns whether the environment sets the option to that value. An operand on the command line
 * takes precedence over it then. */
bool option_env_has(char *const *env, const char *option, const char *value);

/* Adds to the hint where help is: that of `command`, or the program's if NULL. Returns
 * false. */
bool option_hint_help(struct err *e, const char *command);

/* Returns whether lists show the row: not if it is hidden, or if the table `over` has a row
 * of that name, which replaces it. */
bool option_is_shown(const struct option *o, const struct option *over);

/* Returns whether its values are completed with file names. */
static inline bool option_takes_path(const struct option *o)
{
    return o->type == OPTION_PATH || o->paths;
}

/* Returns whether the option takes the next word of the command line as its value. */
static inline bool option_takes_value(const struct option *o)
{
    return o->type != OPTION_FLAG && o->type != OPTION_COUNT && !o->implied;
}

#endif

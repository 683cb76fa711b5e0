/* cmd/option.h - options as a table: one row says everything about an option.
 *
 * Parsing, -h, the man page, completions and the environment variables are all
 * made from the rows, so they cannot disagree. A row fills one field of a plain
 * struct; a table ends with a row of zeroes:
 *
 *     struct record_args {
 *         const char *output;
 *         int64_t flush_us;
 *     };
 *
 *     static const struct option record_options[] = {
 *         { .key = 'o', .name = "output", .arg = "FILE", .type = OPTION_PATH,
 *           .at = offsetof(struct record_args, output),
 *           .help = "write the recording to FILE" },
 *         { .name = "flush-interval", .arg = "TIME", .type = OPTION_DURATION,
 *           .at = offsetof(struct record_args, flush_us), .preset = "1s",
 *           .help = "sync the file to disk this often" },
 *         { 0 },
 *     };
 *
 * Where a value comes from, first wins: the command line, MCPREEL_<NAME> in the
 * environment (upper case, '-' as '_'), the preset. */
#ifndef CMD_OPTION_H
#define CMD_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* The type decides what the field at `at` is. A field nobody fills stays zero
 * (NULL, 0, false, empty), a choice -1. */
enum option_type {
    OPTION_END,
    OPTION_FLAG,     /* bool; takes no value */
    OPTION_COUNT,    /* int; takes no value, each time adds one */
    OPTION_STRING,   /* const char * */
    OPTION_PATH,     /* const char *; completed with file names */
    OPTION_CHOICE,   /* int: the value of the chosen row of `choices` */
    OPTION_INT,      /* int64_t within min..max */
    OPTION_SIZE,     /* uint64_t bytes: 4096, 64MB (10^6), 64MiB or 64M (2^20) */
    OPTION_DURATION, /* int64_t microseconds: 500ms, 1s, 2.5s, 5min, 1h; a bare 0 */
    OPTION_LIST,     /* struct option_list; may be repeated */
    OPTION_CUSTOM,   /* whatever `parse` fills */
};

struct option_choice {
    const char *name; /* NULL ends the list */
    int value;        /* not negative */
    bool also;        /* an accepted spelling that help does not mention */
};

struct option_list {
    const char **at;
    size_t count;
};

enum { OPTION_ALSO = 4 };

struct option {
    const char *name;                    /* without the dashes; NULL ends the table */
    char key;                            /* one-letter form; 0: none */
    const char *also[OPTION_ALSO];       /* other long names that mean the same */
    const char *arg;                     /* what the value is called in help: "FILE" */
    const char *help;                    /* lower case, no full stop */
    const char *group;                   /* heading in help; NULL: "Options" */
    const char *preset;                  /* the default as text; shown in help */
    const char *env;                     /* a variable that sets it too, by its whole name */
    const struct option_choice *choices; /* OPTION_CHOICE; for others: completions */
    bool (*parse)(void *field, const char *text, struct err *e); /* OPTION_CUSTOM */
    int64_t min, max;                                            /* OPTION_INT; both 0: any */
    size_t at; /* offsetof the field it fills */
    enum option_type type;
    bool negatable; /* a flag that also has a --no-NAME */
    bool split;     /* a list whose every value may hold several, with commas */
    bool empties;   /* such a list keeps empty values, for who must not miss them */
    bool hidden;    /* works, but is in no help and no completion */
    bool seed;      /* THOUGHTJACK_<NAME> sets it too, `also` names included */
    bool line_only; /* no environment variable sets it */
};

/* One table together with the struct its rows fill. */
struct option_set {
    const struct option *rows;
    void *args;
};

/* What stands on a command line besides options. Everything points into argv. */
struct operands {
    char **at; /* in order; "-" is an operand */
    size_t count;
    char **server;       /* what follows "--", or an operand that begins a server's command
                          * (OPTION_SERVER); NULL-terminated; NULL: neither */
    size_t server_count; /* never 0 with a server */
    const struct option_reader *reader; /* of the options beside them; NULL: there were none */
};

enum { OPTION_SETS = 2 };

/* Reads a command line and the environment into option sets. */
struct option_reader {
    struct option_set sets[OPTION_SETS];
    bool *given[OPTION_SETS]; /* by row: the command line had it */
    size_t count;
    const char *command; /* for messages; NULL: none is known yet */
    char *const *env;    /* NULL-terminated NAME=value */
    struct arena *arena; /* lists and operands live here */
};

void option_reader_init(struct option_reader *r, char *const *env, struct arena *arena);

/* Adds a set, fills in its presets. A name that several sets have means the row
 * of the set that was added last. */
void option_reader_add(struct option_reader *r, struct option_set set);

/* How far to read. */
enum option_extent {
    OPTION_ALL,     /* to the end */
    OPTION_LEADING, /* up to the first word that is no option */
    OPTION_SERVER,  /* the first operand begins the server's command, unless a "--" follows: it
                     * is ambiguous then, and an error */
};

/* Reads argv[0..argc) and returns how many words were used. Options and operands
 * come in any order; the first "--" ends both. On an error it reads on, so that a
 * later --json still counts; `*e` gets the first, or stays as it was. */
int option_read_line(struct option_reader *r, int argc, char **argv, enum option_extent extent,
                     struct operands *operands, struct err *e);

/* Fills from the environment what the command line did not give; errors as above. */
void option_read_env(struct option_reader *r, struct err *e);

/* For options that mean nothing beside the others, each with what it goes with: ERR_USAGE for
 * the first that the command line has. A variable may be meant for other commands, and is no
 * mistake. The table ends with a row of zeroes. */
struct option_idle {
    const char *name;
    const char *goes_with; /* as in "'--name' only goes with …" */
    bool idle;             /* it is so here */
};
bool option_refuse_idle(const struct operands *in, const struct option_idle *rows,
                        struct err *e) MUST_CHECK;

/* Whether the command line had that option. */
bool option_given(const struct operands *in, const char *name);

enum { OPTION_ENV_NAME = 80 };

/* The variable of an option: "MCPREEL_" and "log-file" give "MCPREEL_LOG_FILE". */
const char *option_env_name(char out[OPTION_ENV_NAME], const char *prefix, const char *name);

/* The value of a variable; NULL if it is not set or empty. */
const char *option_env_get(char *const *env, const char *name);

/* Adds to the hint where help is: that of `command`, or the program's if NULL.
 * Returns false, as the makers of errors do. */
bool option_point_to_help(struct err *e, const char *command);

/* Whether lists show the row: not if it is hidden, nor if the table `over` has a
 * row of that name, which then stands in its place. */
bool option_shown(const struct option *o, const struct option *over);

/* Whether the option takes a value on the command line. */
static inline bool option_takes_value(const struct option *o)
{
    return o->type != OPTION_FLAG && o->type != OPTION_COUNT;
}

#endif

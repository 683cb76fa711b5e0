/* cmd/redaction.h - the options that say what is secret, and what comes of them.
 *
 * A command that writes down what it hears has these options, puts its records through
 * redaction_door(), says things with `log` instead of the program's, and hands its errors
 * to redaction_err() before anybody sees them. */
#ifndef CMD_REDACTION_H
#define CMD_REDACTION_H

#include "cmd/app.h"
#include "cmd/option.h"
#include "format/format.h"
#include "trace/redactor.h"
#include "wire/fields.h"

struct redaction_args {
    struct option_list env, patterns, members;
    bool server_url, defaults;
};

#define REDACTION_GROUP "What is secret"

/* Rows for the table of a command whose struct `args_type` has redaction_args as `field`. */
#define REDACTION_OPTIONS(args_type, field)                                                    \
    { .name = "redact-env",                                                                    \
      .arg = "NAMES",                                                                          \
      .type = OPTION_LIST,                                                                     \
      .split = true,                                                                           \
      .empties = true,                                                                         \
      .group = REDACTION_GROUP,                                                                \
      .at = offsetof(args_type, field.env),                                                    \
      .help = "the values of these variables, in any form" },                                  \
        { .name = "redact-patterns",                                                           \
          .arg = "REGEX",                                                                      \
          .type = OPTION_LIST,                                                                 \
          .group = REDACTION_GROUP,                                                            \
          .at = offsetof(args_type, field.patterns),                                           \
          .help = "what matches REGEX (RE2)" },                                                \
        { .name = "redact-members",                                                            \
          .arg = "NAMES",                                                                      \
          .type = OPTION_LIST,                                                                 \
          .split = true,                                                                       \
          .empties = true,                                                                     \
          .group = REDACTION_GROUP,                                                            \
          .at = offsetof(args_type, field.members),                                            \
          .help = "string values of JSON members with these names" },                          \
        { .name = "redact-server-url",                                                         \
          .type = OPTION_FLAG,                                                                 \
          .negatable = true,                                                                   \
          .preset = "true",                                                                    \
          .group = REDACTION_GROUP,                                                            \
          .at = offsetof(args_type, field.server_url),                                         \
          .help = "of the server's address all but the host" },                                \
    {                                                                                          \
        .name = "redact-defaults", .type = OPTION_FLAG, .negatable = true, .preset = "true",   \
        .group = REDACTION_GROUP, .at = offsetof(args_type, field.defaults),                   \
        .help = "well-known credential formats; values named password, token, …"             \
    }

struct redaction {
    struct secrets secrets;
    struct redactor redactor;
    struct log log;          /* says the same as the program's, without secrets */
    const struct log *plain; /* the program's; borrowed */
};

/* What else is known to be secret, or may be. */
struct redaction_known {
    char *const *server; /* words in which secrets may stand; NULL-terminated, or NULL */
    const struct fields *values; /* by name; NULL: none. Too short ones are not looked for */
    bool explicit_rules; /* as mcp-recorder does: no defaults unless asked for, nothing learnt,
                            client messages unchanged, all of the server's path */
    bool defaults;       /* --redact-defaults was asked for; only with explicit_rules */
};

/* Fails closed: whatever is wrong with an option is ERR_USAGE, and no value is in it. */
bool redaction_init(struct redaction *r, const struct app *app,
                    const struct redaction_args *args, const struct redaction_known *known,
                    struct err *e) MUST_CHECK;
void redaction_release(struct redaction *r);

/* The way to a file: what is put into the sink returned reaches `to` without secrets. */
struct sink *redaction_door(struct redaction *r, struct sink *to);

/* Where secrets go that become known while things are written. */
struct learnt *redaction_learnt(struct redaction *r);

/* What is written is of that format: some know one kind of mark only. */
void redaction_for(struct redaction *r, const struct format *format);

/* A word without secrets, for names and the like. */
char *redaction_word(struct redaction *r, const char *word, struct arena *a);

/* Whether the path of the server's address may be told. */
bool redaction_tells(struct redaction *r, struct str path);

void redaction_err(struct redaction *r, struct err *e);

/* The same for an error of who came to no redaction, a wrong option for instance: takes out
 * the values of all variables the command line names as far as it can be understood, and
 * credentials. */
void redaction_shield(char *const *argv, char *const *env, struct err *e);

#endif

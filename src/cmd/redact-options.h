/* cmd/redact-options.h - the options that say what is secret, and a redaction made from them
 * (redact/redaction.h). */
#ifndef CMD_REDACT_OPTIONS_H
#define CMD_REDACT_OPTIONS_H

#include "cmd/option.h"
#include "format/format.h"
#include "redact/redaction.h"
#include "runtime/app.h"
#include "wire/headers.h"

struct redaction_args {
    struct str_list env, patterns, members;
    bool server_url, defaults;
};

#define REDACTION_GROUP "Redaction"

/* Rows for the table of a command whose struct `args_type` has redaction_args as `field`. */
#define REDACTION_OPTIONS(args_type, field)                                                    \
    { .name = "redact-env",                                                                    \
      .arg = "NAMES",                                                                          \
      .type = OPTION_LIST,                                                                     \
      .split = true,                                                                           \
      .keep_empty = true,                                                                      \
      .group = REDACTION_GROUP,                                                                \
      .offset = offsetof(args_type, field.env),                                                \
      .help = "redact the values of these variables, in any encoding" },                       \
        { .name = "redact-patterns",                                                           \
          .arg = "REGEX",                                                                      \
          .type = OPTION_LIST,                                                                 \
          .group = REDACTION_GROUP,                                                            \
          .offset = offsetof(args_type, field.patterns),                                       \
          .help = "redact text that matches REGEX (RE2)" },                                    \
        { .name = "redact-members",                                                            \
          .arg = "NAMES",                                                                      \
          .type = OPTION_LIST,                                                                 \
          .split = true,                                                                       \
          .keep_empty = true,                                                                  \
          .group = REDACTION_GROUP,                                                            \
          .offset = offsetof(args_type, field.members),                                        \
          .help = "redact string values of JSON members with these names" },                   \
        { .name = "redact-server-url",                                                         \
          .type = OPTION_FLAG,                                                                 \
          .negatable = true,                                                                   \
          .preset = "true",                                                                    \
          .group = REDACTION_GROUP,                                                            \
          .offset = offsetof(args_type, field.server_url),                                     \
          .help = "redact the server URL except its host" },                                   \
    {                                                                                          \
        .name = "redact-defaults", .type = OPTION_FLAG, .negatable = true, .preset = "true",   \
        .group = REDACTION_GROUP, .offset = offsetof(args_type, field.defaults),               \
        .help = "redact well-known credential formats and values named password, token, …"   \
    }

/* Other values that are secret, or may be. */
struct redaction_known {
    char *const *words; /* words in which secrets may stand; NULL-terminated, or NULL */
    const struct headers *values; /* by name; NULL: none. Too short ones are not looked for */
    bool explicit_rules; /* as mcp-recorder does: no defaults unless asked for, nothing learnt,
                            client messages unchanged, all of the server's path */
    bool defaults;       /* --redact-defaults was asked for; only with explicit_rules */
};

/* Returns whether --redact-defaults was given, on the command line or in the environment. */
bool redact_options_wants_defaults(const struct app *app, const struct redaction_args *args,
                                   const struct operands *in);

/* Fills a redaction from the options. Fails closed: any wrong option is ERR_USAGE, without a
 * value in the message. `known` may be NULL. */
bool redact_options_init(struct redaction *r, const struct app *app,
                         const struct redaction_args *args, const struct redaction_known *known,
                         struct err *e) MUST_CHECK;

/* Returns whether a pattern can be used. The error does not contain it. */
bool redact_options_check_pattern(const char *pattern, struct err *e) MUST_CHECK;

/* Sets the format that is written: a cassette has placeholders without names. */
void redact_options_set_format(struct redaction *r, const struct format *format);

/* Warns if client messages with secrets were kept, as mcp-recorder keeps them: `where` stands
 * in front, `why` behind. */
void redact_options_warn_kept_requests(const struct redaction *r, const char *where,
                                       const char *why);

/* Redacts an error that came before redact_options_init(), of a wrong option for instance:
 * the values of all variables that the command line names, as far as it can be parsed, and
 * credentials. */
void redact_options_redact_early_err(char *const *argv, char *const *env, struct err *e);

#endif

/* cmd/rules-options.h - the options that ignore values of a message, and the rules made from
 * them (mcp/compare-rules.h). */
#ifndef CMD_RULES_OPTIONS_H
#define CMD_RULES_OPTIONS_H

#include "cmd/option.h"
#include "mcp/compare-rules.h"
#include "runtime/app.h"

struct rules_args {
    struct str_list ignore_fields, ignore_paths, rules;
};

/* Rows for the table of a command whose struct `args_type` has rules_args as `field`. `example`
 * is a path. */
#define RULES_OPTIONS(args_type, field, heading, example)                                      \
    { .name = "ignore-fields",                                                                 \
      .arg = "NAMES",                                                                          \
      .type = OPTION_LIST,                                                                     \
      .split = true,                                                                           \
      .group = heading,                                                                        \
      .offset = offsetof(args_type, field.ignore_fields),                                      \
      .help = "ignore members with these names, at any depth" },                               \
        { .name = "ignore-paths",                                                              \
          .arg = "PATH",                                                                       \
          .type = OPTION_LIST,                                                                 \
          .group = heading,                                                                    \
          .offset = offsetof(args_type, field.ignore_paths),                                   \
          .help = "ignore values at PATH, such as '" example "'" },                            \
    {                                                                                          \
        .name = "rules", .arg = "FILE", .type = OPTION_LIST, .paths = true, .group = heading,  \
        .offset = offsetof(args_type, field.rules),                                            \
        .help = "read rules for the comparison from a JSON file"                               \
    }

/* Adds the rules of the files, then those of the options. */
bool rules_options_read(struct compare_rules *rules, const struct app *app,
                        const struct rules_args *args, struct err *e) MUST_CHECK;

/* Adds one rule for each of the paths; an error names `option`. */
bool rules_options_add_paths(struct compare_rules *rules, const struct str_list *paths,
                             enum compare_path_kind kind, const char *option,
                             struct err *e) MUST_CHECK;

#endif

/* cmd/gate-options.h - the options of check that are conditions on a recording (check/gate.h,
 * check/assertion.h). */
#ifndef CMD_GATE_OPTIONS_H
#define CMD_GATE_OPTIONS_H

#include "check/assertion.h"
#include "check/gate.h"
#include "cmd/option.h"

struct gate_args {
    struct str_list expect_tools, forbid_tools, assertions;
    struct gate_limit errors, server_us, result_bytes, surface_bytes, age_us;
};

#define GATE_GROUP "Conditions"

/* Parse the value of a limit (OPTION_CUSTOM) into a struct gate_limit: a number, a time, a
 * size. */
bool gate_options_parse_count(void *limit, const char *text, struct err *e) MUST_CHECK;
bool gate_options_parse_duration(void *limit, const char *text, struct err *e) MUST_CHECK;
bool gate_options_parse_size(void *limit, const char *text, struct err *e) MUST_CHECK;

/* Rows for the table of a command whose struct `args_type` has gate_args as `field`. */
#define GATE_OPTIONS(args_type, field)                                                         \
    { .name = "expect-tool",                                                                   \
      .arg = "NAMES",                                                                          \
      .type = OPTION_LIST,                                                                     \
      .split = true,                                                                           \
      .keep_empty = true,                                                                      \
      .group = GATE_GROUP,                                                                     \
      .offset = offsetof(args_type, field.expect_tools),                                       \
      .help = "each of these tools must be called; '*' stands for any text" },                 \
        { .name = "forbid-tool",                                                               \
          .arg = "NAMES",                                                                      \
          .type = OPTION_LIST,                                                                 \
          .split = true,                                                                       \
          .keep_empty = true,                                                                  \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.forbid_tools),                                   \
          .help = "none of these tools may be called" },                                       \
        { .name = "max-errors",                                                                \
          .arg = "COUNT",                                                                      \
          .type = OPTION_CUSTOM,                                                               \
          .parse = gate_options_parse_count,                                                   \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.errors),                                         \
          .help = "at most COUNT calls of the client may fail" },                              \
        { .name = "max-server-time",                                                           \
          .arg = "TIME",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = gate_options_parse_duration,                                                \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.server_us),                                      \
          .help = "the server works at most this long on a call; the time in which it waits "  \
                  "for the client does not count" },                                           \
        { .name = "max-result-size",                                                           \
          .arg = "SIZE",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = gate_options_parse_size,                                                    \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.result_bytes),                                   \
          .help = "the result of a tool, prompt or resource has at most this size as JSON" },  \
        { .name = "max-surface-bytes",                                                         \
          .arg = "SIZE",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = gate_options_parse_size,                                                    \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.surface_bytes),                                  \
          .help = "the definitions of all tools have at most this size as JSON" },             \
        { .name = "max-age",                                                                   \
          .arg = "TIME",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = gate_options_parse_duration,                                                \
          .group = GATE_GROUP,                                                                 \
          .offset = offsetof(args_type, field.age_us),                                         \
          .help = "the recording was made at most this long ago: 30d" },                       \
    {                                                                                          \
        .name = "assert", .arg = "EXPRESSION", .type = OPTION_LIST, .group = GATE_GROUP,       \
        .offset = offsetof(args_type, field.assertions),                                       \
        .help = "the number of operations that a filter matches: "                             \
                "'count(tool:search is:error) == 0'"                                           \
    }

/* Prepares the conditions; release them in any case. The texts of the options are borrowed. */
struct gate_options {
    struct gate_conditions conditions;
    struct assertion_list assertions;
};
bool gate_options_read(struct gate_options *o, const struct gate_args *args,
                       struct err *e) MUST_CHECK;
void gate_options_release(struct gate_options *o);

/* Rejects conditions of the table `rows` that the command line has together with `with`, such
 * as "--fix". */
bool gate_options_reject(const struct option *rows, const struct operands *in, const char *with,
                         struct err *e) MUST_CHECK;

#endif

/* cmd/writer-options.h - the options of convert that choose how a format is written.
 *
 * They fill a struct format_options; the row of a format names those that it takes. To add one:
 * a field in struct format_options, its name in the row of the format, and a row of the macro
 * for the table of convert, in the group WRITER_GROUP. */
#ifndef CMD_WRITER_OPTIONS_H
#define CMD_WRITER_OPTIONS_H

#include "cmd/option.h"
#include "format/format.h"

#define WRITER_GROUP "For some formats"

/* The rows of the formats of traces, for a field of that type in `args_type`. */
#define WRITER_TRACE_OPTIONS(args_type, field)                                                 \
    { .name = "payloads",                                                                      \
      .type = OPTION_FLAG,                                                                     \
      .group = WRITER_GROUP,                                                                   \
      .offset = offsetof(args_type, field.payloads),                                           \
      .help = "add arguments and results to spans" },                                          \
        { .name = "mplp",                                                                      \
          .type = OPTION_FLAG,                                                                 \
          .group = WRITER_GROUP,                                                               \
          .offset = offsetof(args_type, field.mplp),                                           \
          .help = "add the attributes of MPLP to spans" },                                     \
        { .name = "plan-id",                                                                   \
          .arg = "UUID",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = writer_options_parse_uuid,                                                  \
          .group = WRITER_GROUP,                                                               \
          .offset = offsetof(args_type, field.plan_id),                                        \
          .help = "the plan of the trace in MPLP" },                                           \
        { .name = "context-id",                                                                \
          .arg = "UUID",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = writer_options_parse_uuid,                                                  \
          .group = WRITER_GROUP,                                                               \
          .offset = offsetof(args_type, field.context_id),                                     \
          .help =                                                                              \
              "the context of the trace in MPLP, instead of one made from the recording" },    \
        { .name = "step-id",                                                                   \
          .arg = "UUID",                                                                       \
          .type = OPTION_CUSTOM,                                                               \
          .parse = writer_options_parse_uuid,                                                  \
          .group = WRITER_GROUP,                                                               \
          .offset = offsetof(args_type, field.step_id),                                        \
          .help = "the step that the calls belong to in MPLP" },                               \
    {                                                                                          \
        .name = "agent-role", .arg = "ROLE", .type = OPTION_CUSTOM,                            \
        .parse = writer_options_parse_text, .group = WRITER_GROUP,                             \
        .offset = offsetof(args_type, field.agent_role),                                       \
        .help = "the role of the agent in MPLP, instead of mcp.client and mcp.server"          \
    }

/* Parsers of option rows, for a field of type struct str. A UUID must have version 4. */
bool writer_options_parse_uuid(void *field, const char *text, struct err *e) MUST_CHECK;
bool writer_options_parse_text(void *field, const char *text, struct err *e) MUST_CHECK;

/* Rejects an option of the group WRITER_GROUP in the table `rows` if the command line has it
 * and the format does not take it. Names the formats that do. */
bool writer_options_check(const struct option *rows, const struct operands *in,
                          const struct format *to, struct err *e) MUST_CHECK;

#endif

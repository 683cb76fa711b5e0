/* cmd/match-options.h - the options that say which recorded request answers a live one, and
 * what the matcher makes of them (match/match.h). */
#ifndef CMD_MATCH_OPTIONS_H
#define CMD_MATCH_OPTIONS_H

#include "cmd/rules-options.h"
#include "match/match.h"

enum { MATCH_OPTIONS_TOOLS_MAX = 256 };

struct match_args {
    struct str_list modes; /* "MODE" or "TOOL=MODE" */
    struct rules_args rules;
};

extern const struct option_choice match_options_modes[];

#define MATCH_OPTIONS_GROUP "Matching"

/* Rows for the table of a command whose struct `args_type` has match_args as `field`. */
#define MATCH_OPTIONS(args_type, field)                                                        \
    { .name = "match",                                                                         \
      .aliases = { "match-mode" },                                                             \
      .arg = "[TOOL=]MODE",                                                                    \
      .type = OPTION_LIST,                                                                     \
      .split = true,                                                                           \
      .choices = match_options_modes,                                                          \
      .thoughtjack_env = true,                                                                 \
      .group = MATCH_OPTIONS_GROUP,                                                            \
      .offset = offsetof(args_type, field.modes),                                              \
      .help = "how to match requests, or calls of one tool; default by-request, with -r "      \
              "sequential" },                                                                  \
        RULES_OPTIONS(args_type, field.rules, MATCH_OPTIONS_GROUP, "$.params.arguments.query")

/* Rows for option_reject_unused(): with `without_params` requests are not compared. */
#define MATCH_OPTIONS_UNUSED(without_params)                                                   \
    { "ignore-fields", "a mode that compares params", (without_params) },                      \
        { "ignore-paths", "a mode that compares params", (without_params) },                   \
    {                                                                                          \
        "rules", "a mode that compares params", (without_params)                               \
    }

/* Owns what match_options borrows. */
struct match_config {
    struct compare_rules rules;
    struct match_tool_mode tools[MATCH_OPTIONS_TOOLS_MAX];
    size_t tool_count;
};

void match_config_init(struct match_config *c);
void match_config_release(struct match_config *c);

/* Fills in the modes and the ignored values of `to`; `preset` is the mode if none is given.
 * `number_text`: numbers are compared as text. Logs rules that have no effect: as a warning if
 * an option has them, else as a detail, because a rules file may be shared with verify. */
bool match_config_read(struct match_config *c, const struct app *app,
                       const struct match_args *args, enum match_mode preset, bool number_text,
                       struct match_options *to, struct err *e) MUST_CHECK;

#endif

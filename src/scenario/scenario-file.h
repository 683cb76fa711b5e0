/* scenario/scenario-file.h - parses a scenarios file: which server, and which requests to send.
 *
 * The format is that of mcp-recorder's record-scenarios and more (docs/scenarios.md). A file is
 * validated completely before anything is run. Unknown keys are errors, except those that start
 * with "x-", and "output", which mcp-recorder ignores. Does no I/O. */
#ifndef SCENARIO_SCENARIO_FILE_H
#define SCENARIO_SCENARIO_FILE_H

#include "base/str-list.h"
#include "scenario/scenario-action.h"
#include "scenario/scenario-answers.h"
#include "scenario/scenario-expect.h"
#include "yaml/yaml-tree.h"

struct scenario_action {
    const struct scenario_action_kind *kind;
    struct str method, subject; /* may have references to saved values */
    struct str params;          /* JSON, may have references to saved values; empty: none */
    bool all_pages;
    struct scenario_expect expect;
    uint32_t line;
};

struct scenario_plan {
    struct str name, description;
    struct scenario_action *actions;
    size_t action_count;
    struct scenario_answers answers;
    struct str_list headers; /* "Name: value" */
    uint32_t line;
};

struct scenario_file {
    struct yaml_tree tree;
    const char *url; /* NULL: the server is a command */
    char **argv;     /* NULL-terminated */
    size_t argc;
    struct str_list env; /* NAME=VALUE, for the command */
    const char *cwd;     /* its folder; NULL: ours */

    bool redact_server_url, redact_defaults;
    struct str_list redact_env, redact_patterns, redact_members;
    const struct yaml_value *redact_at; /* NULL: not given */

    const char *format; /* NULL: not given */
    const struct yaml_value *format_at;
    const struct yaml_value *unused_output; /* the key "output"; NULL: it is not there */
    struct scenario_plan *plans;
    size_t plan_count;
};

/* Parses a text; `path` is for errors, `env` has the variables. ERR_INPUT with line and column;
 * ERR_USAGE for a variable that is not set. The caller releases `f` in any case. Borrows `path`
 * as long as the file. */
bool scenario_file_parse(struct scenario_file *f, struct str text, const char *path,
                         char *const *env, struct err *e) MUST_CHECK;
void scenario_file_release(struct scenario_file *f);

/* Returns the scenario of that name; else ERR_USAGE, with the names that there are. */
const struct scenario_plan *scenario_file_find(const struct scenario_file *f, const char *name,
                                               struct err *e) MUST_CHECK;

#endif

/* report/scenario-lines.h - writes the progress of scenarios in the lines of mcp-recorder's
 * record-scenarios.
 *
 *     Target: stdio: node server.js
 *     Scenarios: 2
 *     Output: cassettes/
 *
 *       tools -> tools.json (5 interactions)
 *       errors -> FAILED: tools/call search (scenarios.yml:14)
 *           $.result.isError: expected true, got false
 *       prompts -> FAILED: cannot write 'cassettes/prompts.json': it is a directory, not a file
 *       last -> not run: interrupted by signal 2
 *
 *     Done: 1 scenario(s), 5 total interactions. 2 failed: errors, prompts; 1 not run
 *
 * The lines of other scenarios are ours: mcp-recorder ends with the first one. Text of files
 * and servers is escaped for the terminal. */
#ifndef REPORT_SCENARIO_LINES_H
#define REPORT_SCENARIO_LINES_H

#include "base/buf.h"
#include "trace/call-verdict.h"

/* Borrowed texts. */
struct scenario_lines_run {
    struct str target;
    bool is_command;   /* the target is a command line, not a URL */
    uint64_t count;    /* scenarios that will be run */
    struct str folder; /* of the recordings */
};

struct scenario_lines {
    struct buf *to; /* borrowed */
    uint64_t done, interactions;
    struct buf failed;        /* names */
    struct buf reason;        /* of the latest failure */
    struct str latest_failed; /* its name; borrowed */
    uint64_t failed_count, skipped_count;
};

void scenario_lines_init(struct scenario_lines *l, struct buf *to);
void scenario_lines_release(struct scenario_lines *l);

void scenario_lines_begin(struct scenario_lines *l, const struct scenario_lines_run *run);

/* A scenario was recorded to `file`, a name without its folder. */
void scenario_lines_recorded(struct scenario_lines *l, struct str name, struct str file,
                             uint64_t interactions);

/* A scenario failed: `v` is its failed request in the scenarios file `file`. A reason, such as
 * how the server ended, may follow; it is written unless it ends with
 * the one of `v`. */
void scenario_lines_failed(struct scenario_lines *l, struct str name, struct str file,
                           const struct call_verdict *v);
void scenario_lines_add_reason(struct scenario_lines *l, struct str why);

/* The recording of a scenario cannot be written, so that it failed, too. */
void scenario_lines_not_written(struct scenario_lines *l, struct str name, struct str why);

/* A scenario is not run. */
void scenario_lines_skipped(struct scenario_lines *l, struct str name, struct str why);

void scenario_lines_end(struct scenario_lines *l);

#endif

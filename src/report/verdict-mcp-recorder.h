/* report/verdict-mcp-recorder.h - writes verdicts in the lines of mcp-recorder's verify.
 *
 *     Verifying golden.json against stdio: node server.js
 *     Interactions: 2
 *
 *       1. initialize [PASS]
 *       2. tools/call [add] [FAIL]
 *           $.result.structuredContent.result: type int != float
 *             expected: 5
 *             actual:   5.0
 *
 *     Result: 1/2 passed, 1 failed
 *
 * Differences are composed from rule, path and values of the findings; values are spelled as
 * Python does. A call that was not sent counts as failed, with its reason in place of
 * differences. Text of files and servers is escaped for the terminal. */
#ifndef REPORT_VERDICT_MCP_RECORDER_H
#define REPORT_VERDICT_MCP_RECORDER_H

#include "report/verdict-report.h"

/* Borrowed texts. */
struct verdict_mcp_recorder_options {
    bool is_command;                          /* the target is a command line, not a URL */
    struct str ignored_fields, ignored_paths; /* "a, b"; may be empty */
};

struct verdict_mcp_recorder {
    struct verdict_report report;
    struct buf *to;                       /* borrowed */
    const struct verdict_report_run *run; /* set by begin() */
    struct verdict_mcp_recorder_options options;
};

void verdict_mcp_recorder_init(struct verdict_mcp_recorder *r, struct buf *to,
                               const struct verdict_mcp_recorder_options *options);

/* Appends the lines of a finding, each with its newline, indented by two blanks or more. */
void verdict_mcp_recorder_write_difference(struct buf *to, const struct finding *f);

#endif

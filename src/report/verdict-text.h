/* report/verdict-text.h - writes verdicts as text for a terminal or a log.
 *
 *     golden.jsonl → node server.js  (github-mcp 2.4.0, protocol 2025-11-25)
 *
 *       ✓  1  tools/list                      #3      9.1 ms
 *       ✗  2  tools/call search_issues        #5      212 ms
 *             $.result.content[0].text  (- recorded, + live)
 *               - "3 issues found"
 *               + "3 results found"
 *
 *     1 passed · 1 failed · 1.4 s
 *     accept: mcpreel verify golden.jsonl --update=2 -- node server.js
 *
 * The first number is that of the call (--update), the second that of the recorded request
 * (show FILE:#5). Text of files and servers is escaped; values are cut around their
 * difference. */
#ifndef REPORT_VERDICT_TEXT_H
#define REPORT_VERDICT_TEXT_H

#include "report/verdict-report.h"

struct verdict_text_options {
    size_t width; /* of the terminal; 0: not a terminal */
    bool color;
    bool verbose; /* show volatile and ignored differences, notes, and all differences of a
                     call */
};

struct verdict_text {
    struct verdict_report report;
    struct buf *to;                       /* borrowed */
    const struct verdict_report_run *run; /* set by begin() */
    struct verdict_text_options options;
    size_t number_columns; /* of the numbers of calls, by the number of calls of the run */
    uint64_t findings[FINDING_NOTE + 1]; /* of no call */
    bool legend_shown;                   /* "- recorded, + live"; set by the first difference */
    bool below_calls;                    /* set by the first finding of no call that is shown */
};

/* The differences of a call that are shown without `verbose`. */
enum { VERDICT_TEXT_FINDINGS = 10 };

void verdict_text_init(struct verdict_text *t, struct buf *to,
                       const struct verdict_text_options *options);

#endif

/* report/verdict-junit.h - writes verdicts as a JUnit XML file.
 *
 * One suite for each recording, one test case for each call: its name is "tools/call search
 * #7", its class the name of the server (else its target, else the command). Failed calls have
 * <failure>, blocked and skipped ones <skipped>; a failed call that --update accepted counts as
 * passed. An error that belongs to no call is a failed test case; other findings are in
 * <system-out>.
 *
 * The file is valid XML 1.0 for every input; no text is longer than VERDICT_JUNIT_TEXT. */
#ifndef REPORT_VERDICT_JUNIT_H
#define REPORT_VERDICT_JUNIT_H

#include "report/verdict-report.h"

enum { VERDICT_JUNIT_TEXT = 64 << 10 }; /* bytes; several parsers accept no more */

struct verdict_junit {
    struct verdict_report report;
    struct buf *to;                       /* borrowed; complete after finish() */
    const struct verdict_report_run *run; /* set by begin() */
    struct buf suites; /* of complete recordings; the element around them has totals */
    struct buf cases;  /* the test cases; the element before them has totals */
    struct buf output; /* findings of no call that are no errors */
    struct verdict_junit_counts {
        uint64_t tests, failures, skipped;
        int64_t duration_us;
    } counts, all; /* of this recording; of all complete ones */
};

void verdict_junit_init(struct verdict_junit *j, struct buf *to);
void verdict_junit_release(struct verdict_junit *j);

#endif

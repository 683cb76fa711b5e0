/* report/verdict-github.h - writes verdicts as annotations of GitHub Actions.
 *
 * One "::error" line for each failed call and each error that belongs to no call, one
 * "::warning" line for each call or finding with a warning; errors come first. GitHub shows at
 * most VERDICT_GITHUB_MAX of each in a step, so all recordings together have no more: the last
 * one says how many are left out. */
#ifndef REPORT_VERDICT_GITHUB_H
#define REPORT_VERDICT_GITHUB_H

#include "report/verdict-report.h"

enum { VERDICT_GITHUB_MAX = 10 };

/* The annotations of one severity. */
struct verdict_github_lines {
    struct buf first; /* lines; one less than VERDICT_GITHUB_MAX */
    struct buf last;  /* the line that is left out if there are more */
    uint64_t count;
};

struct verdict_github {
    struct verdict_report report;
    struct buf *to;                       /* borrowed; complete after finish() */
    const struct verdict_report_run *run; /* set by begin() */
    struct verdict_github_lines lines[FINDING_WARNING + 1];
};

void verdict_github_init(struct verdict_github *g, struct buf *to);
void verdict_github_release(struct verdict_github *g);

#endif

/* report/verdict-markdown.h - writes verdicts as Markdown for a job summary or a comment of
 * GitHub.
 *
 * For each recording a title with the counts, a table of what did not pass, the passed calls in
 * a collapsed section, and the next commands; a title with all counts before several
 * recordings. Text of files and servers is in code, escaped, so that it makes no markup, links,
 * mentions or issue references.
 *
 * Never longer than VERDICT_MARKDOWN_MAX: rows and recordings that do not fit are counted. */
#ifndef REPORT_VERDICT_MARKDOWN_H
#define REPORT_VERDICT_MARKDOWN_H

#include "report/verdict-report.h"

/* Bytes. A comment has at most 65,536 characters, a job summary 1 MiB. */
enum { VERDICT_MARKDOWN_MAX = 60000 };

/* Rows of a table, and the number of rows that were left out. */
struct verdict_markdown_rows {
    struct buf text;
    uint64_t left_out;
};

struct verdict_markdown {
    struct verdict_report report;
    struct buf *to;                       /* borrowed; complete after finish() */
    const struct verdict_report_run *run; /* set by begin() */
    struct verdict_markdown_rows failed;  /* failed calls and findings of no call */
    struct verdict_markdown_rows others;  /* blocked and skipped calls */
    struct verdict_markdown_rows passed;
    uint64_t findings[FINDING_NOTE + 1]; /* of no call */

    /* The following is of all complete recordings. */
    struct buf sections;
    uint64_t recordings, left_out;
    bool no_calls; /* as in struct verdict_report_run */
    struct call_verdict_totals all;
    uint64_t all_findings[FINDING_NOTE + 1]; /* of no call */
};

void verdict_markdown_init(struct verdict_markdown *m, struct buf *to);
void verdict_markdown_release(struct verdict_markdown *m);

#endif

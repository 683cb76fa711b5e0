/* report/verdict-sarif.h - writes verdicts as a SARIF 2.1.0 log, which code scanning reads.
 *
 * One run, one result for each failed call, each call with a warning, and each error or warning
 * of no call; errors come first. Notes are left out. A result has a location in the file that
 * the user named, from the root of the git repository, at the line if it is known, because
 * GitHub drops results without one; input from standard input has none. Its fingerprint is made
 * of rule, subject and path, and the number of earlier results with the same: it stays if lines
 * move.
 *
 * GitHub shows VERDICT_SARIF_MAX results of a run. If there are more, the last one says how
 * many are left out. Text of files and servers is escaped, and makes no links. */
#ifndef REPORT_VERDICT_SARIF_H
#define REPORT_VERDICT_SARIF_H

#include "base/arena.h"
#include "base/map.h"
#include "report/verdict-report.h"

enum { VERDICT_SARIF_MAX = 5000 };

/* The results of one severity. */
struct verdict_sarif_results {
    struct str *at; /* JSON objects */
    size_t kept, cap;
    uint64_t count; /* also those that are not kept */
};

struct verdict_sarif {
    struct verdict_report report;
    struct buf *to;                       /* borrowed; complete after finish() */
    const struct verdict_report_run *run; /* set by begin() */
    struct str command, file;             /* of the first run */
    struct str folder;                    /* set by the caller: work_tree_folder() */
    int exit_code;                        /* the highest one */
    struct verdict_sarif_results results[FINDING_WARNING + 1];
    struct map rules;        /* id to 1 + its index */
    struct map fingerprints; /* of rule, subject and path, to the number of results */
    struct arena arena;
};

void verdict_sarif_init(struct verdict_sarif *s, struct buf *to);
void verdict_sarif_release(struct verdict_sarif *s);

#endif

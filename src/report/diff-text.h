/* report/diff-text.h - writes the differences of two recordings as text for a terminal or a
 * log.
 *
 *     ~ tools/call search               #5 → #7
 *         $.result.content[0].text
 *           "found [-3-]{+4+} issues"
 *     + tools/call create                  → #9
 *     - tools/call delete              #11
 *     > tools/call read                #13 → #6    moved
 *
 *     1 changed · 1 added · 1 removed · 1 moved · 210 same
 *
 * Calls that are the same are not shown, unless their latency differs. Text of files is
 * escaped. Mirrors: with the recordings exchanged, "-" and "+" are exchanged. */
#ifndef REPORT_DIFF_TEXT_H
#define REPORT_DIFF_TEXT_H

#include "base/buf.h"
#include "diff/call-diff.h"

struct diff_text_options {
    size_t width; /* columns of the terminal; 0: none */
    bool color;
    bool verbose; /* all differences of a call */
};

/* The differences of a call that are shown without `verbose`. */
enum { DIFF_TEXT_FINDINGS = 10 };

/* Appends the lines of an entry; none if there is nothing to show. */
void diff_text_write_entry(struct buf *to, const struct call_diff_entry *entry,
                           const struct diff_text_options *options);

/* Appends the line of the totals. */
void diff_text_write_totals(struct buf *to, const struct call_diff_totals *totals);

#endif

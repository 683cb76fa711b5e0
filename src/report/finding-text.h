/* report/finding-text.h - writes findings as plain text for reports that other programs show.
 *
 * Text of files and servers is escaped as for a terminal (base/term.h): a page in a browser can
 * be faked with bidi controls as well. */
#ifndef REPORT_FINDING_TEXT_H
#define REPORT_FINDING_TEXT_H

#include "base/buf.h"
#include "trace/call-verdict.h"

/* Appends one line without a newline: "$.result.x: 1 → 2", "$.result.x: MESSAGE: 1 → 2". Each
 * value and the message have at most `columns` columns. */
void finding_text_write_line(struct buf *to, const struct finding *f, size_t columns);

/* Appends the lines of a finding that belongs to no call, each with its newline: message, path,
 * "  - RECORDED", "  + LIVE", hint. */
void finding_text_write(struct buf *to, const struct finding *f, size_t columns);

/* Appends the lines of the findings of a call that have this severity, of at most `max` of
 * them, then "and N more". Path and message are on one line. */
void finding_text_write_call(struct buf *to, const struct call_verdict *v,
                             enum finding_severity severity, size_t max, size_t columns);

/* Returns the first finding of a severity; NULL: there is none. */
const struct finding *finding_text_first(const struct call_verdict *v,
                                         enum finding_severity severity);

#endif

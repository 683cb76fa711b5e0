/* report/findings.h - writes the findings of a recording as text and JSON. */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "ops/stats.h"
#include "json/write.h"

/* Returns the id of a finding for programs, such as "no-footer". Ids never change. */
const char *findings_id(enum stats_finding_kind what);

/* Finds the finding with an id; STATS_FINDING_COUNT: there is none. */
enum stats_finding_kind findings_find(struct str id);

/* Appends a sentence. It contains raw text of the file: the caller must escape it. */
void findings_write_text(struct buf *to, const struct stats *s, enum stats_finding_kind what);

/* Writes an object, see docs/json-output.md. */
void findings_write_json(struct json_out *o, const struct stats *s,
                         enum stats_finding_kind what);

#endif

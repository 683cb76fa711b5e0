/* report/findings.h - the findings of the statistics of a recording as a list, and such a list
 * as JSON. */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "ops/stats.h"
#include "trace/finding-list.h"
#include "json/write.h"

/* Returns the id of a finding for programs, such as "no-footer". */
const char *findings_id(enum stats_finding_kind what);

/* Finds the finding with an id, or with an id of version 1 of the JSON output;
 * STATS_FINDING_COUNT: there is none. */
enum stats_finding_kind findings_find(struct str id);

/* Adds a finding of each kind that was counted, unless it is ignored; `ignored` may be NULL.
 * Messages contain raw text of the file: the caller must escape them. */
void findings_collect(struct finding_list *to, const struct stats *s,
                      const bool ignored[STATS_FINDING_COUNT]);

/* Writes the member "findings", see docs/json-output.md. */
void findings_write_json(struct json_out *o, const struct finding_list *l);

#endif

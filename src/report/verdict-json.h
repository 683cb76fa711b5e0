/* report/verdict-json.h - writes verdicts as one JSON object on one line.
 *
 * The members are described in docs/json-output.md. */
#ifndef REPORT_VERDICT_JSON_H
#define REPORT_VERDICT_JSON_H

#include "report/verdict-report.h"
#include "json/write.h"

/* A larger value of a finding is left out; its size takes its place. */
enum { VERDICT_JSON_VALUE = 64 << 10 };

struct verdict_json {
    struct verdict_report report;
    struct json_out out;
    bool in_findings; /* the array of calls has ended; set by the first finding or end() */
};

/* `to` is borrowed and has a complete line after end(). */
void verdict_json_init(struct verdict_json *j, struct buf *to);

#endif

/* report/verdict-json.h - writes verdicts as JSON: one object on one line for each recording.
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
    struct buf findings; /* those of no call: they come after all calls */
};

/* `to` is borrowed and has a complete line after end(). */
void verdict_json_init(struct verdict_json *j, struct buf *to);
void verdict_json_release(struct verdict_json *j);

/* Writes a value of a finding on one line as the member `key`; one of more than
 * VERDICT_JSON_VALUE bytes as its size, as the member `size_key`; an empty one not at all. */
void verdict_json_write_value(struct json_out *o, struct str key, struct str size_key,
                              struct str value);

#endif

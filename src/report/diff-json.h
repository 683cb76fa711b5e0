/* report/diff-json.h - writes the differences of calls of two recordings as JSON.
 *
 * The members are described in docs/json-output.md. */
#ifndef REPORT_DIFF_JSON_H
#define REPORT_DIFF_JSON_H

#include "diff/call-diff.h"
#include "json/write.h"

/* A larger value of a difference is left out; its size takes its place. */
enum { DIFF_JSON_VALUE = 64 << 10 };

/* Appends an element of `calls`; nothing for a call that is the same, in its place, with about
 * the same latency. */
void diff_json_write_entry(struct json_out *o, const struct call_diff_entry *entry);

/* Appends the value of `totals`. */
void diff_json_write_totals(struct json_out *o, const struct call_diff_totals *totals);

/* Returns the word for a status: "changed". */
struct str diff_json_status(enum call_diff_status status);

#endif

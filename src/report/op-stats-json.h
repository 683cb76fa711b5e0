/* report/op-stats-json.h - writes a row of ops/op-stats.h as members of a JSON object, as
 * docs/json-output.md describes them. The caller opens and ends the object. */
#ifndef REPORT_OP_STATS_JSON_H
#define REPORT_OP_STATS_JSON_H

#include "ops/op-stats.h"
#include "json/write.h"

/* `from`, `method` and `subject`; not for the shared row, which has no name. */
void op_stats_json_name(struct json_out *o, const struct op_stats_row *row);

/* The number of calls, of their further requests, and of each outcome. */
void op_stats_json_counts(struct json_out *o, const struct op_stats_row *row);

enum op_stats_json_time {
    OP_STATS_JSON_TOTAL,  /* p50_us, p95_us, max_us */
    OP_STATS_JSON_SERVER, /* server_p50_us, … */
    OP_STATS_JSON_WAIT,   /* wait_p50_us, … */
};

/* Quantiles and maximum; nothing if `h` is NULL. */
void op_stats_json_times(struct json_out *o, enum op_stats_json_time which,
                         const struct histogram *h);

/* Bytes of messages and results and, of a listed tool, of its definition. */
void op_stats_json_context(struct json_out *o, const struct op_stats_row *row);

#endif

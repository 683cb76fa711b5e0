/* ops/op-stats.h - totals of operations by method: calls, outcomes, times, bytes.
 *
 * Takes operations that have ended (ops/operation.h). A row is a direction, a method and its
 * tool, prompt or resource; not the task, because every task is new. A retry, a poll of a task
 * or a further page is no call of its own while the operation it continues is open: outcome and
 * time of the call are those of the first operation.
 *
 * Rows may be kept apart by a number of the caller's, the group, and merged from one table into
 * another.
 *
 * Bounded: a maximum of rows and one for all others; OP_STATS_TEXT bytes of each text. */
#ifndef OPS_OP_STATS_H
#define OPS_OP_STATS_H

#include "base/capped-table.h"
#include "base/histogram.h"
#include "ops/operation.h"

enum { OP_STATS_ROWS = 512, OP_STATS_TEXT = 256 };

/* Durations of answered calls, in microseconds. `server` and `wait` are NULL until the server
 * waited for the client; until then all of `total` is the server's. */
struct op_stats_times {
    struct histogram *total, *server, *wait;
};

struct op_stats_row {
    uint64_t first;             /* number of the first operation */
    uint64_t group;             /* op_stats.group at the time; undefined in the shared row */
    enum record_dir dir;        /* of the request; undefined in the shared row */
    struct str method, subject; /* empty in the shared row */
    uint64_t name_hash;         /* of both texts if one was truncated, else 0 */
    uint64_t calls;
    uint64_t retries, polls, pages;   /* further requests of these calls */
    uint64_t input_required, tasks;   /* calls that required input; calls that became a task */
    uint64_t outcomes[OUTCOME_COUNT]; /* of the calls */
    uint64_t cancelled;               /* cancelled calls, also those answered late */
    uint64_t unanswered;              /* calls, retries and pages without a response */
    uint64_t bytes;                   /* of all messages of the calls */
    uint64_t results, result_bytes,
        result_max;                    /* results of the calls: number, JSON, largest */
    uint64_t listings, definition_max; /* of a tool: lists with it; bytes of its definition */
    struct op_stats_times times;       /* all NULL: no times */
};

/* Removes secrets from a name before it is kept and truncated. The returned text is valid until
 * the next call. Calls with different secrets in the name keep their own rows in this table;
 * merged ones share a row. */
struct op_stats_cleaner {
    struct str (*clean)(struct op_stats_cleaner *self, struct str name);
};

struct op_stats {
    struct capped_table rows; /* of struct op_stats_row */
    uint64_t group;           /* of rows that are added; set by the caller, 0 at the start */
    struct op_stats_cleaner *cleaner; /* borrowed; NULL: names are kept as they are */
    uint64_t count;                   /* of all operations */
    uint64_t continuations; /* of those that continue another, which has the outcome */
    uint64_t outcomes[OUTCOME_COUNT]; /* of all but continuations */
    uint64_t cancelled, unanswered;   /* of requests; `unanswered` includes polls */
};

void op_stats_init(struct op_stats *c, size_t max_rows);
void op_stats_release(struct op_stats *c);

/* Adds an operation that has ended. */
void op_stats_add(struct op_stats *c, const struct operation *op);

/* Adds a definition from a list of tools to the row of the calls of that tool. */
void op_stats_add_definition(struct op_stats *c, struct str tool, uint64_t bytes);

/* Adds a row of another table to the row of the same name in the group of `c`; the shared row
 * (`shared`) to the shared row. Adds no totals of the table. */
void op_stats_merge_row(struct op_stats *c, const struct op_stats_row *row, bool shared);

/* At the end: sorts the rows by first operation. */
void op_stats_finish(struct op_stats *c);

/* Whether it is a request that continues no other. A retry, poll or page that came after the
 * end of its operation is a call of its own. */
bool op_stats_is_call(const struct operation *op);

/* The tool, prompt or resource of an operation: the second part of the name of its row. */
struct str op_stats_subject(const struct operation *op);

/* Whether a call counts as an error; whether it was answered, so that its times count. */
bool op_stats_is_error(const struct operation *op);
bool op_stats_is_answered(const struct operation *op);

/* The number of calls with a response, and of calls with a JSON-RPC, tool, HTTP or JSON error.
 */
uint64_t op_stats_answered(const struct op_stats_row *row);
uint64_t op_stats_errors(const struct op_stats_row *row);

#endif

/* check/gate.h - judges a recording by the conditions of the user: tools that must be called,
 * tools that must not be, and limits.
 *
 * Takes the events of operations, as an observer of the statistics (ops/stats.h); their rules
 * say what a call, an error and the time of a server are. At the end each condition that is not
 * met becomes a finding, whose rule is the name of the option: "max-errors". Conditions on
 * single calls have a finding for each tool, prompt or resource, at its worst call; a forbidden
 * tool at its first call.
 *
 * A condition that cannot be judged, because the recording has no times, no date or no list of
 * tools, is not met.
 *
 * Does no I/O and reads no clock. Bounded: GATE_ROWS names have a finding of their own, all
 * others share one. Borrows the conditions. */
#ifndef CHECK_GATE_H
#define CHECK_GATE_H

#include "base/str-list.h"
#include "ops/stats.h"
#include "trace/finding-list.h"

enum { GATE_ROWS = 512, GATE_TEXT = 256 };

/* The largest number that is allowed. */
struct gate_limit {
    bool given;
    int64_t most;
};

/* Names of tools in which `*` stands for any text, as in a filter. */
struct gate_pattern;
struct gate_patterns {
    struct gate_pattern *at; /* owned */
    size_t count;
};

/* The strings of the list are borrowed. ERR_USAGE: an empty name, or one that is too long.
 * Release them in any case. */
bool gate_patterns_read(struct gate_patterns *p, const struct str_list *names,
                        struct err *e) MUST_CHECK;
void gate_patterns_release(struct gate_patterns *p);

struct gate_conditions {
    struct gate_patterns expected, forbidden;
    struct gate_limit errors;
    struct gate_limit server_us; /* of a call */
    struct gate_limit result_bytes;
    struct gate_limit surface_bytes; /* of the definitions of all tools */
    struct gate_limit age_us;
};

/* Conditions on single calls. */
enum gate_call_rule {
    GATE_FORBID_TOOL,
    GATE_MAX_SERVER_TIME,
    GATE_MAX_RESULT_SIZE,
    GATE_CALL_RULES,
};

struct gate {
    struct operation_sink events; /* an observer of the statistics */

    /* Private. */
    const struct gate_conditions *conditions;
    bool *met;                                /* by expected pattern: such a tool was called */
    uint64_t outcomes[OUTCOME_COUNT], errors; /* of failed calls */
    uint64_t untimed;                         /* answered calls without a time */
    struct finding first_error;
    uint64_t list_seq, list_line;              /* of the first list of tools */
    struct capped_table rows[GATE_CALL_RULES]; /* of struct gate_row */
    struct arena texts;
};

void gate_init(struct gate *g, const struct gate_conditions *conditions);
void gate_release(struct gate *g);

/* Adds the findings, after stats_finish(). `now_us` is the time since 1970. */
void gate_finish(struct gate *g, const struct stats *s, int64_t now_us,
                 struct finding_list *to);

#endif

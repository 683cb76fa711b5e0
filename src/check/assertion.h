/* check/assertion.h - judges a recording by the number of operations that a filter matches.
 *
 *     count(tool:search is:error) == 0
 *
 *     assertion = "count(" filter ")" op number
 *     op        = "==" / "=" / "!=" / "<" / "<=" / ">" / ">="
 *
 * The filter is that of `show` (filter/filter.h), and an operation counts if the filter matches
 * it, not if only its parent does. Each assertion that is false becomes a finding of the rule
 * "assert", at the first operation that was counted.
 *
 * Does no I/O. Memory is bounded by the limits of open operations (trace/limits.h). */
#ifndef CHECK_ASSERTION_H
#define CHECK_ASSERTION_H

#include "base/map.h"
#include "base/str-list.h"
#include "filter/filter-operation.h"
#include "trace/finding-list.h"

struct assertion;
struct assertion_list {
    struct assertion *at; /* owned */
    size_t count;
};

/* Parses assertions; the texts are borrowed. ERR_USAGE says what is wrong. Release the list in
 * any case. */
bool assertion_list_read(struct assertion_list *l, const struct str_list *texts,
                         struct err *e) MUST_CHECK;
void assertion_list_release(struct assertion_list *l);

struct assertion_check {
    struct sink sink; /* put records here */

    /* Private. */
    const struct assertion_list *list; /* borrowed */
    struct assertion_count *counts;    /* by assertion */
    struct operation_sink events;
    struct op_builder builder;
    struct filter_context context;
    struct map open;     /* number of an operation -> its states, one for each assertion */
    int64_t previous_us; /* time of the previous message; -1: unknown */
};

/* `path` is the name of a recording without a name. */
void assertion_check_init(struct assertion_check *c, const struct assertion_list *list,
                          const char *path);
void assertion_check_release(struct assertion_check *c);

/* Adds the findings after the last record. */
void assertion_check_finish(struct assertion_check *c, struct finding_list *to);

#endif

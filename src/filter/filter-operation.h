/* filter/filter-operation.h - evaluates a filter on an operation, one message after the other.
 *
 * The state of an operation is kept from its first message to its end; the messages are not. A
 * term matches an operation if it matches the operation as a whole or the content of one of its
 * messages. */
#ifndef FILTER_FILTER_OPERATION_H
#define FILTER_FILTER_OPERATION_H

#include "filter/filter-context.h"

struct filter_operation {
    uint64_t matched_terms; /* result of filter_match_terms() so far */
    int64_t gap_us;         /* between its first message and the one before; -1: unknown */
    bool has_drift;         /* set if it lists a tool whose definition changed */
};

/* The state of an operation without messages. */
#define FILTER_OPERATION_INIT                                                                  \
    {                                                                                          \
        .gap_us = -1                                                                           \
    }

/* Adds the message of an event. `gap_us` is the time since the message before it in the
 * recording; -1: unknown. */
void filter_operation_add(struct filter_operation *o, const struct filter *f,
                          const struct filter_context *c, const struct operation_event *ev,
                          int64_t gap_us);

/* Returns whether the filter matches an operation that has ended. */
bool filter_operation_matches(const struct filter_operation *o, const struct filter *f,
                              struct filter_context *c, const struct operation *op,
                              const struct op_builder *builder);

#endif

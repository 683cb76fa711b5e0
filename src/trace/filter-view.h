/* trace/filter-view.h - what a filter sees of messages, operations and other records.
 *
 * Views borrow from what they were made of. */
#ifndef TRACE_FILTER_VIEW_H
#define TRACE_FILTER_VIEW_H

#include "trace/filter.h"
#include "trace/operation.h"

enum { FILTER_SLOW_US = 1000000 }; /* what "is:slow" means */

/* What is told of an operation when it has ended; nothing of its messages. */
void filter_view_operation(struct filter_view *v, const struct operation *op);

/* What a message adds to what is known of its operation: its payload alone. */
void filter_view_payload(struct filter_view *v, const struct record *r);

/* A message for itself, with what its operation says of it. `ev` has a record. */
void filter_view_message(struct filter_view *v, const struct operation_event *ev,
                         struct arena *a);

/* Any record that is no message. */
void filter_view_record(struct filter_view *v, const struct record *r);

#endif

/* filter/filter-view.h - makes filter views of messages, operations and other records.
 *
 * A view borrows from the object it was made of. */
#ifndef FILTER_FILTER_VIEW_H
#define FILTER_FILTER_VIEW_H

#include "filter/filter.h"
#include "ops/operation.h"

enum { FILTER_SLOW_US = 1000000 }; /* the limit of "is:slow" */

/* Sets the view to the data of an operation that has ended, without its messages. */
void filter_view_operation(struct filter_view *v, const struct operation *op);

/* Sets the view to the payload of a message, as one piece of an operation. */
void filter_view_payload(struct filter_view *v, const struct record *r);

/* Sets the view to a single message and the traits of its operation. `ev` has a record. */
void filter_view_message(struct filter_view *v, const struct operation_event *ev,
                         struct arena *a);

/* Sets the view to a record that is not a message. */
void filter_view_record(struct filter_view *v, const struct record *r);

#endif

/* filter/filter-context.h - the members of a filter view that come from the recording as a
 * whole: names of recording and server, session, wall time, changed definitions.
 *
 * Give it every record before the operations of that record are built. */
#ifndef FILTER_FILTER_CONTEXT_H
#define FILTER_FILTER_CONTEXT_H

#include "filter/filter.h"
#include "ops/op-builder.h"
#include "ops/tool-drift.h"

struct filter_context {
    bool has_drift; /* the current record lists a tool whose definition changed */

    /* Private. */
    struct buf server, trace; /* names */
    struct tool_drift drift;
    struct arena scratch;
    char session[24];
};

/* A recording without a name has that of its file, `path`. */
void filter_context_init(struct filter_context *c, const char *path);
void filter_context_release(struct filter_context *c);

/* Takes the names of a record; the latest ones count. */
void filter_context_note(struct filter_context *c, const struct record *r);

/* Sets names, session and wall time of a view. `has` and `session` are those of its operation
 * or record. The view borrows from `c` until the next call. */
void filter_context_apply(struct filter_context *c, struct filter_view *v, unsigned has,
                          uint64_t session, const struct op_builder *builder);

#endif

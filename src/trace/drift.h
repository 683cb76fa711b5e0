/* trace/drift.h - tools whose definition changes while a server runs.
 *
 * What a tool was when it was agreed to is not what it is now: that is worth knowing. A
 * change of spelling or order is none. Remembers the latest LIMIT_RECALL definitions. */
#ifndef TRACE_DRIFT_H
#define TRACE_DRIFT_H

#include "base/arena.h"
#include "trace/recall.h"
#include "trace/record.h"

struct drift {
    struct recall known; /* connection and name to a hash of the definition */
    struct arena scratch;
    uint64_t recordings;
};

void drift_init(struct drift *d);
void drift_release(struct drift *d);

/* Any record; true if it lists a tool that was defined otherwise before on its
 * connection. */
bool drift_see(struct drift *d, const struct record *r);

#endif

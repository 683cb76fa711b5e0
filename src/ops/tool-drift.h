/* ops/tool-drift.h - detects tools whose definition changes while a server runs.
 *
 * Compares definitions by value: spelling and member order do not matter. Remembers the latest
 * LIMIT_RECENT_KEYS definitions. */
#ifndef OPS_TOOL_DRIFT_H
#define OPS_TOOL_DRIFT_H

#include "base/arena.h"
#include "base/recent-keys.h"
#include "trace/record.h"

struct tool_drift {
    struct recent_keys definitions; /* connection and name -> hash of the definition */
    struct arena scratch;
    uint64_t recordings;
};

void tool_drift_init(struct tool_drift *d);
void tool_drift_release(struct tool_drift *d);

/* Call for every record. Returns true if it lists a tool whose definition changed on its
 * connection. */
bool tool_drift_check(struct tool_drift *d, const struct record *r);

#endif

/* cmd/inspect-odd.h - what is odd about a recording, as sentences. */
#ifndef CMD_INSPECT_ODD_H
#define CMD_INSPECT_ODD_H

#include "engine/stats.h"

/* The name by which programs know it: "no-footer". Never changes. */
const char *inspect_odd_id(enum stats_odd what);

/* What people read. Holds words of the file as they stand there: escape it. */
void inspect_odd_add(struct buf *to, const struct stats *s, enum stats_odd what);

#endif

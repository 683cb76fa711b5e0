/* replay/discover.h - describes a recorded server by its recording.
 *
 * For live clients that request what the recorded client did not: versions, capabilities and
 * server/discover. All texts are JSON, allocated in the arena. */
#ifndef REPLAY_DISCOVER_H
#define REPLAY_DISCOVER_H

#include "index/index.h"

/* Returns the recorded protocol versions as an array, the latest first. */
struct str discover_versions(const struct index *s, struct arena *a);

/* Returns the capabilities that the recorded methods imply, as an object. */
struct str discover_capabilities(const struct index *s, struct arena *a);

/* Returns the result of server/discover. */
struct str discover_result(const struct index *s, struct arena *a);

#endif

/* engine/discover.h - what a recorded server can do, as far as its recording shows.
 *
 * For clients that ask what was never asked while recording. All texts are JSON, made in
 * the arena. */
#ifndef ENGINE_DISCOVER_H
#define ENGINE_DISCOVER_H

#include "engine/script.h"

/* The revisions it spoke: an array, the latest first. */
struct str discover_versions(const struct script *s, struct arena *a);

/* By the methods that were asked of it: an object. */
struct str discover_capabilities(const struct script *s, struct arena *a);

/* The result of a server/discover. */
struct str discover_result(const struct script *s, struct arena *a);

#endif

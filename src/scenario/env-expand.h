/* scenario/env-expand.h - replaces ${NAME} and ${NAME:-default} in a text by values of the
 * environment, as mcp-recorder does in scenarios.
 *
 * A variable that is set but empty counts as set. Blanks around the name are ignored. $NAME,
 * ${NAME:x} and an unclosed ${ stay as they are; a value is not expanded again. */
#ifndef SCENARIO_ENV_EXPAND_H
#define SCENARIO_ENV_EXPAND_H

#include "base/arena.h"

/* `env` is a NULL-terminated list of NAME=value. Sets `*out` to the text itself if it has no
 * reference, else to a copy in `a`. Returns false if a variable is not set and has no default:
 * `*unset` is its name then. */
bool env_expand(struct str text, char *const *env, struct arena *a, struct str *out,
                struct str *unset) MUST_CHECK;

#endif

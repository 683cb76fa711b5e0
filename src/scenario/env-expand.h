/* scenario/env-expand.h - replaces ${NAME} and ${NAME:-default} in a text by values of the
 * environment, as mcp-recorder does in scenarios.
 *
 * A variable that is set but empty counts as set. Blanks around the name are ignored. $NAME,
 * ${NAME:x} and an unclosed ${ stay as they are; a value is not expanded again. */
#ifndef SCENARIO_ENV_EXPAND_H
#define SCENARIO_ENV_EXPAND_H

#include "base/arena.h"

enum env_expanded {
    ENV_EXPANDED,
    ENV_UNSET,   /* a variable is not set and has no default: `*unset` is its name */
    ENV_TOO_LONG /* the copy has more than `*room` bytes */
};

/* `env` is a NULL-terminated list of NAME=value. Sets `*out` to the text itself if it has no
 * reference, else to a copy in `a`, whose length is subtracted from `*room`. */
enum env_expanded env_expand(struct str text, char *const *env, size_t *room, struct arena *a,
                             struct str *out, struct str *unset) MUST_CHECK;

#endif

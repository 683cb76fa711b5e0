/* engine/compare.h - do recorded params and live ones ask for the same?
 *
 * Agrees with engine/leaves.h: params without a difference here have equal keys there. */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include "engine/leaves.h"
#include "mcp/message.h"
#include "json/diff.h"

/* Calls `found` for each difference that counts; false from it ends the comparison.
 * `mask`: what was redacted in the recorded params, beyond what says so itself. */
void compare_params(struct json_val recorded, struct json_val live,
                    const struct leaf_rules *rules, struct leaf_mask mask,
                    bool (*found)(void *arg, const struct json_difference *d), void *arg);

bool compare_same(struct json_val recorded, struct json_val live,
                  const struct leaf_rules *rules, struct leaf_mask mask);

/* A recorded request that is the live one but for its id, letter by letter. Then nothing has to
 * be parsed to know that they are the same. */
bool compare_same_text(struct str recorded, const struct mcp_message *live);

#endif

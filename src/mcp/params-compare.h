/* mcp/params-compare.h - compares recorded params with live ones.
 *
 * Agrees with mcp/params-hash.h: params without a difference have equal hashes. */
#ifndef MCP_PARAMS_COMPARE_H
#define MCP_PARAMS_COMPARE_H

#include "mcp/message.h"
#include "mcp/params-hash.h"
#include "json/diff.h"

/* Calls `found` for each difference that counts; false from it ends the comparison. `mask`
 * lists redacted paths of the recorded params, in addition to placeholders in their values. */
void params_compare(struct json_val recorded, struct json_val live,
                    const struct params_rules *rules, struct params_mask mask,
                    bool (*found)(void *arg, const struct json_difference *d), void *arg);

/* True if params_compare() finds no difference. */
bool params_equal(struct json_val recorded, struct json_val live,
                  const struct params_rules *rules, struct params_mask mask);

/* True if the text of a recorded request equals the live one except for the id. A fast path:
 * the recorded text need not be parsed. */
bool params_text_equal(struct str recorded, const struct mcp_message *live);

#endif

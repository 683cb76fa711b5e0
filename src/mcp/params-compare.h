/* mcp/params-compare.h - compares recorded params with live ones.
 *
 * Agrees with mcp/params-hash.h: params without a difference that counts have equal hashes. */
#ifndef MCP_PARAMS_COMPARE_H
#define MCP_PARAMS_COMPARE_H

#include "mcp/message.h"
#include "mcp/params-hash.h"
#include "json/diff.h"

/* Why a difference does not count. */
enum params_excuse {
    PARAMS_NO_EXCUSE, /* it counts */
    PARAMS_REDACTED,  /* one of the values was redacted */
    PARAMS_IGNORED,   /* by a rule of the user (mcp/params-ignore.h) */
};

struct params_difference {
    enum params_excuse excuse;
    size_t rule;                   /* PARAMS_IGNORED: its number */
    struct json_location location; /* inside the params */
    struct json_val recorded, live;
}; /* all valid during the call */

/* Returns false to end the comparison. */
typedef bool params_found_fn(void *arg, const struct params_difference *d);

/* Calls `found` for each difference that counts. `mask` lists redacted paths of the recorded
 * params, in addition to placeholders in their values. */
void params_compare(struct json_val recorded, struct json_val live,
                    const struct params_rules *rules, struct params_mask mask,
                    params_found_fn *found, void *arg);

/* The same, and calls `found` also for each difference with an excuse. */
void params_compare_all(struct json_val recorded, struct json_val live,
                        const struct params_rules *rules, struct params_mask mask,
                        params_found_fn *found, void *arg);

/* True if params_compare() finds no difference. */
bool params_equal(struct json_val recorded, struct json_val live,
                  const struct params_rules *rules, struct params_mask mask);

/* True if the text of a recorded request equals the live one except for the id. A fast path:
 * the recorded text need not be parsed. */
bool params_text_equal(struct str recorded, const struct mcp_message *live);

#endif

/* engine/audience.h - what a live client can be told and asked, by what it says of itself. */
#ifndef ENGINE_AUDIENCE_H
#define ENGINE_AUDIENCE_H

#include "mcp/method.h"

/* Whether a client knows what it is asked. `capabilities` is its own object, as JSON; the
 * revision may be unknown. */
bool audience_can_be_asked(struct str capabilities, enum mcp_version version, struct str method,
                           struct json_val params);

/* How loud a log message is, or has to be. The era without sessions has no logs but for
 * requests that say from which level on; before it the server alone decides. */
enum audience_level {
    AUDIENCE_ALL = 0,
    AUDIENCE_DEBUG,
    AUDIENCE_EMERGENCY = AUDIENCE_DEBUG + 7,
    AUDIENCE_NONE,
};

/* From which level on a request with this _meta wants to hear of logs; AUDIENCE_ALL if it is
 * not its to say. */
enum audience_level audience_level(struct json_val meta);

/* Whether a message is no log, or one of at least that level. One of no known level is told to
 * all who hear of logs. */
bool audience_hears(enum audience_level from, struct json_val message);

#endif

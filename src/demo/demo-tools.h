/* demo/demo-tools.h - implements the tools of the demo server, including those that respond
 * later.
 *
 * weather has structured output, count reports progress over time, divide can fail, haiku uses
 * sampling. In a changed server the error of divide has another text, so that `verify` has a
 * difference to find. Does not know the rest of the server. */
#ifndef DEMO_DEMO_TOOLS_H
#define DEMO_DEMO_TOOLS_H

#include "base/arena.h"
#include "engine/actions.h"
#include "mcp/message.h"
#include "json/write.h"

struct demo_tools {
    struct actions *actions;             /* borrowed */
    struct arena arena;                  /* for one step */
    struct buf body;                     /* the result or params being composed */
    struct demo_tools_pending *pending;  /* calls without a response so far */
    uint64_t request_count, timer_count; /* server requests sent, timers set */
    bool changed; /* one response differs, as of a later version of the server. Set by the owner
                   */

    /* Set from initialize and logging/setLevel: */
    bool can_sample; /* the client supports sampling */
    bool wants_info; /* it gets log messages of level info; the default */
};

void demo_tools_init(struct demo_tools *t, struct actions *actions);
void demo_tools_release(struct demo_tools *t);

void demo_tools_list(struct json_out *o); /* writes the definitions as an array */

/* Handles a tools/call; the response may be sent later. False: there is no such tool. */
bool demo_tools_call(struct demo_tools *t, const struct mcp_message *message);

/* Returns whether a call will be answered by a timer alone. */
bool demo_tools_has_timers(const struct demo_tools *t);

void demo_tools_handle_response(struct demo_tools *t, const struct mcp_message *message);
void demo_tools_handle_cancelled(struct demo_tools *t, struct json_val id);
void demo_tools_handle_timer(struct demo_tools *t, uint64_t timer);

#endif

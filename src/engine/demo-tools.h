/* engine/demo-tools.h - the tools of the demo server, and the calls that take a while.
 *
 * weather has structured output, count takes its time and reports progress, divide
 * can fail, haiku asks the client's model. Knows nothing of the rest of the server. */
#ifndef ENGINE_DEMO_TOOLS_H
#define ENGINE_DEMO_TOOLS_H

#include "base/arena.h"
#include "engine/say.h"
#include "mcp/message.h"
#include "json/write.h"

struct demo_tools {
    struct say *say;                    /* borrowed */
    struct arena arena;                 /* for one step */
    struct buf body;                    /* the result or params that are being composed */
    struct demo_tools_pending *pending; /* calls that are not answered yet */
    uint64_t questions, timers;         /* asked and set so far */

    /* What the client has said of itself: */
    bool can_sample; /* it has a model */
    bool wants_info; /* log messages of level info; so it is unless it says otherwise */
};

void demo_tools_init(struct demo_tools *t, struct say *say);
void demo_tools_release(struct demo_tools *t);

void demo_tools_list(struct json_out *o); /* their definitions, as an array */

/* Answers a tools/call now or later; false: there is no such tool. */
bool demo_tools_call(struct demo_tools *t, const struct mcp_message *live);

/* Whether a call will be answered for which only time must pass. */
bool demo_tools_need_time(const struct demo_tools *t);

void demo_tools_hear_answer(struct demo_tools *t, const struct mcp_message *live);
void demo_tools_hear_cancelled(struct demo_tools *t, struct json_val id);
void demo_tools_hear_timer(struct demo_tools *t, uint64_t timer);

#endif

/* scenario/scenario.h - runs one scenario against a server: handshake, actions in order, and a
 * verdict on each request.
 *
 *   BEGIN     -> HANDSHAKE [EVENT_OPENED: initialize is sent]
 *   HANDSHAKE -> ACTION    [its result: notifications/initialized and the first request are
 *                           sent]
 *   ACTION    -> ACTION    [a response that is as expected: the next request is sent]
 *   any       -> DONE      [all actions are done; or one failed: the rest is blocked]
 *
 * An engine (engine/engine.h) on client/mcp-session. The ids are those of mcp-recorder: 0 for
 * initialize, then 1, 2, …. Server requests get the answers of the scenario; without one they
 * are rejected. An error response is no failure, except to initialize; no response is. */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "client/mcp-session.h"
#include "scenario/scenario-file.h"
#include "trace/call-verdict.h"

enum { SCENARIO_PAGES_MAX = 1000 }; /* of one list */

/* The version that mcp-recorder asks for. */
#define SCENARIO_PROTOCOL "2025-11-25"

struct scenario_events {
    /* Once for initialize and each action, in order. */
    void (*verdict)(void *to, const struct call_verdict *v);
};

enum scenario_state { SCENARIO_BEGIN, SCENARIO_HANDSHAKE, SCENARIO_ACTION, SCENARIO_DONE };

struct scenario {
    const struct scenario_plan *plan;
    uint32_t ordinal; /* of the scenario in the file, from 1 */
    const struct scenario_events *events;
    void *to;
    struct mcp_session mcp;
    struct scenario_values values;
    enum scenario_state state;
    size_t action;                  /* SCENARIO_ACTION: the current one */
    uint32_t number;                /* of the last verdict */
    uint64_t responses;             /* that came */
    bool failed;                    /* set with the first failed verdict */
    size_t samplings, elicitations; /* server requests that were answered */

    /* The pages of the current list: */
    struct buf items, cursor;
    size_t pages;
    int64_t pages_us;   /* time of all pages */
    struct json merged; /* the response with the items of all pages */
    struct buf merged_text;
    struct arena arena; /* for one event */
};

/* `first_number` numbers the verdicts. Borrows everything. */
void scenario_init(struct scenario *s, const struct scenario_plan *plan, uint32_t ordinal,
                   uint32_t first_number, int64_t timeout_us, struct action_sink *out,
                   const struct scenario_events *events, void *to);
void scenario_release(struct scenario *s);

void scenario_step(struct scenario *s, const struct event *ev);

/* Ends a scenario that gets no more events: the current request failed for the reason `why`,
 * the rest is blocked. Does nothing once it is done. */
void scenario_abandon(struct scenario *s, struct str why);

#endif

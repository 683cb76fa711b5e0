/* scenario/scenario.h - the engine of one scenario: decides which request is sent next, and
 * gives a verdict on each response.
 *
 *   BEGIN      -> INITIALIZE [EVENT_OPENED: initialize is sent]
 *   INITIALIZE -> ACTION     [its result: notifications/initialized and the first request are
 *                             sent]
 *   INITIALIZE -> DISCOVER   [it was rejected: server/discover is sent]
 *   DISCOVER   -> ACTION     [its result: the first request is sent]
 *   ACTION     -> ACTION     [a response that is as expected: the next request is sent]
 *   any        -> DONE       [all actions are done; or one failed: the rest is blocked]
 *
 * An engine (engine/engine.h) on client/mcp-session. The ids are those of mcp-recorder: 0 for
 * initialize, then 1, 2, …. Server requests get the answers of the scenario; without one they
 * are rejected. After server/discover each request has the _meta of the stateless protocol, and
 * is sent again with the answers when its response requires input. An error response is no
 * failure, except to the handshake; no response is. */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "client/mcp-session.h"
#include "mcp/version.h"
#include "scenario/scenario-file.h"
#include "trace/call-verdict.h"

enum {
    SCENARIO_PAGES_MAX = 1000,  /* of one list */
    SCENARIO_INPUT_ROUNDS = 10, /* of one call, as the SDKs have it */
};

/* The version that mcp-recorder asks for. */
#define SCENARIO_PROTOCOL MCP_2025_11_25

struct scenario_events {
    /* The response to the handshake, whose request is `method`, before its verdict. May be
     * NULL. */
    void (*server)(void *to, struct str method, struct str response);
    /* Once for the handshake and each action, in order. */
    void (*verdict)(void *to, const struct call_verdict *v);
};

enum scenario_state {
    SCENARIO_BEGIN,
    SCENARIO_INITIALIZE,
    SCENARIO_DISCOVER,
    SCENARIO_ACTION,
    SCENARIO_DONE,
};

struct scenario {
    const struct scenario_plan *plan;
    uint32_t ordinal; /* of the scenario in the file, from 1 */
    const struct scenario_events *events;
    void *to;
    struct mcp_session mcp;
    struct scenario_values values;
    enum scenario_state state;
    bool stateless;          /* set when server/discover is sent */
    struct buf rejection;    /* why initialize was rejected; empty: it was not */
    struct buf capabilities; /* of the client: a JSON object */
    size_t action;           /* SCENARIO_ACTION: the current one */
    struct buf method;       /* of its request; empty: none was sent */
    uint32_t number;         /* of the last verdict */
    uint64_t responses;      /* that came */
    bool failed;             /* set with the first failed verdict */
    bool warned;             /* set with the first message that breaks the protocol */
    struct scenario_answers_used used_answers;

    /* The pages of the current list: */
    struct buf items, cursor;
    size_t pages;
    int64_t pages_us;   /* time of all pages */
    struct json merged; /* the response with the items of all pages */
    struct buf merged_text;

    /* The input that the response to the current request requires; empty: none. */
    struct buf input, request_state;
    size_t rounds;      /* in which it was sent */
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

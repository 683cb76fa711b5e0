/* replay/session-assign.h - assigns live sessions to recorded sessions.
 *
 * A live session is assigned by its first matched request: to the first recorded session not
 * yet played in which that request matches exactly (matcher_find_session()), else to the next
 * one not yet played. When all were played, the round starts again. A recorded session without
 * calls is never assigned. If sessions of several protocol versions were recorded, those count
 * that began with the version the client requests, else those that agreed on it, else all;
 * sessions recorded without their initialize count for every version.
 *
 * The calls of the stateless protocol (2026-07-28) are assigned only if the recording has no
 * other session. */
#ifndef REPLAY_SESSION_ASSIGN_H
#define REPLAY_SESSION_ASSIGN_H

#include "base/arena.h"
#include "index/index.h"
#include "match/used-set.h"

/* Recorded sessions that are assigned in turn. */
struct session_assign_list {
    const uint32_t *sessions; /* indices of recorded sessions */
    size_t count;             /* 0: the same as `all` */
    size_t next;              /* all before it are assigned in this round */
};

struct session_assign {
    struct session_assign_list all, by_version[MCP_VERSION_LATEST + 1];
    struct used_set assigned; /* by index of a session */
    struct arena arena;
};

/* The index has to be finished. */
void session_assign_init(struct session_assign *c, const struct index *idx);
void session_assign_release(struct session_assign *c);

/* The sessions for a client that requests a version in its initialize, or for one that sends
 * none. One of them at least is not played yet. */
struct session_assign_list *session_assign_list_for(struct session_assign *c,
                                                    enum mcp_version asked);
struct session_assign_list *session_assign_list_any(struct session_assign *c);

/* Returns the next unassigned session. */
uint32_t session_assign_next(const struct session_assign_list *l);

/* Marks a session as assigned. */
void session_assign_mark(struct session_assign *c, uint32_t session);

/* Whether a requested version has a list of its own. */
bool session_assign_has_list(const struct session_assign *c, enum mcp_version asked);

#endif

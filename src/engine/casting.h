/* engine/casting.h - assigns live sessions to recorded sessions.
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
#ifndef ENGINE_CASTING_H
#define ENGINE_CASTING_H

#include "base/arena.h"
#include "engine/script.h"
#include "engine/spent.h"

/* Recorded sessions that are assigned in turn. */
struct casting_list {
    const uint32_t *at; /* indices of recorded sessions */
    size_t count;       /* 0: the same as `all` */
    size_t from;        /* all before it were played in this round */
};

struct casting {
    struct casting_list all, of[MCP_VERSION_LATEST + 1];
    struct spent played; /* by index of a session */
    struct arena arena;
};

/* For a script that is finished. */
void casting_init(struct casting *c, const struct script *script);
void casting_release(struct casting *c);

/* The sessions for a client that requests a version in its initialize, or for one that sends
 * none. One of them at least is not played yet. */
struct casting_list *casting_of(struct casting *c, enum mcp_version asked);
struct casting_list *casting_of_any(struct casting *c);

/* The next session that is not played yet. */
uint32_t casting_next(const struct casting_list *l);

/* The session is assigned. */
void casting_play(struct casting *c, uint32_t session);

/* Whether a requested version has a list of its own. */
bool casting_tells_apart(const struct casting *c, enum mcp_version asked);

#endif

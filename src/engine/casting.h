/* engine/casting.h - which recorded session a live client plays.
 *
 * The first client plays the first that has requests, the next client the next, and so on from
 * the start again. Where sessions of several revisions were recorded, those count that began
 * with the revision the client asks for, else those that came to it, else all. Of sessions
 * that were not seen to begin no revision is known: they are for everybody.
 *
 * What was recorded of the era without sessions is nobody's part, as long as there is another
 * one: who speaks that era is served from there, whichever number it has. */
#ifndef ENGINE_CASTING_H
#define ENGINE_CASTING_H

#include "base/arena.h"
#include "engine/script.h"

struct casting_parts {
    const uint32_t *at; /* indices of recorded sessions */
    size_t count;       /* 0: no better than `all` */
    uint64_t given;
};

struct casting {
    struct casting_parts all, of[MCP_VERSION_LATEST + 1];
    struct arena arena;
};

/* For a script that is finished. */
void casting_init(struct casting *c, const struct script *script);
void casting_release(struct casting *c);

/* The session that is played by the next client, whatever it speaks: it has not said yet. */
uint32_t casting_peek(const struct casting *c);

/* The same for one that asks for a revision. It is the next one's turn then. */
uint32_t casting_take(struct casting *c, enum mcp_version asked);

#endif

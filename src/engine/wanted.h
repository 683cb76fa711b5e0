/* engine/wanted.h - a live request as a matcher looks for it: its key, and whether a recorded
 * one fits it. For engine/match alone, whose state it uses.
 *
 * Of the request at hand nothing is found out twice: `matcher.insight` has it. */
#ifndef ENGINE_WANTED_H
#define ENGINE_WANTED_H

#include "engine/match.h"

struct wanted {
    const struct mcp_message *live;
    struct spent *spent;
    uint32_t session, method;
    enum match_exhausted exhausted;
};

/* But for the method, which has to be found first. */
struct wanted wanted_by(const struct matcher *m, struct spent *spent, uint32_t session,
                        const struct mcp_message *live);

static inline bool wanted_is_masked(const struct matcher *m, uint32_t op)
{
    return m->script->ops[op].flags & STRAND_MASKED;
}

static inline bool wanted_is_broken(const struct matcher *m)
{
    return m->trouble.kind != ERR_OK;
}

/* The params of a recorded request, until another one is read. */
struct json_val wanted_recorded(struct matcher *m, uint32_t op);

bool wanted_same_subject(struct matcher *m, const struct wanted *w, struct json_val params);

/* Whether a recorded request can answer the live one: by its params, or where `q` does not go
 * by params by its subject (`*differs`: its params are others). True, too, if it cannot be
 * read: the search is over then (wanted_is_broken()). */
bool wanted_fits(struct matcher *m, const struct wanted *w, const struct queues *q, uint32_t op,
                 bool *differs);

/* All its params as a hash. */
uint32_t wanted_key(struct matcher *m, const struct wanted *w);

/* When it has been looked for: if its words were the recorded ones, they are remembered. */
void wanted_keep_key(struct matcher *m);

#endif

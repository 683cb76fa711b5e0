/* engine/match.h - which recorded request answers a live one.
 *
 * The key of a request is a function of its text alone, so a live request and a
 * recorded one meet when their keys agree. Progress tokens and the rest of _meta do
 * not count; absent params, and absent arguments of a call, are empty ones. */
#ifndef ENGINE_MATCH_H
#define ENGINE_MATCH_H

#include "base/map.h"
#include "engine/script.h"

enum match_mode {
    MATCH_SEQUENTIAL, /* by method and subject, in recorded order */
    MATCH_BY_REQUEST, /* by method and params */
};

enum match_outcome {
    MATCH_FOUND,
    MATCH_AGAIN,     /* all used up; this one is safe to give again */
    MATCH_EXHAUSTED, /* recorded, but used up */
    MATCH_NEVER,     /* nothing like it was recorded */
};

struct matcher {
    const struct script *script;
    enum match_mode mode;
    struct map queues; /* key to struct match_queue */
    bool *used;        /* by index of the operation */
    size_t oldest;     /* no unused operation stands before this one */
    struct arena arena;
    struct json json; /* the recorded request that is being compared */
};

void matcher_init(struct matcher *m, const struct script *script, enum match_mode mode);
void matcher_release(struct matcher *m);

/* Every operation is unused again. */
void matcher_reset(struct matcher *m);

/* Finds, and marks as used. Requests of the session (initialize, ping, …) are not
 * the matcher's: they are never used up. */
enum match_outcome matcher_take(struct matcher *m, struct str method, struct json_val params,
                                const struct script_op **op);

/* An operation nobody has asked for that is older than `op`; NULL if there is none. */
const struct script_op *matcher_passed_over(struct matcher *m, const struct script_op *op);

/* Whether an operation can be asked for at all, and whether it has been. */
bool matcher_counts(const struct script_op *op);
bool matcher_used(const struct matcher *m, const struct script_op *op);

/* Do two params mean the same to the matcher? */
bool matcher_same_params(struct json_val a, struct json_val b);

#endif

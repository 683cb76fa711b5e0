/* engine/miss.h - why the recording has no answer, for the client and for the user.
 *
 * Names the recorded request that is most like the live one, where they differ, or the one
 * that was used up, was refused when it was recorded, or is none in this era; and what would
 * help, only if it would. Long names and values are cut: the answer to a request of megabytes
 * is short. Bounded, too, is how many recorded requests are read for it (MISS_LOOKED_AT,
 * MISS_READ); if there are more, that is told. */
#ifndef ENGINE_MISS_H
#define ENGINE_MISS_H

#include "base/buf.h"
#include "engine/match.h"

enum { MISS_LOOKED_AT = 20000, MISS_READ = 64 << 20 };

struct miss {
    struct buf message; /* of the JSON-RPC error */
    struct buf data;    /* of the JSON-RPC error: a JSON object */
    struct buf report;  /* for the user, on one line */
    struct str subject; /* what the live request is about; in `arena` */
    uint32_t nearest;   /* strand; 0: none */
    const char *reason; /* "exhausted", "never recorded", … */
    struct arena arena;
};

/* `found` is what the matcher said to a client that has used up `spent`. */
void miss_explain(struct miss *why, const struct matcher *matcher, const struct spent *spent,
                  const struct mcp_message *live, const struct match *found);
void miss_release(struct miss *why);

/* Appends where the params of a recorded request differ from those of the live one: the first
 * paths with both values, cut like everything here. */
void miss_differences(const struct matcher *matcher, uint32_t op,
                      const struct mcp_message *live, struct buf *to);

#endif

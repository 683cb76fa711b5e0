/* engine/miss.h - why the recording has no answer, for the client and for the user.
 *
 * Names the recorded request that is most like the live one, where they differ, and what
 * would help. Long names and values are cut: the answer to a request of megabytes is
 * short. */
#ifndef ENGINE_MISS_H
#define ENGINE_MISS_H

#include "base/buf.h"
#include "engine/match.h"

struct miss {
    struct buf message; /* of the JSON-RPC error */
    struct buf data;    /* of the JSON-RPC error: a JSON object */
    struct buf report;  /* for the user, on one line */
    struct str subject; /* what the live request is about; in `arena` */
    uint32_t nearest;   /* strand; 0: none */
    struct arena arena;
};

/* `found` is what the matcher said. */
void miss_explain(struct miss *why, const struct matcher *matcher,
                  const struct mcp_message *live, const struct match *found);
void miss_release(struct miss *why);

const char *miss_reason(enum match_outcome outcome); /* "exhausted", "never recorded", … */

#endif

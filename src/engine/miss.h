/* engine/miss.h - why the recording has no answer, for the client and for the user.
 *
 * Names the recorded request that is most like the live one and where they differ.
 * Long names and values are cut: the answer to a request of megabytes is short. */
#ifndef ENGINE_MISS_H
#define ENGINE_MISS_H

#include "base/buf.h"
#include "engine/script.h"

struct miss {
    struct buf message; /* of the JSON-RPC error */
    struct buf data;    /* of the JSON-RPC error: a JSON object */
    struct buf report;  /* for the user, on one line */
};

/* `exhausted`: it was recorded, but all its answers have been given. */
void miss_explain(struct miss *why, const struct script *script, struct str method,
                  struct json_val params, bool exhausted);
void miss_release(struct miss *why);

#endif

/* verify/rebind.h - carries values that the live server made into later requests, in place of
 * the recorded ones: task ids, cursors, handles, URIs of a session.
 *
 * Learns from pairs of responses: a string of REBIND_LENGTH_MIN characters or more that differs
 * at the same path is bound, the recorded one to the live one. Cursors, task ids and request
 * states may be shorter; so may values at the paths of the user (`--rebind`), which may also be
 * numbers. JSON inside strings is searched, too. Names in lists of tools and prompts are not
 * values of a session, and are never bound. Resources of a list are paired by name.
 *
 * A value that the client sent before a response had it is the client's own, and is never
 * bound. A value that only a failed call could have told is unavailable: requests that need it
 * are blocked. At most REBIND_MAX values are kept; the oldest go first, and are counted.
 *
 * A bound value that a later recorded request has was made by the server for the session, so
 * that another live value is no difference (rebind_explains()). Such a value is also found as a
 * word of a longer text: "opened handle-81". */
#ifndef VERIFY_REBIND_H
#define VERIFY_REBIND_H

#include "base/map.h"
#include "mcp/compare-rules.h"

enum { REBIND_LENGTH_MIN = 6, REBIND_MAX = 100000 };

/* The knowledge about a recorded value. */
struct rebind_value {
    struct str live;  /* JSON; empty: unavailable */
    uint32_t blocker; /* the call that failed, if it is unavailable */
    char text[];      /* storage of `live` */
};

struct rebind {
    struct map values;        /* key of a recorded value to struct rebind_value */
    struct map client_values; /* keys of values that the client made; the value is not used */
    struct map later; /* hashes of keys of all values in requests of the session; the same */
    const struct compare_rules *rules; /* borrowed; has the paths of the user */
    uint64_t dropped;   /* values that were bound and dropped because of the limit */
    struct arena arena; /* for one call of a function below */
};

void rebind_init(struct rebind *r, const struct compare_rules *rules);
void rebind_release(struct rebind *r);

/* Notes the values of a recorded request of the session; to be called for all of them before
 * the first one is sent. */
void rebind_note_later(struct rebind *r, struct json_val params);

/* Notes the values of a recorded request that is about to be sent. */
void rebind_note_request(struct rebind *r, struct json_val params);

/* Binds values of the recorded response to those of the live one; both are whole messages. */
void rebind_learn(struct rebind *r, struct str method, struct json_val recorded,
                  struct json_val live);

/* Marks the generated values (ids, cursors and the like) of the recorded response to `call` as
 * unavailable, unless they are known. */
void rebind_lose(struct rebind *r, uint32_t call, struct json_val recorded);

/* Returns whether two values differ only because the live server made another one of a value
 * that later requests have. */
bool rebind_explains(struct rebind *r, struct json_val recorded, struct json_val live);

/* Returns the knowledge about a value of a recorded request; NULL: it is sent as recorded. */
const struct rebind_value *rebind_find(struct rebind *r, struct json_val recorded);

#endif

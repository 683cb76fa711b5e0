/* engine/other-era.h - a client and the recorded server speak revisions of different eras:
 * what the user is told of that.
 *
 * Once for each era, since the client may try again and again. A client of both eras only
 * wants to find out which one it has come to (server/discover): of it nothing is told, unless
 * nobody greets after it until the end. */
#ifndef ENGINE_OTHER_ERA_H
#define ENGINE_OTHER_ERA_H

#include "engine/http-rules.h"
#include "engine/say.h"
#include "engine/script.h"

enum { OTHER_ERA_TEXT = 32 }; /* bytes of a revision that are told */

struct other_era {
    bool told[2];                /* of a client of the older one, of the newer one */
    char probed[OTHER_ERA_TEXT]; /* the revision of who only asked so far; empty: nobody */
};

/* A client speaks that revision, which is no good here; empty: any of its era. */
void other_era_tell(struct other_era *o, struct say *say, const struct script *script,
                    bool modern, struct str revision);

/* What came over HTTP, and whether it is refused by the rules. */
void other_era_hear(struct other_era *o, struct say *say, const struct script *script,
                    const struct http_rules *rules, const struct http_call *c, bool refused,
                    struct arena *a);

/* Nobody comes any more. */
void other_era_end(struct other_era *o, struct say *say, const struct script *script);

#endif

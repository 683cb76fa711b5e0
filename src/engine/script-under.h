/* engine/script-under.h - under which of the client's requests the server said something that
 * answers none, while a recording becomes strands.
 *
 * What was being worked on tells. It is looked for where the message came: on stdio on its
 * connection, over HTTP on its stream. A stream on which nothing is worked on, that of a GET or
 * of a subscription, is for what happens anywhere in the session: there all of it counts, or
 * without sessions all that anybody of the same era asked the server for.
 *
 * Takes no time: of more than SCRIPT_UNDER_MAX requests at once the rest is not looked at. */
#ifndef ENGINE_SCRIPT_UNDER_H
#define ENGINE_SCRIPT_UNDER_H

#include "engine/script.h"

enum { SCRIPT_UNDER_MAX = 256 };

/* Tags of requests of the client's are their strands. */
static inline uint32_t script_under_op(const struct pairing_request *q)
{
    return (uint32_t)q->tag;
}

struct script_under {
    struct scope_reach place; /* where requests were looked for */
    bool stateless;           /* only those that need no session, or only those that do */
    bool any;                 /* something was being worked on, */
    uint32_t sole;            /* and this strand is all it was; 0: more than one */
};

/* Where a message stands. `stateless`: it is of the era without sessions. */
struct script_under script_under_of(const struct script *s, const struct pairing *pairs,
                                    const struct record *r, bool stateless);

/* Who can be meant by a question of the server's. */
struct script_askers {
    uint32_t oldest; /* strand; 0: nobody */
    bool sole;
};

/* `task`: that the question is about; may be empty. */
struct script_askers script_under_askers(const struct script *s, const struct pairing *pairs,
                                         const struct script_under *u, struct str task);

#endif

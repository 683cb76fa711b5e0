/* engine/redirect.h - where an endpoint sends those who asked it, and came to us for that.
 *
 * To follow, they have to stay with us: the server's own origin becomes ours. What leads to
 * another one stays what the server said, and whoever follows that is gone. Pure. */
#ifndef ENGINE_REDIRECT_H
#define ENGINE_REDIRECT_H

#include "engine/address.h"
#include "wire/fields.h"

struct redirect {
    struct str told; /* what has to stand in Location */
    struct str why;  /* for people: what is not recorded by that; or empty. No path, no query */
};

/* False: an answer with this status and these header lines is none. `server` is the target
 * that was given. Lives as long as `a`, `server` and the header lines. */
bool redirect_read(struct redirect *out, unsigned status, const struct fields *f,
                   const struct url *server, const struct address_client *client,
                   struct arena *a);

/* The same for who does not follow, and has asked for `server` itself: what to tell people.
 * No path, no query. */
struct str redirect_say(unsigned status, const struct fields *f, const struct url *server,
                        struct arena *a);

#endif

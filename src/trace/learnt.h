/* trace/learnt.h - secrets that become known while a recording is made.
 *
 * The second level beside the declared values (trace/secrets): ids of sessions, what headers
 * and addresses carry. They are found in the same forms and under as many escapes, and go from
 * everywhere just as those do. A session's id is told as session-N, the number that the
 * recording gives to it, so that texts made of different ids stay different; anything else by
 * the name it came under.
 *
 * Values are not kept, only hashes of their forms (base/swarm), about 1 kB each.
 *
 * Beyond LIMIT_LEARNT the values that were carried least recently are forgotten, and only of
 * those that no open exchange holds: whatever is in use is looked for, however many there
 * are. What was forgotten and is repeated then is written down. */
#ifndef TRACE_LEARNT_H
#define TRACE_LEARNT_H

#include "base/buf.h"
#include "base/roster.h"
#include "base/swarm.h"
#include "trace/forms.h"

enum { LEARNT_SHORTEST = SWARM_SHORTEST }; /* bytes of a value */

struct learnt {
    struct swarm swarm; /* ids: see learnt_scan() */
    struct learnt_value {
        struct str name;  /* of what carried it; unless it is a session's: */
        uint64_t session; /* its number; 0: it is none */
        uint64_t used;    /* when it was carried last, in carried values */
        uint32_t holds;   /* by so many exchanges it is */
        uint32_t next;    /* free: the next that is, + 1 */
        bool known;
    } * values;
    size_t count, cap;
    size_t known;  /* of the values */
    size_t most;   /* so many may be, before some are forgotten */
    uint32_t free; /* index + 1; 0: none is */
    uint64_t uses;
    struct roster names;
};

/* The values that one exchange carries. Starts as {0}. */
struct learnt_grip {
    uint32_t *at;
    size_t count, cap;
};

void learnt_init(struct learnt *l);
void learnt_release(struct learnt *l);

/* From now on the value is looked for, and at least until the grip is let go. One that is
 * shorter than LEARNT_SHORTEST is not. `name` may hold letters, digits and -_. : others make
 * it "value". */
void learnt_add(struct learnt *l, struct learnt_grip *g, struct str name, struct str value);

/* The same for the id of a session that has this number. */
void learnt_add_session(struct learnt *l, struct learnt_grip *g, uint64_t number,
                        struct str id);

/* Whether the value is known already; if so, the grip holds it, too. */
bool learnt_again(struct learnt *l, struct learnt_grip *g, struct str value);

/* The values stay known, but may be forgotten. */
void learnt_let_go(struct learnt *l, struct learnt_grip *g);

/* A value in one of its forms at text[at..end). Where it returns false the search ends. */
typedef bool learnt_fn(void *to, size_t at, size_t end, enum form form, uint32_t value);

bool learnt_scan(const struct learnt *l, struct str text, learnt_fn *fn, void *to);

/* Appends the name of a value. */
void learnt_name(const struct learnt *l, uint32_t value, struct buf *to);

#endif

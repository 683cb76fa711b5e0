/* base/troubles.h - what went wrong, to be told once for each kind and reason.
 *
 * Bounded: after TROUBLES_MAX of them nothing more is told. */
#ifndef BASE_TROUBLES_H
#define BASE_TROUBLES_H

#include <stddef.h>

#include "base/err.h"

enum { TROUBLES_MAX = 16 };

struct troubles {
    struct trouble {
        unsigned kind; /* the owner's; not 0 */
        struct err err;
    } at[TROUBLES_MAX];
    size_t count, told;
};

/* Not if there was one of that kind, or, by reason, one that says the same. */
void troubles_add(struct troubles *t, unsigned kind, bool by_reason, const struct err *e);

/* The kind of the next that was not told yet, and what it says; 0: there is none. */
unsigned troubles_take(struct troubles *t, struct err *e);

#endif

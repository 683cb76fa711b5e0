/* base/errors-once.h - collects errors and reports each kind or reason once.
 *
 * Bounded: after ERRORS_ONCE_MAX errors, more are dropped. */
#ifndef BASE_ERRORS_ONCE_H
#define BASE_ERRORS_ONCE_H

#include <stddef.h>

#include "base/err.h"

enum { ERRORS_ONCE_MAX = 16 };

struct errors_once {
    struct errors_once_entry {
        unsigned kind; /* chosen by the caller; not 0 */
        struct err err;
    } at[ERRORS_ONCE_MAX];
    size_t count, reported;
};

/* Adds an error unless one of that kind is there, or, with `by_reason`, one of that kind with
 * the same message. */
void errors_once_add(struct errors_once *t, unsigned kind, bool by_reason, const struct err *e);

/* Returns the kind of the next unreported error and its text; 0 if there is none. */
unsigned errors_once_next(struct errors_once *t, struct err *e);

#endif

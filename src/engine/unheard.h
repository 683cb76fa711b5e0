/* engine/unheard.h - messages for a client that does not listen yet, the latest so many.
 *
 * Knows neither streams nor clients. */
#ifndef ENGINE_UNHEARD_H
#define ENGINE_UNHEARD_H

#include <stddef.h>

#include "base/str.h"

enum { UNHEARD_MAX = 256 };

struct unheard_item {
    struct unheard_item *next;
    size_t len;
    char text[];
};

/* Zeroed, it is empty. */
struct unheard {
    struct unheard_item *first, *last;
    size_t count, bytes;
};

void unheard_release(struct unheard *u);

/* Keeps a copy; if there are too many then, the oldest is gone. */
void unheard_put(struct unheard *u, struct str text);

/* The oldest, which is the caller's to free; NULL: there is none. */
struct unheard_item *unheard_take(struct unheard *u);

#endif

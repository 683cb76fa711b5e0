/* base/recent.h - texts that were read lately, by where they were read.
 *
 * For whoever reads the same few again and again: a small table, in which one text takes the
 * place of another. What is long is not kept, so that its size is known beforehand. A text is
 * handed out as it was when it was read. */
#ifndef BASE_RECENT_H
#define BASE_RECENT_H

#include <stdint.h>

#include "base/buf.h"

enum { RECENT_SLOTS = 64, RECENT_TEXT_MAX = 8 << 10 };

struct recent {
    struct recent_slot {
        uint64_t at;
        struct buf text; /* empty: there is none */
    } slots[RECENT_SLOTS];
};

void recent_init(struct recent *r);
void recent_release(struct recent *r);

/* Keeps a copy, if it is not too long. */
void recent_keep(struct recent *r, uint64_t at, struct str text);

/* Borrowed, until something else is kept; false: it is not known, or of another length. */
bool recent_find(const struct recent *r, uint64_t at, size_t len, struct str *text);

#endif

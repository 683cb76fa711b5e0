/* base/ahead.h - bytes at any place of a file, for whoever mostly goes through it in order.
 *
 * What is asked for in order is read ahead in larger pieces; what is not is read as it is
 * asked for. What was read ahead is handed out as it was then. */
#ifndef BASE_AHEAD_H
#define BASE_AHEAD_H

#include "base/file.h"

struct ahead {
    struct file *file; /* borrowed */
    struct buf held;
    uint64_t from;   /* where in the file it stands */
    uint64_t behind; /* of what was asked for last */
    size_t in_order; /* how often in a row it lay close behind */
};

void ahead_init(struct ahead *a, struct file *f);
void ahead_release(struct ahead *a);

/* Exactly `len` bytes from an offset; ERR_IO if there are no longer as many. */
bool ahead_read(struct ahead *a, uint64_t at, char *to, size_t len, struct err *e) MUST_CHECK;

#endif

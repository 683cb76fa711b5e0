/* loop/descriptors.h - how many descriptors this process may have.
 *
 * The limit that programs are started with is low for the sake of those that could not
 * handle more, and may be raised by whoever can. So we do, and what we start has the old one
 * again: it may be one of them. */
#ifndef LOOP_DESCRIPTORS_H
#define LOOP_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct descriptors {
    bool raised;
    uint64_t before;
};

/* As many as the system lets us have. */
void descriptors_raise(struct descriptors *d);

/* As before; between fork and exec, too. */
void descriptors_restore(const struct descriptors *d);

/* For how many there is room who take `each` of them, a few left for other things; for one
 * at least. */
size_t descriptors_room(size_t each);

#endif

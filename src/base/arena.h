/* base/arena.h - allocates many small objects that are released together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/err.h"
#include "base/str.h"

struct arena {
    struct arena_block *blocks;
    size_t block_bytes; /* size of all blocks */
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned for any type */
struct str arena_str(struct arena *a, struct str s);
char *arena_z(struct arena *a, struct str s); /* NUL-terminated copy */

/* Returns a copy of at most `max` bytes. A longer text is cut between characters and ends in
 * "…", which `max` must have room for. */
struct str arena_truncated(struct arena *a, struct str s, size_t max);

struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3); /* NUL-ended too */
void arena_clear(struct arena *a); /* ends every allocation, keeps one block for the next */
void arena_release(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif

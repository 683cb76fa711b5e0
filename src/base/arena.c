#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Most hold a line or two, for a moment: the first block is one that malloc() has at hand. */
enum { FIRST_BLOCK = 960, ARENA_BLOCK = 16384 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
    size_t need = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct arena_block *b = a->blocks;

    BUG_IF(size > SIZE_MAX / 2);
    if (!b || b->size - b->used < need) {
        size_t least = b ? ARENA_BLOCK : FIRST_BLOCK;
        size_t cap = need > least ? need : least;
        b = mem_grow(NULL, sizeof *b + cap);
        *b = (struct arena_block){ .next = a->blocks, .size = cap };
        a->blocks = b;
        a->block_bytes += cap;
    }
    void *p = b->data + b->used;
    b->used += need;
    return memset(p, 0, size);
}

struct str arena_str(struct arena *a, struct str s)
{
    return str_n(arena_z(a, s), s.len);
}

char *arena_z(struct arena *a, struct str s)
{
    char *at = arena_alloc(a, s.len + 1);

    if (s.len)
        memcpy(at, s.at, s.len);
    return at;
}

struct str arena_truncated(struct arena *a, struct str s, size_t max)
{
    const struct str dots = STR("…");
    size_t n, least;
    char *at;

    if (s.len <= max)
        return arena_str(a, s);
    BUG_IF(max < dots.len);
    n = max - dots.len;
    least = n < 3 ? 0 : n - 3; /* no character is longer than that and one more */
    while (n > least && ((unsigned char)s.at[n] & 0xC0) == 0x80)
        n--;
    at = arena_alloc(a, n + dots.len);
    memcpy(at, s.at, n);
    memcpy(at + n, dots.at, dots.len);
    return str_n(at, n + dots.len);
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *at;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    BUG_IF(n < 0);
    at = arena_alloc(a, (size_t)n + 1);
    vsnprintf(at, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return str_n(at, (size_t)n);
}

void arena_clear(struct arena *a)
{
    struct arena_block *keep = a->blocks;

    if (!keep)
        return;
    if (keep->size > ARENA_BLOCK) {
        arena_release(a);
        return;
    }
    struct arena rest = { .blocks = keep->next };
    arena_release(&rest);
    keep->next = NULL;
    keep->used = 0;
    a->block_bytes = keep->size;
}

void arena_release(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->block_bytes = 0;
}

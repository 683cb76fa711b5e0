/* base/buf.h - owned, growable bytes with a ceiling given at birth.
 *
 * An addition that would pass the ceiling, or MEM_LARGE bytes when there is no memory for it,
 * adds nothing and is remembered: `full`
 * stays set, later additions are dropped too, and buf_ok() tells. So a writer can
 * compose a whole line and ask once. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct buf {
    char *at;
    size_t len, cap, max;
    bool full;
};

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);
void buf_clear(struct buf *b); /* empty and not full again; keeps the memory */

/* buf_add() when there is no room, or nothing to add; nobody else calls it. */
void buf_add_far(struct buf *b, struct str bytes);

/* Whoever composes text does little else: nothing is called while there is room. */
static inline void buf_add(struct buf *b, struct str bytes)
{
    if (!bytes.len || b->full || bytes.len > b->max - b->len || bytes.len >= b->cap - b->len) {
        buf_add_far(b, bytes);
        return;
    }
    memcpy(b->at + b->len, bytes.at, bytes.len);
    b->len += bytes.len;
}

static inline void buf_add_ch(struct buf *b, char c)
{
    buf_add(b, str_n(&c, 1));
}

void buf_add_int(struct buf *b, int64_t n); /* in decimal; far quicker than printf */

/* Each byte as in %41, but letters, digits and -._~ as they are. */
void buf_add_percent(struct buf *b, struct str bytes);

void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/* Space for `n` more bytes to be filled in by the caller, who then calls
 * buf_grew() with how many it used; NULL if they would pass the ceiling. */
char *buf_space(struct buf *b, size_t n);
void buf_grew(struct buf *b, size_t n);

void buf_drop_front(struct buf *b, size_t n);

/* Where many buffers are needed one after the other, each for a short while: one that has no
 * memory takes that of `spare`, which is empty and nobody else's; and gives back what it has,
 * unless that is much or there is some, and is as if released. */
enum { BUF_SPARE = 64 << 10 };
void buf_borrow(struct buf *b, struct buf *spare);
void buf_give_back(struct buf *b, struct buf *spare);

/* ERR_LIMIT if anything was dropped since the last buf_clear(). */
bool buf_ok(const struct buf *b, struct err *e) MUST_CHECK;

static inline struct str buf_str(const struct buf *b)
{
    return str_n(b->at, b->len);
}

/* NUL-terminated, valid until the next change; a full buffer keeps one byte for it. */
const char *buf_z(struct buf *b);

#endif

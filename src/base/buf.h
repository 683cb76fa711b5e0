/* base/buf.h - owned, growable bytes with a maximum size.
 *
 * An addition that would exceed `max`, or that needs MEM_LARGE bytes or more when there is no
 * memory, adds nothing and sets `full`. Later additions are dropped, too, until buf_clear(). So
 * a writer can compose a whole line and check buf_ok() once. */
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

/* The slow path of buf_add(); only buf_add() calls it. */
void buf_add_slow(struct buf *b, struct str bytes);

/* Inline because text is composed with little else; no call while there is room. */
static inline void buf_add(struct buf *b, struct str bytes)
{
    if (!bytes.len || b->full || bytes.len > b->max - b->len || bytes.len >= b->cap - b->len) {
        buf_add_slow(b, bytes);
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

/* Appends each byte percent-encoded (%41), except letters, digits and -._~. */
void buf_add_percent(struct buf *b, struct str bytes);

void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/* Returns space for `n` more bytes; the caller fills it and calls buf_commit() with the number
 * of bytes used. NULL if they would exceed the maximum. */
char *buf_reserve(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);

void buf_drop_front(struct buf *b, size_t n);

/* Reuse of memory between short-lived buffers. buf_take_spare() gives `b`, if it has no memory,
 * that of `spare`. buf_return_spare() releases `b`; its memory goes to `spare` unless that has
 * some or it is more than BUF_SPARE_MAX. */
enum { BUF_SPARE_MAX = 64 << 10 };
void buf_take_spare(struct buf *b, struct buf *spare);
void buf_return_spare(struct buf *b, struct buf *spare);

/* Returns false with ERR_LIMIT if anything was dropped since the last buf_clear(). */
bool buf_ok(const struct buf *b, struct err *e) MUST_CHECK;

static inline struct str buf_str(const struct buf *b)
{
    return str_n(b->at, b->len);
}

/* Returns the content with a NUL behind it, valid until the next change. */
const char *buf_z(struct buf *b);

/* Decimal digits, two at a time: a recorded line has several numbers, and printf would be half
 * its cost. */
enum { BUF_DIGITS_MAX = 20 }; /* of a uint64_t */

static inline char *buf_put_two_digits(char *to, unsigned below_100)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    *to++ = pairs[2 * below_100];
    *to++ = pairs[2 * below_100 + 1];
    return to;
}

/* Writes the digits of `n` so that they end before `end`; returns where they begin. */
static inline char *buf_put_digits_before(char *end, uint64_t n)
{
    for (; n >= 100; n /= 100)
        buf_put_two_digits(end -= 2, (unsigned)(n % 100));
    if (n >= 10)
        buf_put_two_digits(end -= 2, (unsigned)n);
    else
        *--end = (char)('0' + n);
    return end;
}

#endif

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){ .max = max };
}

void buf_release(struct buf *b)
{
    free(b->at);
    *b = (struct buf){ .max = b->max };
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->full = false;
}

void buf_take_spare(struct buf *b, struct buf *spare)
{
    if (b->cap)
        return;
    b->at = spare->at;
    b->cap = spare->cap;
    *spare = (struct buf){ .max = spare->max };
}

void buf_return_spare(struct buf *b, struct buf *spare)
{
    if (!spare->cap && b->cap <= BUF_SPARE_MAX) {
        spare->at = b->at;
        spare->cap = b->cap;
        b->at = NULL;
    }
    buf_release(b);
}

/* To twice the size, or, if there is no memory for that, by as much as is needed. */
static bool grow(struct buf *b, size_t need)
{
    size_t twice = b->cap > need / 2 ? 2 * b->cap : need;
    char *at;

    if (need < MEM_LARGE) {
        b->at = mem_reserve(b->at, &b->cap, need, 1);
        return true;
    }
    at = mem_try_grow(b->at, twice);
    if (!at)
        at = mem_try_grow(b->at, twice = need);
    if (at) {
        b->at = at;
        b->cap = twice;
    }
    return at != NULL;
}

char *buf_reserve(struct buf *b, size_t n)
{
    if (b->full || n > b->max - b->len) {
        b->full = true;
        return NULL;
    }
    /* One byte beyond the content always exists, for buf_z(). */
    if (b->cap <= b->len + n && !grow(b, b->len + n + 1)) {
        b->full = true;
        return NULL;
    }
    return b->at + b->len;
}

void buf_commit(struct buf *b, size_t n)
{
    BUG_IF(n >= b->cap - b->len);
    b->len += n;
}

void buf_add_slow(struct buf *b, struct str bytes)
{
    char *to = buf_reserve(b, bytes.len);

    if (!to || !bytes.len)
        return;
    memcpy(to, bytes.at, bytes.len);
    b->len += bytes.len;
}

void buf_add_int(struct buf *b, int64_t n)
{
    char text[1 + BUF_DIGITS_MAX], *end = text + sizeof text;
    char *at = buf_put_digits_before(end, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);

    if (n < 0)
        *--at = '-';
    buf_add(b, str_n(at, (size_t)(end - at)));
}

void buf_add_percent(struct buf *b, struct str bytes)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.at[i];
        const char escaped[] = { '%', digits[(unsigned char)c >> 4], digits[c & 15] };

        if (ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
            buf_add_ch(b, c);
        else
            buf_add(b, str_n(escaped, sizeof escaped));
    }
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    char small[256];
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(small, sizeof small, fmt, ap);
    BUG_IF(n < 0);
    if ((size_t)n < sizeof small) {
        buf_add(b, str_n(small, (size_t)n));
    } else {
        char *to = buf_reserve(b, (size_t)n);
        if (to) {
            vsnprintf(to, (size_t)n + 1, fmt, again);
            b->len += (size_t)n;
        }
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_drop_front(struct buf *b, size_t n)
{
    BUG_IF(n > b->len);
    if (n && n < b->len)
        memmove(b->at, b->at + n, b->len - n);
    b->len -= n;
}

bool buf_ok(const struct buf *b, struct err *e)
{
    return !b->full || err_set(e, ERR_LIMIT, "more than %zu bytes", b->max);
}

const char *buf_z(struct buf *b)
{
    b->at = mem_reserve(b->at, &b->cap, b->len + 1, 1);
    b->at[b->len] = '\0';
    return b->at;
}

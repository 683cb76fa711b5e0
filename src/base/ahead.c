#include "base/ahead.h"

#include "base/atfile.h"

enum {
    PIECE = 64 << 10,
    WORTH_IT = PIECE / 4, /* of longer ones a piece would hold too few whole ones */
    CLOSE_BY = 4 << 10,   /* what may lie between two that are asked for in order */
    IN_ORDER = 2,         /* so much may be chance */
};

void ahead_init(struct ahead *a, struct file *f)
{
    *a = (struct ahead){ .file = f };
    buf_init(&a->held, PIECE);
}

void ahead_release(struct ahead *a)
{
    buf_release(&a->held);
}

static bool holds(const struct ahead *a, uint64_t at, size_t len)
{
    return at >= a->from && at + len <= a->from + a->held.len;
}

/* As much of a piece as there is; whether it is enough, and what is wrong if it is not, is
 * for those to say who need it. */
static void read_piece(struct ahead *a, uint64_t at)
{
    const struct sys *sys = a->file->sys;
    char *to;
    ssize_t n;

    buf_clear(&a->held);
    to = buf_space(&a->held, PIECE);
    n = sys->pread(sys, a->file->fd, to, PIECE, (off_t)at);
    if (n > 0)
        buf_grew(&a->held, (size_t)n);
    a->from = at;
}

bool ahead_read(struct ahead *a, uint64_t at, char *to, size_t len, struct err *e)
{
    bool in_order = at >= a->behind && at - a->behind <= CLOSE_BY;

    a->in_order = in_order ? a->in_order + 1 : 0;
    a->behind = at + len;
    if (!holds(a, at, len) && a->in_order > IN_ORDER && len <= WORTH_IT)
        read_piece(a, at);
    if (!holds(a, at, len))
        return atfile_read(a->file, at, to, len, e);
    memcpy(to, a->held.at + (at - a->from), len);
    return true;
}

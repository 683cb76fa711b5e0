#include "format/read-ahead.h"

enum {
    PIECE = 64 << 10,
    READ_AHEAD_MAX_LEN = PIECE / 4, /* a piece would hold too few longer reads */
    READ_AHEAD_MAX_SKIP = 4 << 10,  /* largest distance of sequential reads */
    READ_AHEAD_MIN_READS = 2,       /* fewer may be chance */
};

void read_ahead_init(struct read_ahead *a, struct file *f)
{
    *a = (struct read_ahead){ .file = f };
    buf_init(&a->piece, PIECE);
}

void read_ahead_release(struct read_ahead *a)
{
    buf_release(&a->piece);
}

static bool has_bytes(const struct read_ahead *a, uint64_t at, size_t len)
{
    return at >= a->piece_offset && at + len <= a->piece_offset + a->piece.len;
}

/* Reads up to a piece. The caller checks whether it is enough, and reports errors. */
static void read_piece(struct read_ahead *a, uint64_t at)
{
    const struct sys *sys = a->file->sys;
    char *to;
    ssize_t n;

    buf_clear(&a->piece);
    to = buf_reserve(&a->piece, PIECE);
    n = sys->pread(sys, a->file->fd, to, PIECE, (off_t)at);
    if (n > 0)
        buf_commit(&a->piece, (size_t)n);
    a->piece_offset = at;
}

bool read_ahead_read(struct read_ahead *a, uint64_t at, char *to, size_t len, struct err *e)
{
    bool in_order = at >= a->last_end && at - a->last_end <= READ_AHEAD_MAX_SKIP;

    a->sequential_reads = in_order ? a->sequential_reads + 1 : 0;
    a->last_end = at + len;
    if (!has_bytes(a, at, len) && a->sequential_reads > READ_AHEAD_MIN_READS &&
        len <= READ_AHEAD_MAX_LEN)
        read_piece(a, at);
    if (!has_bytes(a, at, len))
        return file_read_at(a->file, at, to, len, e);
    memcpy(to, a->piece.at + (at - a->piece_offset), len);
    return true;
}

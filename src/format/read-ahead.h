/* format/read-ahead.h - reads a file at any offset, with read-ahead for sequential access.
 *
 * Sequential reads are served from larger pieces; others go to the file. Data that was read
 * ahead is returned as it was then. */
#ifndef FORMAT_READ_AHEAD_H
#define FORMAT_READ_AHEAD_H

#include "base/file.h"

struct read_ahead {
    struct file *file; /* borrowed */
    struct buf piece;
    uint64_t piece_offset;   /* its offset in the file */
    uint64_t last_end;       /* end of the latest read */
    size_t sequential_reads; /* reads in a row that followed closely */
};

void read_ahead_init(struct read_ahead *a, struct file *f);
void read_ahead_release(struct read_ahead *a);

/* Reads exactly `len` bytes at an offset; ERR_IO if the file has fewer. */
bool read_ahead_read(struct read_ahead *a, uint64_t at, char *to, size_t len,
                     struct err *e) MUST_CHECK;

#endif

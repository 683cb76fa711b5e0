/* tests/unit/pieces.h - a file in memory, shown to a format piece by piece.
 *
 * Stricter than the real reader: what is shown lies in memory of exactly its size,
 * which is gone once more was asked for. That a format keeps to its contract (takes
 * no more than it sees, ends, does not ask for more at the end) is checked here,
 * and a format that does not is a BUG(). Knows nothing of cmocka. */
#ifndef PIECES_H
#define PIECES_H

#include "format/format.h"

struct pieces {
    struct notes notes;
    struct buf remarks; /* "LINE:BYTE text", one per line */
    size_t remark_count;
    struct err error;
    bool failed;
};

/* Reads all of `text`, showing `step` more bytes whenever asked for more; records go
 * to `to`. */
void pieces_read(struct pieces *p, const struct format *f, struct str text, size_t step,
                 struct sink *to);
void pieces_release(struct pieces *p);

/* The format that claims a file with this text first, as the reader would have it;
 * NULL if none does. `table` is NULL-ended. */
const struct format *pieces_format(const struct format *const *table, struct str text);

/* A sink that puts records into a file in memory. */
struct pieces_file {
    struct sink sink;
    struct buf text;
    const struct format *format;
    void *state;
};

void pieces_create(struct pieces_file *f, const struct format *format);
void pieces_finish(struct pieces_file *f); /* the text is whole then */
void pieces_discard(struct pieces_file *f);

#endif

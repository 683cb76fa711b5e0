/* tests/unit/memory-file.h - reads a file in memory with a format, in pieces, and writes one.
 *
 * Stricter than the real reader: what is shown lies in memory of exactly its size,
 * which is gone once more was asked for. That a format keeps to its contract (takes
 * no more than it sees, ends, does not ask for more at the end) is checked here,
 * and a format that does not is a BUG(). Knows nothing of cmocka. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include "format/encoder.h"

struct memory_reader {
    struct notes notes;
    struct buf warnings; /* "LINE:BYTE text", one per line */
    size_t warning_count;
    struct err error;
    bool failed;
};

/* Reads all of `text`, showing `step` more bytes whenever asked for more; records go
 * to `to`. */
void memory_reader_run(struct memory_reader *p, const struct format *f, struct str text,
                       size_t step, struct sink *to);
void memory_reader_release(struct memory_reader *p);

/* The format that claims a file with this text first, as the reader would have it;
 * NULL if none does. `table` is NULL-ended. */
const struct format *memory_reader_detect(const struct format *const *table, struct str text);

/* A sink that puts records into a file in memory. */
struct memory_writer {
    struct sink sink;
    struct buf text;
    struct encoder encoder;
};

void memory_writer_init(struct memory_writer *f, const struct format *format);
void memory_writer_init_with(struct memory_writer *f, const struct format *format,
                             const struct format_options *options);
void memory_writer_finish(struct memory_writer *f); /* the text is whole then */
void memory_writer_release(struct memory_writer *f);

#endif

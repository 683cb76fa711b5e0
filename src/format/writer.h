/* format/writer.h - records into a file, in some format.
 *
 * What a record makes is one write(2), done before put() returns. After a write that
 * failed half-way the file is cut back to the last whole record; as long as that
 * fails, too, nothing more is written, so that no record runs into a torn one. */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "base/file.h"
#include "format/format.h"

struct writer {
    struct sink sink; /* put records here */
    const struct format *format;
    void *state; /* the format's own */
    struct file file;
    struct buf text;
    uint64_t size; /* whole records in the file, in bytes */
    bool torn;     /* part of a record follows them */
};

/* Makes the file new, as file_create() does. `path` is borrowed until the end. */
bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, struct err *e) MUST_CHECK;

/* Writes what the format has left to write, syncs and closes. */
bool writer_finish(struct writer *w, struct err *e) MUST_CHECK;

/* Closes and removes the file: there was nothing to write. */
void writer_abandon(struct writer *w);

#endif

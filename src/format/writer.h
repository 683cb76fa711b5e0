/* format/writer.h - records into a file, in some format.
 *
 * A file that grows while things happen: what a record makes is one write(2), done
 * before put() returns. After a write that failed half-way the file is cut back to the
 * last whole record; as long as that fails, too, nothing more is written, so that no
 * record runs into a torn one.
 *
 * A file that is made at one go: written in large pieces, packed if its name ends so, and
 * it gets that name only when all of it is there. What is larger than its format can be is
 * ERR_USAGE: another format would do. */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "base/draft.h"
#include "base/pack.h"
#include "format/format.h"

struct writer {
    struct sink sink; /* put records here */
    const struct format *format;
    void *state; /* the format's own */
    struct file file;
    struct draft draft; /* of a file made at one go */
    struct buf text, packed;
    struct packer *packer; /* NULL: it is written as it is */
    size_t piece;          /* so much text is gathered before it is written */
    uint64_t size;         /* whole records in the file, in bytes */
    bool torn;             /* part of a record follows them */
};

/* Makes the file new, as file_create() does. `path` is borrowed until the end. */
bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, struct err *e) MUST_CHECK;

/* A file made at one go, packed with what the end of its name says; "-" is standard
 * output. */
bool writer_open_whole(struct writer *w, const struct sys *sys, const char *path, bool replace,
                       const struct format *format, struct err *e) MUST_CHECK;

/* Writes what the format has left to write, syncs and closes. On failure a file made at
 * one go is not there. */
bool writer_finish(struct writer *w, struct err *e) MUST_CHECK;

/* Closes and removes the file: there was nothing to write, or it went wrong. */
void writer_abandon(struct writer *w);

#endif

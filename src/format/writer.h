/* format/writer.h - records into a file that is made at one go, in some format.
 *
 * Written in large pieces, packed if its name ends so; it gets that name only when all of
 * it is there. What is larger than its format can be is ERR_USAGE: another format would do.
 * For one that grows while things happen see format/live.h. */
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
    struct draft draft;
    struct buf text, packed;
    struct packer *packer; /* NULL: it is written as it is */
};

/* Makes the file new, as file_create() does, packed with what the end of its name says;
 * "-" is standard output. `path` is borrowed until the end. */
bool writer_open_whole(struct writer *w, const struct sys *sys, const char *path, bool replace,
                       const struct format *format, struct err *e) MUST_CHECK;

/* Whether no interaction was put, where the format is one document; nothing may be put after
 * this. */
bool writer_is_empty(struct writer *w);

/* Writes what the format has left to write, syncs and closes. On failure the file is not
 * there. */
bool writer_finish(struct writer *w, struct err *e) MUST_CHECK;

/* Closes and removes the file: there was nothing to write, or it went wrong. */
void writer_abandon(struct writer *w);

#endif

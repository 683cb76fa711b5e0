/* format/writer.h - writes records to a complete file, in any format (format/encoder.h).
 *
 * Writes in large pieces, compressed if the name has such an extension; the file gets its name
 * only when it is complete. A document that is too large for its format is ERR_USAGE: another
 * format can hold it. For files that grow while recording see format/live-writer.h. */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "base/atomic-file.h"
#include "base/compress.h"
#include "format/encoder.h"

struct writer {
    struct sink sink; /* put records here */
    const struct format *format;
    struct encoder encoder;
    struct file file;
    struct atomic_file draft;
    struct buf text, compressed;
    struct compressor *compressor; /* NULL: not compressed */
    uint64_t bytes;                /* written, before compression */
};

/* Creates the file, as file_create() does, compressed by its extension; "-" is standard output.
 * Borrows `path` and the texts of `options` until the end; `options` may be NULL. */
bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, const struct format_options *options,
                 struct err *e) MUST_CHECK;

/* Whether no interaction was put, for formats of one document. Nothing may be put afterwards.
 */
bool writer_is_empty(struct writer *w);

/* Writes the rest, syncs and closes. On failure the file does not exist. */
bool writer_finish(struct writer *w, struct err *e) MUST_CHECK;

/* Whether the file is one document that is larger than those that the reader accepts. */
bool writer_made_unreadable(const struct writer *w);

/* Closes and removes the file. */
void writer_abort(struct writer *w);

#endif

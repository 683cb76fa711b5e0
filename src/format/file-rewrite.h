/* format/file-rewrite.h - rewrites a file with some parts of its text replaced.
 *
 * The text is the decompressed one; every part of it that is not taken out stays to the byte. A
 * compressed file is compressed again in the same way. The new file has the mode and the owner
 * of the old one, and takes its place when it is complete: a reader of the path finds one or
 * the other. Reads and writes in pieces; memory is bounded by the largest part taken out.
 *
 * The caller goes through the text once:
 *
 *     file_rewrite_copy_to(w, at, e)      text before a part
 *     file_rewrite_take(w, len, &old, e)  the part
 *     file_rewrite_put(w, new, e)         what replaces it
 *     file_rewrite_finish(w, e)           the rest, and the exchange of the files */
#ifndef FORMAT_FILE_REWRITE_H
#define FORMAT_FILE_REWRITE_H

#include "base/atomic-file.h"
#include "format/input.h"

/* Checks that the file at `path` can be rewritten, and takes its version. `opened` is the file
 * as it is being read. ERR_USAGE if it is standard input, no regular file, read-only, being
 * recorded, or in a directory in which no file of its owner can be created. Leaves nothing
 * behind. */
bool file_rewrite_check(const char *path, struct file *opened, struct file_version *version,
                        struct err *e) MUST_CHECK;

struct file_rewrite {
    const char *path; /* borrowed */
    const struct file_version *version;
    struct input input;
    struct file file;
    struct atomic_file draft;
    struct compressor *compressor; /* NULL: not compressed */
    struct buf text, compressed;   /* read and not used; compressed and not written */
    size_t used;                   /* text[0..used) was used */
    uint64_t offset;               /* of text[used] in the old text */
    uint64_t written;              /* length of the new text so far */
    uint64_t max_text;             /* set by the owner: maximum of `written`; 0: none */
};

/* Opens both files. ERR_INPUT if the file is not of that version any more. `path` and `version`
 * are borrowed until the end. */
bool file_rewrite_open(struct file_rewrite *w, const struct sys *sys, const char *path,
                       const struct file_version *version, struct err *e) MUST_CHECK;

/* Copies the text up to an offset. ERR_INPUT if the text ends before it. */
bool file_rewrite_copy_to(struct file_rewrite *w, uint64_t offset, struct err *e) MUST_CHECK;

/* Appends the next `len` bytes of the text to `to` and does not copy them. */
bool file_rewrite_take(struct file_rewrite *w, uint64_t len, struct buf *to,
                       struct err *e) MUST_CHECK;

bool file_rewrite_put(struct file_rewrite *w, struct str text, struct err *e) MUST_CHECK;

/* One of these ends it. Finish copies the rest of the text and replaces the file, unless it was
 * changed meanwhile (ERR_INPUT) or the new text exceeds `max_text` (ERR_USAGE). On failure the
 * old file stays. */
bool file_rewrite_finish(struct file_rewrite *w, struct err *e) MUST_CHECK;
void file_rewrite_abort(struct file_rewrite *w);

#endif

/* format/source.h - the bytes of a file, unpacked if it is packed (gzip, zstd).
 *
 * What a file is packed with is told by its first bytes, whatever its name. */
#ifndef FORMAT_SOURCE_H
#define FORMAT_SOURCE_H

#include "base/file.h"
#include "base/pack.h"

struct source {
    struct file file;
    struct unpacker *unpacker; /* NULL: the file is not packed */
    struct buf raw;            /* read, and not yet handed out or unpacked */
    size_t used;               /* raw[0..used) is done with */
    bool ended;                /* the file has no more */
    bool cut;                  /* although packed data should go on: it is cut off */
};

/* `path` is borrowed until source_close(). */
bool source_open(struct source *s, const struct sys *sys, const char *path,
                 struct err *e) MUST_CHECK;
void source_close(struct source *s);

/* Some bytes; `*got` 0 means the end. If packed data is damaged (ERR_INPUT), `*got` is what
 * could still be unpacked. */
bool source_read(struct source *s, char *to, size_t cap, size_t *got, struct err *e) MUST_CHECK;

#endif

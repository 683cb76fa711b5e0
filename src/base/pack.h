/* base/pack.h - gzip and zstd, both ways, piece by piece; the only place that knows
 * zlib and libzstd.
 *
 * Does no I/O. A packed file is not trusted: what comes out of it may not be larger
 * than PACK_RATIO times what went in (and PACK_FREE on top), so a small file cannot
 * keep a reader busy for hours. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/buf.h"

enum pack_kind { PACK_NONE, PACK_GZIP, PACK_ZSTD };

enum { PACK_RATIO = 200, PACK_FREE = 64 << 20 };

/* By the first bytes of a file. */
enum pack_kind pack_detect(struct str head);

/* By the end of a name; `*stem` is the name without it. */
enum pack_kind pack_by_name(struct str name, struct str *stem);

struct unpacker;

struct unpacker *unpacker_new(enum pack_kind kind); /* not PACK_NONE */
void unpacker_free(struct unpacker *u);             /* NULL is fine */

/* Unpacks from the front of `*in`, which is moved past what was used, into `to`. All of
 * `*in` used and `*got` 0 means: show me more. ERR_INPUT if it is damaged, ERR_LIMIT if it
 * is a bomb; `*got` bytes are there even then. Several packed parts one after the other
 * are one text. */
bool unpacker_feed(struct unpacker *u, struct str *in, char *to, size_t cap, size_t *got,
                   struct err *e) MUST_CHECK;

/* There is no more: ERR_INPUT if it was cut off. */
bool unpacker_end(const struct unpacker *u, struct err *e) MUST_CHECK;

struct packer;

struct packer *packer_new(enum pack_kind kind); /* not PACK_NONE */
void packer_free(struct packer *p);             /* NULL is fine */

/* Appends packed bytes to `to`, maybe none yet. With `flush` all that was added so
 * far can be unpacked from what has come out. Nothing gets so small that an unpacker
 * would take it for a bomb. */
void packer_add(struct packer *p, struct str bytes, bool flush, struct buf *to);

/* The last bytes. */
void packer_end(struct packer *p, struct buf *to);

#endif

/* base/compress.h - compresses and decompresses gzip and zstd streams, piece by piece.
 *
 * Does no I/O; the only module that knows zlib and libzstd. Input is not trusted: the output
 * may not exceed COMPRESS_MAX_RATIO times the input plus COMPRESS_FREE_BYTES, so a small file
 * cannot keep a reader busy for hours. */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include "base/buf.h"

enum compress_kind { COMPRESS_NONE, COMPRESS_GZIP, COMPRESS_ZSTD };

enum { COMPRESS_MAX_RATIO = 200, COMPRESS_FREE_BYTES = 64 << 20 };

/* Detects the compression by the first bytes of a file. */
enum compress_kind compress_detect(struct str head);

/* Detects the compression by the suffix of a name; `*stem` is the name without it. */
enum compress_kind compress_by_suffix(struct str name, struct str *stem);

struct decompressor;

struct decompressor *decompressor_new(enum compress_kind kind); /* not COMPRESS_NONE */
void decompressor_free(struct decompressor *u);                 /* NULL is fine */

/* Decompresses from the front of `*in`, which is moved past what was used, into `to`. If all of
 * `*in` is used and `*got` is 0, more input is needed. ERR_INPUT if the data is damaged,
 * ERR_LIMIT if it exceeds the ratio; `*got` bytes are valid even then. Several compressed
 * streams one after the other are one text. */
bool decompressor_feed(struct decompressor *u, struct str *in, char *to, size_t cap,
                       size_t *got, struct err *e) MUST_CHECK;

/* Ends the input; ERR_INPUT if the data is incomplete. */
bool decompressor_end(const struct decompressor *u, struct err *e) MUST_CHECK;

struct compressor;

struct compressor *compressor_new(enum compress_kind kind); /* not COMPRESS_NONE */
void compressor_free(struct compressor *p);                 /* NULL is fine */

/* Appends compressed bytes to `to`, maybe none yet. With `flush`, all bytes added so far can be
 * decompressed from the output. Pads the output if a decompressor would reject its ratio. */
void compressor_add(struct compressor *p, struct str bytes, bool flush, struct buf *to);

/* Appends the end of the stream. */
void compressor_end(struct compressor *p, struct buf *to);

#endif

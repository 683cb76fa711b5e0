/* format/input.h - reads the bytes of a file, decompressed if it is gzip or zstd.
 *
 * Detects compression by the first bytes, not by the name. */
#ifndef FORMAT_INPUT_H
#define FORMAT_INPUT_H

#include "base/compress.h"
#include "base/file.h"

struct input {
    struct file file;
    enum compress_kind kind;
    struct decompressor *decompressor; /* NULL: not compressed */
    struct buf raw;                    /* read, not yet returned or decompressed */
    size_t consumed;                   /* raw[0..consumed) was used */
    bool ended;                        /* set at the end of the file */
    bool truncated;                    /* set if the compressed data is incomplete */
};

/* `path` is borrowed until input_close(). */
bool input_open(struct input *s, const struct sys *sys, const char *path,
                struct err *e) MUST_CHECK;
void input_close(struct input *s);

/* Reads some bytes; `*got` 0 means the end. If compressed data is damaged (ERR_INPUT), `*got`
 * is the number of bytes that could still be decompressed. */
bool input_read(struct input *s, char *to, size_t cap, size_t *got, struct err *e) MUST_CHECK;

#endif

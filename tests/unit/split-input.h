/* tests/unit/split-input.h - feeds a text to a reader in pieces, split in many ways.
 *
 * Every piece lies in memory of exactly its size, which is gone with the next one: a
 * reader that looks too far, or back, is found by the sanitizer. Knows nothing of
 * cmocka. */
#ifndef SPLIT_INPUT_H
#define SPLIT_INPUT_H

#include "base/buf.h"

struct split_input {
    struct str left;
    size_t first, second; /* lengths of the first two pieces */
    size_t step;          /* and of all others */
    size_t count;
    char *piece;
};

/* The next piece; false: that was all. */
bool split_input_next(struct split_input *c, struct str *piece);

/* Feeds the pieces to a new reader and writes its results. */
typedef void split_input_fn(struct split_input *c, struct buf *seen);

/* Applies `run` to the text cut in that way. */
void split_input_once(struct str text, size_t first, size_t second, size_t step,
                      split_input_fn *run, struct buf *seen);

/* The same must come out of the whole, byte by byte, and in pieces of a size that the text
 * chooses: `seen` is that. For those who have too many texts to try every cut. */
void split_input_agree(struct str text, split_input_fn *run, struct buf *seen);

/* Runs it on the whole, at every cut, in pieces of one, two and three bytes, and, if the
 * text is small, at every two cuts. True if `want` came out each time; else `seen` is
 * what did, and the way to it. */
bool split_input_all(struct str text, split_input_fn *run, struct str want, struct buf *seen);

#define assert_splits(text, run, want)                                                         \
    do {                                                                                       \
        struct str text_ = (text), want_ = (want);                                             \
        struct buf seen_;                                                                      \
        buf_init(&seen_, 1 << 20);                                                             \
        if (!split_input_all(text_, run, want_, &seen_))                                       \
            fail_msg("of '%.*s'\ngot '%.*s'\nwant '%.*s'", STR_ARG(text_),                     \
                     STR_ARG(buf_str(&seen_)), STR_ARG(want_));                                \
        buf_release(&seen_);                                                                   \
    } while (0)

#endif

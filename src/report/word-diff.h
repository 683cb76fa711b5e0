/* report/word-diff.h - writes two strings as one text in which the changed words are marked.
 *
 *     "found [-3-]{+4+} issues in … 212 words … the archive"
 *
 * Words are separated by blanks and line breaks; long parts without a change are folded. Text
 * is escaped to one line for a terminal. Limits: WORD_DIFF_WORDS words on each side, and
 * WORD_DIFF_BYTES of output, after which "…" follows. */
#ifndef REPORT_WORD_DIFF_H
#define REPORT_WORD_DIFF_H

#include "base/buf.h"

enum {
    WORD_DIFF_WORDS = 4000,
    WORD_DIFF_CONTEXT = 4, /* words that are kept beside a change */
    WORD_DIFF_BYTES = 4000,
};

/* Appends the text of two JSON strings. Returns false and appends nothing if it would not help
 * a reader: a value is no string, has too many words, or less than a third of the words are in
 * both. */
bool word_diff_write(struct buf *to, struct str before, struct str after, bool color);

#endif

/* base/shell-split.h - splits a command line into words, and quotes a word for one.
 *
 * Words are split as a shell does: at blanks, but not inside '…' or "…" or after a backslash.
 * There are no variables, patterns or pipes; such characters are part of their word. */
#ifndef BASE_SHELL_SPLIT_H
#define BASE_SHELL_SPLIT_H

#include "base/arena.h"
#include "base/buf.h"

/* Returns the words, NULL-terminated, and their number. ERR_USAGE if a quote is not closed or
 * nothing follows a backslash. */
bool shell_split(char ***out, size_t *count, struct str text, struct arena *a,
                 struct err *e) MUST_CHECK;

/* Appends a word as a shell reads it: in quotes, if it has a character with a meaning. */
void shell_quote(struct buf *to, struct str word);

#endif

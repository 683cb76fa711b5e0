/* base/words.h - a command as people write it in one string, as its words.
 *
 * Words are split as a shell splits them: at blanks, but not inside '…' or "…" or after
 * a backslash. Nothing else of a shell is here: no variables, no patterns, no pipes; such
 * characters are part of their words. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/arena.h"

/* The words, NULL-terminated, and how many they are. ERR_USAGE if a quote is not closed or
 * nothing follows a backslash. */
bool words_split(char ***out, size_t *count, struct str text, struct arena *a,
                 struct err *e) MUST_CHECK;

#endif

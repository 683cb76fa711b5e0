/* base/suggest.h - finds the most similar of many names for a misspelled one ("did you
 * mean"). */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/str.h"

struct suggest {
    struct str given;
    const char *best; /* so far; NULL: nothing is similar enough */
    size_t distance;
};

struct suggest suggest_for(struct str given);
void suggest_try(struct suggest *n, const char *candidate); /* borrowed; the first wins ties */

#endif

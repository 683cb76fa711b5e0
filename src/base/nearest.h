/* base/nearest.h - "did you mean": the likeliest of many names for a misspelled one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/str.h"

struct nearest {
    struct str given;
    const char *best; /* so far; NULL: nothing is near enough to be worth saying */
    size_t distance;
};

struct nearest nearest_to(struct str given);
void nearest_try(struct nearest *n, const char *candidate); /* borrowed; the first wins ties */

#endif

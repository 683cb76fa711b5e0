#include "base/nearest.h"

#include <stdint.h>

struct nearest nearest_to(struct str given)
{
    return (struct nearest){ .given = given, .distance = SIZE_MAX };
}

/* One slip per three letters still looks like the same word; a word that was
 * begun and not finished is near whatever its length. */
void nearest_try(struct nearest *n, const char *candidate)
{
    struct str c = str_z(candidate);
    size_t longer = c.len > n->given.len ? c.len : n->given.len;
    size_t d = str_distance(n->given, c);

    if (n->given.len >= 3 && str_starts(c, n->given))
        d = 1;
    if (d * 3 <= longer + 1 && d < n->distance) {
        n->best = candidate;
        n->distance = d;
    }
}

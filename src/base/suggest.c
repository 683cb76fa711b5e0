#include "base/suggest.h"

#include <stdint.h>

struct suggest suggest_for(struct str given)
{
    return (struct suggest){ .given = given, .distance = SIZE_MAX };
}

/* One slip per three letters still looks like the same word; a word that was
 * begun and not finished is near whatever its length. */
void suggest_try(struct suggest *n, const char *candidate)
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

/* wire/form.h - names and values as queries and forms write them: a=b&c=d%20e.
 *
 * Reads as browsers do: anything is a form, an escape that is none stands for itself. Pure. */
#ifndef WIRE_FORM_H
#define WIRE_FORM_H

#include "base/buf.h"

struct form_pair {
    struct str name, value; /* as they are written; without a '=' the value's `at` is NULL */
    struct str text;        /* both */
};

/* Cuts the next pair off `*rest`, which may be empty between two '&'; false: that was all. */
bool form_next(struct str *rest, struct form_pair *p);

void form_decode(struct buf *to, struct str text); /* '+' is a blank */

/* Whether it means `plain`. */
bool form_is(struct str text, struct str plain);

#endif

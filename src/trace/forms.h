/* trace/forms.h - the ways in which programs write down a value they were given.
 *
 * What can be undone step by step where it is met, escapes of every kind, is not listed:
 * the value is, and what is left of it when something that looks like an escape is undone.
 * What cannot is listed in full: base64 (of the value with anything before and behind it,
 * in both alphabets), hexadecimal; both also of the value as JSON or a URL has it or in
 * UTF-16, and base64 of base64; Latin-1; with U+FFFD for each byte that is no UTF-8, as
 * whoever makes JSON of it writes it. The lines of a value may end in either way. */
#ifndef TRACE_FORMS_H
#define TRACE_FORMS_H

#include "base/str.h"

enum form {
    FORM_PLAIN,
    FORM_BASE64, /* the characters before and behind it hold some bits of the value, too */
    FORM_BASE64_TWICE, /* so do some more */
    FORM_HEX,          /* in lower case; upper case and a mix of both mean the same */
};

enum { FORMS_SHORTEST = 6 }; /* bytes of a value */

typedef void forms_fn(void *to, enum form form, struct str text);

/* Each form at least once; a value that is shorter is a BUG. A space in a FORM_PLAIN may
 * also be a plus: that is how forms are sent. */
void forms_each(struct str value, forms_fn *fn, void *to);

#endif

/* wire/reference.h - what a reference means in an answer of a server: a URL, or a part of one
 * that counts from the URL that was asked for.
 *
 * By RFC 3986, and as strict as wire/url.h: what readers mend in different ways (backslashes,
 * blanks, 'http:x') is refused, and so are schemes other than http and https, and users. */
#ifndef WIRE_REFERENCE_H
#define WIRE_REFERENCE_H

#include "base/arena.h"
#include "wire/url.h"

/* ERR_INPUT, without telling the text. What it means has a path without dots that begins with
 * '/', and no fragment; it lives as long as `a`, `base` and the text do. `*named` is whether
 * the reference itself says which host it is about. */
bool reference_resolve(struct url *out, bool *named, struct str text, const struct url *base,
                       struct arena *a, struct err *e) MUST_CHECK;

/* Scheme, host and port are the same. */
bool reference_same_origin(const struct url *a, const struct url *b);

#endif

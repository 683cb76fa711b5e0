/* wire/url-resolve.h - resolves a URL reference in a server's response against the URL of the
 * request.
 *
 * Follows RFC 3986 and is as strict as wire/url.h: rejects what parsers repair differently
 * (backslashes, blanks, 'http:x'), userinfo, and schemes other than http and https. */
#ifndef WIRE_URL_RESOLVE_H
#define WIRE_URL_RESOLVE_H

#include "base/arena.h"
#include "wire/url.h"

/* The path of the result begins with '/' and has no dot segments; there is no fragment. It
 * borrows from `a`, `base` and the text. Sets `*named` if the reference itself has a host.
 * ERR_INPUT; the message does not contain the text. */
bool url_resolve(struct url *out, bool *named, struct str text, const struct url *base,
                 struct arena *a, struct err *e) MUST_CHECK;

/* Returns whether scheme, host and port are equal. */
bool url_same_origin(const struct url *a, const struct url *b);

#endif

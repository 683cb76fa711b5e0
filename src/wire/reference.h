/* wire/reference.h - what a URL leads to that a server names, seen from its own.
 *
 * It may be whole or relative, as RFC 3986 has it, but leads nowhere else: who was told of
 * one server does not go to another because that one says so. */
#ifndef WIRE_REFERENCE_H
#define WIRE_REFERENCE_H

#include "base/buf.h"
#include "wire/url.h"

/* Adds the target for a request to the server at `base`: a path with its query. ERR_PEER if
 * `text` cannot be read, or is of another scheme, host or port; what of it may be a secret is
 * not repeated. */
bool reference_target(struct buf *to, const struct url *base, struct str text,
                      struct err *e) MUST_CHECK;

#endif

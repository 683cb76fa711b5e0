/* wire/coding.h - what a client offers to unpack, cut down to what can be read here.
 *
 * Whoever keeps a copy of an answer has to read it; so what is offered to the server on
 * behalf of a client is what both know: gzip, zstd, and nothing at all. */
#ifndef WIRE_CODING_H
#define WIRE_CODING_H

#include "base/buf.h"
#include "wire/fields.h"

/* Adds what is left of the value of an Accept-Encoding, in its order and words; "identity" if
 * nothing is. */
void coding_narrow(struct buf *to, struct str value);

#endif

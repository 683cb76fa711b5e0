/* base/base64.h - RFC 4648 base64 with padding, for bytes that are not text. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/arena.h"
#include "base/buf.h"

void base64_encode(struct buf *to, struct str bytes);

/* Into the arena; false if `text` is not base64 (blanks are not skipped). */
bool base64_decode(struct str text, struct arena *a, struct str *bytes) MUST_CHECK;

#endif

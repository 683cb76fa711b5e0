/* tests/unit/sse-text.h - writes events of an SSE stream as text. Does not use cmocka. */
#ifndef SSE_TEXT_H
#define SSE_TEXT_H

#include "base/buf.h"
#include "wire/sse-reader.h"

/* "{event=a|data=b|20}" an event, "(comment=c|4)" a comment: what there is of it, and how many
 * bytes it took. */
void sse_text(struct buf *to, enum sse_next next, const struct sse_item *item);

#endif

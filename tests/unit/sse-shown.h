/* tests/unit/sse-shown.h - what a stream of events brought, as text. Knows nothing of cmocka.
 */
#ifndef SSE_SHOWN_H
#define SSE_SHOWN_H

#include "base/buf.h"
#include "wire/sse-reader.h"

/* "{event=a|data=b|20}" an event, "(comment=c|4)" a comment: what there is of it, and how many
 * bytes it took. */
void sse_shown(struct buf *to, enum sse_next next, const struct sse_item *item);

#endif

/* engine/sse-rewrite.h - a stream of HTTP+SSE on its way to a client that came to us instead
 * of the server.
 *
 * What the stream says of where to post messages is put so that they come to us, too
 * (engine/endpoints.h), each time it says so. All other bytes stay as they are, and wait for
 * nothing but the end of their own event. A stream that would send its client elsewhere is not
 * let through. */
#ifndef ENGINE_SSE_REWRITE_H
#define ENGINE_SSE_REWRITE_H

#include "engine/endpoints.h"
#include "wire/fields.h"

struct sse_rewrite;

/* Whether the answer to a request may be such a stream: one for nobody's session. It may go on
 * with one that was lost, at another address. */
bool sse_rewrite_may_be(struct str method, const struct fields *f);

/* Whether an answer to such a request is a stream in which something can be changed. */
bool sse_rewrite_can(unsigned status, const struct fields *f);

/* `server` is borrowed for as long as it lives. */
struct sse_rewrite *sse_rewrite_new(const struct url *server,
                                    const struct address_client *client);
void sse_rewrite_free(struct sse_rewrite *w); /* NULL is fine */

/* What goes on in place of some bytes, which may be none: valid until the next call. `last`:
 * the stream ends with them. ERR_PEER: nothing may go on behind them. */
bool sse_rewrite_feed(struct sse_rewrite *w, struct str *bytes, bool last,
                      struct err *e) MUST_CHECK;

#endif

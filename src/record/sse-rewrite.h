/* record/sse-rewrite.h - rewrites the `endpoint` events of an HTTP+SSE stream, so that clients
 * post messages to mcpreel.
 *
 * All other bytes are forwarded unchanged, at the latest at the end of their own event. A
 * stream whose endpoint is on another origin is aborted (record/sse-endpoints.h). */
#ifndef RECORD_SSE_REWRITE_H
#define RECORD_SSE_REWRITE_H

#include "record/sse-endpoints.h"
#include "wire/headers.h"

struct sse_rewrite;

/* Returns whether the response to a request may be an HTTP+SSE stream: a GET without a session
 * id. A Last-Event-ID does not exclude it. */
bool sse_rewrite_may_apply(struct str method, const struct headers *f);

/* Returns whether a response is an event stream that can be rewritten: neither compressed nor
 * with a Content-Length. */
bool sse_rewrite_is_possible(unsigned status, const struct headers *f);

/* `server` is borrowed until sse_rewrite_free(). */
struct sse_rewrite *sse_rewrite_new(const struct url *server,
                                    const struct url_rewrite_client *client);
void sse_rewrite_free(struct sse_rewrite *w); /* NULL is fine */

/* Replaces `*bytes` by the bytes to forward, maybe none; valid until the next call. `last`: the
 * stream ends with them. ERR_PEER: the stream must be aborted after them. */
bool sse_rewrite_feed(struct sse_rewrite *w, struct str *bytes, bool last,
                      struct err *e) MUST_CHECK;

#endif

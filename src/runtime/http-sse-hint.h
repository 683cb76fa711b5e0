/* runtime/http-sse-hint.h - logs a hint if the recorded server seems to be an HTTP+SSE server
 * (2024-11-05) while its clients use Streamable HTTP.
 *
 * Such a server rejects every POST, and a client can report only the status. Clients that
 * support HTTP+SSE are rejected, too, and open a stream next. So the hint is logged only if no
 * stream is opened within a second, and at most once. */
#ifndef RUNTIME_HTTP_SSE_HINT_H
#define RUNTIME_HTTP_SSE_HINT_H

#include "base/log.h"
#include "loop/timer.h"
#include "wire/request-read.h"

struct http_sse_hint {
    const struct log *log; /* borrowed */
    struct str path;       /* of the server URL; borrowed */
    struct timer *delay;
    bool post_rejected; /* set by a rejected POST, cleared when a stream is opened */
    bool logged;
};

void http_sse_hint_init(struct http_sse_hint *o, struct loop *l, const struct log *log,
                        struct str path);

/* Notes the server's response to a request to its MCP endpoint. */
void http_sse_hint_note_response(struct http_sse_hint *o, const struct request_head *asked,
                                 unsigned status);

/* Notes that the server has opened an HTTP+SSE stream. */
void http_sse_hint_note_stream(struct http_sse_hint *o);

/* Logs a pending hint at once and frees the timer. */
void http_sse_hint_finish(struct http_sse_hint *o);

#endif

/* engine/http-listeners.h - who hears what a mock on HTTP says that answers nothing.
 *
 * Each client has one stream for it, the first that it opened: its ear. Of those who share a
 * session one hears what is for all. What is said to a client without one waits, so much and
 * no more (engine/unheard.h). */
#ifndef ENGINE_HTTP_LISTENERS_H
#define ENGINE_HTTP_LISTENERS_H

#include "engine/http-mock.h"

/* A stream begins on which a call listens. */
void http_listeners_add(struct http_mock *m, struct http_mock_call *call);

/* `as`: how the recorded event was; who hears it later gets it as any other. */
void http_listeners_tell(struct http_mock *m, struct http_mock_client *c, struct str text,
                         const struct script_event *as);

/* Nobody hears a stream any more. What a client can come back for by its ids is kept. */
void http_listeners_leave(struct http_mock *m, struct http_mock_client *c,
                          struct http_stream *x);

#endif

/* engine/http-heading.h - the header lines with which a client's message goes to a server on
 * HTTP, by what the message says and what was agreed upon before.
 *
 * A message that names its revision itself is of the era without sessions: its header lines
 * repeat what stands in it. Any other is of the session there is. */
#ifndef ENGINE_HTTP_HEADING_H
#define ENGINE_HTTP_HEADING_H

#include "engine/http-params.h"

/* What a server and its client agreed upon; empty: nothing yet. */
struct http_terms {
    struct str session; /* the id that the server gave out */
    struct str version; /* the revision */
};

/* The revision that a message names itself; empty: it does not. */
struct str http_heading_revision(const struct mcp_message *m, struct arena *a);

/* Of a POST of `m`; NULL: of several messages at once. `revision` is that of the era without
 * sessions, or empty. All that is added is borrowed, or lives in `a`. */
void http_heading_post(struct fields *to, const struct http_terms *terms,
                       const struct http_params *params, const struct mcp_message *m,
                       struct str revision, struct arena *a);

/* Of a GET of events, those after `last_event` if that is not empty. */
void http_heading_get(struct fields *to, const struct http_terms *terms, struct str last_event);

void http_heading_delete(struct fields *to, const struct http_terms *terms);

#endif

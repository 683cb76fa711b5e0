/* engine/http-peer.h - the server on HTTP that a speaker speaks to, as far as that knows it:
 * where messages go, what was agreed upon, which header lines it wants. Composes the requests
 * to it.
 *
 * When to ask for what is the speaker's affair. */
#ifndef ENGINE_HTTP_PEER_H
#define ENGINE_HTTP_PEER_H

#include "engine/http-params.h"
#include "engine/step.h"
#include "wire/url.h"

struct http_peer {
    struct buf target;           /* path and query of its URL */
    struct buf endpoint;         /* where messages go to over HTTP+SSE; empty: not said yet */
    struct buf session, version; /* as agreed upon; empty: not */
    struct buf revision;         /* that the client named itself; empty: it did not */
    struct http_params params;
};

/* `url` has to have a path. */
void http_peer_init(struct http_peer *p, const struct url *url);
void http_peer_release(struct http_peer *p);

/* One of its terms; what cannot stand in a header line is none. */
void http_peer_agree(struct buf *term, struct str value);

void http_peer_begin(struct http_peer *p); /* another session: nothing is agreed upon */

/* What to ask for. All of it is borrowed from `p`, or lives in the arena; the fields are to be
 * released. */
void http_peer_get(const struct http_peer *p, struct str last_event, struct step_ask *out);
void http_peer_delete(const struct http_peer *p, struct step_ask *out);

/* `m` is what `text` says, NULL for several messages at once. True: it is of the era without
 * sessions. */
bool http_peer_post(struct http_peer *p, const struct mcp_message *m, struct str text,
                    struct arena *a, struct step_ask *out);

#endif

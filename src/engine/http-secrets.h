/* engine/http-secrets.h - what of the heads of HTTP is a secret, and to be looked for.
 *
 * A value that a recording does not keep as a header may still come back: in a message, an
 * event, an error, a page. So it is handed to trace/learnt before anything that may repeat
 * it is recorded. Which values are, of what length and looks, stands in docs/redaction.md;
 * short here:
 *
 * - ids of sessions;
 * - of Authorization, cookies and headers whose name says so (keys, tokens, signatures): the
 *   value, and the parts it consists of;
 * - of other headers that are not kept: the words that are no number, date, version, address
 *   or type, unless the header is one of those everybody sends;
 * - of addresses: the parts of a path and the values of a query that are secret.
 *
 * A single word, and what is shorter than 8 bytes, is nobody's secret: it would take ordinary
 * text with it. Knows no transport. */
#ifndef ENGINE_HTTP_SECRETS_H
#define ENGINE_HTTP_SECRETS_H

#include "trace/learnt.h"
#include "wire/fields.h"

/* Of a request or an answer. */
void http_secrets_fields(struct learnt *l, struct learnt_grip *g, const struct fields *f);

/* Of the target of a request; `query` may be empty. `session`: what is secret of it is the id
 * of the session that has this number; 0: it is not known to be one's. */
void http_secrets_target(struct learnt *l, struct learnt_grip *g, uint64_t session,
                         struct str path, struct str query);

/* The same of an address as a text, with or without a host. */
void http_secrets_address(struct learnt *l, struct learnt_grip *g, uint64_t session,
                          struct str text);

/* The id of a session, wherever it was given: `number` is the recording's, 0 if it has
 * none. */
void http_secrets_session(struct learnt *l, struct learnt_grip *g, uint64_t number,
                          struct str id);

#endif

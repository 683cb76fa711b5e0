/* record/header-secrets.h - finds the secrets in HTTP headers and URLs, and adds them to the
 * secrets that the redactor searches for.
 *
 * A value that is not recorded as a header may still be repeated in a message, an event, an
 * error or a page. So it is added to redact/seen-secrets before anything that may repeat it is
 * recorded. docs/redaction.md has the exact rules. In short:
 *
 * - session ids;
 * - the value of Authorization, of cookies and of headers that are named like a key, token or
 *   signature, and its components;
 * - in other headers that are not recorded: words that are no number, date, version, host or
 *   media type, unless the header is a common one;
 * - in URLs: secret segments of the path and secret values of the query.
 *
 * A plain word, and a value of less than 8 bytes, is never added: redacting it would destroy
 * ordinary text. Knows no transport. */
#ifndef RECORD_HEADER_SECRETS_H
#define RECORD_HEADER_SECRETS_H

#include "redact/seen-secrets.h"
#include "wire/headers.h"

/* Returns whether the name of a header or cookie says that its value is a secret. */
bool header_secrets_is_secret_name(struct str name);

/* Learns the secrets in the headers of an HTTP request or response. */
void header_secrets_learn(struct seen_secrets *l, struct seen_secrets_refs *g,
                          const struct headers *f);

/* Learns the secrets in the target of a request; `query` may be empty. `session`: its secrets
 * are the id of the session with this number; 0: it is not known to be the target of a
 * session. */
void header_secrets_learn_target(struct seen_secrets *l, struct seen_secrets_refs *g,
                                 uint64_t session, struct str path, struct str query);

/* Learns the secrets in a URL, with or without a host. */
void header_secrets_learn_url(struct seen_secrets *l, struct seen_secrets_refs *g,
                              uint64_t session, struct str text);

/* Learns a session id. `number` is the session's number in the recording; 0: it has none. */
void header_secrets_learn_session(struct seen_secrets *l, struct seen_secrets_refs *g,
                                  uint64_t number, struct str id);

#endif

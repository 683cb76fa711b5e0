/* redact/url-secrets.h - finds secrets in the path and query of URLs.
 *
 * Two ways. url_secrets_find_in_…() recognizes keys in any URL: `/s/9f86d081884c7d65/mcp`,
 * `?api_key=K`, `?sessionId=I`. Parts of a path and values of a query are secret if they look
 * random, values also by their name; text that has a placeholder is skipped.
 *
 * struct url_secrets holds the parts of the server's URL, which may be its only protection.
 * They are removed wherever they occur in a path, whatever they look like: in requests, in
 * OAuth URLs derived from it, in `endpoint` events. Common parts (mcp, sse, api, messages, v1,
 * …) stay. Text that is not a path is not searched. */
#ifndef REDACT_URL_SECRETS_H
#define REDACT_URL_SECRETS_H

#include "base/arena.h"
#include "redact/unescape.h"

struct url_secrets_hit {
    struct unescape_span span; /* never empty */
    struct str name;           /* of the query parameter; empty: there is none */
    bool by_name;              /* secret because of its name, not only of its looks */
};

/* Finds the first secret from `from` on. */
bool url_secrets_find_in_path(struct str path, size_t from, struct url_secrets_hit *out);
bool url_secrets_find_in_query(struct str query, size_t from, struct url_secrets_hit *out);

/* The secret parts of a server's URL. Starts as {0}. */
struct url_secrets {
    struct arena arena;
    struct url_secrets_part {
        struct str text;
        struct url_secrets_part *next;
    } * parts;
    bool has_query; /* set when a URL with a query that is not redacted was added */
};

/* Frees the parts; it can be used again. */
void url_secrets_release(struct url_secrets *o);

/* Returns whether a text is a URL of http, https, ws or wss. */
bool url_secrets_is_url(struct str text);

/* Adds the parts of a URL that are not common; with `counts`, only those for which it returns
 * true. Text that is not a URL is ignored. */
void url_secrets_add_url(struct url_secrets *o, struct str url,
                         bool (*counts)(struct str part));

/* Returns whether a path has only common parts. */
bool url_secrets_is_plain_path(struct str path);

/* Appends the text with the secret parts of paths replaced by [REDACTED]. Returns false and
 * appends nothing if there are none. The text may be JSON. */
bool url_secrets_redact(const struct url_secrets *o, struct str text, struct buf *to);

#endif

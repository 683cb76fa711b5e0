/* mcphttp/url-rewrite.h - resolves URLs that a server sends, and rewrites them so that a client
 * that connected to us stays with us.
 *
 * A URL is resolved as if the client had requested the server itself. Used for Location
 * headers, for the endpoint event of HTTP+SSE, and for OAuth metadata. Texts for the user name
 * the origin of a URL at most, because path and query may hold secrets. Pure. */
#ifndef MCPHTTP_URL_REWRITE_H
#define MCPHTTP_URL_REWRITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/headers.h"
#include "wire/url.h"

/* The client's request to us. */
struct url_rewrite_client {
    struct str host; /* its Host header */
    struct str path; /* '/' stands for the server's own path, too */
};

struct url_rewrite {
    struct url url;
    bool names_host; /* the text names a host */
    bool is_server;  /* it is the server, or us by the client's Host; else the rest is unset */
    struct str target; /* path and query at the server */
    /* For the client: the text itself if that resolves to `target` and names no host; else a
     * path, since the client's scheme is unknown. */
    struct str for_client;
};

/* Resolves `text`. `server` is the URL requested, as the server sees it. ERR_INPUT: it is no
 * usable URL; the error does not quote it. Borrows from `a`, `server` and `text`. */
bool url_rewrite_resolve(struct url_rewrite *out, struct str text, const struct url *server,
                         const struct url_rewrite_client *client, struct arena *a,
                         struct err *e) MUST_CHECK;

/* Path and query. */
struct str url_rewrite_target(const struct url *u, struct arena *a);

/* Scheme, host and port. */
struct str url_rewrite_origin(const struct url *u, struct arena *a);

/* A redirect (3xx with Location), rewritten for the client. */
struct redirect {
    /* For the Location header: a path if it leads to the server; unchanged if it leads to
     * another origin, where the client's traffic is not recorded. */
    struct str location;
    struct str warning; /* for the user: traffic that will not be recorded; or empty */
    bool is_valid_url;
};

/* False: a response with this status and these headers is no redirect. `server` is the URL
 * given by the user. Borrows from `a`, `server` and the headers. */
bool url_rewrite_redirect(struct redirect *out, unsigned status, const struct headers *headers,
                          const struct url *server, const struct url_rewrite_client *client,
                          struct arena *a);

/* Describes, for the user, a redirect that mcpreel got for `server` and does not follow. */
struct str url_rewrite_describe_redirect(unsigned status, const struct headers *headers,
                                         const struct url *server, struct arena *a);

/* Sets `*target` to path and query of an endpoint event's data. ERR_PEER: it is invalid, or
 * leads to another origin. `a` is used during the call only. */
bool url_rewrite_parse_endpoint(struct buf *target, struct str text, const struct url *server,
                                struct arena *a, struct err *e) MUST_CHECK;

/* Set the same errors, for callers that resolve the endpoint themselves: it is empty or invalid
 * (then `*e` has the reason), or at another origin. Always false. */
bool url_rewrite_invalid_endpoint(struct str text, struct err *e);
bool url_rewrite_foreign_endpoint(const struct url *url, struct arena *a, struct err *e);

#endif

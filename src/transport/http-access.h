/* transport/http-access.h - decides which HTTP requests are allowed: by Host, Origin, method
 * and Content-Type.
 *
 * Protects against web pages: a browser may be made to send requests to this machine, but a
 * page cannot forge Host or Origin. It does not protect against other programs: a port is no
 * password.
 *
 * - Host must name us or at least loopback (a forwarded port has another number). Another name
 *   may be one that a page has resolve to this machine (DNS rebinding). 403.
 * - Origin, if present, must be a page of this machine. 403.
 * - Browsers send no Origin for what a page only embeds (an image, a frame), but
 *   Sec-Fetch-Site: cross-site is rejected with 403. Navigation is allowed, since logins
 *   redirect browsers here, but not to an MCP endpoint, and not if we add credentials to
 *   requests.
 * - TRACE and TRACK make a server echo a request with the headers that were added on the way,
 *   credentials included. 405.
 * - A POST to an MCP endpoint must be JSON: pages may send other types without a preflight.
 *   415.
 *
 * If clients of other machines are served, the user may list the allowed hosts; without a list,
 * addresses and names without a dot are allowed, which no page of the internet can have.
 * Origins of other machines are allowed by name only. Does no I/O. */
#ifndef TRANSPORT_HTTP_ACCESS_H
#define TRANSPORT_HTTP_ACCESS_H

#include "wire/media-type.h"
#include "wire/origin.h"
#include "wire/request-read.h"

struct http_access {
    bool allow_remote;        /* clients of other machines are served */
    bool adds_credentials;    /* we add credentials to requests */
    const char *const *hosts; /* "example.org", with or without port; borrowed */
    size_t host_count;
    const char *const *origins; /* "https://example.org"; borrowed */
    size_t origin_count;
};

enum http_access_reason {
    HTTP_ACCESS_NONE,
    HTTP_ACCESS_HOST,
    HTTP_ACCESS_ORIGIN,
    HTTP_ACCESS_CROSS_SITE, /* embedded by a page of another site */
    HTTP_ACCESS_METHOD,     /* TRACE or TRACK */
    HTTP_ACCESS_CONTENT_TYPE,
};

struct http_access_decision {
    unsigned status;                /* 0: allowed; 403, 405 or 415 */
    enum http_access_reason reason; /* of a rejection */
    const char *text;               /* for the client and the log; static */
};

/* Return whether a text may be in `hosts` or `origins`: an invalid one would never match. */
bool http_access_is_valid_host(struct str text);
bool http_access_is_valid_origin(struct str text);

/* Checks a request. `host` and `origin` are the classes of its headers; `mcp`: it is for an MCP
 * endpoint. */
struct http_access_decision http_access_check(const struct http_access *g,
                                              const struct request_head *r,
                                              enum origin_kind host, enum origin_kind origin,
                                              bool mcp);

/* Adds the headers that belong to a status of a rejection (405: Allow). */
void http_access_add_headers(struct headers *to, unsigned status);

#endif

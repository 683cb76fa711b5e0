/* wire/origin.h - classifies the Host and the Origin of a request.
 *
 * A page of another site can make a browser send requests to this machine, by address or by a
 * name that resolves to it (DNS rebinding), but it cannot forge Host and Origin. The caller
 * decides which classes are allowed (transport/http-access.h). */
#ifndef WIRE_ORIGIN_H
#define WIRE_ORIGIN_H

#include "wire/headers.h"
#include "wire/url.h"

enum origin_kind {
    ORIGIN_NONE, /* no such header */
    ORIGIN_SELF, /* our address and port; any loopback name with our port if we listen there */
    ORIGIN_LOOPBACK, /* loopback, another port */
    ORIGIN_OTHER,    /* another host; also malformed or duplicate headers */
    ORIGIN_NULL,     /* "null", sent by sandboxed pages and local files */
};

/* Classify the parsed Host and the Origin header of a request. `self` is the address that we
 * listen on, with its port. A wildcard address matches every loopback name and no other. */
enum origin_kind origin_classify_host(const struct url_authority *host,
                                      const struct url_authority *self);
enum origin_kind origin_classify(const struct headers *f, const struct url_authority *self);

/* Returns the class of a host or origin that the access check has allowed: OTHER becomes SELF.
 */
enum origin_kind origin_if_allowed(enum origin_kind p);

/* Returns "none", "self", "loopback", "other" or "null". */
const char *origin_kind_name(enum origin_kind p);

#endif

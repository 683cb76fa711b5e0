/* wire/set-cookie.h - Set-Cookie: whom a cookie is for, when it comes by way of somebody else.
 *
 * A cookie that names the server's domain is dropped by whoever got it from another host, as is
 * everybody who asks through a proxy. Without that name it is for the host it came from, which
 * is what is meant. Nothing else of it changes: name, value, path and the rest pass byte for
 * byte. Pure. */
#ifndef WIRE_SET_COOKIE_H
#define WIRE_SET_COOKIE_H

#include "base/buf.h"
#include "wire/url.h"

/* Adds the value of a header line without Domain, if a client would take the cookie from this
 * server; nothing if it has none, or would not be taken there either. Of several Domains the
 * last counts, as in browsers. */
void set_cookie_at_home(struct buf *to, struct str value, const struct url_authority *server);

#endif

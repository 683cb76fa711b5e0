/* wire/set-cookie.h - removes Domain from a Set-Cookie header.
 *
 * A client behind the proxy gets the cookie from mcpreel's address and would drop one that
 * names the server's domain. Without Domain the cookie belongs to the address it came from.
 * Name, value, path and other attributes are kept byte for byte. */
#ifndef WIRE_SET_COOKIE_H
#define WIRE_SET_COOKIE_H

#include "base/buf.h"
#include "wire/url.h"

/* Adds the value without Domain. Adds nothing if there is no Domain, or if a client of `server`
 * itself would drop the cookie because the Domain does not cover the server. The last of
 * several Domains counts, as in browsers. */
void set_cookie_drop_domain(struct buf *to, struct str value,
                            const struct url_authority *server);

#endif

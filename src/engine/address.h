/* engine/address.h - what an address that a server says comes to, for a client that came to us
 * instead of the server.
 *
 * It is read as the client would, if that had asked the server itself, and told so that it
 * leads through us. Pure. */
#ifndef ENGINE_ADDRESS_H
#define ENGINE_ADDRESS_H

#include "base/arena.h"
#include "wire/url.h"

struct address_client {
    struct str host; /* what it calls us: its Host */
    struct str path; /* what it asked for; '/' is the server's own path, too */
};

struct address {
    struct url meant;
    bool named; /* what was said says which host it is about */
    bool here;  /* that is the server, or what the client calls us; else nothing follows */
    struct str target; /* at the server: path and query */
    struct str told;   /* to the client: what was said, if that leads there and names no host;
                        * else a path, since we cannot know the scheme it came by */
};

/* `server` is what was asked for, as the server sees it. ERR_INPUT: it cannot be read; without
 * telling it. Lives as long as `a`, `server` and what was said. */
bool address_read(struct address *out, struct str said, const struct url *server,
                  const struct address_client *client, struct arena *a,
                  struct err *e) MUST_CHECK;

/* Path and query. */
struct str address_target(const struct url *u, struct arena *a);

/* Scheme, host and port: as much as may be told of an address to anybody. */
struct str address_origin(const struct url *u, struct arena *a);

#endif

/* wire/place.h - whom a request says it is for, and whose page sent it.
 *
 * A page of another site can make a browser send requests to this machine, by address
 * or by a name that it lets point here (DNS rebinding). What it cannot do is write a
 * false Host or Origin. So both are placed; what to let in is for the caller. */
#ifndef WIRE_PLACE_H
#define WIRE_PLACE_H

#include "wire/fields.h"
#include "wire/url.h"

enum place {
    PLACE_NONE,     /* no such header */
    PLACE_SELF,     /* our own address and port, or our port on a loopback one if ours is */
    PLACE_LOOPBACK, /* this machine, another port */
    PLACE_OTHER,    /* another host; also what cannot be read, or comes twice */
    PLACE_NULL,     /* Origin: null, as sandboxed pages and files send it */
};

/* `self` is what we listen on, with its port. A wildcard is on every loopback address,
 * too, and has no other name of its own. A Host has been read with its request. */
enum place place_of_host(const struct url_authority *host, const struct url_authority *self);
enum place place_of_origin(const struct fields *f, const struct url_authority *self);

/* Who got past a gate was meant to: it counts as one of ours. */
enum place place_admitted(enum place p);

const char *place_name(enum place p); /* "none", "self", "loopback", "other", "null" */

#endif

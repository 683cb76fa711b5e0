/* wire/listen.h - an address to listen on, as users type it: [HOST:]PORT.
 *
 * '8080' and ':8080' mean this machine alone. Which interface a wildcard would open is
 * told by `scope`, in whatever spelling it comes; whether that is allowed is for the
 * caller. Names are not resolved: only 'localhost' is known to be harmless. */
#ifndef WIRE_LISTEN_H
#define WIRE_LISTEN_H

#include "base/err.h"
#include "wire/url.h"

enum listen_scope {
    LISTEN_LOOPBACK,  /* nobody else can reach it */
    LISTEN_WILDCARD,  /* every interface */
    LISTEN_ELSEWHERE, /* an address or a name of which we cannot tell */
};

struct listen {
    struct str host; /* without brackets; empty: not said. Borrowed from the text */
    struct ip ip;    /* IP_NONE: a name, '*', or not said */
    enum listen_scope scope;
    int port; /* 0: any that is free */
};

bool listen_parse(struct listen *l, struct str text, struct err *e) MUST_CHECK; /* ERR_USAGE */

#endif

/* wire/listen-address.h - parses the address to listen on, as typed by users: [HOST:]PORT.
 *
 * '8080' and ':8080' mean loopback. `scope` tells who could connect, for every spelling of an
 * address; the caller decides whether that is allowed. Resolves no names: only
 * 'localhost' counts as loopback. */
#ifndef WIRE_LISTEN_ADDRESS_H
#define WIRE_LISTEN_ADDRESS_H

#include "base/err.h"
#include "wire/url.h"

enum listen_scope {
    LISTEN_LOOPBACK, /* reachable from this machine only */
    LISTEN_WILDCARD, /* all interfaces */
    LISTEN_OTHER,    /* another address or name */
};

struct listen_address {
    struct str host; /* without brackets; empty if not given; borrowed from the text */
    struct ip ip;    /* IP_NONE: a name, '*', or not given */
    enum listen_scope scope;
    int port; /* 0: any free port */
};

bool listen_address_parse(struct listen_address *l, struct str text,
                          struct err *e) MUST_CHECK; /* ERR_USAGE */

#endif

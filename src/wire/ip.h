/* wire/ip.h - parses IP addresses in every spelling that a resolver accepts.
 *
 * Resolvers take '127.1', '0x7f000001' and '017700000001' for 127.0.0.1, so a check whether an
 * address is local must know them all. Resolves no names. */
#ifndef WIRE_IP_H
#define WIRE_IP_H

#include <stdint.h>

#include "base/str.h"

enum ip_kind {
    IP_NONE, /* not an address */
    IP_V4,
    IP_V6,
};

struct ip {
    enum ip_kind kind;
    bool canonical;    /* V4: spelled as four decimal numbers; V6: always set */
    uint8_t bytes[16]; /* V4 as ::ffff:a.b.c.d */
};

struct ip ip_parse(struct str text); /* V6 without brackets and zone; IP_NONE if invalid */

/* Returns whether some parsers would take the text for an address although ip_parse() does not:
 * its last label is a number. Such a text is no valid host name. */
bool ip_looks_numeric(struct str text);

bool ip_is_loopback(const struct ip *ip); /* 127.0.0.0/8 or ::1 */
bool ip_is_any(const struct ip *ip);      /* 0.0.0.0 or :: */

#endif

/* wire/ip.h - IP addresses as text, in every spelling that reaches the same address.
 *
 * The system takes '127.1', '0x7f000001' and '017700000001' for 127.0.0.1; who asks
 * whether an address is harmless has to know them all. Resolves no names. */
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
    bool usual;     /* a V4 address as four decimal numbers; V6 always */
    uint8_t at[16]; /* a V4 address is kept as ::ffff:a.b.c.d */
};

struct ip ip_parse(struct str text); /* V6 without brackets and zone */

/* Whether text that is no address would be taken for one by some readers: its last
 * part is a number. No name of a host looks like that. */
bool ip_resembles(struct str text);

bool ip_is_loopback(const struct ip *ip); /* 127.0.0.0/8 or ::1 */
bool ip_is_any(const struct ip *ip);      /* 0.0.0.0 or :: */

#endif

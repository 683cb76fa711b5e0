/* loop/connect.h - connects to a TCP port on this machine.
 *
 * Loopback addresses only: no names, no proxies, no TLS. Tries the addresses in order; the
 * first that accepts is used. */
#ifndef LOOP_CONNECT_H
#define LOOP_CONNECT_H

#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"

struct connect_attempt;

/* If several addresses fail, the highest of these is reported. */
enum connect_error {
    CONNECT_REFUSED, /* no process listens there */
    CONNECT_UNREACHABLE,
    CONNECT_NO_FD, /* we have no descriptor left */
};

/* Called once, after the attempt was freed. Connected: the receiver owns `fd`. Else `fd` is -1
 * and `why` is the reason. */
typedef void connect_fn(void *to, int fd, enum connect_error why);

struct connect_address {
    bool v6;
    uint8_t bytes[16]; /* an IPv4 address is in the last four */
};

/* Starts with up to two addresses; copied. Does not call `fn` before it returns. */
struct connect_attempt *connect_start(struct loop *l, const struct connect_address *addresses,
                                      size_t count, int port, connect_fn *fn, void *to);

/* Cancels the attempt; not after `fn` was called. NULL is fine. */
void connect_close(struct connect_attempt *r);

#endif

/* loop/reach.h - a TCP connection to somebody on this machine.
 *
 * No names, no proxies and no TLS: only who listens on a loopback address. Of several
 * addresses the first one that takes us counts. */
#ifndef LOOP_REACH_H
#define LOOP_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"

struct reach;

enum reach_fault {
    REACH_REFUSED, /* nobody listens there */
    REACH_NO_WAY,
    REACH_SCARCE, /* we have no descriptor left */
};

/* Connected: `fd` is the receiver's. Else it is -1, and `why` says so. Once; what called it is
 * gone then. */
typedef void reach_fn(void *to, int fd, enum reach_fault why);

struct reach_address {
    bool v6;
    uint8_t at[16]; /* of a V4 address the last four */
};

/* Up to two addresses; copied. Not told before this returns. */
struct reach *reach_start(struct loop *l, const struct reach_address *addresses, size_t count,
                          int port, reach_fn *fn, void *to);

void reach_close(struct reach *r); /* before it has told; NULL is fine */

#endif

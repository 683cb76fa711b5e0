/* runtime/peer-stdio.h - the transport of a peer that is a child process on stdio. */
#ifndef RUNTIME_PEER_STDIO_H
#define RUNTIME_PEER_STDIO_H

#include "runtime/peer.h"

/* As peer_start(). */
bool peer_stdio_start(struct peer **out, const struct peer_target *target,
                      const struct peer_owner *owner, int *errnum, struct err *e) MUST_CHECK;

#endif

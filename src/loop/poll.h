/* loop/poll.h - reports when a descriptor can be read or written.
 *
 * For code that reads and writes itself, such as libcurl. The caller owns the descriptor and
 * must close the poll first. A descriptor with an error is reported once as ready for both, so
 * that the caller's next call sees it. Sets close-on-exec: processes that we start do not
 * inherit it. */
#ifndef LOOP_POLL_H
#define LOOP_POLL_H

#include "loop/loop.h"

struct fd_poll;
typedef void fd_poll_fn(void *to, bool can_read, bool can_write);

/* Opens a poll of a socket or a pipe that has no other one; it reports nothing until
 * fd_poll_set(). */
struct fd_poll *fd_poll_open(struct loop *l, int fd, fd_poll_fn *fn, void *to);

void fd_poll_set(struct fd_poll *w, bool read, bool write); /* neither: reports nothing */

/* The descriptor may be closed right after. NULL is fine. */
void fd_poll_close(struct fd_poll *w);

#endif

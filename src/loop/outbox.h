/* loop/outbox.h - what is said to many peers in one turn of the loop, said at its end.
 *
 * Whoever waits for an answer is woken by it. If it gets one while the next is still being
 * made, it is back to sleep before that comes and has to be woken once more, and the system
 * takes as long for a wake-up as we do for an answer. So the answers of a turn go out one
 * after the other, when all of them are there.
 *
 * Knows no descriptor: `send` does. It must not put anything in while it is sending. There is
 * room for so much and no more; what does not fit lets all that is there go. */
#ifndef LOOP_OUTBOX_H
#define LOOP_OUTBOX_H

#include "base/str.h"
#include "loop/loop.h"

enum { OUTBOX_BYTES = 64 << 10, OUTBOX_ITEMS = 256 };

struct outbox;

typedef void outbox_send_fn(void *to, struct str bytes);

struct outbox *outbox_new(struct loop *l, outbox_send_fn *send);

/* Lets all go. Its memory is given back by the loop. NULL is fine. */
void outbox_close(struct outbox *o);

/* A copy of `bytes` will be sent before the loop waits again. False: it is too much for here,
 * and nothing is left in here that it could overtake. */
bool outbox_put(struct outbox *o, void *to, struct str bytes) MUST_CHECK;

/* Now. */
void outbox_flush(struct outbox *o);

#endif

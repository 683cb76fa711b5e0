/* loop/write-batch.h - collects the writes of one loop iteration and sends them at its end.
 *
 * A peer that waits for a response is woken by it. If it got one while the next is still being
 * made, it would go back to sleep and be woken again, and a wake-up takes the system as long
 * as a response takes us. So the responses of one iteration are sent one after the other when
 * all of them are complete.
 *
 * Knows no descriptor: the `send` function does; it must not add to the batch. The size is
 * fixed: bytes that do not fit flush the batch first. */
#ifndef LOOP_WRITE_BATCH_H
#define LOOP_WRITE_BATCH_H

#include "base/str.h"
#include "loop/loop.h"

enum { WRITE_BATCH_BYTES = 64 << 10, WRITE_BATCH_ITEMS = 256 };

struct write_batch;

typedef void write_batch_send_fn(void *to, struct str bytes);

struct write_batch *write_batch_new(struct loop *l, write_batch_send_fn *send);

/* Flushes it. The loop frees its memory later. NULL is fine. */
void write_batch_close(struct write_batch *o);

/* Copies `bytes`, to be sent before the loop waits again. False: they are larger than the
 * batch and were not added; the batch is empty then, so they can be sent directly. */
bool write_batch_add(struct write_batch *o, void *to, struct str bytes) MUST_CHECK;

/* Sends everything now. */
void write_batch_flush(struct write_batch *o);

#endif

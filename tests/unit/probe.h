/* tests/unit/probe.h - a process that answers queries about texts, for differential tests.
 *
 * In and out: four bytes of length (little endian), then so many bytes. Knows nothing of
 * cmocka. */
#ifndef PROBE_H
#define PROBE_H

#include "base/buf.h"

/* `text` lies in memory of its own: a sanitizer sees a step beyond it. */
typedef void probe_fn(void *with, struct str text, struct buf *out);

/* Answers on standard output what comes on standard input, until it ends. Returns the exit
 * code. */
int probe_serve(probe_fn *answer, void *with);

void probe_add_hex(struct buf *to, struct str bytes);

#endif

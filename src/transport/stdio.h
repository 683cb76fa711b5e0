/* transport/stdio.h - a client on our own standard input and output.
 *
 * Lines come in whole, messages go out with their newline. The client is read only
 * as fast as it takes what is sent to it. Knows no JSON. */
#ifndef TRANSPORT_STDIO_H
#define TRANSPORT_STDIO_H

#include <stdint.h>

#include "base/str.h"
#include "loop/loop.h"

struct stdio;

struct stdio_events {
    void (*line)(void *to, struct str line); /* without newline */
    void (*too_long)(void *to, uint64_t bytes);
    void (*closed)(void *to); /* the client sends nothing more, or is gone; once */

    /* What is sent cannot be written, although nobody has gone. Once, maybe before
     * stdio_send() returns, and before `closed`. */
    void (*lost)(void *to, const struct err *why);

    void (*drained)(void *to); /* all that was sent is written; may be NULL */
    void (*gone)(void *to);    /* nobody reads it any more; once, last. May be NULL */
};

bool stdio_open(struct stdio **out, struct loop *l, int in, int outfd, size_t max_line,
                const struct stdio_events *events, void *to, struct err *e) MUST_CHECK;

void stdio_send(struct stdio *s, struct str message);
size_t stdio_queued(const struct stdio *s); /* bytes yet to be written */

/* Whether to go on reading, as far as the client takes what is sent to it. On, to begin
 * with. */
void stdio_read(struct stdio *s, bool on);

/* Reads no more; calls `done` once all that was sent is written or lost. */
void stdio_finish(struct stdio *s, void (*done)(void *to), void *to);

void stdio_close(struct stdio *s); /* NULL is fine */

#endif

/* transport/stdio-client.h - the MCP client on our own stdin and stdout.
 *
 * Reports input in lines and sends messages with a newline. The client is read only as fast as
 * it takes what is sent to it. Knows no JSON. */
#ifndef TRANSPORT_STDIO_CLIENT_H
#define TRANSPORT_STDIO_CLIENT_H

#include <stdint.h>

#include "base/str.h"
#include "loop/loop.h"

struct stdio_client;

struct stdio_client_events {
    void (*line)(void *to, struct str line); /* without newline */
    void (*too_long)(void *to, uint64_t bytes);
    void (*input_closed)(void *to); /* end of input, or the client is gone; once */

    /* Writing failed although the client has not closed. Once, maybe before
     * stdio_client_send() returns, and before `input_closed`. */
    void (*write_failed)(void *to, const struct err *why);

    void (*drained)(void *to);       /* the queue is empty again; may be NULL */
    void (*output_closed)(void *to); /* the client reads no more; once, and last; may be NULL */
};

bool stdio_client_open(struct stdio_client **out, struct loop *l, int in, int outfd,
                       size_t max_line, const struct stdio_client_events *events, void *to,
                       struct err *e) MUST_CHECK;

void stdio_client_send(struct stdio_client *s, struct str message);
size_t stdio_client_queued(const struct stdio_client *s); /* bytes not written yet */

/* Turns reading on or off; it is on at first. While the queue is full, the client is not read
 * in either case. */
void stdio_client_read(struct stdio_client *s, bool on);

/* Stops reading; calls `done` when the queue is written or lost. */
void stdio_client_finish(struct stdio_client *s, void (*done)(void *to), void *to);

void stdio_client_close(struct stdio_client *s); /* NULL is fine */

#endif

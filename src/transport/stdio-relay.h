/* transport/stdio-relay.h - runs a stdio server and forwards between it and the client on our
 * own stdio.
 *
 * Full duplex and byte for byte. The owner gets a copy of every line before its last byte is
 * forwarded; bytes of an unfinished line are forwarded as they come. Each side is read only as
 * fast as the other takes. Knows no JSON and writes no file.
 *
 * If the server closes its stdout and does not exit, our stdout is closed, too. If it closes
 * its stdin, the client is still read and does not notice: otherwise we would not see its end.
 *
 * When the client closes or is gone, the server's stdin is closed and the server stopped like
 * any process (loop/process.h); output on stderr does not extend its time. A slow client still
 * gets all output of the server, until a signal comes, or until it has closed its side and
 * takes nothing any more. */
#ifndef TRANSPORT_STDIO_RELAY_H
#define TRANSPORT_STDIO_RELAY_H

#include "base/str.h"
#include "loop/loop.h"
#include "trace/record.h"

struct stdio_relay;

struct stdio_relay_events {
    void (*line)(void *to, enum record_dir dir, struct str line); /* without newline */
    void (*too_long)(void *to, enum record_dir dir, uint64_t bytes);
    void (*stderr_text)(void *to, struct str bytes);
    void (*sigterm_sent)(void *to); /* the server did not exit after its client; may be NULL */
    void (*exited)(void *to, int code, int signum);
    void (*done)(void *to); /* last event; the loop may stop */
};

struct stdio_relay_config {
    char *const *argv;                    /* the server; borrowed during stdio_relay_start() */
    int client_in, client_out, stderr_fd; /* 0, 1 and 2, except in tests */
    size_t max_line; /* longer lines are forwarded, but not reported as `line` */
};

/* Starts the server and the forwarding. ERR_PEER if the server cannot be started, with the
 * errno in `*errnum`; ERR_IO, without starting it, if a descriptor of the client cannot be
 * used. */
bool stdio_relay_start(struct stdio_relay **out, struct loop *l,
                       const struct stdio_relay_config *config,
                       const struct stdio_relay_events *events, void *to, int *errnum,
                       struct err *e) MUST_CHECK;

/* Sends a signal that we got to the server's processes. */
void stdio_relay_signal(struct stdio_relay *r, int signum);

void stdio_relay_close(struct stdio_relay *r); /* NULL is fine */

#endif

/* transport/relay.h - a stdio client and the server process it believes to have
 * started, with us in between.
 *
 * Full duplex, byte for byte. Of every line the copy is handed over before its last
 * byte goes on; the bytes of an unfinished line go on as they come. Each side is
 * read only as fast as the other takes. Knows no JSON and writes no file.
 *
 * A server that closes its stdout and lives on is seen to by its client as without us. One
 * that closes its stdin is not: its client is read on and believes to be heard, as we would
 * not see its end if we closed ours.
 *
 * When the client ends or is gone, the server sees the end of its stdin and is
 * brought to its own end as a process is; what it says on stderr does not prolong that,
 * as no client waits for it. A client that reads slowly still gets all that the server
 * has left; a signal ends that, too, and so does a client that has ended and takes nothing
 * any more. */
#ifndef TRANSPORT_RELAY_H
#define TRANSPORT_RELAY_H

#include "base/str.h"
#include "loop/loop.h"
#include "trace/record.h"

struct relay;

struct relay_events {
    void (*line)(void *to, enum record_dir dir, struct str line); /* without newline */
    void (*too_long)(void *to, enum record_dir dir, uint64_t bytes);
    void (*stderr_text)(void *to, struct str bytes);
    void (*hurried)(
        void *to); /* it did not end with its client, and got SIGTERM; may be NULL */
    void (*exited)(void *to, int code, int signum);
    void (*done)(void *to); /* nothing more will come; the loop may stop */
};

struct relay_config {
    char *const *argv;                 /* the server; borrowed during relay_start() */
    int client_in, client_out, errors; /* our own 0, 1 and 2, but for tests */
    size_t max_line;                   /* longer lines pass, but are not handed over */
};

/* ERR_PEER if the server cannot be started; `*errnum` is then the reason. ERR_IO if
 * the client's descriptors cannot be used; no server is started then. */
bool relay_start(struct relay **out, struct loop *l, const struct relay_config *config,
                 const struct relay_events *events, void *to, int *errnum,
                 struct err *e) MUST_CHECK;

/* Somebody wants us to end: the signal goes to the server's family. */
void relay_signal(struct relay *r, int signum);

void relay_close(struct relay *r); /* NULL is fine */

#endif

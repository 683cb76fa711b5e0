/* transport/stdio-server.h - runs a stdio server as a child process, with us as its client.
 *
 * Messages are sent with a newline; stdout is reported in lines, stderr in complete lines. The
 * server is always read, even if it does not read: one that writes before it reads must not
 * block for ever. After stdio_server_end() at most 4 MB more are read. Knows no JSON. */
#ifndef TRANSPORT_STDIO_SERVER_H
#define TRANSPORT_STDIO_SERVER_H

#include <stdint.h>

#include "base/str.h"
#include "loop/loop.h"

struct stdio_server;

struct stdio_server_events {
    void (*line)(void *to, struct str line); /* without newline */
    void (*too_long)(void *to, uint64_t bytes);
    void (*stderr_text)(void *to, struct str text);
    void (*output_closed)(void *to); /* no more lines come; once */
    /* The server did not exit in time after stdio_server_end() and gets SIGTERM. May be NULL.
     */
    void (*sigterm_sent)(void *to);
    /* The server has ended and all its output was reported; once, and last. `code` if it
     * exited, `signum` (not 0) if a signal killed it; -1 and 0: it did not even end after
     * SIGKILL. */
    void (*done)(void *to, int code, int signum);
};

/* Starts the server. ERR_PEER if that fails, with the errno in `*errnum`. Borrows `argv` during
 * the call, `events` until stdio_server_close(). */
bool stdio_server_start(struct stdio_server **out, struct loop *l, char *const *argv,
                        size_t max_line, const struct stdio_server_events *events, void *to,
                        int *errnum, struct err *e) MUST_CHECK;

/* Drops the message if the server has ended, or after stdio_server_end(). */
void stdio_server_send(struct stdio_server *c, struct str message);

size_t stdio_server_queued(const struct stdio_server *c); /* bytes not taken yet */

/* Closes the server's stdin after the queued messages and gives it the time of a process to
 * exit: 2 s at most if it goes on writing. */
void stdio_server_end(struct stdio_server *c);

/* Stops the server without waiting for it to exit by itself. */
void stdio_server_stop(struct stdio_server *c);

/* Frees it; kills a server that has not ended. In events only allowed in `done`. NULL is fine.
 */
void stdio_server_close(struct stdio_server *c);

#endif

/* tests/unit/relay-session.h - a client, a relay and a server on one loop.
 *
 * The server is a shell script. The bytes that the client gets and the lines of the owner
 * are kept side by side, to be compared. */
#ifndef RELAY_SESSION_H
#define RELAY_SESSION_H

#include "base/buf.h"
#include "loop/stream.h"
#include "transport/stdio-relay.h"

enum { RELAY_SESSION_MAX_LINE = 4 << 20 };

/* A client, a relay and a server: the bytes that the client gets, and the events of the relay.
 */
struct relay_session {
    struct loop *loop;
    struct stdio_relay *relay;
    struct stream *client_out, *client_in, *client_err;
    struct buf client_text, stderr_text;          /* by the client */
    struct buf to_server, to_client, stderr_seen; /* handed over; lines with their newline */
    struct buf events;                            /* the events, in a word each */
    bool close_when_written;                      /* the client has closed its side */
    const char *stop_at; /* stop the loop when the client has received this */
    void (*on_line)(struct relay_session *s, enum record_dir dir, size_t len);
    int received_fd, server_stdin;
};

extern const struct stdio_relay_events relay_session_events;

void relay_session_start(struct relay_session *s, const char *script);
void relay_session_run(
    struct relay_session *s); /* until the relay is done and the client has all */
void relay_session_run_for(struct relay_session *s, uint64_t ms);
void relay_session_end(struct relay_session *s);

/* As the client. */
void relay_session_send(struct relay_session *s, struct str bytes);
void relay_session_send_and_close(struct relay_session *s, struct str bytes);
void relay_session_close_client(struct relay_session *s);

/* The same on every run; newlines now and then, NUL bytes and bytes that are not
 * UTF-8 often. */
void relay_session_fill(struct buf *b, size_t n, uint32_t seed);

#endif

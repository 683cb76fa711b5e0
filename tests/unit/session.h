/* tests/unit/session.h - a client, a relay and a server on one loop.
 *
 * The server is a shell script. What the client gets and what is handed over is kept
 * side by side, to be compared. */
#ifndef SESSION_H
#define SESSION_H

#include "base/buf.h"
#include "loop/stream.h"
#include "transport/relay.h"

enum { SESSION_MAX_LINE = 4 << 20 };

/* A client, a relay and a server: what the client gets, what is handed over. */
struct session {
    struct loop *loop;
    struct relay *relay;
    struct stream *to_relay, *from_relay, *from_errors;
    struct buf received, errors; /* by the client */
    struct buf up, down, talk;   /* handed over; lines with their newline */
    struct buf events;           /* what happened, in a word each */
    bool close_when_written;     /* the client says no more */
    const char *stop_at;         /* stop the loop when the client has received this */
    void (*on_line)(struct session *s, enum record_dir dir, size_t len);
    int received_fd, server_stdin;
};

extern const struct relay_events session_events;

void session_begin(struct session *s, const char *script);
void session_run(struct session *s); /* until the relay is done and the client has all */
void session_run_for(struct session *s, uint64_t ms);
void session_end(struct session *s);

/* As the client. */
void session_say(struct session *s, struct str bytes);
void session_say_all_and_hang_up(struct session *s, struct str bytes);
void session_hang_up(struct session *s);

/* The same on every run; newlines now and then, NUL bytes and bytes that are not
 * UTF-8 often. */
void session_fill(struct buf *b, size_t n, uint32_t seed);

#endif

/* loop/stream.h - bytes in or out of a descriptor: pipe, socket, terminal or file.
 *
 * Knows no framing. Writing takes what the descriptor accepts at once and queues a
 * copy of the rest; whoever writes watches stream_queued() and stops its own source
 * while it is high, which is all back-pressure needs. */
#ifndef LOOP_STREAM_H
#define LOOP_STREAM_H

#include "base/str.h"
#include "loop/loop.h"

struct stream;

struct stream_events {
    /* Some bytes arrived; borrowed. May be NULL in a stream that is only written. */
    void (*data)(void *to, struct str bytes);
    /* Nothing more will arrive: the end (`why` NULL) or a failure. Once. */
    void (*end)(void *to, const struct err *why);
    /* All that was queued has been written. May be NULL. */
    void (*drained)(void *to);
    /* Writing failed: the peer is gone (ERR_PEER), or something else (ERR_IO). What is
     * written from now on is dropped. Once, maybe before stream_write() returns. May be
     * NULL. */
    void (*broken)(void *to, const struct err *why);
};

/* Takes the descriptor over: it is closed with the stream, unless it is one of our
 * own standard streams, which others may have open, too: these stay open, and
 * blocking. (A socket cannot be opened anew, so one of these is non-blocking for all who
 * have it until the stream is closed, and stays so if we are killed before.) To be read if
 * there is a `data` event, else to be written; refused, and still the caller's, if it cannot
 * be. A socket that is read can be written, too. `events` is borrowed for the stream's life. */
bool stream_open(struct stream **out, struct loop *l, int fd,
                 const struct stream_events *events, void *to, struct err *e) MUST_CHECK;

/* To whom its events go, from now on. */
void stream_tell(struct stream *s, void *to);

void stream_read(struct stream *s, bool on);
void stream_write(struct stream *s, struct str bytes);

/* What is written is held until the end of the loop's turn (loop/outbox.h), or until somebody
 * asks stream_queued(). Not for files. `broken` must then neither write nor close. */
void stream_hold(struct stream *s);
size_t stream_queued(const struct stream *s); /* bytes the peer has yet to take */

/* Nothing more will be written: the peer of a socket sees the end after what is queued, and
 * may itself go on. Not for files. */
void stream_finish(struct stream *s);

/* Whether whoever writes to us has gone, which a stream that is not being read does not
 * tell by itself. There may still be something to read. */
bool stream_abandoned(const struct stream *s);

/* Whether there is something to read that was not handed over yet, or the end. Not for files.
 */
bool stream_pending(const struct stream *s);

/* Whether it is broken both ways, which who neither reads nor writes is not told. */
bool stream_severed(const struct stream *s);

/* As stream_close(), and whoever is at the other end sees that nothing more comes, also of
 * one of our own standard streams: in its place is nothing then. NULL is fine. */
void stream_hang_up(struct stream *s);

/* As stream_close(), but the peer of a TCP connection sees that it was broken, not ended.
 * After stream_finish() it has seen the end already. NULL is fine. */
void stream_reset(struct stream *s);

/* Close now; what is queued is lost. No event comes after this. NULL is fine. */
void stream_close(struct stream *s);

#endif

/* loop/stream.h - reads from and writes to a descriptor: pipe, socket, terminal or file.
 *
 * Knows no framing. A write takes what the descriptor accepts at once and queues a copy of the
 * rest. For back-pressure the writer watches stream_queued() and stops its own source while
 * that is high. */
#ifndef LOOP_STREAM_H
#define LOOP_STREAM_H

#include "base/str.h"
#include "loop/loop.h"

struct stream;

struct stream_events {
    /* Some bytes arrived; borrowed. May be NULL in a stream that is only written. */
    void (*data)(void *to, struct str bytes);
    /* Nothing more will arrive: end of file (`why` NULL) or an error. Once. */
    void (*end)(void *to, const struct err *why);
    /* All queued bytes have been written. May be NULL. */
    void (*drained)(void *to);
    /* Writing failed: the other side is gone (ERR_PEER), or another error (ERR_IO). Bytes
     * written from now on are dropped. Once, maybe before stream_write() returns. May be NULL.
     */
    void (*broken)(void *to, const struct err *why);
};

/* Takes over the descriptor: it is closed with the stream, unless it is one of our own standard
 * streams, which other processes may have open, too: these stay open, and blocking. (A socket
 * cannot be reopened, so such a one is non-blocking for all processes that have it until the
 * stream is closed, and stays so if we are killed before.) With a `data` event it is opened to
 * be read, else to be written. Fails, and the descriptor stays the caller's, if its access mode
 * does not fit. A socket that is read can be written, too. `events` is borrowed for the
 * stream's life. */
bool stream_open(struct stream **out, struct loop *l, int fd,
                 const struct stream_events *events, void *to, struct err *e) MUST_CHECK;

/* Sets the first argument of all events from now on. */
void stream_set_receiver(struct stream *s, void *to);

void stream_read(struct stream *s, bool on);
void stream_write(struct stream *s, struct str bytes);

/* From now on keeps written bytes until the end of the loop iteration (loop/write-batch.h), or
 * until stream_queued() is called. Not for files. `broken` must then neither write nor close.
 */
void stream_batch_writes(struct stream *s);

/* Returns how many bytes the other side has yet to take. */
size_t stream_queued(const struct stream *s);

/* Shuts down the writing side: the other side of a socket sees the end after the queued bytes,
 * and may go on sending. Not for files. */
void stream_shutdown(struct stream *s);

/* Returns whether the other side has closed, which a stream that is not being read does not
 * report. There may still be bytes to read. */
bool stream_is_peer_closed(const struct stream *s);

/* Returns whether there are bytes to read that were not reported yet, or the end. Not for
 * files. */
bool stream_has_input(const struct stream *s);

/* Returns whether it is broken in both directions, which a stream that is neither read nor
 * written does not report. */
bool stream_is_broken(const struct stream *s);

/* As stream_close(), but the other side sees the end even of one of our own standard streams,
 * which is replaced by /dev/null. NULL is fine. */
void stream_hang_up(struct stream *s);

/* As stream_close(), but resets a TCP connection instead of ending it. After stream_shutdown()
 * the other side has seen the end already. NULL is fine. */
void stream_reset(struct stream *s);

/* Closes it now; queued bytes are lost. No event comes after this. NULL is fine. */
void stream_close(struct stream *s);

#endif

/* transport/line-io.h - reads and writes newline-terminated messages.
 *
 * The reader reports lines; a last line without newline counts. It does not know where the
 * bytes come from. The writer adds the newline and sends message and newline with a single
 * write up to 64 KB: some clients and servers take the bytes of one read for one message. */
#ifndef TRANSPORT_LINE_IO_H
#define TRANSPORT_LINE_IO_H

#include "loop/stream.h"
#include "wire/lines.h"

struct line_reader_events {
    void (*line)(void *to, struct str line);    /* without newline; borrowed */
    void (*too_long)(void *to, uint64_t bytes); /* a line longer than max_line, dropped */
};

struct line_reader {
    struct lines lines;
    const struct line_reader_events *events;
    void *to;
};

/* Borrows `events`. */
void line_reader_init(struct line_reader *in, size_t max_line,
                      const struct line_reader_events *events, void *to);
void line_reader_release(struct line_reader *in);

void line_reader_feed(struct line_reader *in, struct str bytes);
void line_reader_end(struct line_reader *in); /* end of input; may be called twice */

struct line_writer {
    struct buf line; /* to compose one write */
};

void line_writer_init(struct line_writer *o);
void line_writer_release(struct line_writer *o);

void line_writer_send(struct line_writer *o, struct stream *into, struct str message);

#endif

/* format/encoder.h - turns records into the text of a file, in any format.
 *
 * Appends the text to the buffer that each call names, and does not know where it goes: a file
 * (format/writer.h, format/live-writer.h) or another destination. Builds the operations for a
 * format that takes operations (ops/op-builder.h). The caller has to notice a full buffer. */
#ifndef FORMAT_ENCODER_H
#define FORMAT_ENCODER_H

#include "format/format.h"

struct operation_encoder;

struct encoder {
    const struct format *format;          /* NULL: not begun, or ended */
    void *state;                          /* of the format */
    struct operation_encoder *operations; /* NULL in a format that takes only records */
};

/* The encoder may be moved until the end. Borrows the texts of `options` until then; NULL: the
 * defaults. */
void encoder_begin(struct encoder *c, const struct format *format,
                   const struct format_options *options);

/* For formats that take operations. */
void encoder_put_operations(struct encoder *c, struct buf *to, const struct record *r);

static inline void encoder_put(struct encoder *c, struct buf *to, const struct record *r)
{
    if (c->operations)
        encoder_put_operations(c, to, r);
    c->format->put(c->state, to, r);
}

/* Appends a part of the rest, until it returns false; nothing may be put afterwards. Not
 * needed before encoder_end(), which appends all of it. */
bool encoder_flush(struct encoder *c, struct buf *to);

/* Appends the rest and releases everything. Does nothing if it has ended before. */
void encoder_end(struct encoder *c, struct buf *to);

/* Whether no interaction was put, for formats of one document. Nothing may be put afterwards.
 */
bool encoder_is_empty(const struct encoder *c);

#endif

/* wire/sse-writer.h - writes server-sent events.
 *
 * A reader gets the item that was written, with one exception of the format: CR and CRLF in
 * data become LF. */
#ifndef WIRE_SSE_WRITER_H
#define WIRE_SSE_WRITER_H

#include "base/buf.h"
#include "wire/sse.h"

/* Adds a block (the comment, event, id, retry and data that are present, and an empty line).
 * Comment and data may have several lines. ERR_INPUT, with nothing added, for a line break in
 * an event or id, or a NUL in an id: readers would see another value. */
bool sse_writer_add(struct buf *to, const struct sse_item *item, struct err *e) MUST_CHECK;

#endif

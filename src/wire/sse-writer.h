/* wire/sse-writer.h - server-sent events, written.
 *
 * What a reader gets of it is what was given, with one exception that the format has:
 * a line break inside data is a line break, and CR and CRLF come out as LF. */
#ifndef WIRE_SSE_WRITER_H
#define WIRE_SSE_WRITER_H

#include "base/buf.h"
#include "wire/sse.h"

/* Adds a block: event, id, retry, data, as far as they are there, and its empty line; or
 * a comment, which may have several lines. ERR_INPUT, and nothing added, for a line
 * break in an event or id, or a NUL in an id: it would be another one. */
bool sse_writer_add(struct buf *to, const struct sse_item *item, struct err *e) MUST_CHECK;

#endif

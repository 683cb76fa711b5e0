/* format/har-write.h - writes records as a HAR document.
 *
 * An entry is written when its exchange has ended, so memory holds the open exchanges only.
 * Messages that were recorded without HTTP get exchanges of their own: a POST for each message
 * of the client, with the response to it; a GET with one event for each other message of the
 * server. Values without a place in HAR are in members "_mcpreel" (format/har-read.h), so that
 * the messages are read back as they were. */
#ifndef FORMAT_HAR_WRITE_H
#define FORMAT_HAR_WRITE_H

#include "format/format.h"

struct har_write;

struct har_write *har_write_new(void);

/* Like the functions of struct format. */
void har_write_put(struct har_write *w, struct buf *to, const struct record *r);
bool har_write_is_empty(const struct har_write *w);
void har_write_end(struct har_write *w, struct buf *to); /* also frees it */

#endif

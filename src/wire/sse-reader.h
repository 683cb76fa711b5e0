/* wire/sse-reader.h - parses server-sent events from a byte stream.
 *
 * Follows the HTML standard: lines end in LF, CR or CRLF; one byte order mark at the start is
 * skipped; an id with a NUL and a retry that is no number are ignored, as are unknown fields.
 * More than the standard asks for is reported, for recording: comments (at the end of their
 * line), blocks without data, and the block or comment that the end of the stream cut off.
 *
 * Items do not depend on how the input is split and are returned at the first byte that
 * completes them. A block or comment of more than `max` bytes is dropped and only counted. A
 * retry beyond INT64_MAX becomes INT64_MAX.
 *
 * Fed bytes are borrowed until SSE_MORE. Items point into the reader and are valid until the
 * next call. */
#ifndef WIRE_SSE_READER_H
#define WIRE_SSE_READER_H

#include "base/buf.h"
#include "wire/sse.h"

enum sse_next {
    SSE_MORE,    /* needs more input */
    SSE_EVENT,   /* a block with at least one valid field */
    SSE_COMMENT, /* one line; inside a block it is returned before the block */
};

/* Where the value of a line is stored. A value that replaces an earlier one is collected in
 * SSE_SCRATCH until its line is complete. */
enum sse_part { SSE_DATA, SSE_TYPE, SSE_ID, SSE_COMMENT_TEXT, SSE_SCRATCH, SSE_PARTS };

enum sse_field {
    SSE_FIELD_UNKNOWN,
    SSE_FIELD_COMMENT,
    SSE_FIELD_DATA,
    SSE_FIELD_EVENT,
    SSE_FIELD_ID,
    SSE_FIELD_RETRY,
};

/* The size of a block or of a comment: a comment inside a block is counted apart. */
struct sse_size {
    uint64_t bytes;
    bool too_long;
    bool handed_out; /* set when the item was returned; the next call clears it */
};

struct sse_reader {
    struct str input; /* the fed bytes not consumed yet; callers may read it for the position */
    const char *lf;   /* the next LF in `input`, or its end; NULL: not searched yet */
    size_t max;

    struct buf part[SSE_PARTS];
    bool has_data, has_type, has_id, has_known_field;
    int64_t retry;
    struct sse_size block, comment;

    char name[8];    /* the field name of the current line */
    size_t name_len; /* more than fits: an unknown field */
    enum sse_field field;
    bool line_begun; /* the current line has bytes */
    bool in_value;   /* its colon was read */
    bool skip_blank; /* a blank comes next that is not part of the value */
    bool after_cr;   /* the last line ended in CR: skip an LF */
    unsigned bom;    /* bytes of a byte order mark that matched; 3: done */
};

void sse_reader_init(struct sse_reader *r, size_t max);
void sse_reader_release(struct sse_reader *r);

void sse_reader_feed(struct sse_reader *r, struct str bytes);
enum sse_next sse_reader_next(struct sse_reader *r, struct sse_item *item);

/* Ends the stream. Returns what it cut off: an unfinished comment, then an unfinished block
 * (clients ignore both); SSE_MORE if there is nothing left. */
enum sse_next sse_reader_end(struct sse_reader *r, struct sse_item *item);

#endif

/* wire/sse-reader.h - server-sent events out of a byte stream.
 *
 * By the rules of HTML: lines end in LF, CR or CRLF and nothing else; one byte order
 * mark in front is none of the text; an id with a NUL and a retry that is no number do
 * not count; fields nobody knows are passed over. But for those who want to see what
 * was there: comments come out, at the end of their line; blocks without data come
 * out; and what the end of the stream cuts off can be had.
 *
 * However the input is cut, the same items come out, each at the earliest byte that
 * makes it whole. A block or comment of more than `max` bytes is not kept, only
 * counted. A retry beyond 2^63-1 is cut to that.
 *
 * Ownership: fed bytes are borrowed until SSE_MORE. Items point into the reader and
 * are valid until the next call. */
#ifndef WIRE_SSE_READER_H
#define WIRE_SSE_READER_H

#include "base/buf.h"
#include "wire/sse.h"

enum sse_next {
    SSE_MORE,    /* feed me */
    SSE_EVENT,   /* a block with at least one field that counts */
    SSE_COMMENT, /* a line; if it stands inside a block it comes out before that */
};

/* Where the value of a line goes; what is overwritten by a later line waits in SCRATCH
 * until its line is whole. */
enum sse_part { SSE_DATA, SSE_TYPE, SSE_ID, SSE_REMARK, SSE_SCRATCH, SSE_PARTS };

enum sse_field {
    SSE_FIELD_UNKNOWN,
    SSE_FIELD_COMMENT,
    SSE_FIELD_DATA,
    SSE_FIELD_EVENT,
    SSE_FIELD_ID,
    SSE_FIELD_RETRY,
};

/* Blocks and comments are measured apart: a comment may stand inside a block. */
struct sse_measure {
    uint64_t bytes;
    bool too_long;
    bool handed_out; /* the caller has it: it is gone at the next call */
};

struct sse_reader {
    struct str input; /* what is left of the chunk: so whoever feeds sees how far we are */
    const char *lf;   /* the next one in it, or its end; NULL: not looked for */
    size_t max;

    struct buf part[SSE_PARTS];
    bool has_data, has_type, has_id, has_known;
    int64_t retry;
    struct sse_measure block, remark;

    char name[8];    /* of the line's field */
    size_t name_len; /* more than fits: nobody knows it */
    enum sse_field field;
    bool begun;    /* the line has bytes */
    bool in_value; /* its colon was there */
    bool at_blank; /* a blank now is not of the value */
    bool after_cr; /* an LF now belongs to the line before */
    unsigned bom;  /* bytes of it that were there; 3: none will come */
};

void sse_reader_init(struct sse_reader *r, size_t max);
void sse_reader_release(struct sse_reader *r);

void sse_reader_feed(struct sse_reader *r, struct str bytes);
enum sse_next sse_reader_next(struct sse_reader *r, struct sse_item *item);

/* The stream is over. What it cut off, which no client acts upon: a comment, then a
 * block, as far as they went; SSE_MORE: nothing (any more). */
enum sse_next sse_reader_end(struct sse_reader *r, struct sse_item *item);

#endif

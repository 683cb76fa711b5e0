/* wire/head.h - collects lines up to an empty one: the head of a message, or trailers.
 *
 * Splits lines and does not look into them. Every line must end in CR LF. A CR or LF alone, any
 * other control character but the tab, and the first byte beyond a limit are rejected at once.
 * The result does not depend on how the input is split.
 *
 * Copies what is fed. `text` is the complete head with its empty line from HEAD_COMPLETE until
 * head_clear(). */
#ifndef WIRE_HEAD_H
#define WIRE_HEAD_H

#include "base/buf.h"
#include "wire/reject-reason.h"

/* Bytes of memory that head_clear() keeps: a connection must not keep those of a rare, long
 * head. */
enum { HEAD_KEEP = 4096 };

/* The largest values that are accepted. */
struct head_limits {
    size_t first_line; /* bytes without CR LF; else 414 */
    size_t bytes;      /* of all lines with CR LF; else 431 */
    size_t lines;      /* without the empty one; else 431 */
};

struct head {
    const struct head_limits *limits;
    struct buf text;
    size_t line_at; /* start of the unfinished line */
    size_t lines;   /* complete ones */
    bool after_cr;  /* the last byte was CR */
    bool complete;
    enum reject_reason reason;
};

enum head_next {
    HEAD_MORE,     /* needs more input */
    HEAD_COMPLETE, /* the empty line was read; `*in` holds what follows it */
    HEAD_REJECTED, /* see `reason`; every later call returns the same */
};

void head_init(struct head *h, const struct head_limits *limits); /* borrows `limits` */
void head_release(struct head *h);
void head_clear(struct head *h); /* resets; keeps up to HEAD_KEEP bytes of memory */

/* Consumes the bytes of the head from the front of `*in`. */
enum head_next head_feed(struct head *h, struct str *in);

#endif

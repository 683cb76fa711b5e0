/* wire/head.h - lines until an empty one: the head of a request, or the trailers of a body.
 *
 * Cuts nothing but lines and knows nothing of what they say. Every line ends in CR LF;
 * a CR or LF alone and every other control character but the tab are refused at once,
 * as is the first byte beyond a limit. However the input is cut, the same head or the
 * same refusal comes of it.
 *
 * Ownership: what is fed is copied; `text` is the whole head, empty line included,
 * from HEAD_WHOLE until head_clear(). */
#ifndef WIRE_HEAD_H
#define WIRE_HEAD_H

#include "base/buf.h"
#include "wire/refusal.h"

/* What one rare head needed must not stay with its connection. */
enum { HEAD_KEEP = 4096 };

/* Of what is taken; one more is refused. */
struct head_limits {
    size_t first_line; /* bytes, its end not counted; 414 */
    size_t bytes;      /* of all lines with their ends; 431 */
    size_t lines;      /* the empty one not counted; 431 */
};

struct head {
    const struct head_limits *limits;
    struct buf text;
    size_t line_at; /* where the unfinished line begins */
    size_t lines;   /* whole ones */
    bool cr;        /* the last byte was one */
    bool whole;
    enum refusal why;
};

enum head_next {
    HEAD_MORE,    /* feed me */
    HEAD_WHOLE,   /* the empty line was there; what follows it is still in `*in` */
    HEAD_REFUSED, /* see `why`; more changes nothing */
};

void head_init(struct head *h, const struct head_limits *limits); /* borrowed for good */
void head_release(struct head *h);
void head_clear(struct head *h); /* as new, but for up to HEAD_KEEP bytes of memory */

/* Takes from the front of `*in` what belongs to the head. */
enum head_next head_feed(struct head *h, struct str *in);

#endif

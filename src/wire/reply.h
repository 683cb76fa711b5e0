/* wire/reply.h - the head of an HTTP/1.1 answer, read strictly and piece by piece.
 *
 * Takes what can be understood in one way only: an answer that ends elsewhere for us than
 * for its server would put the next one in the wrong place. Knows no descriptor and no
 * clock. However the input is cut, the same answer or the same refusal comes of it.
 *
 * - HTTP/1.0 is taken, without chunks.
 * - With both chunks and a length the chunks count, as HTTP has it, but nobody should
 *   trust the connection any more. Equal lengths are one.
 * - 1xx are answers like any other here; whoever waits for the real one clears them away.
 *
 * Ownership: everything points into the head, which stays until reply_clear(). */
#ifndef WIRE_REPLY_H
#define WIRE_REPLY_H

#include "wire/body.h"
#include "wire/fields.h"
#include "wire/head.h"

enum {
    REPLY_LINE_MAX = 8 << 10,
    REPLY_HEAD_MAX = 256 << 10, /* all lines with their ends, the empty one too */
    REPLY_FIELDS_MAX = 500,
};

struct reply {
    struct head head;

    /* From here on: once it is whole. */
    unsigned status;      /* 100 to 599 */
    struct str phrase;    /* may be empty */
    int minor;            /* 1 or 0 */
    struct fields fields; /* all of them */
    struct body_plan body;
    bool bodiless;    /* nothing follows, whatever `body` says would */
    bool until_close; /* how much follows, nobody knows; `body` is then BODY_NONE */
    bool keep_alive;  /* the connection can be used again after it */

    const char *why; /* of a refusal, for people: "a line that ends in LF alone" */
};

enum reply_next {
    REPLY_MORE,    /* feed me */
    REPLY_WHOLE,   /* what follows the head is still in `*in` */
    REPLY_REFUSED, /* see `why`; more changes nothing */
};

void reply_init(struct reply *r);
void reply_release(struct reply *r);
void reply_clear(struct reply *r); /* ready for another one */

/* Takes from the front of `*in` what belongs to the head. `to_head`: it answers HEAD. */
enum reply_next reply_feed(struct reply *r, struct str *in, bool to_head);

#endif

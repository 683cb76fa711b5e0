/* trace/loss.h - what a format cannot keep of the records that are written in it.
 *
 * A sink that counts, by part. Only what was there can be lost: who guessed which side
 * sent a message, because the file did not say, loses nothing when it is not said
 * again. A format takes back whatever was read from it, also if it was a recording in
 * between: its header says where it came from, and the exchanges have no times. Members
 * that it does not know, it takes back one by one. */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include "trace/pairing.h"
#include "trace/part.h"
#include "json/write.h"

struct loss {
    struct sink sink; /* put records here */
    unsigned keeps;   /* enum part: what the format keeps */
    unsigned had;     /* what that of the records to come keeps; may change */
    bool same;        /* it is the same format; may change */
    struct str name;  /* of the format written; empty: it is nobody's source */
    uint64_t count[PART_COUNT];
    uint64_t unknown;  /* lines of types that no format keeps */
    uint64_t left_out; /* values that were lost in reading, whatever is written */

    /* Its own. */
    bool returns;   /* the header says that it came from this format */
    bool connected; /* a record had a connection */
    uint64_t conn;  /* of the first that did */
    bool in_line;   /* standard error ends inside a line */
    uint64_t sent;  /* messages of the client's, without its answers */
    struct pairing pairs;
    struct arena arena;
};

void loss_init(struct loss *l, unsigned keeps);
void loss_release(struct loss *l);

bool loss_any(const struct loss *l);

/* "12 lines of standard error, the recording's name" */
void loss_add(struct buf *to, const struct loss *l);

/* {"stderr":12,"name":1} */
void loss_json(struct json_out *o, const struct loss *l);

#endif

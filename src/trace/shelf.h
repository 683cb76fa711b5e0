/* trace/shelf.h - messages put away, to be got back byte by byte.
 *
 * Whoever plays a recording keeps an index of it in memory and the messages here. Where
 * they lie in truth (a file, a copy of parts of it, memory) is not its business.
 *
 * What comes back is what was put, on one line: a line break of a message that was laid
 * out for people is a blank. */
#ifndef TRACE_SHELF_H
#define TRACE_SHELF_H

#include <stdint.h>

#include "base/buf.h"

struct shelf_place {
    uint64_t at; /* below SHELF_MAX */
    uint32_t len;
};

#define SHELF_MAX ((uint64_t)1 << 48)

struct shelf {
    /* `message` is JSON as it stands in the record that is being handled. */
    bool (*keep)(struct shelf *self, struct str message, struct shelf_place *where,
                 struct err *e) MUST_CHECK;

    /* Bytes that are no message, but what somebody knows of many; they come back as they
     * are. */
    bool (*store)(struct shelf *self, struct str bytes, struct shelf_place *where,
                  struct err *e) MUST_CHECK;

    /* `to` holds it afterwards, and nothing else. */
    bool (*fetch)(struct shelf *self, struct shelf_place where, struct buf *to,
                  struct err *e) MUST_CHECK;
};

/* A shelf in memory, for recordings that are small or made up. */
struct shelf_memory {
    struct shelf shelf;
    struct buf text;
};

void shelf_memory_init(struct shelf_memory *m);
void shelf_memory_release(struct shelf_memory *m);

/* Makes one line of what stands there. */
void shelf_flatten(char *text, size_t len);

#endif

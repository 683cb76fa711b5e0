/* tests/fuzz/turns.h - one side of a connection: heads and bodies in turn, until something is
 * refused or has no end.
 *
 * Writes down the bodies; heads are read, and written down, by somebody who knows them. */
#ifndef TURNS_H
#define TURNS_H

#include "cuts.h"
#include "wire/body.h"

struct turns {
    /* Takes from the front of `*in`; whole, it calls turns_body() or sets `over`, refused,
     * turns_refuse(). */
    void (*read_head)(struct turns *t, struct str *in);
    void (*clear_head)(void *head);
    void *head;
    struct buf *seen;

    bool over;
    bool in_body;
    struct body body;
};

void turns_body(struct turns *t, struct body_plan plan);
void turns_refuse(struct turns *t, const char *why);
void turns_run(struct turns *t, struct cuts *c);

#endif

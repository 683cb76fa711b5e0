/* tests/unit/ear.h - whoever has a connection, as one who writes down what he is told of it.
 *
 * Its four functions are the callbacks of a connection, be it a dial or a far one. What ends
 * the loop: the end, a failure, and as many bytes as one wants to hear. */
#ifndef EAR_H
#define EAR_H

#include "base/buf.h"
#include "loop/timer.h"
#include "transport/dial.h"

struct ear {
    struct loop *loop;
    struct buf seen;
    size_t bytes, stop_at;
    int drains, ends;
    bool quiet;  /* counts bytes and does not keep them */
    bool pauses; /* stops reading after each piece, for a moment */
    bool clean, failed;
    enum dial_fault fault;

    void (*read)(void *connection, bool on);
    void *connection;
    struct timer *later;
};

void ear_init(struct ear *e, void (*read)(void *connection, bool on));
void ear_release(struct ear *e); /* the loop with it */

void ear_data(void *to, struct str bytes);
void ear_end(void *to, bool clean);
void ear_failed(void *to, enum dial_fault fault, const struct err *why);
void ear_drained(void *to);

#endif

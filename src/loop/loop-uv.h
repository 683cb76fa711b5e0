/* loop/loop-uv.h - what the modules of this folder share; nobody else includes it. */
#ifndef LOOP_LOOP_UV_H
#define LOOP_LOOP_UV_H

#include <signal.h>
#include <uv.h>

#include "loop/descriptors.h"
#include "loop/loop.h"

struct loop {
    uv_loop_t uv;
    struct loop_signal {
        int signum;
        struct sigaction before; /* what it did before the loop made it its own */
    } taken[3];
    sigset_t mask;    /* what was blocked then */
    char *const *env; /* of children; NULL: ours */
    struct descriptors descriptors;
    struct outbox *outbox; /* NULL: nobody's writes were held yet */
    char *chunk; /* what was just read from whatever is polled; NULL: nothing was yet */
};

/* Signals and limits, as they were before. For the process between fork and exec, too. */
void loop_restore(const struct loop *l);

/* ERR_IO in libuv's words; returns false. */
bool loop_fault(struct err *e, int uv_code);

#endif

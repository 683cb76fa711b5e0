/* loop/loop-uv.h - the inside of struct loop, for the modules of this folder only. */
#ifndef LOOP_LOOP_UV_H
#define LOOP_LOOP_UV_H

#include <signal.h>
#include <uv.h>

#include "loop/fd-limit.h"
#include "loop/loop.h"

struct loop {
    uv_loop_t uv;
    struct loop_signal {
        int signum;
        struct sigaction old_action; /* from before loop_new() */
    } saved_signals[3];
    sigset_t old_mask; /* of blocked signals, from before loop_new() */
    char *const *env;  /* of children; NULL: ours */
    const char *cwd;   /* the same */
    struct fd_limit fd_limit;
    struct write_batch *write_batch; /* NULL until the first stream batches its writes */
    char *read_buf; /* shared by all polled streams; NULL until the first read */
};

/* Restores signals and limits. May be called between fork and exec. */
void loop_restore(const struct loop *l);

/* Sets ERR_IO with libuv's text; returns false. */
bool loop_set_err(struct err *e, int uv_code);

#endif

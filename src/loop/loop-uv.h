/* loop/loop-uv.h - what the modules of this folder share; nobody else includes it. */
#ifndef LOOP_LOOP_UV_H
#define LOOP_LOOP_UV_H

#include <uv.h>

#include "loop/loop.h"

struct loop {
    uv_loop_t uv;
};

/* ERR_IO in libuv's words; returns false. */
bool loop_fault(struct err *e, int uv_code);

#endif

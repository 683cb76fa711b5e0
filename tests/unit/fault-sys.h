/* tests/unit/fault-sys.h - a table of system calls with planned failures.
 *
 * Otherwise does what the system does, and counts. Faults are planned per kind of
 * call and by number: fault_fail(&f, FAULT_WRITE, 3, 1, ENOSPC) lets two writes pass,
 * fails the third and lets the rest pass. May be used from several threads at once
 * as soon as all is planned.
 *
 * A failing call does nothing, except close: as in the real system the descriptor is
 * gone all the same. */
#ifndef FAULT_SYS_H
#define FAULT_SYS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

enum fault_call {
    FAULT_OPEN,
    FAULT_READ,
    FAULT_PREAD,
    FAULT_WRITE,
    FAULT_FSTAT,
    FAULT_FDATASYNC,
    FAULT_FSYNC,
    FAULT_FTRUNCATE,
    FAULT_FCHOWN,
    FAULT_FCHMOD,
    FAULT_FLOCK,
    FAULT_RENAME,
    FAULT_LINK,
    FAULT_UNLINK,
    FAULT_MKDIR,
    FAULT_CLOSE,
    FAULT_CALLS
};

enum { FAULT_MAX = 16, FAULT_FOREVER = 1 << 30 };

struct fault_sys {
    struct sys sys; /* hand &f.sys down */
    atomic_uint calls[FAULT_CALLS];
    struct fault {
        enum fault_call call;
        unsigned nth, times;
        enum fault_kind { FAULT_ERROR, FAULT_SHORT, FAULT_SLOW, FAULT_GATE, FAULT_KILL } kind;
        int errnum;
        size_t most;
        int64_t us;
        int gate;
    } faults[FAULT_MAX];
    size_t count;
};

void fault_init(struct fault_sys *f); /* no faults, nothing counted */

/* Calls nth to nth + times - 1 of their kind fail; the first is number 1. */
void fault_fail(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int errnum);

/* The same for reads or writes that move `most` bytes at most. */
void fault_short(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                 size_t most);

/* The calls take so long, and then succeed. */
void fault_slow(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int64_t us);

/* They wait until `gate` can be read or its other end is closed: a disk that hangs. */
void fault_gate(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int gate);

/* Waits until another thread has made so many calls; a test that waits in vain must have
 * itself ended. */
void fault_wait_for(struct fault_sys *f, enum fault_call call, unsigned count);

/* The process is killed instead of the call. */
void fault_kill(struct fault_sys *f, enum fault_call call, unsigned nth);

#endif

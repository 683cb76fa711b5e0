#include "fault-sys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/err.h"

/* A slow call is no fault for the caller. */
static const struct fault *apply_fault(const struct fault *fault)
{
    struct pollfd gate = { .fd = fault->gate, .events = POLLIN };

    switch (fault->kind) {
    case FAULT_SLOW:
        usleep((useconds_t)fault->us);
        return NULL;
    case FAULT_GATE:
        while (poll(&gate, 1, -1) < 1)
            ;
        return NULL;
    case FAULT_KILL:
        kill(getpid(), SIGKILL);
        pause();
        return NULL;
    default:
        return fault;
    }
}

/* Counts the call; the fault that is planned for it, or NULL. */
static const struct fault *next_call(const struct sys *s, enum fault_call call)
{
    struct fault_sys *f = (struct fault_sys *)s; /* the table is its first member */
    unsigned number = atomic_fetch_add(&f->calls[call], 1) + 1;

    for (size_t i = 0; i < f->count; i++) {
        const struct fault *fault = &f->faults[i];
        if (fault->call == call && number >= fault->nth && number - fault->nth < fault->times)
            return apply_fault(fault);
    }
    return NULL;
}

static bool fails(const struct sys *s, enum fault_call call)
{
    const struct fault *fault = next_call(s, call);

    if (!fault)
        return false;
    errno = fault->errnum;
    return true;
}

static int fault_open(const struct sys *s, const char *path, int flags, mode_t mode)
{
    return fails(s, FAULT_OPEN) ? -1 : sys_real.open(&sys_real, path, flags, mode);
}

/* False if the call fails; else `*n` may have become less. */
static bool clip_size(const struct sys *s, enum fault_call call, size_t *n)
{
    const struct fault *fault = next_call(s, call);

    if (!fault)
        return true;
    if (fault->kind == FAULT_SHORT && fault->most < *n)
        *n = fault->most;
    errno = fault->errnum;
    return fault->kind == FAULT_SHORT;
}

static ssize_t fault_read(const struct sys *s, int fd, void *to, size_t n)
{
    return clip_size(s, FAULT_READ, &n) ? sys_real.read(&sys_real, fd, to, n) : -1;
}

static ssize_t fault_pread(const struct sys *s, int fd, void *to, size_t n, off_t at)
{
    return clip_size(s, FAULT_PREAD, &n) ? sys_real.pread(&sys_real, fd, to, n, at) : -1;
}

static ssize_t fault_write(const struct sys *s, int fd, const void *from, size_t n)
{
    return clip_size(s, FAULT_WRITE, &n) ? sys_real.write(&sys_real, fd, from, n) : -1;
}

static int fault_fstat(const struct sys *s, int fd, struct stat *st)
{
    return fails(s, FAULT_FSTAT) ? -1 : sys_real.fstat(&sys_real, fd, st);
}

static int fault_fdatasync(const struct sys *s, int fd)
{
    return fails(s, FAULT_FDATASYNC) ? -1 : sys_real.fdatasync(&sys_real, fd);
}

static int fault_fsync(const struct sys *s, int fd)
{
    return fails(s, FAULT_FSYNC) ? -1 : sys_real.fsync(&sys_real, fd);
}

static int fault_ftruncate(const struct sys *s, int fd, off_t len)
{
    return fails(s, FAULT_FTRUNCATE) ? -1 : sys_real.ftruncate(&sys_real, fd, len);
}

static int fault_fchown(const struct sys *s, int fd, uid_t owner, gid_t group)
{
    return fails(s, FAULT_FCHOWN) ? -1 : sys_real.fchown(&sys_real, fd, owner, group);
}

static int fault_fchmod(const struct sys *s, int fd, mode_t mode)
{
    return fails(s, FAULT_FCHMOD) ? -1 : sys_real.fchmod(&sys_real, fd, mode);
}

static int fault_flock(const struct sys *s, int fd, int how)
{
    return fails(s, FAULT_FLOCK) ? -1 : sys_real.flock(&sys_real, fd, how);
}

static int fault_rename(const struct sys *s, const char *from, const char *to)
{
    return fails(s, FAULT_RENAME) ? -1 : sys_real.rename(&sys_real, from, to);
}

static int fault_link(const struct sys *s, const char *from, const char *to)
{
    return fails(s, FAULT_LINK) ? -1 : sys_real.link(&sys_real, from, to);
}

static int fault_unlink(const struct sys *s, const char *path)
{
    return fails(s, FAULT_UNLINK) ? -1 : sys_real.unlink(&sys_real, path);
}

static int fault_mkdir(const struct sys *s, const char *path, mode_t mode)
{
    return fails(s, FAULT_MKDIR) ? -1 : sys_real.mkdir(&sys_real, path, mode);
}

static int fault_close(const struct sys *s, int fd)
{
    int r = sys_real.close(&sys_real, fd);

    return fails(s, FAULT_CLOSE) ? -1 : r;
}

void fault_init(struct fault_sys *f)
{
    f->sys = (struct sys){
        .open = fault_open,
        .read = fault_read,
        .pread = fault_pread,
        .write = fault_write,
        .fstat = fault_fstat,
        .fdatasync = fault_fdatasync,
        .fsync = fault_fsync,
        .ftruncate = fault_ftruncate,
        .fchown = fault_fchown,
        .fchmod = fault_fchmod,
        .flock = fault_flock,
        .rename = fault_rename,
        .link = fault_link,
        .unlink = fault_unlink,
        .mkdir = fault_mkdir,
        .close = fault_close,
    };
    for (size_t i = 0; i < FAULT_CALLS; i++)
        atomic_init(&f->calls[i], 0);
    f->count = 0;
}

static void add_fault(struct fault_sys *f, struct fault fault)
{
    BUG_IF(f->count == FAULT_MAX || fault.nth == 0);
    f->faults[f->count++] = fault;
}

void fault_fail(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int errnum)
{
    BUG_IF(!errnum);
    add_fault(f, (struct fault){ .call = call, .nth = nth, .times = times, .errnum = errnum });
}

void fault_short(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                 size_t most)
{
    BUG_IF(call != FAULT_READ && call != FAULT_PREAD && call != FAULT_WRITE);
    add_fault(
        f, (struct fault){
               .call = call, .nth = nth, .times = times, .kind = FAULT_SHORT, .most = most });
}

void fault_slow(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int64_t us)
{
    add_fault(f, (struct fault){
                     .call = call, .nth = nth, .times = times, .kind = FAULT_SLOW, .us = us });
}

void fault_gate(struct fault_sys *f, enum fault_call call, unsigned nth, unsigned times,
                int gate)
{
    add_fault(f,
              (struct fault){
                  .call = call, .nth = nth, .times = times, .kind = FAULT_GATE, .gate = gate });
}

void fault_wait_for(struct fault_sys *f, enum fault_call call, unsigned count)
{
    while (atomic_load(&f->calls[call]) < count)
        usleep(500);
}

void fault_kill(struct fault_sys *f, enum fault_call call, unsigned nth)
{
    add_fault(f, (struct fault){ .call = call, .nth = nth, .times = 1, .kind = FAULT_KILL });
}

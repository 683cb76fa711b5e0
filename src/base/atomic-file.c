#include "base/atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/file-lock.h"
#include "base/mem.h"
#include "base/thread.h"

enum { NAME_KEPT = 64, NAME_ROOM = 128 };

/* Returns a path in the same directory, so that it can be renamed. The end of the name is kept:
 * it may tell the format. */
static char *make_temp_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t folder = (size_t)(name - path), len = strlen(name);
    char *at = mem_alloc(folder + NAME_ROOM);

    if (folder)
        memcpy(at, path, folder);
    snprintf(at + folder, NAME_ROOM, ".mcpreel-%ld-%s", (long)getpid(),
             name + (len > NAME_KEPT ? len - NAME_KEPT : 0));
    return at;
}

/* A thread that receives the signals that would end the process while there is a temporary
 * file. */
struct atomic_file_guard {
    const struct sys *sys;
    const char *temp_path;
    sigset_t blocked, old_mask; /* blocked meanwhile; what was blocked before */
    int signal_fd, stop_pipe[2];
    pthread_t thread;
};

static void *run_guard(void *of)
{
    struct atomic_file_guard *g = of;
    struct pollfd fds[] = { { .fd = g->signal_fd, .events = POLLIN },
                            { .fd = g->stop_pipe[0], .events = POLLIN } };
    struct signalfd_siginfo got;

    while (poll(fds, 2, -1) < 0)
        continue;
    if (fds[0].revents && read(g->signal_fd, &got, sizeof got) == sizeof got) {
        sys_retry_unlink(g->sys, g->temp_path);
        pthread_sigmask(SIG_UNBLOCK, &g->blocked, NULL);
        kill(getpid(), (int)got.ssi_signo); /* ends the process as it would have */
    }
    return NULL;
}

/* The signals that end the process: nothing handles or ignores them. */
static void find_fatal_signals(sigset_t *set)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

    sigemptyset(set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;

        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(set, ending[i]);
    }
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void free_guard(struct atomic_file_guard *g)
{
    pthread_sigmask(SIG_SETMASK, &g->old_mask, NULL);
    close_if_open(g->signal_fd);
    close_if_open(g->stop_pipe[0]);
    close_if_open(g->stop_pipe[1]);
    free(g);
}

/* Without a guard, if there is no thread or descriptor left, a signal leaves the file
 * behind. */
static struct atomic_file_guard *start_guard(const struct sys *sys, const char *at)
{
    struct atomic_file_guard *g = mem_new(struct atomic_file_guard);
    struct err ignored = ERR_NONE;

    *g = (struct atomic_file_guard){ .sys = sys, .temp_path = at, .stop_pipe = { -1, -1 } };
    find_fatal_signals(&g->blocked);
    pthread_sigmask(SIG_BLOCK, &g->blocked, &g->old_mask);
    g->signal_fd = signalfd(-1, &g->blocked, SFD_CLOEXEC);
    if (g->signal_fd >= 0 && pipe2(g->stop_pipe, O_CLOEXEC) == 0 &&
        thread_start(&g->thread, run_guard, g, &ignored))
        return g;
    free_guard(g);
    return NULL;
}

static void stop_guard(struct atomic_file_guard *g)
{
    if (!g)
        return;
    close(g->stop_pipe[1]);
    g->stop_pipe[1] = -1;
    pthread_join(g->thread, NULL);
    free_guard(g);
}

bool atomic_file_open(struct atomic_file *d, struct file *f, const struct sys *sys,
                      const char *path, bool replace, struct err *e)
{
    *d = (struct atomic_file){ .replace = replace, .old_fd = -1 };
    if (!file_can_create(sys, path, replace, e))
        return false;
    d->temp_path = make_temp_path(path);
    /* A file of that name was left behind by a process with the same id. */
    d->signal_guard = start_guard(sys, d->temp_path);
    if (file_create_temp(f, sys, d->temp_path, path, true, e))
        return true;
    atomic_file_release(d, sys);
    return false;
}

static bool reject_locked(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "cannot write '%s': another process is writing it", path);
}

static bool create_locked(struct file *f, const struct sys *sys, const char *path,
                          struct err *e)
{
    struct err ignored = ERR_NONE;

    if (!file_create(f, sys, path, false, e))
        return false;
    if (file_lock_created(sys, f->fd, path))
        return true;
    file_close(f, &ignored); /* the file at this path belongs to another process */
    return reject_locked(e, path);
}

/* Creates the temporary file; `old` (-1: unknown) keeps the lock of the old one. */
static bool open_temp(struct atomic_file *d, struct file *f, const struct sys *sys,
                      const char *path, int old, struct err *e)
{
    char *at = make_temp_path(path);

    if (!file_create_temp(f, sys, at, path, true, e)) {
        free(at);
        return false;
    }
    file_lock_acquire(sys, f->fd);
    *d = (struct atomic_file){ .temp_path = at, .replace = true, .old_fd = old };
    return true;
}

/* A file that cannot be opened for reading cannot be locked; it can be replaced all the same.
 */
static bool replace_locked(struct atomic_file *d, struct file *f, const struct sys *sys,
                           const char *path, struct err *e)
{
    int old = file_lock_open(sys, path);

    if (old < 0 && errno == EBUSY)
        return reject_locked(e, path);
    if (old < 0 && !file_can_create(sys, path, true, e))
        return false;
    if (open_temp(d, f, sys, path, old, e))
        return true;
    if (old >= 0)
        sys->close(sys, old);
    return false;
}

bool atomic_file_open_locked(struct atomic_file *d, struct file *f, const struct sys *sys,
                             const char *path, bool replace, struct err *e)
{
    struct err why = ERR_NONE;

    *d = (struct atomic_file){ .old_fd = -1 };
    if (create_locked(f, sys, path, &why))
        return true;
    if (!replace || why.kind != ERR_USAGE) {
        *e = why;
        return false;
    }
    return replace_locked(d, f, sys, path, e);
}

void atomic_file_release(struct atomic_file *d, const struct sys *sys)
{
    if (d->old_fd >= 0)
        sys->close(sys, d->old_fd);
    stop_guard(d->signal_guard);
    free(d->temp_path);
    *d = (struct atomic_file){ .old_fd = -1 };
}

/* Renamed, not linked: the open file must be known by its name. */
bool atomic_file_rename(struct atomic_file *d, const struct sys *sys, const char *path,
                        struct err *e)
{
    if (d->temp_path && sys_retry_rename(sys, d->temp_path, path) != 0)
        return err_cannot(e, "write", path, errno);
    atomic_file_release(d, sys);
    return true;
}

void atomic_file_remove(struct atomic_file *d, const struct sys *sys)
{
    sys_retry_unlink(sys, d->temp_path);
    atomic_file_release(d, sys);
}

bool atomic_file_commit(struct atomic_file *d, struct file *f, struct err *e)
{
    bool ok = file_sync(f, e) && file_close(f, e) &&
              file_rename(f->sys, d->temp_path, f->path, d->replace, e);

    if (!ok) {
        atomic_file_abort(d, f);
        return false;
    }
    atomic_file_release(d, f->sys);
    return dir_sync_parent(f->sys, f->path, e);
}

void atomic_file_abort(struct atomic_file *d, struct file *f)
{
    struct err ignored = ERR_NONE;

    file_close(f, &ignored);
    atomic_file_remove(d, f->sys);
}

#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/thread.h"

enum { NAME_KEPT = 64, NAME_ROOM = 128 };

/* In the same folder, so that the name can be given without copying. The end of the
 * name is kept: it may say what is in the file. */
static char *name_beside(const char *path)
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

/* A thread that takes the signals that would end the process while there is a draft. */
struct draft_guard {
    const struct sys *sys;
    const char *at;
    sigset_t taken, before; /* blocked meanwhile; what was blocked before */
    int signals, stop[2];
    pthread_t thread;
};

static void *run_guard(void *of)
{
    struct draft_guard *g = of;
    struct pollfd fds[] = { { .fd = g->signals, .events = POLLIN },
                            { .fd = g->stop[0], .events = POLLIN } };
    struct signalfd_siginfo got;

    while (poll(fds, 2, -1) < 0)
        continue;
    if (fds[0].revents && read(g->signals, &got, sizeof got) == sizeof got) {
        retry_unlink(g->sys, g->at);
        pthread_sigmask(SIG_UNBLOCK, &g->taken, NULL);
        kill(getpid(), (int)got.ssi_signo); /* ends the process as it would have */
    }
    return NULL;
}

/* The signals that end the process: nothing handles or ignores them. */
static void choose_signals(sigset_t *set)
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

static void free_guard(struct draft_guard *g)
{
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    close_if_open(g->signals);
    close_if_open(g->stop[0]);
    close_if_open(g->stop[1]);
    free(g);
}

/* Without a guard, for want of a thread or a descriptor, a signal leaves the draft behind. */
static struct draft_guard *start_guard(const struct sys *sys, const char *at)
{
    struct draft_guard *g = mem_new(struct draft_guard);
    struct err ignored = ERR_NONE;

    *g = (struct draft_guard){ .sys = sys, .at = at, .stop = { -1, -1 } };
    choose_signals(&g->taken);
    pthread_sigmask(SIG_BLOCK, &g->taken, &g->before);
    g->signals = signalfd(-1, &g->taken, SFD_CLOEXEC);
    if (g->signals >= 0 && pipe2(g->stop, O_CLOEXEC) == 0 &&
        thread_start(&g->thread, run_guard, g, &ignored))
        return g;
    free_guard(g);
    return NULL;
}

static void stop_guard(struct draft_guard *g)
{
    if (!g)
        return;
    close(g->stop[1]);
    g->stop[1] = -1;
    pthread_join(g->thread, NULL);
    free_guard(g);
}

bool draft_open(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                bool replace, struct err *e)
{
    *d = (struct draft){ .replace = replace, .old = -1 };
    if (!file_may_create(sys, path, replace, e))
        return false;
    d->at = name_beside(path);
    /* What has that name already is what a process of the same number left behind. */
    d->guard = start_guard(sys, d->at);
    if (file_create_at(f, sys, d->at, path, true, e))
        return true;
    draft_leave(d, sys);
    return false;
}

static bool is_being_written(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "cannot write '%s': another process is writing it", path);
}

static bool make_and_lock(struct file *f, const struct sys *sys, const char *path,
                          struct err *e)
{
    struct err ignored = ERR_NONE;

    if (!file_create(f, sys, path, false, e))
        return false;
    if (lock_claim(sys, f->fd, path))
        return true;
    file_close(f, &ignored); /* what has the name now is another's */
    return is_being_written(e, path);
}

/* The new file beside the old one, for which `old` (-1: unknown) keeps others away. */
static bool open_beside(struct draft *d, struct file *f, const struct sys *sys,
                        const char *path, int old, struct err *e)
{
    char *at = name_beside(path);

    if (!file_create_at(f, sys, at, path, true, e)) {
        free(at);
        return false;
    }
    lock_take(sys, f->fd);
    *d = (struct draft){ .at = at, .replace = true, .old = old };
    return true;
}

/* A file that cannot be opened for reading cannot be locked; it can be replaced all the same.
 */
static bool replace_locked(struct draft *d, struct file *f, const struct sys *sys,
                           const char *path, struct err *e)
{
    int old = lock_hold(sys, path);

    if (old < 0 && errno == EBUSY)
        return is_being_written(e, path);
    if (old < 0 && !file_may_create(sys, path, true, e))
        return false;
    if (open_beside(d, f, sys, path, old, e))
        return true;
    if (old >= 0)
        sys->close(sys, old);
    return false;
}

bool draft_open_locked(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                       bool replace, struct err *e)
{
    struct err why = ERR_NONE;

    *d = (struct draft){ .old = -1 };
    if (make_and_lock(f, sys, path, &why))
        return true;
    if (!replace || why.kind != ERR_USAGE) {
        *e = why;
        return false;
    }
    return replace_locked(d, f, sys, path, e);
}

void draft_leave(struct draft *d, const struct sys *sys)
{
    if (d->old >= 0)
        sys->close(sys, d->old);
    stop_guard(d->guard);
    free(d->at);
    *d = (struct draft){ .old = -1 };
}

/* Renamed, not linked: what is open shall be known by its name. */
bool draft_replace(struct draft *d, const struct sys *sys, const char *path, struct err *e)
{
    if (d->at && retry_rename(sys, d->at, path) != 0)
        return err_cannot(e, "write", path, errno);
    draft_leave(d, sys);
    return true;
}

void draft_remove(struct draft *d, const struct sys *sys)
{
    retry_unlink(sys, d->at);
    draft_leave(d, sys);
}

bool draft_keep(struct draft *d, struct file *f, struct err *e)
{
    bool ok = file_sync(f, e) && file_close(f, e) &&
              file_give_name(f->sys, d->at, f->path, d->replace, e);

    if (!ok) {
        draft_drop(d, f);
        return false;
    }
    draft_leave(d, f->sys);
    return folder_sync_of(f->sys, f->path, e);
}

void draft_drop(struct draft *d, struct file *f)
{
    struct err ignored = ERR_NONE;

    file_close(f, &ignored);
    draft_remove(d, f->sys);
}

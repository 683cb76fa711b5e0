#include "base/syncer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/thread.h"
#include "base/troubles.h"

/* A file that is complete and waits to be synced and closed. */
struct done_file {
    struct done_file *next;
    struct file file;
    uint64_t dirty_bytes, size;
};

enum { UNSYNCED = 1 }; /* the one kind of trouble */

/* All of it is under the lock. As long as nothing has `failed` nobody needs that to know. */
struct syncer {
    struct syncer_config config;
    struct arena names; /* of the files: the thread may outlive whoever named them */
    pthread_mutex_t lock;
    pthread_cond_t work; /* for the thread */
    pthread_cond_t gone; /* for whoever waits for its end */
    pthread_t thread;

    struct file file;
    bool new_name; /* the folder is not synced */
    uint64_t dirty_writes, dirty_bytes;
    uint64_t size;     /* of the file at least: what was written */
    int64_t dirty_us;  /* since when */
    int64_t synced_us; /* when it was last synced */
    struct done_file *done;

    atomic_bool failed;
    atomic_bool busy;
    atomic_bool lost; /* `loss` says what */
    bool loss_told;
    struct err loss;
    uint64_t suspect;
    struct err why; /* it failed last */
    struct troubles troubles;

    bool ending; /* nothing more comes */
    bool quit;   /* nothing more is synced */
    bool ended;  /* the thread needs nothing more of this */
    bool orphan; /* it has to free it */
};

static void note_failure(struct syncer *s, const struct err *e, uint64_t bytes)
{
    s->suspect += bytes;
    s->why = *e;
    troubles_add(&s->troubles, UNSYNCED, true, e);
    s->failed = true;
}

/* Whether the file is still under a name, and as long as what was written to it. */
static void check_file(struct syncer *s, const struct file *f, uint64_t size)
{
    struct stat st;
    bool ok;

    pthread_mutex_unlock(&s->lock);
    ok = retry_fstat(f->sys, f->fd, &st) == 0 && S_ISREG(st.st_mode);
    pthread_mutex_lock(&s->lock);
    if (!ok || s->lost || (st.st_nlink && (uint64_t)st.st_size >= size))
        return;
    err_set(&s->loss, ERR_IO, "another process has %s '%s'",
            st.st_nlink ? "truncated" : "deleted or replaced", f->path);
    s->lost = true;
}

static void sync_folder(struct syncer *s)
{
    const struct file f = s->file;
    struct err e = ERR_NONE;
    bool ok;

    s->new_name = false;
    pthread_mutex_unlock(&s->lock);
    ok = folder_sync_of(f.sys, f.path, &e);
    pthread_mutex_lock(&s->lock);
    if (!ok)
        note_failure(s, &e, 0);
}

static void sync_file(struct syncer *s)
{
    uint64_t bytes = s->dirty_bytes, size = s->size;
    struct file f = s->file;
    struct err e = ERR_NONE;
    bool ok;

    s->dirty_bytes = s->dirty_writes = 0;
    s->busy = true;
    pthread_mutex_unlock(&s->lock);
    ok = file_sync(&f, &e);
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    s->synced_us = clock_mono_us();
    if (!ok)
        note_failure(s, &e, bytes);
    check_file(s, &f, size);
}

/* A close that fails has lost what was written before, as a sync that does. */
static void close_file(struct syncer *s, struct file *f, uint64_t dirty_bytes, uint64_t size)
{
    struct err e = ERR_NONE, later = ERR_NONE;
    bool ok;

    if (!s->quit)
        check_file(s, f, size);
    pthread_mutex_unlock(&s->lock);
    ok = !dirty_bytes || file_sync(f, &e);
    ok = file_close(f, ok ? &e : &later) && ok;
    pthread_mutex_lock(&s->lock);
    if (!ok)
        note_failure(s, &e, dirty_bytes);
}

static void close_done(struct syncer *s)
{
    struct done_file *d = s->done;

    s->done = d->next;
    close_file(s, &d->file, s->quit ? 0 : d->dirty_bytes, d->size);
    free(d);
}

/* When what is dirty is to be synced. */
static int64_t due_at(const struct syncer *s)
{
    int64_t by_time = s->dirty_us + s->config.flush_us;
    int64_t rested = s->synced_us + s->config.rest_us;

    return s->dirty_writes >= s->config.writes && rested < by_time ? rested : by_time;
}

static bool is_due(const struct syncer *s)
{
    return s->dirty_bytes && (s->ending || clock_mono_us() >= due_at(s));
}

static void wait_for_work(struct syncer *s)
{
    if (s->dirty_bytes && !s->quit)
        thread_wait_until(&s->work, &s->lock, due_at(s));
    else
        pthread_cond_wait(&s->work, &s->lock);
}

/* False: there was nothing to do. */
static bool do_next(struct syncer *s)
{
    if (s->done)
        close_done(s);
    else if (s->quit)
        return false;
    else if (s->new_name)
        sync_folder(s);
    else if (is_due(s))
        sync_file(s);
    else
        return false;
    return true;
}

static void release(struct syncer *s)
{
    arena_release(&s->names);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->gone);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run(void *of)
{
    struct syncer *s = of;
    bool alone;

    pthread_mutex_lock(&s->lock);
    for (bool busy; (busy = do_next(s)) || !s->ending;)
        if (!busy)
            wait_for_work(s);
    close_file(s, &s->file, 0, s->size);
    s->ended = true;
    alone = s->orphan;
    pthread_cond_broadcast(&s->gone);
    pthread_mutex_unlock(&s->lock);
    if (alone)
        release(s);
    return NULL;
}

/* The file is under a name that lasts. */
static struct file named(struct syncer *s, const struct file *f)
{
    struct file own = *f;

    own.path = arena_z(&s->names, str_z(f->path));
    return own;
}

bool syncer_open(struct syncer **out, const struct file *f, const struct syncer_config *config,
                 struct err *e)
{
    struct syncer *s = mem_new(struct syncer);

    s->config = *config;
    s->file = named(s, f);
    s->new_name = true;
    pthread_mutex_init(&s->lock, NULL);
    thread_init_cond(&s->work);
    thread_init_cond(&s->gone);
    if (thread_start(&s->thread, run, s, e)) {
        *out = s;
        return true;
    }
    release(s);
    return false;
}

void syncer_wrote(struct syncer *s, uint64_t bytes)
{
    bool was_clean;

    pthread_mutex_lock(&s->lock);
    was_clean = !s->dirty_bytes;
    if (was_clean)
        s->dirty_us = clock_mono_us();
    s->dirty_writes++;
    s->dirty_bytes += bytes;
    s->size += bytes;
    if (was_clean || s->dirty_writes == s->config.writes)
        pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

void syncer_turn(struct syncer *s, const struct file *next)
{
    struct done_file *old = mem_new(struct done_file);

    pthread_mutex_lock(&s->lock);
    old->file = s->file;
    old->dirty_bytes = s->dirty_bytes;
    old->size = s->size;
    s->dirty_bytes = s->dirty_writes = s->size = 0;
    old->next = s->done;
    s->done = old;
    s->file = named(s, next);
    s->new_name = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

bool syncer_trouble(struct syncer *s, struct err *e)
{
    bool any;

    if (!s->failed)
        return false;
    pthread_mutex_lock(&s->lock);
    any = troubles_take(&s->troubles, e) == UNSYNCED;
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool syncer_has_failed(struct syncer *s)
{
    return s->failed;
}

bool syncer_loss(struct syncer *s, struct err *e)
{
    bool any;

    if (!s->lost)
        return false;
    pthread_mutex_lock(&s->lock);
    any = !s->loss_told;
    s->loss_told = true;
    if (any)
        *e = s->loss;
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool syncer_has_lost(struct syncer *s)
{
    return s->lost;
}

void syncer_cut(struct syncer *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    s->size -= bytes;
    pthread_mutex_unlock(&s->lock);
}

bool syncer_is_busy(const struct syncer *s)
{
    return atomic_load_explicit(&s->busy, memory_order_relaxed);
}

uint64_t syncer_suspect(struct syncer *s)
{
    uint64_t bytes;

    if (!s->failed)
        return 0;
    pthread_mutex_lock(&s->lock);
    bytes = s->suspect;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

uint64_t syncer_take_suspect(struct syncer *s, struct err *why)
{
    uint64_t bytes;

    pthread_mutex_lock(&s->lock);
    bytes = s->suspect;
    s->suspect = 0;
    if (bytes)
        *why = s->why;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

void syncer_quit(struct syncer *s)
{
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

void syncer_end(struct syncer *s)
{
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

bool syncer_wait(struct syncer *s, int64_t until)
{
    bool ended;

    pthread_mutex_lock(&s->lock);
    while (!s->ended && thread_wait_until(&s->gone, &s->lock, until))
        continue;
    ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

void syncer_free(struct syncer *s)
{
    bool ended;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    BUG_IF(!s->ending);
    ended = s->ended;
    s->orphan = !ended;
    thread_leave(s->thread, ended);
    pthread_mutex_unlock(&s->lock);
    if (ended)
        release(s);
}

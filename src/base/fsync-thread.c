#include "base/fsync-thread.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/dir.h"
#include "base/errors-once.h"
#include "base/mem.h"
#include "base/thread.h"

/* A file that is complete and waits to be synced and closed. */
struct complete_file {
    struct complete_file *next;
    struct file file;
    uint64_t dirty_bytes, size;
};

enum { UNSYNCED = 1 }; /* the only kind of error */

/* All members are under the lock, except that `failed`, `syncing` and `file_changed` may be
 * read without it. */
struct fsync_thread {
    struct fsync_thread_config config;
    struct arena
        names; /* paths of the files: the thread may live longer than the caller's strings */
    pthread_mutex_t lock;
    pthread_cond_t work_cond;  /* for the thread */
    pthread_cond_t ended_cond; /* for fsync_thread_wait() */
    pthread_t thread;

    struct file file;
    bool dir_dirty; /* the directory is not synced */
    uint64_t dirty_writes, dirty_bytes;
    uint64_t size;     /* of the file at least: what was written */
    int64_t dirty_us;  /* since when */
    int64_t synced_us; /* when it was last synced */
    struct complete_file *complete;

    atomic_bool failed;
    atomic_bool syncing;
    atomic_bool file_changed; /* `change` says what */
    bool change_reported;
    struct err change;
    uint64_t suspect_bytes;
    struct err last_error; /* it failed last */
    struct errors_once errors;

    bool ending;     /* nothing more comes */
    bool skip_syncs; /* nothing more is synced */
    bool ended;      /* the thread needs nothing more of this */
    bool detached;   /* it has to free it */
};

static void note_failure(struct fsync_thread *s, const struct err *e, uint64_t bytes)
{
    s->suspect_bytes += bytes;
    s->last_error = *e;
    errors_once_add(&s->errors, UNSYNCED, true, e);
    s->failed = true;
}

/* Whether the file is still under a name, and as long as what was written to it. */
static void check_file(struct fsync_thread *s, const struct file *f, uint64_t size)
{
    struct stat st;
    bool ok;

    pthread_mutex_unlock(&s->lock);
    ok = sys_retry_fstat(f->sys, f->fd, &st) == 0 && S_ISREG(st.st_mode);
    pthread_mutex_lock(&s->lock);
    if (!ok || s->file_changed || (st.st_nlink && (uint64_t)st.st_size >= size))
        return;
    err_set(&s->change, ERR_IO, "another process has %s '%s'",
            st.st_nlink ? "truncated" : "deleted or replaced", f->path);
    s->file_changed = true;
}

static void sync_dir(struct fsync_thread *s)
{
    const struct file f = s->file;
    struct err e = ERR_NONE;
    bool ok;

    s->dir_dirty = false;
    pthread_mutex_unlock(&s->lock);
    ok = dir_sync_parent(f.sys, f.path, &e);
    pthread_mutex_lock(&s->lock);
    if (!ok)
        note_failure(s, &e, 0);
}

static void sync_file(struct fsync_thread *s)
{
    uint64_t bytes = s->dirty_bytes, size = s->size;
    struct file f = s->file;
    struct err e = ERR_NONE;
    bool ok;

    s->dirty_bytes = s->dirty_writes = 0;
    s->syncing = true;
    pthread_mutex_unlock(&s->lock);
    ok = file_sync(&f, &e);
    pthread_mutex_lock(&s->lock);
    s->syncing = false;
    s->synced_us = clock_mono_us();
    if (!ok)
        note_failure(s, &e, bytes);
    check_file(s, &f, size);
}

/* A close that fails has lost what was written before, as a sync that does. */
static void close_file(struct fsync_thread *s, struct file *f, uint64_t dirty_bytes,
                       uint64_t size)
{
    struct err e = ERR_NONE, later = ERR_NONE;
    bool ok;

    if (!s->skip_syncs)
        check_file(s, f, size);
    pthread_mutex_unlock(&s->lock);
    ok = !dirty_bytes || file_sync(f, &e);
    ok = file_close(f, ok ? &e : &later) && ok;
    pthread_mutex_lock(&s->lock);
    if (!ok)
        note_failure(s, &e, dirty_bytes);
}

static void close_complete(struct fsync_thread *s)
{
    struct complete_file *d = s->complete;

    s->complete = d->next;
    close_file(s, &d->file, s->skip_syncs ? 0 : d->dirty_bytes, d->size);
    free(d);
}

/* When what is dirty is to be synced. */
static int64_t sync_due_us(const struct fsync_thread *s)
{
    int64_t by_time = s->dirty_us + s->config.flush_us;
    int64_t rested = s->synced_us + s->config.min_sync_gap_us;

    return s->dirty_writes >= s->config.writes && rested < by_time ? rested : by_time;
}

static bool is_due(const struct fsync_thread *s)
{
    return s->dirty_bytes && (s->ending || clock_mono_us() >= sync_due_us(s));
}

static void wait_for_work(struct fsync_thread *s)
{
    if (s->dirty_bytes && !s->skip_syncs)
        thread_wait_until(&s->work_cond, &s->lock, sync_due_us(s));
    else
        pthread_cond_wait(&s->work_cond, &s->lock);
}

/* False: there was nothing to do. */
static bool run_next_task(struct fsync_thread *s)
{
    if (s->complete)
        close_complete(s);
    else if (s->skip_syncs)
        return false;
    else if (s->dir_dirty)
        sync_dir(s);
    else if (is_due(s))
        sync_file(s);
    else
        return false;
    return true;
}

static void release_thread(struct fsync_thread *s)
{
    arena_release(&s->names);
    pthread_cond_destroy(&s->work_cond);
    pthread_cond_destroy(&s->ended_cond);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run_thread(void *of)
{
    struct fsync_thread *s = of;
    bool alone;

    pthread_mutex_lock(&s->lock);
    for (bool busy; (busy = run_next_task(s)) || !s->ending;)
        if (!busy)
            wait_for_work(s);
    close_file(s, &s->file, 0, s->size);
    s->ended = true;
    alone = s->detached;
    pthread_cond_broadcast(&s->ended_cond);
    pthread_mutex_unlock(&s->lock);
    if (alone)
        release_thread(s);
    return NULL;
}

/* The file is under a name that lasts. */
static struct file with_own_path(struct fsync_thread *s, const struct file *f)
{
    struct file own = *f;

    own.path = arena_z(&s->names, str_z(f->path));
    return own;
}

bool fsync_thread_open(struct fsync_thread **out, const struct file *f,
                       const struct fsync_thread_config *config, struct err *e)
{
    struct fsync_thread *s = mem_new(struct fsync_thread);

    s->config = *config;
    s->file = with_own_path(s, f);
    s->dir_dirty = true;
    pthread_mutex_init(&s->lock, NULL);
    thread_init_cond(&s->work_cond);
    thread_init_cond(&s->ended_cond);
    if (thread_start(&s->thread, run_thread, s, e)) {
        *out = s;
        return true;
    }
    release_thread(s);
    return false;
}

void fsync_thread_add_write(struct fsync_thread *s, uint64_t bytes)
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
        pthread_cond_signal(&s->work_cond);
    pthread_mutex_unlock(&s->lock);
}

void fsync_thread_rotate(struct fsync_thread *s, const struct file *next)
{
    struct complete_file *old = mem_new(struct complete_file);

    pthread_mutex_lock(&s->lock);
    old->file = s->file;
    old->dirty_bytes = s->dirty_bytes;
    old->size = s->size;
    s->dirty_bytes = s->dirty_writes = s->size = 0;
    old->next = s->complete;
    s->complete = old;
    s->file = with_own_path(s, next);
    s->dir_dirty = true;
    pthread_cond_signal(&s->work_cond);
    pthread_mutex_unlock(&s->lock);
}

bool fsync_thread_next_error(struct fsync_thread *s, struct err *e)
{
    bool any;

    if (!s->failed)
        return false;
    pthread_mutex_lock(&s->lock);
    any = errors_once_next(&s->errors, e) == UNSYNCED;
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool fsync_thread_has_failed(struct fsync_thread *s)
{
    return s->failed;
}

bool fsync_thread_next_change(struct fsync_thread *s, struct err *e)
{
    bool any;

    if (!s->file_changed)
        return false;
    pthread_mutex_lock(&s->lock);
    any = !s->change_reported;
    s->change_reported = true;
    if (any)
        *e = s->change;
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool fsync_thread_file_changed(struct fsync_thread *s)
{
    return s->file_changed;
}

void fsync_thread_truncated(struct fsync_thread *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    s->size -= bytes;
    pthread_mutex_unlock(&s->lock);
}

bool fsync_thread_is_syncing(const struct fsync_thread *s)
{
    return atomic_load_explicit(&s->syncing, memory_order_relaxed);
}

uint64_t fsync_thread_suspect_bytes(struct fsync_thread *s)
{
    uint64_t bytes;

    if (!s->failed)
        return 0;
    pthread_mutex_lock(&s->lock);
    bytes = s->suspect_bytes;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

uint64_t fsync_thread_take_suspect(struct fsync_thread *s, struct err *why)
{
    uint64_t bytes;

    pthread_mutex_lock(&s->lock);
    bytes = s->suspect_bytes;
    s->suspect_bytes = 0;
    if (bytes)
        *why = s->last_error;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}

void fsync_thread_skip_syncs(struct fsync_thread *s)
{
    pthread_mutex_lock(&s->lock);
    s->skip_syncs = true;
    pthread_cond_signal(&s->work_cond);
    pthread_mutex_unlock(&s->lock);
}

void fsync_thread_finish(struct fsync_thread *s)
{
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_signal(&s->work_cond);
    pthread_mutex_unlock(&s->lock);
}

bool fsync_thread_wait(struct fsync_thread *s, int64_t until)
{
    bool ended;

    pthread_mutex_lock(&s->lock);
    while (!s->ended && thread_wait_until(&s->ended_cond, &s->lock, until))
        continue;
    ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

void fsync_thread_free(struct fsync_thread *s)
{
    bool ended;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    BUG_IF(!s->ending);
    ended = s->ended;
    s->detached = !ended;
    thread_join_or_detach(s->thread, ended);
    pthread_mutex_unlock(&s->lock);
    if (ended)
        release_thread(s);
}

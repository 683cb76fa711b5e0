#include "base/appender.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/appender-lines.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/errors-once.h"
#include "base/fsync-thread.h"
#include "base/mem.h"
#include "base/thread.h"

enum {
    BATCH = 256 << 10, /* bytes of waiting lines that are written at once */
    SPARE = 512,       /* bytes by which a gap line may grow when its counts do */
    TEXT_MAX = 1 << 30,
    WHY = 128,
    SECOND = 1000000,
    BYTES_PER_US =
        256, /* a text may take 1 us more per so many bytes before it counts as slow */
    INLINE_MAX = 64 << 10, /* longer texts are left to the other thread */
};

const struct appender_config appender_defaults = {
    .max_memory = 64 << 20,
    .flush_lines = 100,
    .flush_us = SECOND,
    .min_sync_gap_us = SECOND / 50,
    .slow_us = 20000,
    .retry_us = SECOND / 4,
    .recover_us = SECOND,
    .finish_us = SECOND,
    .inline_us = 6400,
    .inline_lines = 32,
};

/* The writer thread's current work. */
struct appender_batch {
    struct appender_lines lines;
    struct file next_file;  /* the file to continue in; closed: the same */
    struct buf next_header; /* first text of next_file */
    bool has_last;          /* the last line is in it */
};

/* Access:
 * - `degraded`, `sync_note_due`, `synced`, `latest_us`, `cpu_checked_us`, `cpu_busy_us`,
 *   `window_start_us`, `window_lines` and `last_window_busy` belong to the owner.
 * - `file`, `size`, `recent` and `batch` belong to the owner while not degraded, then to the
 *   writer thread while `batch_pending` and not `retry_wait`; `file` and `batch` are changed
 *   under the lock.
 * - Everything else is under the lock; the fsync thread has its own. Only the fsync thread
 *   closes files. */
struct appender {
    struct appender_config config;
    struct arena names; /* of the files: threads may outlive their owner's */
    bool degraded;
    bool sync_note_due;      /* a sync has failed, and the file does not say so */
    bool synced;             /* the last sync ended in time */
    int64_t latest_us;       /* of the lines that came */
    int64_t cpu_checked_us;  /* when the owner's thread was last looked at ... */
    int64_t cpu_busy_us;     /* ... and what it had been busy for by then */
    int64_t window_start_us; /* when the window began in which lines are counted ... */
    uint64_t window_lines;
    bool last_window_busy; /* ... and whether the one before had more than `inline_lines` */

    struct file file;
    uint64_t size; /* bytes of whole lines */
    struct appender_batch batch;
    struct line_queue_recent recent; /* the lines that truncate_for_end() may cut off */

    pthread_mutex_t lock;
    pthread_cond_t work;  /* for the writer thread */
    pthread_cond_t ended; /* for the owner: that has ended */
    pthread_cond_t
        batch_done; /* for the owner: the batch is written, or a try of it has failed */

    struct line_queue queue;
    bool batch_pending;     /* the batch is not empty */
    int64_t write_start_us; /* when the write began that is under way; 0: none is */
    struct buf *lent_buf;   /* to be given the batch's text back; the owner waits for it */
    bool retry_wait;        /* the last try failed; waits for `retry_us` */
    struct line_queue_loss
        unreported_loss; /* losses that are not in the file; written before the queue */
    struct buf gap_line; /* the gap line for them */
    struct line_queue_loss total_loss; /* everything that is lost */
    char reason[WHY];                  /* of the latest problem with a write */
    int64_t last_problem_us;           /* when that was */

    struct errors_once problems;
    atomic_bool has_problems; /* there ever were any; needs no lock */

    struct buf last_line;
    bool ending;                         /* nothing more comes */
    bool quit;                           /* and nothing more is written */
    int64_t deadline_us;                 /* closing gives up at this time */
    bool pending_dropped;                /* everything that waited is lost */
    uint64_t end_size;                   /* then: the size of the file, */
    struct line_queue_recent end_recent; /* its latest lines, */
    struct line_queue_loss end_loss;     /* and what the gap lines report */
    bool tried_truncate;                 /* that was tried */
    pthread_t writer_thread;
    pid_t writer_tid;  /* set before it writes anything */
    bool writer_ended; /* that has ended */
    bool detached;     /* it has to free all of this */
    struct fsync_thread *fsync_thread;
};

static void add_problem(struct appender *a, enum appender_problem kind, const struct err *e)
{
    errors_once_add(&a->problems, kind, kind == APPENDER_FAILED || kind == APPENDER_UNSYNCED,
                    e);
    a->has_problems = true;
}

static void note_failed_write(struct appender *a, const struct err *e)
{
    snprintf(a->reason, WHY, "%.*s", WHY - 1, err_reason(e));
    a->last_problem_us = clock_mono_us();
    add_problem(a, APPENDER_FAILED, e);
}

static void note_slow_write(struct appender *a, int64_t took_us)
{
    char text[CLOCK_TEXT_SIZE];
    struct err e = ERR_NONE;

    snprintf(a->reason, WHY, "the disk was too slow");
    a->last_problem_us = clock_mono_us();
    err_set(&e, ERR_IO, "a write to '%s' took %.*s", a->file.path,
            STR_ARG(clock_format_duration(text, took_us)));
    add_problem(a, took_us < SECOND ? APPENDER_SLOW : APPENDER_STALLED, &e);
}

enum appender_problem appender_next_problem(struct appender *a, struct err *e)
{
    enum appender_problem kind = APPENDER_OK;

    if (a->has_problems) {
        pthread_mutex_lock(&a->lock);
        kind = (enum appender_problem)errors_once_next(&a->problems, e);
        pthread_mutex_unlock(&a->lock);
    }
    if (!kind && fsync_thread_next_error(a->fsync_thread, e))
        kind = APPENDER_UNSYNCED;
    return !kind && fsync_thread_next_change(a->fsync_thread, e) ? APPENDER_FILE_CHANGED : kind;
}

static void note_dropped(struct appender *a)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_IO, "cannot write '%s': %s", a->file.path, a->reason);
    add_problem(a, APPENDER_DROPPED, &e);
}

static void compose_gap(struct appender *a)
{
    buf_clear(&a->gap_line);
    if (line_queue_has_loss(&a->unreported_loss))
        a->config.write_gap(a->config.arg, &a->gap_line, &a->unreported_loss, a->reason);
}

static void queue_line(struct appender *a, const struct line_queue_line *l)
{
    struct line_queue_loss dropped = { 0 };

    line_queue_push(&a->queue, l, &dropped);
    if (!line_queue_has_loss(&dropped))
        return;
    line_queue_loss_add(&a->unreported_loss, &dropped);
    line_queue_loss_add(&a->total_loss, &dropped);
    compose_gap(a);
    note_dropped(a);
}

/* One write: lines whose texts are the content of `buf`, or (without lines) a text that is no
 * record. */
struct write_job {
    struct str text;
    const struct line_queue_line *lines;
    size_t count;
    struct buf *buf;
};

static void give_to_writer(struct appender *a, const struct write_job *w, size_t done)
{
    struct appender_lines *p = &a->batch.lines;

    if (w->count)
        appender_lines_adopt(p, w->buf, w->lines, w->count);
    else
        appender_lines_add_text(p, w->text);
    p->torn_bytes = done;
    a->batch_pending = true;
    pthread_cond_signal(&a->work);
}

static void sample_cpu(struct appender *a, int64_t now)
{
    a->cpu_checked_us = now;
    a->cpu_busy_us = thread_busy_us();
}

/* Returns whether the disk made the write slow, not a busy machine. Time that the thread was
 * busy just before the write counts in its favour, but only once. */
static bool was_disk_slow(struct appender *a, int64_t now, int64_t took)
{
    int64_t before = a->cpu_busy_us;

    sample_cpu(a, now);
    return took - (a->cpu_busy_us - before) > a->config.slow_us / 2;
}

/* A record is in the file; it is the latest of those that truncate_for_end() may cut off. */
static void count_line(struct appender *a, const struct line_queue_line *line)
{
    bool first = !a->size; /* the header stays */

    a->size += line->text.len;
    if (!first)
        line_queue_recent_add(&a->recent, line);
}

/* Text that is no record is in the file; nothing before it can be cut off any more. */
static void count_text(struct appender *a, size_t len)
{
    a->size += len;
    a->recent.count = 0;
}

/* So many lines count for the next sync, however few writes they took. */
static void count_written(struct appender *a, const struct write_job *w)
{
    for (size_t i = 0; i < w->count; i++) {
        count_line(a, &w->lines[i]);
        fsync_thread_add_write(a->fsync_thread, w->lines[i].text.len);
    }
    if (!w->count) {
        count_text(a, w->text.len);
        fsync_thread_add_write(a->fsync_thread, w->text.len);
    }
}

/* Starts the degraded state after a write that was slow, or failed for `why` (NULL: slow). */
static void enter_degraded(struct appender *a, const struct write_job *w, size_t done,
                           const struct err *why, int64_t took)
{
    pthread_mutex_lock(&a->lock);
    if (why) {
        note_failed_write(a, why);
        give_to_writer(a, w, done);
    } else {
        note_slow_write(a, took);
    }
    a->degraded = true;
    pthread_mutex_unlock(&a->lock);
}

/* Counts the lines of this write, in windows of `inline_us`. Returns whether this window or
 * the one before has had more than `inline_lines`. */
static bool is_window_busy(struct appender *a, size_t lines)
{
    int64_t now = clock_mono_us(), age = now - a->window_start_us, length = a->config.inline_us;

    if (age >= length) {
        a->last_window_busy = age < 2 * length && a->window_lines > a->config.inline_lines;
        a->window_start_us = now;
        a->window_lines = 0;
    }
    a->window_lines += lines;
    return a->last_window_busy || a->window_lines > a->config.inline_lines;
}

/* Returns whether this thread makes the write itself: lines follow one another so quickly that
 * the hand-over to the other thread would show, and nothing suggests that the write waits. */
static bool should_write_inline(struct appender *a, const struct write_job *w)
{
    return is_window_busy(a, w->count) && w->text.len <= INLINE_MAX &&
           !fsync_thread_is_syncing(a->fsync_thread);
}

/* Waits until the batch is written, a try has failed, or the disk takes too long. A write that
 * has not begun, or a thread that only wants for a processor, is not the disk's doing. */
static void wait_for_write(struct appender *a, size_t len, int64_t start)
{
    int64_t limit = a->config.slow_us + (int64_t)(len / BYTES_PER_US);

    while (a->batch_pending && a->last_problem_us < start) {
        int64_t now = clock_mono_us(), began = a->write_start_us ? a->write_start_us : now;

        if (now - began >= limit && thread_is_blocked(a->writer_tid)) {
            note_slow_write(a, now - began);
            return;
        }
        thread_wait_until(&a->batch_done, &a->lock,
                          (now - began < limit ? began : now) + limit);
    }
}

/* The other thread makes the write; this one waits for it, but not for long. */
static void write_by_thread(struct appender *a, const struct write_job *w)
{
    int64_t start = clock_mono_us();

    pthread_mutex_lock(&a->lock);
    a->lent_buf = w->buf;
    give_to_writer(a, w, 0);
    wait_for_write(a, w->text.len, start);
    a->lent_buf = NULL;
    a->degraded = a->batch_pending || a->last_problem_us >= start;
    pthread_mutex_unlock(&a->lock);
    a->sync_note_due = fsync_thread_suspect_bytes(a->fsync_thread) > 0;
}

/* Writes on the owner's thread. Returns false if that starts the degraded state; then the batch
 * holds what is not in the file. */
static bool write_inline(struct appender *a, const struct write_job *w)
{
    int64_t start = clock_mono_us(), end, took;
    struct err e; /* set only by a failed write; not cleared before, for speed */
    size_t done;
    bool slow, ok;

    if (start - a->cpu_checked_us >= a->config.slow_us / 4)
        sample_cpu(a, start);
    ok = file_write(&a->file, w->text, &done, &e);
    end = clock_mono_us();
    took = end - start;
    slow = took > a->config.slow_us && was_disk_slow(a, end, took);
    if (ok)
        count_written(a, w);
    if (!ok || slow)
        enter_degraded(a, w, done, ok ? NULL : &e, took);
    a->sync_note_due = fsync_thread_suspect_bytes(a->fsync_thread) > 0;
    return !a->degraded;
}

/* Returns whether the queue is empty and there was no problem for `recover_us`. */
static bool has_recovered(const struct appender *a)
{
    return !a->batch_pending && !a->queue.first &&
           clock_mono_us() - a->last_problem_us >= a->config.recover_us;
}

static void write_or_queue(struct appender *a, const struct line_queue_line *lines,
                           size_t count, struct buf *own)
{
    struct write_job w = { lines[0].text, lines, count, own };

    if (a->degraded) {
        pthread_mutex_lock(&a->lock);
        a->degraded = !has_recovered(a);
        a->sync_note_due = fsync_thread_suspect_bytes(a->fsync_thread) > 0;
        if (a->degraded) {
            for (size_t i = 0; i < count; i++)
                queue_line(a, &lines[i]);
            if (!a->batch_pending)
                pthread_cond_signal(&a->work);
        }
        pthread_mutex_unlock(&a->lock);
        if (a->degraded)
            return;
    }
    for (size_t i = 1; i < count; i++) {
        BUG_IF(lines[i].text.at != w.text.at + w.text.len);
        w.text.len += lines[i].text.len;
    }
    BUG_IF(w.text.at != own->at || w.text.len != own->len);
    if (should_write_inline(a, &w))
        write_inline(a, &w);
    else
        write_by_thread(a, &w);
}

/* That a sync failed is said in the file behind what it was about. */
static void compose_sync_note(struct appender *a, struct buf *text)
{
    struct line_queue_loss about = { .us = a->latest_us };
    struct err e = ERR_NONE;

    about.by_direction[0].bytes = fsync_thread_take_suspect(a->fsync_thread, &e);
    if (!about.by_direction[0].bytes)
        return;
    a->config.write_gap(a->config.arg, text, &about, err_reason(&e));
}

static void write_sync_note(struct appender *a)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    pthread_mutex_lock(&a->lock);
    compose_sync_note(a, &text);
    pthread_mutex_unlock(&a->lock);
    if (text.len)
        write_or_queue(a,
                       &(struct line_queue_line){ .text = buf_str(&text), .us = a->latest_us },
                       1, &text);
    buf_release(&text);
}

/* At the end only the writer thread writes. */
static void queue_sync_note(struct appender *a)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    compose_sync_note(a, &text);
    if (text.len)
        queue_line(a, &(struct line_queue_line){ .text = buf_str(&text), .us = a->latest_us });
    buf_release(&text);
}

void appender_add_lines(struct appender *a, const struct line_queue_line *lines, size_t count,
                        struct buf *text)
{
    for (size_t i = 0; i < count; i++)
        BUG_IF(!lines[i].text.len || lines[i].direction >= LINE_QUEUE_DIRECTIONS);
    a->latest_us = lines[count - 1].us;
    write_or_queue(a, lines, count, text);
    if (a->sync_note_due)
        write_sync_note(a);
}

bool appender_is_healthy(const struct appender *a)
{
    return !a->degraded;
}

uint64_t appender_size(const struct appender *a)
{
    BUG_IF(a->degraded);
    return a->size;
}

/* The old file now belongs to the fsync thread. */
static void switch_file(struct appender *a, struct file next)
{
    fsync_thread_rotate(a->fsync_thread, &next);
    a->file = next;
    a->size = 0;
    a->recent.count = 0;
}

static struct file adopt_file(struct appender *a, struct file *f)
{
    struct file own = *f;

    own.path = arena_z(&a->names, str_z(f->path));
    *f = (struct file)FILE_CLOSED;
    return own;
}

void appender_rotate(struct appender *a, struct file *next, struct str foot, struct str head)
{
    struct file own = adopt_file(a, next);

    BUG_IF(a->degraded);
    if (foot.len && !write_inline(a, &(struct write_job){ .text = foot })) {
        pthread_mutex_lock(&a->lock);
        a->batch.next_file = own;
        buf_add(&a->batch.next_header, head);
        a->batch_pending = true;
        pthread_cond_signal(&a->work);
        pthread_mutex_unlock(&a->lock);
        return;
    }
    pthread_mutex_lock(&a->lock);
    switch_file(a, own);
    pthread_mutex_unlock(&a->lock);
    write_inline(a, &(struct write_job){ .text = head });
}

static void batch_add_gap(struct appender *a)
{
    if (a->gap_line.len)
        appender_lines_add_gap(&a->batch.lines, buf_str(&a->gap_line), &a->unreported_loss);
    buf_clear(&a->gap_line);
    a->unreported_loss = (struct line_queue_loss){ 0 };
}

/* False: there is no memory for the line, and it is lost. */
static bool batch_add_line(struct appender *a)
{
    struct line_queue_item *item = line_queue_pop(&a->queue);
    bool ok = appender_lines_add_record(&a->batch.lines, &item->line);

    if (!ok) {
        line_queue_loss_add_line(&a->unreported_loss, &item->line);
        line_queue_loss_add_line(&a->total_loss, &item->line);
        compose_gap(a);
        note_dropped(a);
    }
    free(item);
    return ok;
}

/* Nothing can go missing any more but the end itself. */
static void batch_add_last(struct appender *a)
{
    if (a->config.write_last) {
        buf_clear(&a->last_line);
        a->config.write_last(a->config.arg, &a->last_line, &a->total_loss);
    }
    appender_lines_add_text(&a->batch.lines, buf_str(&a->last_line));
    a->batch.has_last = true;
}

/* Once everything else is written comes what is to be the end. */
static void fill_batch(struct appender *a)
{
    struct appender_lines *p = &a->batch.lines;

    batch_add_gap(a);
    for (const struct line_queue_item *i; (i = a->queue.first);) {
        if (p->text.len && p->text.len + i->line.text.len > BATCH)
            break;
        if (!batch_add_line(a))
            break;
    }
    if (!p->text.len)
        batch_add_gap(a);
    if (!p->text.len && a->ending && a->last_line.len)
        batch_add_last(a);
    a->batch_pending = true;
}

static bool has_work(const struct appender *a)
{
    return a->batch_pending || a->queue.first ||
           (a->ending && a->last_line.len && !a->batch.has_last);
}

/* The file has the first `done` bytes of the batch. Returns how many of them are whole
 * lines.
 */
static size_t count_batch(struct appender *a, size_t done)
{
    const struct appender_line *l;
    size_t whole = 0;

    while ((l = appender_lines_advance(&a->batch.lines, done - whole))) {
        whole += l->line.text.len;
        if (l->kind == APPENDER_RECORD)
            count_line(a, &l->line);
        else
            count_text(a, l->line.text.len);
        fsync_thread_add_write(a->fsync_thread, l->line.text.len);
    }
    return whole;
}

/* Keeps the whole lines that a failed write has brought to the file and cuts the torn one. */
static void cut_torn_line(struct appender *a)
{
    struct appender_lines *p = &a->batch.lines;
    struct file f = a->file;
    struct err ignored = ERR_NONE;
    bool cut;

    p->torn_bytes -= count_batch(a, p->torn_bytes);
    if (!p->torn_bytes)
        return;
    pthread_mutex_unlock(&a->lock);
    cut = file_truncate(&f, a->size, &ignored);
    pthread_mutex_lock(&a->lock);
    if (cut)
        p->torn_bytes = 0;
}

/* Writes the rest of the batch. On false the lines that are not in the file stay in the
 * batch. */
static bool write_batch(struct appender *a, struct err *e)
{
    struct appender_lines *p = &a->batch.lines;
    struct str rest = str_skip(appender_lines_unwritten(p), p->torn_bytes);
    struct file f = a->file;
    int64_t start, took;
    size_t done;
    bool ok;

    start = a->write_start_us = clock_mono_us();
    pthread_mutex_unlock(&a->lock);
    ok = file_write(&f, rest, &done, e);
    took = clock_mono_us() - start;
    pthread_mutex_lock(&a->lock);
    if (ok && took > a->config.slow_us && !a->lent_buf) /* else the owner judges */
        note_slow_write(a, took);
    if (ok)
        return true;
    p->torn_bytes += done;
    cut_torn_line(a);
    return false;
}

static void finish_batch(struct appender *a)
{
    struct appender_batch *b = &a->batch;

    count_batch(a, appender_lines_unwritten(&b->lines).len);
    if (a->lent_buf)
        appender_lines_return(&b->lines, a->lent_buf);
    else
        appender_lines_clear(&b->lines);
    a->batch_pending = b->next_file.fd >= 0;
    pthread_cond_signal(&a->batch_done);
    if (!a->batch_pending)
        return;
    switch_file(a, b->next_file);
    b->next_file = (struct file)FILE_CLOSED;
    appender_lines_add_text(&b->lines, buf_str(&b->next_header));
    buf_clear(&b->next_header);
}

/* Gap lines for what is lost, and the end. */
static void fill_end(struct appender *a)
{
    a->end_size = a->size;
    a->end_recent = a->recent;
    a->end_loss = a->unreported_loss;
    compose_gap(a);
    batch_add_gap(a);
    batch_add_last(a);
    a->batch_pending = appender_lines_next(&a->batch.lines) != NULL;
}

/* Drops everything that is queued; the file may still accept gap lines and the last line.
 * Returns false if there is nothing left to try. */
static bool drop_pending(struct appender *a)
{
    struct appender_batch *b = &a->batch;
    struct line_queue_loss dropped = { 0 };
    bool torn = b->lines.torn_bytes > 0;

    a->pending_dropped = true;
    appender_lines_add_losses(&b->lines, &dropped, &a->unreported_loss);
    for (struct line_queue_item *item; (item = line_queue_pop(&a->queue)); free(item))
        line_queue_loss_add_line(&dropped, &item->line);
    line_queue_loss_add(&a->total_loss, &dropped);
    line_queue_loss_add(&a->unreported_loss, &dropped);
    if (line_queue_has_loss(&a->total_loss))
        note_dropped(a);
    appender_lines_clear(&b->lines);
    a->batch_pending = false;
    if (torn || !a->size || b->next_file.fd >= 0)
        return false;
    fill_end(a);
    return a->batch_pending;
}

/* Whether the file has no room, which cutting lines off makes. */
static bool is_full(const struct appender *a)
{
    static const int full[] = { ENOSPC, EDQUOT, EFBIG };

    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        if (strcmp(a->reason, strerror(full[i])) == 0)
            return true;
    return false;
}

/* Cuts the latest lines off the file, so that the gap lines and the last line fit. Returns
 * false if another try is useless. */
static bool truncate_for_end(struct appender *a)
{
    struct appender_lines *p = &a->batch.lines;
    struct line_queue_loss lost = { .us = a->latest_us };
    struct file f = a->file;
    struct err ignored = ERR_NONE;
    uint64_t bytes, size;
    bool ok;

    if (a->tried_truncate || p->torn_bytes || !is_full(a))
        return false;
    a->tried_truncate = true;
    bytes = line_queue_recent_cut(&a->end_recent, p->text.len + SPARE, &lost);
    if (!bytes)
        return false;
    size = a->end_size - bytes;
    fsync_thread_truncated(a->fsync_thread, a->size - size);
    pthread_mutex_unlock(&a->lock);
    ok = file_truncate(&f, size, &ignored);
    pthread_mutex_lock(&a->lock);
    if (!ok)
        return false;
    a->size = size;
    line_queue_loss_add(&a->total_loss, &lost);
    a->unreported_loss = a->end_loss;
    line_queue_loss_add(&a->unreported_loss, &lost);
    note_dropped(a);
    appender_lines_clear(p);
    fill_end(a);
    return true;
}

/* Waits before the next try. New lines do not end the wait, as they make a full disk no
 * emptier; the end does, if the last try was before it. */
static void wait_to_retry(struct appender *a, bool was_ending)
{
    int64_t until = clock_mono_us() + a->config.retry_us;

    a->retry_wait = true;
    pthread_cond_signal(&a->batch_done);
    while (a->retry_wait && a->ending == was_ending && !a->quit && clock_mono_us() < until)
        thread_wait_until(&a->work, &a->lock, until);
    a->retry_wait = false;
}

/* Tries to write the batch once; false: the thread ends. At the end the last try within the
 * time decides. */
static bool try_batch(struct appender *a)
{
    bool at_end = a->ending;
    struct err e = ERR_NONE;

    if (!a->batch_pending)
        fill_batch(a);
    if (write_batch(a, &e)) {
        a->write_start_us = 0;
        finish_batch(a);
        return true;
    }
    a->write_start_us = 0;
    note_failed_write(a, &e);
    if (at_end && clock_mono_us() + a->config.retry_us >= a->deadline_us)
        return !a->quit && (a->pending_dropped ? truncate_for_end(a) : drop_pending(a));
    wait_to_retry(a, at_end);
    return true;
}

static void release_appender(struct appender *a)
{
    struct err ignored = ERR_NONE;

    fsync_thread_free(a->fsync_thread);
    line_queue_release(&a->queue);
    file_close(&a->batch.next_file, &ignored);
    appender_lines_release(&a->batch.lines);
    buf_release(&a->batch.next_header);
    buf_release(&a->gap_line);
    buf_release(&a->last_line);
    arena_release(&a->names);
    pthread_cond_destroy(&a->work);
    pthread_cond_destroy(&a->ended);
    pthread_cond_destroy(&a->batch_done);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void *run_writer(void *of)
{
    struct appender *a = of;
    bool alone;

    pthread_mutex_lock(&a->lock);
    a->writer_tid = gettid();
    while (!a->quit) {
        if (has_work(a)) {
            if (!try_batch(a))
                break;
        } else if (a->ending) {
            break;
        } else {
            pthread_cond_wait(&a->work, &a->lock);
        }
    }
    fsync_thread_finish(a->fsync_thread);
    a->writer_ended = true;
    alone = a->detached;
    pthread_cond_signal(&a->ended);
    pthread_mutex_unlock(&a->lock);
    if (alone)
        release_appender(a);
    return NULL;
}

static struct appender *new_appender(struct file *f, const struct appender_config *config)
{
    struct appender *a = mem_new(struct appender);

    a->config = *config;
    line_queue_init(&a->queue, config->max_memory);
    a->batch.next_file = (struct file)FILE_CLOSED;
    appender_lines_init(&a->batch.lines);
    buf_init(&a->batch.next_header, TEXT_MAX);
    buf_init(&a->last_line, TEXT_MAX);
    buf_init(&a->gap_line, TEXT_MAX);
    pthread_mutex_init(&a->lock, NULL);
    thread_init_cond(&a->work);
    thread_init_cond(&a->ended);
    thread_init_cond(&a->batch_done);
    a->file = adopt_file(a, f);
    return a;
}

static bool start_fsync_thread(struct appender *a, struct err *e)
{
    const struct fsync_thread_config config = {
        .writes = a->config.flush_lines,
        .flush_us = a->config.flush_us,
        .min_sync_gap_us = a->config.min_sync_gap_us,
    };

    return fsync_thread_open(&a->fsync_thread, &a->file, &config, e);
}

/* Nothing was written. */
static void stop_fsync_thread(struct appender *a)
{
    fsync_thread_skip_syncs(a->fsync_thread);
    fsync_thread_finish(a->fsync_thread);
    fsync_thread_wait(a->fsync_thread, clock_mono_us() + a->config.finish_us);
}

bool appender_open(struct appender **out, struct file *f, const struct appender_config *config,
                   struct err *e)
{
    struct appender *a = new_appender(f, config);
    struct err ignored = ERR_NONE;

    *out = NULL;
    if (!start_fsync_thread(a, e)) {
        file_close(&a->file, &ignored);
    } else if (!thread_start(&a->writer_thread, run_writer, a, e)) {
        stop_fsync_thread(a);
    } else {
        *out = a;
        return true;
    }
    release_appender(a);
    return false;
}

/* Both threads; false: there was no time for that. */
static bool wait_for_threads(struct appender *a, int64_t until)
{
    while (!a->writer_ended && thread_wait_until(&a->ended, &a->lock, until))
        continue;
    return a->writer_ended && fsync_thread_wait(a->fsync_thread, until);
}

static void wait_for_end(struct appender *a)
{
    pthread_cond_signal(&a->work);
    if (a->config.on_slow_finish) {
        int64_t soon = a->deadline_us - a->config.finish_us + a->config.slow_us;

        a->synced = wait_for_threads(a, soon);
        if (!a->synced)
            a->config.on_slow_finish(a->config.arg);
    }
    a->synced = a->synced || wait_for_threads(a, a->deadline_us);
    a->quit = a->ending = true;
    fsync_thread_skip_syncs(a->fsync_thread);
}

/* Accounts for what a thread that did not end in time was to write or to sync. */
static void account_timeout(struct appender *a)
{
    struct err e = ERR_NONE;

    if (!a->writer_ended) {
        struct line_queue_loss untold = { 0 }; /* counted already */

        appender_lines_add_losses(&a->batch.lines, &a->total_loss, &untold);
        for (const struct line_queue_item *i = a->queue.first; i; i = i->next)
            line_queue_loss_add_line(&a->total_loss, &i->line);
        err_set(&e, ERR_IO, "cannot write '%s': the disk does not respond", a->file.path);
        add_problem(a, APPENDER_DROPPED, &e);
    } else if (!a->synced) {
        err_set(&e, ERR_IO, "cannot sync '%s': the disk does not respond", a->file.path);
        add_problem(a, APPENDER_UNSYNCED, &e);
    }
}

void appender_finish(struct appender *a, struct str last, struct appender_end *end)
{
    pthread_mutex_lock(&a->lock);
    a->degraded = true;
    queue_sync_note(a);
    buf_add(&a->last_line, last);
    a->ending = true;
    a->deadline_us = clock_mono_us() + a->config.finish_us;
    wait_for_end(a);
    account_timeout(a);
    *end = (struct appender_end){ .lost = a->total_loss,
                                  .timed_out = !a->writer_ended,
                                  .file_changed = fsync_thread_file_changed(a->fsync_thread),
                                  .unsynced =
                                      fsync_thread_has_failed(a->fsync_thread) || !a->synced };
    pthread_mutex_unlock(&a->lock);
}

void appender_abort(struct appender *a)
{
    pthread_mutex_lock(&a->lock);
    a->quit = a->ending = true;
    fsync_thread_skip_syncs(a->fsync_thread);
    a->deadline_us = clock_mono_us() + a->config.finish_us;
    wait_for_end(a);
    pthread_mutex_unlock(&a->lock);
}

/* A thread that hangs in a system call is detached; it frees what it uses. */
void appender_free(struct appender *a)
{
    bool rescued;

    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    rescued = a->writer_ended;
    a->detached = !rescued;
    thread_join_or_detach(a->writer_thread, rescued);
    pthread_mutex_unlock(&a->lock);
    if (rescued)
        release_appender(a);
}

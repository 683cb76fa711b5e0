#include "base/appender.h"

/* long file: one object under one lock */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/parcel.h"
#include "base/syncer.h"
#include "base/thread.h"
#include "base/troubles.h"

enum {
    BATCH = 256 << 10, /* so much of what waits is written at once */
    SPARE = 512,       /* by so much a gap line may get longer when it counts more */
    TEXT_MAX = 1 << 30,
    WHY = 128,
    SECOND = 1000000,
    BYTES_PER_US = 256, /* so quick a long text is written at least */
    CLOSE_MAX = 16 << 10,
};

const struct appender_config appender_defaults = {
    .memory = 64 << 20,
    .flush_lines = 100,
    .flush_us = SECOND,
    .rest_us = SECOND / 50,
    .slow_us = 20000,
    .retry_us = SECOND / 4,
    .well_us = SECOND,
    .end_us = SECOND,
    .close_us = 200,
    .close_lines = 32,
};

/* What the rescuer is about to write. */
struct batch {
    struct parcel parcel;
    struct file next; /* the file to go on in; closed: the same */
    struct buf head;  /* what that starts with */
    bool last;        /* the end of all is in it */
};

/* Who may touch what:
 * - `sick`, `note_due`, `synced`, `latest_us`, `looked_us`, `busy_us`, `wrote_us` and `close`
 *   are the owner's.
 * - `file`, `size`, `recent` and `batch` are the owner's while it is not sick, then the
 * rescuer's as long as `pending` and not `resting`; `file` and `batch` are changed under the
 * lock.
 * - everything else is under the lock; the syncer has its own. Only the syncer closes
 *   files. */
struct appender {
    struct appender_config config;
    struct arena names; /* of the files: threads may outlive their owner's */
    bool sick;
    bool note_due;     /* a sync has failed, and the file does not say so */
    bool synced;       /* at the end there was time for that */
    int64_t latest_us; /* of the lines that came */
    int64_t looked_us; /* when the owner's thread was last looked at ... */
    int64_t busy_us;   /* ... and what it had been busy for by then */
    int64_t wrote_us;  /* when the latest write ended */
    unsigned close;    /* so many writes in a row each came soon after the one before */

    struct file file;
    uint64_t size; /* bytes of whole lines */
    struct batch batch;
    struct backlog_recent recent; /* the lines that make_room() may cut off */

    pthread_mutex_t lock;
    pthread_cond_t work; /* for the rescuer */
    pthread_cond_t gone; /* for the owner: that has ended */
    pthread_cond_t done; /* for the owner: the batch is written, or a try of it has failed */

    struct backlog waiting;
    bool pending;             /* the batch is not empty */
    int64_t began_us;         /* when the write began that is under way; 0: none is */
    struct buf *lent;         /* to be given the batch's text back; the owner waits for it */
    bool resting;             /* until it is tried again */
    struct backlog_loss lost; /* what the file does not say yet; before what waits */
    struct buf gap;           /* how it is going to say that */
    struct backlog_loss all;  /* everything that is lost */
    char why[WHY];            /* of the latest trouble with a write */
    int64_t bad_us;           /* when that was */

    struct troubles troubles;
    atomic_bool troubled; /* there ever were any; needs no lock */

    struct buf last;
    bool ending;                      /* nothing more comes */
    bool quit;                        /* and nothing more is written */
    int64_t end_at;                   /* closing gives up at this time */
    bool given_up;                    /* everything that waited is lost */
    uint64_t end_size;                /* then: the size of the file, */
    struct backlog_recent end_recent; /* its latest lines, */
    struct backlog_loss end_lost;     /* and what the gap lines report */
    bool made_room;                   /* that was tried */
    pthread_t rescuer;
    pid_t rescuer_tid; /* set before it writes anything */
    bool rescued;      /* that has ended */
    bool orphan;       /* it has to free all of this */
    struct syncer *syncer;
};

static void tell(struct appender *a, enum appender_trouble kind, const struct err *e)
{
    troubles_add(&a->troubles, kind, kind == APPENDER_FAILED || kind == APPENDER_UNSYNCED, e);
    a->troubled = true;
}

static void tell_failed(struct appender *a, const struct err *e)
{
    snprintf(a->why, WHY, "%.*s", WHY - 1, err_reason(e));
    a->bad_us = clock_mono_us();
    tell(a, APPENDER_FAILED, e);
}

static void tell_slow(struct appender *a, int64_t took_us)
{
    char text[CLOCK_TEXT];
    struct err e = ERR_NONE;

    snprintf(a->why, WHY, "the disk was too slow");
    a->bad_us = clock_mono_us();
    err_set(&e, ERR_IO, "a write to '%s' took %.*s", a->file.path,
            STR_ARG(clock_duration(text, took_us)));
    tell(a, took_us < SECOND ? APPENDER_SLOW : APPENDER_STALLED, &e);
}

enum appender_trouble appender_trouble(struct appender *a, struct err *e)
{
    enum appender_trouble kind = APPENDER_FINE;

    if (a->troubled) {
        pthread_mutex_lock(&a->lock);
        kind = (enum appender_trouble)troubles_take(&a->troubles, e);
        pthread_mutex_unlock(&a->lock);
    }
    if (!kind && syncer_trouble(a->syncer, e))
        kind = APPENDER_UNSYNCED;
    return !kind && syncer_loss(a->syncer, e) ? APPENDER_GONE : kind;
}

static void tell_dropped(struct appender *a)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_IO, "cannot write '%s': %s", a->file.path, a->why);
    tell(a, APPENDER_DROPPED, &e);
}

static void compose_gap(struct appender *a)
{
    buf_clear(&a->gap);
    if (backlog_loss_any(&a->lost))
        a->config.gap(a->config.to, &a->gap, &a->lost, a->why);
}

static void wait_in_memory(struct appender *a, const struct backlog_line *l)
{
    struct backlog_loss dropped = { 0 };

    backlog_put(&a->waiting, l, &dropped);
    if (!backlog_loss_any(&dropped))
        return;
    backlog_loss_add(&a->lost, &dropped);
    backlog_loss_add(&a->all, &dropped);
    compose_gap(a);
    tell_dropped(a);
}

/* What goes out with one write: lines, whose texts are all that `own` holds, or (none of them)
 * a text that is no record. */
struct writing {
    struct str text;
    const struct backlog_line *lines;
    size_t count;
    struct buf *own;
};

static void hand_over(struct appender *a, const struct writing *w, size_t done)
{
    struct parcel *p = &a->batch.parcel;

    if (w->count)
        parcel_own(p, w->own, w->lines, w->count);
    else
        parcel_add(p, w->text);
    p->torn = done;
    a->pending = true;
    pthread_cond_signal(&a->work);
}

static void look(struct appender *a, int64_t now)
{
    a->looked_us = now;
    a->busy_us = thread_busy_us();
}

/* On a busy machine it is not the disk that makes others wait. What the thread was busy with
 * just before the write is held in its favour, but only once. */
static bool has_waited(struct appender *a, int64_t now, int64_t took)
{
    int64_t before = a->busy_us;

    look(a, now);
    return took - (a->busy_us - before) > a->config.slow_us / 2;
}

/* A record is in the file; it is the latest of those that make_room() may cut off. */
static void count_line(struct appender *a, const struct backlog_line *line)
{
    bool first = !a->size; /* the header stays */

    a->size += line->text.len;
    if (!first)
        backlog_recent_add(&a->recent, line);
}

/* Text that is no record is in the file; nothing before it can be cut off any more. */
static void count_text(struct appender *a, size_t len)
{
    a->size += len;
    a->recent.count = 0;
}

/* So many lines count for the next sync, however few writes they took. */
static void count_written(struct appender *a, const struct writing *w)
{
    for (size_t i = 0; i < w->count; i++) {
        count_line(a, &w->lines[i]);
        syncer_wrote(a->syncer, w->lines[i].text.len);
    }
    if (!w->count) {
        count_text(a, w->text.len);
        syncer_wrote(a->syncer, w->text.len);
    }
}

/* After a write that was slow, or failed for `why` (NULL: it did not). */
static void fall_ill(struct appender *a, const struct writing *w, size_t done,
                     const struct err *why, int64_t took)
{
    pthread_mutex_lock(&a->lock);
    if (why) {
        tell_failed(a, why);
        hand_over(a, w, done);
    } else {
        tell_slow(a, took);
    }
    a->sick = true;
    pthread_mutex_unlock(&a->lock);
}

/* Whether this thread may make the write itself: it is one of a run of writes so quick that
 * another thread would show, and the file took the one before a moment ago. */
static bool is_close(struct appender *a, const struct writing *w)
{
    bool soon = clock_mono_us() - a->wrote_us < a->config.close_us;

    a->close = soon ? a->close + 1 : 0;
    return a->close > a->config.close_lines && w->text.len <= CLOSE_MAX &&
           !syncer_is_busy(a->syncer);
}

/* Waits until the batch is written, a try has failed, or the disk takes too long. A write that
 * has not begun, or a thread that only wants for a processor, is not the disk's doing. */
static void wait_for_write(struct appender *a, size_t len, int64_t start)
{
    int64_t limit = a->config.slow_us + (int64_t)(len / BYTES_PER_US);

    while (a->pending && a->bad_us < start) {
        int64_t now = clock_mono_us(), began = a->began_us ? a->began_us : now;

        if (now - began >= limit && thread_is_blocked(a->rescuer_tid)) {
            tell_slow(a, now - began);
            return;
        }
        thread_wait_until(&a->done, &a->lock, (now - began < limit ? began : now) + limit);
    }
}

/* The other thread makes the write; this one waits for it, but not for long. */
static void write_there(struct appender *a, const struct writing *w)
{
    int64_t start = clock_mono_us();

    pthread_mutex_lock(&a->lock);
    a->lent = w->own;
    hand_over(a, w, 0);
    wait_for_write(a, w->text.len, start);
    a->lent = NULL;
    a->sick = a->pending || a->bad_us >= start;
    pthread_mutex_unlock(&a->lock);
    a->wrote_us = clock_mono_us();
    a->note_due = syncer_suspect(a->syncer) > 0;
}

/* One write on the owner's thread. False: the disk is ill from now on; what is not in the
 * file by then is in the batch. */
static bool write_now(struct appender *a, const struct writing *w)
{
    int64_t start = clock_mono_us(), took;
    struct err e; /* said by a write that fails: to clear it for each would show */
    size_t done;
    bool slow, ok;

    if (start - a->looked_us >= a->config.slow_us / 4)
        look(a, start);
    ok = file_write(&a->file, w->text, &done, &e);
    a->wrote_us = clock_mono_us();
    took = a->wrote_us - start;
    slow = took > a->config.slow_us && has_waited(a, a->wrote_us, took);
    if (ok)
        count_written(a, w);
    if (!ok || slow)
        fall_ill(a, w, done, ok ? NULL : &e, took);
    a->note_due = syncer_suspect(a->syncer) > 0;
    return !a->sick;
}

/* Nothing waits, and it has been well for a while. */
static bool has_recovered(const struct appender *a)
{
    return !a->pending && !a->waiting.first && clock_mono_us() - a->bad_us >= a->config.well_us;
}

static void put_lines(struct appender *a, const struct backlog_line *lines, size_t count,
                      struct buf *own)
{
    struct writing w = { lines[0].text, lines, count, own };

    if (a->sick) {
        pthread_mutex_lock(&a->lock);
        a->sick = !has_recovered(a);
        a->note_due = syncer_suspect(a->syncer) > 0;
        if (a->sick) {
            for (size_t i = 0; i < count; i++)
                wait_in_memory(a, &lines[i]);
            if (!a->pending)
                pthread_cond_signal(&a->work);
        }
        pthread_mutex_unlock(&a->lock);
        if (a->sick)
            return;
    }
    for (size_t i = 1; i < count; i++) {
        BUG_IF(lines[i].text.at != w.text.at + w.text.len);
        w.text.len += lines[i].text.len;
    }
    BUG_IF(w.text.at != own->at || w.text.len != own->len);
    if (is_close(a, &w))
        write_now(a, &w);
    else
        write_there(a, &w);
}

/* That a sync failed is said in the file behind what it was about. */
static void compose_sync_note(struct appender *a, struct buf *text)
{
    struct backlog_loss about = { .us = a->latest_us };
    struct err e = ERR_NONE;

    about.lanes[0].bytes = syncer_take_suspect(a->syncer, &e);
    if (!about.lanes[0].bytes)
        return;
    a->config.gap(a->config.to, text, &about, err_reason(&e));
}

static void put_sync_note(struct appender *a)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    pthread_mutex_lock(&a->lock);
    compose_sync_note(a, &text);
    pthread_mutex_unlock(&a->lock);
    if (text.len)
        put_lines(a, &(struct backlog_line){ .text = buf_str(&text), .us = a->latest_us }, 1,
                  &text);
    buf_release(&text);
}

/* At the end nobody writes but the rescuer. */
static void leave_sync_note(struct appender *a)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    compose_sync_note(a, &text);
    if (text.len)
        wait_in_memory(a, &(struct backlog_line){ .text = buf_str(&text), .us = a->latest_us });
    buf_release(&text);
}

void appender_put(struct appender *a, const struct backlog_line *lines, size_t count,
                  struct buf *text)
{
    for (size_t i = 0; i < count; i++)
        BUG_IF(!lines[i].text.len || lines[i].lane >= BACKLOG_LANES);
    a->latest_us = lines[count - 1].us;
    put_lines(a, lines, count, text);
    if (a->note_due)
        put_sync_note(a);
}

bool appender_is_well(const struct appender *a)
{
    return !a->sick;
}

uint64_t appender_size(const struct appender *a)
{
    BUG_IF(a->sick);
    return a->size;
}

/* The new file takes the place of the old one, which is the syncer's from now on. */
static void change_file(struct appender *a, struct file next)
{
    syncer_turn(a->syncer, &next);
    a->file = next;
    a->size = 0;
    a->recent.count = 0;
}

static struct file take_over(struct appender *a, struct file *f)
{
    struct file own = *f;

    own.path = arena_z(&a->names, str_z(f->path));
    *f = (struct file)FILE_CLOSED;
    return own;
}

void appender_turn(struct appender *a, struct file *next, struct str foot, struct str head)
{
    struct file own = take_over(a, next);

    BUG_IF(a->sick);
    if (foot.len && !write_now(a, &(struct writing){ .text = foot })) {
        pthread_mutex_lock(&a->lock);
        a->batch.next = own;
        buf_add(&a->batch.head, head);
        a->pending = true;
        pthread_cond_signal(&a->work);
        pthread_mutex_unlock(&a->lock);
        return;
    }
    pthread_mutex_lock(&a->lock);
    change_file(a, own);
    pthread_mutex_unlock(&a->lock);
    write_now(a, &(struct writing){ .text = head });
}

static void take_gap(struct appender *a)
{
    if (a->gap.len)
        parcel_add_gap(&a->batch.parcel, buf_str(&a->gap), &a->lost);
    buf_clear(&a->gap);
    a->lost = (struct backlog_loss){ 0 };
}

/* False: there is no memory for the line, and it is lost. */
static bool take_line(struct appender *a)
{
    struct backlog_item *item = backlog_take(&a->waiting);
    bool ok = parcel_add_line(&a->batch.parcel, &item->line);

    if (!ok) {
        backlog_loss_add_line(&a->lost, &item->line);
        backlog_loss_add_line(&a->all, &item->line);
        compose_gap(a);
        tell_dropped(a);
    }
    free(item);
    return ok;
}

/* Nothing can go missing any more but the end itself. */
static void add_last(struct appender *a)
{
    if (a->config.last) {
        buf_clear(&a->last);
        a->config.last(a->config.to, &a->last, &a->all);
    }
    parcel_add(&a->batch.parcel, buf_str(&a->last));
    a->batch.last = true;
}

/* Once everything else is written comes what is to be the end. */
static void fill_batch(struct appender *a)
{
    struct parcel *p = &a->batch.parcel;

    take_gap(a);
    for (const struct backlog_item *i; (i = a->waiting.first);) {
        if (p->text.len && p->text.len + i->line.text.len > BATCH)
            break;
        if (!take_line(a))
            break;
    }
    if (!p->text.len)
        take_gap(a);
    if (!p->text.len && a->ending && a->last.len)
        add_last(a);
    a->pending = true;
}

static bool has_work(const struct appender *a)
{
    return a->pending || a->waiting.first || (a->ending && a->last.len && !a->batch.last);
}

/* The file has the first `done` bytes of the batch. Returns how many of them are whole lines.
 */
static size_t count_batch(struct appender *a, size_t done)
{
    const struct parcel_line *l;
    size_t whole = 0;

    while ((l = parcel_advance(&a->batch.parcel, done - whole))) {
        whole += l->line.text.len;
        if (l->kind == PARCEL_LINE)
            count_line(a, &l->line);
        else
            count_text(a, l->line.text.len);
        syncer_wrote(a->syncer, l->line.text.len);
    }
    return whole;
}

/* Keeps the whole lines that a failed write has brought to the file and cuts the torn one. */
static void keep_what_is_written(struct appender *a)
{
    struct parcel *p = &a->batch.parcel;
    struct file f = a->file;
    struct err ignored = ERR_NONE;
    bool cut;

    p->torn -= count_batch(a, p->torn);
    if (!p->torn)
        return;
    pthread_mutex_unlock(&a->lock);
    cut = file_truncate(&f, a->size, &ignored);
    pthread_mutex_lock(&a->lock);
    if (cut)
        p->torn = 0;
}

/* The rest of the batch behind what is in the file of it. On false what is not there still
 * waits. */
static bool write_batch(struct appender *a, struct err *e)
{
    struct parcel *p = &a->batch.parcel;
    struct str rest = str_skip(parcel_text(p), p->torn);
    struct file f = a->file;
    int64_t start, took;
    size_t done;
    bool ok;

    start = a->began_us = clock_mono_us();
    pthread_mutex_unlock(&a->lock);
    ok = file_write(&f, rest, &done, e);
    took = clock_mono_us() - start;
    pthread_mutex_lock(&a->lock);
    if (ok && took > a->config.slow_us && !a->lent) /* else the owner judges */
        tell_slow(a, took);
    if (ok)
        return true;
    p->torn += done;
    keep_what_is_written(a);
    return false;
}

static void batch_is_written(struct appender *a)
{
    struct batch *b = &a->batch;

    count_batch(a, parcel_text(&b->parcel).len);
    if (a->lent)
        parcel_give_back(&b->parcel, a->lent);
    else
        parcel_clear(&b->parcel);
    a->pending = b->next.fd >= 0;
    pthread_cond_signal(&a->done);
    if (!a->pending)
        return;
    change_file(a, b->next);
    b->next = (struct file)FILE_CLOSED;
    parcel_add(&b->parcel, buf_str(&b->head));
    buf_clear(&b->head);
}

/* Gap lines for what is lost, and the end. */
static void fill_end(struct appender *a)
{
    a->end_size = a->size;
    a->end_recent = a->recent;
    a->end_lost = a->lost;
    compose_gap(a);
    take_gap(a);
    add_last(a);
    a->pending = parcel_next(&a->batch.parcel) != NULL;
}

/* Everything that waits is lost; the file may still take gap lines and the end. False: there
 * is nothing left to try. */
static bool give_up(struct appender *a)
{
    struct batch *b = &a->batch;
    struct backlog_loss dropped = { 0 };
    bool torn = b->parcel.torn > 0;

    a->given_up = true;
    parcel_losses(&b->parcel, &dropped, &a->lost);
    for (struct backlog_item *item; (item = backlog_take(&a->waiting)); free(item))
        backlog_loss_add_line(&dropped, &item->line);
    backlog_loss_add(&a->all, &dropped);
    backlog_loss_add(&a->lost, &dropped);
    if (backlog_loss_any(&a->all))
        tell_dropped(a);
    parcel_clear(&b->parcel);
    a->pending = false;
    if (torn || !a->size || b->next.fd >= 0)
        return false;
    fill_end(a);
    return a->pending;
}

/* Whether the file has no room, which cutting lines off makes. */
static bool is_full(const struct appender *a)
{
    static const int full[] = { ENOSPC, EDQUOT, EFBIG };

    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        if (strcmp(a->why, strerror(full[i])) == 0)
            return true;
    return false;
}

/* Cuts the latest lines off the file, so that the gap lines and the end fit in their place.
 * False: there is no use in another try. */
static bool make_room(struct appender *a)
{
    struct parcel *p = &a->batch.parcel;
    struct backlog_loss lost = { .us = a->latest_us };
    struct file f = a->file;
    struct err ignored = ERR_NONE;
    uint64_t bytes, size;
    bool ok;

    if (a->made_room || p->torn || !is_full(a))
        return false;
    a->made_room = true;
    bytes = backlog_recent_cut(&a->end_recent, p->text.len + SPARE, &lost);
    if (!bytes)
        return false;
    size = a->end_size - bytes;
    syncer_cut(a->syncer, a->size - size);
    pthread_mutex_unlock(&a->lock);
    ok = file_truncate(&f, size, &ignored);
    pthread_mutex_lock(&a->lock);
    if (!ok)
        return false;
    a->size = size;
    backlog_loss_add(&a->all, &lost);
    a->lost = a->end_lost;
    backlog_loss_add(&a->lost, &lost);
    tell_dropped(a);
    parcel_clear(p);
    fill_end(a);
    return true;
}

/* New lines do not make a disk that is full any emptier; that the end has come may, if it
 * had not when that was last tried. */
static void wait_to_retry(struct appender *a, bool was_ending)
{
    int64_t until = clock_mono_us() + a->config.retry_us;

    a->resting = true;
    pthread_cond_signal(&a->done);
    while (a->resting && a->ending == was_ending && !a->quit && clock_mono_us() < until)
        thread_wait_until(&a->work, &a->lock, until);
    a->resting = false;
}

/* One try; false: it is over. What decides at the end is the last one there is time for. */
static bool rescue(struct appender *a)
{
    bool at_end = a->ending;
    struct err e = ERR_NONE;

    if (!a->pending)
        fill_batch(a);
    if (write_batch(a, &e)) {
        a->began_us = 0;
        batch_is_written(a);
        return true;
    }
    a->began_us = 0;
    tell_failed(a, &e);
    if (at_end && clock_mono_us() + a->config.retry_us >= a->end_at)
        return !a->quit && (a->given_up ? make_room(a) : give_up(a));
    wait_to_retry(a, at_end);
    return true;
}

static void release(struct appender *a)
{
    struct err ignored = ERR_NONE;

    syncer_free(a->syncer);
    backlog_release(&a->waiting);
    file_close(&a->batch.next, &ignored);
    parcel_release(&a->batch.parcel);
    buf_release(&a->batch.head);
    buf_release(&a->gap);
    buf_release(&a->last);
    arena_release(&a->names);
    pthread_cond_destroy(&a->work);
    pthread_cond_destroy(&a->gone);
    pthread_cond_destroy(&a->done);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void *run_rescuer(void *of)
{
    struct appender *a = of;
    bool alone;

    pthread_mutex_lock(&a->lock);
    a->rescuer_tid = gettid();
    while (!a->quit) {
        if (has_work(a)) {
            if (!rescue(a))
                break;
        } else if (a->ending) {
            break;
        } else {
            pthread_cond_wait(&a->work, &a->lock);
        }
    }
    syncer_end(a->syncer);
    a->rescued = true;
    alone = a->orphan;
    pthread_cond_signal(&a->gone);
    pthread_mutex_unlock(&a->lock);
    if (alone)
        release(a);
    return NULL;
}

static struct appender *new_appender(struct file *f, const struct appender_config *config)
{
    struct appender *a = mem_new(struct appender);

    a->config = *config;
    backlog_init(&a->waiting, config->memory);
    a->batch.next = (struct file)FILE_CLOSED;
    parcel_init(&a->batch.parcel);
    buf_init(&a->batch.head, TEXT_MAX);
    buf_init(&a->last, TEXT_MAX);
    buf_init(&a->gap, TEXT_MAX);
    pthread_mutex_init(&a->lock, NULL);
    thread_init_cond(&a->work);
    thread_init_cond(&a->gone);
    thread_init_cond(&a->done);
    a->file = take_over(a, f);
    return a;
}

static bool start_syncer(struct appender *a, struct err *e)
{
    const struct syncer_config config = {
        .writes = a->config.flush_lines,
        .flush_us = a->config.flush_us,
        .rest_us = a->config.rest_us,
    };

    return syncer_open(&a->syncer, &a->file, &config, e);
}

/* Nothing was written. */
static void stop_syncer(struct appender *a)
{
    syncer_quit(a->syncer);
    syncer_end(a->syncer);
    syncer_wait(a->syncer, clock_mono_us() + a->config.end_us);
}

bool appender_open(struct appender **out, struct file *f, const struct appender_config *config,
                   struct err *e)
{
    struct appender *a = new_appender(f, config);
    struct err ignored = ERR_NONE;

    *out = NULL;
    if (!start_syncer(a, e)) {
        file_close(&a->file, &ignored);
    } else if (!thread_start(&a->rescuer, run_rescuer, a, e)) {
        stop_syncer(a);
    } else {
        *out = a;
        return true;
    }
    release(a);
    return false;
}

/* Both threads; false: there was no time for that. */
static bool wait_for_threads(struct appender *a, int64_t until)
{
    while (!a->rescued && thread_wait_until(&a->gone, &a->lock, until))
        continue;
    return a->rescued && syncer_wait(a->syncer, until);
}

static void wait_for_end(struct appender *a)
{
    pthread_cond_signal(&a->work);
    if (a->config.waits) {
        int64_t soon = a->end_at - a->config.end_us + a->config.slow_us;

        a->synced = wait_for_threads(a, soon);
        if (!a->synced)
            a->config.waits(a->config.to);
    }
    a->synced = a->synced || wait_for_threads(a, a->end_at);
    a->quit = a->ending = true;
    syncer_quit(a->syncer);
}

/* What a thread that did not come back was to write or to sync. */
static void judge_late(struct appender *a)
{
    struct err e = ERR_NONE;

    if (!a->rescued) {
        struct backlog_loss untold = { 0 }; /* counted already */

        parcel_losses(&a->batch.parcel, &a->all, &untold);
        for (const struct backlog_item *i = a->waiting.first; i; i = i->next)
            backlog_loss_add_line(&a->all, &i->line);
        err_set(&e, ERR_IO, "cannot write '%s': no answer from the disk", a->file.path);
        tell(a, APPENDER_DROPPED, &e);
    } else if (!a->synced) {
        err_set(&e, ERR_IO, "cannot sync '%s': no answer from the disk", a->file.path);
        tell(a, APPENDER_UNSYNCED, &e);
    }
}

void appender_finish(struct appender *a, struct str last, struct appender_end *end)
{
    pthread_mutex_lock(&a->lock);
    a->sick = true;
    leave_sync_note(a);
    buf_add(&a->last, last);
    a->ending = true;
    a->end_at = clock_mono_us() + a->config.end_us;
    wait_for_end(a);
    judge_late(a);
    *end = (struct appender_end){ .lost = a->all,
                                  .late = !a->rescued,
                                  .gone = syncer_has_lost(a->syncer),
                                  .unsynced = syncer_has_failed(a->syncer) || !a->synced };
    pthread_mutex_unlock(&a->lock);
}

void appender_drop(struct appender *a)
{
    pthread_mutex_lock(&a->lock);
    a->quit = a->ending = true;
    syncer_quit(a->syncer);
    a->end_at = clock_mono_us() + a->config.end_us;
    wait_for_end(a);
    pthread_mutex_unlock(&a->lock);
}

/* A thread that hangs in the system is left to its fate; it frees what it uses. */
void appender_free(struct appender *a)
{
    bool rescued;

    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    rescued = a->rescued;
    a->orphan = !rescued;
    thread_leave(a->rescuer, rescued);
    pthread_mutex_unlock(&a->lock);
    if (rescued)
        release(a);
}

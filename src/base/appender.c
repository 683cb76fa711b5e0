#include "base/appender.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/parcel.h"
#include "base/syncer.h"
#include "base/thread.h"
#include "base/troubles.h"

enum {
    BATCH = 256 << 10, /* so much of what waits is written at once */
    ACCOUNT = 1024,    /* room for the account of a loss */
    TEXT_MAX = 1 << 30,
    WHY = 128,
    SECOND = 1000000,
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
};

/* What the rescuer is about to write. */
struct batch {
    struct parcel parcel;
    struct file next; /* the file to go on in; closed: the same */
    struct buf head;  /* what that starts with */
    bool last;        /* the end of all is in it */
};

/* Who may touch what:
 * - `sick`, `note_due`, `synced`, `latest_us`, `looked_us` and `busy_us` are the owner's.
 * - `file`, `size` and `batch` are the owner's while it is not sick, then the rescuer's as
 *   long as `pending` and not `resting`; `file` and `batch` are changed under the lock.
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

    struct file file;
    uint64_t size; /* bytes of whole lines */
    struct batch batch;

    pthread_mutex_t lock;
    pthread_cond_t work; /* for the rescuer */
    pthread_cond_t gone; /* for the owner: that has ended */

    struct backlog waiting;
    bool pending;             /* the batch is not empty */
    bool resting;             /* until it is tried again */
    size_t room;              /* so much of its next line the file took, and not more */
    bool none_fits;           /* nor is that enough for any other */
    int64_t stuck_us;         /* since when that is next; 0: it is not */
    struct backlog_loss lost; /* what the file does not say yet; before what waits */
    struct buf gap;           /* how it is going to say that */
    struct backlog_loss all;  /* everything that is lost */
    char why[WHY];            /* of the latest trouble with a write */
    int64_t bad_us;           /* when that was */

    struct troubles troubles;
    atomic_bool troubled; /* there ever were any; needs no lock */

    struct buf last;
    bool ending;    /* nothing more comes */
    bool quit;      /* and nothing more is written */
    int64_t end_at; /* then nobody waits any more */
    bool given_up;
    pthread_t rescuer;
    bool rescued; /* that has ended */
    bool orphan;  /* it has to free all of this */
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
    return !kind && syncer_trouble(a->syncer, e) ? APPENDER_UNSYNCED : kind;
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

/* A line may take the place of those that the file has no room for if that is left for the
 * account of them, and at the end for that. */
static size_t needed_besides(const struct appender *a)
{
    return ACCOUNT + (a->ending ? a->last.len : 0);
}

static bool would_fit(const struct appender *a, size_t len)
{
    return len + needed_besides(a) <= a->room;
}

static void wait_in_memory(struct appender *a, const struct backlog_line *l)
{
    struct backlog_loss dropped = { 0 };

    backlog_put(&a->waiting, l, &dropped);
    a->none_fits = a->none_fits && !would_fit(a, l->text.len);
    if (!backlog_loss_any(&dropped))
        return;
    backlog_loss_add(&a->lost, &dropped);
    backlog_loss_add(&a->all, &dropped);
    compose_gap(a);
    tell_dropped(a);
}

/* What goes out with one write: lines, or (none of them) a text that is no loss of anybody's.
 */
struct writing {
    struct str text;
    const struct backlog_line *lines;
    size_t count;
};

static void hand_over(struct appender *a, const struct writing *w, size_t done)
{
    struct parcel *p = &a->batch.parcel;

    for (size_t i = 0; i < w->count; i++)
        parcel_add_line(p, &w->lines[i]);
    if (!w->count)
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

/* So many lines count for the next sync, however few writes they took. */
static void count_written(struct appender *a, const struct writing *w)
{
    a->size += w->text.len;
    for (size_t i = 0; i < w->count; i++)
        syncer_wrote(a->syncer, w->lines[i].text.len);
    if (!w->count)
        syncer_wrote(a->syncer, w->text.len);
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
    took = clock_mono_us() - start;
    slow = took > a->config.slow_us && has_waited(a, start + took, took);
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

/* Asked with every line that comes, and those that wait may be many. */
static bool any_would_fit(struct appender *a)
{
    size_t needed = needed_besides(a);

    if (needed > a->room)
        return false;
    if (!a->none_fits)
        a->none_fits = !parcel_has_short(&a->batch.parcel, a->room - needed) &&
                       !backlog_has_short(&a->waiting, a->room - needed);
    return !a->none_fits || a->ending;
}

/* The lines that do not fit, up to the first one that does. */
static void take_unfit(struct appender *a, struct backlog_loss *lost)
{
    struct parcel *p = &a->batch.parcel;
    const struct backlog_item *i;

    while (parcel_can_skip(p) && !would_fit(a, parcel_next(p)->len))
        parcel_skip(p, lost);
    while (!parcel_next(p) && (i = a->waiting.first) && !would_fit(a, i->line.text.len)) {
        backlog_loss_add_line(lost, &i->line);
        free(backlog_take(&a->waiting));
    }
}

/* A large line must not keep all those from the file that come after it. One that has
 * waited for a while for more room than there is goes, if that helps any other. */
static bool skip_lines(struct appender *a)
{
    struct parcel *p = &a->batch.parcel;
    struct backlog_loss lost = { 0 };
    struct buf text;

    if (!a->room || !a->size || !parcel_can_skip(p) || would_fit(a, parcel_next(p)->len) ||
        (!a->ending && clock_mono_us() - a->stuck_us < a->config.well_us) || !any_would_fit(a))
        return false;
    take_unfit(a, &lost);
    a->room = 0;
    backlog_loss_add(&a->all, &lost);
    buf_init(&text, TEXT_MAX);
    a->config.gap(a->config.to, &text, &lost, a->why);
    parcel_tell_skipped(p, buf_str(&text), &lost);
    buf_release(&text);
    tell_dropped(a);
    a->resting = false;
    return true;
}

static void put_lines(struct appender *a, const struct backlog_line *lines, size_t count)
{
    struct writing w = { lines[0].text, lines, count };

    if (a->sick) {
        pthread_mutex_lock(&a->lock);
        a->sick = !has_recovered(a);
        a->note_due = syncer_suspect(a->syncer) > 0;
        if (a->sick) {
            for (size_t i = 0; i < count; i++)
                wait_in_memory(a, &lines[i]);
            if (!a->pending || (a->resting && skip_lines(a)))
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
    write_now(a, &w);
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
        put_lines(a, &(struct backlog_line){ .text = buf_str(&text), .us = a->latest_us }, 1);
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

void appender_put_together(struct appender *a, const struct backlog_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        BUG_IF(!lines[i].text.len || lines[i].lane >= BACKLOG_LANES);
    a->latest_us = lines[count - 1].us;
    put_lines(a, lines, count);
    if (a->note_due)
        put_sync_note(a);
}

void appender_put(struct appender *a, const struct backlog_line *line)
{
    appender_put_together(a, line, 1);
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
        parcel_add_account(&a->batch.parcel, buf_str(&a->gap), &a->lost);
    buf_clear(&a->gap);
    a->lost = (struct backlog_loss){ 0 };
}

static void take_line(struct appender *a)
{
    struct backlog_item *item = backlog_take(&a->waiting);

    parcel_add_line(&a->batch.parcel, &item->line);
    free(item);
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
        take_line(a);
    }
    if (!p->text.len && a->ending && a->last.len)
        add_last(a);
    a->pending = true;
}

static bool has_work(const struct appender *a)
{
    return a->pending || a->waiting.first || (a->ending && a->last.len && !a->batch.last);
}

/* So much of the batch is in the file. Of its next line nothing is to stay there. */
static void keep_what_is_written(struct appender *a)
{
    struct parcel *p = &a->batch.parcel;
    struct file f = a->file;
    size_t whole = parcel_advance(p, p->torn);
    struct err ignored = ERR_NONE;
    bool cut;

    p->torn -= whole;
    a->size += whole;
    if (whole)
        syncer_wrote(a->syncer, whole);
    if (whole || !a->stuck_us)
        a->stuck_us = clock_mono_us();
    a->room = p->torn;
    a->none_fits = false;
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
    struct str rest = str_skip(buf_str(&p->text), p->torn);
    struct file f = a->file;
    int64_t start, took;
    size_t done;
    bool ok;

    pthread_mutex_unlock(&a->lock);
    start = clock_mono_us();
    ok = file_write(&f, rest, &done, e);
    took = clock_mono_us() - start;
    pthread_mutex_lock(&a->lock);
    if (ok && took > a->config.slow_us)
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

    if (b->parcel.text.len) {
        a->size += b->parcel.text.len;
        syncer_wrote(a->syncer, b->parcel.text.len);
    }
    a->stuck_us = 0;
    parcel_clear(&b->parcel);
    a->pending = b->next.fd >= 0;
    if (!a->pending)
        return;
    change_file(a, b->next);
    b->next = (struct file)FILE_CLOSED;
    parcel_add(&b->parcel, buf_str(&b->head));
    buf_clear(&b->head);
}

/* It is the end, and the file does not take what waits. Maybe it still takes the account
 * of that. False: there is nothing left to try. */
static bool give_up(struct appender *a)
{
    struct batch *b = &a->batch;
    struct backlog_loss dropped = { 0 };
    bool torn = b->parcel.torn > 0;

    if (a->given_up || a->quit)
        return false;
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
    compose_gap(a);
    take_gap(a);
    add_last(a);
    a->pending = parcel_next(&b->parcel) != NULL;
    return a->pending;
}

/* New lines do not make a disk that is full any emptier; that the end has come may, if it
 * had not when that was last tried. */
static void wait_to_retry(struct appender *a, bool was_ending)
{
    int64_t until = clock_mono_us() + a->config.retry_us;

    a->resting = true;
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
        batch_is_written(a);
        return true;
    }
    tell_failed(a, &e);
    if (at_end && clock_mono_us() + a->config.retry_us >= a->end_at)
        return (!a->quit && skip_lines(a)) || give_up(a);
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
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void *run_rescuer(void *of)
{
    struct appender *a = of;
    bool alone;

    pthread_mutex_lock(&a->lock);
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

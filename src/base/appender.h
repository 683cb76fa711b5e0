/* base/appender.h - appends whole lines to a file without waiting long for the disk: queues
 * them while it is slow or full, and counts those that are dropped.
 *
 * In the healthy state a line is in the file when appender_add_lines() returns. The writer
 * thread makes the write and the caller waits for it, at most `slow_us`. If lines arrive so
 * fast that the hand-over would cost more than the write, the caller writes itself
 * (`inline_us`, `inline_lines`).
 *
 * A write that fails or takes longer than `slow_us` starts the degraded state: the caller no
 * longer waits, and lines are queued in memory. Beyond `max_memory` the oldest lines are
 * dropped and counted, and a gap line reports them as soon as the file accepts a write. The
 * state ends when the queue is empty and `recover_us` have passed without a problem. Lines
 * always keep their order.
 *
 * At the end, lines that the file does not accept are lost. If the file system is full, the
 * latest lines are cut off the file to make room for the gap line and the last line.
 *
 * A line that was written in part is cut off again. If that fails, its rest is written next: no
 * line follows half of another one.
 *
 * A second thread syncs the file (base/fsync-thread.h). A failed sync is reported and noted in
 * the file even if the next one succeeds: the system may have dropped the pages it could not
 * write.
 *
 * Used by one thread, its owner. Knows no format. */
#ifndef BASE_APPENDER_H
#define BASE_APPENDER_H

#include "base/buf.h"
#include "base/file.h"
#include "base/line-queue.h"

struct appender_config {
    uint64_t max_memory;     /* limit of the queue */
    uint64_t flush_lines;    /* sync after so many lines ... */
    int64_t flush_us;        /* ... or so long after the first of them ... */
    int64_t min_sync_gap_us; /* ... but because of their number no sooner than this after the
                                last sync */
    int64_t slow_us;         /* a write that takes longer starts the degraded state */
    int64_t retry_us;        /* between two tries of a failed write */
    int64_t recover_us;      /* without a problem, before the degraded state ends */
    int64_t finish_us;       /* limit of appender_finish() and appender_abort() */
    int64_t inline_us;       /* the caller writes itself when there were more ... */
    uint64_t inline_lines; /* ... than so many lines within this or the previous `inline_us` */

    /* Appends the gap line that reports `loss`, or nothing. If `loss` has no lines, the `bytes`
     * of direction 0 may not survive a power cut. Called while the owner is inside one of the
     * functions below. */
    void (*write_gap)(void *arg, struct buf *text, const struct line_queue_loss *loss,
                      const char *why);

    /* Appends the last line, which replaces the one given to appender_finish(), with the total
     * loss. May be NULL. Called as `write_gap` is. */
    void (*write_last)(void *arg, struct buf *text, const struct line_queue_loss *all);

    /* Called by appender_finish() if it takes longer than `slow_us`. May be NULL. */
    void (*on_slow_finish)(void *arg);
    void *arg;
};

extern const struct appender_config appender_defaults; /* without `write_gap` */

/* Problems. Each kind is reported once, failed writes and syncs once for each reason. */
enum appender_problem {
    APPENDER_OK,
    APPENDER_SLOW,        /* a write took too long; nothing is lost */
    APPENDER_STALLED,     /* the same, for a second and more */
    APPENDER_FAILED,      /* a write failed; its lines are queued */
    APPENDER_DROPPED,     /* lines are lost */
    APPENDER_NOT_ROTATED, /* no new file could be made, the old one is continued; used by the
                             owner */
    APPENDER_UNSYNCED,    /* written lines may not survive a power cut */
    APPENDER_FILE_CHANGED /* another process has deleted, replaced or truncated the file */
};

/* The result of appender_finish(). */
struct appender_end {
    struct line_queue_loss lost;
    bool unsynced;     /* a sync failed, or there was no time for the last one */
    bool file_changed; /* another process has deleted, replaced or truncated a file */
    bool timed_out;    /* the writer thread did not end in time: what it held counts as lost */
};

struct appender;

/* Takes over `f`, an empty file that has its name already. */
bool appender_open(struct appender **out, struct file *f, const struct appender_config *config,
                   struct err *e) MUST_CHECK;

/* Appends lines with one write. `text` holds their texts, in order and without anything between
 * them. Its memory may be taken; then it is empty. */
void appender_add_lines(struct appender *a, const struct line_queue_line *lines, size_t count,
                        struct buf *text);

/* Returns whether the appender is not degraded: the next line is written at once.
 * appender_size() may be called only then and returns the bytes in the file. */
bool appender_is_healthy(const struct appender *a);
uint64_t appender_size(const struct appender *a);

/* Ends this file with `foot`, takes over `next` and begins it with `head`. Only while
 * healthy. */
void appender_rotate(struct appender *a, struct file *next, struct str foot, struct str head);

/* Returns the next problem that was not reported yet and describes it in `*e`; APPENDER_OK if
 * there is none. May be called until appender_free(). */
enum appender_problem appender_next_problem(struct appender *a, struct err *e);

/* Writes the queue, then `last` in a write of its own, syncs and closes, and retries until
 * `finish_us` have passed. Lines that the file does not accept are lost; if it accepts that
 * much, the gap line and `last` are still written. */
void appender_finish(struct appender *a, struct str last, struct appender_end *end);

void appender_abort(struct appender *a); /* drops the queue and closes */
void appender_free(struct appender *a);  /* after finish or abort; NULL is fine */

#endif

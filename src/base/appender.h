/* base/appender.h - append whole lines to a file without waiting long for the disk.
 *
 * While the disk is well, a line is in the file when appender_put() returns. A thread of ours
 * makes the write and the caller waits for it, `slow_us` at most. Only in a run of many writes
 * that follow one another at once, where the hand-over would cost more than the write, the
 * caller writes itself.
 *
 * After a write that failed or took too long, the caller does not wait any more until the disk
 * has been well for a while. The lines are kept in memory meanwhile, up to a ceiling; beyond
 * it the oldest are dropped and counted, and a gap line says so in the file as soon as it
 * takes anything. No line overtakes another.
 *
 * At the end, lines that the file does not take are lost. If it is full, its latest lines are
 * cut off to make room for the gap line and the last line.
 *
 * A line that was written in part is cut off again; if not even that works, the rest of it
 * follows: no line stands behind half of another one.
 *
 * A second thread syncs. A sync that failed is reported and noted in the file, whatever the
 * result of the next one: the system may have dropped the pages it could not write.
 *
 * Belongs to one thread, knows no format. */
#ifndef BASE_APPENDER_H
#define BASE_APPENDER_H

#include "base/backlog.h"
#include "base/buf.h"
#include "base/file.h"

struct appender_config {
    uint64_t memory;      /* ceiling of what waits for the disk */
    uint64_t flush_lines; /* sync after so many lines ... */
    int64_t flush_us;     /* ... or so long after the first of them ... */
    int64_t rest_us;      /* ... but for lines' sake no sooner than this after the last */
    int64_t slow_us;      /* a write that takes longer makes the disk ill */
    int64_t retry_us;     /* after a write that failed */
    int64_t well_us;      /* so long without trouble, and it is well again */
    int64_t end_us;       /* how long the end may take */
    int64_t close_us;     /* writes that follow one another so soon ... */
    unsigned close_lines; /* ... are made by the caller itself after so many in a row */

    /* Appends the line that says in the file what is missing there; maybe nothing. A loss
     * without lines: `bytes` of lane 0 may not survive a power cut. Called while the
     * owner is inside one of the functions below. */
    void (*gap)(void *to, struct buf *text, const struct backlog_loss *loss, const char *why);

    /* Appends, in place of what appender_finish() was given, what is to be the end now that it
     * is known what all of the file lacks. May be NULL. Called as `gap` is. */
    void (*last)(void *to, struct buf *text, const struct backlog_loss *all);

    /* The end takes longer than a write should; may be NULL. Called by appender_finish(). */
    void (*waits)(void *to);
    void *to;
};

extern const struct appender_config appender_defaults; /* without `gap` */

/* What went wrong, told once for each kind and reason. */
enum appender_trouble {
    APPENDER_FINE,
    APPENDER_SLOW,     /* a write took too long; nothing is lost */
    APPENDER_STALLED,  /* the same, for a second and more */
    APPENDER_FAILED,   /* a write failed; its line waits in memory */
    APPENDER_DROPPED,  /* lines are lost */
    APPENDER_UNTURNED, /* it goes on in the same file for want of another; its owner's */
    APPENDER_UNSYNCED, /* what was written may not survive a power cut */
    APPENDER_GONE      /* another process has deleted, replaced or truncated the file */
};

/* How it ended. */
struct appender_end {
    struct backlog_loss lost;
    bool unsynced; /* a sync failed, or there was no time for the last one */
    bool gone;     /* another process has deleted, replaced or truncated a file */
    bool late;     /* the disk did not answer in time: what waited for it counts as lost */
};

struct appender;

/* Takes the file over, which stands empty under its name. */
bool appender_open(struct appender **out, struct file *f, const struct appender_config *config,
                   struct err *e) MUST_CHECK;

/* One or more lines with one write; their texts are, one behind the other, all that `text`
 * holds. Its memory may be taken away: then it is empty. */
void appender_put(struct appender *a, const struct backlog_line *lines, size_t count,
                  struct buf *text);

/* Whether the next line goes straight to the file, and the bytes that are in it. */
bool appender_is_well(const struct appender *a);
uint64_t appender_size(const struct appender *a);

/* Ends this file with `foot` and goes on in `next`, which it takes over, with `head`. Only
 * while all is well. */
void appender_turn(struct appender *a, struct file *next, struct str foot, struct str head);

/* The next trouble that was not told yet; `*e` says what it is. */
enum appender_trouble appender_trouble(struct appender *a, struct err *e);

/* Writes what waits and then, by itself, `last`, syncs and closes, all of it within `end_us`,
 * and tries as long as there is time. What the file does not take is lost, and if it takes
 * that much, it still gets the account of it and `last`. Troubles are there to be told until
 * appender_free(). */
void appender_finish(struct appender *a, struct str last, struct appender_end *end);

void appender_drop(struct appender *a); /* closes without another word */
void appender_free(struct appender *a); /* after one of these two; NULL is fine */

#endif

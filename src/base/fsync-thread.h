/* base/fsync-thread.h - syncs a file in a thread, for a writer that cannot wait.
 *
 * The file is synced after `writes` writes, or `flush_us` after the first unsynced one; its
 * directory is synced first, once. A complete file is synced and closed
 * (fsync_thread_rotate()). No function waits for the disk except fsync_thread_wait().
 *
 * A failed sync or close stays a failure even if the next one succeeds: the system may have
 * dropped the pages it could not write. The bytes concerned are suspect until
 * fsync_thread_take_suspect().
 *
 * Writes nothing. Thread-safe. */
#ifndef BASE_FSYNC_THREAD_H
#define BASE_FSYNC_THREAD_H

#include "base/file.h"

struct fsync_thread_config {
    uint64_t writes;         /* sync after so many writes ... */
    int64_t flush_us;        /* ... or so long after the first of them ... */
    int64_t min_sync_gap_us; /* ... but because of their number no sooner than this after the
                                last sync */
};

struct fsync_thread;

/* Starts the thread. The caller writes to the file until fsync_thread_finish(); the thread
 * closes it. If this fails, the file stays with the caller. */
bool fsync_thread_open(struct fsync_thread **out, const struct file *f,
                       const struct fsync_thread_config *config, struct err *e) MUST_CHECK;

void fsync_thread_add_write(struct fsync_thread *s, uint64_t bytes); /* counts one write */

/* Hands over the complete file and continues with `next`, as in fsync_thread_open(). */
void fsync_thread_rotate(struct fsync_thread *s, const struct file *next);

/* Returns the next error that was not reported yet; false if there is none. */
bool fsync_thread_next_error(struct fsync_thread *s, struct err *e);
bool fsync_thread_has_failed(struct fsync_thread *s); /* ever */

/* Tells whether another process has deleted, replaced or truncated a file, which is checked
 * after each sync and before each close. The first returns true once and describes it. */
bool fsync_thread_next_change(struct fsync_thread *s, struct err *e);
bool fsync_thread_file_changed(struct fsync_thread *s);

/* Announces that the writer is about to cut so many bytes off the file. */
void fsync_thread_truncated(struct fsync_thread *s, uint64_t bytes);

bool fsync_thread_is_syncing(const struct fsync_thread *s); /* a sync is under way */

/* Return the number of suspect bytes. The second resets it and, if it is not 0, copies the last
 * error to `*why`. */
uint64_t fsync_thread_suspect_bytes(struct fsync_thread *s);
uint64_t fsync_thread_take_suspect(struct fsync_thread *s, struct err *why);

/* Stops syncing: from now on files are only closed. */
void fsync_thread_skip_syncs(struct fsync_thread *s);

/* Ends the input: the file is synced at once and closed. */
void fsync_thread_finish(struct fsync_thread *s);

/* Waits until the thread has ended, at most until clock_mono_us() is `until`; false: it has
 * not. */
bool fsync_thread_wait(struct fsync_thread *s, int64_t until);

/* Frees after fsync_thread_finish(). A thread that hangs in a system call is detached with its
 * files and frees what it uses. NULL is fine. */
void fsync_thread_free(struct fsync_thread *s);

#endif

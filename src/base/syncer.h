/* base/syncer.h - a thread that syncs a file for somebody who writes it and cannot wait.
 *
 * After so many writes, or so long after the first of them, what was written is synced;
 * before that the folder, which has the file's name. A file that is complete is synced and
 * closed, and it goes on with the next. Nothing here ever waits for the disk but
 * syncer_wait().
 *
 * A sync that failed, or a close, stays so, however well the next one goes: the system may
 * have let go of what it could not write. The bytes that this is about are suspect until
 * somebody asks for them.
 *
 * Writes nothing. May be called by several threads. */
#ifndef BASE_SYNCER_H
#define BASE_SYNCER_H

#include "base/file.h"

struct syncer_config {
    uint64_t writes;  /* sync after so many ... */
    int64_t flush_us; /* ... or so long after the first of them ... */
    int64_t rest_us;  /* ... but for their number's sake no sooner than this after the last */
};

struct syncer;

/* The file is the caller's to write until syncer_end(), and the syncer's to close. If there
 * can be no thread, it is still all the caller's. */
bool syncer_open(struct syncer **out, const struct file *f, const struct syncer_config *config,
                 struct err *e) MUST_CHECK;

void syncer_wrote(struct syncer *s, uint64_t bytes); /* with one write */

/* What was written is complete; from now on `next` is, as in syncer_open(). */
void syncer_turn(struct syncer *s, const struct file *next);

/* The next trouble that was not told yet; each is told once. */
bool syncer_trouble(struct syncer *s, struct err *e);
bool syncer_has_failed(struct syncer *s); /* at any time */

/* Another process has deleted, replaced or truncated a file; seen after a sync and before a
 * file is closed. The first says so once, and what it is. */
bool syncer_loss(struct syncer *s, struct err *e);
bool syncer_has_lost(struct syncer *s);

/* So many bytes are about to be cut off the file by its writer. */
void syncer_cut(struct syncer *s, uint64_t bytes);

bool syncer_is_busy(const struct syncer *s); /* a sync is under way */

/* The bytes that are suspect; the second makes them so no more, and says what went wrong
 * last if there are any. */
uint64_t syncer_suspect(struct syncer *s);
uint64_t syncer_take_suspect(struct syncer *s, struct err *why);

/* Files are only closed from now on. */
void syncer_quit(struct syncer *s);

/* Nothing more comes: what is written is synced at once and closed. */
void syncer_end(struct syncer *s);

/* Waits for that, until clock_mono_us() is `until` at the most; false: it is not done. */
bool syncer_wait(struct syncer *s, int64_t until);

/* After syncer_end(). A thread that hangs in the system is left to its fate, with its files;
 * it frees what it uses. NULL is fine. */
void syncer_free(struct syncer *s);

#endif

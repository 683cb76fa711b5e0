/* format/live.h - records into a file while they happen.
 *
 * What a record makes is in the file before put() returns, or, if lines are to be written
 * together, before live_flush() does, as long as the disk is well; see base/appender.h for
 * when it is not. The session that is recorded comes first: put()
 * never fails, troubles are there to be told, and what is lost is counted and stands in
 * the file as a gap.
 *
 * The file is locked: it says to others that it is being written.
 *
 * Only for formats that make whole lines of each record. Once a file has reached `rotate`
 * bytes it gets its footer, and the next part, with a header of its own, goes on: after
 * "a.jsonl" come "a.2.jsonl", "a.3.jsonl" and so on. */
#ifndef FORMAT_LIVE_H
#define FORMAT_LIVE_H

#include "base/appender.h"
#include "base/arena.h"
#include "base/draft.h"
#include "base/troubles.h"
#include "format/format.h"

struct live_config {
    const char *path; /* borrowed until the end */
    const struct format *format;
    bool replace;     /* an old file, which stays until live_replace(); not of a later part */
    bool plain;       /* only headers, messages and footers */
    bool together;    /* lines wait for live_flush() */
    uint64_t rotate;  /* bytes; 0: never */
    int64_t flush_us; /* how often to sync */

    void (*waits)(void *to); /* live_finish() has to wait for the disk; may be NULL */
    void *to;
};

enum { LIVE_TOGETHER = 8 }; /* lines that wait, at most */

struct live {
    struct sink sink; /* put records here */
    struct live_config config;
    const struct sys *sys;
    struct appender *file;
    struct draft draft; /* of the first part, until live_replace() */
    void *state;        /* the format's own */
    struct buf text, last;
    struct buf held; /* lines that wait for live_flush() */
    struct backlog_line lines[LIVE_TOGETHER];
    size_t held_count;
    struct arena kept;        /* the header, and the names of parts */
    struct record header;     /* for the parts to come */
    struct record footer;     /* for the end */
    unsigned part;            /* the number of this one */
    uint64_t turn_at;         /* this long, a part is ended */
    int64_t us;               /* of the latest record */
    uint64_t came[2];         /* messages, by the way they went */
    uint64_t too_long[2];     /* of these, those whose line was too long */
    bool left_out;            /* they, or anything else */
    bool finished;            /* set by live_finish() */
    struct troubles troubles; /* of parts that could not be made */
};

/* How it ended. */
struct live_end {
    uint64_t lost;   /* messages that are not in the file */
    bool incomplete; /* they, or anything else */
    bool gone;       /* another process has deleted, replaced or truncated the file */
    bool unsynced;   /* not everything may survive a power cut */
    bool late;       /* the disk hangs, and may still take some of it */
    unsigned parts;
};

bool live_open(struct live *l, const struct sys *sys, const struct live_config *config,
               struct err *e) MUST_CHECK;

/* Writes the lines that wait. */
void live_flush(struct live *l);

/* The next trouble that was not told yet. */
enum appender_trouble live_trouble(struct live *l, struct err *e);

/* Puts the first part in the place of the old file, if there is one. Before live_finish() only
 * while the disk is well: lines that wait in memory replace nothing; call it again after the
 * next line. Does nothing once that is done, and on failure can be called again. */
bool live_replace(struct live *l, struct err *e) MUST_CHECK;

/* Where the first part stands: beside the old file until live_replace(). */
const char *live_path(const struct live *l);

/* Writes what is left, syncs, closes; live_release() follows in any case. */
void live_finish(struct live *l, struct live_end *end);

/* Removes the file after live_finish(): there was nothing to record. An old file stays as it
 * was, if live_replace() was not called. */
void live_remove(struct live *l);

void live_abandon(struct live *l); /* closes and removes the file, instead of live_finish() */

void live_release(struct live *l);

/* A name with a mark before its extension, if it has one of the format's; the name of the
 * n-th part, from 2 on. */
const char *live_name_beside(struct arena *a, const char *path, const struct format *format,
                             const char *mark);
const char *live_part_name(struct arena *a, const char *path, const struct format *format,
                           unsigned n);

#endif

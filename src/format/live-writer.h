/* format/live-writer.h - writes records to a file while recording.
 *
 * A record is in the file before put() returns (with `batch_writes`: before live_writer_flush()
 * returns), unless the disk is slow or failing; see base/appender.h for that case. The recorded
 * session comes first: put() never fails, errors are reported by live_writer_next_error(), and
 * lost messages are counted and written as a gap.
 *
 * The file is locked while it is written.
 *
 * Only for line-based formats. A file of `rotate_bytes` bytes gets its footer, and the next
 * part begins with a header of its own: "a.jsonl", "a.2.jsonl", "a.3.jsonl" and so on. */
#ifndef FORMAT_LIVE_WRITER_H
#define FORMAT_LIVE_WRITER_H

#include "base/appender.h"
#include "base/arena.h"
#include "base/atomic-file.h"
#include "base/errors-once.h"
#include "format/encoder.h"

struct live_writer_config {
    const char *path; /* borrowed until live_writer_release() */
    const struct format *format;
    bool replace; /* an existing file, at live_writer_replace(); later parts replace none */
    bool messages_only;    /* write only headers, messages and footers */
    bool batch_writes;     /* keep lines until live_writer_flush() */
    uint64_t rotate_bytes; /* 0: never */
    int64_t flush_us;      /* interval of fsync */

    void (*on_wait)(
        void *to); /* called if live_writer_finish() waits for the disk; may be NULL */
    void *to;
};

enum { LIVE_WRITER_BATCH_LINES = 8 }; /* most lines kept until live_writer_flush() */

struct live_writer {
    struct sink sink; /* put records here */
    struct live_writer_config config;
    const struct sys *sys;
    struct appender *file;
    struct atomic_file draft; /* the first part, until live_writer_replace() */
    struct encoder encoder;
    struct buf text, footer_text;
    struct buf batch_text; /* lines kept until live_writer_flush() */
    struct line_queue_line batch_lines[LIVE_WRITER_BATCH_LINES];
    size_t batch_count;
    struct arena texts;        /* of header and footer; names of parts */
    struct record header;      /* for the next parts */
    struct record footer;      /* written at the end */
    unsigned part;             /* number of the current one */
    uint64_t rotate_at;        /* size at which the part ends */
    int64_t us;                /* of the latest record */
    uint64_t messages[2];      /* put so far, by direction */
    uint64_t too_long[2];      /* of these: line too long */
    bool lost_any;             /* set if anything was too long */
    bool finished;             /* set by live_writer_finish() */
    struct errors_once errors; /* of parts that could not be created */
};

/* Result of live_writer_finish(). */
struct live_writer_result {
    uint64_t lost_messages; /* not in the file */
    bool incomplete;        /* messages or other lines are missing */
    bool file_replaced;     /* another process has deleted, replaced or truncated the file */
    bool unsynced;          /* some data may not survive a power failure */
    bool write_pending;     /* the disk hangs; some data may still be written */
    unsigned parts;
};

bool live_writer_open(struct live_writer *l, const struct sys *sys,
                      const struct live_writer_config *config, struct err *e) MUST_CHECK;

/* Writes the lines kept. */
void live_writer_flush(struct live_writer *l);

/* Returns the next error that was not reported yet. */
enum appender_problem live_writer_next_error(struct live_writer *l, struct err *e);

/* Replaces the existing file, if any, by the first part. Before live_writer_finish() it does
 * nothing while the disk is slow or failing (lines in memory must not replace a file): call it
 * again after the next line. Does nothing once done; after a failure it can be called again. */
bool live_writer_replace(struct live_writer *l, struct err *e) MUST_CHECK;

/* Path of the first part: a temporary name until live_writer_replace(). */
const char *live_writer_path(const struct live_writer *l);

/* Writes the rest, syncs and closes. Call live_writer_release() afterwards. */
void live_writer_finish(struct live_writer *l, struct live_writer_result *end);

/* Removes the file after live_writer_finish(), if there was nothing to record. The existing
 * file stays if live_writer_replace() was not called. */
void live_writer_remove(struct live_writer *l);

void live_writer_abort(
    struct live_writer *l); /* closes and removes the file, instead of live_writer_finish() */

void live_writer_release(struct live_writer *l);

/* Inserts a mark before the format's extension, if the path has one; the path of part n,
 * from 2. */
const char *live_writer_path_with_mark(struct arena *a, const char *path,
                                       const struct format *format, const char *mark);
const char *live_writer_part_path(struct arena *a, const char *path,
                                  const struct format *format, unsigned n);

#endif

/* tests/unit/record-summary.h - contents of records by feature, to compare two readings of a
 * file.
 *
 * A sink. Every record becomes an entry, every member a note in it, under the feature that
 * it belongs to; a view shows the notes of some features. Placeholder values that a format
 * requires (a date of 1970, a latency of 0) count as absent. */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "base/buf.h"
#include "format/format.h"
#include "trace/pairing.h"

/* Members without a feature: numbering, the producer of the file, totals. */
#define RECORD_SUMMARY_OTHER (1u << 31)
#define RECORD_SUMMARY_ALL (~0u)

struct record_summary {
    struct sink sink;
    struct buf text;
    struct record_summary_entry *entries;
    struct record_summary_note *notes;
    size_t entry_count, entry_cap, note_count, note_cap;
    struct pairing pairs;
    struct arena arena;
    int64_t started_us;    /* wall clock of the latest header */
    bool has_date;         /* it had a date */
    struct str batch;      /* id of the latest batch */
    unsigned long batches; /* so far: their ids are a writer's own */
    unsigned features;     /* that any record has */
    bool has_line_break;   /* a message has a line break in its text */
};

void record_summary_init(struct record_summary *l);
void record_summary_release(struct record_summary *l);

/* One line per entry that has anything in these parts. Messages are shown by
 * their bytes with FEATURE_BYTES, by a hash of their meaning without. */
void record_summary_write(const struct record_summary *l, unsigned parts, struct buf *to);

/* Does it start with a header? Formats that cannot do without one make it up. */
bool record_summary_has_header(const struct record_summary *l);
void record_summary_drop_header(struct record_summary *l);

/* All parts that something was noted under, but for those that are no record's own. */
unsigned record_summary_features(const struct record_summary *l);

/* Returns the content of a file under these features, its warnings, and its error or "end";
 * with ' for ", as in terse.h. */
void record_summary_of_file(struct buf *to, const struct format *f, struct str text,
                            size_t step, unsigned parts);

#endif

/* tests/unit/account.h - what records say, part by part, to compare two readings.
 *
 * A sink. Every record becomes an entry, everything it says a note in it, under the
 * part of a recording that it belongs to; a view shows what is left when only some
 * parts are kept. What is made up where a format must say something and nobody knows
 * (a date of 1970, a latency of 0) is not told from silence. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include "base/buf.h"
#include "format/format.h"
#include "trace/pairing.h"

/* What no part names: numbering, who wrote the file, totals. */
#define ACCOUNT_REST (1u << 31)
#define ACCOUNT_ALL (~0u)

struct account {
    struct sink sink;
    struct buf text;
    struct account_entry *entries;
    struct account_note *notes;
    size_t entry_count, entry_cap, note_count, note_cap;
    struct pairing pairs;
    struct arena arena;
    int64_t started_us;    /* wall clock of the latest header */
    bool dated;            /* it had a date */
    struct str batch;      /* id of the latest batch */
    unsigned long batches; /* so far: their ids are a writer's own */
    unsigned parts;        /* that any record has */
    bool spread;           /* a message has a line break in its text */
};

void account_init(struct account *l);
void account_release(struct account *l);

/* One line per entry that says anything under these parts. Messages are shown by
 * their bytes with PART_BYTES, by a hash of their meaning without. */
void account_view(const struct account *l, unsigned parts, struct buf *to);

/* Does it start with a header? Formats that cannot do without one make it up. */
bool account_headed(const struct account *l);
void account_behead(struct account *l);

/* All parts that something was noted under, but for those that are no record's own. */
unsigned account_parts(const struct account *l);

/* What a file says under these parts, its remarks, and its error or "end"; with ' for ",
 * as terse.h has it. */
void account_told(struct buf *to, const struct format *f, struct str text, size_t step,
                  unsigned parts);

#endif

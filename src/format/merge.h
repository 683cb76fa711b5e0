/* format/merge.h - several files as one stream of records, in the order of time.
 *
 * The order inside each file is kept, whatever its clock does; what has no time stays
 * with the record before it, and the messages of a batch stay together. Of what happened
 * at the same moment the earlier file comes first. The headers at the heads of the files
 * come before everything, in the order of the files.
 *
 * Holds one record of each file, so memory does not depend on their length. Changes
 * nothing in the records: see trace/join.h. */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/reader.h"

struct merge;

/* `paths` and what they point to are borrowed until merge_close(). */
bool merge_open(struct merge **out, const struct sys *sys, const char *const *paths,
                size_t count, const struct log *log, struct err *e) MUST_CHECK;
void merge_close(struct merge *m); /* NULL is fine */

/* As reader_next(); `*from` is which of the files the record is of. */
enum next merge_next(struct merge *m, struct record *rec, size_t *from, struct err *e);

/* When the earliest of the recordings began, since 1970; false: none of them says. */
bool merge_start(const struct merge *m, int64_t *us);

const struct format *merge_format(const struct merge *m, size_t from);
uint64_t merge_offset(const struct merge *m); /* bytes consumed so far, of all */
uint64_t merge_size(const struct merge *m);   /* of all files; 0: cannot be known */

#endif

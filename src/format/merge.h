/* format/merge.h - merges several files into one stream of records, ordered by time.
 *
 * Keeps the order inside each file, whatever its clock does; a record without time stays with
 * the record before it, and the messages of a batch stay together. At equal times the earlier
 * file comes first. The headers at the start of the files come before everything, in the order
 * of the files.
 *
 * Holds one record of each file, so memory does not depend on their length. Does not change
 * records: see trace/combine.h. */
#ifndef FORMAT_MERGE_H
#define FORMAT_MERGE_H

#include "format/reader.h"

struct merge;

/* Borrows `paths` and the paths until merge_close(). `import` may be NULL, see
 * reader_open_import(). */
bool merge_open(struct merge **out, const struct sys *sys, const char *const *paths,
                size_t count, const struct reader_import *import, const struct log *log,
                struct err *e) MUST_CHECK;
void merge_close(struct merge *m); /* NULL is fine */

/* As reader_next(); `*from` is the index of the file. */
enum next_result merge_next(struct merge *m, struct record *rec, size_t *from, struct err *e);

/* The earliest start of the recordings, since 1970; false: none has a date. */
bool merge_start(const struct merge *m, int64_t *us);

const struct format *merge_format(const struct merge *m, size_t from);
uint64_t merge_offset(const struct merge *m); /* bytes consumed so far, of all */
uint64_t merge_size(const struct merge *m);   /* of all files; 0: unknown */

#endif

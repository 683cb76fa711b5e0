/* format/reader.h - a file as a stream of records, whatever its format.
 *
 * Reads in pieces: memory is bounded by the largest line (LIMIT_LINE), not by the
 * file. Errors and remarks name the path, the line and the byte in it.
 *
 * Of packed data that is cut off all that can be unpacked is used, with a remark. A file that
 * is damaged is refused, unless it is read to be repaired: then lines that cannot be read are
 * left out, with a gap in their place, and packed data is used up to the damage. */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include "base/file.h"
#include "base/log.h"
#include "format/format.h"

struct reader;

/* Finds the format by content. Remarks go to `log` as warnings and are counted.
 * `path` is borrowed until reader_close(). */
bool reader_open(struct reader **out, const struct sys *sys, const char *path,
                 const struct log *log, struct err *e) MUST_CHECK;

/* To be repaired: the same, but leaves out what is damaged and remarks on it. */
bool reader_open_damaged(struct reader **out, const struct sys *sys, const char *path,
                         const struct log *log, struct err *e) MUST_CHECK;
void reader_close(struct reader *r); /* NULL is fine */

/* What was left out so far: how many lines, and where the first of them are. */
enum { READER_PLACES = 16 };
struct reader_damage {
    uint64_t lines;
    bool packed;  /* it was packed, and what follows cannot be unpacked */
    size_t count; /* of places; may be more than there is room for */
    struct {
        uint64_t first, last;
    } at[READER_PLACES];
};

const struct reader_damage *reader_damage(const struct reader *r);

/* A file that is still being written: where it ends now is not its end, and reader_next() says
 * NEXT_MORE there, also in the middle of a line. To be called again once there may be more,
 * until reader_stop_following() makes the end of the file its end again. The file must not be
 * empty. A packed file is read as usual. */
bool reader_open_following(struct reader **out, const struct sys *sys, const char *path,
                           const struct log *log, struct err *e) MUST_CHECK;
void reader_stop_following(struct reader *r);

/* NEXT_RECORD, NEXT_END or NEXT_ERROR, of a file that is followed also NEXT_MORE, never
 * NEXT_SKIP. The record is valid until the next call. */
enum next reader_next(struct reader *r, struct record *rec, struct err *e);

const struct format *reader_format(const struct reader *r);
uint64_t reader_notes(const struct reader *r);  /* remarks so far */
uint64_t reader_offset(const struct reader *r); /* bytes consumed so far, unpacked */

/* Of the whole file; 0: cannot be known, as of a pipe or a packed file. */
uint64_t reader_size(struct reader *r);

/* Where in the file bytes of the current record stand; false if they do not stand there
 * as they are: the file is packed, or the format had to compose them. */
bool reader_locate(const struct reader *r, struct str bytes, uint64_t *at);

/* Bytes of the file from there. */
bool reader_read_at(struct reader *r, uint64_t at, char *to, size_t len,
                    struct err *e) MUST_CHECK;

/* No more records will be asked for; the file stays open for reader_read_at(). */
void reader_settle(struct reader *r);

/* Every record of a file into a sink. */
bool reader_pour(const struct sys *sys, const char *path, const struct log *log,
                 struct sink *to, struct err *e) MUST_CHECK;

#endif
